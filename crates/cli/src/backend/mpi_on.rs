//! With MPI: the processes started by `mpirun` or `srun`; without these, one process.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use manyview::Error;
use manyview::comm::Comm;
use manyview_mpi::Mpi;
use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;

use crate::interrupt;

pub(crate) type Ranks = Mpi;

/// Launchers send SIGKILL after SIGTERM, Open MPI after a second. Unfinished files must be removed by then, even if waiting
/// ranks keep all cores busy. This is enough time to finish a rename.
const PATIENCE: Duration = Duration::from_millis(100);

pub(super) fn start() -> Result<Ranks> {
    let ranks = Mpi::start().context("MPI was started before")?;
    // Under the launcher of another MPI, each process is rank 0 of 1, and all would write the same files.
    match super::launched() {
        Some(super::Launched { ranks: started, .. }) if started != ranks.size() && ranks.size() == 1 => {
            bail!(Error::config(format!(
                "started {started} times, but MPI reports one process: mpirun belongs to another MPI than the one that \
                 manyview was built with; use the mpirun of that MPI"
            )))
        }
        _ => {}
    }
    interrupt::only_rank_0_prints(ranks.rank());
    // On Ctrl-C, or when another rank ends, mpirun sends SIGTERM to the ranks.
    let mut signals = Signals::new([SIGTERM]).context("cannot watch for SIGTERM")?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            interrupt::end_within(PATIENCE);
        }
    });
    Ok(ranks)
}

/// Ends the job with an exit code, even if other ranks are waiting for this one.
pub(super) fn end_all(ranks: Ranks, code: u8) -> ExitCode {
    if ranks.size() > 1 {
        ranks.abort(code);
    }
    code.into()
}

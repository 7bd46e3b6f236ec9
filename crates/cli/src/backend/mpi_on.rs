//! With MPI: the processes that `mpirun` or `srun` started. Without those, one.

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

/// Launchers follow their SIGTERM with a SIGKILL, Open MPI's after a second: by then no trace may be left, also where
/// ranks that wait for each other keep all cores busy. It is enough for renames that are under way.
const PATIENCE: Duration = Duration::from_millis(100);

pub(super) fn start() -> Result<Ranks> {
    let ranks = Mpi::start().context("MPI was started before")?;
    // Each process of a foreign launcher takes itself for rank 0 of 1; they would race for the same files.
    match super::launched() {
        Some(super::Launched { ranks: started, .. }) if started != ranks.size() && ranks.size() == 1 => {
            bail!(Error::config(format!(
                "was started {started} times, but MPI knows of one process: mpirun belongs to another MPI than the one \
                 this was built with; use that one's mpirun"
            )))
        }
        _ => {}
    }
    interrupt::only_rank_0_speaks(ranks.rank());
    // Ctrl-C reaches mpirun and not the ranks; so does the end of another rank. mpirun then sends SIGTERM.
    let mut signals = Signals::new([SIGTERM]).context("cannot watch for SIGTERM")?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            interrupt::end_within(PATIENCE);
        }
    });
    Ok(ranks)
}

/// Ends the job with a code, also where other ranks wait for this one.
pub(super) fn end_all(ranks: Ranks, code: u8) -> ExitCode {
    if ranks.size() > 1 {
        ranks.abort(code);
    }
    code.into()
}

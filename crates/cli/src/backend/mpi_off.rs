//! Without MPI: one process.

use std::process::ExitCode;

use anyhow::{Result, bail};
use manyview::Error;
use manyview::comm::Local;

pub(crate) type Ranks = Local;

/// Fails if a launcher started several processes: they would all do the same work and write the same files.
pub(super) fn start() -> Result<Ranks> {
    match super::launched() {
        Some(super::Launched { ranks, .. }) if ranks > 1 => bail!(Error::config(format!(
            "this build has no MPI and was started {ranks} times; rebuild with --features mpi, or start it without \
             mpirun or srun"
        ))),
        _ => Ok(Local),
    }
}

pub(super) fn end_all(_: Ranks, code: u8) -> ExitCode {
    code.into()
}

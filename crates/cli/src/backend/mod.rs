//! Runs a command in one process or on the ranks of an MPI job.
//!
//! `mpi_on.rs` (feature `mpi`) and `mpi_off.rs` both define `Ranks` (a `Comm`), `start` and `end_all`.

#[cfg(not(feature = "mpi"))]
#[path = "mpi_off.rs"]
mod chosen;
#[cfg(feature = "mpi")]
#[path = "mpi_on.rs"]
mod chosen;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use manyview::Error;
use manyview::comm::Comm;

pub(crate) use chosen::Ranks;

/// How long other ranks wait before they print an error. Most errors occur on all ranks; rank 0 then prints the message
/// and ends the job, which takes its launcher a second or two on a busy machine.
const RANK_0_FIRST: Duration = Duration::from_secs(3);

/// The same before MPI is started. Errors are then those of the command line, which is the same on all ranks unless the job
/// was put together from several programs, so there is no harm in waiting longer.
const RANK_0_FIRST_BEFORE_MPI: Duration = Duration::from_secs(15);

/// Runs a command on all ranks; an error on one rank ends the job.
pub(crate) fn on_all_ranks(command: impl FnOnce(&Ranks) -> Result<()>) -> ExitCode {
    let ranks = match chosen::start() {
        Ok(ranks) => ranks,
        Err(error) => return refuse(&error),
    };
    match command(&ranks) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let place = match ranks.rank() {
                0 => String::new(),
                rank => {
                    after_rank_0(rank, RANK_0_FIRST);
                    format!(" on rank {rank}")
                }
            };
            chosen::end_all(ranks, crate::report(&error, &place))
        }
    }
}

/// Runs a command that uses one process.
pub(crate) fn alone(command: impl FnOnce() -> Result<()>) -> ExitCode {
    let result = match launched() {
        Some(Launched { ranks, .. }) if ranks > 1 => {
            let message = format!(
                "this command runs as one process and was started {ranks} times; start it without mpirun or srun"
            );
            return refuse(&Error::config(message).into());
        }
        _ => command(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => crate::report(&error, "").into(),
    }
}

/// Returns the rank of this process, if a launcher started several.
pub(crate) fn rank() -> Option<usize> {
    launched().filter(|launched| launched.ranks > 1).map(|launched| launched.rank)
}

/// Prints an error that occurs before MPI is started.
fn refuse(error: &anyhow::Error) -> ExitCode {
    wait_unless_first();
    crate::report(error, "").into()
}

/// Waits, in all processes but the first: it prints the message and ends, and the launcher then ends the others.
pub(crate) fn wait_unless_first() {
    if let Some(Launched { rank, .. }) = launched()
        && rank > 0
    {
        after_rank_0(rank, RANK_0_FIRST_BEFORE_MPI);
    }
}

fn after_rank_0(rank: usize, wait: Duration) {
    // Ranks wait for different times, so that one of them ends the job before the next prints.
    std::thread::sleep(wait + wait / 20 * rank.min(20) as u32);
}

/// The number of processes and the rank of this one, as set by a launcher in the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Launched {
    ranks: usize,
    rank: usize,
}

/// Returns `None` if no launcher is detected.
fn launched() -> Option<Launched> {
    launched_by(|name| std::env::var(name).ok()?.parse().ok())
}

fn launched_by(number: impl Fn(&str) -> Option<usize>) -> Option<Launched> {
    // Open MPI; MPICH, Intel MPI and others with PMI; PMIx under Slurm. The script of a Slurm job has SLURM_NTASKS too,
    // but starts one process unless it uses srun, which sets PMIX_RANK or PMI_RANK.
    let names = [
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        ("PMI_SIZE", "PMI_RANK"),
        ("SLURM_STEP_NUM_TASKS", "PMIX_RANK"),
        ("SLURM_NTASKS", "PMIX_RANK"),
        ("SLURM_NTASKS", "PMI_RANK"),
    ];
    names.into_iter().find_map(|(ranks, rank)| Some(Launched { ranks: number(ranks)?, rank: number(rank)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, usize)]) -> Option<(usize, usize)> {
        let number = |name: &str| variables.iter().find(|variable| variable.0 == name).map(|found| found.1);
        launched_by(number).map(|found| (found.ranks, found.rank))
    }

    #[test]
    fn launchers_are_detected_by_their_variables() {
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("OMPI_COMM_WORLD_SIZE", 4), ("OMPI_COMM_WORLD_RANK", 3)]), Some((4, 3)));
        assert_eq!(with(&[("PMI_SIZE", 2), ("PMI_RANK", 0)]), Some((2, 0)));
        assert_eq!(with(&[("SLURM_NTASKS", 8), ("PMIX_RANK", 7)]), Some((8, 7)));
        assert_eq!(with(&[("SLURM_NTASKS", 8), ("SLURM_PROCID", 0)]), None, "the script of a job");
    }
}

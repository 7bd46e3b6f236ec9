//! One process or many: what commands run on.
//!
//! With the feature `mpi` the ranks are the processes of an MPI job, else there is one. What differs is in the two
//! files `mpi_on.rs` and `mpi_off.rs`, which offer the same: `Ranks` (a `Comm`), `start` and `end_all`.

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

/// How long a rank waits for rank 0 to say what went wrong. What goes wrong mostly does so on all ranks, and then one
/// sentence is enough; rank 0 ends the job with it, this rank included.
const AFTER_YOU: Duration = Duration::from_millis(1000);

/// Runs a command on all ranks; when it fails on one, the whole job ends.
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
                    after_rank_0(rank);
                    format!(" on rank {rank}")
                }
            };
            chosen::end_all(ranks, crate::report(&error, &place))
        }
    }
}

/// Runs a command that knows nothing of ranks.
pub(crate) fn alone(command: impl FnOnce() -> Result<()>) -> ExitCode {
    let result = match launched() {
        Some(Launched { ranks, .. }) if ranks > 1 => {
            let sentence = format!(
                "this command runs as one process and was started {ranks} times; start it without mpirun or srun"
            );
            return refuse(&Error::config(sentence).into());
        }
        _ => command(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => crate::report(&error, "").into(),
    }
}

/// Says what is wrong before there are ranks to talk to.
fn refuse(error: &anyhow::Error) -> ExitCode {
    wait_unless_first();
    crate::report(error, "").into()
}

/// Lets the first of several processes speak and end; a launcher then ends the others, before they repeat it.
pub(crate) fn wait_unless_first() {
    if let Some(Launched { rank, .. }) = launched()
        && rank > 0
    {
        after_rank_0(rank);
    }
}

fn after_rank_0(rank: usize) {
    // One after the other, so that the first of those that fail ends the rest.
    std::thread::sleep(AFTER_YOU + Duration::from_millis(50) * rank.min(20) as u32);
}

/// What a launcher told this process through the environment, without MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Launched {
    ranks: usize,
    rank: usize,
}

/// `None` when no launcher can be seen.
fn launched() -> Option<Launched> {
    launched_by(|name| std::env::var(name).ok()?.parse().ok())
}

fn launched_by(number: impl Fn(&str) -> Option<usize>) -> Option<Launched> {
    // Open MPI; MPICH, Intel MPI and other users of PMI; PMIx under Slurm. A Slurm job's script has SLURM_NTASKS too,
    // but what it starts without srun is one process: only PMIX_RANK shows that srun started this one.
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
    fn launchers_are_told_from_their_variables() {
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("OMPI_COMM_WORLD_SIZE", 4), ("OMPI_COMM_WORLD_RANK", 3)]), Some((4, 3)));
        assert_eq!(with(&[("PMI_SIZE", 2), ("PMI_RANK", 0)]), Some((2, 0)));
        assert_eq!(with(&[("SLURM_NTASKS", 8), ("PMIX_RANK", 7)]), Some((8, 7)));
        assert_eq!(with(&[("SLURM_NTASKS", 8), ("SLURM_PROCID", 0)]), None, "the script of a job");
    }
}

//! Communication between ranks. A rank owns a contiguous block of rows of every residual and of U, and has a full copy
//! of every V, so the solver needs only two collectives.
//!
//! A single process is a special case with one rank, [`Local`], so there is only one solver.

mod threads;
mod timed;

pub use threads::Threads;
pub use timed::{Timed, Traffic};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::Real;

/// The collectives that the solver needs. Blocks of rows are contiguous, in rank order.
///
/// A failed collective ends the job (the default of MPI), so no method returns a `Result`. All ranks make the same
/// calls in the same order; decisions to stop are based on reduced numbers. Collectives are called on the thread that
/// started the work, not on the threads of the pool.
pub trait Comm {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Adds `buf` over all ranks; every rank receives the same sum.
    fn all_reduce_sum<T: Real>(&self, buf: &mut [T]);

    /// Concatenates the blocks of all ranks into `whole`.
    fn all_gather<T: Real>(&self, part: &[T], whole: &mut [T]);
}

/// A single process: rank 0 of 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Comm for Local {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_reduce_sum<T: Real>(&self, _: &mut [T]) {}

    fn all_gather<T: Real>(&self, part: &[T], whole: &mut [T]) {
        whole.copy_from_slice(part);
    }
}

/// The sum of one number over all ranks.
pub fn sum<C: Comm>(comm: &C, x: f64) -> f64 {
    let mut buf = [x];
    comm.all_reduce_sum(&mut buf);
    buf[0]
}

/// The maximum of one number over all ranks.
pub fn max<C: Comm>(comm: &C, x: f64) -> f64 {
    gather(comm, [x]).into_iter().fold(f64::NEG_INFINITY, |max, [x]| max.max(x))
}

/// The numbers of each rank, in rank order.
pub fn gather<C: Comm, const N: usize>(comm: &C, own: [f64; N]) -> Vec<[f64; N]> {
    let mut all = vec![0.0; N * comm.size()];
    comm.all_gather(&own, &mut all);
    all.as_chunks().0.to_vec()
}

/// Makes all ranks fail if one fails; the others return `Error::Interrupted`.
///
/// If a rank returned alone, the others would wait for it forever.
pub fn agree<C: Comm, R>(comm: &C, result: Result<R>) -> Result<R> {
    let failures = sum(comm, if result.is_err() { 1.0 } else { 0.0 });
    match result {
        Ok(_) if failures > 0.0 => Err(Error::Interrupted),
        result => result,
    }
}

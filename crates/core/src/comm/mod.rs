//! What ranks say to each other. A rank owns a contiguous block of rows of every residual and of U, and holds
//! every V whole, so two collectives are all the solver needs.
//!
//! The single process is a rank like any other: [`Local`] answers at once, and the solver is written once.

mod threads;
mod timed;

pub use threads::Threads;
pub use timed::{Timed, Traffic};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::Real;

/// What the solver may ask of the other ranks. Blocks of rows are contiguous, in rank order.
///
/// A failed collective ends the job (as MPI does by default), so nothing here returns a `Result`. All ranks
/// make the same calls in the same order; a decision to stop is itself taken on reduced numbers. Calls come
/// from the thread that started the work, never from the pool.
pub trait Comm {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Adds `buf` over all ranks; each rank ends with the same sum.
    fn all_reduce_sum<T: Real>(&self, buf: &mut [T]);

    /// Puts the blocks of all ranks one after the other into `whole`.
    fn all_gather<T: Real>(&self, part: &[T], whole: &mut [T]);
}

/// A process of its own: rank 0 of 1.
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

/// The largest of one number over all ranks.
pub fn max<C: Comm>(comm: &C, x: f64) -> f64 {
    gather(comm, [x]).into_iter().fold(f64::NEG_INFINITY, |max, [x]| max.max(x))
}

/// The same few numbers of each rank, in rank order.
pub fn gather<C: Comm, const N: usize>(comm: &C, own: [f64; N]) -> Vec<[f64; N]> {
    let mut all = vec![0.0; N * comm.size()];
    comm.all_gather(&own, &mut all);
    all.as_chunks().0.to_vec()
}

/// Lets all ranks fail when one does: those that were well are interrupted.
///
/// A rank that left alone would let the others wait for it forever.
pub fn agree<C: Comm, R>(comm: &C, result: Result<R>) -> Result<R> {
    let failures = sum(comm, if result.is_err() { 1.0 } else { 0.0 });
    match result {
        Ok(_) if failures > 0.0 => Err(Error::Interrupted),
        result => result,
    }
}

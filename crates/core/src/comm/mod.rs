//! What ranks say to each other. A rank owns a contiguous block of rows of every residual and of U, and holds
//! every V whole, so two collectives are all the solver needs.
//!
//! The single process is a rank like any other: [`Local`] answers at once, and the solver is written once.

mod threads;

pub use threads::Threads;

use std::ops::Range;

use crate::linalg::Real;

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

/// The rows of this rank when `rows` rows are dealt out as evenly as can be.
pub(crate) fn own_rows<C: Comm>(comm: &C, rows: usize) -> Range<usize> {
    let bound = |rank: usize| (rows as u128 * rank as u128 / comm.size() as u128) as usize;
    bound(comm.rank())..bound(comm.rank() + 1)
}

/// The sum of one number over all ranks.
pub(crate) fn sum<C: Comm>(comm: &C, x: f64) -> f64 {
    let mut buf = [x];
    comm.all_reduce_sum(&mut buf);
    buf[0]
}

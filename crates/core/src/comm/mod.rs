//! Communication between ranks. A rank owns a contiguous block of rows of every residual and of U, and has a full copy
//! of every V, so the solver needs only two collectives. A third one shares the network, which rank 0 reads.
//!
//! A single process is a special case with one rank, [`Local`], so there is only one solver.

mod threads;
mod timed;

pub use threads::Threads;
pub use timed::{Timed, Traffic};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::{Real, Slice, SliceMut};

/// The collectives of a fit. Blocks of rows are contiguous, in rank order.
///
/// A failed collective ends the job (the default of MPI), so no method returns a `Result`. All ranks make the same
/// calls in the same order; decisions to stop are based on reduced numbers. Collectives are called on the thread that
/// started the work, not on the threads of the pool. Used as `dyn Comm`: the solver is compiled once, and a collective
/// takes far longer than a virtual call.
pub trait Comm {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Adds numbers over all ranks; every rank receives the same sums. See [`all_reduce_sum`].
    fn sum_numbers(&self, numbers: SliceMut<'_>);

    /// Concatenates the blocks of all ranks, which have the same type as the whole. See [`all_gather`].
    fn gather_numbers(&self, part: Slice<'_>, whole: SliceMut<'_>);

    /// Replaces the bytes of all ranks by those of rank 0; all have the same number of them.
    fn broadcast(&self, bytes: &mut [u8]);
}

/// Adds `buf` over all ranks; every rank receives the same sum.
pub fn all_reduce_sum<T: Real>(comm: &dyn Comm, buf: &mut [T]) {
    comm.sum_numbers(T::slice_mut(buf));
}

/// Concatenates the blocks of all ranks into `whole`.
pub fn all_gather<T: Real>(comm: &dyn Comm, part: &[T], whole: &mut [T]) {
    comm.gather_numbers(T::slice(part), T::slice_mut(whole));
}

/// What [`Comm::gather_numbers`] promises.
const SAME_TYPE: &str = "both slices have the same type";

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

    fn sum_numbers(&self, _: SliceMut<'_>) {}

    fn gather_numbers(&self, part: Slice<'_>, whole: SliceMut<'_>) {
        match (part, whole) {
            (Slice::F32(part), SliceMut::F32(whole)) => whole.copy_from_slice(part),
            (Slice::F64(part), SliceMut::F64(whole)) => whole.copy_from_slice(part),
            _ => unreachable!("{SAME_TYPE}"),
        }
    }

    fn broadcast(&self, _: &mut [u8]) {}
}

/// The sum of one number over all ranks.
pub fn sum(comm: &dyn Comm, x: f64) -> f64 {
    let mut buf = [x];
    all_reduce_sum(comm, &mut buf);
    buf[0]
}

/// The maximum of one number over all ranks.
pub fn max(comm: &dyn Comm, x: f64) -> f64 {
    gather(comm, [x]).into_iter().fold(f64::NEG_INFINITY, |max, [x]| max.max(x))
}

/// The numbers of each rank, in rank order.
pub fn gather<const N: usize>(comm: &dyn Comm, own: [f64; N]) -> Vec<[f64; N]> {
    let mut all = vec![0.0; N * comm.size()];
    all_gather(comm, &own, &mut all);
    all.as_chunks().0.to_vec()
}

/// Makes all ranks fail if one fails; the others return `Error::Interrupted`.
///
/// If a rank returned alone, the others would wait for it forever.
pub fn agree<R>(comm: &dyn Comm, result: Result<R>) -> Result<R> {
    let failures = sum(comm, if result.is_err() { 1.0 } else { 0.0 });
    match result {
        Ok(_) if failures > 0.0 => Err(Error::Interrupted),
        result => result,
    }
}

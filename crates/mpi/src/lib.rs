//! Ranks of manyview over MPI.
//!
//! A separate package because building it requires an MPI (Open MPI, MPICH) and libclang. It contains [`Mpi`], an
//! implementation of [`Comm`] over all processes started by `mpirun` or `srun`. A process started without them is rank
//! 0 of 1.
//!
//! Invariant: MPI is called only on the thread that started it.

use std::cmp::min;

use manyview::comm::Comm;
use manyview::linalg::{Slice, SliceMut};
use mpi::collective::{CommunicatorCollectives, Root, SystemOperation};
use mpi::datatype::{Equivalence, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::{Count, Rank, Threading};

/// Maximum length of one sum. MPI counts with 32 bits, and a sum needs a copy of its input: with one or two megabytes
/// this costs little memory and keeps the network busy.
const TOGETHER: usize = 1 << 18;

/// All processes of the job.
///
/// Dropping it finalizes MPI, which waits for all ranks; if it is dropped by a panic, the whole job is aborted instead.
pub struct Mpi {
    world: SimpleCommunicator,
    /// Finalizes MPI when dropped, so it is the last field.
    _universe: Universe,
}

impl Mpi {
    /// Initializes MPI; returns `None` if it was initialized before in this process. If MPI cannot be initialized, it
    /// prints an error and ends the process.
    pub fn start() -> Option<Self> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(Mpi { world: universe.world(), _universe: universe })
    }

    /// Ends the whole job immediately, without waiting for the other ranks.
    pub fn abort(&self, code: u8) -> ! {
        self.world.abort(code.into())
    }

    fn sum<T: Equivalence + Copy>(&self, buf: &mut [T]) {
        let mut own = Vec::with_capacity(min(buf.len(), TOGETHER));
        for sum in buf.chunks_mut(TOGETHER) {
            own.clear();
            own.extend_from_slice(sum);
            self.world.all_reduce_into(&own[..], sum, SystemOperation::sum());
        }
    }

    fn gather<T: Equivalence + Copy>(&self, part: &[T], whole: &mut [T], most: usize) {
        let mut lengths = vec![0u64; self.size()];
        self.world.all_gather_into(&(part.len() as u64), &mut lengths[..]);
        let total: u64 = lengths.iter().sum();
        assert_eq!(total, whole.len() as u64, "the blocks of all ranks must fill the whole");
        if whole.len() <= most {
            let counts: Vec<Count> = lengths.iter().map(|&length| length as Count).collect();
            let mut starts = vec![0; counts.len()];
            for rank in 1..starts.len() {
                starts[rank] = starts[rank - 1] + counts[rank - 1];
            }
            self.world.all_gather_varcount_into(part, &mut PartitionMut::new(whole, counts, &starts[..]));
        } else {
            self.take_turns(part, whole, &lengths, most);
        }
    }

    /// Each rank in turn broadcasts its block, in pieces that MPI can count.
    fn take_turns<T: Equivalence + Copy>(&self, part: &[T], whole: &mut [T], lengths: &[u64], most: usize) {
        let mut rest = whole;
        for (rank, &length) in lengths.iter().enumerate() {
            let (block, after) = rest.split_at_mut(length as usize);
            if rank == self.rank() {
                block.copy_from_slice(part);
            }
            let root = self.world.process_at_rank(rank as Rank);
            block.chunks_mut(most).for_each(|piece| root.broadcast_into(piece));
            rest = after;
        }
    }
}

impl Comm for Mpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn sum_numbers(&self, numbers: SliceMut<'_>) {
        if self.size() == 1 {
            return;
        }
        match numbers {
            SliceMut::F32(numbers) => self.sum(numbers),
            SliceMut::F64(numbers) => self.sum(numbers),
        }
    }

    fn gather_numbers(&self, part: Slice<'_>, whole: SliceMut<'_>) {
        self.gather_in_pieces(part, whole, Count::MAX as usize);
    }

    fn broadcast(&self, bytes: &mut [u8]) {
        let root = self.world.process_at_rank(0);
        bytes.chunks_mut(Count::MAX as usize).for_each(|piece| root.broadcast_into(piece));
    }
}

impl Mpi {
    /// [`Comm::gather_numbers`] with messages of at most `most` numbers; longer blocks are sent in pieces. For tests, where
    /// memory is not sufficient to reach the limit of MPI.
    #[doc(hidden)]
    pub fn gather_in_pieces(&self, part: Slice<'_>, whole: SliceMut<'_>, most: usize) {
        match (part, whole) {
            (Slice::F32(part), SliceMut::F32(whole)) => self.gather(part, whole, most),
            (Slice::F64(part), SliceMut::F64(whole)) => self.gather(part, whole, most),
            _ => unreachable!("both slices have the same type"),
        }
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // The other ranks may wait for this rank in a collective; finalizing MPI would wait for them forever.
        if std::thread::panicking() {
            self.abort(101);
        }
    }
}

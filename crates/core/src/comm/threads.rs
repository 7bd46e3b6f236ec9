//! Ranks as threads of one process, for tests with several ranks without MPI.
//!
//! Sums are formed in rank order, so a run with a given number of ranks is bitwise reproducible.

use std::sync::{Condvar, Mutex, MutexGuard};

use super::{Comm, SAME_TYPE};
use manyview_base::linalg::{Real, Slice, SliceMut};

/// One rank among the threads of a process.
#[derive(Debug)]
pub struct Threads<'a> {
    rank: usize,
    shared: &'a Shared,
}

#[derive(Debug)]
struct Shared {
    ranks: usize,
    meeting: Mutex<Meeting>,
    changed: Condvar,
}

/// The state of the current collective.
#[derive(Debug)]
struct Meeting {
    /// The contributions of the ranks, converted to f64 (exactly).
    parts: Vec<Vec<f64>>,
    /// How many ranks wait, and how often all have met.
    waiting: usize,
    met: usize,
    /// Whether a rank panicked; the others would wait for it forever.
    failed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Meeting> {
        self.meeting.lock().expect("no rank panics while it holds the lock")
    }

    /// Waits until all ranks are here.
    fn meet(&self) {
        let mut meeting = self.lock();
        let met = meeting.met;
        meeting.waiting += 1;
        if meeting.waiting == self.ranks {
            (meeting.waiting, meeting.met) = (0, met + 1);
            self.changed.notify_all();
        }
        while meeting.met == met && !meeting.failed {
            meeting = self.changed.wait(meeting).expect("no rank panics while it holds the lock");
        }
        let failed = meeting.failed;
        drop(meeting);
        assert!(!failed, "another rank panicked");
    }
}

/// Tells the other ranks when it is dropped by a panic.
struct FailIfPanicking<'a>(&'a Shared);

impl Drop for FailIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = true;
            self.0.changed.notify_all();
        }
    }
}

impl Threads<'_> {
    /// Runs `rank_main` on this many ranks in parallel and returns the results in rank order.
    ///
    /// # Panics
    /// If a rank panics; the others then panic in their next collective.
    pub fn run<R: Send>(ranks: usize, rank_main: impl Fn(&Threads<'_>) -> R + Sync) -> Vec<R> {
        let meeting = Meeting { parts: vec![Vec::new(); ranks], waiting: 0, met: 0, failed: false };
        let shared = Shared { ranks, meeting: Mutex::new(meeting), changed: Condvar::new() };
        std::thread::scope(|scope| {
            let start = |rank| {
                let (shared, rank_main) = (&shared, &rank_main);
                scope.spawn(move || {
                    let _tell = FailIfPanicking(shared);
                    rank_main(&Threads { rank, shared })
                })
            };
            let handles: Vec<_> = (0..ranks).map(start).collect();
            handles.into_iter().map(|handle| handle.join().expect("rank panicked")).collect()
        })
    }

    /// Contributes `part`, waits for all ranks, and calls `read` with all contributions.
    fn exchange<T: Real>(&self, part: &[T], read: impl FnOnce(&[Vec<f64>])) {
        let widened = part.iter().map(|x| x.to_f64()).collect();
        self.shared.lock().parts[self.rank] = widened;
        self.shared.meet();
        read(&self.shared.lock().parts);
        // No rank may contribute the next part before all ranks have read this one.
        self.shared.meet();
    }

    fn sum<T: Real>(&self, buf: &mut [T]) {
        let own = buf.to_vec();
        self.exchange(&own, |parts| {
            for (at, sum) in buf.iter_mut().enumerate() {
                *sum = T::from_f64(parts.iter().map(|part| part[at]).sum());
            }
        });
    }

    fn gather<T: Real>(&self, part: &[T], whole: &mut [T]) {
        self.exchange(part, |parts| {
            let all: Vec<T> = parts.iter().flatten().map(|&x| T::from_f64(x)).collect();
            whole.copy_from_slice(&all);
        });
    }
}

impl Comm for Threads<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.ranks
    }

    fn sum_numbers(&self, numbers: SliceMut<'_>) {
        match numbers {
            SliceMut::F32(numbers) => self.sum(numbers),
            SliceMut::F64(numbers) => self.sum(numbers),
        }
    }

    fn gather_numbers(&self, part: Slice<'_>, whole: SliceMut<'_>) {
        match (part, whole) {
            (Slice::F32(part), SliceMut::F32(whole)) => self.gather(part, whole),
            (Slice::F64(part), SliceMut::F64(whole)) => self.gather(part, whole),
            _ => unreachable!("{SAME_TYPE}"),
        }
    }

    fn broadcast(&self, bytes: &mut [u8]) {
        let own: Vec<f64> =
            if self.rank == 0 { bytes.iter().map(|&x| x.into()).collect() } else { Vec::new() };
        self.exchange(&own, |parts| {
            for (byte, &sent) in bytes.iter_mut().zip(&parts[0]) {
                *byte = sent as u8;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{agree, all_gather, all_reduce_sum, max};
    use manyview_base::error::Error;

    #[test]
    fn sums_and_blocks_reach_every_rank() {
        let seen = Threads::run(3, |comm| {
            let mut sum = [comm.rank() as f32, 1.0];
            all_reduce_sum(comm, &mut sum);
            let part = &[0.0, 1.0, 2.0, 3.0, 4.0][[0..1, 1..1, 1..5][comm.rank()].clone()];
            let mut whole = [0.0; 5];
            all_gather(comm, part, &mut whole);
            (sum, whole)
        });
        for rank in seen {
            assert_eq!(rank, ([3.0, 3.0], [0.0, 1.0, 2.0, 3.0, 4.0]));
        }
    }

    #[test]
    fn bytes_of_rank_0_reach_every_rank() {
        let received = Threads::run(3, |comm| {
            let mut bytes = [comm.rank() as u8, 255 - comm.rank() as u8];
            comm.broadcast(&mut bytes);
            bytes
        });
        assert_eq!(received, [[0, 255]; 3]);
    }

    /// Defect 1 of the fault campaign, for ranks.
    #[test]
    fn a_panic_of_one_rank_does_not_hang_the_others() {
        let run = || {
            Threads::run(3, |comm| {
                assert_ne!(comm.rank(), 1, "for the test");
                all_reduce_sum(comm, &mut [1.0f32]);
            })
        };
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn one_failure_fails_all() {
        let bad = || Err(Error::network("bad"));
        let results = Threads::run(3, |comm| agree(comm, if comm.rank() == 1 { bad() } else { Ok(()) }));
        assert!(matches!(results[1], Err(Error::Network(_))));
        assert!([0, 2].iter().all(|&rank| matches!(results[rank], Err(Error::Interrupted))));
        assert!(Threads::run(3, |comm| agree(comm, Ok(())).is_ok()).into_iter().all(|well| well));
    }

    #[test]
    fn the_largest_number_reaches_every_rank() {
        assert_eq!(Threads::run(3, |comm| max(comm, -(comm.rank() as f64))), [0.0; 3]);
    }
}

//! Counts the communication between ranks and measures its time.

use std::cell::Cell;
use std::time::Instant;

use super::Comm;
use manyview_base::linalg::{Slice, SliceMut};

/// A communicator that counts its calls.
pub struct Timed<'a> {
    comm: &'a dyn Comm,
    traffic: Cell<Traffic>,
}

/// The communication of a rank so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Number of collective calls.
    pub calls: u64,
    /// Bytes that this rank contributed.
    pub bytes: u64,
    /// Wall time of the calls, including the wait for slower ranks.
    pub seconds: f64,
}

impl<'a> Timed<'a> {
    /// Wraps a communicator, with all counts at 0.
    pub fn new(comm: &'a dyn Comm) -> Self {
        Timed { comm, traffic: Cell::default() }
    }

    /// The counts so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn count(&self, bytes: usize, call: impl FnOnce()) {
        let began = Instant::now();
        call();
        let before = self.traffic.get();
        self.traffic.set(Traffic {
            calls: before.calls + 1,
            bytes: before.bytes + bytes as u64,
            seconds: before.seconds + began.elapsed().as_secs_f64(),
        });
    }
}

impl Comm for Timed<'_> {
    fn rank(&self) -> usize {
        self.comm.rank()
    }

    fn size(&self) -> usize {
        self.comm.size()
    }

    fn sum_numbers(&self, numbers: SliceMut<'_>) {
        let bytes = match &numbers {
            SliceMut::F32(numbers) => size_of_val(*numbers),
            SliceMut::F64(numbers) => size_of_val(*numbers),
        };
        self.count(bytes, || self.comm.sum_numbers(numbers));
    }

    fn gather_numbers(&self, part: Slice<'_>, whole: SliceMut<'_>) {
        let bytes = match part {
            Slice::F32(part) => size_of_val(part),
            Slice::F64(part) => size_of_val(part),
        };
        self.count(bytes, || self.comm.gather_numbers(part, whole));
    }

    fn broadcast(&self, bytes: &mut [u8]) {
        let brought = if self.comm.rank() == 0 { bytes.len() } else { 0 };
        self.count(brought, || self.comm.broadcast(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Local, Threads, all_gather, all_reduce_sum};

    #[test]
    fn calls_and_bytes_are_counted() {
        let comm = Timed::new(&Local);
        all_reduce_sum(&comm, &mut [1.0f32; 3]);
        all_gather(&comm, &[1.0f64; 2], &mut [0.0; 2]);
        comm.broadcast(&mut [1; 5]);
        let Traffic { calls, bytes, .. } = comm.traffic();
        assert_eq!((calls, bytes), (3, 33));
        let brought = Threads::run(2, |comm| {
            let comm = Timed::new(comm);
            comm.broadcast(&mut [1; 5]);
            comm.traffic().bytes
        });
        assert_eq!(brought, [5, 0]);
    }

    #[test]
    fn waiting_for_a_slow_rank_is_communication() {
        let pause = std::time::Duration::from_millis(30);
        let waited = Threads::run(2, |comm| {
            let timed = Timed::new(comm);
            if timed.rank() == 1 {
                std::thread::sleep(pause);
            }
            all_reduce_sum(&timed, &mut [0.0f32]);
            timed.traffic().seconds
        });
        assert!(waited[0] > 0.8 * pause.as_secs_f64(), "{waited:?}");
    }
}

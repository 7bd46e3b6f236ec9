//! Counts the communication between ranks and measures its time.

use std::cell::Cell;
use std::time::Instant;

use super::Comm;
use manyview_base::linalg::Real;

/// A communicator that counts its calls.
#[derive(Debug)]
pub struct Timed<'a, C> {
    comm: &'a C,
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

impl<'a, C: Comm> Timed<'a, C> {
    /// Wraps a communicator, with all counts at 0.
    pub fn new(comm: &'a C) -> Self {
        Timed { comm, traffic: Cell::default() }
    }

    /// The counts so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn count<T: Real>(&self, numbers: usize, call: impl FnOnce()) {
        let began = Instant::now();
        call();
        let before = self.traffic.get();
        self.traffic.set(Traffic {
            calls: before.calls + 1,
            bytes: before.bytes + (numbers * size_of::<T>()) as u64,
            seconds: before.seconds + began.elapsed().as_secs_f64(),
        });
    }
}

impl<C: Comm> Comm for Timed<'_, C> {
    fn rank(&self) -> usize {
        self.comm.rank()
    }

    fn size(&self) -> usize {
        self.comm.size()
    }

    fn all_reduce_sum<T: Real>(&self, buf: &mut [T]) {
        self.count::<T>(buf.len(), || self.comm.all_reduce_sum(buf));
    }

    fn all_gather<T: Real>(&self, part: &[T], whole: &mut [T]) {
        self.count::<T>(part.len(), || self.comm.all_gather(part, whole));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Local, Threads};

    #[test]
    fn calls_and_bytes_are_counted() {
        let comm = Timed::new(&Local);
        comm.all_reduce_sum(&mut [1.0f32; 3]);
        comm.all_gather(&[1.0f64; 2], &mut [0.0; 2]);
        let Traffic { calls, bytes, .. } = comm.traffic();
        assert_eq!((calls, bytes), (2, 28));
    }

    #[test]
    fn waiting_for_a_slow_rank_is_communication() {
        let pause = std::time::Duration::from_millis(30);
        let waited = Threads::run(2, |comm| {
            let timed = Timed::new(comm);
            if timed.rank() == 1 {
                std::thread::sleep(pause);
            }
            timed.all_reduce_sum(&mut [0.0f32]);
            timed.traffic().seconds
        });
        assert!(waited[0] > 0.8 * pause.as_secs_f64(), "{waited:?}");
    }
}

//! The thread pool, and long parallel work that the calling thread can observe and cancel.
//!
//! The library uses pools of its own: using the global pool of the process would affect other libraries in it, and a
//! caller may want to run two fits at the same time with different numbers of threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::message::option_value;

/// The interval at which a caller is informed about long work, and the delay before it can cancel it.
const WATCH_EVERY: Duration = Duration::from_millis(50);

/// The maximum number of threads. No machine has more cores; a larger number is a typing error that would stall the
/// machine.
pub const MOST_THREADS: usize = 4096;

/// Checks a number of threads.
///
/// # Errors
/// When it is 0 or exceeds the maximum.
pub fn check_threads(threads: Option<usize>) -> Result<()> {
    match threads {
        Some(0) => Err(Error::config(format!(
            "{} must be at least 1; leave it out to use all cores",
            option_value("threads", 0)
        ))),
        Some(threads) if threads > MOST_THREADS => Err(Error::config(format!(
            "{} exceeds the maximum of {MOST_THREADS}; leave it out to use all cores",
            option_value("threads", threads)
        ))),
        _ => Ok(()),
    }
}

/// A pool of threads.
#[derive(Debug)]
pub struct Pool {
    pool: rayon::ThreadPool,
}

impl Pool {
    /// Creates a pool with this many threads, or with one per core if there is no number.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        check_threads(threads)?;
        let builder = rayon::ThreadPoolBuilder::new().thread_name(|index| format!("manyview-{index}"));
        let pool = builder.num_threads(threads.unwrap_or(0)).build();
        let pool = pool.map_err(|error| Error::config(format!("cannot start the threads: {error}")))?;
        Ok(Pool { pool })
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `f` on the pool. Parallel iterators inside `f` use its threads.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.pool.install(f)
    }

    /// Runs `work` on the pool and `here` on the calling thread at the same time, and returns what both return.
    ///
    /// # Panics
    /// When one of them does, after the other has ended.
    pub fn beside<A: Send, B>(&self, work: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
        let mut done = None;
        let other = self.pool.in_place_scope(|scope| {
            scope.spawn(|_| done = Some(work()));
            here()
        });
        (done.expect("the scope waits for the work, and passes on its panic"), other)
    }

    /// Calls `task` for every index below `count`. Each thread creates its scratch once.
    ///
    /// Meanwhile the calling thread passes the number of finished tasks to `watch`. When `watch` breaks, the flag
    /// passed to the tasks is set, tasks may return `None`, and the function returns `None`.
    pub fn map_watched<S, R: Send>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync + Send,
        task: impl Fn(&mut S, usize, &AtomicBool) -> Option<R> + Sync,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Vec<R>> {
        let done = AtomicUsize::new(0);
        let work = |canceled: &AtomicBool| {
            let results = (0..count).into_par_iter().map_init(&scratch, |scratch, index| {
                // A panic reaches the caller only when all tasks have ended, so it ends the others.
                let _end = CancelIfPanicking(canceled);
                if canceled.load(Ordering::Relaxed) {
                    return None;
                }
                let result = task(scratch, index, canceled);
                done.fetch_add(1, Ordering::Relaxed);
                result
            });
            results.collect()
        };
        self.run_watched(work, &mut || watch(done.load(Ordering::Relaxed)))
    }

    /// Runs `work` on the pool while the calling thread calls `watch` repeatedly.
    ///
    /// When `watch` breaks, the flag passed to `work` is set, `work` may return `None`, and the function returns
    /// `None`. A panic of `work` or of `watch` is passed on to the caller; that of `watch` sets the flag first.
    pub fn run_watched<R: Send>(
        &self,
        work: impl FnOnce(&AtomicBool) -> Option<R> + Send,
        watch: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<R> {
        let canceled = AtomicBool::new(false);
        let (finished, wait) = channel::<Option<R>>();
        self.pool.in_place_scope(|scope| {
            let _end = CancelIfPanicking(&canceled);
            let flag = &canceled;
            // `finished` must move into the job: when `work` panics, dropping it is what wakes the loop below. The receiver
            // may be gone when `watch` panicked, and then nobody wants the result.
            scope.spawn(move |_| drop(finished.send(work(flag))));
            loop {
                match wait.recv_timeout(WATCH_EVERY) {
                    Ok(result) => {
                        let kept_on = watch().is_continue();
                        return result.filter(|_| kept_on);
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if watch().is_break() {
                            canceled.store(true, Ordering::Relaxed);
                        }
                    }
                    // The work panicked; the scope propagates the panic.
                    Err(RecvTimeoutError::Disconnected) => return None,
                }
            }
        })
    }
}

/// Sets the flag when it is dropped by a panic.
struct CancelIfPanicking<'a>(&'a AtomicBool);

impl Drop for CancelIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn results_come_in_order() {
        let pool = Pool::new(Some(3)).unwrap();
        let squares = pool
            .map_watched(100, || (), |(), index, _| Some(index * index), &mut |_| ControlFlow::Continue(()));
        assert_eq!(squares, Some((0..100).map(|index| index * index).collect()));
    }

    #[test]
    fn two_kinds_of_work_run_side_by_side() {
        let pool = Pool::new(Some(1)).unwrap();
        let caller = std::thread::current().id();
        let (there, here) = pool.beside(|| std::thread::current().id(), || std::thread::current().id());
        assert!(here == caller && there != caller);
        assert!(panics(|| pool.beside(|| panic!("work"), || 1)));
        assert!(panics(|| pool.beside(|| 1, || panic!("here"))));
        assert_eq!(pool.beside(|| 1, || 2), (1, 2), "the pool still works");
    }

    #[test]
    fn breaking_ends_endless_tasks() {
        let pool = Pool::new(Some(2)).unwrap();
        let task = |(): &mut (), _: usize, canceled: &AtomicBool| {
            spin(canceled);
            None::<()>
        };
        assert_eq!(pool.map_watched(10, || (), task, &mut |_| ControlFlow::Break(())), None);
    }

    fn spin(canceled: &AtomicBool) {
        while !canceled.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }

    fn panics<R>(f: impl FnOnce() -> R) -> bool {
        catch_unwind(AssertUnwindSafe(f)).is_err()
    }

    /// Defect 1 of the fault campaign: what signals the end was borrowed by the work, so it was never dropped.
    #[test]
    fn a_panic_in_watched_work_does_not_hang() {
        let go_on = &mut || ControlFlow::Continue(());
        for threads in [1, 3] {
            let pool = Pool::new(Some(threads)).unwrap();
            assert!(panics(|| pool.run_watched(|_| -> Option<()> { panic!("work") }, go_on)));
            assert_eq!(pool.run_watched(|_| Some(5), go_on), Some(5), "the pool still works");
        }
    }

    #[test]
    fn a_panicking_task_ends_the_other_tasks() {
        let pool = Pool::new(Some(2)).unwrap();
        let task = |(): &mut (), index: usize, canceled: &AtomicBool| {
            assert!(index < 50, "task");
            spin(canceled);
            None::<()>
        };
        assert!(panics(|| pool.map_watched(100, || (), task, &mut |_| ControlFlow::Continue(()))));
    }

    #[test]
    fn a_panic_while_watching_ends_the_work() {
        let pool = Pool::new(Some(2)).unwrap();
        let work = |canceled: &AtomicBool| {
            spin(canceled);
            Some(())
        };
        assert!(panics(|| pool.run_watched(work, &mut || panic!("watch"))));
    }

    #[test]
    fn zero_threads_are_refused() {
        assert!(Pool::new(Some(0)).unwrap_err().to_string().contains("at least 1"));
    }
}

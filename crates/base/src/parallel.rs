//! The thread pool, and long parallel work that can be watched and ended from the calling thread.
//!
//! The pool is our own: a library that takes the process's global pool would change its neighbors' speed, and
//! a caller may want two fits with different numbers of threads at once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rayon::prelude::*;

use crate::error::{Error, Result};

/// How often a caller hears of long work, and how fast it can end it.
const WATCH_EVERY: Duration = Duration::from_millis(50);

/// More than any machine has; a larger number is a slip of the keyboard that would stall it.
const MOST_THREADS: usize = 4096;

/// Refuses numbers of threads that make no sense.
pub fn check_threads(threads: Option<usize>) -> Result<()> {
    match threads {
        Some(0) => Err(Error::config("threads = 0: give at least 1, or leave it out to use all cores")),
        Some(threads) if threads > MOST_THREADS => Err(Error::config(format!(
            "threads = {threads} is more than {MOST_THREADS}; leave it out to use all cores"
        ))),
        _ => Ok(()),
    }
}

/// Threads that work together.
#[derive(Debug)]
pub struct Pool {
    pool: rayon::ThreadPool,
}

impl Pool {
    /// A pool with so many threads; without a number, as many as the machine has cores.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        check_threads(threads)?;
        let builder = rayon::ThreadPoolBuilder::new().thread_name(|index| format!("manyview-{index}"));
        let pool = builder.num_threads(threads.unwrap_or(0)).build();
        let pool = pool.map_err(|error| Error::config(format!("cannot start the threads: {error}")))?;
        Ok(Pool { pool })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `f` on the pool: parallel iterators inside use its threads.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.pool.install(f)
    }

    /// Calls `task` for every index below `count`; each thread makes its scratch once.
    ///
    /// The calling thread meanwhile tells `watch` how many are done. When that breaks, the flag that tasks get
    /// is raised, tasks may return `None`, and so does the whole.
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

    /// Runs `work` on the pool while the calling thread calls `watch` again and again.
    ///
    /// When that breaks, the flag that `work` gets is raised, it may return `None`, and so does the whole.
    pub fn run_watched<R: Send>(
        &self,
        work: impl FnOnce(&AtomicBool) -> Option<R> + Send,
        watch: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<R> {
        let canceled = AtomicBool::new(false);
        let (finished, wait) = channel::<Option<R>>();
        self.pool.in_place_scope(|scope| {
            // The receiver lives until this message has come, so sending cannot fail.
            scope.spawn(|_| drop(finished.send(work(&canceled))));
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
                    // The work panicked; the scope passes the panic on.
                    Err(RecvTimeoutError::Disconnected) => return None,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let pool = Pool::new(Some(3)).unwrap();
        let squares = pool
            .map_watched(100, || (), |(), index, _| Some(index * index), &mut |_| ControlFlow::Continue(()));
        assert_eq!(squares, Some((0..100).map(|index| index * index).collect()));
    }

    #[test]
    fn breaking_ends_endless_tasks() {
        let pool = Pool::new(Some(2)).unwrap();
        let spin = |(): &mut (), _: usize, canceled: &AtomicBool| {
            while !canceled.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            None::<()>
        };
        assert_eq!(pool.map_watched(10, || (), spin, &mut |_| ControlFlow::Break(())), None);
    }

    #[test]
    fn zero_threads_are_refused() {
        assert!(Pool::new(Some(0)).unwrap_err().to_string().contains("at least 1"));
    }
}

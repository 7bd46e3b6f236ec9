//! The runner for stable Rust: mutated inputs on all cores, in this process.
//!
//! The input of an execution follows from the seed, the target and the number of the execution, never from the time or the
//! number of threads. So any execution can be repeated alone.

mod clock;
mod minimize;
mod panics;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

use manyview::parallel::Pool;

use crate::{Target, random::Random};
pub use panics::silence_panics;
pub use worker::{attempt, current};

/// How long one execution may take. The slowest take a millisecond; the rest is for a machine that is busy.
pub const LONGEST_TIME: Duration = Duration::from_secs(10);
/// How much memory one execution may hold at once.
pub const MOST_MEMORY: usize = 64 << 20;

/// What to run.
pub struct Plan {
    /// The targets.
    pub targets: Vec<&'static Target>,
    /// The seed.
    pub seed: u64,
    /// The first execution.
    pub from: u64,
    /// How many executions of each target; without a limit, the time decides.
    pub executions: Option<u64>,
    /// How long all targets together.
    pub time: Duration,
    /// How many threads.
    pub threads: usize,
    /// The folder with the seeds.
    pub corpus: PathBuf,
    /// Where inputs that failed are written.
    pub failures: PathBuf,
    /// How many bytes this thread holds and has held at most since it was last asked, if the program counts.
    pub memory: Option<fn() -> usize>,
}

/// What came of one target.
#[derive(Debug)]
pub struct Tally {
    /// Its name.
    pub name: &'static str,
    /// The number of executions.
    pub executions: u64,
    /// How many of them were read and not refused.
    pub parsed: u64,
    /// The time of all threads together on a processor, the making of inputs included.
    pub busy: Duration,
    /// The first failure.
    pub failure: Option<Failure>,
}

/// An execution that failed.
#[derive(Debug)]
pub struct Failure {
    /// Its number.
    pub execution: u64,
    /// What was broken.
    pub message: String,
    /// The file with the smallest input that was found.
    pub input: PathBuf,
}

/// The seeds of a target: its corpus in order of names, and what it makes itself.
///
/// # Errors
/// When the corpus cannot be read.
pub fn seeds(target: &Target, corpus: &Path) -> io::Result<Vec<Vec<u8>>> {
    let folder = corpus.join(target.name);
    let mut paths = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder)? {
            paths.push(entry?.path());
        }
    }
    paths.sort();
    let mut seeds = paths.iter().map(fs::read).collect::<io::Result<Vec<_>>>()?;
    seeds.extend((target.made)());
    if seeds.is_empty() {
        seeds.push(Vec::new());
    }
    Ok(seeds)
}

/// The input of an execution.
pub fn input(target: &Target, seeds: &[Vec<u8>], seed: u64, execution: u64) -> Vec<u8> {
    target.input(seeds, &mut Random::of(seed, target.name, execution))
}

/// Executions that a thread takes at a time.
const CHUNK: u64 = 256;

/// The state of a target that the threads share.
struct Shared {
    target: &'static Target,
    seeds: Vec<Vec<u8>>,
    next: AtomicU64,
    executions: AtomicU64,
    parsed: AtomicU64,
    nanoseconds: AtomicU64,
    failed: AtomicBool,
    failure: Mutex<Option<(u64, Vec<u8>, String)>>,
}

impl Plan {
    /// Runs all targets side by side and returns what came of them.
    ///
    /// # Errors
    /// When the corpus cannot be read, a thread cannot be started, or a failure cannot be written.
    pub fn run(&self) -> anyhow::Result<Vec<Tally>> {
        let share = |target: &&'static Target| {
            Ok(Shared {
                target,
                seeds: seeds(target, &self.corpus)?,
                next: AtomicU64::new(self.from),
                executions: AtomicU64::new(0),
                parsed: AtomicU64::new(0),
                nanoseconds: AtomicU64::new(0),
                failed: AtomicBool::new(false),
                failure: Mutex::new(None),
            })
        };
        let shared = self.targets.iter().map(share).collect::<io::Result<Vec<_>>>()?;
        let until = Instant::now() + self.time;
        std::thread::scope(|scope| -> manyview::Result<()> {
            for _ in 0..self.threads {
                // A pool of its own: its thread runs the loop, so that building a network does not wait for another one.
                let pool = Pool::new(Some(1))?;
                let shared = &shared;
                scope.spawn(move || pool.run(|| self.work(shared, until, &pool)));
            }
            Ok(())
        })?;
        shared.into_iter().map(|shared| self.tally(shared)).collect()
    }

    /// Takes chunks of the targets in turn, always of the one that has had the least time.
    fn work(&self, shared: &[Shared], until: Instant, pool: &Pool) {
        let end = self.executions.map_or(u64::MAX, |count| self.from.saturating_add(count));
        loop {
            let open = |target: &&Shared| {
                !target.failed.load(Ordering::Relaxed) && target.next.load(Ordering::Relaxed) < end
            };
            let least = |target: &&Shared| target.nanoseconds.load(Ordering::Relaxed);
            let Some(target) = shared.iter().filter(open).min_by_key(least) else { return };
            let first = target.next.fetch_add(CHUNK, Ordering::Relaxed);
            let last = first.saturating_add(CHUNK).min(end);
            let (began, clock) = (clock::processor(), Instant::now());
            for execution in first..last {
                self.execute(target, execution, pool);
            }
            // On a machine that is busy with other things, the time on the processor is what executions take.
            let taken = clock::processor().zip(began).map(|(now, began)| now - began);
            let taken = taken.unwrap_or_else(|| clock.elapsed());
            target.nanoseconds.fetch_add(taken.as_nanos() as u64, Ordering::Relaxed);
            if Instant::now() >= until {
                return;
            }
        }
    }

    fn execute(&self, shared: &Shared, execution: u64, pool: &Pool) {
        worker::announce(shared.target.name, self.seed, execution);
        let input = input(shared.target, &shared.seeds, self.seed, execution);
        shared.executions.fetch_add(1, Ordering::Relaxed);
        match attempt(shared.target, &input, pool, self.memory) {
            Ok(crate::Outcome::Parsed) => _ = shared.parsed.fetch_add(1, Ordering::Relaxed),
            Ok(crate::Outcome::Refused) => {}
            Err(message) => {
                shared.failed.store(true, Ordering::Relaxed);
                let small = minimize::smallest(&input, |input| {
                    attempt(shared.target, input, pool, self.memory)
                        .is_err_and(|other| minimize::same(&message, &other))
                });
                let mut failure = shared.failure.lock().unwrap_or_else(|error| error.into_inner());
                if failure.as_ref().is_none_or(|earlier| execution < earlier.0) {
                    *failure = Some((execution, small, message));
                }
            }
        }
    }

    fn tally(&self, shared: Shared) -> anyhow::Result<Tally> {
        let failure = shared.failure.into_inner().unwrap_or_else(|error| error.into_inner());
        let name = shared.target.name;
        let failure = match failure {
            None => None,
            Some((execution, bytes, message)) => {
                fs::create_dir_all(&self.failures)?;
                let input = self.failures.join(format!("{name}-{:08x}", crc32fast::hash(&bytes)));
                fs::write(&input, bytes)?;
                Some(Failure { execution, message, input })
            }
        };
        Ok(Tally {
            name,
            executions: shared.executions.into_inner(),
            parsed: shared.parsed.into_inner(),
            busy: Duration::from_nanos(shared.nanoseconds.into_inner()),
            failure,
        })
    }
}

//! One execution, with its limits.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use manyview::parallel::Pool;

use super::{LONGEST_TIME, MOST_MEMORY, panics};
use crate::{Outcome, Target};

thread_local! {
    static CURRENT: Cell<(&'static str, u64, u64)> = const { Cell::new(("", 0, 0)) };
}

/// Notes what this thread executes, for [`current`].
pub(super) fn announce(target: &'static str, seed: u64, execution: u64) {
    CURRENT.set((target, seed, execution));
}

/// The target, seed and number of the execution of this thread, for a process that is about to end.
pub fn current() -> (&'static str, u64, u64) {
    CURRENT.try_with(Cell::get).unwrap_or_default()
}

/// Reads an input; a panic or a limit that was passed is an error with what happened.
///
/// # Errors
/// The message of the panic, or which limit was passed.
pub fn attempt(
    target: &Target,
    input: &[u8],
    pool: &Pool,
    memory: Option<fn() -> usize>,
) -> Result<Outcome, String> {
    if let Some(memory) = memory {
        memory();
    }
    let began = Instant::now();
    let outcome =
        panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input, pool))).map_err(|_| panics::last())?;
    if began.elapsed() > LONGEST_TIME {
        return Err(format!("too slow: took {:?} for {} bytes", began.elapsed(), input.len()));
    }
    let held = memory.map_or(0, |memory| memory());
    if held > MOST_MEMORY {
        return Err(format!("too much memory: held {held} bytes for an input of {}", input.len()));
    }
    Ok(outcome)
}

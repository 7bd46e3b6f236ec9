//! Ctrl-C: asks the running work to stop, and ends the process if it has not stopped after 0.8 s.
//!
//! Files are renamed into place only when they are complete, so the process can end at any time.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use manyview::checkpoint::Checkpoints;
use manyview::io::Traces;

use crate::ui::{plural, tell};

pub(crate) const EXIT_CODE: u8 = 130;
const PATIENCE: Duration = Duration::from_millis(800);

static ASKED: AtomicBool = AtomicBool::new(false);
static PRINTS: AtomicBool = AtomicBool::new(true);
static OUTPUT: Mutex<Vec<Traces>> = Mutex::new(Vec::new());
static LEFT: Mutex<Option<String>> = Mutex::new(None);
static CHECKPOINTS: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Handles Ctrl-C from now on. Call this before a folder is created; otherwise Ctrl-C would leave it behind.
pub(crate) fn watch_for_it() -> anyhow::Result<()> {
    ctrlc::set_handler(|| end_within(PATIENCE)).context("cannot watch for Ctrl-C")
}

/// Asks the work to stop, and ends the process if it is still running after `patience`.
///
/// Call this on a separate thread.
pub(crate) fn end_within(patience: Duration) -> ! {
    ASKED.store(true, Ordering::Relaxed);
    std::thread::sleep(patience);
    remove_traces();
    if PRINTS.load(Ordering::Relaxed) {
        tell(message());
    }
    std::process::exit(EXIT_CODE.into());
}

/// Prints the message on rank 0 only.
#[cfg(feature = "mpi")]
pub(crate) fn only_rank_0_prints(rank: usize) {
    PRINTS.store(rank == 0, Ordering::Relaxed);
}

/// Registers a folder that may contain unfinished files, to be removed when the process ends. A folder inside another one
/// is registered after it.
pub(crate) fn writes_to(traces: Traces) {
    OUTPUT.lock().expect("no thread panics while holding this lock").push(traces);
}

/// Registers the folder of the checkpoints, which the message names.
pub(crate) fn keeps(folder: PathBuf) {
    *CHECKPOINTS.lock().expect("no thread panics while holding this lock") = Some(folder);
}

/// Replaces the message, for commands that leave usable files behind.
pub(crate) fn leaves(message: String) {
    *LEFT.lock().expect("no thread panics while holding this lock") = Some(message);
}

/// Returns the message to print after an interruption.
pub(crate) fn message() -> String {
    if let Ok(Some(message)) = LEFT.lock().as_deref() {
        return message.clone();
    }
    let folder = CHECKPOINTS.lock().ok().and_then(|folder| folder.clone());
    match folder.as_ref().map(|folder| (Checkpoints::count(folder), folder.display())) {
        Some((stages, folder)) if stages > 0 => {
            let stages = plural(stages, "finished stage");
            format!(
                "interrupted: {stages} saved in {folder}; to continue, run the same command with --resume"
            )
        }
        _ => "interrupted: nothing was written".into(),
    }
}

/// Removes unfinished files, and folders that are empty without them.
pub(crate) fn remove_traces() {
    if let Ok(folders) = OUTPUT.lock() {
        // The innermost first: a folder can be removed only when it is empty.
        folders.iter().rev().for_each(Traces::remove);
    }
}

/// Returns whether the work should continue; the answer of observers.
pub(crate) fn go_on() -> ControlFlow<()> {
    if ASKED.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

//! Ctrl-C: the work under way hears of it and ends; when it does not within most of a second, the process does.
//!
//! Results are renamed into place only when they are whole, so an end at any moment leaves none half-written.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use manyview::checkpoint::Checkpoints;
use manyview::io::Traces;

use crate::ui::plural;

pub(crate) const EXIT_CODE: u8 = 130;
const PATIENCE: Duration = Duration::from_millis(800);

static ASKED: AtomicBool = AtomicBool::new(false);
static SPEAKS: AtomicBool = AtomicBool::new(true);
static OUTPUT: Mutex<Vec<Traces>> = Mutex::new(Vec::new());
static LEFT: Mutex<Option<String>> = Mutex::new(None);
static CHECKPOINTS: Mutex<Option<PathBuf>> = Mutex::new(None);

/// From now on Ctrl-C ends the work instead of killing the process; to be called before a folder is made, which
/// would be left behind otherwise.
pub(crate) fn watch_for_it() -> anyhow::Result<()> {
    ctrlc::set_handler(|| end_within(PATIENCE)).context("cannot watch for Ctrl-C")
}

/// Asks the work to end, and ends the process when it has not after that time.
///
/// To be called on a thread of its own: when the work ends in time, the process is gone before that wakes.
pub(crate) fn end_within(patience: Duration) -> ! {
    ASKED.store(true, Ordering::Relaxed);
    std::thread::sleep(patience);
    remove_traces();
    if SPEAKS.load(Ordering::Relaxed) {
        eprintln!("{}", sentence());
    }
    std::process::exit(EXIT_CODE.into());
}

/// One sentence for all ranks.
#[cfg(feature = "mpi")]
pub(crate) fn only_rank_0_speaks(rank: usize) {
    SPEAKS.store(rank == 0, Ordering::Relaxed);
}

/// A folder in which unfinished files may lie when the process has to be ended; folders within it come after it.
pub(crate) fn writes_to(traces: Traces) {
    OUTPUT.lock().expect("nobody panics with this lock").push(traces);
}

/// The folder in which finished stages are kept.
pub(crate) fn keeps(folder: PathBuf) {
    *CHECKPOINTS.lock().expect("nobody panics with this lock") = Some(folder);
}

/// What is said at the end, where something of use is left.
pub(crate) fn leaves(sentence: String) {
    *LEFT.lock().expect("nobody panics with this lock") = Some(sentence);
}

/// What is said at the end.
pub(crate) fn sentence() -> String {
    if let Ok(Some(sentence)) = LEFT.lock().as_deref() {
        return sentence.clone();
    }
    let folder = CHECKPOINTS.lock().ok().and_then(|folder| folder.clone());
    match folder.as_ref().map(|folder| (Checkpoints::count(folder), folder.display())) {
        Some((stages, folder)) if stages > 0 => {
            let stages = plural(stages, "finished stage");
            format!(
                "interrupted: {stages} kept in {folder}; the same command with --resume goes on from there"
            )
        }
        _ => "interrupted: nothing was written".into(),
    }
}

fn remove_traces() {
    if let Ok(folders) = OUTPUT.lock() {
        // The innermost first: a folder that this run made can be removed once it is empty.
        folders.iter().rev().for_each(Traces::remove);
    }
}

/// What observers answer.
pub(crate) fn go_on() -> ControlFlow<()> {
    if ASKED.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

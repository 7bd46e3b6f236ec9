//! A panic, which is a bug of ours or memory that the system refused: prints one sentence, removes unfinished files and ends
//! the process, on whichever thread it happens.

use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use manyview::Error;
use manyview::message::Notation;
use manyview::panics::error_of;

use crate::{backend, interrupt};

/// As a Rust program ends by a panic.
pub(crate) const EXIT_CODE: u8 = 101;

/// How long a rank may take to end the whole job in an orderly way.
const PATIENCE: Duration = Duration::from_millis(500);

/// Ends the process by any panic from now on.
pub(crate) fn ends_the_process() {
    panic::set_hook(Box::new(end));
}

fn end(info: &PanicHookInfo<'_>) {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDING.swap(true, Ordering::SeqCst) {
        // Another thread panicked for the same reason, has printed it, and ends the process.
        return;
    }
    let place = backend::rank().map_or_else(String::new, |rank| format!(" on rank {rank}"));
    // Not `eprintln!`: it panics when standard error is closed, and a panic in here would abort before the files are gone.
    let error = error_of(info);
    drop(writeln!(io::stderr(), "error{place}: {}", error.in_notation(Notation::CommandLine)));
    let code = if matches!(error, Error::Bug(_)) { EXIT_CODE } else { 1 };
    interrupt::remove_traces();
    if backend::rank().is_none() {
        std::process::exit(code.into());
    }
    // Only the main thread may call MPI. The panic unwinds to it and drops the ranks, which aborts the job; this thread
    // does the same if the pool is too busy for that.
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        std::process::exit(code.into());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview::parallel::Pool;
    use std::ops::ControlFlow;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    /// The process that ends; not a test of its own.
    #[test]
    #[ignore = "ends the process; started by the test below"]
    fn panics_in_watched_work() {
        ends_the_process();
        let pool = Pool::new(Some(2)).unwrap();
        let task = |(): &mut (), index: usize, _: &AtomicBool| -> Option<()> {
            // One thread waits for ever; the other takes over half of the tasks.
            assert_eq!(index, 0, "for the test");
            loop {
                std::thread::park();
            }
        };
        pool.map_watched(8, || (), task, &mut |_| ControlFlow::Continue(()));
    }

    /// Defect 1 of the fault campaign. The other thread never looks at the flag, so only the hook can end the process.
    #[test]
    fn a_panic_in_watched_work_ends_the_process_with_a_sentence() {
        let began = Instant::now();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "crash::tests::panics_in_watched_work"])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(EXIT_CODE.into()), "{text}");
        assert!(text.starts_with("error: this is a bug in manyview"), "{text}");
        assert!(text.contains("src/crash.rs:") && text.contains("please report"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        // Without the hook it would never end; a busy machine may take seconds to start it.
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }
}

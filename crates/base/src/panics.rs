//! Panics as errors. They are bugs of ours, and get a sentence that asks for a report; the one exception is memory that the
//! system refused ([`Refused`]).
//!
//! The library itself never catches a panic. A front end decides: the command line ends the process, Python raises an
//! exception.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::memory::Refused;
use crate::message::option;

/// The sentence of the last panic, for [`caught`]: what was caught no longer knows its place.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Returns the error of a panic: [`Error::Bug`] with the place, the reason and the request for a report, or
/// [`Error::TooLarge`] for memory that the system refused.
pub fn error_of(info: &PanicHookInfo<'_>) -> Error {
    refused(info.payload()).unwrap_or_else(|| Error::Bug(sentence(info)))
}

fn refused(payload: &(dyn Any + Send)) -> Option<Error> {
    let &Refused { bytes } = payload.downcast_ref()?;
    let (size, dim) = (bytes as f64 / 1e9, option("dim"));
    Some(Error::too_large(format!(
        "the system refused {size:.1} GB of memory for one array; use a smaller {dim}, or a machine with more memory"
    )))
}

fn sentence(info: &PanicHookInfo<'_>) -> String {
    let place =
        info.location().map_or_else(String::new, |place| format!(" at {}:{}", place.file(), place.line()));
    describe(&place, reason(info.payload()))
}

/// The text of a panic, which is a `&str` or a `String` unless it was raised with another value.
fn reason(payload: &(dyn Any + Send)) -> Option<&str> {
    let constant = payload.downcast_ref::<&str>().copied();
    constant.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

fn describe(place: &str, reason: Option<&str>) -> String {
    // A sentence is one line; the values of a failed `assert_eq!` are on lines of their own.
    let reason = reason.unwrap_or("no reason given").split_whitespace().collect::<Vec<_>>().join(" ");
    let [version, repository] = [env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY")];
    format!(
        "this is a bug in manyview {version}{place} ({reason}); please report it with this line and, if possible, the \
         input, at {repository}/issues"
    )
}

/// Keeps the sentence of each bug from now on, for [`caught`]. The previous hook still runs. Call this once.
pub fn record() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if refused(info.payload()).is_some() {
            return;
        }
        if let Ok(mut last) = LAST.lock() {
            *last = Some(sentence(info));
        }
        previous(info);
    }));
}

/// Runs `f`; a panic becomes an error with its sentence.
///
/// What `f` has changed may be incomplete after a panic, so nothing of it may be used.
///
/// # Errors
/// Those of `f`, [`Error::Bug`], or [`Error::TooLarge`] for memory that the system refused.
pub fn caught<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        if let Some(error) = refused(&*payload) {
            return Err(error);
        }
        let kept = LAST.lock().ok().and_then(|mut last| last.take());
        Err(Error::Bug(kept.unwrap_or_else(|| describe("", reason(&*payload)))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Pool;
    use std::ops::ControlFlow;

    /// Defect 3 of the fault campaign: the allocation aborted the process.
    #[test]
    fn memory_that_the_system_refuses_is_an_error() {
        let pool = Pool::new(Some(2)).unwrap();
        for len in [usize::MAX, usize::MAX >> 4, 1 << 60] {
            let failed = caught(|| pool.run(|| Ok(crate::memory::zeros::<f64>(len).len())));
            assert!(matches!(failed, Err(Error::TooLarge(_))), "{failed:?}");
        }
    }

    /// Defect 1 of the fault campaign, as Python sees it.
    #[test]
    fn a_panic_in_watched_work_is_an_error_that_asks_for_a_report() {
        record();
        let pool = Pool::new(Some(2)).unwrap();
        let failed = caught(|| {
            pool.run_watched(|_| -> Option<()> { panic!("two\nlines") }, &mut || ControlFlow::Continue(()))
                .ok_or(Error::Interrupted)
        });
        let text = failed.unwrap_err().to_string();
        for words in ["bug in manyview", "src/panics.rs:", "(two lines)", "please report", "/issues"] {
            assert!(text.contains(words), "{text}");
        }
        assert!(!text.contains('\n'), "{text}");
        assert_eq!(caught(|| Ok(1)).unwrap(), 1);
        assert!(matches!(caught(|| Err::<(), _>(Error::Interrupted)), Err(Error::Interrupted)));
    }
}

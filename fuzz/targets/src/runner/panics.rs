//! Panics are results here: caught, and kept as a text instead of printed.

use std::cell::RefCell;
use std::panic;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the message of a panic for `last` instead of printing it.
pub fn silence_panics() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text =
            payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("a panic without a message");
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        LAST.set(Some(format!("{}: {text}", place.unwrap_or_default())));
    }));
}

/// Returns the message of the last panic of this thread.
pub(super) fn last() -> String {
    LAST.take().unwrap_or_else(|| "a panic on another thread".to_owned())
}

//! The time that a thread has been on a processor.

use std::fs;
use std::time::Duration;

/// Returns the time that this thread has been running, where the system tells.
pub(super) fn processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

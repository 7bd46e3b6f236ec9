//! The progress of scoring views: what `manyview views --alone` and the demo have in common.

use std::ops::ControlFlow;

use manyview::worth::Event;

use crate::interrupt;
use crate::ui::Reporter;

/// Shows an event; breaks after Ctrl-C.
pub(super) fn show(event: &Event<'_>, reporter: &mut Reporter) -> ControlFlow<()> {
    match event {
        Event::Started { subset, number, of } => {
            reporter.finish();
            reporter.say(&format!("embedding and scoring {number} of {of}: {subset}"));
        }
        Event::Fitting(now) => reporter.fitting(now),
        Event::Classifying(step) => reporter.evaluating(*step, "splits"),
        Event::Clustering(step) => reporter.evaluating(*step, "runs of k-means"),
        Event::Failed(reason) => {
            reporter.finish();
            reporter.say(&format!("  failed: {reason}"));
        }
        _ => {}
    }
    interrupt::go_on()
}

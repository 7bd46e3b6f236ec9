//! Prints the events of a search, and tells the handler of Ctrl-C what the search leaves behind.

use std::ops::ControlFlow;
use std::path::Path;

use manyview::compare::percent;
use manyview::tune::{Event, Search};

use crate::interrupt;
use crate::ui::{Reporter, seconds};

/// Prints events.
pub(crate) struct Printer<'a> {
    reporter: &'a mut Reporter,
    /// The folder of the search.
    folder: &'a Path,
    /// The candidate that is being tried.
    current: String,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(reporter: &'a mut Reporter, folder: &'a Path) -> Self {
        Printer { reporter, folder, current: String::new() }
    }

    /// Prints an event; breaks after Ctrl-C.
    pub(crate) fn show(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Note(note) => self.say(&format!("note: {note}")),
            Event::Started { search, candidate, number, of } => {
                self.current = format!("{} {number} of {of}: {candidate}", title(*search));
            }
            Event::Fitting(now) => self.reporter.fitting(now),
            Event::Measuring(step) => self.reporter.evaluating(*step, "rounds"),
            Event::Finished { score, cut_after, failed, best, seconds: time, reused } => {
                let result = match (score, cut_after, failed) {
                    (Some(score), None, _) => percent(*score),
                    (Some(score), Some(stages), _) => {
                        format!("cut off after {stages} stages with {}", percent(*score))
                    }
                    (None, ..) => format!("failed: {}", failed.unwrap_or_default()),
                };
                let best =
                    best.as_ref().map(|(score, title)| format!("; best {} ({title})", percent(*score)));
                let time = if *reused { "reused".into() } else { seconds(*time) };
                let current = std::mem::take(&mut self.current);
                self.say(&format!("{current}: {result}, {time}{}", best.unwrap_or_default()));
            }
            Event::Kept => interrupt::leaves(format!(
                "interrupted: finished candidates are kept in {}; to continue, run the same command",
                self.folder.display()
            )),
            _ => {}
        }
        interrupt::go_on()
    }

    fn say(&mut self, sentence: &str) {
        self.reporter.finish();
        self.reporter.say(sentence);
    }
}

fn title(search: Option<Search>) -> &'static str {
    search.map_or("baseline", Search::title)
}

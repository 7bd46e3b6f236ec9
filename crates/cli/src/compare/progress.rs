//! Prints the events of a comparison, and tells the handler of Ctrl-C what the comparison leaves behind.

use std::ops::ControlFlow;
use std::path::Path;

use manyview::compare::{Event, Parts, Reused};

use crate::interrupt;
use crate::ui::{Reporter, seconds};

/// Prints events.
pub(super) struct Printer<'a> {
    pub(super) reporter: &'a mut Reporter,
    /// The folder of the comparison.
    pub(super) folder: &'a Path,
}

impl Printer<'_> {
    /// Prints an event; breaks after Ctrl-C.
    pub(super) fn show(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        // Settings are not options of this command, so messages name them in plain notation.
        match event {
            Event::Note(note) => self.say(&format!("note: {note}")),
            Event::Started { job, reused } => self.say(&match reused {
                Reused::Nothing => job.to_string(),
                Reused::Embedding => format!("{job}: embedding reused, measuring"),
                Reused::Scores => format!("{job}: reused"),
            }),
            Event::Embedding(now) => self.reporter.fitting(now),
            Event::Warning(warning) => self.say(&format!("  warning: {}", warning.message)),
            Event::Writing(traces) => {
                self.reporter.finish();
                interrupt::writes_to((*traces).clone());
            }
            Event::Measuring { parts, step } => {
                let parts = match parts {
                    Parts::Clusterings => "runs of k-means",
                    _ => "splits",
                };
                self.reporter.evaluating(*step, parts);
            }
            Event::Finished { embedded, measured } => {
                self.say(&format!(
                    "  embedded in {}, measured in {}",
                    seconds(*embedded),
                    seconds(*measured)
                ));
            }
            Event::ScoreNote(note) => self.say(&format!("  note: {note}")),
            Event::Failed { job, message } => self.say(&format!("{job} failed: {message}")),
            _ => {}
        }
        if matches!(event, Event::Kept | Event::Started { reused: Reused::Embedding | Reused::Scores, .. }) {
            interrupt::leaves(format!(
                "interrupted: finished results are saved in {}; to continue, run the same command",
                self.folder.display()
            ));
        }
        interrupt::go_on()
    }

    fn say(&mut self, sentence: &str) {
        self.reporter.finish();
        self.reporter.say(sentence);
    }
}

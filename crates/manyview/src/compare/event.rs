//! What a comparison reports while it runs: [`Event`].
//!
//! Invariant: no break of the observer is lost. Where stopping would lose a finished result, it takes effect at the
//! next event after that result is written.

use std::fmt::{self, Display};
use std::ops::ControlFlow;

use manyview_analysis::evaluate::Step;
use manyview_base::error::{Error, Result};
use manyview_base::message::Warning;
use manyview_core::method::Progress;
use manyview_data::io::Traces;

/// What is reported during a comparison.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A note that applies to all scores, or to values of a sweep that are left out; before the first job.
    Note(&'a str),
    /// A job starts.
    Started {
        /// The job.
        job: &'a JobTitle,
        /// What an earlier comparison left of it.
        reused: Reused,
    },
    /// The memory of a fit is being estimated.
    Estimating,
    /// A fit makes progress.
    Embedding(&'a Progress<'a>),
    /// A warning of a fit.
    Warning(&'a Warning),
    /// Files are about to be written; `Traces` are what the process leaves if it is killed.
    Writing(&'a Traces),
    /// An embedding is in the folder, so the same comparison can be continued from here.
    Kept,
    /// Scores are being computed.
    Measuring {
        /// What the steps are.
        parts: Parts,
        /// The progress.
        step: Step,
    },
    /// A job is done.
    Finished {
        /// The time of the method in seconds, in this comparison or an earlier one.
        embedded: f64,
        /// The time of the scores in seconds.
        measured: f64,
    },
    /// A note on the scores of the job that was last reported as started.
    ScoreNote(&'a str),
    /// A job failed. The other jobs still run.
    Failed {
        /// The job.
        job: &'a JobTitle,
        /// The reason.
        message: &'a str,
    },
}

/// The name of a job and its number among all jobs: "netmf, calls (3 of 12)".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobTitle {
    /// The row, and the candidate if there are several.
    pub title: String,
    /// The number of the job, from 1.
    pub number: usize,
    /// The number of all jobs.
    pub of: usize,
}

impl Display for JobTitle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({} of {})", self.title, self.number, self.of)
    }
}

/// What is reused of an earlier comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reused {
    /// Nothing.
    Nothing,
    /// The embedding; its scores are computed.
    Embedding,
    /// The embedding and its scores.
    Scores,
}

/// The parts of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parts {
    /// Splits of a classification.
    Splits,
    /// Runs of k-means.
    Clusterings,
}

/// Receives events on the calling thread; a break stops the comparison.
pub type Observer<'a> = dyn FnMut(&Event<'_>) -> ControlFlow<()> + 'a;

/// The observer, and whether it wants to stop.
pub(super) struct Listener<'a, 'o> {
    observer: &'a mut Observer<'o>,
    stopped: bool,
}

impl<'a, 'o> Listener<'a, 'o> {
    pub(super) fn new(observer: &'a mut Observer<'o>) -> Self {
        Listener { observer, stopped: false }
    }

    /// Reports an event; its break takes effect at the next event.
    pub(super) fn announce(&mut self, event: &Event<'_>) {
        self.stopped |= (self.observer)(event).is_break();
    }

    /// Reports an event from within a computation, which a break stops.
    pub(super) fn poll(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.announce(event);
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Reports an event.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the observer breaks.
    pub(super) fn tell(&mut self, event: &Event<'_>) -> Result<()> {
        if self.poll(event).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

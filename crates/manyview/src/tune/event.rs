//! What a search reports while it runs: [`Event`].

use std::ops::ControlFlow;

use manyview_analysis::evaluate::Step;
use manyview_base::error::{Error, Result};
use manyview_core::method::Progress;

use super::settings::Search;

/// What is reported during a search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A note that applies to all scores.
    Note(&'a str),
    /// A candidate is taken up.
    Started {
        /// The search; `None` for the settings as given.
        search: Option<Search>,
        /// What distinguishes the candidate: `stages 8, window 5`.
        candidate: &'a str,
        /// Its number in this search, from 1.
        number: usize,
        /// The number of candidates of this search, or the most that it may have.
        of: usize,
    },
    /// A fit makes progress.
    Fitting(&'a Progress<'a>),
    /// Vectors are being scored or tested.
    Measuring(Step),
    /// The memory of a fit is being estimated.
    Estimating,
    /// A result is in the folder, so the same search can be continued from here.
    Kept,
    /// A candidate has a score.
    Finished {
        /// The score; `None` if it failed.
        score: Option<f64>,
        /// After how many stages it was cut off, if it was.
        cut_after: Option<usize>,
        /// Why it failed, if it did.
        failed: Option<&'a str>,
        /// The best score of this search so far, and the candidate that has it.
        best: Option<(f64, &'a str)>,
        /// The time it took in seconds, now or in an earlier run.
        seconds: f64,
        /// Whether it was not computed again.
        reused: bool,
    },
    /// The best of a search is tested.
    Testing(Option<Search>),
}

/// Receives events on the calling thread; a break ends the search.
pub type Observer<'a> = dyn FnMut(&Event<'_>) -> ControlFlow<()> + 'a;

/// Reports an event.
///
/// # Errors
/// [`Error::Interrupted`] when the observer breaks.
pub(super) fn tell(observer: &mut Observer<'_>, event: &Event<'_>) -> Result<()> {
    if observer(event).is_break() { Err(Error::Interrupted) } else { Ok(()) }
}

//! What a method gets to work with, and what it returns.

use std::ops::{ControlFlow, Range};

use manyview_base::error::{Error, Result};
use manyview_base::message::Warning;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key};
use manyview_data::embedding::{Kind, Part};
use manyview_data::labels::Labels;
use manyview_data::network::Network;

use crate::piece::FittedFactors;

use super::record::{ChosenPlan, OwnWork, Seconds, StageRecord, ViewRecord};

/// How far a fit is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Part of the work is done.
    Working {
        /// What is being done, such as `proximity` or `walks`.
        doing: &'a str,
        /// The view, where one is worked on alone.
        view: Option<&'a str>,
        /// The share of this phase that is done, from 0 to 1. Methods without stages have a single phase.
        done: f64,
    },
    /// An iteration of a stage is done.
    Iteration {
        /// The stage, from 1.
        stage: usize,
        /// The number of stages.
        stages: usize,
        /// The kind of stage.
        kind: Kind,
        /// The view, in a unique stage.
        view: Option<&'a str>,
        /// The number of iterations that are done.
        iteration: usize,
        /// The share of the stage's input that is not explained yet.
        error: f64,
        /// The share of all factorization that is done, by columns.
        done: f64,
    },
    /// A stage (in a unique stage, one view of it) is done.
    StageFinished(&'a StageRecord),
}

/// Receives progress on the calling thread, several times a second, and may end the fit by breaking.
pub type Observer<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;

/// A network to be embedded, and what a method needs to do it.
pub struct Task<'a, 'o> {
    /// The network.
    pub network: &'a Network,
    /// The number of columns of the embedding (per view, in methods of a single view).
    pub dim: usize,
    /// The random seed.
    pub seed: u64,
    /// The threads.
    pub pool: &'a Pool,
    /// Labels of the nodes that a method may learn from.
    pub labels: Option<&'a Labels>,
    /// The view that is being worked on, and the range of this part of the work within the whole.
    view: Option<&'a str>,
    /// Whether the method returns its factors too, if it has any.
    pub(crate) keeps_factors: bool,
    span: Range<f64>,
    observer: &'a mut Observer<'o>,
}

/// What a method found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The vectors, row after row, all of one length.
    pub vectors: Vec<f32>,
    /// Which columns belong to which view; empty when all columns belong to all views.
    pub parts: Vec<Part>,
    /// What the user should know about the result.
    pub warnings: Vec<Warning>,
    /// What happened in the stages, of a method that has them.
    pub stages: Option<StageWork>,
    /// The plan that was chosen by the data, if it was.
    pub chosen: Option<ChosenPlan>,
    /// Its factors, if they are kept.
    pub factors: Option<FittedFactors>,
}

/// What happened in the stages of a fit.
#[derive(Clone, Debug, Default)]
pub struct StageWork {
    /// The stages as they ran.
    pub records: Vec<StageRecord>,
    /// The views as they went into the stages.
    pub views: Vec<ViewRecord>,
    /// The union of all views, if it was factorized as well.
    pub joint: Option<ViewRecord>,
    /// Wall time of the proximity and of the stages.
    pub seconds: Seconds,
    /// What this rank did.
    pub own: OwnWork,
}

impl<'a, 'o> Task<'a, 'o> {
    /// A task for the whole network.
    pub fn new(
        network: &'a Network,
        dim: usize,
        seed: u64,
        pool: &'a Pool,
        labels: Option<&'a Labels>,
        observer: &'a mut Observer<'o>,
    ) -> Self {
        Task { network, dim, seed, pool, labels, view: None, keeps_factors: false, span: 0.0..1.0, observer }
    }

    /// The key of random numbers for a purpose and the whole network.
    pub fn key(&self, purpose: &str) -> Key {
        Key::new(self.seed).with(text_key(purpose))
    }

    /// The key of random numbers for a purpose and one view. It follows from the view's name, not from its position.
    pub fn view_key(&self, purpose: &str, view: &str) -> Key {
        self.key(purpose).with(text_key(view))
    }

    /// Reports that a share of the present work is done.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the observer breaks.
    pub fn tell(&mut self, doing: &str, share: f64) -> Result<()> {
        let done = self.span.start + share.clamp(0.0, 1.0) * (self.span.end - self.span.start);
        match (self.observer)(&Progress::Working { doing, view: self.view, done }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// The observer, for methods that report stages.
    pub fn observer(&mut self) -> &mut Observer<'o> {
        self.observer
    }

    /// A part of the work: its progress is reported as a part of the whole.
    pub fn part<'b>(&'b mut self, view: Option<&'b str>, span: Range<f64>) -> Task<'b, 'o>
    where
        'a: 'b,
    {
        let length = self.span.end - self.span.start;
        let span = self.span.start + span.start * length..self.span.start + span.end * length;
        Task {
            network: self.network,
            dim: self.dim,
            seed: self.seed,
            pool: self.pool,
            labels: self.labels,
            view: view.or(self.view),
            keeps_factors: false,
            span,
            observer: self.observer,
        }
    }
}

/// Columns of one view alone, or (without a view) of all views together.
pub fn part(view: Option<&str>, columns: Range<usize>) -> Part {
    let kind = if view.is_some() { Kind::Unique } else { Kind::Consensus };
    Part { stage: 1, kind, view: view.map(str::to_owned), columns }
}

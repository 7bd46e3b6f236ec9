//! What a method gets to work with, and what it gives back.

use std::ops::{ControlFlow, Range};

use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key};
use manyview_data::embedding::Kind;
use manyview_data::embedding::Part;
use manyview_data::labels::Labels;
use manyview_data::network::Network;

/// What an observer hears while a method runs.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is being done, such as `walks`.
    pub doing: &'a str,
    /// The view, where one is worked on alone.
    pub view: Option<&'a str>,
    /// Share of the whole that is done, from 0 to 1.
    pub done: f64,
}

/// Hears of progress on the calling thread, several times a second, and may end the work by breaking.
pub type Observer<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;

/// A network to be embedded, and what there is to do it with.
pub(crate) struct Task<'a, 'o> {
    pub(crate) network: &'a Network,
    /// Columns of the embedding (of each view's, in methods of a single view).
    pub(crate) dim: usize,
    pub(crate) seed: u64,
    pub(crate) pool: &'a Pool,
    /// Labels of the nodes that a method may learn from.
    pub(crate) labels: Option<&'a Labels>,
    /// What the present work is about, and its part of the whole.
    view: Option<&'a str>,
    span: Range<f64>,
    observer: &'a mut Observer<'o>,
}

/// Vectors, and sentences that a person should read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Row after row, all of one length.
    pub(crate) vectors: Vec<f32>,
    /// Which columns are of one view alone, or of all together; empty when all columns are of all views.
    pub(crate) parts: Vec<Part>,
    pub(crate) warnings: Vec<String>,
}

impl<'a, 'o> Task<'a, 'o> {
    pub(crate) fn new(
        network: &'a Network,
        dim: usize,
        seed: u64,
        pool: &'a Pool,
        labels: Option<&'a Labels>,
        observer: &'a mut Observer<'o>,
    ) -> Self {
        Task { network, dim, seed, pool, labels, view: None, span: 0.0..1.0, observer }
    }

    /// Random numbers of this task, for a purpose and the whole network.
    pub(crate) fn key(&self, purpose: &str) -> Key {
        Key::new(self.seed).with(text_key(purpose))
    }

    /// Random numbers for a purpose and one view. They follow from its name, not from its place.
    pub(crate) fn view_key(&self, purpose: &str, view: &str) -> Key {
        self.key(purpose).with(text_key(view))
    }

    /// Says that a share of the present work is done; an error when somebody wants an end.
    pub(crate) fn tell(&mut self, doing: &str, share: f64) -> Result<()> {
        let done = self.span.start + share.clamp(0.0, 1.0) * (self.span.end - self.span.start);
        match (self.observer)(&Progress { doing, view: self.view, done }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// A part of the work: what it tells of its own progress is told as a part of the whole.
    pub(crate) fn part<'b>(&'b mut self, view: Option<&'b str>, span: Range<f64>) -> Task<'b, 'o>
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
            span,
            observer: self.observer,
        }
    }
}

/// Columns of one view alone, or (without a view) of all together.
pub fn part(view: Option<&str>, columns: Range<usize>) -> Part {
    let kind = if view.is_some() { Kind::Unique } else { Kind::Consensus };
    Part { stage: 1, kind, view: view.map(str::to_owned), columns }
}

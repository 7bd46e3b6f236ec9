//! MNE: one vector that all views share, and a small extra for each view (Zhang et al., 2018).
//!
//! ```text
//! v_i^k = b_i + w X_k' u_i^k
//! ```
//!
//! Two phases, as in the released code: b from walks over the union of all views, by plain skip-gram; then, view by view
//! and with b fixed, the extras u and their matrix X. `joint` learns all three from the walks of all views in turn, as
//! the paper's abstract has it. The vector of a node is the mean of v^k over the views.
//!
//! One rule is ours: a step of the extras is bounded (see `view`), since the released one leaves all bounds on networks
//! with many walks. Weights of edges do not count, as in the released code. The default has a tenth of its epochs, which take a minute or
//! two where all take a quarter of an hour.

#[cfg(test)]
mod tests;
mod view;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use self::view::{Base, Extras, Steps};
use super::skipgram::{SkipGram, Softmax, check_rate};
use super::walks::{DeadEnd, Walks};
use super::{Found, Rival, Task};
use crate::sgd::{Clash, Pair, Parts, Rate, Table, damped};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_base::random::{Key, Stream, text_key};
use manyview_base::sampling::Alias;
use manyview_data::network::{Network, View};

/// Settings of MNE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mne {
    /// Walks from each node, of the union and of each view.
    pub walks: usize,
    /// Nodes of a walk.
    pub length: usize,
    /// Steps between two nodes that count as seen together, at most; drawn from 1 to this for each place in a walk.
    pub window: usize,
    /// Random nodes that each pair is set against.
    pub negative: usize,
    /// Times that walks over the union are trained on.
    pub epochs: usize,
    /// Times that walks of each view are trained on.
    pub view_epochs: usize,
    /// Length of the extra vectors.
    pub extra: usize,
    /// What the extras count for in the result; 0 leaves them out.
    pub own_weight: f64,
    /// Whether all is learned together from the walks of all views, with one table of outputs, in `view_epochs`.
    pub joint: bool,
    /// Size of the first steps; the last are of size 0.0001.
    pub rate: f64,
    /// Nodes of a larger share of all walks than this are left out at random; 0 keeps all.
    pub subsample: f64,
}

impl Default for Mne {
    fn default() -> Self {
        Mne { epochs: 10, view_epochs: 2, ..Mne::paper() }
    }
}

impl Rival for Mne {
    fn paper() -> Self {
        Mne {
            walks: 20,
            length: 10,
            window: 5,
            negative: 5,
            epochs: 100,
            view_epochs: 20,
            extra: 10,
            own_weight: 1.0,
            joint: false,
            rate: 0.025,
            subsample: 1e-3,
        }
    }

    fn check(&self) -> Result<()> {
        let skip_gram = self.skip_gram(self.epochs);
        skip_gram.check()?;
        check_rate(self.rate)?;
        if self.extra == 0 {
            return Err(Error::config(
                "extra = 0 leaves views nothing of their own: at least 1; the papers use 10",
            ));
        }
        if self.joint && self.view_epochs == 0 {
            return Err(Error::config(
                "view_epochs = 0 with joint = true trains nothing; the usual choice is 20",
            ));
        }
        if !self.own_weight.is_finite() {
            let weight = self.own_weight;
            return Err(Error::config(format!(
                "own_weight = {weight} is no number to multiply with; the usual choice is 1"
            )));
        }
        Ok(())
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let key = task.key("mne");
        let (mut vectors, extras) =
            if self.joint { self.all_at_once(task, key)? } else { self.in_two_phases(task, key)? };
        let weight = (self.own_weight / extras.len() as f64) as f32;
        for (node, vector) in vectors.chunks_exact_mut(task.dim).enumerate() {
            extras.iter().for_each(|extras| extras.add_to(vector, node, weight));
        }
        Ok(Found { vectors, ..Found::default() })
    }
}

/// The walks of a view, and what follows from how often they meet each node.
struct ViewWalks<'a> {
    walks: Walks<'a>,
    counts: Vec<u64>,
    noise: Alias,
    key: Key,
}

impl ViewWalks<'_> {
    /// Random extras; zeros for nodes that the view does not have.
    fn extras(&self, extra: usize, stride: usize) -> Extras {
        let mut extras = Extras::new(self.counts.len(), extra, stride, self.key.with(1));
        for (vector, &count) in extras.vectors.chunks_exact_mut(extra).zip(&self.counts) {
            if count == 0 {
                vector.fill(0.0);
            }
        }
        extras
    }

    /// Draws of a block's negatives.
    fn stream(&self, block: usize) -> Stream {
        Stream::new(self.key.with(3).with(block as u64))
    }
}

impl Mne {
    /// Walks and training without what MNE does not have.
    fn skip_gram(&self, epochs: usize) -> SkipGram {
        let Mne { walks, length, window, negative, rate, subsample, .. } = *self;
        SkipGram {
            walks,
            length,
            window,
            dynamic_window: true,
            negative,
            epochs,
            rate,
            softmax: Softmax::Negative,
            subsample,
            weighted: false,
        }
    }

    fn walks<'a>(&self, adjacency: &'a Csr<f64>, key: Key) -> Walks<'a> {
        let one = std::iter::once(adjacency);
        Walks::on(one, false, DeadEnd::Stop, (self.walks, self.length), key)
    }

    /// What all views share, then each view's extras.
    fn in_two_phases(&self, task: &mut Task<'_, '_>, key: Key) -> Result<(Vec<f32>, Vec<Extras>)> {
        // A step of the second phase takes about three times as long: the matrix is read twice and written once.
        let views = task.network.views().len();
        let (first, second) = (self.epochs as f64, 3.0 * (self.view_epochs * views) as f64);
        let share = first / (first + second);
        let vectors = self.base(&mut task.part(None, 0.0..share), key)?;
        let mut base = Table::zeros(Parts::one(task.network.nodes().len()), task.dim);
        for (node, vector) in vectors.chunks_exact(task.dim).enumerate() {
            base.row_mut(node).copy_from_slice(vector);
        }
        let extras = self.view_by_view(&mut task.part(None, share..1.0), &base, key)?;
        Ok((vectors, extras))
    }

    /// The first phase.
    fn base(&self, task: &mut Task<'_, '_>, key: Key) -> Result<Vec<f32>> {
        let union = union(task.network);
        let walks = self.walks(&union, key.with(0));
        self.skip_gram(self.epochs).fit(task, &walks, key.with(1), Clash::Redraw)
    }

    /// The walks of all views. Their random numbers follow from the views' names.
    fn view_walks<'a>(&self, task: &mut Task<'a, '_>, key: Key) -> Result<Vec<ViewWalks<'a>>> {
        let (network, pool) = (task.network, task.pool);
        let of_view = |view: &'a View| {
            let key = key.with(2).with(text_key(&view.name));
            let walks = self.walks(&view.adjacency, key.with(0));
            let counts = walks.counts(pool, &mut |_| task.tell("walks", 0.0))?;
            let weights: Vec<f64> = counts.iter().map(|&count| damped(count as f64)).collect();
            Ok(ViewWalks { walks, counts, noise: Alias::new(&weights), key })
        };
        network.views().iter().map(of_view).collect()
    }

    /// The second phase: views have nothing in common but the base, which is fixed, so each has a thread.
    fn view_by_view(&self, task: &mut Task<'_, '_>, base: &Table, key: Key) -> Result<Vec<Extras>> {
        let (views, pool) = (self.view_walks(task, key)?, task.pool);
        let skip_gram = self.skip_gram(self.view_epochs);
        let corpora: Vec<_> =
            views.iter().map(|view| skip_gram.corpus(&view.walks, &view.counts, view.key.with(2))).collect();
        let blocks: usize = corpora.iter().map(|corpus| corpus.blocks).sum();
        let done = AtomicUsize::new(0);
        let train = |(): &mut (), at: usize, canceled: &AtomicBool| {
            let (view, corpus) = (&views[at], &corpora[at]);
            let mut outputs = Table::zeros(Parts::one(view.counts.len()), base.dim());
            let mut extras = view.extras(self.extra, base.stride());
            let mut steps = Steps::new(&view.noise, self.negative, base.stride());
            let mut pairs = Vec::new();
            for block in 0..corpus.blocks {
                if canceled.load(Ordering::Relaxed) {
                    return None;
                }
                pairs.clear();
                (corpus.fill)(block, &mut pairs);
                let rate = Rate::falling_from(self.rate).at(block as f64 / corpus.blocks as f64);
                let mut base = Base::Fixed(base);
                steps.run(&mut base, &mut extras, &mut outputs, &pairs, rate, &mut view.stream(block));
                done.fetch_add(1, Ordering::Relaxed);
            }
            Some(extras)
        };
        let mut watch = |_: usize| {
            let share = done.load(Ordering::Relaxed) as f64 / blocks.max(1) as f64;
            if task.tell("views", share).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        pool.map_watched(views.len(), || (), train, &mut watch).ok_or(Error::Interrupted)
    }

    /// Base and extras together: a few blocks of each view in turn, on one thread.
    fn all_at_once(&self, task: &mut Task<'_, '_>, key: Key) -> Result<(Vec<f32>, Vec<Extras>)> {
        let views = self.view_walks(task, key)?;
        let skip_gram = self.skip_gram(self.view_epochs);
        let corpora: Vec<_> =
            views.iter().map(|view| skip_gram.corpus(&view.walks, &view.counts, view.key.with(2))).collect();
        let parts = Parts::one(task.network.nodes().len());
        let mut base = Table::random(parts.clone(), task.dim, key.with(1));
        let mut outputs = Table::zeros(parts, task.dim);
        let stride = base.stride();
        let mut extras: Vec<Extras> = views.iter().map(|view| view.extras(self.extra, stride)).collect();
        let mut steps: Vec<Steps<'_>> =
            views.iter().map(|view| Steps::new(&view.noise, self.negative, stride)).collect();
        let rounds = corpora.iter().map(|corpus| corpus.blocks).max().unwrap_or(0);
        let mut pairs: Vec<Pair> = Vec::new();
        for round in 0..rounds {
            let done = round as f64 / rounds as f64;
            task.tell("vectors", done)?;
            let rate = Rate::falling_from(self.rate).at(done);
            for (at, corpus) in corpora.iter().enumerate() {
                for block in round * corpus.blocks / rounds..(round + 1) * corpus.blocks / rounds {
                    pairs.clear();
                    (corpus.fill)(block, &mut pairs);
                    let (mut base, mut stream) = (Base::Learns(&mut base), views[at].stream(block));
                    steps[at].run(&mut base, &mut extras[at], &mut outputs, &pairs, rate, &mut stream);
                }
            }
        }
        let met = |node: usize| views.iter().any(|view| view.counts[node] > 0);
        Ok((base.to_vec(met), extras))
    }
}

/// Edges of any view, each once and without weight.
fn union(network: &Network) -> Csr<f64> {
    let nodes = network.nodes().len();
    let (mut indptr, mut indices) = (vec![0], Vec::new());
    let mut row: Vec<u32> = Vec::new();
    for node in 0..nodes {
        row.clear();
        network.views().iter().for_each(|view| row.extend_from_slice(view.adjacency.row(node).0));
        row.sort_unstable();
        row.dedup();
        indices.extend_from_slice(&row);
        indptr.push(indices.len());
    }
    let values = vec![1.0; indices.len()];
    Csr::new(nodes, indptr, indices, values)
}

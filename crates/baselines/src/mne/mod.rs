//! MNE: a base vector that all views share, and a short extra vector for each view (Zhang et al., 2018).
//!
//! ```text
//! v_i^k = b_i + w X_k' u_i^k
//! ```
//!
//! Training has two phases, as in the released code: first b on walks over the union of all views, by plain skip-gram;
//! then, view by view and with b fixed, the extras u and their matrix X. `joint` learns all three from the walks of all
//! views in turn, as described in the abstract of the paper. The vector of a node is the mean of v^k over the views.
//!
//! One rule differs from the released code: a step of the extras is bounded (see `view`), because the released one
//! diverges on networks with many walks. Edge weights are ignored, as in the released code. The default has a tenth of
//! its epochs, which take a minute or two where all of them take a quarter of an hour.

#[cfg(test)]
mod tests;
mod view;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_base::message::{option_value, switch};
use manyview_base::random::{Key, Stream, text_key};
use manyview_base::sampling::Alias;
use manyview_base::settings;
use manyview_base::settings::Settings;
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};
use manyview_data::network::{Network, View};

use self::view::{Base, Extras, Steps};
use crate::default_or;
use crate::sgd::{Clash, Pair, Parts, Rate, Table, damped};
use crate::skipgram::{SkipGram, Softmax};
use crate::walks::{DeadEnd, Walks};

settings! {
    /// Settings of MNE.
    pub struct Mne {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of walks from each node, in the union of all views and in each view.
        walks: usize = 20 => at_least(1.0).hint("the usual choice is 20");
        /// The number of nodes of a walk.
        length: usize = 10 => at_least(2.0).hint("the usual choice is 10");
        /// The largest number of steps between two nodes of a walk that form a pair. For each position in a walk, the
        /// window is drawn from 1 to this number.
        window: usize = 5 => at_least(1.0).hint("the usual choice is 5");
        /// The number of negative samples per pair.
        negative: usize = 5 => at_least(1.0).hint("the usual choice is 5");
        /// The number of epochs on the walks over the union of all views.
        epochs: usize = 10 => at_least(1.0).hint("the paper uses 100");
        /// The number of epochs on the walks of each view.
        view_epochs: usize = 2 => hint("the paper uses 20");
        /// The length of the extra vectors.
        extra: usize = 10 => at_least(1.0).hint("the paper uses 10");
        /// The weight of the extra vectors in the result; 0 leaves them out.
        own_weight: f64 = 1.0 => hint("the usual choice is 1");
        /// Whether base and extra vectors are learned together from the walks of all views, in `view_epochs` epochs.
        joint: bool = false;
        /// The initial learning rate; it decreases linearly to 0.0001.
        rate: f64 = 0.025 => above(0.0).at_most(1.0).hint("the usual choice is 0.025");
        /// The subsampling threshold: nodes that make up a larger share of all walks are dropped at random, as in
        /// word2vec. 0 keeps all nodes.
        subsample: f64 = 1e-3 => at_least(0.0).below(1.0).hint("use 0 to keep all nodes, or a value such as 0.001");
    }
}

impl Method for Mne {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(Mne { epochs: 100, view_epochs: 20, ..Mne::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn check(&self) -> Result<()> {
        self.check_limits()?;
        if self.joint && self.view_epochs == 0 {
            return Err(Error::config(format!(
                "{} with {} leaves nothing to train; the paper uses 20",
                option_value("view_epochs", 0),
                switch("joint")
            )));
        }
        Ok(())
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let key = task.key("mne");
        let (mut vectors, extras) =
            if self.joint { self.jointly(task, key)? } else { self.in_two_phases(task, key)? };
        let weight = (self.own_weight / extras.len() as f64) as f32;
        for (node, vector) in vectors.chunks_exact_mut(task.dim).enumerate() {
            extras.iter().for_each(|extras| extras.add_to(vector, node, weight));
        }
        Ok(Found { vectors, ..Found::default() })
    }
}

/// The walks of a view, and what follows from how often each node is in them.
struct ViewWalks<'a> {
    walks: Walks<'a>,
    counts: Vec<u64>,
    noise: Alias,
    key: Key,
}

impl ViewWalks<'_> {
    /// Returns random extras; zero for nodes without edges in the view.
    fn extras(&self, extra: usize, stride: usize) -> Extras {
        let mut extras = Extras::new(self.counts.len(), extra, stride, self.key.with(1));
        for (vector, &count) in extras.vectors.chunks_exact_mut(extra).zip(&self.counts) {
            if count == 0 {
                vector.fill(0.0);
            }
        }
        extras
    }

    /// Returns the random numbers for the negative samples of a block.
    fn stream(&self, block: usize) -> Stream {
        Stream::new(self.key.with(3).with(block as u64))
    }
}

impl Mne {
    /// Returns the settings of skip-gram; those that MNE does not have are fixed.
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

    /// Trains the base, then the extras of each view.
    fn in_two_phases(&self, task: &mut Task<'_, '_>, key: Key) -> Result<(Vec<f32>, Vec<Extras>)> {
        // A step of the second phase takes about three times as long: it reads the matrix twice and writes it once.
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

    /// The first phase: trains the base.
    fn base(&self, task: &mut Task<'_, '_>, key: Key) -> Result<Vec<f32>> {
        let union = union(task.network);
        let walks = self.walks(&union, key.with(0));
        self.skip_gram(self.epochs).run(task, &walks, key.with(1), Clash::Redraw)
    }

    /// Returns the walks of all views. Their random numbers follow from the names of the views.
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

    /// The second phase: views share only the base, which is fixed, so each view runs on its own thread.
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

    /// Trains base and extras together: a few blocks of each view in turn, on one thread.
    fn jointly(&self, task: &mut Task<'_, '_>, key: Key) -> Result<(Vec<f32>, Vec<Extras>)> {
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

/// Returns the union of the edges of all views, without weights.
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

//! MTNE-C, reconstructed: node i has the vector `[c_i; u_i^k]` in view k: a common part, and a part of this view alone.
//!
//! Neither the program nor the equations of the original (Xu, Wei, Cao and Yu, "Multi-task network embedding", 2017)
//! were available, only its abstract: embeddings of each network, learned together through an embedding that all
//! networks share. This is a bilinear model of that: the score of (i, j) in view k is `s = c_i c_j + u_i^k u_j^k`, and
//! the loss is
//!
//! ```text
//! - sum_k sum_(i,j) in E_k w_ij (log sigmoid(s_ij) + sum_v log sigmoid(-s_iv)) + decay / 2 (|C|^2 + sum_k |U^k|^2)
//! ```
//!
//! with b negative samples v, drawn by degree^0.75 as in LINE. In the second order the right-hand vectors are contexts,
//! which also have a common part and a part of the view. Tables of results should call the method "MTNE-C
//! (reconstructed)".
//!
//! Invariant: with one view this is LINE with the same number of columns; without common columns it is LINE on each
//! view.

use manyview_base::error::{Error, Result};
use manyview_base::message::{Warning, WarningKind, option_value};
use manyview_base::random::{Key, unit_f64};
use manyview_base::settings::Settings;
use manyview_base::{named, settings};
use manyview_core::method::{Found, Method, Task, part};
use manyview_core::preset::{Preset, largest_dim};
use manyview_data::network::View;

use crate::default_or;
use crate::edges::{Edges, MOST_SAMPLES, Turns, Weights, add_shares, by_name, line_rate, samples_of};
use crate::sgd::{Clash, Negatives, Noise, Parts, Table, Tables, Training, train};

/// The warning that is part of every result.
const RECONSTRUCTED: &str =
    "mtne-c is a reconstruction: the equations and the code of the original are not available";

settings! {
    /// Settings of MTNE-C, a reconstruction whose original settings are not known.
    pub struct MtneC {
        /// The number of columns of the embedding. With V views, each view has 1 / (V + 1) of them, rounded down; the
        /// rest are common.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of edges to train on, of all views together.
        samples: Option<usize> = None
            => at_least(1.0).at_most(MOST_SAMPLES).absent("2,500 per node").hint("the usual choice is 2,500 per node");
        /// The number of negative samples per edge.
        negative: usize = 5 => at_least(1.0).at_most(1000.0).hint("the usual choice is 5");
        /// The initial learning rate; it decreases linearly to 1/10,000 of this.
        rate: f64 = 0.025 => above(0.0).at_most(1.0).hint("the usual choice is 0.025");
        /// The order of LINE: 1 scores nodes against nodes, 2 scores nodes against contexts.
        order: usize = 1 => at_least(1.0).at_most(2.0).hint("the default is 1");
        /// The weight of the L2 penalty: each step subtracts this times the rate from the source's vector.
        decay: f64 = 1e-4 => at_least(0.0).hint("the default is 0.0001");
        /// Which columns are returned.
        columns: Output = Output::All => alias("give");
        /// Whether views are trained in proportion to their numbers of edges, instead of equally.
        by_edges: bool = false;
    }
}

named! {
    /// Which columns are returned.
    pub enum Output {
        All = "all", "the common columns, then those of each view";
        Common = "common", "the common columns only";
        /// The mean is over the views in which a node has edges.
        Mean = "mean", "the common columns, then the mean of the views' columns";
    }
}

impl Method for MtneC {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(MtneC { samples: Some(300_000_000), ..MtneC::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn check(&self) -> Result<()> {
        self.check_limits()?;
        // Above 1, a step would reverse the direction of a vector.
        if self.decay * self.rate > 1.0 {
            return Err(Error::config(format!(
                "{} exceeds 1 / rate, which is {} with {}; the default is 0.0001",
                option_value("decay", self.decay),
                1.0 / self.rate,
                option_value("rate", self.rate)
            )));
        }
        Ok(())
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let widths = Widths::split(task.dim, task.network.views().len())?;
        let views = self.train(task, widths)?;
        Ok(self.found(task, widths, &views))
    }
}

/// Numbers of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Widths {
    /// Those that all views share.
    common: usize,
    /// Those of each view.
    own: usize,
}

impl Widths {
    /// Divides the columns equally; the remainder is common.
    fn split(dim: usize, views: usize) -> Result<Self> {
        let own = dim / (views + 1);
        if own == 0 {
            return Err(Error::config(format!(
                "{} is too small for {views} views: mtne-c needs at least {}, a common column and one per view",
                option_value("dim", dim),
                views + 1
            )));
        }
        Ok(Widths { common: dim - views * own, own })
    }
}

/// One side of the model in one view: the vectors `[c; u^k]`, or the contexts.
struct Side {
    table: Table,
}

impl Side {
    /// Returns random numbers between -1/2 and 1/2, divided by the number of columns.
    fn random(parts: &Parts, widths: Widths, common: Key, own: Key) -> Self {
        let dim = widths.common + widths.own;
        let mut table = Table::zeros(parts.clone(), dim);
        for node in 0..parts.items() {
            let (left, right) = table.row_mut(node).split_at_mut(widths.common);
            for (numbers, key) in [(left, common), (right, own)] {
                let random = |column: usize| ((unit_f64(key.at(node, column)) - 0.5) / dim as f64) as f32;
                numbers.iter_mut().enumerate().for_each(|(column, x)| *x = random(column));
            }
        }
        Side { table }
    }

    fn zeros(parts: &Parts, widths: Widths) -> Self {
        Side { table: Table::zeros(parts.clone(), widths.common + widths.own) }
    }

    /// Copies the common columns of another view.
    fn copy_common(&mut self, other: &Side, widths: Widths) {
        for node in 0..self.table.parts().items() {
            let common = &other.table.row(node)[..widths.common];
            self.table.row_mut(node)[..widths.common].copy_from_slice(common);
        }
    }
}

/// A view after training; all have the same common columns.
struct Trained<'a> {
    /// Its index in the network.
    place: usize,
    view: &'a View,
    vectors: Side,
    contexts: Option<Side>,
    weights: Weights,
}

impl Trained<'_> {
    fn has(&self, node: usize) -> bool {
        self.weights.outgoing[node] > 0.0 || self.weights.incoming[node] > 0.0
    }
}

impl MtneC {
    /// Returns the number of edges to train on of each view.
    fn samples_each(&self, views: &[(usize, &View)], nodes: usize) -> Vec<usize> {
        let samples = samples_of(self.samples, nodes);
        let all: usize = views.iter().map(|(_, view)| view.edges()).sum();
        let of = |view: &View| match self.by_edges {
            true => (samples as f64 * view.edges() as f64 / all as f64).ceil() as usize,
            false => samples.div_ceil(views.len()),
        };
        views.iter().map(|(_, view)| of(view)).collect()
    }

    /// Returns the initial state.
    fn start<'a>(
        &self,
        task: &Task<'a, '_>,
        views: &[(usize, &'a View)],
        widths: Widths,
    ) -> Vec<Trained<'a>> {
        let weights: Vec<Weights> = views.iter().map(|(_, view)| Weights::of(view)).collect();
        let mut sums = vec![0.0; task.network.nodes().len()];
        weights.iter().for_each(|weights| add_shares(&mut sums, &weights.outgoing));
        let parts = Parts::of(&sums);
        let of_view = |(&(place, view), weights): (&(usize, &'a View), Weights)| {
            let own = task.view_key("own", &view.name);
            let vectors = Side::random(&parts, widths, task.key("common"), own);
            let contexts = (self.order == 2).then(|| Side::zeros(&parts, widths));
            Trained { place, view, vectors, contexts, weights }
        };
        views.iter().zip(weights).map(of_view).collect()
    }

    fn train<'a>(&self, task: &mut Task<'a, '_>, widths: Widths) -> Result<Vec<Trained<'a>>> {
        let (views, pool) = (by_name(task), task.pool);
        let mut trained = self.start(task, &views, widths);
        let noise_of =
            |view: &Trained<'_>| Noise::of_counts(view.vectors.table.parts(), &view.weights.incoming);
        let noises: Vec<Noise> = trained.iter().map(noise_of).collect();
        let keys: Vec<Key> = views.iter().map(|(_, view)| task.view_key("edges", &view.name)).collect();
        let all: Vec<Edges<'_>> =
            views.iter().zip(&keys).map(|((_, view), key)| Edges::new(view, key.with(0))).collect();
        let samples = self.samples_each(&views, task.network.nodes().len());
        let corpora: Vec<_> =
            all.iter().zip(samples).map(|(edges, samples)| edges.corpus(samples, 1)).collect();
        let turns =
            Turns::new(corpora.iter().map(|corpus| corpus.blocks).collect(), corpora[0].block_pairs, 1);
        let decay = |_: usize, x: &mut [f32], rate: f32| {
            let kept = 1.0 - rate * self.decay as f32;
            x.iter_mut().for_each(|x| *x *= kept);
        };
        for turn in turns.all() {
            for (at, corpus) in corpora.iter().enumerate() {
                copy_from_previous(&mut trained, at, widths);
                let Trained { vectors, contexts, .. } = &mut trained[at];
                let mut tables = match contexts {
                    Some(contexts) => {
                        Tables::Two { inputs: &mut vectors.table, outputs: &mut contexts.table }
                    }
                    None => Tables::One(&mut vectors.table),
                };
                let negatives = Negatives { noise: &noises[at], count: self.negative, clash: Clash::Keep };
                let training =
                    Training { negatives, rate: line_rate(self.rate), key: keys[at].with(1), pool };
                let watch = &mut |own: f64| task.tell("training", turns.done(at, turn, own));
                train(&mut tables, corpus, turns.blocks(at, turn), &training, &decay, watch)?;
            }
        }
        // Only the last view has the latest common columns; copy them to the others.
        (0..trained.len() - 1).for_each(|at| copy_from_previous(&mut trained, at, widths));
        Ok(trained)
    }

    /// Returns the chosen columns. The columns of a view are zero for nodes without edges in it.
    fn found(&self, task: &Task<'_, '_>, widths: Widths, views: &[Trained<'_>]) -> Found {
        let mut views: Vec<&Trained<'_>> = views.iter().collect();
        views.sort_by_key(|view| view.place);
        let mut parts = vec![part(None, 0..widths.common)];
        match self.columns {
            Output::All => {
                let from = |place: usize| widths.common + place * widths.own;
                let own =
                    |view: &&Trained<'_>| part(Some(&view.view.name), from(view.place)..from(view.place + 1));
                parts.extend(views.iter().map(own));
            }
            Output::Common => {}
            Output::Mean => parts = vec![part(None, 0..widths.common + widths.own)],
        }
        let mut vectors = Vec::new();
        for node in 0..task.network.nodes().len() {
            self.push_row(node, widths, &views, &mut vectors);
        }
        let warnings = vec![Warning::new(WarningKind::Settings, RECONSTRUCTED)];
        Found { vectors, parts, warnings, ..Found::default() }
    }

    fn push_row(&self, node: usize, widths: Widths, views: &[&Trained<'_>], vectors: &mut Vec<f32>) {
        let with: Vec<&&Trained<'_>> = views.iter().filter(|view| view.has(node)).collect();
        let zeros = |count: usize| std::iter::repeat_n(0.0, count);
        match with.first() {
            Some(view) => vectors.extend_from_slice(&view.vectors.table.row(node)[..widths.common]),
            None => vectors.extend(zeros(widths.common)),
        }
        match self.columns {
            Output::Common => {}
            Output::All => views.iter().for_each(|view| match view.has(node) {
                true => vectors.extend_from_slice(&view.vectors.table.row(node)[widths.common..]),
                false => vectors.extend(zeros(widths.own)),
            }),
            Output::Mean => vectors.extend((widths.common..widths.common + widths.own).map(|column| {
                let sum: f32 = with.iter().map(|view| view.vectors.table.row(node)[column]).sum();
                sum / with.len().max(1) as f32
            })),
        }
    }
}

/// Copies the common columns of the previous view to a view.
fn copy_from_previous(views: &mut [Trained<'_>], at: usize, widths: Widths) {
    let before = (at + views.len() - 1) % views.len();
    let Ok([to, from]) = views.get_disjoint_mut([at, before]) else { return };
    to.vectors.copy_common(&from.vectors, widths);
    if let (Some(to), Some(from)) = (&mut to.contexts, &from.contexts) {
        to.copy_common(from, widths);
    }
}

#[cfg(test)]
mod tests;

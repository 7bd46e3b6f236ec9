//! MTNE-C, reconstructed: node i is `[c_i; u_i^k]` in view k, a common part and one of that view alone.
//!
//! Neither program nor equations of the original (Xu, Wei, Cao and Yu, "Multi-task network embedding", 2017) could be
//! had, only its abstract: embeddings of each network, learned together through an embedding that all share. This is the
//! bilinear reading of that: the score of (i, j) in view k is `s = c_i c_j + u_i^k u_j^k`, and the loss
//!
//! ```text
//! - sum_k sum_(i,j) in E_k w_ij (log sigmoid(s_ij) + sum_v log sigmoid(-s_iv)) + decay / 2 (|C|^2 + sum_k |U^k|^2)
//! ```
//!
//! with b negatives v by degree^0.75, as in LINE. In the second order the right-hand vectors are contexts, with a common
//! part and one of the view as well. Every table that names the results should call them "MTNE-C (reconstructed)".
//!
//! Invariant: with one view this is LINE in as many columns; without common columns it is a LINE for each view.

use serde::{Deserialize, Serialize};

use super::edges::{self, Edges, Turns, Weights, add_shares, by_name, line_rate, samples_of};
use super::{Found, Rival, Task, part};
use crate::sgd::{Clash, Negatives, Noise, Parts, Table, Tables, Training, train};
use manyview_base::error::{Error, Result};
use manyview_base::named;
use manyview_base::random::{Key, unit_f64};
use manyview_data::network::View;

/// Goes with every result.
const RECONSTRUCTED: &str =
    "mtne-c is a reconstruction: the equations and the code of the original could not be found";

/// Settings of MTNE-C (reconstructed: see the module's head; the original's are not known).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MtneC {
    /// Edges to train on, over all views together; when not given, 2,500 for each node.
    pub samples: Option<usize>,
    /// Negatives for each edge.
    pub negative: usize,
    /// The first rate; it falls linearly.
    pub rate: f64,
    /// 1: nodes against nodes; 2: nodes against contexts.
    pub order: usize,
    /// Weight of the penalty: each step takes this times the rate from the vector that it starts at.
    pub decay: f64,
    /// Which columns are the result.
    pub give: Give,
    /// Whether views train in proportion to their edges, and not all the same.
    pub by_edges: bool,
}

/// Which columns are the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Give {
    /// The common ones and each view's: `dim` in all.
    All,
    /// The common ones alone, fewer than `dim`.
    Common,
    /// The common ones, and the mean of the views' own over the views that a node is in.
    Mean,
}

named! { Give:
    All = "all", "common columns, then those of each view";
    Common = "common", "common columns alone";
    Mean = "mean", "common columns, then the mean of the views'";
}

impl Default for MtneC {
    fn default() -> Self {
        MtneC {
            samples: None,
            negative: 5,
            rate: 0.025,
            order: 1,
            decay: 1e-4,
            give: Give::All,
            by_edges: false,
        }
    }
}

impl Rival for MtneC {
    fn paper() -> Self {
        MtneC { samples: Some(300_000_000), ..MtneC::default() }
    }

    fn check(&self) -> Result<()> {
        edges::check_samples(self.samples)?;
        edges::check(self.negative, self.rate)?;
        if !(1..=2).contains(&self.order) {
            return Err(Error::config(format!(
                "order = {} is neither 1 nor 2; the default is 1",
                self.order
            )));
        }
        // Above 1 a step would turn a vector around.
        if !(self.decay >= 0.0 && self.decay * self.rate <= 1.0) {
            let decay = self.decay;
            return Err(Error::config(format!(
                "decay = {decay} is not from 0 to 1 / rate; the default is 0.0001"
            )));
        }
        Ok(())
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let widths = Widths::split(task.dim, task.network.views().len())?;
        let views = self.train(task, widths)?;
        Ok(self.found(task, widths, &views))
    }
}

/// Columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Widths {
    /// That all views share.
    common: usize,
    /// Of each view alone.
    own: usize,
}

impl Widths {
    /// The same for all; what is left over is common.
    fn split(dim: usize, views: usize) -> Result<Self> {
        let own = dim / (views + 1);
        if own == 0 {
            return Err(Error::config(format!(
                "dim = {dim} is too small for {views} views: a common column and one for each, {} in all",
                views + 1
            )));
        }
        Ok(Widths { common: dim - views * own, own })
    }
}

/// One side of the model in one view: vectors `[c; u^k]`, or contexts.
struct Side {
    table: Table,
}

impl Side {
    /// Between -1/2 and 1/2, divided by the columns of a view.
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

    /// Takes the common columns as another view left them.
    fn adopt(&mut self, other: &Side, widths: Widths) {
        for node in 0..self.table.parts().items() {
            let common = &other.table.row(node)[..widths.common];
            self.table.row_mut(node)[..widths.common].copy_from_slice(common);
        }
    }
}

/// A view after training; all have the same common columns.
struct Trained<'a> {
    /// Its place in the network.
    place: usize,
    view: &'a View,
    vectors: Side,
    contexts: Option<Side>,
    weights: Weights,
}

impl Trained<'_> {
    fn has(&self, node: usize) -> bool {
        self.weights.leaving[node] > 0.0 || self.weights.coming[node] > 0.0
    }
}

impl MtneC {
    /// Edges of each view.
    fn samples_each(&self, views: &[(usize, &View)], nodes: usize) -> Vec<usize> {
        let samples = samples_of(self.samples, nodes);
        let all: usize = views.iter().map(|(_, view)| view.edges()).sum();
        let of = |view: &View| match self.by_edges {
            true => (samples as f64 * view.edges() as f64 / all as f64).ceil() as usize,
            false => samples.div_ceil(views.len()),
        };
        views.iter().map(|(_, view)| of(view)).collect()
    }

    /// Where training starts.
    fn start<'a>(
        &self,
        task: &Task<'a, '_>,
        views: &[(usize, &'a View)],
        widths: Widths,
    ) -> Vec<Trained<'a>> {
        let weights: Vec<Weights> = views.iter().map(|(_, view)| Weights::of(view)).collect();
        let mut sums = vec![0.0; task.network.nodes().len()];
        weights.iter().for_each(|weights| add_shares(&mut sums, &weights.leaving));
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
            |view: &Trained<'_>| Noise::of_counts(view.vectors.table.parts(), &view.weights.coming);
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
                hand_on(&mut trained, at, widths);
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
        // The last view has what all have learned; it goes round once more, up to the last view.
        (0..trained.len() - 1).for_each(|at| hand_on(&mut trained, at, widths));
        Ok(trained)
    }

    /// The columns that are wanted; those of a view are zero for nodes that it does not have.
    fn found(&self, task: &Task<'_, '_>, widths: Widths, views: &[Trained<'_>]) -> Found {
        let mut views: Vec<&Trained<'_>> = views.iter().collect();
        views.sort_by_key(|view| view.place);
        let mut parts = vec![part(None, 0..widths.common)];
        match self.give {
            Give::All => {
                let from = |place: usize| widths.common + place * widths.own;
                let own =
                    |view: &&Trained<'_>| part(Some(&view.view.name), from(view.place)..from(view.place + 1));
                parts.extend(views.iter().map(own));
            }
            Give::Common => {}
            Give::Mean => parts = vec![part(None, 0..widths.common + widths.own)],
        }
        let mut vectors = Vec::new();
        for node in 0..task.network.nodes().len() {
            self.push_row(node, widths, &views, &mut vectors);
        }
        Found { vectors, parts, warnings: vec![RECONSTRUCTED.into()] }
    }

    fn push_row(&self, node: usize, widths: Widths, views: &[&Trained<'_>], vectors: &mut Vec<f32>) {
        let with: Vec<&&Trained<'_>> = views.iter().filter(|view| view.has(node)).collect();
        let zeros = |count: usize| std::iter::repeat_n(0.0, count);
        match with.first() {
            Some(view) => vectors.extend_from_slice(&view.vectors.table.row(node)[..widths.common]),
            None => vectors.extend(zeros(widths.common)),
        }
        match self.give {
            Give::Common => {}
            Give::All => views.iter().for_each(|view| match view.has(node) {
                true => vectors.extend_from_slice(&view.vectors.table.row(node)[widths.common..]),
                false => vectors.extend(zeros(widths.own)),
            }),
            Give::Mean => vectors.extend((widths.common..widths.common + widths.own).map(|column| {
                let sum: f32 = with.iter().map(|view| view.vectors.table.row(node)[column]).sum();
                sum / with.len().max(1) as f32
            })),
        }
    }
}

/// Gives a view the common columns as the view before it left them.
fn hand_on(views: &mut [Trained<'_>], at: usize, widths: Widths) {
    let before = (at + views.len() - 1) % views.len();
    let Ok([to, from]) = views.get_disjoint_mut([at, before]) else { return };
    to.vectors.adopt(&from.vectors, widths);
    if let (Some(to), Some(from)) = (&mut to.contexts, &from.contexts) {
        to.adopt(from, widths);
    }
}

#[cfg(test)]
mod tests;

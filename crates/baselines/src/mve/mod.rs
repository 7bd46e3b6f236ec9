//! MVE: vectors of each view, against contexts that all views share, and a common vector that they vote for.
//!
//! `sum_k O_k + eta sum_i sum_k |x_i^k - x_i|^2`, where O_k is skip-gram with negatives on the pairs of view k and
//! `x_i = sum_k l_ik x_i^k` is the result. The votes l are 1 / K, or learned from labels ([`attention`]). Between two counts of
//! the votes, x_i stands still, and each step also moves `x_i^k` toward it.
//!
//! After Qu, Tang, Shang, Ren, Zhang and Han (2017), whose paper and program differ. The defaults are the program's: pooled
//! noise, a penalty that all views pay alike, a further decay of 1e-4, attention on the mean of the views' vectors, taught by
//! the logistic loss. The paper's are `noise = "view"`, `by_votes`, `decay = 0`, `feature = "concat"` and `loss = "square"`.
//! Their program starts with random votes for one epoch; here these are 1 / K.
//!
//! Invariant: labels are read where `attention` is on, and those of at most `labeled` nodes.

mod attention;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::attention::{Attention, Example, Rule, combined};
use super::edges::{self, Edges, Turns, Weights, add_shares, by_name, line_rate};
use super::skipgram::SkipGram;
use super::walks::{DeadEnd, Walks};
use super::{Found, Rival, Task};
use crate::sgd::{Clash, Corpus, Negatives, Noise, Pair, Parts, Table, Tables, Training, train};
use manyview_base::error::{Error, Result};
use manyview_base::named;
use manyview_base::random::{Key, text_key};
use manyview_data::labels::Labels;
use manyview_data::network::View;

/// Settings of MVE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mve {
    /// Where pairs come from.
    pub pairs: Pairs,
    /// Walks from each node, over all epochs.
    pub walks: usize,
    /// Nodes of a walk.
    pub length: usize,
    /// Steps between two nodes of a walk that count as seen together, at most.
    pub window: usize,
    /// With `pairs = "edges"`: nodes behind a start that are paired with it. There are as many starts as all walks would
    /// have nodes.
    pub depth: usize,
    /// Random nodes that each pair is set against.
    pub negative: usize,
    /// The first rate; it falls linearly.
    pub rate: f64,
    /// Times that the votes are counted; pairs are spread over them.
    pub epochs: usize,
    /// How strongly a view's vector is drawn to the common one.
    pub regularize: f64,
    /// Whether views that have more of a node's votes are drawn more strongly.
    pub by_votes: bool,
    /// The share of a vector that each step takes off, whatever the rate.
    pub decay: f64,
    /// What the random nodes are drawn by.
    pub noise: NoiseOf,
    /// Whether votes are learned from labels, when there are some. Else all views count the same: unsupervised.
    pub attention: bool,
    /// Labeled nodes that votes are learned from, at most.
    pub labeled: usize,
    /// What a node's votes are read from.
    pub feature: Feature,
    /// What votes that tell labels badly cost.
    pub loss: Loss,
    /// Whether vectors are scaled to length 1 in the end.
    pub unit: bool,
}

/// Where pairs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Walks in each view, as in DeepWalk: the study of MNMF.
    Walks,
    /// Edges by weight, and short walks from them: the original.
    Edges,
}

named! { Pairs:
    Walks = "walks", "nodes near each other in walks of a view";
    Edges = "edges", "ends of edges, drawn by weight";
}

/// What random nodes are drawn by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseOf {
    /// Degrees in all views: the program.
    Pooled,
    /// Degrees in the view of the pair: the paper.
    View,
}

named! { NoiseOf:
    Pooled = "pooled", "by their shares of the edges of all views";
    View = "view", "by their edges in the view of the pair";
}

/// What a node's votes are read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feature {
    /// The mean of its vectors: the program.
    #[default]
    Mean,
    /// Its vectors end to end: the paper.
    Concat,
}

named! { Feature:
    Mean = "mean", "the mean of a node's vectors";
    Concat = "concat", "a node's vectors end to end";
}

/// What a label told badly costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loss {
    /// Cross-entropy of a logistic model: the program.
    #[default]
    Logistic,
    /// Squares of a linear model: the paper.
    Square,
}

named! { Loss:
    Logistic = "logistic", "cross-entropy of a logistic model of the labels";
    Square = "square", "squares of a linear model of the labels";
}

impl Default for Mve {
    fn default() -> Self {
        Mve { walks: 10, window: 5, attention: false, ..Mve::paper() }
    }
}

impl Rival for Mve {
    fn paper() -> Self {
        Mve {
            pairs: Pairs::Walks,
            walks: 80,
            length: 40,
            window: 10,
            depth: 1,
            negative: 5,
            rate: 0.025,
            epochs: 20,
            regularize: 0.05,
            by_votes: false,
            decay: 1e-4,
            noise: NoiseOf::Pooled,
            attention: true,
            labeled: 200,
            feature: Feature::Mean,
            loss: Loss::Logistic,
            unit: true,
        }
    }

    fn check(&self) -> Result<()> {
        let complain = |sentence: String| Err(Error::config(sentence));
        let whole = [
            ("walks", self.walks, 1, 10),
            ("length", self.length, 2, 40),
            ("window", self.window, 1, 10),
            ("depth", self.depth, 1, 1),
            ("epochs", self.epochs, 1, 20),
            ("labeled", self.labeled, 1, 200),
        ];
        if let Some((name, value, least, usual)) =
            whole.into_iter().find(|&(_, value, least, _)| value < least)
        {
            return complain(format!(
                "{name} = {value} is too small: at least {least}; the usual choice is {usual}"
            ));
        }
        edges::check(self.negative, self.rate)?;
        // Above 1 a step would carry a vector past the common one.
        if !(self.regularize >= 0.0 && self.regularize * self.rate <= 1.0) {
            let regularize = self.regularize;
            return complain(format!(
                "regularize = {regularize} is not from 0 to 1 / rate; the usual choice is 0.05"
            ));
        }
        if !(0.0..1.0).contains(&self.decay) {
            let decay = self.decay;
            return complain(format!("decay = {decay} is not from 0 to below 1; the usual choice is 0.0001"));
        }
        Ok(())
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let mut found = Found::default();
        let labels = task.labels.filter(|_| self.attention);
        if self.attention && labels.is_none() {
            let told = "attention learns from labels and was given none: all views count the same; give labels of \
                        training nodes, or set attention to false";
            found.warnings.push(told.into());
        }
        let trained = self.train(task, labels)?;
        found.vectors = trained.centers;
        if self.unit {
            found.vectors.chunks_exact_mut(task.dim).for_each(normalize);
        }
        Ok(found)
    }

    fn learns_from_labels(&self) -> bool {
        self.attention
    }
}

/// Scales a vector to length 1, unless it is zero.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

/// What is trained.
struct Trained {
    /// The vectors of each view, in the order of names.
    views: Vec<Table>,
    /// The common vectors, as of the last count.
    centers: Vec<f32>,
    /// The votes of each node.
    votes: Vec<Vec<f64>>,
}

/// Pairs of any origin.
type AnyCorpus<'a> = Corpus<Box<dyn Fn(usize, &mut Vec<Pair>) + Sync + 'a>>;

impl Mve {
    fn train(&self, task: &mut Task<'_, '_>, labels: Option<&Labels>) -> Result<Trained> {
        let (named, nodes, dim, pool) = (by_name(task), task.network.nodes().len(), task.dim, task.pool);
        let views: Vec<&View> = named.iter().map(|&(_, view)| view).collect();
        let coming: Vec<Vec<f64>> = views.iter().map(|view| Weights::of(view).coming).collect();
        let mut pooled = vec![0.0; nodes];
        coming.iter().for_each(|counts| add_shares(&mut pooled, counts));
        let parts = Parts::of(&pooled);
        let noise: Vec<Noise> = match self.noise {
            NoiseOf::Pooled => vec![Noise::of_counts(&parts, &pooled)],
            NoiseOf::View => coming.iter().map(|counts| Noise::of_counts(&parts, counts)).collect(),
        };
        let mut contexts = Table::random(parts.clone(), dim, task.key("contexts"));
        let mut trained = Trained {
            views: vec![Table::zeros(parts, dim); views.len()],
            centers: vec![0.0; nodes * dim],
            votes: vec![vec![1.0 / views.len() as f64; views.len()]; nodes],
        };
        let mut teacher = labels.map(|labels| self.teacher(task, &views, labels)).transpose()?;

        let keys: Vec<Key> = views.iter().map(|view| task.view_key("pairs", &view.name)).collect();
        let sources: Vec<Source<'_>> =
            views.iter().zip(&keys).map(|(view, key)| Source::new(self, view, key.with(0))).collect();
        let corpora: Vec<AnyCorpus<'_>> = sources.iter().map(|source| source.corpus(nodes)).collect();
        let turns = Turns::new(
            corpora.iter().map(|corpus| corpus.blocks).collect(),
            corpora[0].block_pairs,
            self.epochs,
        );
        for epoch in 0..self.epochs {
            for turn in turns.of_epoch(epoch, self.epochs) {
                for (at, corpus) in corpora.iter().enumerate() {
                    let (centers, votes) = (&trained.centers, &trained.votes);
                    let (regularize, decay) = (self.regularize as f32, self.decay as f32);
                    let drawn = |node: usize, x: &mut [f32], rate: f32| {
                        let vote = if self.by_votes { votes[node][at] as f32 } else { 1.0 };
                        draw_near(x, &centers[node * dim..][..dim], rate * regularize * vote, decay);
                    };
                    let noise = &noise[at.min(noise.len() - 1)];
                    let negatives = Negatives { noise, count: self.negative, clash: Clash::Keep };
                    let training =
                        Training { negatives, rate: line_rate(self.rate), key: keys[at].with(1), pool };
                    let mut tables = Tables::Two { inputs: &mut trained.views[at], outputs: &mut contexts };
                    let watch = &mut |own: f64| task.tell("training", turns.done(at, turn, own));
                    train(&mut tables, corpus, turns.blocks(at, turn), &training, &drawn, watch)?;
                }
            }
            if let Some(teacher) = &mut teacher {
                teacher.learn(&trained);
                trained.votes = (0..nodes).map(|node| teacher.attention.weights(&trained.of(node))).collect();
            }
            trained.count_votes(dim);
        }
        Ok(trained)
    }

    /// Which nodes are learned from: drawn by their ids, so that the order of nodes does not matter.
    fn teacher(&self, task: &Task<'_, '_>, views: &[&View], labels: &Labels) -> Result<Teacher> {
        let nodes = task.network.nodes();
        if labels.rows() != nodes.len() {
            let rows = labels.rows();
            return Err(Error::network(format!(
                "labels are for {rows} nodes and the network has {}; read them with the network's nodes",
                nodes.len()
            )));
        }
        let key = task.key("labelled");
        let mut rows = labels.labeled_rows();
        rows.sort_by_key(|&row| (key.with(text_key(nodes.id(row as usize))).bits(), row));
        rows.truncate(self.labeled);
        let pupils = rows.into_iter().map(|row| (row as usize, labels.of(row as usize).to_vec())).collect();
        let keys: Vec<Key> = views.iter().map(|view| task.view_key("attention", &view.name)).collect();
        let rule = Rule { feature: self.feature, loss: self.loss };
        let names = labels.names().len();
        let attention = Attention::start(task.dim, &keys, names, task.key("attention labels"), rule);
        Ok(Teacher { pupils, attention })
    }
}

/// Moves a view's vector toward the common one. Inlined, because it runs after every step: a call would go to code
/// without wide vectors.
#[inline(always)]
fn draw_near(x: &mut [f32], center: &[f32], share: f32, decay: f32) {
    x.iter_mut().zip(center).for_each(|(x, &center)| *x += share * (center - *x) - decay * *x);
}

impl Trained {
    /// The vectors of a node in each view.
    fn of(&self, node: usize) -> Vec<Vec<f64>> {
        self.views.iter().map(|view| view.row(node).iter().map(|&x| f64::from(x)).collect()).collect()
    }

    /// Puts the common vectors where the votes want them.
    fn count_votes(&mut self, dim: usize) {
        for node in 0..self.votes.len() {
            let center = combined(&self.votes[node], &self.of(node));
            self.centers[node * dim..][..dim].iter_mut().zip(&center).for_each(|(to, &x)| *to = x as f32);
        }
    }
}

/// Votes, and the nodes that they are learned from.
struct Teacher {
    /// Nodes and their labels.
    pupils: Vec<(usize, Vec<u32>)>,
    attention: Attention,
}

impl Teacher {
    fn learn(&mut self, trained: &Trained) {
        let example =
            |(node, labels): &(usize, Vec<u32>)| Example { views: trained.of(*node), labels: labels.clone() };
        let examples: Vec<Example> = self.pupils.iter().map(example).collect();
        self.attention.learn(&examples);
    }
}

/// What makes the pairs of a view.
enum Source<'a> {
    Walks { walks: Walks<'a>, seen: SkipGram, key: Key },
    Edges { edges: Edges<'a>, starts_each: usize, depth: usize },
}

impl<'a> Source<'a> {
    fn new(settings: &Mve, view: &'a View, key: Key) -> Self {
        let &Mve { pairs, walks: each, length, window, depth, .. } = settings;
        match pairs {
            Pairs::Walks => {
                let walks =
                    Walks::new(std::iter::once(view), false, DeadEnd::Stop, (each, length), key.with(0));
                let seen = SkipGram { walks: each, length, window, ..SkipGram::default() };
                Source::Walks { walks, seen, key: key.with(1) }
            }
            Pairs::Edges => Source::Edges { edges: Edges::new(view, key), starts_each: each * length, depth },
        }
    }

    fn corpus(&self, nodes: usize) -> AnyCorpus<'_> {
        match self {
            // Counts of nodes are for leaving out frequent ones, which is not done here.
            Source::Walks { walks, seen, key } => boxed(seen.corpus(walks, &[], *key)),
            Source::Edges { edges, starts_each, depth } => boxed(edges.corpus(nodes * starts_each, *depth)),
        }
    }
}

fn boxed<'a>(corpus: Corpus<impl Fn(usize, &mut Vec<Pair>) + Sync + 'a>) -> AnyCorpus<'a> {
    Corpus { blocks: corpus.blocks, block_pairs: corpus.block_pairs, fill: Box::new(corpus.fill) }
}

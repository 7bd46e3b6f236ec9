//! MVE: vectors of each view, trained against contexts that all views share, and a weighted mean of them.
//!
//! Minimizes `sum_k O_k + eta sum_i sum_k |x_i^k - x_i|^2`, where O_k is skip-gram with negative sampling on the pairs
//! of view k, and `x_i = sum_k l_ik x_i^k` is the result. The weights l, called votes, are 1 / K, or learned from
//! labels ([`attention`]). The x_i are updated once per epoch. Until then they are fixed, and each step also moves
//! `x_i^k` toward x_i.
//!
//! After Qu, Tang, Shang, Ren, Zhang and Han (2017), whose paper and program differ. The defaults are those of the
//! program: pooled noise, the same penalty for all views, an additional decay of 1e-4, attention on the mean of the
//! views' vectors, trained with the logistic loss. Those of the paper are `noise = "view"`, `by_votes`, `decay = 0`,
//! `feature = "concat"` and `loss = "square"`. The program starts with random votes for one epoch; here the first votes
//! are 1 / K.
//!
//! Invariant: labels are read only if `attention` is on, and only those of at most `labeled` nodes.

mod attention;
#[cfg(test)]
mod tests;

use manyview_base::error::{Error, Result};
use manyview_base::linalg::vector::scale_to_unit_length;
use manyview_base::message::{Warning, WarningKind, option, option_value};
use manyview_base::random::{Key, text_key};
use manyview_base::settings::Settings;
use manyview_base::{named, settings};
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};
use manyview_data::labels::Labels;
use manyview_data::network::View;

use self::attention::{Attention, Example, Rule, combined};
use crate::default_or;
use crate::edges::{Edges, Turns, Weights, add_shares, by_name, line_rate};
use crate::sgd::{Clash, Corpus, Negatives, Noise, Pair, Parts, Table, Tables, Training, train};
use crate::skipgram::SkipGram;
use crate::walks::{DeadEnd, Walks};

settings! {
    /// Settings of MVE.
    pub struct Mve {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// Where training pairs come from.
        pairs: Pairs = Pairs::Walks;
        /// The number of walks from each node, over all epochs.
        walks: usize = 10 => at_least(1.0).hint("the usual choice is 10");
        /// The number of nodes of a walk.
        length: usize = 40 => at_least(2.0).hint("the usual choice is 40");
        /// The largest number of steps between two nodes of a walk that form a pair.
        window: usize = 5 => at_least(1.0).hint("the papers use 10");
        /// With `pairs` set to `edges`, the number of steps after a sampled node that form pairs with it. There are as
        /// many samples as all walks would have nodes.
        depth: usize = 1 => at_least(1.0).hint("the usual choice is 1");
        /// The number of negative samples per pair.
        negative: usize = 5 => at_least(1.0).at_most(1000.0).hint("the usual choice is 5");
        /// The initial learning rate; it decreases linearly to 1/10,000 of this.
        rate: f64 = 0.025 => above(0.0).at_most(1.0).hint("the usual choice is 0.025");
        /// The number of epochs, among which the pairs are divided. Each ends with an update of the votes and of the
        /// common vectors.
        epochs: usize = 20 => at_least(1.0).hint("the usual choice is 20");
        /// How strongly the vectors of a view are pulled toward the common vectors.
        regularize: f64 = 0.05 => at_least(0.0).hint("the usual choice is 0.05").alias("regularise");
        /// Whether the pull on a view is multiplied by its vote, which is the weight of the view in a node's common
        /// vector.
        by_votes: bool = false;
        /// The share of a vector that each step subtracts, regardless of the learning rate.
        decay: f64 = 1e-4 => at_least(0.0).below(1.0).hint("the usual choice is 0.0001");
        /// The distribution of negative samples.
        noise: NoiseOf = NoiseOf::Pooled;
        /// Whether votes, the weights of the views in a node's common vector, are learned from labels, if there are
        /// any. Otherwise all views have the same vote: unsupervised.
        attention: bool = false;
        /// The maximum number of labeled nodes from which votes are learned, with `attention`.
        labeled: usize = 200 => at_least(1.0).hint("the usual choice is 200").alias("labelled");
        /// What the votes of a node are computed from, with `attention`.
        feature: Feature = Feature::Mean;
        /// The loss that votes are trained with, with `attention`.
        loss: Loss = Loss::Logistic;
        /// Whether vectors are scaled to length 1 at the end.
        unit: bool = true;
    }
}

named! {
    /// Where training pairs come from.
    pub enum Pairs {
        Walks = "walks", "nodes that are close to each other in walks of a view, as in the comparison of MNMF's paper";
        Edges = "edges", "the two ends of edges, which are drawn by weight, as in MVE's paper";
    }
}

named! {
    /// The distribution of negative samples.
    pub enum NoiseOf {
        Pooled = "pooled", "by the nodes' shares of the edges of all views, as in the original program";
        View = "view", "by the nodes' edges in the view of the pair, as in MVE's paper";
    }
}

named! {
    /// What the votes of a node are computed from.
    pub enum Feature {
        Mean = "mean", "the mean of the node's vectors of all views, as in the original program";
        Concat = "concat", "the concatenated vectors of the node of all views, as in MVE's paper";
    }
}

named! {
    /// The loss that votes are trained with.
    pub enum Loss {
        Logistic = "logistic", "cross-entropy of a logistic model of the labels, as in the original program";
        Square = "square", "squared error of a linear model of the labels, as in MVE's paper";
    }
}

impl Method for Mve {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(Mve { walks: 80, window: 10, attention: true, ..Mve::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn check(&self) -> Result<()> {
        self.check_limits()?;
        // Above 1, a step would move a vector past the common one.
        if self.regularize * self.rate > 1.0 {
            return Err(Error::config(format!(
                "{} exceeds 1 / rate, which is {} with {}; the usual choice is 0.05",
                option_value("regularize", self.regularize),
                1.0 / self.rate,
                option_value("rate", self.rate)
            )));
        }
        Ok(())
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let mut found = Found::default();
        let labels = task.labels.filter(|_| self.attention);
        if self.attention && labels.is_none() {
            let message = format!(
                "{} learns from labels, but there are none, so all views have the same vote; give labels of training \
                 nodes, or turn {} off",
                option("attention"),
                option("attention")
            );
            found.warnings.push(Warning::new(WarningKind::Settings, message));
        }
        let trained = self.train(task, labels)?;
        found.vectors = trained.centers;
        if self.unit {
            found.vectors.chunks_exact_mut(task.dim).for_each(scale_to_unit_length);
        }
        Ok(found)
    }

    fn label_setting(&self) -> Option<&'static str> {
        self.attention.then_some("attention")
    }
}

/// The state of the training.
struct Trained {
    /// The vectors of each view, in the order of names.
    views: Vec<Table>,
    /// The common vectors, as of the last update.
    centers: Vec<f32>,
    /// The votes of each node.
    votes: Vec<Vec<f64>>,
}

/// Pairs from walks or from edges.
type AnyCorpus<'a> = Corpus<Box<dyn Fn(usize, &mut Vec<Pair>) + Sync + 'a>>;

impl Mve {
    fn train(&self, task: &mut Task<'_, '_>, labels: Option<&Labels>) -> Result<Trained> {
        let (named, nodes, dim, pool) = (by_name(task), task.network.nodes().len(), task.dim, task.pool);
        let views: Vec<&View> = named.iter().map(|&(_, view)| view).collect();
        let incoming: Vec<Vec<f64>> = views.iter().map(|view| Weights::of(view).incoming).collect();
        let mut pooled = vec![0.0; nodes];
        incoming.iter().for_each(|counts| add_shares(&mut pooled, counts));
        let parts = Parts::of(&pooled);
        let noise: Vec<Noise> = match self.noise {
            NoiseOf::Pooled => vec![Noise::of_counts(&parts, &pooled)],
            NoiseOf::View => incoming.iter().map(|counts| Noise::of_counts(&parts, counts)).collect(),
        };
        let mut contexts = Table::random(parts.clone(), dim, task.key("contexts"));
        let mut trained = Trained {
            views: vec![Table::zeros(parts, dim); views.len()],
            centers: vec![0.0; nodes * dim],
            votes: vec![vec![1.0 / views.len() as f64; views.len()]; nodes],
        };
        let mut supervision = labels.map(|labels| self.supervision(task, &views, labels)).transpose()?;

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
                    let pulled = |node: usize, x: &mut [f32], rate: f32| {
                        let vote = if self.by_votes { votes[node][at] as f32 } else { 1.0 };
                        pull(x, &centers[node * dim..][..dim], rate * regularize * vote, decay);
                    };
                    let noise = &noise[at.min(noise.len() - 1)];
                    let negatives = Negatives { noise, count: self.negative, clash: Clash::Keep };
                    let training =
                        Training { negatives, rate: line_rate(self.rate), key: keys[at].with(1), pool };
                    let mut tables = Tables::Two { inputs: &mut trained.views[at], outputs: &mut contexts };
                    let watch = &mut |own: f64| task.tell("training", turns.done(at, turn, own));
                    train(&mut tables, corpus, turns.blocks(at, turn), &training, &pulled, watch)?;
                }
            }
            if let Some(supervision) = &mut supervision {
                supervision.learn(&trained);
                let attention = &supervision.attention;
                trained.votes = (0..nodes).map(|node| attention.weights(&trained.of(node))).collect();
            }
            trained.update_centers(dim);
        }
        Ok(trained)
    }

    /// Chooses the nodes whose labels are used. They are drawn by their ids, so the order of nodes does not matter.
    fn supervision(&self, task: &Task<'_, '_>, views: &[&View], labels: &Labels) -> Result<Supervision> {
        let nodes = task.network.nodes();
        if labels.rows() != nodes.len() {
            let rows = labels.rows();
            return Err(Error::network(format!(
                "the labels are for {rows} nodes, but the network has {}; read them with the nodes of the network",
                nodes.len()
            )));
        }
        // The spelling is part of the random numbers, and so of every result.
        let key = task.key("labelled");
        let mut rows = labels.labeled_rows();
        rows.sort_by_key(|&row| (key.with(text_key(nodes.id(row as usize))).bits(), row));
        rows.truncate(self.labeled);
        let examples = rows.into_iter().map(|row| (row as usize, labels.of(row as usize).to_vec())).collect();
        let keys: Vec<Key> = views.iter().map(|view| task.view_key("attention", &view.name)).collect();
        let rule = Rule { feature: self.feature, loss: self.loss };
        let names = labels.names().len();
        let attention = Attention::start(task.dim, &keys, names, task.key("attention labels"), rule);
        Ok(Supervision { examples, attention })
    }
}

/// Moves the vector of a view toward the common one. Inlined, because a call would run code that is compiled without
/// wide vectors, after every step.
#[inline(always)]
fn pull(x: &mut [f32], center: &[f32], share: f32, decay: f32) {
    x.iter_mut().zip(center).for_each(|(x, &center)| *x += share * (center - *x) - decay * *x);
}

impl Trained {
    /// Returns the vectors of a node in each view.
    fn of(&self, node: usize) -> Vec<Vec<f64>> {
        self.views.iter().map(|view| view.row(node).iter().map(|&x| f64::from(x)).collect()).collect()
    }

    /// Sets the common vectors to the means that are weighted by votes.
    fn update_centers(&mut self, dim: usize) {
        for node in 0..self.votes.len() {
            let center = combined(&self.votes[node], &self.of(node));
            self.centers[node * dim..][..dim].iter_mut().zip(&center).for_each(|(to, &x)| *to = x as f32);
        }
    }
}

/// The model of the votes, and the nodes that it is trained on.
struct Supervision {
    /// Nodes and their labels.
    examples: Vec<(usize, Vec<u32>)>,
    attention: Attention,
}

impl Supervision {
    fn learn(&mut self, trained: &Trained) {
        let example =
            |(node, labels): &(usize, Vec<u32>)| Example { views: trained.of(*node), labels: labels.clone() };
        let examples: Vec<Example> = self.examples.iter().map(example).collect();
        self.attention.learn(&examples);
    }
}

/// What generates the pairs of a view.
enum Source<'a> {
    Walks { walks: Walks<'a>, skip_gram: SkipGram, key: Key },
    Edges { edges: Edges<'a>, starts_each: usize, depth: usize },
}

impl<'a> Source<'a> {
    fn new(settings: &Mve, view: &'a View, key: Key) -> Self {
        let &Mve { pairs, walks: each, length, window, depth, .. } = settings;
        match pairs {
            Pairs::Walks => {
                let walks =
                    Walks::new(std::iter::once(view), false, DeadEnd::Stop, (each, length), key.with(0));
                let skip_gram = SkipGram { walks: each, length, window, ..SkipGram::default() };
                Source::Walks { walks, skip_gram, key: key.with(1) }
            }
            Pairs::Edges => Source::Edges { edges: Edges::new(view, key), starts_each: each * length, depth },
        }
    }

    fn corpus(&self, nodes: usize) -> AnyCorpus<'_> {
        match self {
            // Counts of nodes are only needed for subsampling, which is not used here.
            Source::Walks { walks, skip_gram, key } => boxed(skip_gram.corpus(walks, &[], *key)),
            Source::Edges { edges, starts_each, depth } => boxed(edges.corpus(nodes * starts_each, *depth)),
        }
    }
}

fn boxed<'a>(corpus: Corpus<impl Fn(usize, &mut Vec<Pair>) + Sync + 'a>) -> AnyCorpus<'a> {
    Corpus { blocks: corpus.blocks, block_pairs: corpus.block_pairs, fill: Box::new(corpus.fill) }
}

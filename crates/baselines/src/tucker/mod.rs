//! TuckER: the views as one tensor (subject x relation x object), in a Tucker decomposition.
//!
//! `P(s, r, o) = sigmoid(W x_1 w_r x_2 e_s x_3 e_o)`: nodes are entities, views are relations, and edges are the
//! triples that are known to be true (weights are ignored). A question (s, r) is scored against all nodes together; the
//! loss is binary cross-entropy. The embedding is E, before any normalization.
//!
//! After Balazevic, Allen and Hospedales (2019): batch normalization, three dropouts, Adam, smoothed labels. There is
//! no held-out set, because link prediction is not the aim; the number of epochs is fixed.

mod adam;
mod contraction;
mod dropout;
mod loss;
mod model;
mod norm;
mod pass;
mod questions;
#[cfg(test)]
mod tests;

use manyview_base::error::Result;
use manyview_base::linalg::Real;
use manyview_base::random::Key;
use manyview_base::{named, settings};
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};
use manyview_data::network::Network;

use self::adam::{Adam, Stride};
use self::loss::Targets;
use self::model::{Parameters, Shape};
use self::pass::{Batch, Drops};
use self::questions::{Question, Relations, batches};
use crate::default_or;

/// The default number of epochs.
const EPOCHS: usize = 20;

/// The minimum number of steps with the default number of epochs.
const STEPS: usize = 2000;

/// The dropout of the paper, which trains for 500 epochs.
const DROPOUT: [f64; 3] = [0.3, 0.4, 0.5];

/// The number of epochs from which dropout is the default. With fewer, it can prevent the fit: on mfeat (22 epochs), the AUC
/// of hidden edges is 0.69 with it and 0.95 without; on acm (23 epochs), 0.81 and 0.80. With hundreds of epochs, it
/// prevents overfitting: on networks of 71 and 241 nodes, 0.69 and 0.73 with it, 0.54 and 0.58 without.
const MANY_EPOCHS: usize = 100;

settings! {
    /// Settings of TuckER.
    pub struct TuckEr {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of epochs.
        epochs: Option<usize> = None
            => at_least(1.0).absent("20, or more for at least 2,000 steps").hint("the usual choice is 20");
        /// The number of pairs of a node and a relation in a batch.
        batch: usize = 128 => at_least(2.0).hint("the usual choice is 128");
        /// The learning rate of Adam in the first epoch.
        rate: f64 = 1e-3 => above(0.0).hint("the usual choice is 0.001");
        /// The factor by which the rate is multiplied after each epoch.
        decay: f64 = 1.0 => above(0.0).at_most(1.0).hint("use 1 to keep the rate constant");
        /// The length of the vector of a relation.
        relation_dim: usize = 30 => at_least(1.0).at_most(4096.0).hint("the usual choices are 30 and 200");
        /// The dropout probabilities of the input, of the matrix of each sample, and of the hidden layer.
        dropout: Option<[f64; 3]> = None
            => at_least(0.0).below(1.0).absent("0.3, 0.4, 0.5, or none with fewer than 100 epochs").hint("use 0 for no dropout");
        /// Label smoothing: how much the target of known edges is lowered.
        smoothing: f64 = 0.1 => at_least(0.0).below(1.0).hint("the usual choice is 0.1");
        /// What is added to all targets if `smoothing` is above 0.
        smoothing_by: Smoothing = Smoothing::Code;
        /// Whether each view is also used in reverse, as a second relation. The original does so; for undirected views
        /// it adds no information.
        reverse: Option<bool> = None => absent("directed views only");
    }
}

named! {
    /// What is added to all targets with smoothed labels.
    pub enum Smoothing {
        Code = "code", "1 / nodes, as in the original program";
        Epsilon = "epsilon", "smoothing / nodes, which keeps the sum of the targets";
    }
}

impl Method for TuckEr {
    fn of_preset(preset: Preset) -> Option<Self> {
        let paper = TuckEr {
            epochs: Some(500),
            rate: 5e-4,
            relation_dim: 200,
            dropout: Some(DROPOUT),
            reverse: Some(true),
            ..TuckEr::default()
        };
        default_or(paper, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let relations = Relations::new(task, self.reverse);
        let epochs = self.epochs.unwrap_or_else(|| {
            let steps = relations.ordered(0).len().div_ceil(self.batch).max(1);
            EPOCHS.max(STEPS.div_ceil(steps))
        });
        let mut trainer = Trainer::<f32>::new(self, self.dropout_in(epochs), task, &relations);
        for epoch in 0..epochs {
            let questions = relations.ordered(epoch);
            let batches = batches(&questions, self.batch);
            for (at, questions) in batches.iter().enumerate() {
                let share = (epoch as f64 + at as f64 / batches.len() as f64) / epochs as f64;
                task.tell("training", share)?;
                task.pool.run(|| trainer.step(self.rate_in(epoch), &relations, questions));
            }
        }
        let mut vectors = trainer.model.entities;
        clear_isolated(task.network, &mut vectors, task.dim);
        task.tell("training", 1.0)?;
        Ok(Found { vectors, ..Found::default() })
    }
}

impl TuckEr {
    fn rate_in(&self, epoch: usize) -> f64 {
        self.rate * self.decay.powi(i32::try_from(epoch).unwrap_or(i32::MAX))
    }

    /// The dropout of a training with this many epochs.
    fn dropout_in(&self, epochs: usize) -> [f64; 3] {
        self.dropout.unwrap_or(if epochs < MANY_EPOCHS { [0.0; 3] } else { DROPOUT })
    }

    /// Returns the smoothed targets.
    fn targets(&self, nodes: usize) -> Targets {
        let share = 1.0 / nodes as f64;
        let other = match self.smoothing_by {
            _ if self.smoothing == 0.0 => 0.0,
            Smoothing::Code => share,
            Smoothing::Epsilon => self.smoothing * share,
        };
        Targets { known: 1.0 - self.smoothing + other, other }
    }
}

/// The model, its gradient and the state of Adam.
struct Trainer<T> {
    model: Parameters<T>,
    gradient: Parameters<T>,
    adams: [Adam<T>; 7],
    drops: Drops<T>,
    targets: Targets,
    key: Key,
    steps: usize,
}

impl<T: Real> Trainer<T> {
    fn new(settings: &TuckEr, dropout: [f64; 3], task: &Task<'_, '_>, relations: &Relations<'_>) -> Self {
        let (nodes, dim) = (task.network.nodes().len(), task.dim);
        let shape = Shape { nodes, relations: relations.len(), dim, relation_dim: settings.relation_dim };
        let model = Parameters::start(shape, task.key("start"), &relations.start_keys());
        let adams = model.tables().map(|table| Adam::new(table.len()));
        let gradient = Parameters::zeros(shape);
        let (drops, targets) = (Drops::new(dropout), settings.targets(nodes));
        Trainer { model, gradient, adams, drops, targets, key: task.key("dropout"), steps: 0 }
    }

    /// Runs one step of Adam.
    fn step(&mut self, rate: f64, relations: &Relations<'_>, questions: &[Question]) {
        self.steps += 1;
        let known: Vec<&[u32]> = questions.iter().map(|&question| relations.known(question)).collect();
        let key = self.key.with(self.steps as u64);
        let batch = Batch { questions, known: &known, targets: self.targets, key };
        let forward = pass::forward(&self.model, self.drops, &batch);
        pass::backward(&self.model, self.drops, &batch, forward, &mut self.gradient);
        let stride = Stride::new(rate, self.steps);
        let tables = self.model.tables_mut().into_iter().zip(self.gradient.tables());
        for ((table, gradient), adam) in tables.zip(&mut self.adams) {
            adam.step(stride, table, gradient);
        }
    }
}

/// Sets the vectors of nodes without edges to zero.
fn clear_isolated(network: &Network, vectors: &mut [f32], dim: usize) {
    let mut touched = vec![false; network.nodes().len()];
    for view in network.views() {
        for node in 0..touched.len() {
            let objects = view.adjacency.row(node).0;
            touched[node] |= !objects.is_empty();
            objects.iter().for_each(|&object| touched[object as usize] = true);
        }
    }
    let rows = vectors.chunks_exact_mut(dim).zip(&touched);
    rows.filter(|(_, touched)| !**touched).for_each(|(row, _)| row.fill(0.0));
}

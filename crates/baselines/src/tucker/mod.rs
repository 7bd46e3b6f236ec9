//! TuckER: the views as one tensor (subject x relation x object), decomposed after Tucker.
//!
//! `P(s, r, o) = sigmoid(W x_1 w_r x_2 e_s x_3 e_o)`: nodes are entities, views are relations, edges are the triples known
//! to hold (weights are ignored). A question (s, r) is scored against all nodes at once; the loss is binary
//! cross-entropy. The embedding is E, before any normalization.
//!
//! After Balazevic, Allen and Hospedales (2019): batch normalization, three dropouts, Adam, smoothed labels. There is no
//! held-out set: link prediction is not the aim, and training goes on for a fixed number of epochs.

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

use serde::{Deserialize, Serialize};

use self::adam::{Adam, Stride};
use self::loss::Targets;
use self::model::{Parameters, Shape};
use self::pass::{Batch, Drops};
use self::questions::{Question, Relations, batches};
use super::{Found, Rival, Task};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Real;
use manyview_base::named;
use manyview_base::random::Key;
use manyview_data::network::Network;

/// Epochs when nobody says how many, and the steps that there are at least.
const EPOCHS: usize = 20;
const STEPS: usize = 2000;

/// Settings of TuckER.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuckEr {
    /// How often every question (node, relation) is asked; when not given, 20 times, and more often in small networks, so
    /// that there are 2,000 steps.
    pub epochs: Option<usize>,
    /// Questions in a batch.
    pub batch: usize,
    /// Rate of Adam in the first epoch.
    pub rate: f64,
    /// What the rate is multiplied by after each epoch.
    pub decay: f64,
    /// Length of a relation's vector.
    pub relation_dim: usize,
    /// Chances of being dropped: input, each question's matrix, hidden layer.
    pub dropout: [f64; 3],
    /// How much of a known edge's target is taken away.
    pub smoothing: f64,
    /// What all targets gain when `smoothing` is above 0.
    pub smoothing_by: Smoothing,
    /// Whether each view is a second relation backwards; when not given, directed ones are. In undirected views that says
    /// everything twice; the original does it.
    pub reverse: Option<bool>,
}

/// What all targets gain with smoothed labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smoothing {
    /// One over the number of nodes, whatever the smoothing: the original's program.
    Code,
    /// The smoothing over the number of nodes: targets keep their sum.
    Epsilon,
}

named! { Smoothing:
    Code = "code", "1 / nodes, as in the original's program";
    Epsilon = "epsilon", "smoothing / nodes, so that targets keep their sum";
}

impl Default for TuckEr {
    fn default() -> Self {
        TuckEr { epochs: None, rate: 3e-3, relation_dim: 30, reverse: None, ..TuckEr::paper() }
    }
}

impl Rival for TuckEr {
    fn paper() -> Self {
        TuckEr {
            epochs: Some(500),
            batch: 128,
            rate: 5e-4,
            decay: 1.0,
            relation_dim: 200,
            dropout: [0.3, 0.4, 0.5],
            smoothing: 0.1,
            smoothing_by: Smoothing::Code,
            reverse: Some(true),
        }
    }

    fn check(&self) -> Result<()> {
        let complain = |sentence: String| Err(Error::config(sentence));
        if self.epochs == Some(0) {
            return complain("epochs = 0: at least one is needed; the usual choice is 20".into());
        }
        if self.batch < 2 {
            let batch = self.batch;
            return complain(format!(
                "batch = {batch} is too small to normalize; use 2 or more, usually 128"
            ));
        }
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            let rate = self.rate;
            return complain(format!("rate = {rate} is not above 0; the usual choice is 0.003"));
        }
        if !(self.decay > 0.0 && self.decay <= 1.0) {
            let decay = self.decay;
            return complain(format!("decay = {decay} is not above 0 and up to 1; 1 keeps the rate"));
        }
        if self.relation_dim == 0 || self.relation_dim > 1 << 12 {
            let dim = self.relation_dim;
            return complain(format!(
                "relation_dim = {dim} makes no sense; the usual choices are 30 and 200"
            ));
        }
        if let Some(chance) = self.dropout.iter().find(|chance| !(0.0..1.0).contains(*chance)) {
            return complain(format!("dropout has {chance}, which is not from 0 to below 1; use 0 for none"));
        }
        if !(0.0..1.0).contains(&self.smoothing) {
            let smoothing = self.smoothing;
            return complain(format!(
                "smoothing = {smoothing} is not from 0 to below 1; the usual choice is 0.1"
            ));
        }
        Ok(())
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let relations = Relations::new(task, self.reverse);
        let mut trainer = Trainer::<f32>::new(self, task, &relations);
        let epochs = self.epochs.unwrap_or_else(|| {
            let steps = relations.ordered(0).len().div_ceil(self.batch).max(1);
            EPOCHS.max(STEPS.div_ceil(steps))
        });
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

    /// Smoothed targets.
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

/// The model, its gradient and what Adam remembers.
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
    fn new(settings: &TuckEr, task: &Task<'_, '_>, relations: &Relations<'_>) -> Self {
        let (nodes, dim) = (task.network.nodes().len(), task.dim);
        let shape = Shape { nodes, relations: relations.len(), dim, relation_dim: settings.relation_dim };
        let model = Parameters::start(shape, task.key("start"), &relations.start_keys());
        let adams = model.tables().map(|table| Adam::new(table.len()));
        let gradient = Parameters::zeros(shape);
        let (drops, targets) = (Drops::new(settings.dropout), settings.targets(nodes));
        Trainer { model, gradient, adams, drops, targets, key: task.key("dropout"), steps: 0 }
    }

    /// One step of Adam.
    fn step(&mut self, rate: f64, relations: &Relations<'_>, questions: &[Question]) {
        self.steps += 1;
        let known: Vec<&[u32]> = questions.iter().map(|&question| relations.known(question)).collect();
        let key = self.key.with(self.steps as u64);
        let batch = Batch { questions, known: &known, targets: self.targets, key };
        let there = pass::forward(&self.model, self.drops, &batch);
        pass::backward(&self.model, self.drops, &batch, there, &mut self.gradient);
        let stride = Stride::new(rate, self.steps);
        let tables = self.model.tables_mut().into_iter().zip(self.gradient.tables());
        for ((table, gradient), adam) in tables.zip(&mut self.adams) {
            adam.step(stride, table, gradient);
        }
    }
}

/// Nodes without an edge get zeros.
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

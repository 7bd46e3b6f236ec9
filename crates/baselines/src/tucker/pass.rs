//! The forward pass, from a batch of questions to the logits of all nodes, and the backward pass to the gradient of
//! every parameter.
//!
//! `x = drop(norm(e_s))`, `h = drop(norm(x (B_r o M)))`, logits `E h`. The gradient of E has two parts: a dense one
//! from the logits, and a row for each subject.

use super::contraction::{self, Samples};
use super::dropout::Dropout;
use super::loss::{self, Targets};
use super::model::Parameters;
use super::norm::{self, Normed};
use super::questions::Question;
use manyview_base::linalg::Real;
use manyview_base::linalg::gemm::{Operand, product};
use manyview_base::random::Key;

/// The dropout of the input, of the matrix of each sample, and of the hidden layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drops<T> {
    pub(super) input: Option<Dropout<T>>,
    pub(super) matrix: Option<Dropout<T>>,
    pub(super) hidden: Option<Dropout<T>>,
}

impl<T: Real> Drops<T> {
    pub(super) fn new(chances: [f64; 3]) -> Self {
        let [input, matrix, hidden] = chances.map(Dropout::new);
        Drops { input, matrix, hidden }
    }
}

/// A batch of questions, and the known answers of each.
pub(super) struct Batch<'a> {
    pub(super) questions: &'a [Question],
    pub(super) known: &'a [&'a [u32]],
    pub(super) targets: Targets,
    /// The random numbers of its dropout.
    pub(super) key: Key,
}

/// What the backward pass needs of the forward pass.
pub(super) struct Forward<T> {
    relations: Vec<u32>,
    matrices: Vec<T>,
    input_norm: Normed<T>,
    input_factors: Vec<T>,
    inputs: Vec<T>,
    hidden_norm: Normed<T>,
    hidden_factors: Vec<T>,
    hidden: Vec<T>,
    /// A row of all nodes for each question.
    pub(super) logits: Vec<T>,
}

/// Computes the logits of a batch, on the threads of the current pool.
pub(super) fn forward<T: Real>(model: &Parameters<T>, drops: Drops<T>, batch: &Batch<'_>) -> Forward<T> {
    let (dim, count) = (model.shape.dim, batch.questions.len());
    let relations: Vec<u32> = batch.questions.iter().map(|question| question.relation).collect();
    let row = |question: &Question| &model.entities[question.subject as usize * dim..][..dim];
    let mut inputs: Vec<T> = batch.questions.iter().flat_map(row).copied().collect();
    let input_norm = norm::forward(&mut inputs, &model.input_scale, &model.input_shift);
    let input_factors = Dropout::rows(drops.input, batch.key.with(0), count, dim);
    multiply(&mut inputs, &input_factors);

    let matrices = contraction::matrices(model);
    let samples = samples(&inputs, &input_factors, &relations, drops, batch);
    let mut hidden = contraction::forward(&matrices, model.shape.relations, dim, &samples);
    let hidden_norm = norm::forward(&mut hidden, &model.hidden_scale, &model.hidden_shift);
    let hidden_factors = Dropout::rows(drops.hidden, batch.key.with(2), count, dim);
    multiply(&mut hidden, &hidden_factors);

    let mut logits = vec![T::ZERO; count * model.shape.nodes];
    product(Operand::new(&hidden, dim), Operand::new(&model.entities, dim).transposed(), &mut logits);
    Forward {
        relations,
        matrices,
        input_norm,
        input_factors,
        inputs,
        hidden_norm,
        hidden_factors,
        hidden,
        logits,
    }
}

/// Writes the gradient of the batch's loss to `gradient`.
pub(super) fn backward<T: Real>(
    model: &Parameters<T>,
    drops: Drops<T>,
    batch: &Batch<'_>,
    mut forward: Forward<T>,
    gradient: &mut Parameters<T>,
) {
    let (dim, nodes) = (model.shape.dim, model.shape.nodes);
    loss::to_gradients(&mut forward.logits, nodes, batch.known, batch.targets);
    let d_logits = Operand::new(&forward.logits, nodes);
    product(d_logits.transposed(), Operand::new(&forward.hidden, dim), &mut gradient.entities);
    let mut d_hidden = forward.hidden.clone();
    product(d_logits, Operand::new(&model.entities, dim), &mut d_hidden);

    multiply(&mut d_hidden, &forward.hidden_factors);
    let (scale, shift) = (&mut gradient.hidden_scale, &mut gradient.hidden_shift);
    norm::backward(&forward.hidden_norm, &model.hidden_scale, &mut d_hidden, scale, shift);
    let samples = samples(&forward.inputs, &forward.input_factors, &forward.relations, drops, batch);
    let mut d_inputs = contraction::backward(model, &forward.matrices, &samples, &d_hidden, gradient);
    multiply(&mut d_inputs, &forward.input_factors);
    let (scale, shift) = (&mut gradient.input_scale, &mut gradient.input_shift);
    norm::backward(&forward.input_norm, &model.input_scale, &mut d_inputs, scale, shift);
    for (question, row) in batch.questions.iter().zip(d_inputs.chunks_exact(dim)) {
        let sums = &mut gradient.entities[question.subject as usize * dim..][..dim];
        sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += x);
    }
}

fn samples<'a, T: Real>(
    inputs: &'a [T],
    input_factors: &'a [T],
    relations: &'a [u32],
    drops: Drops<T>,
    batch: &Batch<'_>,
) -> Samples<'a, T> {
    Samples { inputs, input_factors, relations, dropout: drops.matrix, key: batch.key.with(1) }
}

fn multiply<T: Real>(numbers: &mut [T], factors: &[T]) {
    numbers.iter_mut().zip(factors).for_each(|(number, &factor)| *number *= factor);
}

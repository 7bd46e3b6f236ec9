//! The contraction of the core tensor with a relation and a subject, and its gradient.
//!
//! Relation r has the matrix `B_r = sum_q w_rq W_q`. A sample with input x and relation r becomes `y = x (B_r o M)`,
//! where M is the sample's own dropout. In the backward pass, with g the gradient of y: `dx_i = sum_j (B o M)_ij g_j`,
//! `dB_ij = sum over samples x_i M_ij g_j`, `dW_q = sum_r w_rq dB_r`, and `dw_rq = <W_q, dB_r>`.
//!
//! Invariant: in the forward pass, each sample is computed by one thread; in the backward pass, each dimension i of the
//! subject is, with all samples in order.

use rayon::prelude::*;

use super::dropout::Dropout;
use super::model::Parameters;
use manyview_base::linalg::Real;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::add_multiple;
use manyview_base::random::Key;

/// The number of dimensions of the subject per task.
const LINES: usize = 8;

/// The number of partial sums of an inner product.
const LANES: usize = 16;

/// A batch of inputs of the contraction.
pub(super) struct Samples<'a, T> {
    /// A row of `dim` for each sample.
    pub(super) inputs: &'a [T],
    /// The factors by which dropout multiplied the inputs. Where they are zero, so is the gradient.
    pub(super) input_factors: &'a [T],
    /// The relation of each sample.
    pub(super) relations: &'a [u32],
    pub(super) dropout: Option<Dropout<T>>,
    /// The random numbers of the dropout of this batch.
    pub(super) key: Key,
}

/// Computes the matrices of all relations: by dimension of the subject, then relation, then dimension of the object.
pub(super) fn matrices<T: Real>(model: &Parameters<T>) -> Vec<T> {
    let (dim, width, relations) = (model.shape.dim, model.shape.relation_dim, model.shape.relations);
    let mut matrices = manyview_base::memory::zeros(dim * relations * dim);
    let lines = matrices.par_chunks_mut(relations * dim).zip(model.core.par_chunks(width * dim));
    lines.for_each(|(line, core)| {
        for (row, weights) in line.chunks_exact_mut(dim).zip(model.relations.chunks_exact(width)) {
            vectorized(
                #[inline(always)]
                || {
                    weights
                        .iter()
                        .zip(core.chunks_exact(dim))
                        .for_each(|(&w, core)| add_multiple(row, w, core))
                },
            );
        }
    });
    matrices
}

/// Computes `x (B_r o M)` for each sample.
pub(super) fn forward<T: Real>(
    matrices: &[T],
    relations: usize,
    dim: usize,
    samples: &Samples<'_, T>,
) -> Vec<T> {
    let mut out = vec![T::ZERO; samples.inputs.len()];
    let rows = out.par_chunks_exact_mut(dim).zip(samples.inputs.par_chunks_exact(dim)).enumerate();
    rows.for_each_init(
        || Mask::new(dim),
        |mask, (sample, (out, input))| {
            let relation = samples.relations[sample] as usize;
            vectorized(
                #[inline(always)]
                || {
                    for (line, &x) in input.iter().enumerate() {
                        let row = &matrices[(line * relations + relation) * dim..][..dim];
                        match mask.of(samples, sample, line) {
                            _ if x == T::ZERO => {}
                            None => add_multiple(out, x, row),
                            Some(factors) => add_masked(out, x, row, factors),
                        }
                    }
                },
            );
        },
    );
    out
}

/// Writes the gradients of core and relations to `gradient` and returns that of the inputs.
pub(super) fn backward<T: Real>(
    model: &Parameters<T>,
    matrices: &[T],
    samples: &Samples<'_, T>,
    d_out: &[T],
    gradient: &mut Parameters<T>,
) -> Vec<T> {
    let (dim, width, relations) = (model.shape.dim, model.shape.relation_dim, model.shape.relations);
    let batch = samples.relations.len();
    // By dimension first, so that each task writes one contiguous piece.
    let mut d_inputs_t = vec![T::ZERO; dim * batch];
    let tasks = d_inputs_t
        .par_chunks_mut(LINES * batch)
        .zip(gradient.core.par_chunks_mut(LINES * width * dim))
        .zip(model.core.par_chunks(LINES * width * dim))
        .enumerate();
    let of_task = tasks.map(|(task, ((d_inputs, d_core), core))| {
        let (mut mask, mut d_matrices) = (Mask::new(dim), vec![T::ZERO; relations * dim]);
        let mut d_relations = vec![T::ZERO; relations * width];
        let lines = d_inputs.chunks_exact_mut(batch).zip(d_core.chunks_exact_mut(width * dim));
        for (at, ((d_inputs, d_core), core)) in lines.zip(core.chunks_exact(width * dim)).enumerate() {
            let line = task * LINES + at;
            let rows = &matrices[line * relations * dim..][..relations * dim];
            d_matrices.fill(T::ZERO);
            vectorized(
                #[inline(always)]
                || {
                    line_backward(samples, line, rows, d_out, &mut mask, d_inputs, &mut d_matrices);
                    spread(&model.relations, core, &d_matrices, width, d_core, &mut d_relations);
                },
            );
        }
        d_relations
    });
    let parts: Vec<Vec<T>> = of_task.collect();
    gradient.relations.fill(T::ZERO);
    parts.iter().for_each(|part| gradient.relations.iter_mut().zip(part).for_each(|(sum, &x)| *sum += x));
    transpose(&d_inputs_t, batch)
}

/// Computes the gradients of one dimension of the inputs, and of the relations' matrices in it.
#[inline(always)]
fn line_backward<T: Real>(
    samples: &Samples<'_, T>,
    line: usize,
    rows: &[T],
    d_out: &[T],
    mask: &mut Mask<T>,
    d_inputs: &mut [T],
    d_matrices: &mut [T],
) {
    let dim = mask.factors.len();
    for (sample, d_out) in d_out.chunks_exact(dim).enumerate() {
        let (x, kept) = (samples.inputs[sample * dim + line], samples.input_factors[sample * dim + line]);
        if kept == T::ZERO {
            continue;
        }
        let relation = samples.relations[sample] as usize * dim;
        let (row, d_row) = (&rows[relation..][..dim], &mut d_matrices[relation..][..dim]);
        match mask.of(samples, sample, line) {
            None => {
                add_multiple(d_row, x, d_out);
                d_inputs[sample] = dot(row, d_out);
            }
            Some(factors) => {
                factors.iter_mut().zip(d_out).for_each(|(factor, &g)| *factor *= g);
                add_multiple(d_row, x, factors);
                d_inputs[sample] = dot(row, factors);
            }
        }
    }
}

/// Computes the gradients of core and relations from those of the relations' matrices, in one dimension of the subject.
#[inline(always)]
fn spread<T: Real>(
    relations: &[T],
    core: &[T],
    d_matrices: &[T],
    width: usize,
    d_core: &mut [T],
    d_relations: &mut [T],
) {
    let dim = core.len() / width;
    d_core.fill(T::ZERO);
    let each = relations.chunks_exact(width).zip(d_relations.chunks_exact_mut(width));
    for ((weights, d_weights), d_matrix) in each.zip(d_matrices.chunks_exact(dim)) {
        let slices = core.chunks_exact(dim).zip(d_core.chunks_exact_mut(dim));
        for ((&weight, d_weight), (core, d_core)) in weights.iter().zip(d_weights).zip(slices) {
            add_multiple(d_core, weight, d_matrix);
            *d_weight += dot(core, d_matrix);
        }
    }
}

/// Buffers for the dropout of one row.
struct Mask<T> {
    words: Vec<u64>,
    factors: Vec<T>,
}

impl<T: Real> Mask<T> {
    fn new(dim: usize) -> Self {
        Mask { words: Dropout::<T>::room(dim), factors: vec![T::ONE; dim] }
    }

    /// Returns the row of a sample's dropout; `None` if there is no dropout.
    #[inline(always)]
    fn of(&mut self, samples: &Samples<'_, T>, sample: usize, line: usize) -> Option<&mut [T]> {
        let dropout = samples.dropout?;
        let key = samples.key.with(sample as u64).with(line as u64);
        dropout.fill(key, &mut self.words, &mut self.factors);
        Some(&mut self.factors)
    }
}

#[inline(always)]
fn add_masked<T: Real>(sum: &mut [T], factor: T, x: &[T], mask: &[T]) {
    sum.iter_mut().zip(x).zip(mask).for_each(|((sum, &x), &mask)| *sum += factor * (mask * x));
}

/// Computes the inner product, with twice the lanes of `linalg::vector`: numbers are half as wide, and this is the
/// inner loop.
#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::ZERO; LANES];
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        let (old, a, b) = (sums, *a, *b);
        sums = std::array::from_fn(|lane| old[lane] + a[lane] * b[lane]);
    }
    let rest: T = a_rest.iter().zip(b_rest).map(|(&a, &b)| a * b).sum();
    sums.into_iter().sum::<T>() + rest
}

/// Transposes a matrix with rows of `cols`.
fn transpose<T: Real>(matrix: &[T], cols: usize) -> Vec<T> {
    (0..cols).flat_map(|col| matrix.iter().skip(col).step_by(cols).copied()).collect()
}

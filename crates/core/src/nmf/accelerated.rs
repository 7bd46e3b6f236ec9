//! HALS with extrapolation, several sweeps per product, and a restart that keeps the objective from rising.
//!
//! A product with the matrix costs far more than an update from it, so each factor gets [`SWEEPS`] sweeps per product,
//! and both factors are moved on along their last step, by a share `beta` of it:
//!
//! ```text
//! U'  = sweeps of U with R V_yᵀ;      U_y = max(U' + beta (U' - U'_before), 0)
//! V'  = sweeps of V_y with U_yᵀ R;    V_y = max(V' + beta (V' - N V'_before), 0)
//! ```
//!
//! N is a diagonal matrix that gives each row of `V'_before` the norm that it has in `V'`: a pair of factors is only defined up to
//! the scale of its columns, and extrapolating that scale as well would let V fade out and U grow without bound.
//!
//! The error of `(U_y, V')` needs no pass, since `U_yᵀ R` is known. If the objective rises, the iteration is discarded and
//! the next one is a plain step from the best pair, which cannot raise it; `beta` shrinks. Otherwise `beta` grows.
//!
//! Invariant: `u` and `v_t` are the pair with the lowest objective so far, for the present view weights.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::problem::{Problem, norms, numerators_of_rows, rounded, weighted_gram};
use super::sample;
use super::stop::{Convergence, Rise};
use super::update::{Rule, update_rows};
use super::weights::{log_objective, view_weights};
use super::{Factors, Iteration, Start, Target};
use crate::comm;
use manyview_base::error::{Error, Result};
use manyview_base::linalg::gram::{gram, inner};
use manyview_base::linalg::{BLOCK_ROWS, Dense, Real};

/// Sweeps of each factor per product. Three and four were no better on mfeat and mixed on worm_ppi (one seed).
const SWEEPS: usize = 2;

/// Factorizes until convergence.
pub(super) fn iterate<T: Real>(
    problem: &Problem<'_, T>,
    start: Start<T>,
    observer: &mut dyn FnMut(Iteration<'_>) -> ControlFlow<()>,
) -> Result<Factors<T>> {
    let settings = problem.settings;
    let mut descent = sample::start(problem, start);
    let mut objective = Vec::new();
    let norms_in_units = problem.norms_in_units();
    let (mut convergence, mut rise) = (Convergence::new(settings, &norms_in_units), Rise::new(settings));
    let mut converged = false;
    for iteration in 1..=settings.max_iter {
        let step = descent.step(problem);
        let measured = problem.measured(&descent.errors);
        let log = log_objective(&descent.weights, &measured, settings.gamma);
        objective.push(libm::exp(log));
        rise.record(&measured, &norms_in_units);
        let (error, weights) = (problem.share_left(&descent.errors), &descent.weights);
        let asked_to_end =
            observer(Iteration { iteration, error, errors: &descent.errors, weights }).is_break();
        let reached = match step {
            Step::Accepted => {
                convergence.reached(iteration, log, weights, &measured, descent.numerators.rows())
            }
            Step::Rejected => false,
            // A plain step rose, which only rounding can do: there is nothing left to gain.
            Step::Stuck => true,
        };
        let [interrupted, ended] = problem.vote([asked_to_end, reached]);
        if interrupted {
            return Err(Error::Interrupted);
        }
        converged = ended;
        if converged {
            break;
        }
    }
    converged &= !rise.is_above_lowest();
    Ok(descent.into_factors(objective, converged))
}

/// What became of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// The objective fell.
    Accepted,
    /// It rose, so the iteration was discarded; the next one is a plain step.
    Rejected,
    /// It rose in a plain step.
    Stuck,
}

/// The state of the iterations.
pub(super) struct Descent<T> {
    /// The best pair; `u` is extrapolated.
    pub(super) u: Dense<T>,
    pub(super) v_t: Vec<Dense<T>>,
    /// `u` before its extrapolation.
    u_plain: Dense<T>,
    /// U of the iteration that is being made.
    u_next: Dense<T>,
    /// The V that an iteration begins with, and then the one that it ends with.
    v_next: Vec<Dense<T>>,
    gram_u: Vec<f64>,
    gram_v: Vec<Vec<f64>>,
    gram_next: Vec<Vec<f64>>,
    numerators: Dense<T>,
    /// The view weights, and the errors of the best pair.
    pub(super) weights: Vec<f64>,
    pub(super) errors: Vec<f64>,
    momentum: Momentum,
    /// Sweeps of U in the next iteration.
    pub(super) u_sweeps: usize,
}

impl<T: Real> Descent<T> {
    pub(super) fn new(problem: &Problem<'_, T>, start: Start<T>, weights: Vec<f64>) -> Self {
        let Start { u, v_t } = start;
        let gram_v: Vec<Vec<f64>> = problem.pool.run(|| v_t.iter().map(gram).collect());
        Descent {
            u_plain: u.clone(),
            u_next: Dense::zeros(u.rows(), u.width()),
            v_next: v_t.clone(),
            gram_u: problem.pool.run(|| gram(&u)),
            gram_next: gram_v.clone(),
            gram_v,
            numerators: Dense::zeros(v_t.first().map_or(0, Dense::rows), u.width()),
            errors: vec![f64::INFINITY; weights.len()],
            weights,
            momentum: Momentum::new(),
            u_sweeps: SWEEPS,
            u,
            v_t,
        }
    }

    /// Makes one iteration.
    pub(super) fn step(&mut self, problem: &Problem<'_, T>) -> Step {
        let beta = self.momentum.now();
        let (gram_u, errors) = self.try_step(problem, beta);
        // Compared for the same weights: those that follow from the new errors lower the objective further.
        let rose = self.log_objective(problem, &errors) > self.log_objective(problem, &self.errors);
        let uneven = exponents(&gram_u, &self.gram_next).iter().any(|&exponent| exponent != 0.0);
        let [rose, uneven] = problem.vote([rose, uneven]);
        if rose {
            self.restart();
            return if beta == 0.0 { Step::Stuck } else { Step::Rejected };
        }
        self.accept(problem, gram_u, errors);
        if uneven {
            self.rebalance(problem);
        }
        Step::Accepted
    }

    /// Computes `u_next` and the new V in `v_next`; returns the Gram matrix of the one, and the errors.
    ///
    /// Work is handed to the pool as seldom as possible: each time takes as long as a product of a small network.
    fn try_step(&mut self, problem: &Problem<'_, T>, beta: f64) -> (Vec<f64>, Vec<f64>) {
        let (targets, pool) = (problem.targets, problem.pool);
        let rows = problem.rows_together();
        let shares = problem.view_shares(&self.weights);
        let gram_sum = weighted_gram::<T>(&self.gram_next, &shares);
        let mut gram_u = pool.run(|| {
            self.update_u(targets, rows, &shares, &gram_sum, T::from_f64(beta));
            gram(&self.u_next)
        });
        self.u_sweeps = SWEEPS;
        comm::all_reduce_sum(problem.comm, &mut gram_u);
        let gram_t: Vec<T> = rounded(&gram_u);
        let mut errors = Vec::with_capacity(targets.len());
        for (k, v_t) in self.v_next.iter_mut().enumerate() {
            problem.transposed_numerators(k, &self.u_next, &mut self.numerators);
            let cross;
            (self.gram_next[k], cross) = pool.run(|| {
                update_v(v_t, &self.numerators, &gram_t);
                (gram(v_t), inner(v_t.padded(), self.numerators.padded()))
            });
            errors.push(problem.error(k, cross, &gram_u, &self.gram_next[k]));
        }
        (gram_u, errors)
    }

    /// Updates U, so many rows at a time, as soon as their products are known.
    fn update_u(&mut self, targets: &[Target<'_, T>], rows: usize, shares: &[f64], gram_sum: &[T], beta: T) {
        let stride = self.u.stride();
        let block_len = rows * stride;
        let rule = Rule::Descend { sweeps: self.u_sweeps };
        let v_t = &self.v_next;
        let scratch = || (vec![T::ZERO; block_len], vec![T::ZERO; block_len]);
        let next = self.u_next.padded_mut().par_chunks_mut(block_len);
        let plain = self.u_plain.padded_mut().par_chunks_mut(block_len);
        let blocks = self.u.padded().par_chunks(block_len).zip(next).zip(plain);
        blocks.enumerate().for_each_init(scratch, |(sum, products), (block, ((u, next), plain))| {
            let (sum, products) = (&mut sum[..u.len()], &mut products[..u.len()]);
            numerators_of_rows(targets, block * rows, v_t, shares, sum, products);
            next.copy_from_slice(u);
            update_rows(rule, next, sum, stride, gram_sum);
            extrapolate(next, plain, beta);
        });
    }

    fn log_objective(&self, problem: &Problem<'_, T>, errors: &[f64]) -> f64 {
        log_objective(&self.weights, &problem.measured(errors), problem.settings.gamma)
    }

    fn accept(&mut self, problem: &Problem<'_, T>, gram_u: Vec<f64>, errors: Vec<f64>) {
        std::mem::swap(&mut self.u, &mut self.u_next);
        (self.gram_u, self.errors) = (gram_u, errors);
        self.weights = view_weights(&problem.measured(&self.errors), problem.settings.gamma);
        let beta = T::from_f64(self.momentum.now());
        self.momentum.accepted();
        std::mem::swap(&mut self.gram_v, &mut self.gram_next);
        // Those of the new V, and of the one before.
        let grams = self.gram_v.iter().zip(&self.gram_next);
        let ratios: Vec<Vec<T>> = grams.map(|(new, before)| norm_ratios(new, before)).collect();
        self.gram_next = problem.pool.run(|| {
            for ((next, v_t), ratios) in self.v_next.iter_mut().zip(&mut self.v_t).zip(&ratios) {
                let (stride, chunk) = (next.stride(), BLOCK_ROWS * next.stride());
                let rows =
                    next.padded_mut().par_chunks_mut(chunk).zip(v_t.padded_mut().par_chunks_mut(chunk));
                rows.for_each(|(next, before)| {
                    for (next, before) in next.chunks_mut(stride).zip(before.chunks_mut(stride)) {
                        extrapolate_shape(next, before, ratios, beta);
                    }
                });
            }
            self.v_next.iter().map(gram).collect()
        });
    }

    /// Moves scale from one factor to the other in columns where their norms are far apart: the columns of a matrix of low rank that
    /// are not needed fade out in one of them. Powers of two change no digit of a product.
    fn rebalance(&mut self, problem: &Problem<'_, T>) {
        let mut exponents = exponents(&self.gram_u, &self.gram_v);
        // All ranks use those of the first, as in a vote.
        if problem.comm.rank() > 0 {
            exponents.fill(0.0);
        }
        comm::all_reduce_sum(problem.comm, &mut exponents);
        let [up, down]: [Vec<f64>; 2] =
            [1.0, -1.0].map(|sign| exponents.iter().map(|exponent| libm::exp2(sign * exponent)).collect());
        self.u.scale_columns(&down);
        self.u_plain.scale_columns(&down);
        self.v_t.iter_mut().chain(&mut self.v_next).for_each(|v_t| v_t.scale_columns(&up));
        scale_gram(&mut self.gram_u, &down);
        self.gram_v.iter_mut().chain(&mut self.gram_next).for_each(|gram| scale_gram(gram, &up));
    }

    /// Discards an iteration.
    fn restart(&mut self) {
        self.u_plain.padded_mut().copy_from_slice(self.u.padded());
        for (next, v_t) in self.v_next.iter_mut().zip(&self.v_t) {
            next.padded_mut().copy_from_slice(v_t.padded());
        }
        self.gram_next.clone_from(&self.gram_v);
        self.momentum.rejected();
    }

    fn into_factors(self, objective: Vec<f64>, converged: bool) -> Factors<T> {
        let (u_norms, v_norms) = (norms(&self.gram_u), self.gram_v.iter().map(|gram| norms(gram)).collect());
        let Descent { u, v_t, weights, errors, .. } = self;
        Factors { u, v_t, weights, errors, objective, converged, u_norms, v_norms }
    }
}

/// Replaces `next` by `max(next + beta (next - before), 0)`, and `before` by `next`.
fn extrapolate<T: Real>(next: &mut [T], before: &mut [T], beta: T) {
    for (next, before) in next.iter_mut().zip(before) {
        let new = *next;
        let moved = new + beta * (new - *before);
        *next = if moved > T::ZERO { moved } else { T::ZERO };
        *before = new;
    }
}

/// The same for one row, of which `before` is first multiplied by `ratios`.
fn extrapolate_shape<T: Real>(next: &mut [T], before: &mut [T], ratios: &[T], beta: T) {
    for ((next, before), &ratio) in next.iter_mut().zip(before).zip(ratios) {
        let new = *next;
        let moved = new + beta * (new - ratio * *before);
        *next = if moved > T::ZERO { moved } else { T::ZERO };
        *before = new;
    }
}

/// The norms of a column of U and of its row in V differ by at most this power of two before they are made alike.
const FAR_APART: f64 = 16.0;

/// For each column, the exponent of two that U is to be divided by, and V multiplied with; 0 if their norms are not far apart, or
/// one of them is zero.
fn exponents(gram_u: &[f64], gram_v: &[Vec<f64>]) -> Vec<f64> {
    let of_views: Vec<Vec<f64>> = gram_v.iter().map(|gram| norms(gram)).collect();
    let exponent = |(column, u): (usize, f64)| {
        let v = of_views.iter().map(|norms| norms[column]).fold(0.0, f64::max);
        let apart = libm::log2(u) - libm::log2(v);
        if apart.is_finite() && apart.abs() > FAR_APART { (apart / 2.0).round() } else { 0.0 }
    };
    norms(gram_u).into_iter().enumerate().map(exponent).collect()
}

/// Changes a Gram matrix as the columns of its factor.
fn scale_gram(gram: &mut [f64], scales: &[f64]) {
    for (row, &scale) in gram.chunks_mut(scales.len()).zip(scales) {
        row.iter_mut().zip(scales).for_each(|(x, other)| *x *= scale * other);
    }
}

/// The quotients of the norms of columns, given their Gram matrices; 1 for columns of zeros.
fn norm_ratios<T: Real>(new: &[f64], before: &[f64]) -> Vec<T> {
    let ratio = |(new, before): (f64, f64)| if before > 0.0 { new / before } else { 1.0 };
    norms(new).into_iter().zip(norms(before)).map(ratio).map(T::from_f64).collect()
}

fn update_v<T: Real>(v_t: &mut Dense<T>, numerators: &Dense<T>, gram_u: &[T]) {
    let stride = v_t.stride();
    let chunk = BLOCK_ROWS * stride;
    let rule = Rule::Descend { sweeps: SWEEPS };
    let rows = v_t.padded_mut().par_chunks_mut(chunk).zip(numerators.padded().par_chunks(chunk));
    rows.for_each(|(v_rows, numerators)| update_rows(rule, v_rows, numerators, stride, gram_u));
}

/// How far the factors are extrapolated.
struct Momentum {
    beta: f64,
    most: f64,
    last: f64,
    plain: bool,
}

impl Momentum {
    fn new() -> Self {
        Momentum { beta: 0.5, most: 1.0, last: 0.5, plain: true }
    }

    /// The share for this iteration; 0 in the first and after a restart.
    fn now(&self) -> f64 {
        if self.plain { 0.0 } else { self.beta }
    }

    fn accepted(&mut self) {
        if !self.plain {
            self.last = self.beta;
            self.beta = (1.05 * self.beta).min(self.most);
            self.most = (1.01 * self.most).min(1.0);
        }
        self.plain = false;
    }

    fn rejected(&mut self) {
        if !self.plain {
            self.most = self.last;
            self.beta /= 1.5;
        }
        self.plain = true;
    }
}

//! One stage: a joint factorization of several sparse matrices with a common left factor.
//!
//! Minimizes `sum_k alpha_k^gamma ||R_k - U V_k||^2` over U, V_k >= 0 and alpha on the simplex. With one target this is
//! plain NMF, so the unique stage is the consensus stage on one view. A target may be a sum of matrices, `R = R_1 + R_2
//! + ...`, which is never computed: its products with factors are sums too.
//!
//! One iteration, in the paper's order: U, then every V_k with the new U, then alpha from the new errors. Each block of
//! rows of U is updated as soon as its rows of `R V_kᵀ` are computed. The error needs no additional pass: `||R - U
//! V||^2 = ||R||^2 - 2 <V, Uᵀ R> + <UᵀU, V Vᵀ>`, and the numerators `Uᵀ R` are already known.
//!
//! HALS computes in the type of the matrices, usually f32. Multiplicative updates need the range of f64, so the factors of
//! `mu` are in f64 until the stage ends: a number that fades out is multiplied by a small quotient in every iteration and
//! may have to grow again by the same path. In f32 it would become zero, which is final, or its quotient would overflow,
//! and one infinity in U makes all of V zero.
//!
//! Notation: U is `nodes x d`; V is stored transposed as `v_t`, `nodes x d`; `gram_u = UᵀU`, `gram_v = V Vᵀ`.

mod choices;
mod init;
mod stop;
pub mod update;
mod weights;

use std::ops::ControlFlow;

use rayon::prelude::*;

pub use choices::{Solver, StopRule};
pub use init::Start;
pub use init::{StartMeans, random_start};
pub use weights::view_weights;

use crate::comm::{self, Comm, Local};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::gram::{add, gram, inner};
use manyview_base::linalg::kernels::add_products;
use manyview_base::linalg::products::transposed_times;
use manyview_base::linalg::{Dense, Real, Tiles};
use manyview_base::message::option;
use manyview_base::parallel::Pool;
use stop::{Convergence, Rise};
use update::{Rule, update_rows};
use weights::{SMALLEST_ERROR, log_objective, plain_powers, relative_powers};

/// A matrix to be approximated: the sum of its parts. With several ranks, this rank's rows of it.
#[derive(Clone, Debug)]
pub struct Target<'a, T> {
    parts: Vec<&'a Tiles<T>>,
    /// `||R||^2` over all ranks.
    squared_norm: f64,
    /// The unit of the error; `||R||^2` makes errors relative.
    unit: f64,
}

impl<'a, T: Real> Target<'a, T> {
    /// One matrix and its squared norm over all ranks.
    pub fn new(matrix: &'a Tiles<T>, squared_norm: f64) -> Self {
        Target { parts: vec![matrix], squared_norm, unit: 1.0 }
    }

    /// The sum of several matrices, and the squared norm of that sum over all ranks.
    pub fn sum_of(parts: Vec<&'a Tiles<T>>, squared_norm: f64) -> Self {
        Target { parts, squared_norm, unit: 1.0 }
    }

    /// The same target, with its error relative to its squared norm.
    pub fn relative(self) -> Self {
        Target { unit: self.squared_norm, ..self }
    }
}

/// The settings of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The update rule.
    pub solver: Solver,
    /// Exponent of the view weights, greater than 0; has no effect with one target.
    pub gamma: f64,
    /// Maximum number of iterations.
    pub max_iter: usize,
    /// Relative decrease of the objective at which the stage stops.
    pub tol: f64,
    /// The convergence criterion.
    pub stop: StopRule,
    /// Added to denominators, with unscaled view weights, as in the published code; 0 otherwise.
    pub epsilon: f64,
}

/// The result of a stage.
#[derive(Clone, Debug)]
pub struct Factors<T> {
    /// This rank's rows of U.
    pub u: Dense<T>,
    /// The V_k, transposed: one row per column of R_k.
    pub v_t: Vec<Dense<T>>,
    /// The view weights after the last iteration.
    pub weights: Vec<f64>,
    /// `||R_k - U V_k||^2` after the last iteration.
    pub errors: Vec<f64>,
    /// The objective after each iteration.
    pub objective: Vec<f64>,
    /// Whether the stage ended by the convergence criterion and not by `max_iter`, with an objective that did not rise
    /// and without columns of zeros.
    pub converged: bool,
    /// Norms of the columns of U over all ranks.
    pub u_norms: Vec<f64>,
    /// Norms of the rows of each V_k.
    pub v_norms: Vec<Vec<f64>>,
}

impl<T: Real> Factors<T> {
    /// The number of columns that explain nothing: U or all V are zero in them.
    pub fn zero_columns(&self) -> usize {
        // The norms may be those of numbers that were too small for this type.
        let zero = |norm: f64| T::from_f64(norm) == T::ZERO;
        let explains_nothing = |&column: &usize| {
            zero(self.u_norms[column]) || self.v_norms.iter().all(|norms| zero(norms[column]))
        };
        (0..self.u.width()).filter(explains_nothing).count()
    }

    /// The same factors in another type.
    fn converted<S: Real>(self) -> Factors<S> {
        let Factors { u, v_t, weights, errors, objective, converged, u_norms, v_norms } = self;
        let (u, v_t) = (u.converted(), v_t.iter().map(Dense::converted).collect());
        Factors { u, v_t, weights, errors, objective, converged, u_norms, v_norms }
    }

    /// One infinite number would make the residual wrong without a trace.
    fn check_finite(&self) -> Result<()> {
        let finite = |norm: &f64| T::from_f64(*norm).to_f64().is_finite();
        if self.u_norms.iter().chain(self.v_norms.iter().flatten()).all(finite) {
            return Ok(());
        }
        Err(Error::config(format!(
            "a factorization diverged: numbers exceed the range of their type; try another {}, or fewer columns",
            option("solver")
        )))
    }
}

/// The state after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'a> {
    /// The number of the iteration, from 1.
    pub iteration: usize,
    /// `sum_k ||R_k - U V_k||^2 / sum_k ||R_k||^2`.
    pub error: f64,
    /// `||R_k - U V_k||^2` of each target.
    pub errors: &'a [f64],
    /// The view weights.
    pub weights: &'a [f64],
}

/// Factorizes the targets, starting from the given factors.
///
/// All targets have as many rows as `start.u` and as many columns as `start.v_t` has rows. The time of an iteration is
/// proportional to the number of entries times the width.
///
/// # Panics
/// If shapes do not match, or a setting is out of range.
pub fn factorize<T: Real>(
    targets: &[Target<'_, T>],
    start: Start<T>,
    settings: &Settings,
    pool: &Pool,
) -> Factors<T> {
    factorize_watched(targets, start, settings, pool, &Local, &mut |_| ControlFlow::Continue(()))
        .expect("never interrupted")
}

/// Like [`factorize`], on the ranks of `comm`; the observer receives every iteration.
///
/// # Errors
/// `Error::Interrupted` if the observer breaks; `Error::Config` if numbers exceed the range of their type.
///
/// # Panics
/// As [`factorize`].
pub fn factorize_watched<T: Real>(
    targets: &[Target<'_, T>],
    start: Start<T>,
    settings: &Settings,
    pool: &Pool,
    comm: &dyn Comm,
    observer: &mut dyn FnMut(Iteration<'_>) -> ControlFlow<()>,
) -> Result<Factors<T>> {
    assert!(settings.gamma > 0.0, "gamma = {} must be greater than 0", settings.gamma);
    check_shapes(targets, &start);
    let mut factors = match settings.solver {
        Solver::Hals => iterate(targets, start, settings, pool, comm, observer)?,
        Solver::Mu => {
            let start =
                Start { u: start.u.converted(), v_t: start.v_t.iter().map(Dense::converted).collect() };
            iterate::<T, f64>(targets, start, settings, pool, comm, observer)?.converted()
        }
    };
    factors.check_finite()?;
    factors.converged &= factors.zero_columns() == 0;
    Ok(factors)
}

/// The iterations, with matrices of type `M` and factors of type `T`.
fn iterate<M: Real, T: Real>(
    targets: &[Target<'_, M>],
    start: Start<T>,
    settings: &Settings,
    pool: &Pool,
    comm: &dyn Comm,
    observer: &mut dyn FnMut(Iteration<'_>) -> ControlFlow<()>,
) -> Result<Factors<T>> {
    let rule = Rule { solver: settings.solver, epsilon: settings.epsilon };
    let units: Vec<f64> = targets.iter().map(|target| target.unit).collect();
    let norm_sum: f64 = targets.iter().map(|target| target.squared_norm).sum();

    let Start { mut u, mut v_t } = start;
    let mut numerators = Dense::zeros(v_t.first().map_or(0, Dense::rows), u.width());
    let mut gram_u = pool.run(|| gram(&u));
    let mut gram_v: Vec<Vec<f64>> = pool.run(|| v_t.iter().map(gram).collect());
    let mut weights = vec![1.0 / targets.len() as f64; targets.len()];
    let mut errors = vec![0.0; targets.len()];
    let mut objective = Vec::new();
    let (mut convergence, mut converged) = (Convergence::new(settings), false);
    let mut rise = Rise::new(settings);
    let norms_in_units: Vec<f64> = targets.iter().map(|target| target.squared_norm / target.unit).collect();

    for iteration in 1..=settings.max_iter {
        let shares = view_shares(&weights, &units, settings);
        let gram_sum = weighted_gram::<T>(&gram_v, &shares);
        pool.run(|| update_u(targets, &v_t, &shares, rule, &mut u, &gram_sum));
        gram_u = pool.run(|| gram(&u));
        comm::all_reduce_sum(comm, &mut gram_u);

        let gram_t: Vec<T> = gram_u.iter().map(|&x| T::from_f64(x)).collect();
        for (k, target) in targets.iter().enumerate() {
            pool.run(|| transposed_times(&target.parts, &u, &mut numerators, &|| true));
            comm::all_reduce_sum(comm, numerators.padded_mut());
            let cross = pool.run(|| {
                update_v(rule, &mut v_t[k], &numerators, &gram_t);
                gram_v[k] = gram(&v_t[k]);
                inner(v_t[k].padded(), numerators.padded())
            });
            let fitted: f64 = gram_u.iter().zip(&gram_v[k]).map(|(x, y)| x * y).sum();
            // Near an exact fit the terms cancel, and rounding may make the difference negative.
            errors[k] = (target.squared_norm - 2.0 * cross + fitted).max(0.0);
        }

        let measured = measured_errors(&errors, targets);
        rise.record(&measured, &norms_in_units);
        weights = view_weights(&measured, settings.gamma);
        let log = log_objective(&weights, &measured, settings.gamma);
        objective.push(libm::exp(log));
        let error = errors.iter().sum::<f64>() / norm_sum;
        let asked_to_end =
            observer(Iteration { iteration, error, errors: &errors, weights: &weights }).is_break();
        let reached = convergence.reached(iteration, log, &weights, &measured, numerators.rows());
        // All ranks end together. They have the same numbers, but MPI only recommends that sums are bitwise identical.
        let mut votes = [asked_to_end, reached].map(|vote| if vote { 1.0 } else { 0.0 });
        comm::all_reduce_sum(comm, &mut votes);
        if votes[0] > 0.0 {
            return Err(Error::Interrupted);
        }
        converged = votes[1] > 0.0;
        if converged {
            break;
        }
    }
    let diagonal =
        |gram: &Vec<f64>| (0..u.width()).map(|at| gram[at * u.width() + at].sqrt()).collect::<Vec<f64>>();
    let (u_norms, v_norms) = (diagonal(&gram_u), gram_v.iter().map(diagonal).collect());
    converged &= !rise.is_above_lowest();
    Ok(Factors { u, v_t, weights, errors, objective, converged, u_norms, v_norms })
}

fn check_shapes<T: Real>(targets: &[Target<'_, T>], start: &Start<T>) {
    assert!(!targets.is_empty(), "there must be at least one target");
    assert_eq!(targets.len(), start.v_t.len(), "there must be one V per target");
    for (target, v_t) in targets.iter().zip(&start.v_t) {
        assert_eq!(v_t.width(), start.u.width(), "U and V must have the same width");
        for part in &target.parts {
            assert_eq!(
                (part.rows(), part.cols()),
                (start.u.rows(), v_t.rows()),
                "U must have the rows of R, and V its columns"
            );
        }
        assert_eq!(v_t.rows(), start.v_t[0].rows(), "all targets must have the same columns");
    }
}

/// The factors of each view's numerators and Gram matrix in the update of U.
fn view_shares(weights: &[f64], units: &[f64], settings: &Settings) -> Vec<f64> {
    let in_units =
        |powers: Vec<f64>| powers.iter().zip(units).map(|(power, unit)| power / unit).collect::<Vec<f64>>();
    if settings.epsilon > 0.0 {
        return in_units(plain_powers(weights, settings.gamma));
    }
    let shares = in_units(relative_powers(weights, settings.gamma));
    // A common factor cancels; without this, f32 would have to represent squares of large norms.
    let largest = shares.iter().copied().fold(0.0, f64::max);
    shares.iter().map(|share| share / largest).collect()
}

fn weighted_gram<T: Real>(gram_v: &[Vec<f64>], shares: &[f64]) -> Vec<T> {
    let mut sum = vec![0.0; gram_v[0].len()];
    for (gram, share) in gram_v.iter().zip(shares) {
        add(&mut sum, &gram.iter().map(|x| x * share).collect::<Vec<f64>>());
    }
    sum.into_iter().map(T::from_f64).collect()
}

/// The errors in their units, with a lower bound that keeps weights and objective finite.
fn measured_errors<T: Real>(errors: &[f64], targets: &[Target<'_, T>]) -> Vec<f64> {
    let floored = |(&error, target): (&f64, &Target<'_, T>)| {
        error.max(SMALLEST_ERROR * target.squared_norm).max(f64::MIN_POSITIVE) / target.unit
    };
    errors.iter().zip(targets).map(floored).collect()
}

/// Updates U in blocks of rows: products with every view, weighted and summed, followed by the update.
fn update_u<M: Real, T: Real>(
    targets: &[Target<'_, M>],
    v_t: &[Dense<T>],
    shares: &[f64],
    rule: Rule,
    u: &mut Dense<T>,
    gram_sum: &[T],
) {
    let stride = u.stride();
    let block_len = manyview_base::linalg::BLOCK_ROWS * stride;
    let scratch = || (vec![T::ZERO; block_len], vec![T::ZERO; block_len]);
    u.padded_mut().par_chunks_mut(block_len).enumerate().for_each_init(
        scratch,
        |(sum, products), (block, u_rows)| {
            let (sum, products) = (&mut sum[..u_rows.len()], &mut products[..u_rows.len()]);
            sum.fill(T::ZERO);
            for ((target, v_t), &share) in targets.iter().zip(v_t).zip(shares) {
                if share == 0.0 {
                    continue;
                }
                products.fill(T::ZERO);
                for part in &target.parts {
                    add_products(&part.blocks()[block], part.panel(), v_t, products);
                }
                let share = T::from_f64(share);
                for (sum, &product) in sum.iter_mut().zip(products.iter()) {
                    *sum += share * product;
                }
            }
            update_rows(rule, u_rows, sum, stride, gram_sum);
        },
    );
}

fn update_v<T: Real>(rule: Rule, v_t: &mut Dense<T>, numerators: &Dense<T>, gram_u: &[T]) {
    let stride = v_t.stride();
    let chunk = manyview_base::linalg::BLOCK_ROWS * stride;
    let rows = v_t.padded_mut().par_chunks_mut(chunk).zip(numerators.padded().par_chunks(chunk));
    rows.for_each(|(v_rows, numerators)| update_rows(rule, v_rows, numerators, stride, gram_u));
}

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

mod accelerated;
mod choices;
mod init;
mod plain;
mod problem;
mod sample;
mod singular;
mod stop;
mod target;
pub mod update;
mod weights;

use std::ops::ControlFlow;

pub use choices::{Solver, StopRule};
pub use init::Start;
pub use init::{StartMeans, random_start};
pub use sample::sampled_share;
pub use singular::singular_start;
pub use target::Target;
pub use weights::view_weights;

use crate::comm::{Comm, Local};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::{Dense, Real};
use manyview_base::message::option;
use manyview_base::parallel::Pool;
use problem::Problem;
pub(crate) use problem::view_shares;
use update::Rule;

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
    let problem = Problem { targets, settings, pool, comm };
    let mut factors = match settings.solver {
        Solver::Accelerated => accelerated::iterate(&problem, start, observer)?,
        Solver::Hals => plain::iterate(&problem, Rule::Descend { sweeps: 1 }, start, observer)?,
        Solver::Mu => {
            let start =
                Start { u: start.u.converted(), v_t: start.v_t.iter().map(Dense::converted).collect() };
            let rule = Rule::Multiply { epsilon: settings.epsilon };
            plain::iterate::<T, f64>(&problem, rule, start, observer)?.converted()
        }
    };
    factors.check_finite()?;
    factors.converged &= factors.zero_columns() == 0;
    Ok(factors)
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

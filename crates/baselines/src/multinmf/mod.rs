//! MultiNMF: every view is factorized separately, and the factors of the nodes are pulled toward a consensus.
//!
//! Minimizes `sum_k ||X_k - U_k V_kᵀ||^2 + lambda ||V_k Q_k - V*||^2` over non-negative factors, where Q_k is the
//! diagonal matrix of the column sums of U_k. The embedding is V*, the mean of the V_k.
//!
//! X_k is the proximity matrix of a view, scaled to a mean entry of one. The published code scales it to a sum of one
//! and keeps denominators above 1e-10; with thousands of nodes that guard is larger than the denominators, and the fit
//! is bad. The setting `guard` does both. The algorithm itself does not depend on a common factor of all X_k.

#[cfg(test)]
mod tests;
mod view;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::{Dense, Real};
use manyview_base::message::{Warning, WarningKind};
use manyview_base::random::{Key, unit_f64};
use manyview_base::settings;
use manyview_core::method::{Found, MemoryLike, Method, Task};
use manyview_core::preset::{Preset, largest_dim};
use manyview_core::proximity;

use self::view::{Factors, Pull, Target, normalize};
use crate::{default_or, proximity_matrices};

/// The number of sweeps over the views before the rounds; each view starts from the V of the previous one.
const SWEEPS: usize = 3;

/// A trial of a random start takes one out of this many iterations: 50 of 200 in the published code.
const TRIAL: usize = 4;

/// The maximum number of consecutive rounds that are repeated because the objective increased.
const MOST_REDONE: usize = 3;

/// The approximate share of the time that the proximity takes.
const PROXIMITY: f64 = 0.05;

/// The maximum of settings that count repetitions.
const MOST_REPEATS: f64 = (1 << 20) as f64;

settings! {
    /// Settings of MultiNMF.
    pub struct MultiNmf {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The weight of the distance between the views and the consensus.
        lambda: f64 = 0.01 => at_least(0.0).hint("the usual choice is 0.01");
        /// The number of rounds over all views; each computes a new consensus.
        rounds: usize = 10 => at_most(MOST_REPEATS).hint("the usual choice is 10");
        /// The number of iterations per view in each round, and of each factorization before the first round.
        inner: usize = 10 => at_least(1.0).at_most(MOST_REPEATS).hint("the usual choice is 10");
        /// The number of random starts; the best one is used.
        starts: usize = 1 => at_least(1.0).at_most(MOST_REPEATS).hint("the usual choice is 1");
        /// The minimum of denominators, for matrices that are scaled to sum to 1. The published code uses 1e-10.
        guard: Option<f64> = None
            => above(0.0).absent("none; matrices have a mean entry of 1").hint("the published code uses 1e-10").rare();
    } with {
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

impl Method for MultiNmf {
    fn of_preset(preset: Preset) -> Option<Self> {
        let proximity = proximity_matrices::of_paper();
        default_or(MultiNmf { proximity, rounds: 30, inner: 200, starts: 30, ..MultiNmf::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let mut first = task.part(None, 0.0..PROXIMITY);
        let matrices = proximity_matrices::of_all_views(self.proximity, &mut first)?;
        let (nodes, pool) = (task.network.nodes().len() as f64, task.pool);
        let total = if self.guard.is_some() { 1.0 } else { nodes * nodes };
        let names = task.network.views().iter().map(|view| &view.name);
        let keys: Vec<Key> = names.map(|name| task.view_key("multinmf", name)).collect();
        let done = AtomicUsize::new(0);
        let (width, all) = (task.dim, self.steps(matrices.len()) as f64);
        let work = |canceled: &AtomicBool| {
            let targets: Vec<_> = matrices.iter().map(|matrix| Target::new(matrix, total)).collect();
            let work = Work { settings: self, targets, done: &done, canceled };
            let start = work.start(&keys, width)?;
            work.rounds(start)
        };
        let mut rest = task.part(None, PROXIMITY..1.0);
        let solved = pool.run_watched(work, &mut || {
            let reported = rest.tell("factors", done.load(Ordering::Relaxed) as f64 / all);
            if reported.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let (factors, warning) = solved.ok_or(Error::Interrupted)?;
        let consensus = mean(&factors);
        let vectors = (0..consensus.rows()).flat_map(|row| consensus.row(row)).map(|&x| x as f32).collect();
        Ok(Found { vectors, warnings: warning.into_iter().collect(), ..Found::default() })
    }

    fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        Some(proximity_matrices::memory_like(self.dim, self.proximity, views, false))
    }
}

impl MultiNmf {
    /// Returns the total number of iterations of views, if no round is repeated.
    fn steps(&self, views: usize) -> usize {
        let trials = (self.starts - 1) * self.trial();
        SWEEPS * views * (trials + self.inner) + self.rounds * views * self.inner
    }

    fn trial(&self) -> usize {
        self.inner.div_ceil(TRIAL)
    }
}

/// The matrices of the views, and the state that the computation shares with its observer.
struct Work<'a, T> {
    settings: &'a MultiNmf,
    targets: Vec<Target<'a, T>>,
    done: &'a AtomicUsize,
    canceled: &'a AtomicBool,
}

impl<T: Real> Work<'_, T> {
    fn going(&self) -> bool {
        !self.canceled.load(Ordering::Relaxed)
    }

    /// Runs some iterations of a view; `None` when canceled.
    fn improve(&self, view: usize, factors: &mut Factors, pull: Pull<'_>, iterations: usize) -> Option<()> {
        for _ in 0..iterations {
            self.targets[view].step(factors, pull, &|| self.going());
            self.going().then_some(())?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Some(())
    }

    fn objective(&self, view: usize, factors: &Factors, pull: Pull<'_>) -> f64 {
        self.targets[view].objective(factors, pull, &|| self.going())
    }

    fn pull<'b>(&self, lambda: f64, consensus: &'b Dense<f64>) -> Pull<'b> {
        Pull { lambda, consensus, guard: self.settings.guard.unwrap_or(0.0) }
    }

    /// Factorizes the views without a consensus, each from the V of the previous one.
    fn start(&self, keys: &[Key], width: usize) -> Option<Vec<Factors>> {
        let [rows, _] = self.targets[0].shape();
        let mut v = random(keys[0], rows, width);
        let mut found: Vec<Factors> = Vec::new();
        for sweep in 0..SWEEPS {
            for (view, key) in keys.iter().enumerate() {
                let first = sweep == 0 && view == 0;
                let factors = self.factorize(view, key.with(1 + sweep as u64), &v, first)?;
                v = self.with_random_floor(&factors.v, key.with(1 + sweep as u64).with(u64::MAX));
                if sweep == 0 { found.push(factors) } else { found[view] = factors }
            }
        }
        Some(found)
    }

    /// Returns the V from which the next view starts. Updates are multiplicative, so zeros stay zero, and a node
    /// without edges in one view would stay zero in all later ones. Entries below a hundredth of the mean are therefore
    /// replaced by random numbers between zero and that. With `guard` they are kept, as in the published program.
    fn with_random_floor(&self, v: &Dense<f64>, key: Key) -> Dense<f64> {
        if self.settings.guard.is_some() {
            return v.clone();
        }
        let sum: f64 = (0..v.rows()).flat_map(|row| v.row(row)).sum();
        let least = sum / (v.rows() * v.width()) as f64 / 100.0;
        let alive = |row: usize, col: usize| v.row(row)[col] >= least;
        Dense::from_fn(v.rows(), v.width(), |row, col| match alive(row, col) {
            true => v.row(row)[col],
            false => least * unit_f64(key.at(row, col)),
        })
    }

    /// Factorizes a view from the best of some random starts of U (and of V, if `vary`).
    fn factorize(&self, view: usize, key: Key, v: &Dense<f64>, vary: bool) -> Option<Factors> {
        let ([rows, cols], width) = (self.targets[view].shape(), v.width());
        let none = Dense::zeros(0, width);
        let pull = self.pull(0.0, &none);
        let trial = if self.settings.starts > 1 { self.settings.trial() } else { 0 };
        let mut best: Option<(f64, Factors)> = None;
        for repeat in 0..self.settings.starts as u64 {
            let key = key.with(repeat);
            let v = if vary && repeat > 0 { random(key.with(1), rows, width) } else { v.clone() };
            let mut factors = Factors { u: random(key, cols, width), v };
            normalize(&mut factors);
            self.improve(view, &mut factors, pull, trial)?;
            let objective = if trial > 0 { self.objective(view, &factors, pull) } else { 0.0 };
            if best.as_ref().is_none_or(|(lowest, _)| objective < *lowest) {
                best = Some((objective, factors));
            }
        }
        let (_, mut factors) = best.expect("there is at least one start");
        self.improve(view, &mut factors, pull, self.settings.inner - trial)?;
        Some(factors)
    }

    /// Runs the rounds. A round after which the objective is higher is repeated from its start, with the newer
    /// consensus; after several such rounds in a row the run ends with a warning.
    fn rounds(&self, mut factors: Vec<Factors>) -> Option<(Vec<Factors>, Option<Warning>)> {
        let (lambda, rounds) = (self.settings.lambda, self.settings.rounds);
        let mut consensus = factors[0].v.clone();
        let (mut before, mut lowest, mut redone, mut round) = (factors.clone(), f64::INFINITY, 0, 0);
        let mut warning = None;
        while round < rounds {
            if round > 0 {
                consensus = mean(&factors);
            }
            let pull = self.pull(lambda, &consensus);
            let objective = factors
                .iter()
                .enumerate()
                .map(|(view, factors)| self.objective(view, factors, pull))
                .sum::<f64>();
            self.going().then_some(())?;
            if objective > lowest {
                factors.clone_from(&before);
                redone += 1;
                if redone > MOST_REDONE {
                    let message = format!(
                        "multinmf ended after {round} of {rounds} rounds: the objective increased {redone} times in \
                         a row"
                    );
                    warning = Some(Warning::new(WarningKind::NotConverged, message));
                    break;
                }
            } else {
                (lowest, redone, round) = (objective, 0, round + 1);
                before.clone_from(&factors);
            }
            for (view, factors) in factors.iter_mut().enumerate() {
                self.improve(view, factors, pull, self.settings.inner)?;
            }
        }
        Some((factors, warning))
    }
}

/// Returns random numbers between zero and one.
fn random(key: Key, rows: usize, width: usize) -> Dense<f64> {
    Dense::from_fn(rows, width, |row, col| unit_f64(key.at(row, col)))
}

/// Returns the mean of the V_k: all views have the same weight.
fn mean(factors: &[Factors]) -> Dense<f64> {
    let first = &factors[0].v;
    Dense::from_fn(first.rows(), first.width(), |row, col| {
        let sum: f64 = factors.iter().map(|factors| factors.v.row(row)[col]).sum();
        sum / factors.len() as f64
    })
}

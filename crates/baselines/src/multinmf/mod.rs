//! MultiNMF: every view is factorized on its own, and the nodes' factors are drawn toward a consensus.
//!
//! Minimizes `sum_k ||X_k - U_k V_kᵀ||^2 + lambda ||V_k Q_k - V*||^2` over non-negative factors, where Q_k has the column
//! sums of U_k. The embedding is V*, the mean of the V_k.
//!
//! X_k is a view's proximity matrix with a mean entry of one. The published code lets it sum to one and keeps denominators
//! above 1e-10; with thousands of nodes that guard is larger than the denominators and spoils the fit. Both together
//! are the setting `guard`. The algorithm itself does not feel a common factor of all X_k.

#[cfg(test)]
mod tests;
mod view;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::near::Near;
use super::{Found, Rival, Task};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::{Dense, Real};
use manyview_base::random::{Key, unit_f64};
use manyview_core::config::Preset;
use view::{Factors, Pull, Target, normalize};

/// Sweeps over the views before the rounds, each view starting from the last one's V.
const SWEEPS: usize = 3;

/// A trial of a random start takes this share of the iterations: 50 of 200 in the published code.
const TRIAL: usize = 4;

/// Rounds that may be done again one after the other because the objective rose.
const MOST_REDONE: usize = 3;

/// Share of the work that the proximity takes, about.
const PROXIMITY: f64 = 0.05;

/// Settings of MultiNMF.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiNmf {
    /// Which pairs of nodes count as near.
    #[serde(flatten)]
    pub near: Near,
    /// How strongly views are drawn toward the consensus.
    pub lambda: f64,
    /// Rounds over all views, a new consensus in each.
    pub rounds: usize,
    /// Iterations of a view in each round, and of each factorization before the first.
    pub inner: usize,
    /// Random starts of which the best goes on.
    pub starts: usize,
    /// The least denominator, with matrices that sum to one, as in the published code (1e-10); none by default.
    pub guard: Option<f64>,
}

impl Default for MultiNmf {
    fn default() -> Self {
        let near = Near::of(Preset::Default);
        MultiNmf { near, lambda: 0.01, rounds: 10, inner: 10, starts: 1, guard: None }
    }
}

impl Rival for MultiNmf {
    fn paper() -> Self {
        let near = Near::of(Preset::Paper);
        MultiNmf { near, lambda: 0.01, rounds: 30, inner: 200, starts: 30, guard: None }
    }

    fn check(&self) -> Result<()> {
        let MultiNmf { lambda, rounds, inner, starts, guard, .. } = *self;
        self.near.check()?;
        let complain = |text: String| Err(Error::config(text));
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return complain(format!(
                "lambda = {lambda} is not a number from 0 on; the usual choice is 0.01"
            ));
        }
        if inner == 0 {
            return complain("inner = 0: a view needs at least one iteration; the usual choice is 10".into());
        }
        if starts == 0 {
            return complain("starts = 0: at least one start must be tried; the usual choice is 1".into());
        }
        if rounds > 1 << 20 || inner > 1 << 20 || starts > 1 << 20 {
            return complain(format!(
                "rounds = {rounds}, inner = {inner}, starts = {starts}: more than a million would not end"
            ));
        }
        if guard.is_some_and(|guard| !(guard > 0.0 && guard.is_finite())) {
            let guard = guard.unwrap_or_default();
            return complain(format!(
                "guard = {guard} is not above 0; the published code has 1e-10, and without it there is none"
            ));
        }
        Ok(())
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let matrices = self.near.matrices(&mut task.part(None, 0.0..PROXIMITY))?;
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
            let told = rest.tell("factors", done.load(Ordering::Relaxed) as f64 / all);
            if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let (factors, warning) = solved.ok_or(Error::Interrupted)?;
        let consensus = mean(&factors);
        let vectors = (0..consensus.rows()).flat_map(|row| consensus.row(row)).copied().collect();
        Ok(Found { vectors, parts: Vec::new(), warnings: warning.into_iter().collect() })
    }

    fn proximity(&self) -> Option<(usize, f64)> {
        Some((self.near.window, self.near.negative))
    }
}

impl MultiNmf {
    /// Iterations of views in all, if no round is done again.
    fn steps(&self, views: usize) -> usize {
        let trials = (self.starts - 1) * self.trial();
        SWEEPS * views * (trials + self.inner) + self.rounds * views * self.inner
    }

    fn trial(&self) -> usize {
        self.inner.div_ceil(TRIAL)
    }
}

/// The views' matrices, and what the work needs to know.
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

    /// Some iterations of a view.
    fn improve(
        &self,
        view: usize,
        factors: &mut Factors<T>,
        pull: Pull<'_, T>,
        iterations: usize,
    ) -> Option<()> {
        for _ in 0..iterations {
            self.targets[view].step(factors, pull, &|| self.going());
            self.going().then_some(())?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Some(())
    }

    fn objective(&self, view: usize, factors: &Factors<T>, pull: Pull<'_, T>) -> f64 {
        self.targets[view].objective(factors, pull, &|| self.going())
    }

    fn pull<'b>(&self, lambda: f64, consensus: &'b Dense<T>) -> Pull<'b, T> {
        Pull { lambda, consensus, guard: self.settings.guard.unwrap_or(0.0) }
    }

    /// Plain factorizations of the views, one after the other, each from the last one's V.
    fn start(&self, keys: &[Key], width: usize) -> Option<Vec<Factors<T>>> {
        let [rows, _] = self.targets[0].shape();
        let mut v = random(keys[0], rows, width);
        let mut found: Vec<Factors<T>> = Vec::new();
        for sweep in 0..SWEEPS {
            for (view, key) in keys.iter().enumerate() {
                let first = sweep == 0 && view == 0;
                let factors = self.factorize(view, key.with(1 + sweep as u64), &v, first)?;
                v = self.revived(&factors.v, key.with(1 + sweep as u64).with(u64::MAX));
                if sweep == 0 { found.push(factors) } else { found[view] = factors }
            }
        }
        Some(found)
    }

    /// The V that the next view starts from. Updates multiply, so what is zero stays zero, and a node without edges in one
    /// view would be lost to all that follow. What is below a hundredth of the mean therefore starts anew, between zero and
    /// that; not so in the published program, which `guard` asks for.
    fn revived(&self, v: &Dense<T>, key: Key) -> Dense<T> {
        if self.settings.guard.is_some() {
            return v.clone();
        }
        let sum: f64 = (0..v.rows()).flat_map(|row| v.row(row)).map(|x| x.to_f64()).sum();
        let least = sum / (v.rows() * v.width()) as f64 / 100.0;
        let alive = |row: usize, col: usize| v.row(row)[col].to_f64() >= least;
        Dense::from_fn(v.rows(), v.width(), |row, col| match alive(row, col) {
            true => v.row(row)[col],
            false => T::from_f64(least * unit_f64(key.at(row, col))),
        })
    }

    /// The best of some random starts of U (and of V, where none is known) goes on to the end.
    fn factorize(&self, view: usize, key: Key, v: &Dense<T>, vary: bool) -> Option<Factors<T>> {
        let ([rows, cols], width) = (self.targets[view].shape(), v.width());
        let none = Dense::zeros(0, width);
        let pull = self.pull(0.0, &none);
        let trial = if self.settings.starts > 1 { self.settings.trial() } else { 0 };
        let mut best: Option<(f64, Factors<T>)> = None;
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
        let (_, mut factors) = best.expect("at least one start is tried");
        self.improve(view, &mut factors, pull, self.settings.inner - trial)?;
        Some(factors)
    }

    /// The rounds. One after which the objective is higher is done again from where it began, toward the newer
    /// consensus; after some of these in a row it is over, which is worth a sentence.
    fn rounds(&self, mut factors: Vec<Factors<T>>) -> Option<(Vec<Factors<T>>, Option<String>)> {
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
                    warning = Some(format!(
                        "multinmf ended after {round} of {rounds} rounds: the objective rose {redone} times in a row"
                    ));
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

/// Numbers between zero and one.
fn random<T: Real>(key: Key, rows: usize, width: usize) -> Dense<T> {
    Dense::from_fn(rows, width, |row, col| T::from_f64(unit_f64(key.at(row, col))))
}

/// The mean of the V_k: views have equal weights.
fn mean<T: Real>(factors: &[Factors<T>]) -> Dense<T> {
    let first = &factors[0].v;
    Dense::from_fn(first.rows(), first.width(), |row, col| {
        let sum: f64 = factors.iter().map(|factors| factors.v.row(row)[col].to_f64()).sum();
        T::from_f64(sum / factors.len() as f64)
    })
}

//! The convergence criteria of a stage.

use super::Settings;
use crate::nmf::StopRule;

/// Tracks the objective during a stage.
#[derive(Debug)]
pub(super) struct Convergence {
    rule: StopRule,
    gamma: f64,
    tol: f64,
    last: Option<f64>,
    quiet_looks: usize,
}

impl Convergence {
    pub(super) fn new(settings: &Settings) -> Self {
        Convergence {
            rule: settings.stop,
            gamma: settings.gamma,
            tol: settings.tol,
            last: None,
            quiet_looks: 0,
        }
    }

    /// Records an iteration and returns whether it is the last.
    pub(super) fn reached(
        &mut self,
        iteration: usize,
        log_objective: f64,
        weights: &[f64],
        errors: &[f64],
        nodes: usize,
    ) -> bool {
        match self.rule {
            StopRule::Decrease => self.fell_too_little(log_objective, errors),
            StopRule::SixChecks => self.was_quiet(iteration, weights, errors, nodes),
        }
    }

    fn fell_too_little(&mut self, log_objective: f64, errors: &[f64]) -> bool {
        // For gamma below 1 the weights maximize, so the objective need not decrease; the plain sum of the errors is
        // used.
        let log = if self.gamma < 1.0 { libm::log(errors.iter().sum()) } else { log_objective };
        let last = self.last.replace(log);
        last.is_some_and(|last| -libm::expm1(log - last) < self.tol)
    }

    fn was_quiet(&mut self, iteration: usize, weights: &[f64], errors: &[f64], nodes: usize) -> bool {
        if iteration != 1 && !iteration.is_multiple_of(10) {
            return false;
        }
        let entries = (nodes as f64) * (nodes as f64);
        let cost: f64 = weights.iter().zip(errors).map(|(weight, error)| weight * error / entries).sum();
        let cost = (cost * 1e5).round() / 1e5;
        match self.last.replace(cost) {
            Some(last) if cost <= last => self.quiet_looks += 1,
            _ => self.quiet_looks = 0,
        }
        self.quiet_looks == 6
    }
}

//! Stages that find what the views have in common.

use std::time::Instant;

use super::{Objective, Run};
use crate::comm;
use crate::mnmf::{Consensus, Init, Normalize, Stage};
use crate::nmf::{Settings, Start};
use crate::nmf::{Solver, StopRule};
use crate::piece::Piece;
use crate::residual::SquaredProducts;
use manyview_base::error::Result;
use manyview_base::linalg::Dense;
use manyview_base::linalg::sum::sum_of;
use manyview_data::embedding::Kind;

/// The settings of scikit-learn's NMF with which the published code initializes.
const INIT_ITERATIONS: usize = 200;
const INIT_TOL: f64 = 1e-4;

impl Run<'_, '_> {
    pub(super) fn consensus_stage(&mut self, stage: &Stage) -> Result<Vec<Piece>> {
        let piece = self.consensus_piece(stage)?;
        self.apply(stage, &piece)?;
        Ok(vec![piece])
    }

    /// A factorization of all views together.
    pub(super) fn consensus_piece(&mut self, stage: &Stage) -> Result<Piece> {
        let active = self.active();
        // The sum of one view is that view; a scale would only make its fit worse.
        if self.config.consensus == Consensus::Pooled && active.len() > 1 {
            self.pooled_stage(stage, &active)
        } else {
            self.shared_stage(stage, &active)
        }
    }

    /// One U, and a V_k and a weight per view.
    fn shared_stage(&mut self, stage: &Stage, active: &[usize]) -> Result<Piece> {
        let began = Instant::now();
        let start = self.shared_start(stage, active)?;
        let objective = match self.config.normalize {
            Normalize::Residual => Objective::RelativeErrors,
            Normalize::None | Normalize::Max => Objective::Errors,
        };
        let factors = self.solve(stage, active, objective, start, &self.settings(Kind::Consensus))?;
        let piece = Piece::new(active, stage.columns.clone(), factors, self.config.scale, began);
        Ok(Piece { consensus: Some(Consensus::Shared), ..piece })
    }

    /// One U and one V for the sum of the residuals; `s_k U V` is subtracted from each view.
    fn pooled_stage(&mut self, stage: &Stage, active: &[usize]) -> Result<Piece> {
        let began = Instant::now();
        let mean = active.iter().map(|&view| self.residuals[view].mean()).sum();
        let start = self.start(stage, active, &["the sum of all views"], stage.columns.len(), &[mean])?;
        let parts: Vec<_> = active.iter().map(|&view| &self.residuals[view].tiles).collect();
        let sum = self.pool.run(|| sum_of(&parts));
        let squared_norm = comm::sum(self.comm, self.pool.run(|| sum.sums()[1]));
        let objective = Objective::ErrorOfSum { sum: &sum, squared_norm };
        let mut factors = self.solve(stage, active, objective, start, &self.settings(Kind::Consensus))?;
        drop(sum);
        let (u, v_t) = (&factors.u, &factors.v_t[0]);
        let squares = SquaredProducts::new(u, v_t, self.rows.clone(), self.pool, self.comm);
        let best_scale =
            |&view: &usize| self.residuals[view].best_scale(u, v_t, &squares, self.pool, self.comm);
        let scales: Vec<f64> = active.iter().map(best_scale).collect();
        let total: f64 = scales.iter().sum();
        factors.weights = scales.iter().map(|scale| if total > 0.0 { scale / total } else { 0.0 }).collect();
        // Columns are balanced against V, which explains the sum: a column that stands for all views is as long as those of all
        // views together would be.
        let piece = Piece::new(active, stage.columns.clone(), factors, self.config.scale, began);
        Ok(Piece { consensus: Some(Consensus::Pooled), scales, ..piece })
    }

    fn shared_start(&mut self, stage: &Stage, active: &[usize]) -> Result<Start<f32>> {
        let names: Vec<String> = active.iter().map(|&view| self.names[view].clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mean = |&view: &usize| self.residuals[view].mean();
        let means: Vec<f64> = active.iter().map(mean).collect();
        let start = self.start(stage, active, &names, stage.columns.len(), &means)?;
        if self.config.init == Init::Nmf { self.start_from_views(stage, active, start) } else { Ok(start) }
    }

    /// Each view is factorized separately from the common start; U is the mean of the results.
    fn start_from_views(
        &mut self,
        stage: &Stage,
        active: &[usize],
        common: Start<f32>,
    ) -> Result<Start<f32>> {
        let settings = Settings {
            solver: Solver::Hals,
            gamma: 1.0,
            max_iter: INIT_ITERATIONS,
            tol: INIT_TOL,
            stop: StopRule::Decrease,
            epsilon: 0.0,
        };
        let share = (1.0 / active.len() as f64) as f32;
        let mut u = Dense::zeros(common.u.rows(), common.u.width());
        let mut all_v = Vec::new();
        for (&view, v_t) in active.iter().zip(common.v_t) {
            let start = Start { u: common.u.clone(), v_t: vec![v_t] };
            let factors = self.solve(stage, &[view], Objective::Errors, start, &settings)?;
            for (mean, &x) in u.padded_mut().iter_mut().zip(factors.u.padded()) {
                *mean += share * x;
            }
            all_v.extend(factors.v_t);
        }
        Ok(Start { u, v_t: all_v })
    }
}

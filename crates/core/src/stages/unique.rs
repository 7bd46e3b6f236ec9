//! Stages that look for what each view says alone.

use std::ops::Range;

use super::{Done, Objective, Run};
use crate::comm::Comm;
use crate::config::{Kind, Split, Stage, largest_remainder};
use crate::error::Result;
use crate::linalg::Real;

impl<T: Real, C: Comm> Run<'_, '_, T, C> {
    pub(super) fn unique_stage(&mut self, stage: &Stage) -> Result<()> {
        let mut from = stage.columns.start;
        for (view, width) in self.split(stage).into_iter().enumerate() {
            let columns = from..from + width;
            from = columns.end;
            if !columns.is_empty() && !self.residuals[view].is_empty() {
                self.unique_view(stage, view, columns)?;
            }
        }
        Ok(())
    }

    /// Columns of each view in this stage.
    fn split(&self, stage: &Stage) -> Vec<usize> {
        match &stage.split {
            Split::Given(split) => split.clone(),
            Split::Residual => {
                let norms: Vec<f64> =
                    self.residuals.iter().map(|residual| residual.squared_norm.sqrt()).collect();
                largest_remainder(stage.columns.len(), &norms, 1)
            }
        }
    }

    fn unique_view(&mut self, stage: &Stage, view: usize, columns: Range<usize>) -> Result<()> {
        let before = self.before(&[view]);
        let mean = self.residuals[view].mean(self.pool, self.comm);
        let start = self.start(stage, &[self.names[view]], columns.len(), &[mean]);
        let factors = self.solve(stage, &[view], Objective::Errors, start, &self.settings(Kind::Unique))?;
        self.residuals[view].subtract(&factors.u, &factors.v_t[0], 1.0, self.pool, self.comm);
        let weights = vec![1.0];
        self.keep(factors, Done { stage, views: &[view], columns, consensus: None, weights, before })
    }
}

//! Stages that find what is specific to each view, and to the union of the views.

use std::ops::Range;
use std::time::Instant;

use super::{Objective, Run};
use crate::mnmf::{Split, Stage, largest_remainder};
use crate::piece::Piece;
use crate::residual::Residual;
use manyview_base::error::Result;
use manyview_data::embedding::Kind;

impl Run<'_, '_> {
    pub(super) fn unique_stage(&mut self, stage: &Stage) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        for (view, columns) in self.columns_of_views(stage) {
            let piece = self.unique_view(stage, view, columns)?;
            self.apply(stage, &piece)?;
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// A factorization of each view alone, none of them subtracted yet.
    pub(super) fn unique_pieces(&mut self, stage: &Stage) -> Result<Vec<Piece>> {
        let columns = self.columns_of_views(stage).into_iter();
        columns.map(|(view, columns)| self.unique_view(stage, view, columns)).collect()
    }

    /// The columns of each view of which something is left.
    fn columns_of_views(&self, stage: &Stage) -> Vec<(usize, Range<usize>)> {
        let mut from = stage.columns.start;
        let mut found = Vec::new();
        for (view, width) in self.split(stage).into_iter().enumerate() {
            let columns = from..from + width;
            from = columns.end;
            if !columns.is_empty() && !self.residuals[view].is_empty() {
                found.push((view, columns));
            }
        }
        found
    }

    /// The number of columns of each view, and of their union, in this stage.
    fn split(&self, stage: &Stage) -> Vec<usize> {
        match &stage.split {
            Split::Given(split) => split.clone(),
            Split::Residual(served) => {
                let norm = |residual: &Residual<f32>| {
                    if residual.is_empty() { 0.0 } else { residual.squared_norm.sqrt() }
                };
                let mut norms: Vec<f64> = self.residuals.iter().map(norm).collect();
                // Views come first where there is no column for the union as well.
                if norms.iter().filter(|&&norm| norm > 0.0).count() > stage.columns.len() {
                    norms.truncate(self.views);
                }
                keep_next(&mut norms, &self.unique_columns, *served);
                largest_remainder(stage.columns.len(), &norms, 1)
            }
        }
    }

    fn unique_view(&mut self, stage: &Stage, view: usize, columns: Range<usize>) -> Result<Piece> {
        let began = Instant::now();
        let mean = self.residuals[view].mean();
        let name = self.names[view].clone();
        let start = self.start(stage, &[view], &[&name], columns.len(), &[mean])?;
        let factors = self.solve(stage, &[view], Objective::Errors, start, &self.settings(Kind::Unique))?;
        Ok(Piece::new(&[view], columns, factors, self.config.scale, began))
    }
}

/// Sets all norms to zero but those of the `served` matrices that have the fewest columns so far, for their norms.
fn keep_next(norms: &mut [f64], columns: &[usize], served: usize) {
    let mut order: Vec<usize> = (0..norms.len()).filter(|&at| norms[at] > 0.0).collect();
    let per_norm = |at: usize| columns[at] as f64 / norms[at];
    order.sort_by(|&a, &b| {
        per_norm(a).total_cmp(&per_norm(b)).then(norms[b].total_cmp(&norms[a])).then(a.cmp(&b))
    });
    order.into_iter().skip(served).for_each(|at| norms[at] = 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_matrices_are_those_with_the_fewest_columns_for_their_norms() {
        let next = |columns: &[usize], served: usize| {
            let mut norms = [3.0, 4.0, 0.0, 4.0];
            keep_next(&mut norms, columns, served);
            norms
        };
        // Without columns, the largest comes first, and the first of equal ones.
        assert_eq!(next(&[0; 4], 1), [0.0, 4.0, 0.0, 0.0]);
        assert_eq!(next(&[0, 8, 0, 0], 2), [3.0, 0.0, 0.0, 4.0]);
        assert_eq!(next(&[6, 8, 0, 7], 1), [0.0, 0.0, 0.0, 4.0]);
        assert_eq!(next(&[0; 4], 3), [3.0, 4.0, 0.0, 4.0]);
    }
}

//! The singular vectors of tall blocks side by side, from the eigenvectors of their small Gram matrix.
//!
//! With `W = [W_1 W_2 ...]` and `WᵀW = X S² Xᵀ`, the left singular vectors of W are `W X S^-1`.

use std::ops::Range;

use super::tall::{Coefficients, add_products, cross};
use crate::linalg::{Dense, eigen};

/// Values below this share of the largest are rounding errors of f32 products and are set to zero.
const NOTHING: f64 = 2e-6;

/// X and S of some blocks.
pub(super) struct Rotation {
    vectors: Vec<Vec<f64>>,
    /// In descending order; those beyond the rank are zero.
    pub(super) values: Vec<f64>,
}

impl Rotation {
    /// Finds the `rank` leading values and vectors.
    pub(super) fn of(blocks: &[Dense<f32>], rank: usize) -> Self {
        let found = eigen::symmetric(gram(blocks), blocks.iter().map(Dense::width).sum(), rank);
        let largest = found.values.first().copied().unwrap_or(0.0).max(0.0).sqrt();
        let counts = |value: f64| if value > NOTHING * largest { value } else { 0.0 };
        let mut values: Vec<f64> = found.values.iter().map(|square| counts(square.max(0.0).sqrt())).collect();
        values.resize(rank, 0.0);
        Rotation { vectors: found.vectors, values }
    }

    /// Returns `B X f(S)` of some blocks B, whose columns are as many as those of W.
    pub(super) fn apply(&self, blocks: &[Dense<f32>], rows: usize, f: &dyn Fn(f64) -> f64) -> Dense<f32> {
        let rank = self.values.len();
        let mut sum = Dense::zeros(rows, rank);
        let mut from = 0;
        let terms: Vec<_> = blocks
            .iter()
            .map(|block| {
                let coordinates = from..from + block.width();
                from = coordinates.end;
                (block, Coefficients::new(&self.weights(coordinates, f), rank, 1.0))
            })
            .collect();
        add_products(&mut sum, &terms);
        sum
    }

    /// Returns some coordinates of all vectors, as columns. Those of negligible values are zero.
    fn weights(&self, coordinates: Range<usize>, f: &dyn Fn(f64) -> f64) -> Vec<f64> {
        let rank = self.values.len();
        let mut weights = vec![0.0; coordinates.len() * rank];
        let pairs = self.vectors.iter().zip(&self.values).enumerate();
        for (col, (vector, &value)) in pairs.filter(|(_, (_, value))| **value > 0.0) {
            for (row, at) in coordinates.clone().enumerate() {
                weights[row * rank + col] = vector[at] * f(value);
            }
        }
        weights
    }
}

/// Returns `WᵀW` of all blocks side by side. Computed in f64, because the smallest values are the roots of small
/// differences.
fn gram(blocks: &[Dense<f32>]) -> Vec<f64> {
    let starts: Vec<usize> =
        blocks.iter().scan(0, |from, block| Some(std::mem::replace(from, *from + block.width()))).collect();
    let all = blocks.iter().map(Dense::width).sum::<usize>();
    let mut whole = vec![0.0; all * all];
    for (i, x) in blocks.iter().enumerate() {
        for (j, y) in blocks.iter().enumerate().take(i + 1) {
            for (at, value) in cross::<f64>(x, y).into_iter().enumerate() {
                let (row, col) = (starts[i] + at / y.width(), starts[j] + at % y.width());
                whole[row * all + col] = value;
                whole[col * all + row] = value;
            }
        }
    }
    whole
}

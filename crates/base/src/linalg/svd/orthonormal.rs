//! Orthonormalizes the columns of a tall block, among themselves and against earlier blocks.
//!
//! Project onto the orthogonal complement of the earlier blocks, then `Y <- Y R^-1` with `YᵀY = RᵀR` (Cholesky).
//! Everything is done twice, since a single pass leaves the rounding errors of the subtracted part.
//!
//! Invariant: a column that depends on earlier ones is not divided by its rounding errors. It is drawn again, so that
//! the search continues in new directions.

use super::tall::{Coefficients, add_products, cross};
use crate::linalg::Dense;

/// If less than this share of a column is left, the rest consists of rounding errors.
const DEPENDENT: f64 = 1e-6;

/// The number of rounds in which dependent columns are drawn again. After that they are set to zero, because the
/// space is full.
const DRAWS: usize = 3;

/// Orthonormalizes `block`. `draw` returns a new number for a row, a column and the number of earlier draws there.
pub(super) fn orthonormalize(
    block: &mut Dense<f32>,
    earlier: &[Dense<f32>],
    draw: impl Fn(usize, usize, usize) -> f32,
) {
    let (mut clean, mut draws) = (0, 0);
    while clean < 2 {
        let before = diagonal(&cross::<f64>(block, block), block.width());
        project(block, earlier);
        let (inverse, dependent) = inverse_root(&cross::<f64>(block, block), &before);
        let mut orthonormal = Dense::zeros(block.rows(), block.width());
        add_products(&mut orthonormal, &[(block, Coefficients::new(&inverse, block.width(), 1.0))]);
        *block = orthonormal;
        if dependent.is_empty() || draws == DRAWS {
            clean += 1;
        } else {
            clean = 0;
            draws += 1;
            for row in 0..block.rows() {
                dependent.iter().for_each(|&col| block.row_mut(row)[col] = draw(row, col, draws));
            }
        }
    }
}

fn diagonal(matrix: &[f64], width: usize) -> Vec<f64> {
    matrix.iter().step_by(width + 1).copied().collect()
}

/// Subtracts the projection onto the span of orthonormal blocks.
fn project(block: &mut Dense<f32>, earlier: &[Dense<f32>]) {
    let along = |basis: &Dense<f32>| Coefficients::new(&cross::<f32>(basis, block), block.width(), -1.0);
    let terms: Vec<_> = earlier.iter().map(|basis| (basis, along(basis))).collect();
    add_products(block, &terms);
}

/// Returns `R^-1` with `G = RᵀR`, upper triangular, and the columns of which nothing is left. Those are zero in
/// `R^-1`.
///
/// `before` are the squared norms of the columns before the projection.
fn inverse_root(gram: &[f64], before: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let width = before.len();
    let (mut root, mut dependent) = (gram.to_vec(), Vec::new());
    for at in 0..width {
        for above in 0..at {
            let factor = root[above * width + at];
            for col in at..width {
                root[at * width + col] -= factor * root[above * width + col];
            }
        }
        let left = root[at * width + at];
        let row = &mut root[at * width..][..width];
        if left > DEPENDENT * DEPENDENT * before[at] {
            let scale = 1.0 / left.sqrt();
            row[at..].iter_mut().for_each(|x| *x *= scale);
        } else {
            row.fill(0.0);
            dependent.push(at);
        }
    }
    let mut inverse = vec![0.0; width * width];
    for col in (0..width).filter(|&col| root[col * width + col] > 0.0) {
        inverse[col * width + col] = 1.0 / root[col * width + col];
        for row in (0..col).rev().filter(|&row| root[row * width + row] > 0.0) {
            let sum: f64 = (row + 1..=col).map(|k| root[row * width + k] * inverse[k * width + col]).sum();
            inverse[row * width + col] = -sum / root[row * width + row];
        }
    }
    (inverse, dependent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Key, unit_f64};

    fn random(row: usize, col: usize, draw: usize) -> f32 {
        unit_f64(Key::new(draw as u64).at(row, col)) as f32 - 0.5
    }

    fn assert_orthonormal(blocks: &[&Dense<f32>]) {
        for (i, x) in blocks.iter().enumerate() {
            for (j, y) in blocks.iter().enumerate() {
                for (at, value) in cross::<f64>(x, y).iter().enumerate() {
                    let same = i == j && at / y.width() == at % y.width();
                    let expected = if same { 1.0 } else { 0.0 };
                    assert!((value - expected).abs() < 1e-6, "{value} instead of {expected}");
                }
            }
        }
    }

    #[test]
    fn blocks_become_orthonormal_also_when_nearly_dependent() {
        let mut first = Dense::from_fn(200, 7, |row, col| 1.0 + 1e-3 * random(row, col, 0));
        orthonormalize(&mut first, &[], random);
        let mut second =
            Dense::from_fn(200, 20, |row, col| first.row(row)[col % 7] + 1e-4 * random(row, col, 9));
        orthonormalize(&mut second, std::slice::from_ref(&first), random);
        assert_orthonormal(&[&first, &second]);
    }

    #[test]
    fn dependent_and_zero_columns_are_drawn_anew() {
        let copies = |row: usize, col: usize| if col == 3 { 0.0 } else { random(row, col % 2, 0) };
        let mut block = Dense::from_fn(50, 6, copies);
        orthonormalize(&mut block, &[], random);
        assert_orthonormal(&[&block]);
    }

    #[test]
    fn columns_beyond_a_full_space_become_zero() {
        let mut block = Dense::from_fn(3, 5, |row, col| random(row, col, 0));
        orthonormalize(&mut block, &[], random);
        let lengths = diagonal(&cross::<f64>(&block, &block), 5);
        assert!(lengths[..3].iter().all(|length| (length - 1.0).abs() < 1e-6), "{lengths:?}");
        assert!(lengths[3..].iter().all(|&length| length == 0.0), "{lengths:?}");
    }
}

//! Matrices that are known by their products only: sums, transposes, matrices side by side, and symmetric matrices with
//! terms that would be dense.
//!
//! Invariant: a product has the same bits for any number of threads.

use super::tall::{Coefficients, add_products, cross};
use crate::linalg::products::{times, transposed_times};
use crate::linalg::{Dense, Tiles, filled_in_any};

/// Returns whether to continue. A product that is not continued has any numbers.
pub type Continue<'a> = dyn Fn() -> bool + Sync + 'a;

/// A matrix that can be multiplied with tall blocks from either side.
pub trait Operator: Sync {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// The number of columns.
    fn cols(&self) -> usize;

    /// For each row, whether it may have entries. The others are exactly zero in the left singular vectors.
    fn filled_rows(&self) -> Vec<bool>;

    /// For each column, whether it may have entries.
    fn filled_columns(&self) -> Vec<bool>;

    /// `A X`.
    fn times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32>;

    /// `Aᵀ X`.
    fn transposed_times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32>;
}

/// `A_1 + A_2 + ...`, all of one shape.
pub struct Sum<'a>(pub &'a [&'a Tiles<f32>]);

impl Operator for Sum<'_> {
    fn rows(&self) -> usize {
        self.0[0].rows()
    }

    fn cols(&self) -> usize {
        self.0[0].cols()
    }

    fn filled_rows(&self) -> Vec<bool> {
        filled_in_any(self.0, Tiles::filled_rows)
    }

    fn filled_columns(&self) -> Vec<bool> {
        filled_in_any(self.0, Tiles::filled_columns)
    }

    fn times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        times(self.0, x, going)
    }

    fn transposed_times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        let mut product = Dense::zeros(self.cols(), x.width());
        transposed_times(self.0, x, &mut product, going);
        product
    }
}

/// The transpose of a matrix.
pub struct Transposed<'a>(pub &'a Tiles<f32>);

impl Operator for Transposed<'_> {
    fn rows(&self) -> usize {
        self.0.cols()
    }

    fn cols(&self) -> usize {
        self.0.rows()
    }

    fn filled_rows(&self) -> Vec<bool> {
        self.0.filled_columns()
    }

    fn filled_columns(&self) -> Vec<bool> {
        self.0.filled_rows()
    }

    fn times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        Sum(&[self.0]).transposed_times(x, going)
    }

    fn transposed_times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        Sum(&[self.0]).times(x, going)
    }
}

/// `[A_1 A_2 ...]`, all with the same number of rows. Its left singular vectors are the eigenvectors of
/// `A_1 A_1ᵀ + A_2 A_2ᵀ + ...`.
pub struct SideBySide<'a, A>(pub &'a [A]);

impl<A: Operator> Operator for SideBySide<'_, A> {
    fn rows(&self) -> usize {
        self.0[0].rows()
    }

    fn cols(&self) -> usize {
        self.0.iter().map(Operator::cols).sum()
    }

    fn filled_rows(&self) -> Vec<bool> {
        let mut any = vec![false; self.rows()];
        for part in self.0 {
            any.iter_mut().zip(part.filled_rows()).for_each(|(any, filled)| *any |= filled);
        }
        any
    }

    fn filled_columns(&self) -> Vec<bool> {
        self.0.iter().flat_map(Operator::filled_columns).collect()
    }

    fn times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        let mut sum = Dense::zeros(self.rows(), x.width());
        let mut from = 0;
        for part in self.0 {
            let rows = Dense::from_fn(part.cols(), x.width(), |row, col| x.row(from + row)[col]);
            add(&mut sum, &part.times(&rows, going));
            from += part.cols();
        }
        sum
    }

    fn transposed_times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        let mut product = Dense::zeros(self.cols(), x.width());
        let stride = product.stride();
        let mut from = 0;
        for part in self.0 {
            let rows = part.transposed_times(x, going);
            product.padded_mut()[from * stride..][..rows.padded().len()].copy_from_slice(rows.padded());
            from += part.cols();
        }
        product
    }
}

/// The symmetric matrix `A_1 + A_2 + ... + s I + f (B_1 B_1ᵀ + B_2 B_2ᵀ + ...)`, with the identity on the filled rows
/// of the sum only, and tall blocks B. If the shift s makes it positive semidefinite, its leading singular vectors are
/// the eigenvectors of its largest eigenvalues, which the shift does not change.
pub struct Symmetric<'a> {
    sum: Sum<'a>,
    filled: Vec<bool>,
    shift: f32,
    factor: f64,
    blocks: &'a [Dense<f32>],
}

impl<'a> Symmetric<'a> {
    /// Creates the matrix; each of `parts` must be symmetric.
    pub fn new(parts: &'a [&'a Tiles<f32>], shift: f64, factor: f64, blocks: &'a [Dense<f32>]) -> Self {
        let sum = Sum(parts);
        Symmetric { filled: sum.filled_rows(), sum, shift: shift as f32, factor, blocks }
    }
}

impl Operator for Symmetric<'_> {
    fn rows(&self) -> usize {
        self.sum.rows()
    }

    fn cols(&self) -> usize {
        self.sum.rows()
    }

    fn filled_rows(&self) -> Vec<bool> {
        self.filled.clone()
    }

    fn filled_columns(&self) -> Vec<bool> {
        self.filled.clone()
    }

    fn times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        let mut product = self.sum.times(x, going);
        for row in (0..x.rows()).filter(|&row| self.filled[row]) {
            let numbers = product.row_mut(row).iter_mut().zip(x.row(row));
            numbers.for_each(|(sum, x)| *sum += self.shift * x);
        }
        let along = |block: &Dense<f32>| Coefficients::new(&cross::<f32>(block, x), x.width(), self.factor);
        let terms: Vec<_> = self.blocks.iter().map(|block| (block, along(block))).collect();
        add_products(&mut product, &terms);
        product
    }

    fn transposed_times(&self, x: &Dense<f32>, going: &Continue<'_>) -> Dense<f32> {
        self.times(x, going)
    }
}

fn add(sum: &mut Dense<f32>, term: &Dense<f32>) {
    sum.padded_mut().iter_mut().zip(term.padded()).for_each(|(sum, term)| *sum += term);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Csr;
    use crate::linalg::svd::tests::dense;
    use crate::linalg::tiles::{random_symmetric, symmetric};

    /// Compares both products with those of the dense matrix.
    fn check(operator: &dyn Operator, matrix: &[f64]) {
        let (rows, cols) = (operator.rows(), operator.cols());
        assert_eq!(matrix.len(), rows * cols);
        let x = Dense::from_fn(cols, 5, |row, col| ((row * 7 + col * 3) % 11) as f32 - 4.5);
        let y = Dense::from_fn(rows, 3, |row, col| ((row * 5 + col * 2) % 13) as f32 - 5.5);
        let (there, back) = (operator.times(&x, &|| true), operator.transposed_times(&y, &|| true));
        for row in 0..rows {
            for col in 0..5 {
                let naive: f64 = (0..cols).map(|k| matrix[row * cols + k] * f64::from(x.row(k)[col])).sum();
                assert!((f64::from(there.row(row)[col]) - naive).abs() < 1e-3, "{naive}");
            }
        }
        for row in 0..cols {
            for col in 0..3 {
                let naive: f64 = (0..rows).map(|k| matrix[k * cols + row] * f64::from(y.row(k)[col])).sum();
                assert!((f64::from(back.row(row)[col]) - naive).abs() < 1e-3, "{naive}");
            }
        }
        for (row, filled) in operator.filled_rows().into_iter().enumerate() {
            assert_eq!(filled, matrix[row * cols..][..cols].iter().any(|&x| x != 0.0));
        }
        for (col, filled) in operator.filled_columns().into_iter().enumerate() {
            assert_eq!(filled, matrix.iter().skip(col).step_by(cols).any(|&x| x != 0.0));
        }
    }

    #[test]
    fn matrices_side_by_side_are_one_wide_matrix() {
        let matrices = [(50, 1), (70, 2)].map(|(rows, seed)| Csr::<f32>::random(rows, 40, 0.03, seed));
        let tiles = matrices.each_ref().map(Tiles::from_csr);
        let parts = tiles.each_ref().map(Transposed);
        let numbers = matrices.each_ref().map(dense);
        let entry = |row: usize, col: usize| match col {
            0..50 => numbers[0][col * 40 + row],
            _ => numbers[1][(col - 50) * 40 + row],
        };
        let wide: Vec<f64> = (0..40 * 120).map(|at| entry(at / 120, at % 120)).collect();
        check(&SideBySide(&parts), &wide);
    }

    #[test]
    fn dense_terms_are_added_to_filled_rows() {
        let matrix = random_symmetric(60, 0.02, 3);
        let matrix = matrix.with_values(matrix.values().iter().map(|&value| value as f32).collect());
        let half = symmetric(&matrix);
        let filled = half.filled_rows();
        assert!(filled.contains(&false));
        let block =
            |width: usize| {
                Dense::from_fn(60, width, |row, col| {
                    if filled[row] { ((row * 3 + col * 5) % 7) as f32 / 7.0 } else { 0.0 }
                })
            };
        let blocks = [block(2), block(3)];
        let mut expected = dense(&matrix);
        for row in 0..60 {
            for col in 0..60 {
                let of_block = |block: &Dense<f32>| -> f64 {
                    block.row(row).iter().zip(block.row(col)).map(|(&x, &y)| f64::from(x * y)).sum()
                };
                let shift = if row == col && filled[row] { 2.0 } else { 0.0 };
                expected[row * 60 + col] += shift + 0.5 * blocks.iter().map(of_block).sum::<f64>();
            }
        }
        check(&Symmetric::new(&[&half], 2.0, 0.5, &blocks), &expected);
    }
}

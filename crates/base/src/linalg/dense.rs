//! Tall, narrow factors: one row per node and few columns.
//!
//! Invariant: rows are padded with zeros to `stride`, a multiple of [`LANES`], so that kernels compiled for a few
//! widths work for all. Both solvers keep the padding at zero, because it has no numerator and no Gram entry.

use super::Real;
use super::aligned::Aligned;

/// Rows are padded to a multiple of this many columns.
pub(super) const LANES: usize = 4;

/// A dense matrix in row order, with rows padded to `stride` numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<T> {
    rows: usize,
    width: usize,
    stride: usize,
    data: Aligned<T>,
}

impl<T: Real> Dense<T> {
    /// Creates a matrix of zeros.
    pub fn zeros(rows: usize, width: usize) -> Self {
        let stride = width.next_multiple_of(LANES);
        Dense { rows, width, stride, data: Aligned::zeros(rows * stride) }
    }

    /// Creates a matrix from a function of row and column.
    pub fn from_fn(rows: usize, width: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut dense = Self::zeros(rows, width);
        for row in 0..rows {
            for (col, x) in dense.row_mut(row).iter_mut().enumerate() {
                *x = f(row, col);
            }
        }
        dense
    }

    /// Returns the same matrix in another number type.
    pub fn converted<S: Real>(&self) -> Dense<S> {
        Dense::from_fn(self.rows, self.width, |row, col| S::from_f64(self.row(row)[col].to_f64()))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns without padding.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of columns with padding.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns a row without padding.
    pub fn row(&self, row: usize) -> &[T] {
        &self.data[row * self.stride..][..self.width]
    }

    /// Returns a mutable row without padding.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.data[row * self.stride..][..self.width]
    }

    /// Returns all rows with padding.
    pub fn padded(&self) -> &[T] {
        &self.data
    }

    /// Returns all rows with padding, mutable. The padding must stay zero.
    pub fn padded_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Multiplies column `col` by `factors[col]`.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.width, "one factor for each column");
        for row in 0..self.rows {
            for (x, &factor) in self.row_mut(row).iter_mut().zip(factors) {
                *x = T::from_f64(x.to_f64() * factor);
            }
        }
    }
}

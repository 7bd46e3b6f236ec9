//! Truncated singular value decomposition of a sparse matrix, or of one that is never formed: a sum of sparse matrices,
//! or any other [`Operator`].
//!
//! Block Krylov iteration: `Q_0 = orth(A Ω)` with random Ω, and `Q_(j+1)` is what `A Aᵀ Q_j` adds to `Q_0 ... Q_j`.
//! The result is the best approximation within the span of all blocks: with `W = Aᵀ Q` and `WᵀW = X S² Xᵀ`, the left
//! singular vectors are `Q X`, the values S, and the right vectors `W X S^-1`. So `U S Vᵀ = Q Qᵀ A` for all columns
//! of Q, regardless of the accuracy of X.
//!
//! Power iteration keeps only the last block; this method keeps all. On a proximity matrix of 10 M entries with
//! slowly decreasing singular values, 640 columns in ten blocks are closer to the best 256 than seven power
//! iterations of 266 columns, with a third of the products.
//!
//! Invariant: the result depends only on the matrix, bit for bit, for any number of threads. Empty rows of the matrix
//! are exactly zero in U, empty columns in V.

mod operator;
mod orthonormal;
mod rotation;
mod tall;

use super::{Dense, Tiles};
use crate::random::{Key, unit_f64};
pub use operator::{Continue, Operator, SideBySide, Sum, Symmetric, Transposed};
use orthonormal::orthonormalize;
use rotation::Rotation;

/// The number of columns of a block. Narrower blocks reach further with the same number of products, but find fewer
/// of many equal values.
const BLOCK: usize = 64;

/// The number of extra columns, which let the last requested ones converge.
const OVERSAMPLING: usize = 10;

/// The leading singular values and vectors: `A` is approximately `U S Vᵀ`.
#[derive(Clone, Debug)]
pub struct Svd {
    /// U, with one row per row of A. The entry of the largest magnitude in each column is positive.
    pub left: Dense<f32>,
    /// S, in descending order. If the rank of A is lower than requested, the remaining values and vectors are zero.
    pub values: Vec<f64>,
    /// V, with one row per column of A.
    pub right: Dense<f32>,
}

/// Receives the completed share, from any thread, and returns whether to continue.
pub type Going<'a> = dyn Fn(f64) -> bool + Sync + 'a;

/// Returns the `rank` leading singular values and vectors of the sum of `parts`, as [`leading`] does.
///
/// # Panics
/// When there is no part, or the shapes differ.
pub fn truncated(parts: &[&Tiles<f32>], rank: usize, iterations: usize, going: &Going<'_>) -> Option<Svd> {
    let (first, rest) = parts.split_first().expect("at least one part");
    assert!(rest.iter().all(|part| (part.rows(), part.cols()) == (first.rows(), first.cols())), "one shape");
    leading(&Sum(parts), rank, iterations, going)
}

/// Returns the `rank` leading singular values and vectors of a matrix, computed on the threads of the current pool.
///
/// `iterations` is the number of blocks in addition to those that contain `rank` columns. More iterations make the
/// last values more accurate. The time is about that of `2 (rank + 64 iterations)` products with a vector, and the
/// memory is `8 (rank + 64 iterations)` bytes per row and column. The result is `None` when `going` returns false.
pub fn leading(matrix: &dyn Operator, rank: usize, iterations: usize, going: &Going<'_>) -> Option<Svd> {
    let filled = matrix.filled_rows();
    let widths = widths(&filled, &matrix.filled_columns(), rank, iterations);
    let (mut bases, mut images) = (Vec::with_capacity(widths.len()), Vec::with_capacity(widths.len()));
    for (index, &width) in widths.iter().enumerate() {
        // The final step takes about as long as one block.
        let going = || going(index as f64 / (widths.len() + 1) as f64);
        let random = |row: usize, col: usize, draw: usize| centered(index, row, col, draw);
        let mut block = match images.last() {
            Some(image) => narrowed(matrix.times(image, &going), width),
            None => {
                matrix.times(&Dense::from_fn(matrix.cols(), width, |row, col| random(row, col, 0)), &going)
            }
        };
        going().then_some(())?;
        orthonormalize(
            &mut block,
            &bases,
            |row, col, draw| if filled[row] { random(row, col, draw) } else { 0.0 },
        );
        images.push(matrix.transposed_times(&block, &going));
        bases.push(block);
        going().then_some(())?;
    }
    Some(rotated(matrix, rank, &bases, &images))
}

/// Returns the `rank` leading left singular vectors of tall blocks side by side, and the values. They are exact, from a
/// dense decomposition of the Gram matrix: the time is cubic in the number of columns.
///
/// # Panics
/// When there is no block, or the heights differ.
pub fn of_blocks(blocks: &[Dense<f32>], rank: usize) -> (Dense<f32>, Vec<f64>) {
    let rotation = Rotation::of(blocks, rank);
    let mut left = rotation.apply(blocks, blocks[0].rows(), &|value| 1.0 / value);
    let signs = signs(&left);
    left.scale_columns(&signs);
    (left, rotation.values)
}

/// Returns the widths of the blocks. The total does not exceed the largest possible rank.
fn widths(rows: &[bool], columns: &[bool], rank: usize, iterations: usize) -> Vec<usize> {
    let count = |filled: &[bool]| filled.iter().filter(|&&filled| filled).count();
    let most = count(rows).min(count(columns));
    let block = BLOCK.min(rank + OVERSAMPLING);
    let wanted = ((rank + OVERSAMPLING).div_ceil(block) + iterations) * block;
    let all = wanted.min(most);
    (0..all).step_by(block).map(|from| block.min(all - from)).collect()
}

/// Returns a random number centered at zero, for a block, a position in it and the number of earlier draws there.
fn centered(block: usize, row: usize, col: usize, draw: usize) -> f32 {
    (unit_f64(Key::new(draw as u64).with(block as u64).at(row, col)) - 0.5) as f32
}

/// Returns the first columns: the last block may be narrower than the one it is computed from.
fn narrowed(block: Dense<f32>, width: usize) -> Dense<f32> {
    if block.width() == width {
        return block;
    }
    Dense::from_fn(block.rows(), width, |row, col| block.row(row)[col])
}

/// Returns the singular vectors within the span of the bases, whose images under `Aᵀ` are given.
fn rotated(matrix: &dyn Operator, rank: usize, bases: &[Dense<f32>], images: &[Dense<f32>]) -> Svd {
    let rotation = Rotation::of(images, rank);
    let mut left = rotation.apply(bases, matrix.rows(), &|_| 1.0);
    let mut right = rotation.apply(images, matrix.cols(), &|value| 1.0 / value);
    let signs = signs(&left);
    left.scale_columns(&signs);
    right.scale_columns(&signs);
    Svd { left, values: rotation.values, right }
}

/// Returns the signs that make the entry of the largest magnitude in each column positive; the first of equal
/// magnitudes counts.
fn signs(x: &Dense<f32>) -> Vec<f64> {
    let mut largest = vec![0f32; x.width()];
    for row in 0..x.rows() {
        for (largest, &value) in largest.iter_mut().zip(x.row(row)) {
            if value.abs() > largest.abs() {
                *largest = value;
            }
        }
    }
    largest.iter().map(|&value| if value < 0.0 { -1.0 } else { 1.0 }).collect()
}

#[cfg(test)]
mod tests;

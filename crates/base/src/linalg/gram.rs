//! Small products of tall factors: `XᵀX`, inner products, column norms.
//!
//! Invariant: sums run in f64 over chunks of constant size that are added in order, so neither the number of threads
//! nor the vector width changes a bit.

use rayon::prelude::*;

use super::dense::LANES;
use super::kernels::{add_multiple, for_each_window, vectorized};
use super::{Dense, Real};
use crate::memory::zeros;

/// The number of rows that a task sums. The sums of all tasks exist at the same time.
pub const CHUNK_ROWS: usize = 1024;
/// The number of rows that are summed in the precision of the matrix before they are added to the f64 sum.
const RUN_ROWS: usize = 32;

/// Returns `XᵀX` in f64, `width x width`, in row order.
pub fn gram<T: Real>(x: &Dense<T>) -> Vec<f64> {
    let stride = x.stride();
    let parts: Vec<Vec<f64>> = x
        .padded()
        .par_chunks(CHUNK_ROWS * stride)
        .map(|rows| {
            vectorized(
                #[inline(always)]
                || gram_of_chunk(rows, stride),
            )
        })
        .collect();
    let mut padded = zeros(stride * stride);
    for part in &parts {
        add(&mut padded, part);
    }
    let width = x.width();
    (0..width * width).map(|at| padded[at / width * stride + at % width]).collect()
}

/// Returns the padded Gram matrix of some rows.
#[inline(always)]
fn gram_of_chunk<T: Real>(rows: &[T], stride: usize) -> Vec<f64> {
    let mut total = zeros(stride * stride);
    for run in rows.chunks(RUN_ROWS * stride) {
        for_each_window!(stride, |offset, WIDTH| {
            for first in (0..stride).step_by(LANES) {
                let sums = products_of_columns::<T, WIDTH>(run, stride, first, offset);
                for (lane, sums) in sums.iter().enumerate() {
                    let total = &mut total[(first + lane) * stride + offset..][..WIDTH];
                    for (total, sum) in total.iter_mut().zip(sums) {
                        *total += sum.to_f64();
                    }
                }
            }
        });
    }
    total
}

/// Returns the products of the columns `first..first + LANES` with the columns `offset..offset + WIDTH`, kept in
/// registers.
#[inline(always)]
fn products_of_columns<T: Real, const WIDTH: usize>(
    run: &[T],
    stride: usize,
    first: usize,
    offset: usize,
) -> [[T; WIDTH]; LANES] {
    // Four variables instead of an array of four, across which the compiler would place its vectors.
    let [mut first_sum, mut second, mut third, mut fourth] = [[T::ZERO; WIDTH]; LANES];
    for row in run.chunks_exact(stride) {
        let factors: &[T; LANES] = row[first..].first_chunk().expect("the columns are within the row");
        let window: &[T; WIDTH] = row[offset..].first_chunk().expect("the window is within the row");
        add_multiple(&mut first_sum, factors[0], window);
        add_multiple(&mut second, factors[1], window);
        add_multiple(&mut third, factors[2], window);
        add_multiple(&mut fourth, factors[3], window);
    }
    [first_sum, second, third, fourth]
}

/// Returns `sum_ij x_ij y_ij` in f64.
pub fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    assert_eq!(x.len(), y.len(), "factors of one shape");
    let chunk = CHUNK_ROWS * 16;
    let product = |(x, y): (&[T], &[T])| x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum::<f64>();
    let sums: Vec<f64> = x.par_chunks(chunk).zip(y.par_chunks(chunk)).map(product).collect();
    sums.iter().sum()
}

/// Adds `part` to `sum` element by element.
pub fn add(sum: &mut [f64], part: &[f64]) {
    for (sum, part) in sum.iter_mut().zip(part) {
        *sum += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gram_matrix_is_the_naive_one() {
        for (rows, width) in [(0, 3), (1, 1), (33, 5), (1024, 8), (2500, 13)] {
            let x = Dense::<f64>::from_fn(rows, width, |row, col| ((row * 7 + col * 3) % 11) as f64 / 7.0);
            let fast = gram(&x);
            for a in 0..width {
                for b in 0..width {
                    let naive: f64 = (0..rows).map(|row| x.row(row)[a] * x.row(row)[b]).sum();
                    assert!((fast[a * width + b] - naive).abs() <= 1e-12 * naive.abs(), "{rows} x {width}");
                }
            }
        }
    }
}

//! Small products of tall factors: `XᵀX`, inner products, column norms.
//!
//! Invariant: sums run in f64 over chunks of constant size that are added in order, so neither the number of
//! threads nor the vector width changes a bit.

use rayon::prelude::*;

use super::kernels::vectorised;
use super::{Dense, Real};

/// Rows whose sums one task forms.
const CHUNK_ROWS: usize = 1024;
/// Rows that are added up in the matrix's own precision before they go into the f64 sum.
const RUN_ROWS: usize = 32;

/// `XᵀX` in f64, `width x width`, by rows.
pub(crate) fn gram<T: Real>(x: &Dense<T>) -> Vec<f64> {
    let stride = x.stride();
    let parts: Vec<Vec<f64>> = x
        .padded()
        .par_chunks(CHUNK_ROWS * stride)
        .map(|rows| {
            vectorised(
                #[inline(always)]
                || gram_of_chunk(rows, stride),
            )
        })
        .collect();
    let mut padded = vec![0.0; stride * stride];
    for part in &parts {
        add(&mut padded, part);
    }
    let width = x.width();
    (0..width * width).map(|at| padded[at / width * stride + at % width]).collect()
}

#[inline(always)]
fn gram_of_chunk<T: Real>(rows: &[T], stride: usize) -> Vec<f64> {
    let mut total = vec![0.0; stride * stride];
    let mut run_sum = vec![T::ZERO; stride * stride];
    for run in rows.chunks(RUN_ROWS * stride) {
        run_sum.fill(T::ZERO);
        for row in run.chunks_exact(stride) {
            for (&x, sums) in row.iter().zip(run_sum.chunks_exact_mut(stride)) {
                for (sum, &y) in sums.iter_mut().zip(row) {
                    *sum += x * y;
                }
            }
        }
        for (total, sum) in total.iter_mut().zip(&run_sum) {
            *total += sum.to_f64();
        }
    }
    total
}

/// `sum_ij x_ij y_ij` in f64.
pub(crate) fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    assert_eq!(x.len(), y.len(), "factors of one shape");
    let chunk = CHUNK_ROWS * 16;
    let product = |(x, y): (&[T], &[T])| x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum::<f64>();
    let sums: Vec<f64> = x.par_chunks(chunk).zip(y.par_chunks(chunk)).map(product).collect();
    sums.iter().sum()
}

pub(crate) fn add(sum: &mut [f64], part: &[f64]) {
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

//! Products of tall blocks: `XᵀY`, which is small, and `X C` with a small C, which is tall.
//!
//! Invariant: sums over rows run in f64 over chunks of constant size that are added in order, and a row of `X C` is
//! summed by one thread. So neither the number of threads nor the vector width changes a bit.

use rayon::prelude::*;

use crate::linalg::dense::LANES;
use crate::linalg::gram::add;
use crate::linalg::kernels::{add_multiple, for_each_window, vectorized};
use crate::linalg::{Dense, Real};

/// The number of rows whose products one task computes.
const CHUNK_ROWS: usize = 1024;

/// The number of rows that are summed in `S` before they are added to the f64 sum.
const RUN_ROWS: usize = 32;

/// The number of rows of `X C` that one task computes.
const TASK_ROWS: usize = 128;

/// Returns `XᵀY` in row order. Products and sums of a few rows are computed in `S`: f32 is fast, f64 resolves small
/// differences of columns.
pub(super) fn cross<S: Real>(x: &Dense<f32>, y: &Dense<f32>) -> Vec<f64> {
    assert_eq!(x.rows(), y.rows(), "blocks of one height");
    let (left, right) = (x.stride(), y.stride());
    let chunks = x.padded().par_chunks(CHUNK_ROWS * left).zip(y.padded().par_chunks(CHUNK_ROWS * right));
    let parts: Vec<Vec<f64>> = chunks.map(|(x, y)| cross_of_chunk::<S>(x, y, left, right)).collect();
    let mut padded = vec![0.0; left * right];
    parts.iter().for_each(|part| add(&mut padded, part));
    let rows = padded.chunks_exact(right.max(1)).take(x.width());
    rows.flat_map(|row| &row[..y.width()]).copied().collect()
}

fn cross_of_chunk<S: Real>(x: &[f32], y: &[f32], left: usize, right: usize) -> Vec<f64> {
    let mut total = vec![0.0; left * right];
    let mut wide = (vec![S::ZERO; RUN_ROWS * left], vec![S::ZERO; RUN_ROWS * right]);
    for (x, y) in x.chunks(RUN_ROWS * left).zip(y.chunks(RUN_ROWS * right)) {
        let (x, y) = (widen(x, &mut wide.0), widen(y, &mut wide.1));
        for_each_window!(right, |offset, WIDTH| vectorized(
            #[inline(always)]
            || {
                for first in (0..left).step_by(LANES) {
                    let sums = products_of_columns::<S, WIDTH>(x, y, [left, right], first, offset);
                    for (lane, sums) in sums.iter().enumerate() {
                        let total = &mut total[(first + lane) * right + offset..][..WIDTH];
                        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum.to_f64());
                    }
                }
            }
        ));
    }
    total
}

fn widen<'a, S: Real>(x: &[f32], wide: &'a mut [S]) -> &'a [S] {
    for (wide, &x) in wide.iter_mut().zip(x) {
        *wide = S::from_f64(f64::from(x));
    }
    &wide[..x.len()]
}

/// Returns the products of the columns `first..first + LANES` of X with the columns `offset..offset + WIDTH` of Y.
#[inline(always)]
fn products_of_columns<S: Real, const WIDTH: usize>(
    x: &[S],
    y: &[S],
    strides: [usize; 2],
    first: usize,
    offset: usize,
) -> [[S; WIDTH]; LANES] {
    // Four variables instead of an array of four, across which the compiler would place its vectors.
    let [mut first_sum, mut second, mut third, mut fourth] = [[S::ZERO; WIDTH]; LANES];
    for (x, y) in x.chunks_exact(strides[0]).zip(y.chunks_exact(strides[1])) {
        let factors: &[S; LANES] = x[first..].first_chunk().expect("the columns are within the row");
        let window: &[S; WIDTH] = y[offset..].first_chunk().expect("the window is within the row");
        add_multiple(&mut first_sum, factors[0], window);
        add_multiple(&mut second, factors[1], window);
        add_multiple(&mut third, factors[2], window);
        add_multiple(&mut fourth, factors[3], window);
    }
    [first_sum, second, third, fourth]
}

/// Small coefficients of a block: one row per column of the block, padded like the rows they are added to.
pub(super) struct Coefficients {
    stride: usize,
    values: Vec<f32>,
}

impl Coefficients {
    /// Creates coefficients from a matrix of `width` columns in row order, times `factor`.
    pub(super) fn new(values: &[f64], width: usize, factor: f64) -> Self {
        let stride = width.next_multiple_of(LANES);
        let mut padded = vec![0.0; values.len() / width.max(1) * stride];
        for (padded, row) in padded.chunks_exact_mut(stride.max(1)).zip(values.chunks_exact(width.max(1))) {
            padded.iter_mut().zip(row).for_each(|(padded, value)| *padded = (factor * value) as f32);
        }
        Coefficients { stride, values: padded }
    }
}

/// `Y += X_1 C_1 + X_2 C_2 + ...`
pub(super) fn add_products(y: &mut Dense<f32>, terms: &[(&Dense<f32>, Coefficients)]) {
    let stride = y.stride();
    for (x, coefficients) in terms {
        let fits = x.rows() == y.rows() && coefficients.values.len() == x.width() * stride;
        assert!(fits && coefficients.stride == stride, "{} columns to {}", x.width(), y.width());
    }
    y.padded_mut().par_chunks_mut(TASK_ROWS * stride).enumerate().for_each(|(task, y)| {
        for (x, coefficients) in terms {
            let x_rows = &x.padded()[task * TASK_ROWS * x.stride()..];
            for_each_window!(stride, |offset, WIDTH| vectorized(
                #[inline(always)]
                || add_window::<WIDTH>(y, x_rows, x.width(), coefficients, offset)
            ));
        }
    });
}

/// Computes the columns `offset..offset + WIDTH` of some rows, four rows at a time, with the sums in registers.
#[inline(always)]
fn add_window<const WIDTH: usize>(
    y: &mut [f32],
    x: &[f32],
    width: usize,
    coefficients: &Coefficients,
    offset: usize,
) {
    let (stride, x_stride) = (coefficients.stride, width.next_multiple_of(LANES));
    for (y, x) in y.chunks_mut(4 * stride).zip(x.chunks(4 * x_stride)) {
        if y.len() < 4 * stride {
            let rows = y.chunks_exact_mut(stride).zip(x.chunks_exact(x_stride));
            rows.for_each(|(y, x)| add_window_of_row::<WIDTH>(y, &x[..width], coefficients, offset));
            continue;
        }
        let places = [0, 1, 2, 3].map(|row| row * stride + offset);
        let (mut first, mut second) = (window::<WIDTH>(y, places[0]), window::<WIDTH>(y, places[1]));
        let (mut third, mut fourth) = (window::<WIDTH>(y, places[2]), window::<WIDTH>(y, places[3]));
        let (x0, rest) = x.split_at(x_stride);
        let (x1, rest) = rest.split_at(x_stride);
        let (x2, x3) = rest.split_at(x_stride);
        let rows = coefficients.values.chunks_exact(stride);
        for ((((factors, &x0), &x1), &x2), &x3) in rows.zip(x0).zip(x1).zip(x2).zip(x3) {
            let factors = window::<WIDTH>(factors, offset);
            add_multiple(&mut first, x0, &factors);
            add_multiple(&mut second, x1, &factors);
            add_multiple(&mut third, x2, &factors);
            add_multiple(&mut fourth, x3, &factors);
        }
        y[places[0]..][..WIDTH].copy_from_slice(&first);
        y[places[1]..][..WIDTH].copy_from_slice(&second);
        y[places[2]..][..WIDTH].copy_from_slice(&third);
        y[places[3]..][..WIDTH].copy_from_slice(&fourth);
    }
}

#[inline(always)]
fn add_window_of_row<const WIDTH: usize>(
    y: &mut [f32],
    x: &[f32],
    coefficients: &Coefficients,
    offset: usize,
) {
    let mut sums = window::<WIDTH>(y, offset);
    for (&x, factors) in x.iter().zip(coefficients.values.chunks_exact(coefficients.stride)) {
        add_multiple(&mut sums, x, &window(factors, offset));
    }
    y[offset..][..WIDTH].copy_from_slice(&sums);
}

#[inline(always)]
fn window<const WIDTH: usize>(row: &[f32], offset: usize) -> [f32; WIDTH] {
    *row[offset..].first_chunk().expect("the window is within the row")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: usize, width: usize, salt: usize) -> Dense<f32> {
        Dense::from_fn(rows, width, |row, col| ((row * 7 + col * 3 + salt) % 11) as f32 / 8.0 - 0.5)
    }

    #[test]
    fn products_are_the_naive_ones() {
        for (rows, left, right) in [(0, 2, 3), (1, 1, 1), (33, 5, 40), (130, 64, 4), (1100, 9, 33)] {
            let (x, y) = (block(rows, left, 1), block(rows, right, 5));
            let (fast, exact) = (cross::<f32>(&x, &y), cross::<f64>(&x, &y));
            let mut sum = y.clone();
            let small: Vec<f64> = (0..left * right).map(|at| (at % 5) as f64 - 1.5).collect();
            add_products(&mut sum, &[(&x, Coefficients::new(&small, right, -2.0))]);
            for b in 0..right {
                for a in 0..left {
                    let naive: f64 =
                        (0..rows).map(|row| f64::from(x.row(row)[a]) * f64::from(y.row(row)[b])).sum();
                    assert!((exact[a * right + b] - naive).abs() < 1e-10, "{rows} rows");
                    assert!((fast[a * right + b] - naive).abs() < 1e-3, "{rows} rows");
                }
                for row in 0..rows {
                    let product: f64 =
                        (0..left).map(|a| f64::from(x.row(row)[a]) * small[a * right + b]).sum();
                    let naive = f64::from(y.row(row)[b]) - 2.0 * product;
                    assert!((f64::from(sum.row(row)[b]) - naive).abs() < 1e-4, "{rows} rows");
                }
            }
        }
    }
}

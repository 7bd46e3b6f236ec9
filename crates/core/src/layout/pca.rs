//! Principal components: the directions along which rows differ most.
//!
//! The leading eigenvectors of the covariance `C = XᵀX / n - m mᵀ` come from orthogonal iteration, `B <- orth(C B)`,
//! with some columns to spare, and a last rotation to the eigenvectors within that space (Rayleigh and Ritz).
//!
//! Invariant: each number of C is summed over the rows in their order by one thread.

use rayon::prelude::*;

use crate::linalg::kernels::vectorised;
use crate::parallel::Pool;
use crate::random::{Key, unit_f64};

/// Columns beyond those asked for, which let the last of them converge.
const SPARE: usize = 10;

/// Enough for a picture: what the last columns miss is the smallest part of the variance.
const ITERATIONS: usize = 40;

/// Rows of C that a task computes together, while a row of X is in the cache.
const BAND: usize = 16;

/// The coordinates of all rows along their first `count` principal components, row after row.
pub(super) fn components(x: &[f32], rows: usize, dim: usize, count: usize, pool: &Pool) -> Vec<f32> {
    if rows == 0 || dim == 0 {
        return Vec::new();
    }
    let means = means(x, rows, dim);
    let covariance = covariance(x, rows, &means, pool);
    let directions = leading(&covariance, dim, count);
    let project = |row: &[f32]| -> Vec<f32> {
        let along = |direction: &Vec<f64>| {
            let terms =
                row.iter().zip(&means).zip(direction).map(|((&x, mean), d)| (f64::from(x) - mean) * d);
            terms.sum::<f64>() as f32
        };
        directions.iter().map(along).collect()
    };
    pool.run(|| x.par_chunks_exact(dim).flat_map_iter(project).collect())
}

fn means(x: &[f32], rows: usize, dim: usize) -> Vec<f64> {
    let mut sums = vec![0.0; dim];
    for row in x.chunks_exact(dim) {
        sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    sums.iter().map(|sum| sum / rows as f64).collect()
}

fn covariance(x: &[f32], rows: usize, means: &[f64], pool: &Pool) -> Vec<f64> {
    let dim = means.len();
    let mut covariance = vec![0.0; dim * dim];
    let band = |(index, band): (usize, &mut [f64])| {
        let first = index * BAND;
        vectorised(
            #[inline(always)]
            || add_products(x, dim, first, band),
        );
        for (i, row) in band.chunks_exact_mut(dim).enumerate() {
            let mean = means[first + i];
            row.iter_mut().zip(means).for_each(|(value, other)| *value = *value / rows as f64 - mean * other);
        }
    };
    pool.run(|| covariance.par_chunks_mut(BAND * dim).enumerate().for_each(band));
    covariance
}

/// Adds the rows `first..` of `XᵀX` to a band.
#[inline(always)]
fn add_products(x: &[f32], dim: usize, first: usize, band: &mut [f64]) {
    for row in x.chunks_exact(dim) {
        for (i, sums) in band.chunks_exact_mut(dim).enumerate() {
            let factor = f64::from(row[first + i]);
            // Half of the numbers of an embedding are zero.
            if factor != 0.0 {
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += factor * f64::from(value));
            }
        }
    }
}

/// The eigenvectors of the largest eigenvalues of a symmetric matrix, the largest first. Each has its largest number
/// above zero.
fn leading(matrix: &[f64], dim: usize, count: usize) -> Vec<Vec<f64>> {
    let (key, width) = (Key::new(0), (count + SPARE).min(dim));
    let random = |column: usize| (0..dim).map(|row| unit_f64(key.at(row, column)) - 0.5).collect();
    let mut basis: Vec<Vec<f64>> = (0..width).map(random).collect();
    orthonormalise(&mut basis);
    for _ in 0..ITERATIONS {
        basis = basis.iter().map(|column| times(matrix, column)).collect();
        orthonormalise(&mut basis);
    }
    let images: Vec<Vec<f64>> = basis.iter().map(|column| times(matrix, column)).collect();
    let within: Vec<Vec<f64>> =
        basis.iter().map(|a| images.iter().map(|image| dot(a, image)).collect()).collect();
    let (values, vectors) = eigen(within);
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let combined = |&which: &usize| {
        let mut vector = vec![0.0; dim];
        for (column, weights) in basis.iter().zip(&vectors) {
            vector.iter_mut().zip(column).for_each(|(sum, value)| *sum += weights[which] * value);
        }
        let largest =
            vector.iter().copied().fold(0.0, |a: f64, b: f64| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            vector.iter_mut().for_each(|value| *value = -*value);
        }
        vector
    };
    order.iter().take(count).map(combined).collect()
}

fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(vector.len()).map(|row| dot(row, vector)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gram and Schmidt, twice, since once leaves the rounding errors of nearly dependent columns. Columns that depend on
/// earlier ones become zero.
fn orthonormalise(columns: &mut [Vec<f64>]) {
    for at in 0..columns.len() {
        let (before, rest) = columns.split_at_mut(at);
        let column = &mut rest[0];
        let length = dot(column, column).sqrt();
        for _ in 0..2 {
            for earlier in before.iter() {
                let along = dot(column, earlier);
                column.iter_mut().zip(earlier).for_each(|(value, other)| *value -= along * other);
            }
        }
        let left = dot(column, column).sqrt();
        let scale = if left > 1e-12 * length { 1.0 / left } else { 0.0 };
        column.iter_mut().for_each(|value| *value *= scale);
    }
}

/// Eigenvalues and eigenvectors (as columns) of a small symmetric matrix, by Jacobi's rotations.
fn eigen(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    let whole: f64 = a.iter().flatten().map(|value| value * value).sum();
    // Converges quadratically: far fewer sweeps than these are made.
    for _ in 0..50 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off <= 1e-24 * whole {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), vectors)
}

/// Turns columns p and q so that `a[p][q]` vanishes.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let turn = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
    for row in a.iter_mut() {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
    let (upper, lower) = a.split_at_mut(q);
    for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
        (*x, *y) = turn(*x, *y);
    }
    for row in vectors.iter_mut() {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_are_turned_into_multiples_of_themselves() {
        let dim = 12;
        let key = Key::new(3);
        let half: Vec<f64> = (0..dim * dim).map(|at| unit_f64(key.at(at / dim, at % dim)) - 0.4).collect();
        let entry = |i: usize, j: usize| (0..dim).map(|k| half[i * dim + k] * half[j * dim + k]).sum::<f64>();
        let matrix: Vec<f64> = (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect();
        let found = leading(&matrix, dim, 3);
        let mut last = f64::INFINITY;
        for vector in &found {
            let image = times(&matrix, vector);
            let value = dot(&image, vector);
            assert!(value <= last && (dot(vector, vector) - 1.0).abs() < 1e-9);
            assert!(image.iter().zip(vector).all(|(y, x)| (y - value * x).abs() < 1e-6), "{value}");
            last = value;
        }
    }

    #[test]
    fn a_line_has_one_component() {
        let x: Vec<f32> = (0..20).flat_map(|at| [at as f32, 2.0 * at as f32, 5.0]).collect();
        let found = components(&x, 20, 3, 2, &Pool::new(Some(2)).unwrap());
        for (at, place) in found.chunks_exact(2).enumerate() {
            assert!((place[0] - (at as f32 - 9.5) * 5f32.sqrt()).abs() < 1e-4, "{place:?}");
            assert!(place[1].abs() < 1e-4, "{place:?}");
        }
    }
}

//! Principal components: the directions of the largest variance of the rows.
//!
//! They are the leading eigenvectors of the covariance `C = XᵀX / n - m mᵀ`.
//!
//! Invariant: each element of C is summed over the rows in order by one thread.

use rayon::prelude::*;

use manyview_base::linalg::eigen;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::parallel::Pool;

/// Number of rows of C that a task computes together, while a row of X is in the cache.
const BAND: usize = 16;

/// The coordinates of all rows along their first `count` principal components, row by row.
pub(super) fn components(x: &[f32], rows: usize, dim: usize, count: usize, pool: &Pool) -> Vec<f32> {
    if rows == 0 || dim == 0 {
        return Vec::new();
    }
    let means = means(x, rows, dim);
    let covariance = covariance(x, rows, &means, pool);
    let directions = pool.run(|| leading(covariance, dim, count));
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
        vectorized(
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

/// The eigenvectors of the largest eigenvalues. In each, the number with the largest magnitude is positive.
fn leading(matrix: Vec<f64>, dim: usize, count: usize) -> Vec<Vec<f64>> {
    let mut vectors = eigen::symmetric(matrix, dim, count).vectors;
    for vector in &mut vectors {
        let largest = vector.iter().fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            vector.iter_mut().for_each(|value| *value = -*value);
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_falling_and_their_largest_number_is_positive() {
        let diagonal = vec![2.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 3.0];
        let found = leading(diagonal, 3, 2);
        assert_eq!(found, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
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

//! A preconditioner from an approximation of the objective's Hessian. It reduces hundreds of iterations to about a
//! dozen.
//!
//! The Hessian of logistic regression is, for each output, `C sum_i a_i x_i x_iᵀ + 1` with `a_i = p_i (1 - p_i)`. With
//! all `a_i` replaced by their mean `a` it is `C n a (S + t 1)`, where S is the second moment of the centered vectors
//! and `t = 1 / (C n a)`. S depends on the vectors only. It is computed once from all labeled nodes. `S + t 1` is
//! factorized once for each t, rounded to a power of two, and the factor is used for all splits, all C and all labels.
//!
//! The preconditioner changes the speed of a fit, not its minimum. So the vectors of the test nodes, which are part of
//! S, cannot leak into a converged classifier.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::Vectors;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::{add_multiple, product};
use manyview_base::linalg::{Dense, gram};

/// Maximum number of rows that S is computed from; a sample of this size is accurate enough.
const MOST_ROWS: usize = 8192;

/// For wider vectors only the diagonal of S is used, because a factorization would take longer than the fits.
const WIDEST: usize = 1024;

/// The exponents of the powers of two that the ridge t is rounded to, relative to the mean of S's diagonal.
const LEAST: i32 = -30;
const MOST: i32 = 30;

/// The mean and the second moment of the vectors, which do not depend on labels.
#[derive(Debug)]
pub(super) struct Curvature {
    /// The mean vector.
    pub(super) mean: Vec<f64>,
    moment: Moment,
    /// Mean of S's diagonal.
    size: f64,
    factors: Vec<OnceLock<Vec<f64>>>,
}

#[derive(Debug)]
enum Moment {
    /// Row by row.
    Full(Vec<f64>),
    Diagonal(Vec<f64>),
}

impl Curvature {
    /// Computes the moments of the vectors in these rows; with `standardize`, of vectors scaled to columns of variance
    /// 1.
    pub(super) fn new(vectors: &Vectors<'_>, rows: &[u32], standardize: bool) -> Self {
        let step = rows.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<u32> = rows.iter().step_by(step).copied().collect();
        let (mean, variance) = moments(vectors, &rows);
        let scale: Vec<f64> = match standardize {
            true => deviations(&mean, &variance, rows.len()),
            false => vec![1.0; vectors.dim()],
        };
        let dim = vectors.dim();
        let moment = if dim <= WIDEST {
            let centered = Dense::<f32>::from_fn(rows.len(), dim, |place, column| {
                let x = f64::from(vectors.row(rows[place] as usize)[column]);
                ((x - mean[column]) / scale[column]) as f32
            });
            let count = rows.len() as f64;
            Moment::Full(gram::gram(&centered).into_iter().map(|sum| sum / count).collect())
        } else {
            Moment::Diagonal(
                variance.iter().zip(&scale).map(|(variance, scale)| variance / (scale * scale)).collect(),
            )
        };
        let trace: f64 = match &moment {
            Moment::Full(moment) => (0..dim).map(|at| moment[at * dim + at]).sum(),
            Moment::Diagonal(moment) => moment.iter().sum(),
        };
        // If all vectors are equal, the moment is zero and any size works.
        let size = if trace > 0.0 { trace / dim as f64 } else { 1.0 };
        let factors = (LEAST..=MOST).map(|_| OnceLock::new()).collect();
        Curvature { mean, moment, size, factors }
    }

    /// Replaces `x` by approximately `(S + ridge 1)^-1 x`.
    pub(super) fn solve(&self, ridge: f64, x: &mut [f64]) {
        let power = libm::log2(ridge / self.size).round().clamp(LEAST.into(), MOST.into()) as i32;
        let rounded = self.size * 2f64.powi(power);
        match &self.moment {
            Moment::Diagonal(diagonal) => {
                x.iter_mut().zip(diagonal).for_each(|(x, moment)| *x /= moment + rounded);
            }
            Moment::Full(moment) => {
                let factor =
                    self.factors[(power - LEAST) as usize].get_or_init(|| cholesky(moment, rounded, x.len()));
                vectorized(
                    #[inline(always)]
                    || solve_with(factor, x),
                );
            }
        }
    }
}

/// Mean and variance of each column over some rows.
pub(super) fn moments(vectors: &Vectors<'_>, rows: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let count = rows.len() as f64;
    let sums = |shift: &[f64], power: i32| {
        let parts: Vec<Vec<f64>> = rows
            .par_chunks(super::kernels::block_rows(rows.len()))
            .map(|rows| {
                let mut sums = vec![0.0; vectors.dim()];
                for &row in rows {
                    for ((sum, &x), shift) in sums.iter_mut().zip(vectors.row(row as usize)).zip(shift) {
                        *sum += (f64::from(x) - shift).powi(power);
                    }
                }
                sums
            })
            .collect();
        let mut total = vec![0.0; vectors.dim()];
        parts.iter().for_each(|part| add_multiple(&mut total, 1.0, part));
        total.iter().map(|sum| sum / count).collect::<Vec<f64>>()
    };
    let mean = sums(&vec![0.0; vectors.dim()], 1);
    let variance = sums(&mean, 2);
    (mean, variance)
}

/// Standard deviations to divide by; 1 for columns that are constant up to rounding.
pub(super) fn deviations(mean: &[f64], variance: &[f64], rows: usize) -> Vec<f64> {
    let rounding = rows as f64 * f64::EPSILON;
    let of = |(&mean, &variance): (&f64, &f64)| {
        let constant = variance <= rounding * variance + (rounding * mean).powi(2);
        if constant { 1.0 } else { variance.sqrt() }
    };
    mean.iter().zip(variance).map(of).collect()
}

/// The lower factor L of `moment + ridge 1 = L Lᵀ`, row by row.
fn cholesky(moment: &[f64], ridge: f64, dim: usize) -> Vec<f64> {
    let mut factor = moment.to_vec();
    vectorized(
        #[inline(always)]
        || {
            for row in 0..dim {
                let (above, rest) = factor.split_at_mut(row * dim);
                let this = &mut rest[..dim];
                for column in 0..row {
                    let other = &above[column * dim..][..=column];
                    let sum = product(&this[..column], &other[..column]);
                    this[column] = (this[column] - sum) / other[column];
                }
                let left = this[row] + ridge - product(&this[..row], &this[..row]);
                // S was summed in 32-bit floats: if it is singular, rounding may make this negative.
                this[row] = left.max(ridge * 1e-3).sqrt();
            }
        },
    );
    factor
}

#[inline(always)]
fn solve_with(factor: &[f64], x: &mut [f64]) {
    let dim = x.len();
    for row in 0..dim {
        let this = &factor[row * dim..][..=row];
        x[row] = (x[row] - product(&this[..row], &x[..row])) / this[row];
    }
    for row in (0..dim).rev() {
        let this = &factor[row * dim..][..=row];
        x[row] /= this[row];
        let known = x[row];
        add_multiple(&mut x[..row], -known, &this[..row]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, unit_f64};

    fn values(rows: usize, dim: usize) -> Vec<f32> {
        (0..rows * dim).map(|at| unit_f64(Key::new(9).at(at, 0)) as f32 * (1 + at % dim) as f32).collect()
    }

    #[test]
    fn solving_undoes_multiplying() {
        let (rows, dim) = (50, 11);
        let values = values(rows, dim);
        let vectors = Vectors::new(&values, rows, dim).unwrap();
        let all: Vec<u32> = (0..rows as u32).collect();
        let curvature = Curvature::new(&vectors, &all, false);
        let Moment::Full(moment) = &curvature.moment else { panic!("narrow vectors have a full moment") };
        let ridge = curvature.size / 8.0;
        let x: Vec<f64> = (0..dim).map(|at| at as f64 - 3.0).collect();
        let mut y: Vec<f64> =
            (0..dim).map(|row| product(&moment[row * dim..][..dim], &x) + ridge * x[row]).collect();
        curvature.solve(ridge, &mut y);
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).abs() < 1e-9, "{x} and {y}");
        }
    }

    #[test]
    fn vectors_all_alike_or_zero_do_no_harm() {
        for value in [0.0, 3.5] {
            let values = vec![value; 30];
            let vectors = Vectors::new(&values, 10, 3).unwrap();
            let curvature = Curvature::new(&vectors, &[0, 1, 2, 3, 4, 5], true);
            let mut x = vec![1.0, -2.0, 0.0];
            curvature.solve(1e-300, &mut x);
            assert!(x.iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn moments_are_the_plain_ones() {
        let values = values(700, 3);
        let vectors = Vectors::new(&values, 700, 3).unwrap();
        let (mean, variance) = moments(&vectors, &[1, 5, 600]);
        let x = [1, 5, 600].map(|row| f64::from(vectors.row(row)[2]));
        let expected = (x[0] + x[1] + x[2]) / 3.0;
        assert!((mean[2] - expected).abs() < 1e-12);
        let expected = x.iter().map(|x| (x - expected).powi(2)).sum::<f64>() / 3.0;
        assert!((variance[2] - expected).abs() < 1e-12);
        assert_eq!(deviations(&[5.0, 1.0], &[1e-33, 4.0], 100), [1.0, 2.0]);
    }
}

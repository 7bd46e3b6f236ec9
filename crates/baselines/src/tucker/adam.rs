//! Adam: gradient descent in which the step of each parameter is scaled by the usual size of its gradient.
//!
//! `m <- 0.9 m + 0.1 g`, `v <- 0.999 v + 0.001 g^2`, `x <- x - rate m' / (sqrt(v') + 1e-8)`, where `m'` and `v'` are
//! `m` and `v` corrected for their initial zeros: divided by `1 - 0.9^t` and `1 - 0.999^t` in step t.

use rayon::prelude::*;

use manyview_base::linalg::Real;
use manyview_base::linalg::kernels::vectorized;

const MEAN_KEPT: f64 = 0.9;
const SQUARE_KEPT: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The number of parameters per task.
const CHUNK: usize = 1 << 14;

/// The running means of the gradients of some parameters and of their squares.
#[derive(Clone, Debug)]
pub(super) struct Adam<T> {
    means: Vec<T>,
    squares: Vec<T>,
}

/// The numbers of a step that are the same for all parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride<T> {
    /// The rate, divided by the correction of the means.
    rate: T,
    /// The correction of the squares.
    square_scale: T,
}

impl<T: Real> Stride<T> {
    /// Returns the numbers of a step, counted from 1.
    pub(super) fn new(rate: f64, step: usize) -> Self {
        let corrected = |kept: f64| 1.0 - kept.powi(i32::try_from(step).unwrap_or(i32::MAX));
        Stride {
            rate: T::from_f64(rate / corrected(MEAN_KEPT)),
            square_scale: T::from_f64(1.0 / corrected(SQUARE_KEPT)),
        }
    }
}

impl<T: Real> Adam<T> {
    pub(super) fn new(parameters: usize) -> Self {
        Adam { means: vec![T::ZERO; parameters], squares: vec![T::ZERO; parameters] }
    }

    /// Updates the parameters, on the threads of the current pool.
    pub(super) fn step(&mut self, stride: Stride<T>, parameters: &mut [T], gradient: &[T]) {
        assert_eq!(
            (parameters.len(), gradient.len()),
            (self.means.len(), self.means.len()),
            "one gradient per parameter"
        );
        let state = self.means.par_chunks_mut(CHUNK).zip(self.squares.par_chunks_mut(CHUNK));
        let chunks = parameters.par_chunks_mut(CHUNK).zip(gradient.par_chunks(CHUNK)).zip(state);
        chunks.for_each(|((parameters, gradient), (means, squares))| {
            vectorized(
                #[inline(always)]
                || update(stride, parameters, gradient, means, squares),
            );
        });
    }
}

#[inline(always)]
fn update<T: Real>(
    stride: Stride<T>,
    parameters: &mut [T],
    gradient: &[T],
    means: &mut [T],
    squares: &mut [T],
) {
    let [mean_kept, mean_new] = [MEAN_KEPT, 1.0 - MEAN_KEPT].map(T::from_f64);
    let [square_kept, square_new] = [SQUARE_KEPT, 1.0 - SQUARE_KEPT].map(T::from_f64);
    let epsilon = T::from_f64(EPSILON);
    let state = means.iter_mut().zip(squares);
    for ((x, &g), (mean, square)) in parameters.iter_mut().zip(gradient).zip(state) {
        *mean = mean_kept * *mean + mean_new * g;
        *square = square_kept * *square + square_new * g * g;
        *x = *x - stride.rate * *mean / ((*square * stride.square_scale).sqrt() + epsilon);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let mut x = [1.0, 1.0, 1.0];
        Adam::new(3).step(Stride::new(0.1, 1), &mut x, &[5.0, -0.01, 0.0]);
        assert!((x[0] - 0.9f64).abs() < 1e-6 && (x[1] - 1.1).abs() < 1e-6 && x[2] == 1.0, "{x:?}");
    }

    /// Compares with the explicit formula: m = 0.9 (0.1 g) + 0.1 g', and so on.
    #[test]
    fn the_second_step_is_the_written_out_one() {
        let (mut x, mut adam) = ([0.0f64], Adam::new(1));
        adam.step(Stride::new(0.5, 1), &mut x, &[2.0]);
        let after_one = x[0];
        adam.step(Stride::new(0.25, 2), &mut x, &[-1.0]);
        let mean = (0.9 * 0.1 * 2.0 - 0.1) / (1.0 - 0.81);
        let square: f64 = (0.999 * 0.001 * 4.0 + 0.001) / (1.0 - 0.999 * 0.999);
        assert!((x[0] - (after_one - 0.25 * mean / (square.sqrt() + 1e-8))).abs() < 1e-12);
    }

    #[test]
    fn a_bowl_is_descended() {
        let (mut x, mut adam) = ([3.0f64, -2.0], Adam::new(2));
        for step in 1..2000 {
            let gradient = [2.0 * (x[0] - 1.0), 20.0 * (x[1] - 0.5)];
            adam.step(Stride::new(0.05 * 0.997f64.powi(step as i32), step), &mut x, &gradient);
        }
        assert!((x[0] - 1.0).abs() < 1e-3 && (x[1] - 0.5).abs() < 1e-3, "{x:?}");
    }
}

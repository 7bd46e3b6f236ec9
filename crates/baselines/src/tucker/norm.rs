//! Batch normalization: each column of a batch is scaled to mean 0 and variance 1, then by a learned scale and shift.
//!
//! `y = a (x - mean) / sqrt(var + 1e-5) + c`, with the mean and variance of the batch. The running means of the
//! original, which are for use after training, are left out: the embedding is the input of this layer.

use manyview_base::linalg::Real;

const EPSILON: f64 = 1e-5;

/// What the backward pass needs of the forward pass.
#[derive(Clone, Debug)]
pub(super) struct Normed<T> {
    /// The columns with mean 0 and variance 1.
    unit: Vec<T>,
    /// The factor of each column.
    inverse_deviation: Vec<T>,
}

/// Normalizes a batch in place; rows are as long as `scale` and `shift`.
pub(super) fn forward<T: Real>(batch: &mut [T], scale: &[T], shift: &[T]) -> Normed<T> {
    let dim = scale.len();
    let share = 1.0 / (batch.len() / dim) as f64;
    let mut means = vec![0.0; dim];
    add_columns(&mut means, batch, |x, _| x.to_f64() * share);
    let mut variances = vec![0.0; dim];
    add_columns(&mut variances, batch, |x, col| {
        (x.to_f64() - means[col]) * (x.to_f64() - means[col]) * share
    });
    let inverse_deviation: Vec<T> =
        variances.iter().map(|variance| T::from_f64(1.0 / (variance + EPSILON).sqrt())).collect();
    let mut unit = batch.to_vec();
    for (row, unit) in batch.chunks_exact_mut(dim).zip(unit.chunks_exact_mut(dim)) {
        for col in 0..dim {
            unit[col] = (unit[col] - T::from_f64(means[col])) * inverse_deviation[col];
            row[col] = scale[col] * unit[col] + shift[col];
        }
    }
    Normed { unit, inverse_deviation }
}

/// Replaces the gradient of the result by that of the batch, and writes those of scale and shift.
///
/// With `u` the unit columns: `dx = a / (b sqrt(var + 1e-5)) (b dy - sum dy - u sum(u dy))`.
pub(super) fn backward<T: Real>(
    normed: &Normed<T>,
    scale: &[T],
    gradient: &mut [T],
    d_scale: &mut [T],
    d_shift: &mut [T],
) {
    let dim = scale.len();
    let rows = gradient.len() / dim;
    let (mut sums, mut products) = (vec![0.0; dim], vec![0.0; dim]);
    add_columns(&mut sums, gradient, |dy, _| dy.to_f64());
    for (gradient, unit) in gradient.chunks_exact(dim).zip(normed.unit.chunks_exact(dim)) {
        let pairs = gradient.iter().zip(unit);
        products.iter_mut().zip(pairs).for_each(|(sum, (dy, u))| *sum += dy.to_f64() * u.to_f64());
    }
    let to_real = |(to, from): (&mut T, &f64)| *to = T::from_f64(*from);
    d_shift.iter_mut().zip(&sums).for_each(to_real);
    d_scale.iter_mut().zip(&products).for_each(to_real);
    let share = T::from_f64(1.0 / rows as f64);
    for (gradient, unit) in gradient.chunks_exact_mut(dim).zip(normed.unit.chunks_exact(dim)) {
        for col in 0..dim {
            let common = share * (d_shift[col] + unit[col] * d_scale[col]);
            gradient[col] = scale[col] * normed.inverse_deviation[col] * (gradient[col] - common);
        }
    }
}

/// Adds a function of each number to the sum of its column, row by row.
fn add_columns<T: Real>(sums: &mut [f64], batch: &[T], of: impl Fn(T, usize) -> f64) {
    for row in batch.chunks_exact(sums.len()) {
        for (col, (sum, &x)) in sums.iter_mut().zip(row).enumerate() {
            *sum += of(x, col);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, unit_f64};

    fn numbers(seed: u64, count: usize) -> Vec<f64> {
        (0..count).map(|at| unit_f64(Key::new(seed).at(at, 0)) - 0.4).collect()
    }

    #[test]
    fn columns_get_the_mean_and_deviation_asked_for() {
        let mut batch = numbers(1, 50 * 3);
        forward(&mut batch, &[1.0, 2.0, 3.0], &[0.0, 5.0, -1.0]);
        for (col, (scale, shift)) in [(1.0, 0.0), (2.0, 5.0), (3.0, -1.0)].into_iter().enumerate() {
            let column: Vec<f64> = batch.iter().skip(col).step_by(3).copied().collect();
            let mean = column.iter().sum::<f64>() / 50.0;
            let variance = column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 50.0;
            assert!((mean - shift).abs() < 1e-12 && (variance.sqrt() / scale - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn gradients_are_finite_differences() {
        let (batch, weights) = (numbers(2, 5 * 3), numbers(3, 5 * 3));
        let (scale, shift) = (numbers(4, 3), numbers(5, 3));
        let value = |batch: &[f64], scale: &[f64], shift: &[f64]| -> f64 {
            let mut out = batch.to_vec();
            forward(&mut out, scale, shift);
            out.iter().zip(&weights).map(|(y, w)| w * y).sum()
        };
        let normed = forward(&mut batch.clone(), &scale, &shift);
        let (mut gradient, mut d_scale, mut d_shift) = (weights.clone(), vec![0.0; 3], vec![0.0; 3]);
        backward(&normed, &scale, &mut gradient, &mut d_scale, &mut d_shift);
        let slope = |at: usize, of: &[f64], value: &dyn Fn(&[f64]) -> f64| {
            let moved = |step: f64| {
                let mut x = of.to_vec();
                x[at] += step;
                value(&x)
            };
            (moved(1e-6) - moved(-1e-6)) / 2e-6
        };
        for (at, found) in gradient.iter().enumerate() {
            let expected = slope(at, &batch, &|x| value(x, &scale, &shift));
            assert!((found - expected).abs() < 1e-7, "{found} is not {expected}");
        }
        for at in 0..3 {
            assert!((d_scale[at] - slope(at, &scale, &|x| value(&batch, x, &shift))).abs() < 1e-8);
            assert!((d_shift[at] - slope(at, &shift, &|x| value(&batch, &scale, x))).abs() < 1e-8);
        }
    }

    #[test]
    fn a_batch_of_one_becomes_the_shift() {
        let mut batch = vec![7.0f64, -3.0];
        forward(&mut batch, &[2.0, 2.0], &[0.5, 0.25]);
        assert_eq!(batch, [0.5, 0.25]);
    }
}

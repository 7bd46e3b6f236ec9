//! The weights of the views in a consensus stage.
//!
//! For `gamma > 1` the weights `alpha` minimize `sum_k alpha_k^gamma W_k` on the simplex, where `W_k` is the error of
//! view k: `alpha_k ~ W_k^(1 / (1 - gamma))`. For `0 < gamma < 1` the same formula gives the maximum (the paper's grid
//! has such values). For `gamma = 1` the view with the smallest error has all the weight.
//!
//! Everything is computed in logarithms: with six views and gamma = 100, `alpha^gamma` is about 1e-78.

/// Lower bound of an error relative to the view's squared norm, so that an exact fit does not lead to infinities.
pub(super) const SMALLEST_ERROR: f64 = 1e-12;

/// The weights `alpha` for positive errors; they sum to 1.
pub fn view_weights(errors: &[f64], gamma: f64) -> Vec<f64> {
    if gamma == 1.0 {
        let smallest = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let winners = errors.iter().filter(|&&error| error == smallest).count() as f64;
        return errors.iter().map(|&error| if error == smallest { 1.0 / winners } else { 0.0 }).collect();
    }
    let logs: Vec<f64> = errors.iter().map(|&error| libm::log(error) / (1.0 - gamma)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logs.iter().map(|log| libm::exp(log - largest)).collect();
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

/// `alpha^gamma` relative to the largest; the update of U depends on these ratios only.
pub(super) fn relative_powers(weights: &[f64], gamma: f64) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    weights.iter().map(|&weight| power(weight / largest, gamma)).collect()
}

/// `alpha^gamma`, which may underflow.
pub(super) fn plain_powers(weights: &[f64], gamma: f64) -> Vec<f64> {
    weights.iter().map(|&weight| power(weight, gamma)).collect()
}

fn power(weight: f64, gamma: f64) -> f64 {
    if weight > 0.0 { libm::exp(gamma * libm::log(weight)) } else { 0.0 }
}

/// The logarithm of the objective `sum_k alpha_k^gamma W_k`.
pub(super) fn log_objective(weights: &[f64], errors: &[f64], gamma: f64) -> f64 {
    let log = |(&weight, &error): (&f64, &f64)| gamma * libm::log(weight) + libm::log(error);
    let logs: Vec<f64> = weights.iter().zip(errors).filter(|&(&weight, _)| weight > 0.0).map(log).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + libm::log(logs.iter().map(|log| libm::exp(log - largest)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(weights: &[f64], errors: &[f64], gamma: f64) -> f64 {
        weights.iter().zip(errors).map(|(weight, error)| weight.powf(gamma) * error).sum()
    }

    /// All points of the simplex on a grid with `steps` steps.
    fn simplex(views: usize, steps: usize) -> Vec<Vec<f64>> {
        if views == 1 {
            return vec![vec![1.0]];
        }
        let mut points = Vec::new();
        for first in 0..=steps {
            let share = first as f64 / steps as f64;
            for rest in simplex(views - 1, steps) {
                points.push([vec![share], rest.iter().map(|x| x * (1.0 - share)).collect()].concat());
            }
        }
        points
    }

    #[test]
    fn weights_are_the_minimum_on_the_simplex_above_one() {
        for errors in [vec![3.0, 1.0], vec![3.0, 1.0, 7.5], vec![2.0, 2.0, 0.1]] {
            for gamma in [1.5, 2.0, 5.0] {
                let ours = objective(&view_weights(&errors, gamma), &errors, gamma);
                let grid = simplex(errors.len(), 200);
                let best =
                    grid.iter().map(|point| objective(point, &errors, gamma)).fold(f64::INFINITY, f64::min);
                assert!(ours <= best * (1.0 + 1e-12), "gamma {gamma}: {ours} against {best}");
                assert!(ours >= best * 0.99, "gamma {gamma}: the grid is close to the optimum");
            }
        }
    }

    #[test]
    fn weights_are_the_maximum_below_one() {
        for errors in [vec![3.0, 1.0], vec![3.0, 1.0, 7.5]] {
            let ours = objective(&view_weights(&errors, 0.5), &errors, 0.5);
            let grid = simplex(errors.len(), 200);
            let best = grid.iter().map(|point| objective(point, &errors, 0.5)).fold(0.0, f64::max);
            assert!(ours >= best * (1.0 - 1e-12));
        }
    }

    #[test]
    fn objective_at_the_weights_is_a_power_mean() {
        let errors: [f64; 3] = [3.0, 1.0, 7.5];
        for gamma in [0.05, 0.5, 2.0, 5.0, 20.0] {
            let p = 1.0 / (1.0 - gamma);
            let mean = errors.iter().map(|error| error.powf(p)).sum::<f64>().powf(1.0 / p);
            let ours = log_objective(&view_weights(&errors, gamma), &errors, gamma).exp();
            assert!((ours / mean - 1.0).abs() < 1e-10, "gamma {gamma}");
        }
    }

    #[test]
    fn gamma_one_takes_the_best_view_and_splits_ties() {
        assert_eq!(view_weights(&[3.0, 1.0, 7.5], 1.0), [0.0, 1.0, 0.0]);
        assert_eq!(view_weights(&[1.0, 1.0, 7.5], 1.0), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn a_common_factor_of_the_errors_changes_nothing() {
        for gamma in [0.1, 0.5, 2.0, 100.0] {
            let small = view_weights(&[3e-9, 1e-9, 7.5e-9], gamma);
            for (a, b) in small.iter().zip(view_weights(&[3e9, 1e9, 7.5e9], gamma)) {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn large_gamma_neither_overflows_nor_vanishes() {
        let weights = view_weights(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1000.0);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(relative_powers(&weights, 1000.0).iter().all(|&power| power > 0.1));
        assert!(log_objective(&weights, &[1.0; 6], 1000.0).is_finite());
    }
}

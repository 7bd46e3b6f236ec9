//! A Gaussian process over a few numbers, and where it expects the largest improvement.
//!
//! The kernel is Matern 5/2 with one length for all coordinates, which are between 0 and 1. Length and noise are the pair of a
//! small grid under which the observations are most likely. With tens of observations nothing more is needed, and the result
//! follows from the observations alone: no random numbers, and logarithms and exponentials of `libm`.

/// The lengths of the kernel that are tried.
const LENGTHS: [f64; 5] = [0.1, 0.2, 0.4, 0.8, 1.6];

/// The variances of the noise that are tried, as shares of the variance of the observations.
const NOISES: [f64; 3] = [1e-4, 1e-2, 1e-1];

/// A Gaussian process that has seen some observations.
pub(super) struct Process {
    points: Vec<Vec<f64>>,
    mean: f64,
    scale: f64,
    length: f64,
    /// The lower triangle of the Cholesky factor of the covariances, row by row.
    factor: Vec<Vec<f64>>,
    /// The inverse covariances times the observations.
    weights: Vec<f64>,
}

impl Process {
    /// Learns from observations, of which there is at least one.
    pub(super) fn new(points: &[Vec<f64>], values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        // All observations equal: any scale will do, and the noise keeps the matrix regular.
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let centered: Vec<f64> = values.iter().map(|value| (value - mean) / scale).collect();
        let mut best: Option<(f64, Process)> = None;
        for length in LENGTHS {
            for noise in NOISES {
                let factor = cholesky(points, length, noise);
                let weights = solve_upper(&factor, solve_lower(&factor, &centered));
                let fit: f64 = centered.iter().zip(&weights).map(|(y, w)| y * w).sum();
                let volume: f64 = factor.iter().enumerate().map(|(at, row)| libm::log(row[at])).sum();
                let likelihood = -0.5 * fit - volume;
                if best.as_ref().is_none_or(|(known, _)| likelihood > *known) {
                    let process = Process { points: points.to_vec(), mean, scale, length, factor, weights };
                    best = Some((likelihood, process));
                }
            }
        }
        best.expect("the grid is not empty").1
    }

    /// The expected value at a point, and its standard deviation.
    pub(super) fn predict(&self, point: &[f64]) -> (f64, f64) {
        let near: Vec<f64> = self.points.iter().map(|known| matern(known, point, self.length)).collect();
        let value: f64 = near.iter().zip(&self.weights).map(|(k, w)| k * w).sum();
        let explained: f64 = solve_lower(&self.factor, &near).iter().map(|x| x * x).sum();
        (self.mean + self.scale * value, self.scale * (1.0 - explained).max(0.0).sqrt())
    }

    /// By how much a point is expected to exceed `best`, counting points that do not exceed it as 0.
    pub(super) fn expected_improvement(&self, point: &[f64], best: f64) -> f64 {
        let (mean, deviation) = self.predict(point);
        let gain = mean - best;
        if deviation <= 0.0 {
            return gain.max(0.0);
        }
        let z = gain / deviation;
        let density = libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
        let below = 0.5 * (1.0 + libm::erf(z / std::f64::consts::SQRT_2));
        (gain * below + deviation * density).max(0.0)
    }
}

/// The covariance of two points.
fn matern(a: &[f64], b: &[f64], length: f64) -> f64 {
    let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    let r = (5.0 * squared).sqrt() / length;
    (1.0 + r + r * r / 3.0) * libm::exp(-r)
}

/// The lower triangle `L` of `K + noise I = L L^T`.
fn cholesky(points: &[Vec<f64>], length: f64, noise: f64) -> Vec<Vec<f64>> {
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(points.len());
    for (i, point) in points.iter().enumerate() {
        let mut row = Vec::with_capacity(i + 1);
        for (j, known) in points[..=i].iter().enumerate() {
            let other: &[f64] = if i == j { &row } else { &factor[j] };
            let known_part: f64 = row.iter().zip(other).take(j).map(|(a, b)| a * b).sum();
            let rest = matern(point, known, length) + if i == j { noise } else { 0.0 } - known_part;
            row.push(if i == j { rest.max(1e-12).sqrt() } else { rest / factor[j][j] });
        }
        factor.push(row);
    }
    factor
}

/// Solves `L x = y`.
fn solve_lower(factor: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::with_capacity(y.len());
    for (row, &y) in factor.iter().zip(y) {
        let known: f64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
        x.push((y - known) / row[x.len()]);
    }
    x
}

/// Solves `L^T x = y`.
fn solve_upper(factor: &[Vec<f64>], mut y: Vec<f64>) -> Vec<f64> {
    for i in (0..y.len()).rev() {
        y[i] /= factor[i][i];
        let (known, rest) = (y[i], &mut y[..i]);
        rest.iter_mut().zip(&factor[i]).for_each(|(y, a)| *y -= a * known);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(xs: &[f64]) -> Vec<Vec<f64>> {
        xs.iter().map(|&x| vec![x]).collect()
    }

    #[test]
    fn it_passes_near_what_it_has_seen_and_is_unsure_elsewhere() {
        let process = Process::new(&points(&[0.0, 0.3, 0.6, 1.0]), &[0.1, 0.5, 0.4, 0.0]);
        for (x, y) in [(0.0, 0.1), (0.3, 0.5), (0.6, 0.4), (1.0, 0.0)] {
            let (mean, deviation) = process.predict(&[x]);
            assert!((mean - y).abs() < 0.05, "{x}: {mean}");
            assert!(deviation < process.predict(&[0.8]).1, "{x}: {deviation}");
        }
        let (far, deviation) = process.predict(&[100.0]);
        assert!(
            (far - 0.25).abs() < 1e-9 && (deviation - process.scale).abs() < 1e-9,
            "the mean, and no knowledge"
        );
    }

    #[test]
    fn the_factor_and_the_solutions_belong_to_the_covariances() {
        let points = points(&[0.0, 0.2, 0.7]);
        let factor = cholesky(&points, 0.4, 0.01);
        let covariance =
            |i: usize, j: usize| matern(&points[i], &points[j], 0.4) + if i == j { 0.01 } else { 0.0 };
        for i in 0..3 {
            for j in 0..=i {
                let product: f64 = (0..=j).map(|k| factor[i][k] * factor[j][k]).sum();
                assert!((product - covariance(i, j)).abs() < 1e-12);
            }
        }
        let y = [1.0, -2.0, 0.5];
        let x = solve_upper(&factor, solve_lower(&factor, &y));
        for (i, y) in y.iter().enumerate() {
            let product: f64 = (0..3).map(|j| covariance(i, j) * x[j]).sum();
            assert!((product - y).abs() < 1e-9);
        }
    }

    #[test]
    fn improvement_is_expected_where_it_is_high_or_unknown() {
        let process = Process::new(&points(&[0.0, 0.1, 0.9, 1.0]), &[0.0, 0.1, 0.8, 0.9]);
        let at = |x: f64| process.expected_improvement(&[x], 0.9);
        assert!(at(0.5) > at(0.0) && at(0.0) >= 0.0, "{} {}", at(0.5), at(0.0));
        assert!(at(1.1) > at(0.05));
    }

    #[test]
    fn equal_observations_are_no_problem() {
        let process = Process::new(&points(&[0.0, 1.0]), &[0.5, 0.5]);
        let (mean, deviation) = process.predict(&[0.5]);
        assert!((mean - 0.5).abs() < 1e-12 && deviation.is_finite());
        assert!(process.expected_improvement(&[0.5], 0.5).is_finite());
    }

    /// The maximum of a function of two numbers is found in a fraction of the points.
    #[test]
    fn a_peak_is_found_in_few_steps() {
        let pool: Vec<Vec<f64>> =
            (0..441).map(|at| vec![f64::from(at % 21) / 20.0, f64::from(at / 21) / 20.0]).collect();
        let value = |p: &[f64]| libm::exp(-8.0 * ((p[0] - 0.7).powi(2) + (p[1] - 0.25).powi(2)));
        let mut seen: Vec<usize> = vec![0, 20, 220, 440];
        for _ in 0..16 {
            let known: Vec<Vec<f64>> = seen.iter().map(|&at| pool[at].clone()).collect();
            let values: Vec<f64> = known.iter().map(|point| value(point)).collect();
            let best = values.iter().copied().fold(0.0, f64::max);
            let process = Process::new(&known, &values);
            let open = (0..pool.len()).filter(|at| !seen.contains(at));
            let gain = |at: usize| process.expected_improvement(&pool[at], best);
            let next = open.max_by(|&a, &b| gain(a).total_cmp(&gain(b))).unwrap();
            seen.push(next);
        }
        let best = seen.iter().map(|&at| value(&pool[at])).fold(0.0, f64::max);
        assert!(best > 0.98, "{best}");
    }
}

//! Logistic regression with an L2 penalty and an unpenalized intercept, run to convergence.
//!
//! ```text
//! F(W, b) = C sum_i loss(y_i, W x_i + b) + 1/2 ||W||^2
//! ```
//!
//! With one output the loss is `log(1 + e^z) - y z`; with several it is `log(sum_k e^(z_k)) - z_y`. This is
//! scikit-learn's objective, so two classes have one output, not two.
//!
//! The method is L-BFGS, preconditioned by the approximate Hessian of `curvature.rs`. The parameters are those for
//! shifted and scaled vectors. Shift and scale are applied to W instead of the data: `W ((x - shift) / scale) + b = V x
//! + e`.
//!
//! Invariant: sums are computed over blocks of rows that depend on the data only, and blocks are added in order.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::Vectors;
use super::curvature::{Curvature, deviations, moments};
use super::kernels::{GROUP, LANES, add_four, block_rows, four_products, stride, totals, widen, widen_group};
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::{add_multiple, product};

/// A fit has converged if the relative distance of F to its minimum, estimated by the curvature, is at most this,
const GAP: f64 = 1e-9;
/// and if no element of the gradient of `F / (C n)` exceeds this (scikit-learn's criterion with its default).
const GRADIENT: f64 = 1e-4;
/// The relative distance that is sufficient for comparing values of C.
const ROUGH_GAP: f64 = 1e-5;

/// Number of steps that L-BFGS stores.
const MEMORY: usize = 30;

/// The shift and scale of the vectors; the penalty applies to the weights of `(x - shift) / scale`.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl Frame {
    /// The frame for training on these rows: columns scaled to variance 1, or not scaled.
    ///
    /// A shift changes only the intercept. It makes the intercept nearly independent of the weights.
    pub(super) fn new(vectors: &Vectors<'_>, rows: &[u32], standardize: bool, curvature: &Curvature) -> Self {
        if !standardize {
            return Frame { shift: curvature.mean.clone(), scale: vec![1.0; vectors.dim()] };
        }
        let (mean, variance) = moments(vectors, rows);
        let scale = deviations(&mean, &variance, rows.len());
        Frame { shift: mean, scale }
    }
}

/// A classifier to be fitted.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) vectors: &'a Vectors<'a>,
    pub(super) curvature: &'a Curvature,
    pub(super) frame: &'a Frame,
    /// The training rows, and the class of each.
    pub(super) rows: &'a [u32],
    pub(super) classes: &'a [u32],
    /// 1 for classes 0 and 1, otherwise the number of classes.
    pub(super) outputs: usize,
    /// C, the weight of the loss relative to the penalty.
    pub(super) cost: f64,
    pub(super) max_iter: usize,
    /// Whether the fit is a result; otherwise it is only used to compare values of C.
    pub(super) exact: bool,
}

/// A fitted classifier.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    /// Weights for the original vectors, one padded row per output.
    weights: Vec<f64>,
    intercepts: Vec<f64>,
    /// The final value of F.
    pub(super) loss: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    /// W and b, to start another fit from.
    point: Vec<f64>,
}

impl Fitted {
    /// `V x + e` for the vector in a row.
    pub(super) fn scores(&self, vectors: &Vectors<'_>, row: u32) -> Vec<f64> {
        let mut wide = vec![0.0; stride(vectors.dim())];
        widen(vectors.row(row as usize), &mut wide);
        let rows = self.weights.chunks_exact(wide.len()).zip(&self.intercepts);
        vectorized(
            #[inline(always)]
            || rows.map(|(weights, intercept)| product(weights, &wide) + intercept).collect(),
        )
    }
}

/// F, its gradient and the curvature, from one pass over the rows.
struct Evaluation {
    value: f64,
    gradient: Vec<f64>,
    /// The mean of `p (1 - p)` per output.
    spread: Vec<f64>,
}

/// Sums over a block of rows.
#[derive(Clone)]
struct Sums {
    loss: f64,
    /// One padded row per output.
    gradient: Vec<f64>,
    /// Sums of the residuals and of `p (1 - p)` per output.
    residual: Vec<f64>,
    spread: Vec<f64>,
}

impl Task<'_> {
    /// Fits, starting from zero or from an earlier fit of the same shape; returns `None` if canceled.
    pub(super) fn fit(&self, start: Option<&Fitted>, canceled: &AtomicBool) -> Option<Fitted> {
        let zero = || vec![0.0; self.outputs * (self.stride() + 1)];
        let mut point = start.map_or_else(zero, |fitted| fitted.point.clone());
        let mut now = self.evaluate(&point);
        let mut history = History::default();
        let mut iterations = 0;
        let converged = loop {
            if canceled.load(Ordering::Relaxed) {
                return None;
            }
            let (direction, slope) = self.direction(&now, &mut history);
            let largest = now.gradient.iter().fold(0.0f64, |most, g| most.max(g.abs()));
            let steep = self.exact && largest > GRADIENT * self.cost * self.rows.len() as f64;
            if -slope / 2.0 <= self.gap() * now.value && !steep {
                break true;
            }
            if iterations == self.max_iter {
                break false;
            }
            iterations += 1;
            let Some((next_point, next)) = self.step(&point, &now, &direction, slope) else {
                // No step lowers F: it is minimal up to rounding.
                break -slope / 2.0 <= 1e-6 * now.value;
            };
            history.push(&point, &now.gradient, &next_point, &next.gradient);
            (point, now) = (next_point, next);
        };
        let (weights, intercepts) = self.unframed(&point);
        Some(Fitted { weights, intercepts, loss: now.value, iterations, converged, point })
    }

    fn stride(&self) -> usize {
        stride(self.vectors.dim())
    }

    fn gap(&self) -> f64 {
        if self.exact { GAP } else { ROUGH_GAP }
    }

    /// The search direction, and the slope of F along it.
    fn direction(&self, now: &Evaluation, history: &mut History) -> (Vec<f64>, f64) {
        let direction = history.direction(&now.gradient, |x| self.precondition(&now.spread, x));
        let slope = product(&direction, &now.gradient);
        if slope < 0.0 || now.gradient.iter().all(|&g| g == 0.0) {
            return (direction, slope);
        }
        // Rounding errors made the stored steps unusable; the preconditioned gradient is always a descent direction.
        history.steps.clear();
        let mut direction = now.gradient.clone();
        self.precondition(&now.spread, &mut direction);
        direction.iter_mut().for_each(|x| *x = -*x);
        let slope = product(&direction, &now.gradient);
        (direction, slope)
    }

    /// Backtracks along the direction until F decreases sufficiently (Armijo's condition); returns `None` if it does
    /// not.
    fn step(
        &self,
        point: &[f64],
        now: &Evaluation,
        direction: &[f64],
        slope: f64,
    ) -> Option<(Vec<f64>, Evaluation)> {
        let mut length = 1.0;
        for _ in 0..30 {
            let mut next_point = point.to_vec();
            add_multiple(&mut next_point, length, direction);
            let next = self.evaluate(&next_point);
            if next.value <= now.value + 1e-4 * length * slope {
                return Some((next_point, next));
            }
            // The minimum of the parabola through both values and the slope.
            let bend = next.value - now.value - length * slope;
            let lowest = -slope * length * length / (2.0 * bend);
            length = if lowest.is_finite() { lowest.clamp(0.1 * length, 0.5 * length) } else { 0.1 * length };
        }
        None
    }

    /// Replaces `x` by approximately the inverse Hessian times `x`.
    fn precondition(&self, spread: &[f64], x: &mut [f64]) {
        let (weights, intercepts) = x.split_at_mut(self.outputs * self.stride());
        // The outputs of a softmax are coupled: for differences between outputs, the curvature is larger by this
        // factor.
        let push = if self.outputs > 1 { self.outputs as f64 / (self.outputs - 1) as f64 } else { 1.0 };
        let outputs = weights.chunks_exact_mut(self.stride()).zip(intercepts).zip(spread);
        for ((weights, intercept), spread) in outputs {
            let losses = self.cost * self.rows.len() as f64 * (push * spread).max(1e-9);
            let weights = &mut weights[..self.vectors.dim()];
            self.curvature.solve(1.0 / losses, weights);
            weights.iter_mut().for_each(|x| *x /= losses);
            *intercept /= losses;
        }
    }

    /// The weights and intercepts for the original vectors: V and e.
    fn unframed(&self, point: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (weights, intercepts) = point.split_at(self.outputs * self.stride());
        let (mut weights, mut intercepts) = (weights.to_vec(), intercepts.to_vec());
        for (weights, intercept) in weights.chunks_exact_mut(self.stride()).zip(&mut intercepts) {
            weights.iter_mut().zip(&self.frame.scale).for_each(|(weight, scale)| *weight /= scale);
            *intercept -= product(&weights[..self.vectors.dim()], &self.frame.shift);
        }
        (weights, intercepts)
    }

    fn evaluate(&self, point: &[f64]) -> Evaluation {
        let (weights, intercepts) = self.unframed(point);
        let sums = self.sums(&weights, &intercepts);
        let penalized = &point[..self.outputs * self.stride()];
        let value = self.cost * sums.loss + 0.5 * product(penalized, penalized);
        // The derivative of a loss by w is residual x (x - shift) / scale.
        let mut gradient = sums.gradient;
        for (gradient, residual) in gradient.chunks_exact_mut(self.stride()).zip(&sums.residual) {
            let frame = self.frame.shift.iter().zip(&self.frame.scale);
            for (gradient, (shift, scale)) in gradient.iter_mut().zip(frame) {
                *gradient = self.cost * (*gradient - shift * residual) / scale;
            }
        }
        add_multiple(&mut gradient, 1.0, penalized);
        gradient.extend(sums.residual.iter().map(|residual| self.cost * residual));
        let spread = sums.spread.iter().map(|sum| sum / self.rows.len() as f64).collect();
        Evaluation { value, gradient, spread }
    }

    fn sums(&self, weights: &[f64], intercepts: &[f64]) -> Sums {
        let block = block_rows(self.rows.len());
        let blocks = self.rows.par_chunks(block).zip(self.classes.par_chunks(block));
        let of_block = |(rows, classes): (&[u32], &[u32])| {
            vectorized(
                #[inline(always)]
                || self.sums_of_block(rows, classes, weights, intercepts),
            )
        };
        let parts: Vec<Sums> = blocks.map(of_block).collect();
        let mut parts = parts.into_iter();
        let mut total = parts.next().expect("there are training rows");
        for part in parts {
            total.loss += part.loss;
            add_multiple(&mut total.gradient, 1.0, &part.gradient);
            add_multiple(&mut total.residual, 1.0, &part.residual);
            add_multiple(&mut total.spread, 1.0, &part.spread);
        }
        total
    }

    #[inline(always)]
    fn sums_of_block(&self, rows: &[u32], classes: &[u32], weights: &[f64], intercepts: &[f64]) -> Sums {
        let (stride, outputs) = (self.stride(), self.outputs);
        let zeros = vec![0.0; outputs];
        let mut sums =
            Sums { loss: 0.0, gradient: vec![0.0; weights.len()], residual: zeros.clone(), spread: zeros };
        let mut wide = vec![0.0; GROUP * stride];
        let mut lanes = vec![[[0.0; LANES]; GROUP]; outputs];
        let mut scores = vec![[0.0; GROUP]; outputs];
        for (rows, classes) in rows.chunks(GROUP).zip(classes.chunks(GROUP)) {
            widen_group(self.vectors, rows, &mut wide);
            for (lanes, weights) in lanes.iter_mut().zip(weights.chunks_exact(stride)) {
                four_products(&wide, weights, lanes);
            }
            for ((scores, lanes), intercept) in scores.iter_mut().zip(&lanes).zip(intercepts) {
                *scores = totals(lanes).map(|product| product + intercept);
            }
            for (place, &class) in classes.iter().enumerate() {
                sums.loss += residuals(&mut scores, place, class);
            }
            for (output, scores) in scores.iter_mut().enumerate() {
                // Places without a row still have old scores.
                scores[rows.len()..].fill(0.0);
                let chance = |place: usize| match classes.get(place) {
                    Some(&class) if self.is_of(class, output) => 1.0 + scores[place],
                    _ => scores[place],
                };
                sums.residual[output] += scores.iter().sum::<f64>();
                sums.spread[output] +=
                    (0..rows.len()).map(|place| chance(place) * (1.0 - chance(place))).sum::<f64>();
                add_four(&mut sums.gradient[output * stride..][..stride], &wide, *scores);
            }
        }
        sums
    }

    #[inline(always)]
    fn is_of(&self, class: u32, output: usize) -> bool {
        if self.outputs == 1 { class == 1 } else { class as usize == output }
    }
}

/// Replaces the scores of one place by residuals `p - y`, and returns the loss.
#[inline(always)]
fn residuals(scores: &mut [[f64; GROUP]], place: usize, class: u32) -> f64 {
    if let [only] = scores {
        let score = only[place];
        let target = f64::from(class);
        // Computed from e^-|z|, which neither overflows nor loses precision.
        let small = libm::exp(-score.abs());
        let chance = if score >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
        only[place] = chance - target;
        return score.max(0.0) - target * score + libm::log1p(small);
    }
    let largest = scores.iter().fold(f64::NEG_INFINITY, |most, scores| most.max(scores[place]));
    let own = scores[class as usize][place];
    let mut sum = 0.0;
    for scores in scores.iter_mut() {
        scores[place] = libm::exp(scores[place] - largest);
        sum += scores[place];
    }
    scores.iter_mut().for_each(|scores| scores[place] /= sum);
    scores[class as usize][place] -= 1.0;
    libm::log(sum) + largest - own
}

/// The last steps, which determine the curvature along them for L-BFGS.
#[derive(Default)]
struct History {
    steps: Vec<Remembered>,
}

struct Remembered {
    step: Vec<f64>,
    change: Vec<f64>,
    /// `step . change`, greater than zero.
    bend: f64,
}

impl History {
    fn push(&mut self, from: &[f64], gradient: &[f64], to: &[f64], next_gradient: &[f64]) {
        let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let (step, change) = (minus(to, from), minus(next_gradient, gradient));
        let bend = product(&step, &change);
        if bend > 1e-12 * product(&change, &change).sqrt() * product(&step, &step).sqrt() {
            if self.steps.len() == MEMORY {
                self.steps.remove(0);
            }
            self.steps.push(Remembered { step, change, bend });
        }
    }

    /// Approximately minus the inverse Hessian times the gradient (the two-loop recursion).
    fn direction(&self, gradient: &[f64], precondition: impl Fn(&mut [f64])) -> Vec<f64> {
        let mut x = gradient.to_vec();
        let mut shares = Vec::with_capacity(self.steps.len());
        for Remembered { step, change, bend } in self.steps.iter().rev() {
            let share = product(step, &x) / bend;
            add_multiple(&mut x, -share, change);
            shares.push(share);
        }
        precondition(&mut x);
        for (Remembered { step, change, bend }, share) in self.steps.iter().zip(shares.into_iter().rev()) {
            let other = product(change, &x) / bend;
            add_multiple(&mut x, share - other, step);
        }
        x.iter_mut().for_each(|x| *x = -*x);
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::parallel::Pool;
    use manyview_base::random::{Key, unit_f64};

    /// Rows around one center per class.
    fn sample(rows: usize, dim: usize, classes: u32, size: f64) -> (Vec<f32>, Vec<u32>) {
        let number = |seed, row, column| unit_f64(Key::new(seed).at(row, column)) - 0.5;
        let of: Vec<u32> = (0..rows as u32).map(|row| row % classes).collect();
        let values = (0..rows * dim).map(|at| {
            let (row, column) = (at / dim, at % dim);
            (size * (2.0 * number(1, row, column) + number(2, of[row] as usize, column) + 3.0)) as f32
        });
        (values.collect(), of)
    }

    fn with_task<R>(
        (values, classes): &(Vec<f32>, Vec<u32>),
        outputs: usize,
        cost: f64,
        standardize: bool,
        f: impl FnOnce(&Task<'_>) -> R,
    ) -> R {
        let vectors = Vectors::new(values, classes.len(), values.len() / classes.len()).unwrap();
        let rows: Vec<u32> = (0..classes.len() as u32).collect();
        let curvature = Curvature::new(&vectors, &rows, standardize);
        let frame = Frame::new(&vectors, &rows, standardize, &curvature);
        let (vectors, curvature, frame, rows) = (&vectors, &curvature, &frame, &rows[..]);
        f(&Task { vectors, curvature, frame, rows, classes, outputs, cost, max_iter: 1000, exact: true })
    }

    fn fit(task: &Task<'_>) -> Fitted {
        task.fit(None, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        for (classes, outputs, standardize) in [(2, 1, false), (4, 4, false), (3, 3, true)] {
            with_task(&sample(37, 5, classes, 1.0), outputs, 0.7, standardize, |task| {
                let count = outputs * (task.stride() + 1);
                let point: Vec<f64> = (0..count)
                    .map(|at| {
                        let padding = at < outputs * 8 && at % 8 >= 5;
                        if padding { 0.0 } else { unit_f64(Key::new(5).at(at, 0)) - 0.5 }
                    })
                    .collect();
                let gradient = task.evaluate(&point).gradient;
                for at in (0..count).filter(|&at| at >= outputs * 8 || at % 8 < 5) {
                    let at_distance = |distance: f64| {
                        let mut moved = point.clone();
                        moved[at] += distance;
                        task.evaluate(&moved).value
                    };
                    let slope = (at_distance(1e-5) - at_distance(-1e-5)) / 2e-5;
                    assert!((slope - gradient[at]).abs() < 1e-6 * (1.0 + slope.abs()), "{at}: {slope}");
                }
            });
        }
    }

    #[test]
    fn one_feature_has_a_closed_form() {
        // Two points at +-1 of opposite classes: minimize 2 C log(1 + e^-w) + w^2 / 2, so w = 2 C / (1 + e^w).
        let sample = (vec![1.0f32, -1.0], vec![1, 0]);
        with_task(&sample, 1, 3.0, false, |task| {
            let fitted = fit(task);
            let weight = fitted.weights[0];
            assert!((weight - 6.0 / (1.0 + weight.exp())).abs() < 1e-4, "{weight}");
            assert!(fitted.intercepts[0].abs() < 1e-4);
            assert!(fitted.converged);
        });
    }

    #[test]
    fn classes_without_features_get_their_shares() {
        let sample = (vec![0.0f32; 10], vec![0, 0, 0, 0, 0, 1, 1, 1, 2, 2]);
        with_task(&sample, 3, 1.0, false, |task| {
            let scores = fit(task).scores(task.vectors, 0);
            assert!((scores[0] - scores[2] - 2.5f64.ln()).abs() < 1e-4);
            assert!((scores[1] - scores[2] - 1.5f64.ln()).abs() < 1e-4);
        });
    }

    #[test]
    fn the_end_is_a_minimum_at_every_scale_of_features_and_cost() {
        for size in [1e-6, 1.0, 1e5] {
            for cost in [0.01, 1.0, 100.0] {
                let scaled = cost / size / size;
                with_task(&sample(300, 6, 3, size), 3, scaled, false, |task| {
                    let fitted = fit(task);
                    assert!(fitted.converged, "size {size}, cost {cost}");
                    assert!(fitted.iterations < 100, "size {size}, cost {cost}: {}", fitted.iterations);
                    for at in 0..fitted.point.len() {
                        for step in [1e-3, -1e-3] {
                            let mut moved = fitted.point.clone();
                            moved[at] += step * (moved[at].abs() + 0.1);
                            assert!(task.evaluate(&moved).value >= fitted.loss * (1.0 - 1e-8));
                        }
                    }
                });
            }
        }
    }

    #[test]
    fn shifted_vectors_give_the_same_classifier() {
        let near = sample(200, 4, 3, 1.0);
        let far = (near.0.iter().map(|x| x + 64.0).collect(), near.1.clone());
        let [near, far] = [near, far].map(|sample| with_task(&sample, 3, 1.0, false, |task| fit(task).loss));
        assert!((near / far - 1.0).abs() < 1e-5, "{near} and {far}");
    }

    #[test]
    fn standardized_vectors_know_no_scale() {
        let [small, large] = [1.0, 1024.0]
            .map(|size| with_task(&sample(200, 4, 2, size), 1, 1.0, true, |task| fit(task).loss));
        assert!((small / large - 1.0).abs() < 1e-6, "{small} and {large}");
    }

    #[test]
    fn a_start_from_elsewhere_ends_at_the_same_place() {
        with_task(&sample(250, 8, 4, 1.0), 4, 10.0, false, |task| {
            let cold = fit(task);
            let strong = Task { cost: 0.1, ..*task };
            let warm = task.fit(Some(&fit(&strong)), &AtomicBool::new(false)).unwrap();
            assert!((cold.loss / warm.loss - 1.0).abs() < 1e-7);
        });
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let sample = sample(1500, 20, 5, 1.0);
        let with = |threads| {
            let pool = Pool::new(Some(threads)).unwrap();
            pool.run(|| with_task(&sample, 5, 1.0, true, |task| fit(task).point))
        };
        let one = with(1);
        for threads in [2, 3, 8] {
            assert_eq!(with(threads), one);
        }
    }

    #[test]
    fn a_canceled_fit_is_none() {
        with_task(&sample(20, 2, 2, 1.0), 1, 1.0, false, |task| {
            assert!(task.fit(None, &AtomicBool::new(true)).is_none());
        });
    }
}

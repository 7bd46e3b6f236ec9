//! The weights of views for each node, learned from the labels of a few nodes.
//!
//! With `f_i` the mean of the views' vectors, or all of them concatenated, the weights are `l_i = softmax_k(z_k f_i)`,
//! and the vector is `x_i = sum_k l_ik x_i^k`. Each label is predicted separately: by `sigmoid(w x_i)` with
//! cross-entropy as the loss, or by `w x_i` with half the squared error. Z and W follow the gradient of the mean loss
//! of the labeled nodes: at most 100 steps, of a size that starts at 0.1 and is halved whenever the loss has increased.

use super::{Feature, Loss};
use manyview_base::linalg::vector::{add_multiple, product};
use manyview_base::random::{Key, unit_f64};

const MOST_STEPS: usize = 100;
const FIRST_STEP: f64 = 0.1;
const LAST_STEP: f64 = 1e-4;

/// A node with known labels.
#[derive(Clone, Debug)]
pub(super) struct Example {
    /// Its vector in each view.
    pub(super) views: Vec<Vec<f64>>,
    /// Its labels, ascending.
    pub(super) labels: Vec<u32>,
}

/// The parameters: Z, with a row of the feature's width for each view, and W, with a row of `dim` for each label.
#[derive(Clone, Debug)]
pub(super) struct Attention {
    views: Vec<Vec<f64>>,
    labels: Vec<Vec<f64>>,
    rule: Rule,
}

/// The feature and the loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rule {
    pub(super) feature: Feature,
    pub(super) loss: Loss,
}

impl Attention {
    /// Returns random numbers between -1/2 and 1/2, divided by the dimension. `view_keys` are the keys of the views.
    pub(super) fn start(dim: usize, view_keys: &[Key], labels: usize, key: Key, rule: Rule) -> Self {
        let random = |key: Key, width: usize| {
            (0..width).map(|at| (unit_f64(key.at(at, 0)) - 0.5) / dim as f64).collect()
        };
        let width = match rule.feature {
            Feature::Mean => dim,
            Feature::Concat => dim * view_keys.len(),
        };
        Attention {
            views: view_keys.iter().map(|&key| random(key, width)).collect(),
            labels: (0..labels as u64).map(|label| random(key.with(label), dim)).collect(),
            rule,
        }
    }

    /// Returns the weight of each view for a node; the sum is 1.
    pub(super) fn weights(&self, views: &[Vec<f64>]) -> Vec<f64> {
        let feature = self.rule.feature.of(views);
        let scores: Vec<f64> = self.views.iter().map(|z| product(z, &feature)).collect();
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let parts: Vec<f64> = scores.iter().map(|score| libm::exp(score - highest)).collect();
        let whole: f64 = parts.iter().sum();
        parts.iter().map(|part| part / whole).collect()
    }

    /// Minimizes the loss of examples.
    pub(super) fn learn(&mut self, examples: &[Example]) {
        let (mut step, mut last) = (FIRST_STEP, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let (error, gradient) = self.gradient(examples);
            if error > last {
                step /= 2.0;
            }
            if step < LAST_STEP {
                break;
            }
            last = error;
            let rows = self.views.iter_mut().zip(&gradient.views);
            for (row, gradient) in rows.chain(self.labels.iter_mut().zip(&gradient.labels)) {
                add_multiple(row, -step, gradient);
            }
        }
    }

    /// Returns the mean loss of the examples, and its gradient.
    fn gradient(&self, examples: &[Example]) -> (f64, Attention) {
        let zeros = |rows: &[Vec<f64>]| rows.iter().map(|row| vec![0.0; row.len()]).collect::<Vec<_>>();
        let mut gradient =
            Attention { views: zeros(&self.views), labels: zeros(&self.labels), rule: self.rule };
        let share = 1.0 / examples.len() as f64;
        let mut error = 0.0;
        for example in examples {
            let weights = self.weights(&example.views);
            let vector = combined(&weights, &example.views);
            let mut d_vector = vec![0.0; vector.len()];
            for (label, (w, d_w)) in (0u32..).zip(self.labels.iter().zip(&mut gradient.labels)) {
                let (score, has) = (product(w, &vector), example.labels.binary_search(&label).is_ok());
                let (one, slope) = self.rule.loss.of(score, f64::from(u8::from(has)));
                error += share * one;
                add_multiple(d_w, share * slope, &vector);
                add_multiple(&mut d_vector, share * slope, w);
            }
            // The derivative of the softmax: what increases one weight decreases the others.
            let d_weights: Vec<f64> = example.views.iter().map(|view| product(&d_vector, view)).collect();
            let common = product(&d_weights, &weights);
            let feature = self.rule.feature.of(&example.views);
            for ((d_z, weight), d_weight) in gradient.views.iter_mut().zip(&weights).zip(&d_weights) {
                add_multiple(d_z, weight * (d_weight - common), &feature);
            }
        }
        (error, gradient)
    }
}

/// Computes `sum_k weight_k x^k`.
pub(super) fn combined(weights: &[f64], views: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; views[0].len()];
    weights.iter().zip(views).for_each(|(&weight, view)| add_multiple(&mut sum, weight, view));
    sum
}

impl Feature {
    fn of(self, views: &[Vec<f64>]) -> Vec<f64> {
        match self {
            Feature::Mean => combined(&vec![1.0 / views.len() as f64; views.len()], views),
            Feature::Concat => views.concat(),
        }
    }
}

impl Loss {
    /// Returns the loss of a score whose target is 0 or 1, and its derivative.
    fn of(self, score: f64, target: f64) -> (f64, f64) {
        match self {
            Loss::Logistic => {
                let error = score.max(0.0) + libm::log1p(libm::exp(-score.abs())) - target * score;
                (error, 1.0 / (1.0 + libm::exp(-score)) - target)
            }
            Loss::Square => ((score - target).powi(2) / 2.0, score - target),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u64, count: usize) -> Vec<f64> {
        (0..count).map(|at| 2.0 * unit_f64(Key::new(seed).at(at, 0)) - 1.0).collect()
    }

    /// Three views, two labels, four columns.
    fn attention(rule: Rule) -> Attention {
        let width = if rule.feature == Feature::Mean { 4 } else { 12 };
        let rows =
            |seeds: std::ops::Range<u64>, width: usize| seeds.map(|seed| numbers(seed, width)).collect();
        Attention { views: rows(1..4, width), labels: rows(4..6, 4), rule }
    }

    fn rules() -> impl Iterator<Item = Rule> {
        Feature::ALL.into_iter().flat_map(|feature| Loss::ALL.map(|loss| Rule { feature, loss }))
    }

    fn examples(count: u64) -> Vec<Example> {
        let example = |seed: u64| Example {
            views: (0..3).map(|view| numbers(10 + 3 * seed + view, 4)).collect(),
            labels: if seed.is_multiple_of(3) { vec![0, 1] } else { vec![(seed % 2) as u32] },
        };
        (0..count).map(example).collect()
    }

    #[test]
    fn gradients_are_finite_differences() {
        for rule in rules() {
            let (attention, examples) = (attention(rule), examples(5));
            let (_, gradient) = attention.gradient(&examples);
            let check = |found: f64, change: &dyn Fn(&mut Attention, f64)| {
                let error = |step: f64| {
                    let mut moved = attention.clone();
                    change(&mut moved, step);
                    moved.gradient(&examples).0
                };
                let slope = (error(1e-6) - error(-1e-6)) / 2e-6;
                assert!((found - slope).abs() < 1e-8, "{rule:?}: {found} and {slope}");
            };
            for (view, row) in gradient.views.iter().enumerate() {
                for (at, &found) in row.iter().enumerate() {
                    check(found, &|moved, step| moved.views[view][at] += step);
                }
            }
            for (label, row) in gradient.labels.iter().enumerate() {
                for (at, &found) in row.iter().enumerate() {
                    check(found, &|moved, step| moved.labels[label][at] += step);
                }
            }
        }
    }

    #[test]
    fn weights_add_up_to_one_and_a_single_view_has_all() {
        let views = &examples(1)[0].views;
        for rule in rules() {
            let weights = attention(rule).weights(views);
            let sum: f64 = weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12 && weights.iter().all(|&weight| weight > 0.0), "{rule:?}");
        }
        let alone = Attention { views: vec![numbers(1, 4)], labels: Vec::new(), rule: Rule::default() };
        assert_eq!(alone.weights(&views[..1]), [1.0]);
        assert_eq!(combined(&[1.0], &views[..1]), views[0]);
    }

    #[test]
    fn equal_views_keep_equal_weights() {
        let mut attention = Attention { views: vec![vec![0.0; 4]; 3], ..attention(Rule::default()) };
        let same = |example: Example| Example { views: vec![example.views[0].clone(); 3], ..example };
        let examples: Vec<Example> = examples(6).into_iter().map(same).collect();
        let before = attention.gradient(&examples).0;
        attention.learn(&examples);
        assert!(attention.gradient(&examples).0 < before);
        for example in &examples {
            assert!(
                attention.weights(&example.views).iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-12)
            );
        }
    }

    /// The label is the sign of the first view, and the second view is noise: the first gets the larger weights.
    #[test]
    fn the_view_that_knows_the_labels_wins() {
        let example = |seed: u64| {
            let sign = if seed.is_multiple_of(2) { 1.0 } else { -1.0 };
            let views = vec![vec![sign, 1.0], vec![3.0 * numbers(seed, 1)[0], 1.0]];
            Example { views, labels: vec![(seed % 2) as u32] }
        };
        let examples: Vec<Example> = (0..60).map(example).collect();
        for rule in rules() {
            let mut attention = Attention::start(2, &[Key::new(1), Key::new(2)], 2, Key::new(3), rule);
            for _ in 0..20 {
                attention.learn(&examples);
            }
            let first = examples.iter().map(|example| attention.weights(&example.views)[0]);
            let mean = first.sum::<f64>() / 60.0;
            assert!(mean > 0.7, "{rule:?}: {mean}");
        }
    }
}

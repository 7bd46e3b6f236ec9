//! Node classifiers: one softmax if nodes have one label each, one-vs-rest if they have several; and the selection of C
//! on the training nodes.
//!
//! Invariant: training uses the given rows and their labels only (`curvature.rs` explains why the curvature is not an
//! exception).

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::curvature::Curvature;
use super::logistic::{Fitted, Frame, Task};
use super::metrics::Decisions;
use super::{Labels, Vectors};

/// The values of C that `auto` selects from.
pub(super) const COSTS: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// Number of folds of the cross-validation on the training nodes.
const FOLDS: usize = 5;

/// What all fits of an evaluation have in common.
pub(super) struct Trainer<'a> {
    pub(super) vectors: Vectors<'a>,
    pub(super) labels: &'a Labels,
    pub(super) curvature: Curvature,
    pub(super) standardize: bool,
    pub(super) max_iter: usize,
    pub(super) multi_label: bool,
}

/// A trained node classifier.
pub(super) enum Trained {
    /// For one label per node: the classes of the training nodes, and a fit unless there is only one class.
    One { classes: Vec<u32>, fitted: Option<Fitted> },
    /// For several labels per node: one classifier per label.
    Several(Vec<OneAgainstRest>),
}

pub(super) enum OneAgainstRest {
    /// All training nodes have the label, or none has it.
    Always(bool),
    Fitted(Fitted),
}

impl Trainer<'_> {
    /// Trains on some rows, starting from zero or from an earlier classifier of the same rows. If not `exact`,
    /// converges only far enough to compare values of C. Returns `None` if canceled.
    pub(super) fn train(
        &self,
        rows: &[u32],
        cost: f64,
        exact: bool,
        start: Option<&Trained>,
        canceled: &AtomicBool,
    ) -> Option<Trained> {
        let frame = Frame::new(&self.vectors, rows, self.standardize, &self.curvature);
        let fit = |classes: &[u32], outputs: usize, start: Option<&Fitted>| {
            let (vectors, curvature, frame) = (&self.vectors, &self.curvature, &frame);
            Task { vectors, curvature, frame, rows, classes, outputs, cost, max_iter: self.max_iter, exact }
                .fit(start, canceled)
        };
        if self.multi_label {
            let of_label = |label: usize| {
                let has = |&row: &u32| u32::from(self.labels.of(row as usize).contains(&(label as u32)));
                let classes: Vec<u32> = rows.iter().map(has).collect();
                let with: u32 = classes.iter().sum();
                if with == 0 || with as usize == rows.len() {
                    return Some(OneAgainstRest::Always(with > 0));
                }
                let start = match start {
                    Some(Trained::Several(starts)) => starts[label].fitted(),
                    _ => None,
                };
                fit(&classes, 1, start).map(OneAgainstRest::Fitted)
            };
            let labels = 0..self.labels.names().len();
            return labels.into_par_iter().map(of_label).collect::<Option<_>>().map(Trained::Several);
        }
        let mut classes: Vec<u32> = rows.iter().map(|&row| self.labels.only(row)).collect();
        classes.sort_unstable();
        classes.dedup();
        let place =
            |&row: &u32| classes.binary_search(&self.labels.only(row)).expect("class of these rows") as u32;
        let of: Vec<u32> = rows.iter().map(place).collect();
        let start = match start {
            Some(Trained::One { fitted, .. }) => fitted.as_ref(),
            _ => None,
        };
        let fitted = match classes.len() {
            1 => None,
            2 => Some(fit(&of, 1, start)?),
            many => Some(fit(&of, many, start)?),
        };
        Some(Trained::One { classes, fitted })
    }

    /// The C among `costs` with the best micro-F1 in cross-validation on these rows (the smallest, if tied), and that
    /// score; 1 and no score if there are too few rows. Returns `None` if canceled.
    pub(super) fn best_cost(
        &self,
        costs: &[f64],
        rows: &[u32],
        seed: u64,
        repeat: usize,
        canceled: &AtomicBool,
    ) -> Option<(f64, Option<f64>)> {
        let folds = FOLDS.min(rows.len());
        if folds < 2 {
            return Some((1.0, None));
        }
        let fold_of = self.labels.folds(rows, folds, seed, repeat);
        let part = |fold: usize, tested: bool| -> Vec<u32> {
            let here = |(_, of): &(&u32, &usize)| (**of == fold) == tested;
            rows.iter().zip(&fold_of).filter(here).map(|(&row, _)| row).collect()
        };
        let of_fold = |fold: usize| {
            let (train, test) = (part(fold, false), part(fold, true));
            let mut start: Option<Trained> = None;
            let mut found = Vec::with_capacity(costs.len());
            // From strong to weak penalties, each starting from the previous fit, since the minima are close together.
            for &cost in costs {
                let trained = self.train(&train, cost, false, start.as_ref(), canceled)?;
                let mut decisions = Decisions::new(self.labels.names().len());
                for &row in &test {
                    decisions.add(self.labels.of(row as usize), &trained.predict(&self.vectors, row).given);
                }
                found.push(decisions);
                start = Some(trained);
            }
            Some(found)
        };
        let found: Vec<Vec<Decisions>> = (0..folds).into_par_iter().map(of_fold).collect::<Option<_>>()?;
        let score = |cost: usize| {
            let mut all = Decisions::new(self.labels.names().len());
            found.iter().for_each(|fold| all.merge(&fold[cost]));
            all.f1(true).micro_f1
        };
        let best = (0..costs.len()).rev().max_by(|&a, &b| score(a).total_cmp(&score(b)));
        best.map(|best| (costs[best], Some(score(best))))
    }
}

impl OneAgainstRest {
    fn fitted(&self) -> Option<&Fitted> {
        match self {
            OneAgainstRest::Always(_) => None,
            OneAgainstRest::Fitted(fitted) => Some(fitted),
        }
    }

    fn score(&self, vectors: &Vectors<'_>, row: u32) -> f64 {
        match self {
            OneAgainstRest::Always(true) => f64::INFINITY,
            OneAgainstRest::Always(false) => f64::NEG_INFINITY,
            OneAgainstRest::Fitted(fitted) => fitted.scores(vectors, row)[0],
        }
    }
}

/// The prediction of a classifier for a node.
pub(super) struct Predicted {
    /// The predicted labels, ascending: the most likely class, or all labels with a probability above one half.
    pub(super) given: Vec<u32>,
    /// With several labels per node: all labels, the most likely first; ties by name.
    order: Vec<u32>,
}

impl Predicted {
    /// The prediction by the known-number rule for a node with `count` labels, ascending.
    pub(super) fn first(&self, count: usize) -> Vec<u32> {
        let mut first = self.order[..count].to_vec();
        first.sort_unstable();
        first
    }
}

impl Trained {
    pub(super) fn predict(&self, vectors: &Vectors<'_>, row: u32) -> Predicted {
        match self {
            Trained::One { classes, fitted: None } => {
                Predicted { given: vec![classes[0]], order: Vec::new() }
            }
            Trained::One { classes, fitted: Some(fitted) } => {
                let scores = fitted.scores(vectors, row);
                let place = match scores[..] {
                    [score] => usize::from(score > 0.0),
                    _ => first_largest(&scores),
                };
                Predicted { given: vec![classes[place]], order: Vec::new() }
            }
            Trained::Several(labels) => {
                let scores: Vec<f64> = labels.iter().map(|label| label.score(vectors, row)).collect();
                let all = 0..labels.len() as u32;
                let given = all.clone().filter(|&label| scores[label as usize] > 0.0).collect();
                let mut order: Vec<u32> = all.collect();
                order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
                Predicted { given, order }
            }
        }
    }

    fn fits(&self) -> Vec<&Fitted> {
        match self {
            Trained::One { fitted, .. } => fitted.iter().collect(),
            Trained::Several(labels) => labels.iter().filter_map(OneAgainstRest::fitted).collect(),
        }
    }

    /// The minimum of the objective, summed over the labels.
    pub(super) fn loss(&self) -> f64 {
        self.fits().iter().map(|fitted| fitted.loss).sum()
    }

    /// The number of iterations, summed over the labels.
    pub(super) fn iterations(&self) -> usize {
        self.fits().iter().map(|fitted| fitted.iterations).sum()
    }

    pub(super) fn converged(&self) -> bool {
        self.fits().iter().all(|fitted| fitted.converged)
    }
}

fn first_largest(scores: &[f64]) -> usize {
    let places = (0..scores.len()).rev();
    places.max_by(|&a, &b| scores[a].total_cmp(&scores[b])).expect("there is at least one class")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_name() {
        assert_eq!(first_largest(&[1.0, 3.0, 3.0]), 1);
        let several = Trained::Several([false, true, true].map(OneAgainstRest::Always).into());
        let said = several.predict(&Vectors::new(&[0.0], 1, 1).unwrap(), 0);
        assert_eq!(
            (said.given.as_slice(), said.first(1), said.first(3)),
            (&[1, 2][..], vec![1], vec![0, 1, 2])
        );
    }
}

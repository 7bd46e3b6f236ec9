//! Node classification: logistic regression on a fraction of the labeled nodes, F1 on the others.
//!
//! Nodes without labels are ignored. If each node has one label, the classifier is one softmax over the classes. If
//! nodes have several labels, it is one classifier per label, evaluated by two rules. The threshold rule, which gives
//! the main scores, predicts the labels with a probability above one half. The known-number rule predicts the n most
//! likely labels of a node that has n labels. It is common in papers, but uses information that a real classifier does
//! not have.

use std::fmt::{self, Display};
use std::ops::ControlFlow;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::curvature::Curvature;
use super::metrics::{Decisions, F1};
use super::train::{COSTS, Trained, Trainer};
use super::{Labels, Split, Step, Summary, Vectors, Watch, check_together};
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, option, option_value};
use manyview_base::parallel::Pool;
use manyview_data::labels::LabelCount;

/// Settings of [`classify()`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassifySettings {
    /// Fractions of the labeled nodes to train on.
    pub train: Vec<f64>,
    /// Number of splits per fraction.
    pub repeats: usize,
    /// Random seed of the splits.
    pub seed: u64,
    /// The weight C of the loss relative to the penalty.
    pub c: Cost,
    /// Scale each vector to length 1 first.
    pub l2norm: bool,
    /// Scale each column to mean 0 and variance 1 on the training nodes.
    pub standardize: bool,
    /// Maximum number of iterations per fit.
    pub max_iter: usize,
    /// Number of the first repeat; not 0 if the caller measures one repeat at a time.
    #[serde(skip)]
    pub first_repeat: usize,
    /// Also score each split by five-fold cross-validation on its training nodes, for choices that must not use the
    /// test nodes.
    #[serde(skip)]
    pub validate: bool,
}

impl Default for ClassifySettings {
    fn default() -> Self {
        ClassifySettings {
            train: vec![0.3, 0.5, 0.7],
            repeats: 10,
            seed: 0,
            c: Cost::Fixed(1.0),
            l2norm: false,
            standardize: false,
            max_iter: 1000,
            first_repeat: 0,
            validate: false,
        }
    }
}

/// The weight C of the loss relative to the penalty; a large C means weak regularization.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cost {
    /// A given value.
    Fixed(f64),
    /// The best of 0.01, 0.1, 1, 10 and 100, selected by five-fold cross-validation on the training nodes.
    Auto,
}

impl FromStr for Cost {
    type Err = Error;

    /// Parses a number greater than 0, or `auto`.
    fn from_str(text: &str) -> Result<Self> {
        match (text, text.parse::<f64>()) {
            ("auto", _) => Ok(Cost::Auto),
            (_, Ok(cost)) if cost > 0.0 && cost.is_finite() => Ok(Cost::Fixed(cost)),
            _ => Err(Error::config(format!(
                "{} must be a number greater than 0, or auto",
                option_value("c", text)
            ))),
        }
    }
}

/// The number, or `auto`.
impl Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cost::Fixed(cost) => cost.fmt(formatter),
            Cost::Auto => formatter.write_str("auto"),
        }
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cost::Fixed(cost) => serializer.serialize_f64(*cost),
            Cost::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl ClassifySettings {
    /// Checks the settings that do not depend on the data.
    ///
    /// # Errors
    /// [`Error::Config`] for the first invalid setting.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::config(message));
        if self.train.is_empty() {
            return refuse(format!(
                "{} is empty; give fractions between 0 and 1, such as 0.3,0.5,0.7",
                option("train")
            ));
        }
        if let Some(share) = self.train.iter().find(|&&share| !(share > 0.0 && share < 1.0)) {
            return refuse(format!(
                "{} must be a fraction between 0 and 1, such as 0.5",
                option_value("train", share)
            ));
        }
        if let Cost::Fixed(cost) = self.c
            && !(cost > 0.0 && cost.is_finite())
        {
            return refuse(format!("{} must be a number greater than 0, or auto", option_value("c", cost)));
        }
        if self.repeats == 0 {
            return refuse(format!("{} must be at least 1", option_value("repeats", 0)));
        }
        if self.max_iter == 0 {
            return refuse(format!("{} must be at least 1", option_value("max_iter", 0)));
        }
        Ok(())
    }

    /// Notes that depend on the labels and splits only, not on the vectors.
    ///
    /// # Errors
    /// If the settings are invalid, or if a training set has no node of some class.
    pub fn label_notes(&self, labels: &Labels) -> Result<Vec<Message>> {
        self.check()?;
        Ok(label_notes(labels, &self.splits(labels)?))
    }

    /// Each split with its repeat. Repeats are the outer loop, so that large and small fractions alternate and the
    /// threads finish at about the same time.
    fn splits(&self, labels: &Labels) -> Result<Vec<(usize, Split)>> {
        let shares = self.train.len();
        let split = |job: usize| {
            let (repeat, share) = (self.first_repeat + job / shares, self.train[job % shares]);
            Ok((repeat, labels.split(share, self.seed, repeat)?))
        };
        (0..self.repeats * shares).map(split).collect()
    }
}

/// The result of [`classify()`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Classification {
    /// Number of nodes with vectors.
    pub nodes: usize,
    /// Length of the vectors.
    pub dim: usize,
    /// Number of nodes with labels; the others were ignored.
    pub labeled: usize,
    /// Number of ids with labels but without vectors.
    pub unknown: usize,
    /// Whether some node has several labels.
    pub multi_label: bool,
    /// The labels and the number of nodes of each.
    pub classes: Vec<LabelCount>,
    /// The settings used.
    pub settings: ClassifySettings,
    /// The scores per training fraction, in the order of the settings.
    pub shares: Vec<ShareScores>,
    /// Notes on the scores: sentences without a full stop.
    pub notes: Vec<Message>,
    /// The notes that depend on the vectors, and not only on labels and splits.
    #[serde(skip)]
    pub fit_notes: Vec<Message>,
}

/// Scores for one training fraction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShareScores {
    /// The training fraction.
    pub train: f64,
    /// Micro-F1 over the repeats.
    pub micro_f1: Summary,
    /// Macro-F1 over the repeats.
    pub macro_f1: Summary,
    /// With several labels per node: micro-F1 by the known-number rule.
    pub known_micro_f1: Option<Summary>,
    /// With several labels per node: macro-F1 by the known-number rule.
    pub known_macro_f1: Option<Summary>,
    /// Each repeat.
    pub runs: Vec<ClassifyRun>,
}

/// The result of one split.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassifyRun {
    /// The number of the repeat, from 0.
    pub repeat: usize,
    /// Number of training nodes.
    pub train_nodes: usize,
    /// Number of test nodes.
    pub test_nodes: usize,
    /// The C used.
    pub c: f64,
    /// The final value of `C x loss + penalty` on the training nodes; with several labels per node, the sum over the
    /// labels.
    pub loss: f64,
    /// Number of iterations; with several labels per node, the sum over the labels.
    pub iterations: usize,
    /// Whether all fits converged.
    pub converged: bool,
    /// The scores on the test nodes.
    #[serde(flatten)]
    pub f1: F1,
    /// With several labels per node: the scores by the known-number rule.
    pub known: Option<F1>,
    /// Micro-F1 in cross-validation on the training nodes, if requested.
    #[serde(skip)]
    pub validation: Option<f64>,
    /// The predictions for the test nodes.
    #[serde(skip)]
    pub predictions: Vec<Prediction>,
}

/// The prediction for a test node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prediction {
    /// The node's row.
    pub row: u32,
    /// The predicted labels, as indices into the labels' names.
    pub labels: Vec<u32>,
}

/// Trains on fractions of the labeled nodes and tests on the others.
///
/// # Errors
/// If the settings are invalid, labels and vectors differ in number, there is only one class, or a training set has no
/// node of some class.
pub fn classify(
    vectors: &Vectors<'_>,
    labels: &Labels,
    settings: &ClassifySettings,
    pool: &Pool,
) -> Result<Classification> {
    classify_watched(vectors, labels, settings, pool, &mut |_| ControlFlow::Continue(()))
}

/// Like [`classify()`], and calls `watch` with the progress.
///
/// # Errors
/// As [`classify()`], and [`Error::Interrupted`] if `watch` breaks.
pub fn classify_watched(
    vectors: &Vectors<'_>,
    labels: &Labels,
    settings: &ClassifySettings,
    pool: &Pool,
    watch: &mut Watch<'_>,
) -> Result<Classification> {
    settings.check()?;
    check_together(vectors, labels)?;
    labels.check_classes("classification needs at least two classes")?;
    let jobs = settings.splits(labels)?;
    let scaled = vectors.scaled(settings.l2norm);
    let vectors = Vectors { values: &scaled, ..*vectors };
    let trainer = Trainer {
        vectors,
        labels,
        curvature: pool.run(|| Curvature::new(&vectors, &labels.labeled_rows(), settings.standardize)),
        standardize: settings.standardize,
        max_iter: settings.max_iter,
        multi_label: labels.is_multi_label(),
    };
    let run = |(): &mut (), job: usize, canceled: &_| {
        let (repeat, split) = &jobs[job];
        let validated =
            |costs: &[f64]| trainer.best_cost(costs, &split.train, settings.seed, *repeat, canceled);
        let (cost, validation) = match settings.c {
            Cost::Fixed(cost) if settings.validate => (cost, validated(&[cost])?.1),
            Cost::Fixed(cost) => (cost, None),
            Cost::Auto => validated(&COSTS)?,
        };
        let trained = trainer.train(&split.train, cost, true, None, canceled)?;
        Some(ClassifyRun { validation, ..trainer.test(&trained, split, *repeat, cost) })
    };
    let total = jobs.len();
    let runs = pool.map_watched(total, || (), run, &mut |done| watch(Step { done, total }));
    let runs = runs.ok_or(Error::Interrupted)?;
    Ok(summarize(&trainer, settings, &jobs, runs))
}

impl Trainer<'_> {
    fn test(&self, trained: &Trained, split: &Split, repeat: usize, cost: f64) -> ClassifyRun {
        let labels = self.labels;
        let mut given = Decisions::new(labels.names().len());
        let mut known = given.clone();
        let mut predictions = Vec::with_capacity(split.test.len());
        for &row in &split.test {
            let (truth, said) = (labels.of(row as usize), trained.predict(&self.vectors, row));
            given.add(truth, &said.given);
            if self.multi_label {
                known.add(truth, &said.first(truth.len()));
            }
            predictions.push(Prediction { row, labels: said.given });
        }
        ClassifyRun {
            repeat,
            train_nodes: split.train.len(),
            test_nodes: split.test.len(),
            c: cost,
            loss: trained.loss(),
            iterations: trained.iterations(),
            converged: trained.converged(),
            f1: given.f1(!self.multi_label),
            known: self.multi_label.then(|| known.f1(false)),
            validation: None,
            predictions,
        }
    }
}

fn summarize(
    trainer: &Trainer<'_>,
    settings: &ClassifySettings,
    jobs: &[(usize, Split)],
    runs: Vec<ClassifyRun>,
) -> Classification {
    let (labels, share_count) = (trainer.labels, settings.train.len());
    let fit_notes = fit_notes(settings, &runs);
    let notes = label_notes(labels, jobs).into_iter().chain(fit_notes.clone()).collect();
    let mut by_share = vec![Vec::new(); share_count];
    for (job, run) in runs.into_iter().enumerate() {
        by_share[job % share_count].push(run);
    }
    let shares = settings.train.iter().zip(by_share).map(|(&train, runs)| {
        let summary = |score: fn(&ClassifyRun) -> Option<f64>| {
            let scores: Option<Vec<f64>> = runs.iter().map(score).collect();
            scores.map(|scores| Summary::of(scores.into_iter()))
        };
        ShareScores {
            train,
            micro_f1: Summary::of(runs.iter().map(|run| run.f1.micro_f1)),
            macro_f1: Summary::of(runs.iter().map(|run| run.f1.macro_f1)),
            known_micro_f1: summary(|run| run.known.map(|known| known.micro_f1)),
            known_macro_f1: summary(|run| run.known.map(|known| known.macro_f1)),
            runs,
        }
    });
    Classification {
        nodes: trainer.vectors.rows(),
        dim: trainer.vectors.dim(),
        labeled: labels.labeled(),
        unknown: labels.unknown(),
        multi_label: trainer.multi_label,
        classes: labels.counts(),
        settings: settings.clone(),
        shares: shares.collect(),
        notes,
        fit_notes,
    }
}

fn label_notes(labels: &Labels, jobs: &[(usize, Split)]) -> Vec<Message> {
    let multi_label = labels.is_multi_label();
    let mut notes = Vec::new();
    let lonely: Vec<String> =
        labels.counts().into_iter().filter(|count| count.nodes == 1).map(|count| count.label).collect();
    if let [first, rest @ ..] = &lonely[..] {
        let others = if rest.is_empty() { String::new() } else { format!(" (and {} others)", rest.len()) };
        let note = match multi_label {
            true => {
                format!("label {first:?}{others} has one node, which is used for training or for testing")
            }
            false => format!("class {first:?}{others} has one node, which is always used for training"),
        };
        notes.push(note.into());
    }
    if multi_label {
        let lacks = |(_, split): &&(usize, Split)| {
            let mut there = vec![false; labels.names().len()];
            let given = split.train.iter().flat_map(|&row| labels.of(row as usize));
            given.for_each(|&label| there[label as usize] = true);
            there.contains(&false)
        };
        let lacking = jobs.iter().filter(lacks).count();
        if lacking > 0 {
            let splits = jobs.len();
            let note = format!(
                "in {lacking} of {splits} splits some label has no training node and is never predicted"
            );
            notes.push(note.into());
        }
    }
    notes
}

fn fit_notes(settings: &ClassifySettings, runs: &[ClassifyRun]) -> Vec<Message> {
    let mut notes = Vec::new();
    let open = runs.iter().filter(|run| !run.converged).count();
    if open > 0 {
        let limit = option_value("max_iter", settings.max_iter);
        notes.push(format!("{open} of {} fits did not converge within {limit}", runs.len()).into());
    }
    let edge = runs.iter().filter(|run| run.c == COSTS[0] || run.c == COSTS[COSTS.len() - 1]).count();
    if settings.c == Cost::Auto && 2 * edge > runs.len() {
        let [smallest, .., largest] = COSTS;
        let note = format!(
            "{} selected {smallest} or {largest}, the ends of its range, in {edge} of {} splits; the best C may be \
             outside of the range",
            option_value("c", "auto"),
            runs.len()
        );
        notes.push(note.into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, unit_f64};

    fn ids(count: usize) -> Vec<String> {
        (0..count).map(|node| format!("n{node}")).collect()
    }

    /// Vectors around `classes` corners of a cube.
    fn cloud(count: usize, classes: usize, noise: f64) -> Vec<f32> {
        let number = |row, column| unit_f64(Key::new(4).at(row, column)) - 0.5;
        let of = |row: usize, column: usize| f64::from(u8::from((row % classes) >> column & 1 == 1));
        (0..count * 3).map(|at| (of(at / 3, at % 3) + noise * number(at / 3, at % 3)) as f32).collect()
    }

    fn run(
        values: &[f32],
        labels: &Labels,
        settings: &ClassifySettings,
        threads: usize,
    ) -> Result<Classification> {
        let vectors = Vectors::new(values, labels.rows(), values.len() / labels.rows()).unwrap();
        let pool = Pool::new(Some(threads)).unwrap();
        classify(&vectors, labels, settings, &pool)
    }

    fn one_label(count: usize, classes: usize) -> Labels {
        Labels::from_sets(ids(count), (0..count).map(|node| [format!("c{}", node % classes)])).unwrap()
    }

    #[test]
    fn separate_classes_are_told_apart() {
        let labels = one_label(200, 5);
        for c in [Cost::Fixed(10.0), Cost::Auto] {
            let settings = ClassifySettings { c, repeats: 2, ..ClassifySettings::default() };
            let found = run(&cloud(200, 5, 0.3), &labels, &settings, 2).unwrap();
            assert_eq!((found.labeled, found.multi_label, found.shares.len()), (200, false, 3));
            for share in &found.shares {
                assert!(share.micro_f1.mean > 0.99 && share.macro_f1.mean > 0.99, "{share:?}");
                assert!(share.runs.iter().all(|run| run.converged && run.known.is_none()));
            }
        }
    }

    #[test]
    fn one_repeat_at_a_time_is_the_same_and_validation_looks_at_training_nodes_alone() {
        let (labels, values) = (one_label(90, 3), cloud(90, 3, 2.0));
        let all = ClassifySettings { repeats: 3, validate: true, ..ClassifySettings::default() };
        let all = run(&values, &labels, &all, 2).unwrap();
        let third = ClassifySettings { repeats: 1, first_repeat: 2, ..ClassifySettings::default() };
        let third = run(&values, &labels, &third, 2).unwrap();
        for (all, third) in all.shares.iter().zip(&third.shares) {
            let (a, b) = (&all.runs[2], &third.runs[0]);
            assert_eq!((a.repeat, a.f1, &a.predictions), (b.repeat, b.f1, &b.predictions));
            assert!(b.validation.is_none());
        }
        // Changing the labels of the test nodes changes the scores but not the validation.
        let split = labels.split(0.5, 0, 0).unwrap();
        let other = |row: u32| format!("c{}", (row as usize + usize::from(split.test.contains(&row))) % 3);
        let changed = Labels::from_sets(ids(90), (0..90).map(|row| [other(row)])).unwrap();
        let rows = |of: &Labels| {
            let trainer = Trainer {
                vectors: Vectors::new(&values, 90, 3).unwrap(),
                labels: of,
                curvature: Curvature::new(&Vectors::new(&values, 90, 3).unwrap(), &split.train, false),
                standardize: false,
                max_iter: 1000,
                multi_label: false,
            };
            trainer.best_cost(&COSTS, &split.train, 0, 0, &false.into()).unwrap()
        };
        assert_eq!(rows(&labels), rows(&changed));
    }

    #[test]
    fn noise_is_not_learned() {
        let labels = one_label(300, 3);
        let values: Vec<f32> = (0..900).map(|at| unit_f64(Key::new(8).at(at, 1)) as f32).collect();
        let found = run(&values, &labels, &ClassifySettings::default(), 2).unwrap();
        for share in found.shares {
            assert!((share.micro_f1.mean - 1.0 / 3.0).abs() < 0.08, "{}", share.micro_f1.mean);
        }
    }

    #[test]
    fn several_labels_have_two_rules() {
        // One label per coordinate of the corner; nodes at corner 0 have no label and are ignored.
        let sets = (0..240)
            .map(|node| (0..3).filter(move |bit| (node % 8) >> bit & 1 == 1).map(|bit| format!("b{bit}")));
        let labels = Labels::from_sets(ids(240), sets).unwrap();
        let settings = ClassifySettings { c: Cost::Fixed(10.0), repeats: 3, ..ClassifySettings::default() };
        let found = run(&cloud(240, 8, 0.3), &labels, &settings, 2).unwrap();
        assert!(found.multi_label);
        assert_eq!((found.nodes, found.labeled), (240, 210));
        for share in &found.shares {
            assert!(share.micro_f1.mean > 0.99, "{share:?}");
            assert!(share.known_micro_f1.unwrap().mean > 0.99);
            assert_eq!(share.runs[0].train_nodes + share.runs[0].test_nodes, 210);
        }
    }

    #[test]
    fn threads_change_no_bit_and_seeds_change_splits() {
        let labels = one_label(150, 4);
        let settings =
            ClassifySettings { c: Cost::Auto, standardize: true, repeats: 2, ..ClassifySettings::default() };
        let values = cloud(150, 4, 2.5);
        let one = run(&values, &labels, &settings, 1).unwrap();
        for threads in [2, 5] {
            assert_eq!(run(&values, &labels, &settings, threads).unwrap(), one);
        }
        let other = ClassifySettings { seed: 1, ..settings };
        assert_ne!(run(&values, &labels, &other, 2).unwrap().shares, one.shares);
    }

    #[test]
    fn length_does_not_matter_to_l2norm() {
        let labels = one_label(120, 3);
        let settings = ClassifySettings { l2norm: true, repeats: 2, ..ClassifySettings::default() };
        let values: Vec<f32> = cloud(120, 3, 0.5).iter().map(|x| x + 0.5).collect();
        let longer: Vec<f32> =
            values.iter().enumerate().map(|(at, x)| x * if (at / 3) % 2 == 0 { 4.0 } else { 0.5 }).collect();
        let [one, two] = [values, longer].map(|values| run(&values, &labels, &settings, 2).unwrap());
        assert_eq!(one.shares[0].micro_f1, two.shares[0].micro_f1);
    }

    #[test]
    fn rare_classes_are_mentioned() {
        let names = (0..41).map(|node| [["a", "b", "rare"][if node == 40 { 2 } else { node % 2 }]]);
        let labels = Labels::from_sets(ids(41), names).unwrap();
        let found = run(&cloud(41, 2, 0.1), &labels, &ClassifySettings::default(), 2).unwrap();
        let texts: Vec<String> = found.notes.iter().map(Message::to_string).collect();
        assert_eq!(texts, ["class \"rare\" has one node, which is always used for training"]);
        assert_eq!(ClassifySettings::default().label_notes(&labels).unwrap(), found.notes);
        assert!(found.fit_notes.is_empty(), "no note depends on the vectors");
    }

    #[test]
    fn what_cannot_work_gets_a_sentence() {
        let sentence = |labels: &Labels, settings: ClassifySettings| {
            run(&cloud(labels.rows(), 2, 0.1), labels, &settings, 1).unwrap_err().to_string()
        };
        let standard = ClassifySettings::default;
        let same = Labels::from_sets(ids(9), (0..9).map(|_| ["a"])).unwrap();
        assert!(
            sentence(&same, standard())
                .starts_with("all 9 labeled nodes have the label \"a\"; classification needs")
        );
        let two = one_label(20, 2);
        assert!(sentence(&two, ClassifySettings { train: vec![], ..standard() }).contains("train is empty"));
        assert!(sentence(&two, ClassifySettings { train: vec![1.5], ..standard() }).contains("train = 1.5"));
        assert!(
            sentence(&two, ClassifySettings { train: vec![0.05], ..standard() }).contains("use 0.1 or more")
        );
        assert!(sentence(&two, ClassifySettings { repeats: 0, ..standard() }).contains("repeats = 0"));
        assert!(sentence(&two, ClassifySettings { c: Cost::Fixed(-1.0), ..standard() }).contains("c = -1"));
        let vectors = [0.0; 6];
        let vectors = Vectors::new(&vectors, 3, 2).unwrap();
        let pool = Pool::new(Some(1)).unwrap();
        let refused = classify(&vectors, &two, &standard(), &pool);
        assert!(refused.unwrap_err().to_string().starts_with("there are 3 vectors but labels for 20 nodes"));
    }

    #[test]
    fn breaking_off_is_an_interruption() {
        let (labels, values) = (one_label(60, 2), cloud(60, 2, 0.1));
        let vectors = Vectors::new(&values, 60, 3).unwrap();
        let pool = Pool::new(Some(2)).unwrap();
        let (settings, stop) = (ClassifySettings::default(), &mut |_| ControlFlow::Break(()));
        let found = classify_watched(&vectors, &labels, &settings, &pool, stop);
        assert!(matches!(found, Err(Error::Interrupted)));
    }

    #[test]
    fn costs_are_numbers_or_auto() {
        assert_eq!("auto".parse::<Cost>().unwrap(), Cost::Auto);
        assert_eq!("0.5".parse::<Cost>().unwrap(), Cost::Fixed(0.5));
        assert_eq!([Cost::Auto, Cost::Fixed(0.5)].map(|cost| cost.to_string()), ["auto", "0.5"]);
        for text in ["0", "-1", "inf", "nan", "x", ""] {
            assert!(text.parse::<Cost>().is_err(), "{text}");
        }
    }
}

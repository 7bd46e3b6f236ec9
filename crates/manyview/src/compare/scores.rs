//! The scores of an embedding: every split of every fraction for each C, and every run of k-means.
//!
//! Invariant: scores are kept one by one, in the order of the repeats; means are computed by `table.rs`.

use manyview_analysis::evaluate::{
    self, Classification, ClusterSettings, Cost, Vectors, classify_watched, cluster_watched,
};
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_data::embedding::Embedding;
use manyview_data::labels::Labels;
use serde::{Deserialize, Serialize};

use super::event::{Event, Listener, Parts};
use super::settings::CompareSettings;

/// All scores of an embedding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// The classification at each C.
    pub classify: Vec<CostScores>,
    /// NMI of each run of k-means; empty if nodes have several labels, or if the method learned from labels.
    pub nmi: Vec<f64>,
    /// AMI of each run of k-means.
    pub ami: Vec<f64>,
    /// The time of the method in seconds, without reading and measuring.
    pub seconds: f64,
    /// The number of columns.
    pub dim: usize,
    /// Notes on these scores; older files have none.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The scores at one C.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostScores {
    /// The weight C: a number, or `auto`.
    pub c: String,
    /// The scores per training fraction, in the order of the settings.
    pub shares: Vec<ShareScores>,
}

/// The scores of each split of one training fraction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShareScores {
    /// The training fraction.
    pub train: f64,
    /// Micro-F1 on the test nodes.
    pub micro_f1: Vec<f64>,
    /// Macro-F1 on the test nodes.
    pub macro_f1: Vec<f64>,
    /// Micro-F1 if the number of labels of each node is known; empty unless nodes have several labels.
    #[serde(default)]
    pub known_micro_f1: Vec<f64>,
    /// Macro-F1 if the number of labels of each node is known; empty unless nodes have several labels.
    #[serde(default)]
    pub known_macro_f1: Vec<f64>,
    /// Micro-F1 of cross-validation on the training nodes; empty unless there are candidates to choose from.
    pub validation: Vec<f64>,
}

/// What is measured of an embedding.
pub(super) struct Measurement<'a> {
    pub(super) settings: &'a CompareSettings,
    pub(super) labels: &'a Labels,
    /// The only repeat to measure, if the method learned from the labels of its training nodes.
    pub(super) repeat: Option<usize>,
    /// Whether to cross-validate on the training nodes.
    pub(super) validate: bool,
    pub(super) pool: &'a Pool,
}

impl Measurement<'_> {
    /// # Errors
    /// Those of the evaluation, and [`Interrupted`](manyview_base::error::Error::Interrupted) when the observer breaks.
    pub(super) fn run(&self, embedding: &Embedding, listener: &mut Listener<'_, '_>) -> Result<Scores> {
        let Measurement { settings, labels, repeat, validate, pool } = *self;
        let vectors = Vectors::try_from(embedding)?;
        let mut scores = Scores { dim: embedding.dim(), ..Scores::default() };
        for &c in &settings.c {
            let mut classify = settings.classify(c);
            classify.validate = validate;
            if let Some(repeat) = repeat {
                (classify.first_repeat, classify.repeats) = (repeat, 1);
            }
            let found = classify_watched(&vectors, labels, &classify, pool, &mut |step| {
                listener.poll(&Event::Measuring { parts: Parts::Splits, step })
            })?;
            // The notes on labels are the same for all jobs, and the comparison reports them once.
            scores.notes.extend(found.fit_notes.iter().map(|note| format!("C {}: {note}", cost_words(c))));
            scores.classify.push(CostScores { c: c.to_string(), shares: shares(&found) });
        }
        if repeat.is_none() && !labels.is_multi_label() {
            let CompareSettings { repeats, seed, .. } = *settings;
            let cluster = ClusterSettings { repeats, seed, ..ClusterSettings::default() };
            let found = cluster_watched(&vectors, labels, &cluster, pool, &mut |step| {
                listener.poll(&Event::Measuring { parts: Parts::Clusterings, step })
            })?;
            scores.nmi = found.runs.iter().map(|run| run.nmi).collect();
            scores.ami = found.runs.iter().map(|run| run.ami).collect();
            scores.notes.extend(found.notes.iter().map(ToString::to_string));
        }
        Ok(scores)
    }
}

impl Scores {
    /// Whether they can be scores that were measured with these settings: of every C, fraction and repeat, and numbers that
    /// scores can be. `repeat` is the only one that was measured, if any. Tables rely on it.
    pub(super) fn belong_to(&self, settings: &CompareSettings, repeat: Option<usize>) -> bool {
        let repeats = repeat.map_or(settings.repeats, |_| 1);
        let between = |least: f64, values: &[f64]| values.iter().all(|x| (least..=1.0 + 1e-9).contains(x));
        let all = |values: &[f64]| values.len() == repeats && between(0.0, values);
        let some = |values: &[f64]| values.len() <= repeats && between(0.0, values);
        let share = |(share, train): (&ShareScores, &f64)| {
            share.train == *train
                && all(&share.micro_f1)
                && all(&share.macro_f1)
                && share.known_micro_f1.len() == share.known_macro_f1.len()
                && [&share.known_micro_f1, &share.known_macro_f1, &share.validation]
                    .into_iter()
                    .all(|x| some(x))
        };
        let cost = |(cost, c): (&CostScores, &Cost)| {
            cost.c == c.to_string()
                && cost.shares.len() == settings.train.len()
                && cost.shares.iter().zip(&settings.train).all(share)
        };
        self.classify.len() == settings.c.len()
            && self.classify.iter().zip(&settings.c).all(cost)
            && some(&self.nmi)
            && self.ami.len() == self.nmi.len()
            // Below zero if a clustering is worse than chance.
            && between(-1.0, &self.ami)
            && self.seconds >= 0.0
            // They are printed.
            && !self.notes.iter().any(|note| note.chars().any(char::is_control))
    }

    /// The repeats of several measurements, one after the other.
    pub(super) fn joined(parts: &[&Scores]) -> Option<Scores> {
        let mut whole = (*parts.first()?).clone();
        for part in &parts[1..] {
            for (ours, theirs) in whole.classify.iter_mut().zip(&part.classify) {
                for (ours, theirs) in ours.shares.iter_mut().zip(&theirs.shares) {
                    ours.micro_f1.extend(&theirs.micro_f1);
                    ours.macro_f1.extend(&theirs.macro_f1);
                    ours.known_micro_f1.extend(&theirs.known_micro_f1);
                    ours.known_macro_f1.extend(&theirs.known_macro_f1);
                    ours.validation.extend(&theirs.validation);
                }
            }
            whole.seconds += part.seconds;
        }
        Some(whole)
    }

    /// The smallest training fraction at the first C. Clusterings, which have no training nodes, are chosen by it.
    pub(super) fn smallest_share(&self) -> &ShareScores {
        let shares = self.classify[0].shares.iter();
        shares.min_by(|a, b| a.train.total_cmp(&b.train)).expect("there is at least one share")
    }
}

/// The value of C in a sentence.
pub(super) fn cost_words(c: Cost) -> String {
    match c {
        Cost::Auto => "chosen by cross-validation on the training nodes".into(),
        _ => format!("= {c}"),
    }
}

fn shares(found: &Classification) -> Vec<ShareScores> {
    let share = |share: &evaluate::ShareScores| ShareScores {
        train: share.train,
        micro_f1: share.runs.iter().map(|run| run.f1.micro_f1).collect(),
        macro_f1: share.runs.iter().map(|run| run.f1.macro_f1).collect(),
        known_micro_f1: share.runs.iter().filter_map(|run| run.known).map(|known| known.micro_f1).collect(),
        known_macro_f1: share.runs.iter().filter_map(|run| run.known).map(|known| known.macro_f1).collect(),
        validation: share.runs.iter().filter_map(|run| run.validation).collect(),
    };
    found.shares.iter().map(share).collect()
}

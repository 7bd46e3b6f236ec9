//! How good an embedding is: every split of every share for each C, and every run of k-means.

use anyhow::Result;
use manyview::Embedding;
use manyview::evaluate::{
    Classification, ClassifySettings, ClusterSettings, Cost, Labels, Step, Vectors, classify_watched,
    cluster_watched,
};
use manyview::parallel::Pool;
use serde::{Deserialize, Serialize};

use crate::args::CompareArgs;
use crate::interrupt;
use crate::ui::Reporter;

/// All scores of an embedding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Scores {
    /// Classification, once for each C.
    pub(super) classify: Vec<CostScores>,
    /// Each run of k-means; none where nodes have several labels, or where the vectors have seen labels.
    pub(super) nmi: Vec<f64>,
    pub(super) ami: Vec<f64>,
    /// Time of the method, without reading and measuring.
    pub(super) seconds: f64,
    pub(super) dim: usize,
    /// What a reader of these scores should know; older files have none.
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CostScores {
    pub(super) c: String,
    /// In the order of the shares asked for.
    pub(super) shares: Vec<ShareScores>,
}

/// Each split of a share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ShareScores {
    pub(super) train: f64,
    pub(super) micro_f1: Vec<f64>,
    pub(super) macro_f1: Vec<f64>,
    /// With several labels a node: by the rule of the known number.
    #[serde(default)]
    pub(super) known_micro_f1: Vec<f64>,
    #[serde(default)]
    pub(super) known_macro_f1: Vec<f64>,
    /// Micro-F1 within the training nodes.
    pub(super) validation: Vec<f64>,
}

impl Scores {
    /// Measures an embedding; of one that has seen the labels of a repeat's training nodes, that repeat alone.
    pub(super) fn measure(
        args: &CompareArgs,
        embedding: &Embedding,
        labels: &Labels,
        repeat: Option<usize>,
        validate: bool,
        pool: &Pool,
        reporter: &mut Reporter,
    ) -> Result<Self> {
        let vectors = Vectors::try_from(embedding)?;
        let mut scores = Scores { dim: embedding.dim(), ..Scores::default() };
        for &c in &args.c {
            let settings = ClassifySettings {
                train: args.train.clone(),
                repeats: if repeat.is_some() { 1 } else { args.repeats },
                first_repeat: repeat.unwrap_or(0),
                seed: args.seed,
                c,
                validate,
                ..ClassifySettings::default()
            };
            let found = classify_watched(&vectors, labels, &settings, pool, &mut |step: Step| {
                reporter.evaluating(step, "splits");
                interrupt::go_on()
            })?;
            // The notes on labels are the same for all, and the comparison has told them.
            let notes = found.fit_notes.iter().map(|note| format!("C {}: {note}", cost_words(&cost_name(c))));
            scores.notes.extend(notes);
            scores.classify.push(CostScores { c: cost_name(c), shares: shares(&found) });
        }
        if repeat.is_none() && !labels.is_multi_label() {
            let settings =
                ClusterSettings { repeats: args.repeats, seed: args.seed, ..ClusterSettings::default() };
            let found = cluster_watched(&vectors, labels, &settings, pool, &mut |step: Step| {
                reporter.evaluating(step, "runs of k-means");
                interrupt::go_on()
            })?;
            scores.nmi = found.runs.iter().map(|run| run.nmi).collect();
            scores.ami = found.runs.iter().map(|run| run.ami).collect();
            scores.notes.extend(found.notes.iter().map(ToString::to_string));
        }
        Ok(scores)
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

    /// Where clusters are chosen by, which have no training nodes of their own: the smallest share, at the first C.
    pub(super) fn smallest_share(&self) -> &ShareScores {
        let shares = self.classify[0].shares.iter();
        shares.min_by(|a, b| a.train.total_cmp(&b.train)).expect("there is at least one share")
    }
}

/// A C as the tables name it.
pub(super) fn cost_name(cost: Cost) -> String {
    cost.to_string()
}

/// The same in a sentence about C.
pub(super) fn cost_words(name: &str) -> String {
    if name == "auto" { "chosen within the training nodes".into() } else { format!("= {name}") }
}

fn shares(found: &Classification) -> Vec<ShareScores> {
    let share = |share: &manyview::evaluate::ShareScores| ShareScores {
        train: share.train,
        micro_f1: share.runs.iter().map(|run| run.f1.micro_f1).collect(),
        macro_f1: share.runs.iter().map(|run| run.f1.macro_f1).collect(),
        known_micro_f1: share.runs.iter().filter_map(|run| run.known).map(|known| known.micro_f1).collect(),
        known_macro_f1: share.runs.iter().filter_map(|run| run.known).map(|known| known.macro_f1).collect(),
        validation: share.runs.iter().filter_map(|run| run.validation).collect(),
    };
    found.shares.iter().map(share).collect()
}

//! The clusters and scores of the page.

use anyhow::Result;
use manyview::Error;
use manyview::evaluate::kmeans::{KmeansSettings, kmeans_watched};
use manyview::evaluate::{self, ClassifySettings, ClusterSettings, Summary, Vectors};
use manyview::message::Notation;
use manyview::parallel::Pool;
use manyview::result::SavedResult;

use super::{Extras, Sample, ScoreTable, Scores, worth};
use crate::interrupt;
use crate::ui::Reporter;

/// Number of repeats; fewer than the ten of `manyview evaluate`, to save time.
pub(super) const REPEATS: usize = 3;
/// Number of restarts of k-means.
const RESTARTS: usize = 5;
/// Number of clusters without labels.
const CLUSTERS: usize = 8;

/// Clusters the nodes of the page and, with labels, evaluates classification and clustering.
///
/// If the labels cannot be evaluated (with only one class, for example), the reason is reported and the page is
/// written without scores.
pub(crate) fn evaluation(
    finished: &SavedResult,
    sample: &Sample<'_>,
    labels: Option<&evaluate::Labels>,
    seed: u64,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<Extras> {
    let vectors = Vectors::try_from(&*sample.embedding)?;
    let labels = labels.map(|labels| sample.labels(labels)).transpose();
    let labels = or_say(labels, reporter)?.flatten();
    let labels = labels.as_deref();
    let k = labels.map_or(CLUSTERS, |labels| labels.names().len()).min(vectors.rows());
    let settings = KmeansSettings { restarts: RESTARTS, seed, ..KmeansSettings::new(k) };
    let found = kmeans_watched(&vectors, &settings, pool, &mut |step| {
        reporter.evaluating(step, "runs of k-means");
        interrupt::go_on()
    })?;
    let clusters = Some(found.assignments.into_iter().map(Some).collect());
    let Some(labels) = labels else { return Ok(Extras { clusters, ..Extras::default() }) };
    let mut tables = Vec::new();
    tables.extend(or_say(classification(&vectors, labels, seed, pool, reporter), reporter)?);
    tables.extend(or_say(clustering(&vectors, labels, seed, pool, reporter), reporter)?);
    let scores = (!tables.is_empty()).then_some(Scores { tables });
    let worth = or_say(worth::measure(finished, sample, labels, seed, pool, reporter), reporter)?.flatten();
    Ok(Extras { clusters, scores, worth })
}

fn or_say<T>(found: Result<T, Error>, reporter: &mut Reporter) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        // The settings are constants, so these errors mean too few nodes or labels.
        Err(Error::Network(sentence) | Error::Config(sentence)) => {
            reporter.say(&format!("not evaluated: {}", sentence.in_notation(Notation::CommandLine)));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn classification(
    vectors: &Vectors<'_>,
    labels: &evaluate::Labels,
    seed: u64,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<ScoreTable, Error> {
    let settings = ClassifySettings { repeats: REPEATS, seed, ..ClassifySettings::default() };
    let found = evaluate::classify_watched(vectors, labels, &settings, pool, &mut |step| {
        reporter.evaluating(step, "splits");
        interrupt::go_on()
    })?;
    let row = |share: &evaluate::ShareScores| {
        vec![format!("{:.0} %", 100.0 * share.train), percent(share.micro_f1), percent(share.macro_f1)]
    };
    Ok(ScoreTable {
        title: "Classification".into(),
        columns: ["training nodes", "micro-F1", "macro-F1"].map(String::from).to_vec(),
        rows: found.shares.iter().map(row).collect(),
        note: format!(
            "Logistic regression (C = 1); mean and standard deviation over {REPEATS} splits of {} labeled nodes; {} labels.",
            found.labeled,
            found.classes.len()
        ),
    })
}

fn clustering(
    vectors: &Vectors<'_>,
    labels: &evaluate::Labels,
    seed: u64,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<ScoreTable, Error> {
    let settings =
        ClusterSettings { repeats: REPEATS, restarts: RESTARTS, seed, ..ClusterSettings::default() };
    let found = evaluate::cluster_watched(vectors, labels, &settings, pool, &mut |step| {
        reporter.evaluating(step, "runs of k-means");
        interrupt::go_on()
    })?;
    Ok(ScoreTable {
        title: "Clustering".into(),
        columns: ["clusters", "NMI", "AMI"].map(String::from).to_vec(),
        rows: vec![vec![found.k.to_string(), percent(found.nmi), percent(found.ami)]],
        note: format!(
            "k-means; mean and standard deviation over {REPEATS} runs, each the best of {RESTARTS} restarts."
        ),
    })
}

pub(super) fn percent(summary: Summary) -> String {
    let spread = summary.std.map(|std| format!(" ± {:.1}", 100.0 * std)).unwrap_or_default();
    format!("{:.1}{spread}", 100.0 * summary.mean)
}

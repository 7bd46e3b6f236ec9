//! What the columns of each view are worth: a classifier that sees only them, and one that sees all others.
//!
//! The vectors are those of the result; nothing is fitted again. So a view is not left out but its columns, and what it has in
//! common with other views stays in the consensus columns. The page says so.

use manyview::Error;
use manyview::evaluate::{ClassifySettings, Labels, Vectors, classify_watched};
use manyview::parallel::Pool;
use manyview::result::SavedResult;
use serde::Serialize;

use super::Sample;
use super::data::Origins;
use super::evaluation::{REPEATS, percent};
use crate::interrupt;
use crate::ui::Reporter;

/// The share of the labeled nodes to train on.
const TRAIN: f64 = 0.5;

/// The scores of the columns of each source.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Worth {
    /// Micro-F1 of all columns.
    all: String,
    rows: Vec<Row>,
    /// How the scores were computed.
    note: String,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    /// Consensus, a view, or the union of the views.
    source: String,
    /// Micro-F1 of its columns; none if it has no columns.
    alone: Option<String>,
    /// Micro-F1 of all other columns; none if there are no others.
    without: Option<String>,
}

/// Scores the columns of each source; none if the columns of the result are not assigned to views.
pub(super) fn measure(
    finished: &SavedResult,
    sample: &Sample<'_>,
    labels: &Labels,
    seed: u64,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<Option<Worth>, Error> {
    let origins = Origins::new(finished);
    if origins.sources.is_empty() {
        return Ok(None);
    }
    let mut score = |columns: &[usize]| score(sample, columns, labels, seed, pool, reporter);
    let owned: Vec<Vec<usize>> = (0..origins.sources.len()).map(|source| origins.columns(source)).collect();
    let mut all = owned.concat();
    all.sort_unstable();
    let mut rows = Vec::new();
    for (source, own) in origins.sources.iter().zip(&owned) {
        let others: Vec<usize> = all.iter().filter(|column| !own.contains(column)).copied().collect();
        rows.push(Row { source: (*source).to_owned(), alone: score(own)?, without: score(&others)? });
    }
    let Some(all) = score(&all)? else { return Ok(None) };
    let train = 100.0 * TRAIN;
    let note = format!(
        "logistic regression (C = 1), {train:.0} % of the labeled nodes for training, mean and standard deviation over {REPEATS} splits"
    );
    Ok(Some(Worth { all, rows, note }))
}

/// Micro-F1 of some columns; none without columns.
fn score(
    sample: &Sample<'_>,
    columns: &[usize],
    labels: &Labels,
    seed: u64,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<Option<String>, Error> {
    if columns.is_empty() {
        return Ok(None);
    }
    let rows = 0..sample.embedding.rows();
    let values = rows.flat_map(|row| columns.iter().map(move |&column| sample.embedding.row(row)[column]));
    let values: Vec<f32> = values.collect();
    let vectors = Vectors::new(&values, sample.embedding.rows(), columns.len())?;
    let settings =
        ClassifySettings { train: vec![TRAIN], repeats: REPEATS, seed, ..ClassifySettings::default() };
    let found = classify_watched(&vectors, labels, &settings, pool, &mut |step| {
        reporter.evaluating(step, "splits with the columns of one view");
        interrupt::go_on()
    })?;
    Ok(Some(percent(found.shares[0].micro_f1)))
}

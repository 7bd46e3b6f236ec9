//! The paper's tables: methods by group, a column for each score, and what MNMF gains over the best other.
//!
//! A method with several candidates (views, paths) has two lines. The first takes, for each column, the candidate that is
//! best on the tested nodes: what papers report, and what nobody could choose in earnest; it is marked with a star. The
//! second takes the candidate that is best within the training nodes, for each split anew.

use manyview::evaluate::Summary;
use serde::Serialize;

use super::jobs::{Row, Section};
use super::scores::{Scores, ShareScores};

/// A row with what its jobs gave.
pub(super) struct Measured {
    pub(super) row: Row,
    /// The candidates that worked, by name; one without a name where there is no choice.
    pub(super) candidates: Vec<(Option<String>, Scores)>,
    /// What went wrong with the others.
    pub(super) failures: Vec<String>,
}

/// A table, ready to be written in any form. Scores are shares of 1.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Table {
    pub(super) title: String,
    pub(super) columns: Vec<String>,
    pub(super) lines: Vec<Line>,
    /// What MNMF gains over the best other line, relative to that.
    pub(super) gain: Option<Vec<Option<f64>>>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    pub(super) section: String,
    pub(super) name: String,
    /// Best on the tested nodes, by a choice that has seen them.
    pub(super) oracle: bool,
    pub(super) cells: Vec<Option<Summary>>,
    /// Why there are no scores.
    pub(super) failed: Option<String>,
    /// Which candidates the cells are of.
    pub(super) candidates: Vec<Option<String>>,
}

/// Where a column's numbers come from.
#[derive(Clone, Copy)]
enum Score {
    Micro { cost: usize, share: usize },
    Macro { cost: usize, share: usize },
    Nmi,
    Ami,
}

impl Score {
    fn of(self, scores: &Scores) -> &[f64] {
        let share = |cost: usize, share: usize| &scores.classify[cost].shares[share];
        match self {
            Score::Micro { cost, share: at } => &share(cost, at).micro_f1,
            Score::Macro { cost, share: at } => &share(cost, at).macro_f1,
            Score::Nmi => &scores.nmi,
            Score::Ami => &scores.ami,
        }
    }

    /// Where the validation that belongs to it is: clusters have none of their own, so the smallest share stands in.
    fn validation(self, scores: &Scores) -> &ShareScores {
        match self {
            Score::Micro { cost, share } | Score::Macro { cost, share } => {
                &scores.classify[cost].shares[share]
            }
            Score::Nmi | Score::Ami => &scores.classify[0].shares[0],
        }
    }
}

/// All tables of a comparison: one for each C, and one of clusters where there are any.
pub(super) fn tables(measured: &[Measured], train: &[f64], costs: &[String]) -> Vec<Table> {
    let classification = costs.iter().enumerate().map(|(cost, name)| {
        let how =
            if name == "auto" { "chosen within the training nodes".into() } else { format!("= {name}") };
        let shares = 0..train.len();
        let scores = shares.clone().map(|share| Score::Micro { cost, share });
        let scores: Vec<Score> = scores.chain(shares.map(|share| Score::Macro { cost, share })).collect();
        let head = |name: &str| train.iter().map(|share| format!("{name} {share}")).collect::<Vec<_>>();
        let columns = [head("micro-F1"), head("macro-F1")].concat();
        table(format!("Classification, C {how}"), columns, &scores, measured)
    });
    let clustering =
        || table("Clustering".into(), vec!["NMI".into(), "AMI".into()], &[Score::Nmi, Score::Ami], measured);
    let clustered = measured.iter().flat_map(|row| &row.candidates).any(|(_, scores)| !scores.nmi.is_empty());
    classification.chain(clustered.then(clustering)).collect()
}

fn table(title: String, columns: Vec<String>, scores: &[Score], measured: &[Measured]) -> Table {
    let lines: Vec<Line> = measured.iter().flat_map(|row| lines(row, scores)).collect();
    let gain = gain(&lines, scores.len());
    Table { title, columns, lines, gain }
}

fn lines(measured: &Measured, scores: &[Score]) -> Vec<Line> {
    let Measured { row, candidates, failures } = measured;
    let line = |name: String, oracle: bool, cells: Vec<(Option<Summary>, Option<String>)>| {
        let (cells, candidates) = cells.into_iter().unzip();
        Line { section: row.section.title(), name, oracle, cells, failed: None, candidates }
    };
    if candidates.is_empty() {
        let failed = failures.first().cloned();
        let cells = vec![(None, None); scores.len()];
        return vec![Line { failed, ..line(row.title.clone(), false, cells) }];
    }
    let Some(kind) = row.candidates else {
        let all: Vec<&Scores> = candidates.iter().map(|candidate| &candidate.1).collect();
        let joined = Scores::joined(&all).expect("there is at least one");
        let cells = scores.iter().map(|score| (summary(score.of(&joined)), None)).collect();
        return vec![line(row.title.clone(), false, cells)];
    };
    let best = scores.iter().map(|&score| best_on_test(score, candidates)).collect();
    let chosen = scores.iter().map(|&score| (chosen_by_validation(score, candidates), None)).collect();
    vec![
        line(format!("{}, best {kind}", row.title), true, best),
        line(format!("{}, chosen {kind}", row.title), false, chosen),
    ]
}

fn summary(values: &[f64]) -> Option<Summary> {
    (!values.is_empty()).then(|| Summary::of(values.iter().copied()))
}

type Candidates = [(Option<String>, Scores)];

fn best_on_test(score: Score, candidates: &Candidates) -> (Option<Summary>, Option<String>) {
    let found = candidates.iter().filter_map(|(name, scores)| Some((summary(score.of(scores))?, name)));
    match found.max_by(|a, b| a.0.mean.total_cmp(&b.0.mean)) {
        Some((summary, name)) => (Some(summary), name.clone()),
        None => (None, None),
    }
}

/// For each repeat the score of the candidate that validates best in it; the first of several.
fn chosen_by_validation(score: Score, candidates: &Candidates) -> Option<Summary> {
    let repeats = candidates.iter().map(|(_, scores)| score.of(scores).len()).min()?;
    let of_repeat = |repeat: usize| {
        let validated = |scores: &Scores| score.validation(scores).validation.get(repeat).copied();
        let best = candidates.iter().rev().max_by(|a, b| {
            let [a, b] = [&a.1, &b.1].map(|scores| validated(scores).unwrap_or(f64::NEG_INFINITY));
            a.total_cmp(&b)
        });
        best.map(|(_, scores)| score.of(scores)[repeat])
    };
    summary(&(0..repeats).filter_map(of_repeat).collect::<Vec<_>>())
}

/// The candidate that validates best on average, at the first C and share; the only one where there is no choice.
pub(super) fn most_valid(candidates: &Candidates) -> Option<&(Option<String>, Scores)> {
    let validation = |scores: &Scores| {
        let values = &scores.classify[0].shares[0].validation;
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    candidates.iter().rev().max_by(|a, b| validation(&a.1).total_cmp(&validation(&b.1)))
}

/// What MNMF gains over the best line of another method, column by column.
fn gain(lines: &[Line], columns: usize) -> Option<Vec<Option<f64>>> {
    let ours = lines.iter().find(|line| line.section == Section::Ours.title())?;
    let methods = |line: &&Line| line.section != ours.section && !line.section.starts_with("mnmf");
    let others: Vec<&Line> = lines.iter().filter(methods).collect();
    let of_column = |column: usize| {
        let best = others.iter().filter_map(|line| line.cells[column]).map(|cell| cell.mean);
        let best = best.max_by(f64::total_cmp).filter(|&best| best > 0.0)?;
        Some(ours.cells[column]?.mean / best - 1.0)
    };
    (!others.is_empty()).then(|| (0..columns).map(of_column).collect())
}

#[cfg(test)]
mod tests {
    use manyview::methods::Group;

    use super::*;
    use crate::compare::scores::CostScores;

    fn scores(micro: &[f64], validation: &[f64]) -> Scores {
        let share = ShareScores {
            train: 0.5,
            micro_f1: micro.to_vec(),
            macro_f1: micro.to_vec(),
            validation: validation.to_vec(),
        };
        let classify = vec![CostScores { c: "1".into(), shares: vec![share] }];
        Scores { classify, nmi: micro.to_vec(), ami: Vec::new(), seconds: 1.0, dim: 2 }
    }

    fn measured(section: Section, kind: Option<&'static str>, candidates: &[Scores]) -> Measured {
        let row = Row { title: "x".into(), section, candidates: kind };
        let named = candidates.iter().enumerate().map(|(at, it)| (Some(format!("v{at}")), it.clone()));
        Measured { row, candidates: named.collect(), failures: vec!["no luck".into()] }
    }

    #[test]
    fn the_best_is_marked_and_the_choice_has_not_seen_the_test() {
        let single = Section::Method(Group::Single);
        // The first candidate tests better, the second validates better in the first repeat alone.
        let rows = [measured(
            single,
            Some("view"),
            &[scores(&[0.8, 0.9], &[0.1, 0.7]), scores(&[0.6, 0.5], &[0.2, 0.6])],
        )];
        let table = &tables(&rows, &[0.5], &["1".into()])[0];
        assert_eq!(table.columns, ["micro-F1 0.5", "macro-F1 0.5"]);
        let means: Vec<f64> = table.lines.iter().map(|line| line.cells[0].unwrap().mean).collect();
        assert!((means[0] - 0.85).abs() < 1e-12 && (means[1] - 0.75).abs() < 1e-12, "{means:?}");
        assert_eq!((table.lines[0].oracle, table.lines[1].oracle), (true, false));
        assert_eq!(table.lines[0].candidates[0].as_deref(), Some("v0"));
        assert!(table.gain.is_none());
    }

    #[test]
    fn repeats_of_one_method_are_joined_and_the_gain_is_over_the_best() {
        let multi = Section::Method(Group::Multi);
        let rows = [
            measured(multi, None, &[scores(&[0.5], &[]), scores(&[0.7], &[])]),
            measured(multi, None, &[]),
            measured(Section::Ours, None, &[scores(&[0.9, 0.9], &[])]),
            measured(Section::Ablations, None, &[scores(&[0.95, 0.95], &[])]),
        ];
        let found = tables(&rows, &[0.5], &["1".into()]);
        let cell = found[0].lines[0].cells[0].unwrap();
        assert!((cell.mean - 0.6).abs() < 1e-12 && cell.std.unwrap() > 0.1);
        assert_eq!(found[0].lines[1].failed.as_deref(), Some("no luck"));
        let gain = found[0].gain.as_ref().unwrap()[0].unwrap();
        assert!((gain - 0.5).abs() < 1e-12, "{gain}");
        assert_eq!(found[1].title, "Clustering");
        assert_eq!(found[1].gain.as_ref().unwrap()[1], None);
    }
}

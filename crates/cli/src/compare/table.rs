//! The paper's tables: methods by group, a column for each score, and what MNMF gains over the best other.
//!
//! A method with several candidates (views, paths) has two lines. The first takes, for each column, the candidate that is
//! best on the tested nodes: what papers report, and what nobody could choose in earnest; it is marked with a star. The
//! second takes the candidate that is best within the training nodes, for each split anew.

use manyview::evaluate::Summary;
use serde::Serialize;

use super::jobs::{Row, Section};
use super::scores::{Scores, ShareScores, cost_words};

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
    /// What MNMF gains over the best line of another method that made no choice on the tested nodes, relative to that.
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
    /// Which candidates the cells are of; where each repeat chose its own, how often each was chosen.
    pub(super) candidates: Vec<Option<String>>,
    /// Where each repeat chose its own: the candidates of each column, in the order of the repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) chosen: Vec<Vec<String>>,
}

impl Line {
    /// Whether it may be called the best: it made no choice on the tested nodes, and is no variant of MNMF.
    fn is_fair(&self) -> bool {
        !self.oracle && !self.section.starts_with("mnmf")
    }

    /// Whether the cell of a column is one of the best, as printed.
    pub(super) fn is_best(&self, column: usize, best: &[Option<String>]) -> bool {
        let printed = self.cells[column].map(|cell| percent(cell.mean));
        self.is_fair() && printed.is_some() && printed == best[column]
    }
}

impl Table {
    /// The best score of each column as printed, among lines that may be called so.
    pub(super) fn best(&self) -> Vec<Option<String>> {
        let of_column = |column: usize| {
            let cells = self.lines.iter().filter(|line| line.is_fair()).filter_map(|line| line.cells[column]);
            cells.map(|cell| cell.mean).max_by(f64::total_cmp).map(percent)
        };
        (0..self.columns.len()).map(of_column).collect()
    }

    pub(super) fn has_oracle(&self) -> bool {
        self.lines.iter().any(|line| line.oracle)
    }
}

/// A share of 1 in percent, as every form prints it.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Where a column's numbers come from.
#[derive(Clone, Copy)]
enum Score {
    F1 { kind: F1, cost: usize, share: usize },
    Nmi,
    Ami,
}

#[derive(Clone, Copy)]
enum F1 {
    Micro,
    Macro,
    KnownMicro,
    KnownMacro,
}

impl Score {
    fn of(self, scores: &Scores) -> &[f64] {
        match self {
            Score::F1 { kind, cost, share } => {
                let share = &scores.classify[cost].shares[share];
                match kind {
                    F1::Micro => &share.micro_f1,
                    F1::Macro => &share.macro_f1,
                    F1::KnownMicro => &share.known_micro_f1,
                    F1::KnownMacro => &share.known_macro_f1,
                }
            }
            Score::Nmi => &scores.nmi,
            Score::Ami => &scores.ami,
        }
    }

    /// Where the validation that belongs to it is: clusters have none of their own, so the smallest share stands in.
    fn validation(self, scores: &Scores) -> &ShareScores {
        match self {
            Score::F1 { cost, share, .. } => &scores.classify[cost].shares[share],
            Score::Nmi | Score::Ami => scores.smallest_share(),
        }
    }
}

/// All tables of a comparison: one for each C, with a second where nodes have several labels, and one of clusters where
/// there are any.
pub(super) fn tables(measured: &[Measured], train: &[f64], costs: &[String]) -> Vec<Table> {
    let any = |has: fn(&Scores) -> bool| {
        measured.iter().flat_map(|row| &row.candidates).any(|(_, scores)| has(scores))
    };
    let several_labels = any(|scores| !scores.smallest_share().known_micro_f1.is_empty());
    let mut found = Vec::new();
    for (cost, name) in costs.iter().enumerate() {
        let of_rule = |rule: &str, kinds: [F1; 2]| {
            let of_kind = |kind| (0..train.len()).map(move |share| Score::F1 { kind, cost, share });
            let scores: Vec<Score> = kinds.into_iter().flat_map(of_kind).collect();
            let head = |name: &str| train.iter().map(|share| format!("{name} {share}")).collect::<Vec<_>>();
            let columns = [head("micro-F1"), head("macro-F1")].concat();
            table(format!("Classification{rule}, C {}", cost_words(name)), columns, &scores, measured)
        };
        found.push(of_rule("", [F1::Micro, F1::Macro]));
        if several_labels {
            found.push(of_rule(" with known numbers of labels", [F1::KnownMicro, F1::KnownMacro]));
        }
    }
    if any(|scores| !scores.nmi.is_empty()) {
        let columns = vec!["NMI".into(), "AMI".into()];
        found.push(table("Clustering".into(), columns, &[Score::Nmi, Score::Ami], measured));
    }
    found
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
        let section = row.section.title();
        Line { section, name, oracle, cells, failed: None, candidates, chosen: Vec::new() }
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
    let choices: Vec<_> = scores.iter().map(|&score| chosen_by_validation(score, candidates)).collect();
    let cells = choices.iter().map(|choice| {
        let values: Vec<f64> = choice.iter().map(|chosen| chosen.1).collect();
        (summary(&values), how_often(choice))
    });
    let chosen = line(format!("{}, chosen {kind}", row.title), false, cells.collect());
    let names = |choice: &Vec<(&str, f64)>| choice.iter().map(|chosen| chosen.0.to_owned()).collect();
    let chosen = Line { chosen: choices.iter().map(names).collect(), ..chosen };
    vec![line(format!("{}, best {kind}", row.title), true, best), chosen]
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

/// For each repeat the candidate that validates best in it, the first of several, and its score.
fn chosen_by_validation(score: Score, candidates: &Candidates) -> Vec<(&str, f64)> {
    let repeats = candidates.iter().map(|(_, scores)| score.of(scores).len()).min().unwrap_or(0);
    let of_repeat = |repeat: usize| {
        let validated = |scores: &Scores| score.validation(scores).validation.get(repeat).copied();
        let best = candidates.iter().rev().max_by(|a, b| {
            let [a, b] = [&a.1, &b.1].map(|scores| validated(scores).unwrap_or(f64::NEG_INFINITY));
            a.total_cmp(&b)
        });
        best.map(|(name, scores)| (name.as_deref().unwrap_or_default(), score.of(scores)[repeat]))
    };
    (0..repeats).filter_map(of_repeat).collect()
}

/// How often each candidate was chosen, in words: "calls 2 of 3, mails 1 of 3".
fn how_often(choice: &[(&str, f64)]) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (name, _) in choice {
        match counts.iter_mut().find(|known| known.0 == *name) {
            Some(known) => known.1 += 1,
            None => counts.push((name, 1)),
        }
    }
    let words: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name} {count} of {}", choice.len())).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The candidate that validates best on average, at the first C and the smallest share; the only one where there is no
/// choice.
pub(super) fn most_valid(candidates: &Candidates) -> Option<&(Option<String>, Scores)> {
    let validation = |scores: &Scores| {
        let values = &scores.smallest_share().validation;
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    candidates.iter().rev().max_by(|a, b| validation(&a.1).total_cmp(&validation(&b.1)))
}

/// What MNMF gains over the best fair line of another method, column by column; nothing where there is nothing to compare.
fn gain(lines: &[Line], columns: usize) -> Option<Vec<Option<f64>>> {
    let ours = lines.iter().find(|line| line.section == Section::Ours.title())?;
    let others: Vec<&Line> =
        lines.iter().filter(|line| line.is_fair() && line.section != ours.section).collect();
    let of_column = |column: usize| {
        let best = others.iter().filter_map(|line| line.cells[column]).map(|cell| cell.mean);
        let best = best.max_by(f64::total_cmp).filter(|&best| best > 0.0)?;
        Some(ours.cells[column]?.mean / best - 1.0)
    };
    let gain: Vec<Option<f64>> = (0..columns).map(of_column).collect();
    gain.iter().any(Option::is_some).then_some(gain)
}

#[cfg(test)]
mod tests {
    use manyview::Group;

    use super::*;
    use crate::compare::scores::CostScores;

    fn scores(micro: &[f64], validation: &[f64]) -> Scores {
        let share = ShareScores {
            train: 0.5,
            micro_f1: micro.to_vec(),
            macro_f1: micro.to_vec(),
            validation: validation.to_vec(),
            ..ShareScores::default()
        };
        let classify = vec![CostScores { c: "1".into(), shares: vec![share] }];
        Scores { classify, nmi: micro.to_vec(), seconds: 1.0, dim: 2, ..Scores::default() }
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
        assert_eq!(table.lines[1].candidates[0].as_deref(), Some("v1 1 of 2, v0 1 of 2"));
        assert_eq!(table.lines[1].chosen[0], ["v1", "v0"], "repeat by repeat");
        assert!(table.gain.is_none());
    }

    #[test]
    fn clusters_are_chosen_by_the_smallest_share_wherever_it_stands() {
        let shares = |validation: [f64; 2]| {
            let share = |train, validation| ShareScores {
                train,
                micro_f1: vec![0.5],
                macro_f1: vec![0.5],
                validation: vec![validation],
                ..ShareScores::default()
            };
            vec![share(0.7, validation[0]), share(0.3, validation[1])]
        };
        let candidate = |nmi: f64, validation| {
            let classify = vec![CostScores { c: "1".into(), shares: shares(validation) }];
            Scores { classify, nmi: vec![nmi], ami: vec![nmi], ..Scores::default() }
        };
        let candidates = [candidate(0.2, [0.9, 0.1]), candidate(0.4, [0.1, 0.9])];
        let rows = [measured(Section::Method(Group::Single), Some("view"), &candidates)];
        let clusters = &tables(&rows, &[0.7, 0.3], &["1".into()])[1];
        assert_eq!(clusters.lines[1].chosen[0], ["v1"]);
    }

    #[test]
    fn several_labels_have_a_table_of_known_numbers() {
        let mut known = scores(&[0.5], &[]);
        known.nmi.clear();
        let share = &mut known.classify[0].shares[0];
        (share.known_micro_f1, share.known_macro_f1) = (vec![0.7], vec![0.6]);
        let found = tables(&[measured(Section::Ours, None, &[known])], &[0.5], &["1".into()]);
        let titles: Vec<&str> = found.iter().map(|table| table.title.as_str()).collect();
        assert_eq!(titles, ["Classification, C = 1", "Classification with known numbers of labels, C = 1"]);
        let means = found[1].lines[0].cells.iter().map(|cell| cell.unwrap().mean).collect::<Vec<_>>();
        assert_eq!(means, [0.7, 0.6]);
    }

    /// A row that has seen the tests, two equal as printed, and a part of MNMF.
    #[test]
    fn the_best_have_no_star_and_are_all_that_print_alike() {
        let single = Section::Method(Group::Single);
        let rows = [
            measured(single, Some("view"), &[scores(&[0.99], &[0.1]), scores(&[0.5], &[0.2])]),
            measured(Section::Method(Group::Plain), None, &[scores(&[0.8001], &[])]),
            measured(Section::Ours, None, &[scores(&[0.8004], &[])]),
            measured(Section::Ablations, None, &[scores(&[0.95], &[])]),
            measured(Section::Sweep("dim"), None, &[scores(&[0.96], &[])]),
        ];
        let table = &tables(&rows, &[0.5], &["1".into()])[0];
        let best = table.best();
        assert_eq!(best[0].as_deref(), Some("80.0"));
        let bold: Vec<bool> = table.lines.iter().map(|line| line.is_best(0, &best)).collect();
        assert_eq!(bold, [false, false, true, true, false, false]);
        let gain = table.gain.as_ref().unwrap()[0].unwrap();
        assert!((gain - (0.8004 / 0.8001 - 1.0)).abs() < 1e-12, "over the best row without a star: {gain}");
    }

    #[test]
    fn nothing_to_compare_is_no_gain() {
        let multi = Section::Method(Group::Multi);
        for (others, ours) in [(vec![], vec![scores(&[0.9], &[])]), (vec![scores(&[0.9], &[])], vec![])] {
            let rows = [measured(multi, None, &others), measured(Section::Ours, None, &ours)];
            assert!(tables(&rows, &[0.5], &["1".into()])[0].gain.is_none());
        }
        assert!(tables(&[measured(multi, None, &[])], &[0.5], &["1".into()])[0].gain.is_none());
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

//! The tables of a comparison as data: methods by section, one column per score, and the gain of MNMF over the best
//! other method.
//!
//! A row with several candidates (views, paths) has two lines. The first takes, in each column, the candidate that is
//! best on the test nodes. Papers report this, but the choice is not possible in practice; the line is marked as an
//! oracle. The second takes, for each split, the candidate that is best in cross-validation on the training nodes.
//!
//! Invariant: lines that are oracles, ablations or sweeps are never the best of a column and never count for the gain.

use manyview_analysis::evaluate::{Cost, Summary};
use serde::Serialize;

use super::jobs::{CandidateKind, Section};
use super::scores::{Scores, ShareScores, cost_words};

/// A row with the scores of its jobs.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MeasuredRow {
    /// The name of the method, or what is changed in MNMF.
    #[serde(rename = "name")]
    pub title: String,
    /// The section it is in.
    pub section: Section,
    /// What the candidates are, if there are several to choose from.
    #[serde(skip)]
    pub kind: Option<CandidateKind>,
    /// The reasons for which jobs failed.
    pub failures: Vec<String>,
    /// The candidates that did not fail.
    pub candidates: Vec<Candidate>,
}

/// An embedding that a row can use.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Its view, path or repeat; `None` if the row has one embedding only.
    pub name: Option<String>,
    /// Its scores.
    #[serde(flatten)]
    pub scores: Scores,
}

/// A table. Scores are fractions of 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Table {
    /// The title.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
    /// For each column, the relative gain of MNMF over the best line of another method that is not an oracle; `None`
    /// if there is nothing to compare.
    pub gain: Option<Vec<Option<f64>>>,
    /// The same as a difference, in fractions of 1.
    pub gain_points: Option<Vec<Option<f64>>>,
}

/// The time that the embeddings of a row took.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RowTime {
    /// The section it is in.
    pub section: Section,
    /// The name of the method, or what is changed in MNMF.
    pub name: String,
    /// Seconds without reading and measuring: of all candidates together if there are several to choose from; on average if
    /// each repeat has its own embedding.
    pub seconds: f64,
    /// The number of candidates.
    pub candidates: usize,
}

impl RowTime {
    /// The time of a row that chooses among so many candidates.
    pub fn new(section: Section, name: impl Into<String>, seconds: f64, candidates: usize) -> Self {
        RowTime { section, name: name.into(), seconds, candidates }
    }
}

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Line {
    /// The section it is in; lines of a section are adjacent.
    pub section: Section,
    /// Its name.
    pub name: String,
    /// Whether the candidates were chosen on the test nodes.
    pub oracle: bool,
    /// Mean and standard deviation over the repeats, per column.
    pub cells: Vec<Option<Summary>>,
    /// Whether each cell is the best of its column, or equal to it as printed.
    pub best: Vec<bool>,
    /// Why there are no scores.
    pub failed: Option<String>,
    /// The candidate of each column; if each repeat chose its own, how often each was chosen.
    pub candidates: Vec<Option<String>>,
    /// If each repeat chose its own: the candidates of each column, in the order of the repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<Vec<String>>,
}

impl Line {
    /// A line without scores.
    pub fn new(section: Section, name: impl Into<String>, columns: usize) -> Self {
        Line {
            section,
            name: name.into(),
            oracle: false,
            cells: vec![None; columns],
            best: vec![false; columns],
            failed: None,
            candidates: vec![None; columns],
            chosen: Vec::new(),
        }
    }

    /// Whether it may be the best: it was not chosen on the test nodes and is not a variant of MNMF.
    fn is_fair(&self) -> bool {
        !self.oracle && matches!(self.section, Section::Method(_) | Section::Ours)
    }
}

impl Table {
    /// A table of these lines, with the best cells marked and the gain of MNMF.
    pub fn new(title: impl Into<String>, columns: Vec<String>, mut lines: Vec<Line>) -> Self {
        for column in 0..columns.len() {
            let cells = lines.iter().filter(|line| line.is_fair()).filter_map(|line| line.cells[column]);
            let best = cells.map(|cell| cell.mean).max_by(f64::total_cmp).map(percent);
            for line in lines.iter_mut().filter(|line| line.is_fair()) {
                line.best[column] =
                    best.is_some() && line.cells[column].map(|cell| percent(cell.mean)) == best;
            }
        }
        let gain_of = |of: fn(f64, f64) -> f64| gain(&lines, columns.len(), of);
        let (gain, gain_points) =
            (gain_of(|ours, best| ours / best - 1.0), gain_of(|ours, best| ours - best));
        Table { title: title.into(), columns, lines, gain, gain_points }
    }

    /// Whether it has lines that were chosen on the test nodes.
    pub fn has_oracle(&self) -> bool {
        self.lines.iter().any(|line| line.oracle)
    }
}

/// The running times of all rows that have an embedding.
pub(super) fn times(rows: &[MeasuredRow]) -> Vec<RowTime> {
    let of_row = |row: &MeasuredRow| {
        let sum: f64 = row.candidates.iter().map(|candidate| candidate.scores.seconds).sum();
        let count = row.candidates.len();
        let (seconds, candidates) = match row.kind {
            Some(_) => (sum, count),
            None => (sum / count.max(1) as f64, 1),
        };
        (count > 0).then(|| RowTime::new(row.section, &row.title, seconds, candidates))
    };
    rows.iter().filter_map(of_row).collect()
}

/// A fraction of 1 in percent, as tables are printed.
pub fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// The scores in a column.
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

    /// The cross-validation by which candidates are chosen. Clusterings have none and use the smallest fraction.
    fn validation(self, scores: &Scores) -> &ShareScores {
        match self {
            Score::F1 { cost, share, .. } => &scores.classify[cost].shares[share],
            Score::Nmi | Score::Ami => scores.smallest_share(),
        }
    }
}

/// All tables of a comparison: one per C, a second one per C if nodes have several labels, and one of clusterings.
pub(super) fn tables(rows: &[MeasuredRow], train: &[f64], costs: &[Cost]) -> Vec<Table> {
    let any = |has: fn(&Scores) -> bool| {
        rows.iter().flat_map(|row| &row.candidates).any(|candidate| has(&candidate.scores))
    };
    let several_labels = any(|scores| !scores.smallest_share().known_micro_f1.is_empty());
    let mut found = Vec::new();
    for (cost, &c) in costs.iter().enumerate() {
        let of_rule = |rule: &str, kinds: [F1; 2]| {
            let of_kind = |kind| (0..train.len()).map(move |share| Score::F1 { kind, cost, share });
            let scores: Vec<Score> = kinds.into_iter().flat_map(of_kind).collect();
            let head = |name: &str| train.iter().map(|share| format!("{name} {share}")).collect::<Vec<_>>();
            let columns = [head("micro-F1"), head("macro-F1")].concat();
            table(format!("Classification{rule}, C {}", cost_words(c)), columns, &scores, rows)
        };
        found.push(of_rule("", [F1::Micro, F1::Macro]));
        if several_labels {
            found.push(of_rule(" with known numbers of labels", [F1::KnownMicro, F1::KnownMacro]));
        }
    }
    if any(|scores| !scores.nmi.is_empty()) {
        let columns = vec!["NMI".into(), "AMI".into()];
        found.push(table("Clustering".into(), columns, &[Score::Nmi, Score::Ami], rows));
    }
    found
}

fn table(title: String, columns: Vec<String>, scores: &[Score], rows: &[MeasuredRow]) -> Table {
    Table::new(title, columns, rows.iter().flat_map(|row| lines(row, scores)).collect())
}

fn lines(row: &MeasuredRow, scores: &[Score]) -> Vec<Line> {
    let line = |name: String, cells: Vec<(Option<Summary>, Option<String>)>| {
        let (cells, candidates) = cells.into_iter().unzip();
        Line { cells, candidates, ..Line::new(row.section, name, scores.len()) }
    };
    let candidates = &row.candidates;
    if candidates.is_empty() {
        let failed = row.failures.first().cloned();
        return vec![Line { failed, ..Line::new(row.section, &row.title, scores.len()) }];
    }
    let Some(kind) = row.kind.map(CandidateKind::name) else {
        let all: Vec<&Scores> = candidates.iter().map(|candidate| &candidate.scores).collect();
        let joined = Scores::joined(&all).expect("there is at least one");
        let cells = scores.iter().map(|score| (summary(score.of(&joined)), None)).collect();
        return vec![line(row.title.clone(), cells)];
    };
    let best = scores.iter().map(|&score| best_on_test(score, candidates)).collect();
    let best = Line { oracle: true, ..line(format!("{}, best {kind}", row.title), best) };
    let choices: Vec<_> = scores.iter().map(|&score| chosen_by_validation(score, candidates)).collect();
    let cells = choices.iter().map(|choice| {
        let values: Vec<f64> = choice.iter().map(|chosen| chosen.1).collect();
        (summary(&values), counts(choice))
    });
    let names = |choice: &Vec<(&str, f64)>| choice.iter().map(|chosen| chosen.0.to_owned()).collect();
    let chosen = line(format!("{}, chosen {kind}", row.title), cells.collect());
    let chosen = Line { chosen: choices.iter().map(names).collect(), ..chosen };
    vec![best, chosen]
}

fn summary(values: &[f64]) -> Option<Summary> {
    (!values.is_empty()).then(|| Summary::of(values.iter().copied()))
}

fn best_on_test(score: Score, candidates: &[Candidate]) -> (Option<Summary>, Option<String>) {
    let found = candidates
        .iter()
        .filter_map(|candidate| Some((summary(score.of(&candidate.scores))?, &candidate.name)));
    match found.max_by(|a, b| a.0.mean.total_cmp(&b.0.mean)) {
        Some((summary, name)) => (Some(summary), name.clone()),
        None => (None, None),
    }
}

/// For each repeat, the candidate with the best cross-validation (the first of several) and its score.
fn chosen_by_validation(score: Score, candidates: &[Candidate]) -> Vec<(&str, f64)> {
    let repeats = candidates.iter().map(|candidate| score.of(&candidate.scores).len()).min().unwrap_or(0);
    let of_repeat = |repeat: usize| {
        let validated = |candidate: &Candidate| {
            let values = &score.validation(&candidate.scores).validation;
            values.get(repeat).copied().unwrap_or(f64::NEG_INFINITY)
        };
        let best = candidates.iter().rev().max_by(|a, b| validated(a).total_cmp(&validated(b)));
        best.map(|best| (best.name.as_deref().unwrap_or_default(), score.of(&best.scores)[repeat]))
    };
    (0..repeats).filter_map(of_repeat).collect()
}

/// How often each candidate was chosen: "calls 2 of 3, mails 1 of 3".
fn counts(choice: &[(&str, f64)]) -> Option<String> {
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

/// The candidate with the best cross-validation on average, at the first C and the smallest fraction; the only one if
/// there is no choice.
pub(super) fn best_validated(candidates: &[Candidate]) -> Option<&Candidate> {
    let validation = |candidate: &Candidate| {
        let values = &candidate.scores.smallest_share().validation;
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    candidates.iter().rev().max_by(|a, b| validation(a).total_cmp(&validation(b)))
}

/// The gain of MNMF over the best fair line of another method, per column.
fn gain(lines: &[Line], columns: usize, of: fn(f64, f64) -> f64) -> Option<Vec<Option<f64>>> {
    let ours = lines.iter().find(|line| line.section == Section::Ours)?;
    let others: Vec<&Line> =
        lines.iter().filter(|line| line.is_fair() && line.section != Section::Ours).collect();
    let of_column = |column: usize| {
        let best = others.iter().filter_map(|line| line.cells[column]).map(|cell| cell.mean);
        let best = best.max_by(f64::total_cmp).filter(|&best| best > 0.0)?;
        Some(of(ours.cells[column]?.mean, best))
    };
    let gain: Vec<Option<f64>> = (0..columns).map(of_column).collect();
    gain.iter().any(Option::is_some).then_some(gain)
}

#[cfg(test)]
mod tests {
    use super::super::scores::CostScores;
    use super::super::settings::Sweep;
    use super::*;
    use crate::model::Group;

    const ONE: [Cost; 1] = [Cost::Fixed(1.0)];

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

    fn measured(section: Section, kind: Option<CandidateKind>, candidates: &[Scores]) -> MeasuredRow {
        let named = candidates.iter().enumerate();
        let candidates =
            named.map(|(at, scores)| Candidate { name: Some(format!("v{at}")), scores: scores.clone() });
        let (title, failures) = ("x".into(), vec!["out of memory".into()]);
        MeasuredRow { title, section, kind, failures, candidates: candidates.collect() }
    }

    #[test]
    fn the_best_is_marked_and_the_choice_has_not_seen_the_test() {
        let single = Section::Method(Group::Single);
        // The first candidate tests better, the second validates better in the first repeat alone.
        let rows = [measured(
            single,
            Some(CandidateKind::View),
            &[scores(&[0.8, 0.9], &[0.1, 0.7]), scores(&[0.6, 0.5], &[0.2, 0.6])],
        )];
        let table = &tables(&rows, &[0.5], &ONE)[0];
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
        let rows = [measured(Section::Method(Group::Single), Some(CandidateKind::View), &candidates)];
        let clusters = &tables(&rows, &[0.7, 0.3], &ONE)[1];
        assert_eq!(clusters.lines[1].chosen[0], ["v1"]);
    }

    #[test]
    fn several_labels_have_a_table_of_known_numbers() {
        let mut known = scores(&[0.5], &[]);
        known.nmi.clear();
        let share = &mut known.classify[0].shares[0];
        (share.known_micro_f1, share.known_macro_f1) = (vec![0.7], vec![0.6]);
        let found = tables(&[measured(Section::Ours, None, &[known])], &[0.5], &ONE);
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
            measured(single, Some(CandidateKind::View), &[scores(&[0.99], &[0.1]), scores(&[0.5], &[0.2])]),
            measured(Section::Method(Group::Plain), None, &[scores(&[0.8001], &[])]),
            measured(Section::Ours, None, &[scores(&[0.8004], &[])]),
            measured(Section::Ablations, None, &[scores(&[0.95], &[])]),
            measured(Section::Sweep(Sweep::Dim), None, &[scores(&[0.96], &[])]),
        ];
        let table = &tables(&rows, &[0.5], &ONE)[0];
        let bold: Vec<bool> = table.lines.iter().map(|line| line.best[0]).collect();
        assert_eq!(bold, [false, false, true, true, false, false]);
        let gain = table.gain.as_ref().unwrap()[0].unwrap();
        assert!((gain - (0.8004 / 0.8001 - 1.0)).abs() < 1e-12, "over the best row without a star: {gain}");
    }

    #[test]
    fn times_are_of_all_candidates_and_of_one_repeat() {
        let rows = [
            measured(
                Section::Method(Group::Single),
                Some(CandidateKind::View),
                &[scores(&[0.5], &[0.1]), scores(&[0.6], &[0.2])],
            ),
            measured(Section::Method(Group::Multi), None, &[scores(&[0.5], &[]), scores(&[0.7], &[])]),
            measured(Section::Ours, None, &[]),
        ];
        let found: Vec<(f64, usize)> = times(&rows).iter().map(|row| (row.seconds, row.candidates)).collect();
        assert_eq!(found, [(2.0, 2), (1.0, 1)], "a row without an embedding has no time");
    }

    #[test]
    fn nothing_to_compare_is_no_gain() {
        let multi = Section::Method(Group::Multi);
        for (others, ours) in [(vec![], vec![scores(&[0.9], &[])]), (vec![scores(&[0.9], &[])], vec![])] {
            let rows = [measured(multi, None, &others), measured(Section::Ours, None, &ours)];
            assert!(tables(&rows, &[0.5], &ONE)[0].gain.is_none());
        }
        assert!(tables(&[measured(multi, None, &[])], &[0.5], &ONE)[0].gain.is_none());
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
        let found = tables(&rows, &[0.5], &ONE);
        let cell = found[0].lines[0].cells[0].unwrap();
        assert!((cell.mean - 0.6).abs() < 1e-12 && cell.std.unwrap() > 0.1);
        assert_eq!(found[0].lines[1].failed.as_deref(), Some("out of memory"));
        let gain = found[0].gain.as_ref().unwrap()[0].unwrap();
        assert!((gain - 0.5).abs() < 1e-12, "{gain}");
        let points = found[0].gain_points.as_ref().unwrap()[0].unwrap();
        assert!((points - 0.3).abs() < 1e-12, "{points}");
        assert_eq!(found[1].title, "Clustering");
        assert_eq!(found[1].gain.as_ref().unwrap()[1], None);
    }
}

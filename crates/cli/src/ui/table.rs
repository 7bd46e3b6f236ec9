//! The table of stages that a run with `--verbose` prints.

use std::fmt::Write;

use manyview::embedding::Kind;
use manyview::method::StageRecord;

/// Width of the table before the columns of the views.
const FIXED: usize = 37;
/// Three views fit into 80 characters: two, and their union.
const PER_VIEW: usize = 14;
/// The explanation of the cells, short enough for a narrow terminal.
const KEY: &str = "(per view: weight, or columns if unique; residual)\n";

/// One row per stage: its columns and iterations, and for each view its weight (in a unique stage, its columns) and
/// the share that is not explained yet. Tables wider than `width` are split.
pub(crate) fn stage_table(stages: &[StageRecord], views: &[String], width: usize) -> String {
    let fitting = (width.saturating_sub(FIXED) / PER_VIEW).max(1);
    let tables = views.chunks(fitting).map(|views| table(stages, views));
    tables.collect::<Vec<_>>().join("\n") + KEY
}

fn table(stages: &[StageRecord], views: &[String]) -> String {
    let mut text = format!("{:>5}  {:<9}  {:>9}  {:>10}", "stage", "kind", "columns", "iterations");
    for view in views {
        let _ = write!(text, "  {:>width$}", shortened(view, PER_VIEW - 2), width = PER_VIEW - 2);
    }
    text.push('\n');
    let mut rest = stages;
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|record| record.stage == first.stage).count();
        let (records, later) = rest.split_at(length);
        rest = later;
        text.push_str(&row(first, records, views));
    }
    text
}

fn row(first: &StageRecord, records: &[StageRecord], views: &[String]) -> String {
    let from = records.iter().map(|record| record.columns[0]).min().unwrap_or(0);
    let to = records.iter().map(|record| record.columns[1]).max().unwrap_or(0);
    let columns = format!("{from}-{}", to.saturating_sub(1));
    let mut text = format!(
        "{:>5}  {:<9}  {columns:>9}  {:>10}",
        first.stage,
        first.kind.of_stage().name(),
        iterations(records)
    );
    for view in views {
        let record = records.iter().find(|record| record.residual.contains_key(view));
        let cell = record.map_or_else(|| "-".into(), |record| cell(record, view));
        let _ = write!(text, "  {cell:>width$}", width = PER_VIEW - 2);
    }
    text.push('\n');
    text
}

fn iterations(records: &[StageRecord]) -> String {
    let least = records.iter().map(|record| record.iterations).min().unwrap_or(0);
    let most = records.iter().map(|record| record.iterations).max().unwrap_or(0);
    // A plus means that the maximum number of iterations was reached before convergence.
    let open = if records.iter().all(|record| record.converged) { "" } else { "+" };
    if least == most { format!("{most}{open}") } else { format!("{least}-{most}{open}") }
}

fn cell(record: &StageRecord, view: &str) -> String {
    let share = match record.kind {
        Kind::Consensus => format!("{:.2}", record.weights.get(view).copied().unwrap_or(0.0)),
        Kind::Unique | Kind::Joint => (record.columns[1] - record.columns[0]).to_string(),
    };
    format!("{share} {:>6.1}%", 100.0 * record.residual[view])
}

/// A name, cut if it is longer.
pub(super) fn shortened(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    name.chars().take(width - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(
        stage: usize,
        kind: Kind,
        view: Option<&str>,
        columns: [usize; 2],
        left: &[(&str, f64)],
    ) -> StageRecord {
        StageRecord {
            stage,
            kind,
            consensus: None,
            view: view.map(str::to_owned),
            columns,
            iterations: 10 * stage + columns[0],
            converged: true,
            seconds: 1.0,
            weights: left.iter().map(|&(view, _)| (view.to_owned(), 0.5)).collect(),
            residual: left.iter().map(|&(view, left)| (view.to_owned(), left)).collect(),
            entries: Default::default(),
        }
    }

    #[test]
    fn one_row_a_stage_and_a_cell_a_view() {
        let stages = [
            record(1, Kind::Consensus, None, [0, 8], &[("calls", 0.9), ("mail", 0.8)]),
            record(2, Kind::Unique, Some("calls"), [8, 11], &[("calls", 0.7)]),
            record(2, Kind::Unique, Some("mail"), [11, 16], &[("mail", 0.055)]),
        ];
        let text = stage_table(&stages, &["calls".into(), "mail".into()], 100);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["stage", "kind", "columns", "iterations", "calls", "mail"]);
        assert_eq!(lines[1], ["1", "consensus", "0-7", "10", "0.50", "90.0%", "0.50", "80.0%"]);
        assert_eq!(lines[2], ["2", "unique", "8-15", "28-31", "3", "70.0%", "5", "5.5%"]);
    }

    #[test]
    fn wide_tables_are_broken() {
        let stages = [record(1, Kind::Consensus, None, [0, 8], &[("a", 0.9), ("b", 0.8)])];
        let text = stage_table(&stages, &["a".into(), "b".into()], 60);
        assert_eq!(text.matches("iterations").count(), 2);
    }
}

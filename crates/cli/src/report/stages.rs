//! The line charts of the page: what is left of each view after each stage, and its entries before it.

use manyview::embedding::Kind;
use manyview::method::StageRecord;
use manyview::result::SavedRun;

use crate::html::line_figure;
use crate::html::svg::{Lines, Row, Scale};

/// The charts of a result with stages, as HTML: the share of each view that is not explained, and its entries.
pub(super) fn charts(run: &SavedRun) -> [String; 2] {
    let last = run.stages.iter().map(|record| record.stage).max().unwrap_or(0);
    let names = run.network.views.iter().chain(&run.network.joint).map(|view| &view.name);
    let names: Vec<&String> = names.collect();
    let rows = |from: usize, at: &dyn Fn(usize, &str) -> Option<f64>| -> Vec<Row> {
        names
            .iter()
            .map(|&name| (name.clone(), (from..=last).map(|stage| at(stage, name)).collect()))
            .collect()
    };
    let ticks = |from: usize| -> Vec<String> {
        (from..=last).map(|stage| if stage == 0 { "start".into() } else { stage.to_string() }).collect()
    };
    // Nothing changes in a stage that a view is not part of. Before the first stage, all of a view is left.
    let residual = rows(0, &|stage, name| {
        let left = |record: &StageRecord| record.residual.get(name).copied();
        run.stages.iter().filter(|record| record.stage <= stage).filter_map(left).next_back().or(Some(1.0))
    });
    let entries = rows(1, &|stage, name| {
        let before = |record: &StageRecord| record.entries.get(name).map(|&entries| entries as f64);
        run.stages.iter().filter(|record| record.stage >= stage).find_map(before)
    });
    [
        line_figure(&Lines {
            title: "Share of each view not yet explained",
            x: "after stage",
            y: "not explained, percent (logarithmic)",
            ticks: &ticks(0),
            rows: &residual,
            scale: Scale::PercentLog,
            bands: &bands(run, last, 0),
        }),
        line_figure(&Lines {
            title: "Size of what is left of each view",
            x: "before stage",
            y: "entries of the residual",
            ticks: &ticks(1),
            rows: &entries,
            scale: Scale::FromZero,
            bands: &bands(run, last, 1),
        }),
    ]
}

/// Stages of the same kind that follow each other; the start belongs to none.
fn bands(run: &SavedRun, last: usize, from: usize) -> Vec<(usize, usize, &'static str)> {
    let mut found: Vec<(usize, usize, &'static str)> = Vec::new();
    for stage in 1..=last {
        let Some(record) = run.stages.iter().find(|record| record.stage == stage) else { continue };
        let name = if record.kind == Kind::Consensus { "consensus" } else { "unique" };
        let tick = stage - from;
        match found.last_mut() {
            Some((_, to, known)) if *known == name => *to = tick,
            _ => found.push((tick, tick, name)),
        }
    }
    found
}

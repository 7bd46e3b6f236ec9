//! The warning about stages that had nothing left to explain.

use crate::mnmf::Plan;
use manyview_base::message::{Warning, WarningKind, option};

/// Names the columns of the stages from `first` on, which did not run. They need not be the last ones: consensus stages
/// have the first columns, whenever they run.
pub(super) fn warning(plan: &Plan, first: usize) -> Warning {
    let mut zero: Vec<_> = plan.stages[first - 1..].iter().map(|stage| stage.columns.clone()).collect();
    zero.sort_by_key(|columns| columns.start);
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for columns in zero {
        match ranges.last_mut().filter(|last| last.end == columns.start) {
            Some(last) => last.end = columns.end,
            None => ranges.push(columns),
        }
    }
    let ranges: Vec<String> =
        ranges.iter().map(|columns| format!("{}-{}", columns.start, columns.end - 1)).collect();
    let message = format!(
        "the views are fully explained before stage {first} of {}, so columns {} are zero; use fewer {} or a smaller {}",
        plan.stages.len(),
        ranges.join(" and "),
        option("stages"),
        option("dim")
    );
    Warning::new(WarningKind::Zero, message)
}

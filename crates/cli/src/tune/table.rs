//! The table of the searches as text, and what it has in common with that of the page.

use manyview::compare::percent;
use manyview::evaluate::Summary;
use manyview::tune::{Ending, SearchResult, TestScore, Tuning};

use crate::ui::{aligned, plural, seconds};

/// What the scores are, and of how many nodes or edges.
pub(super) fn sentence(tuning: &Tuning) -> String {
    let (ours, others) = tuning.sizes;
    if tuning.by_labels {
        let rounds = plural(tuning.settings.validation_rounds, "round");
        let repeats = plural(tuning.settings.repeats, "split");
        format!(
            "Scores are means of micro-F1 and macro-F1, in percent. Validation: {}, {rounds}. Test: the other {}, {repeats} \
             per training share.",
            plural(ours, "labeled node"),
            plural(others, "labeled node")
        )
    } else {
        format!(
            "Scores are AUCs of hidden edges against pairs that are not edges, in percent, means over the views. Validation: \
             {}. Test: {}.",
            plural(ours, "edge"),
            plural(others, "other edge")
        )
    }
}

/// The names of the columns with scores on the test nodes.
pub(super) fn test_columns(tuning: &Tuning) -> Vec<String> {
    let name = |column: &TestScore| match column.train {
        Some(train) => format!("train {train}"),
        None => "test".into(),
    };
    tuning.searches[0].winner().measured.test.iter().flatten().map(name).collect()
}

/// The columns of a row before those of the test: stages, consensus stages, columns, tried and cut candidates.
pub(super) const FACTS: [&str; 5] = ["stages", "consensus", "dim", "tried", "cut off"];

pub(super) fn facts(result: &SearchResult, views: usize) -> [String; 5] {
    let mnmf = result.winner().candidate.mnmf().resolved(views);
    let cut = result.trials.iter().filter(|trial| trial.ending() == Ending::Cut).count();
    // Early stopping tries stages.
    let tried = if result.stages.is_empty() { result.trials.len() } else { result.stages.len() };
    [mnmf.stages, mnmf.consensus_stages.unwrap_or(0), mnmf.dim, tried, cut].map(|number| number.to_string())
}

/// `81.2 ± 0.4`.
pub(super) fn score(summary: &Summary) -> String {
    let std = summary.std.map(|std| format!(" ± {}", percent(std)));
    percent(summary.mean) + &std.unwrap_or_default()
}

/// The best settings in a few words.
pub(super) fn best(tuning: &Tuning) -> String {
    let (search, trial) = (tuning.best_search(), tuning.best());
    format!("best validation score: {}, from {}", trial.candidate.title(), search.title())
}

/// The table as text.
pub(crate) fn table(tuning: &Tuning, views: usize) -> String {
    let tested = test_columns(tuning);
    let head = [""].into_iter().chain(FACTS).chain(["validation"]);
    let mut rows: Vec<Vec<String>> =
        vec![head.map(str::to_owned).chain(tested.clone()).chain(["time".into()]).collect()];
    for result in &tuning.searches {
        let winner = result.winner();
        let test = winner.measured.test.iter().flatten().map(|column| score(&column.score));
        let mut row = vec![result.title().to_owned()];
        row.extend(facts(result, views));
        row.push(winner.score.map_or_else(|| "-".into(), percent));
        row.extend(test);
        row.push(seconds(result.seconds));
        rows.push(row);
    }
    let notes: String = tuning.notes.iter().map(|note| format!("note: {note}\n")).collect();
    format!("{}\n{}{}\n{notes}", sentence(tuning), aligned(&rows), best(tuning))
}

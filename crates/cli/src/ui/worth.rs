//! The table of what each view is worth.

use std::fmt::Write;

use manyview::evaluate::Summary;
use manyview::worth::{Outcome, SubsetScores, ViewWorth, WorthOfView};

use super::aligned;

/// One row for all views together and one per view, the best alone first, with the reasons of failures and a key.
pub(crate) fn worth_table(worth: &ViewWorth) -> String {
    let without = worth.views.iter().any(|view| view.without.is_some());
    let mut views: Vec<&WorthOfView> = worth.views.iter().collect();
    let alone =
        |view: &WorthOfView| view.alone.scores().map_or(f64::NEG_INFINITY, |scores| scores.micro_f1.mean);
    views.sort_by(|a, b| alone(b).total_cmp(&alone(a)));
    let mut rows = vec![head(without), row("all views", Some(&worth.all), without.then_some(""), None)];
    for view in views {
        let left = match &view.without {
            Some(Outcome::Scores(scores)) => score(scores.micro_f1),
            Some(Outcome::Failed { .. }) => "failed".into(),
            None => String::new(),
        };
        rows.push(row(&view.view, view.alone.scores(), without.then_some(&left), view.contribution));
    }
    let mut text = aligned(&rows);
    for view in &worth.views {
        if let Outcome::Failed { failed } = &view.alone {
            let _ = writeln!(text, "{} alone failed: {failed}", view.view);
        }
        // Of two views, it is the other one alone.
        if let Some(Outcome::Failed { failed }) = view.without.as_ref().filter(|_| worth.views.len() > 2) {
            let _ = writeln!(text, "without {} failed: {failed}", view.view);
        }
    }
    text + &key(worth, without)
}

fn head(without: bool) -> Vec<String> {
    let columns = ["view", "micro-F1 alone", "NMI alone", "micro-F1 without", "contribution"];
    columns[..if without { 5 } else { 3 }].iter().map(|&name| name.to_owned()).collect()
}

fn row(
    name: &str,
    scores: Option<&SubsetScores>,
    without: Option<&str>,
    contribution: Option<f64>,
) -> Vec<String> {
    let nmi = match scores {
        Some(scores) => scores.nmi.map_or_else(|| "-".into(), |nmi| format!("{:.3}", nmi.mean)),
        None => "failed".into(),
    };
    let mut cells =
        vec![name.to_owned(), scores.map_or_else(|| "failed".into(), |scores| score(scores.micro_f1)), nmi];
    if let Some(without) = without {
        let contribution = contribution.map_or_else(String::new, |change| format!("{change:+.3}"));
        cells.extend([without.to_owned(), contribution]);
    }
    cells
}

fn score(summary: Summary) -> String {
    let std = summary.std.map(|std| format!(" ± {std:.3}")).unwrap_or_default();
    format!("{:.3}{std}", summary.mean)
}

fn key(worth: &ViewWorth, without: bool) -> String {
    let ViewWorth { train, repeats, labels, .. } = worth;
    let mut parts =
        vec![format!("micro-F1: trained on {:.0}% of the labeled nodes, {repeats} splits", 100.0 * train)];
    let nmi = worth.all.nmi.map(|_| format!("NMI: k-means with {labels} clusters"));
    let contribution = without.then(|| "contribution: micro-F1 lost without the view".to_owned());
    let second: Vec<String> = nmi.into_iter().chain(contribution).collect();
    parts.extend((!second.is_empty()).then(|| second.join("; ")));
    format!("({})\n", parts.join(";\n "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worth(json: &str) -> ViewWorth {
        let text = format!(
            r#"{{"method": "mnmf", "labels": 4, "labeled": 90, "train": 0.5, "repeats": 2, "seed": 0, "notes": [],
                "all": {{"micro_f1": {{"mean": 0.9, "std": 0.01}}, "macro_f1": {{"mean": 0.9, "std": null}},
                         "nmi": null, "seconds": 1}}, "views": [{json}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn view(name: &str, alone: f64, rest: &str) -> String {
        format!(
            r#"{{"view": "{name}", "edges": 3, "isolated": 0, "alone": {{"micro_f1": {{"mean": {alone}, "std": null}},
                "macro_f1": {{"mean": 0.5, "std": null}}, "nmi": null, "seconds": 1}}, {rest}}}"#
        )
    }

    #[test]
    fn the_best_alone_is_first_and_failures_have_their_reason() {
        let left = r#""without": {"failed": "too large"}, "contribution": null"#;
        let full = r#""without": {"micro_f1": {"mean": 0.95, "std": null}, "macro_f1": {"mean": 0, "std": null},
                      "nmi": null, "seconds": 1}, "contribution": -0.05"#;
        let rest = [view("calls", 0.5, left), view("mail", 0.7, full), view("x", 0.1, left)].join(",");
        let text = worth_table(&worth(&rest));
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect())
            .collect();
        assert_eq!(lines[0], ["view", "micro-F1 alone", "NMI alone", "micro-F1 without", "contribution"]);
        assert_eq!(lines[1], ["all views", "0.900 ± 0.010", "-"]);
        assert_eq!(lines[2], ["mail", "0.700", "-", "0.950", "-0.050"]);
        assert_eq!(lines[3], ["calls", "0.500", "-", "failed"]);
        assert_eq!(lines[5], ["without calls failed: too large"]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn columns_of_what_was_not_computed_are_left_out() {
        let none = r#""without": null, "contribution": null"#;
        let text = worth_table(&worth(&view("calls", 0.5, none)));
        assert!(!text.contains("without") && !text.contains("NMI: k-means"), "{text}");
    }
}

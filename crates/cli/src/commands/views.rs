//! `manyview views`: describes the views of a network and how far they agree; with `--alone`, scores each of them.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use manyview::Labels;
use manyview::overlap::Overlap;
use manyview::parallel::Pool;
use manyview::summary::{Summary, ViewSummary, summarize_watched};
use manyview::worth::view_worth;

use super::{read, tell_unknown, tell_unlabeled, worth};
use crate::args::ViewsArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural, print, thousands, worth_table};

pub(crate) fn run(args: &ViewsArgs) -> Result<()> {
    match &args.worth.labels {
        Some(labels) => alone(args, labels),
        None => describe(args),
    }
}

/// Scores each view alone, all views together, and all but one.
fn alone(args: &ViewsArgs, file: &Path) -> Result<()> {
    let (model, settings) = (args.model()?, args.worth());
    model.check()?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet).brief();
    let (network, _) = read(&args.network, model.threads, &mut reporter)?;
    let labels = Labels::open(file, network.nodes())?;
    tell_unlabeled(&labels, &reporter);
    tell_unknown(&labels, file, "network", &reporter);
    let found =
        view_worth(&network, &labels, &model, &settings, &mut |event| worth::show(event, &mut reporter));
    reporter.finish();
    let found = found?;
    for note in &found.notes {
        reporter.say(&format!("note: {note}"));
    }
    if args.json {
        return print(serde_json::to_string_pretty(&found)? + "\n");
    }
    print(worth_table(&found))
}

fn describe(args: &ViewsArgs) -> Result<()> {
    let settings = args.proximity.settings()?;
    let pool = Pool::new(args.threads)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet);
    let (network, _) = read(&args.network, args.threads, &mut reporter)?;
    let settings = (!args.no_proximity).then_some(settings);
    let summary = summarize_watched(&network, settings, &pool, &mut |done, rows| {
        reporter.proximities(done, rows);
        interrupt::go_on()
    })?;
    reporter.finish();
    if settings.is_some() && summary.views.iter().all(|view| view.entries.is_none()) {
        reporter.say(
            "proximities are not compared: exact ones would take long; use --proximity exact to compare them, or --no-proximity",
        );
    }
    if args.json {
        return print(serde_json::to_string_pretty(&summary)? + "\n");
    }
    print(text(&summary))
}

fn text(summary: &Summary) -> String {
    let (nodes, views) = (plural(summary.nodes, "node"), plural(summary.views.len(), "view"));
    let mut text = format!("{nodes}, {views}\n\n");
    let widest = summary.views.iter().map(|view| view.name.chars().count()).max().unwrap_or(0).max(4);
    let _ = writeln!(
        text,
        "{:<widest$}  {:>12}  {:>10}  {:>6}  {:>8}  {:>7}  {:>14}  {:>8}",
        "view", "edges", "isolated", "median", "mean", "most", "entries", "of pairs"
    );
    for view in &summary.views {
        text.push_str(&view_line(view, summary.nodes, widest));
    }
    text.push_str("(median, mean and most: neighbors per node, of nodes that have any)\n");
    if !summary.overlap.is_empty() {
        text.push('\n');
    }
    for (at, overlap) in summary.overlap.iter().enumerate() {
        let mut line = agreement(overlap);
        match summary.correlation.get(at).map(|pair| pair.correlation) {
            Some(Some(correlation)) => {
                let _ = write!(line, "; their proximities correlate at {correlation:.2}");
            }
            Some(None) => {
                line.push_str("; no correlation, because all proximities of one of them are equal");
            }
            None => {}
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

fn view_line(view: &ViewSummary, nodes: usize, widest: usize) -> String {
    let degree = view.degree;
    let (entries, pairs) = match view.entries {
        Some(entries) => {
            (thousands(entries), format!("{:.2}%", 100.0 * entries as f64 / (nodes as f64 * nodes as f64)))
        }
        None => ("-".into(), "-".into()),
    };
    format!(
        "{:<widest$}  {:>12}  {:>10}  {:>6}  {:>8.1}  {:>7}  {entries:>14}  {pairs:>8}\n",
        view.name,
        thousands(view.edges),
        thousands(view.isolated),
        thousands(degree.median),
        degree.mean,
        thousands(degree.most)
    )
}

/// `text and citation agree on 12% of the nodes`.
fn agreement(overlap: &Overlap) -> String {
    let percent = 100.0 * overlap.share;
    // Small shares have a decimal.
    let percent =
        if percent > 0.0 && percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") };
    format!("{} and {} agree on {percent}% of the nodes", overlap.a, overlap.b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_has_two_digits() {
        let text = |share| agreement(&Overlap { a: "text".into(), b: "citation".into(), nodes: 9, share });
        assert_eq!(text(0.1234), "text and citation agree on 12% of the nodes");
        assert_eq!(text(0.0123), "text and citation agree on 1.2% of the nodes");
        assert_eq!(text(0.0), "text and citation agree on 0% of the nodes");
    }
}

//! `manyview explain`: which stages and views a vector, or a similarity, comes from.

use std::fmt::Write;

use anyhow::Result;
use manyview::embedding::Kind;
use manyview::explain::{Origin, PartShare};
use manyview::message::Notation;
use manyview::result::ResultFolder;
use serde::Serialize;

use crate::args::ExplainArgs;
use crate::ui::{print, tell};

/// The output of `--json`.
#[derive(Serialize)]
struct Explained<'a> {
    nodes: &'a [&'a str],
    #[serde(flatten)]
    origin: &'a Origin,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<()> {
    let finished = ResultFolder::open(&args.folder)?;
    let embedding = &finished.embedding;
    let names: Vec<&str> = std::iter::once(&args.node).chain(&args.other).map(String::as_str).collect();
    let nodes = names.iter().map(|name| embedding.nodes().look_up(name)).collect::<Result<Vec<_>, _>>()?;
    let origin = match nodes[..] {
        [a, b] => embedding.explain_pair(a, b),
        _ => embedding.explain(nodes[0]),
    };
    if let Some(note) = finished.run.scale_note() {
        tell(format_args!("note: {}", note.in_notation(Notation::CommandLine)));
    }
    if args.json {
        let explained = Explained { nodes: &names, origin: &origin };
        return print(serde_json::to_string_pretty(&explained)? + "\n");
    }
    print(text(&names, &origin, args.top))
}

fn text(names: &[&str], origin: &Origin, top: usize) -> String {
    let (of, head) = match names {
        [a, b] => ("similarity", format!("{a} and {b}: cosine {:.4}", origin.total)),
        _ => ("vector", format!("{}: squared norm {:.4}", names[0], origin.total)),
    };
    if origin.total == 0.0 {
        let why = match names {
            [_, _] => "the vectors have no nonzero column in common",
            _ => "the vector is zero: the node has no proximity to other nodes",
        };
        return format!("{head}; {why}\n");
    }
    if origin.parts.len() < 2 {
        return format!("{head}; all columns come from all views together, so there are no parts to list\n");
    }
    let mut text = format!("{head}\n\nshare of the {of}\n");
    let mut rows = vec![("consensus", origin.consensus)];
    if origin.parts.iter().any(|part| part.kind == Kind::Joint) {
        rows.push((Kind::Joint.name(), origin.joint));
    }
    rows.extend(origin.views.iter().map(|view| (view.view.as_str(), view.share)));
    let widest = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    for (name, share) in rows {
        let _ = writeln!(text, "  {name:<widest$}  {:>6.1}%  {}", 100.0 * share, bar(share));
    }
    let shown: Vec<&PartShare> = origin.parts.iter().filter(|part| part.share != 0.0).take(top).collect();
    if !shown.is_empty() {
        text.push_str("\nlargest parts\n");
    }
    for part in shown {
        let [from, to] = [part.columns[0], part.columns[1].saturating_sub(1)];
        let _ = writeln!(
            text,
            "  {:<widest$}  {:>6.1}%  stage {}, columns {from}-{to}",
            part.source(),
            100.0 * part.share,
            part.stage
        );
    }
    text
}

/// Draws a bar of one character per 2.5%; negative shares, which make nodes less similar, have their own character.
fn bar(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "#" };
    sign.repeat((40.0 * share.abs()).round() as usize)
}

//! Score tables.

use std::fmt::Write;

use manyview::evaluate::{Classification, Clustering, Links, Summary};

/// `0.9123 +- 0.0045`; without a standard deviation if there is one repeat.
fn score(summary: Summary) -> String {
    match summary.std {
        Some(std) => format!("{:.4} +- {std:.4}", summary.mean),
        None => format!("{:.4}", summary.mean),
    }
}

/// One row per training fraction.
pub(crate) fn classification_table(found: &Classification) -> String {
    let mut text = format!("{:>5}  {:>8}  {:<16}  {:<16}", "train", "nodes", "micro-F1", "macro-F1");
    if found.multi_label {
        let _ = write!(text, "  {:<16}  {:<16}", "known micro-F1", "known macro-F1");
    }
    trim_line(&mut text);
    for share in &found.shares {
        let nodes = share.runs.first().map_or(0, |run| run.train_nodes);
        let (micro, r#macro) = (score(share.micro_f1), score(share.macro_f1));
        let _ = write!(text, "{:>5}  {nodes:>8}  {micro:<16}  {:<16}", share.train, r#macro);
        if let (Some(micro), Some(r#macro)) = (share.known_micro_f1, share.known_macro_f1) {
            let _ = write!(text, "  {:<16}  {:<16}", score(micro), score(r#macro));
        }
        trim_line(&mut text);
    }
    text
}

/// One row: the scores of k-means.
pub(crate) fn clustering_table(found: &Clustering) -> String {
    let mut text =
        format!("{:>8}  {:>8}  {:<16}  {:<16}  {}\n", "clusters", "nodes", "NMI", "AMI", "inertia");
    let (nmi, ami) = (score(found.nmi), score(found.ami));
    let (k, nodes, inertia) = (found.k, found.labeled, found.inertia.mean);
    let _ = writeln!(text, "{k:>8}  {nodes:>8}  {nmi:<16}  {ami:<16}  {inertia:.6}");
    text
}

/// One row per view.
pub(crate) fn links_table(found: &Links) -> String {
    let widest = found.views.iter().map(|view| view.view.chars().count()).max().unwrap_or(0).max(4);
    let mut text =
        format!("{:<widest$}  {:>12}  {:<16}  {}\n", "view", "hidden edges", "AUC", "average precision");
    for view in &found.views {
        let edges = view.runs.first().map_or(0, |run| run.edges);
        let or_none = |summary: Option<Summary>| summary.map_or_else(|| "-".into(), score);
        let (auc, precision) = (or_none(view.auc), or_none(view.average_precision));
        let _ = writeln!(text, "{:<widest$}  {edges:>12}  {auc:<16}  {precision}", view.view);
    }
    text
}

/// Removes trailing blanks and ends the line.
fn trim_line(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}

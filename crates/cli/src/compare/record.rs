//! `compare.json`: every single score, failure, choice and note.

use serde::Serialize;

use super::Comparison;
use super::kept::network_key;
use super::scores::Scores;
use super::table::{Measured, Table};

#[derive(Serialize)]
pub(super) struct Record<'a> {
    version: &'static str,
    command: &'a str,
    /// Any other node, edge or weight would change it.
    network: String,
    nodes: usize,
    views: Vec<&'a str>,
    labels: &'a [String],
    labeled: usize,
    /// Ids with labels that are no nodes.
    unknown: usize,
    multi_label: bool,
    train: &'a [f64],
    repeats: usize,
    seed: u64,
    dim: usize,
    preset: &'static str,
    /// What labels and splits tell of all scores; candidates have notes of their own.
    notes: &'a [String],
    tables: &'a [Table],
    methods: Vec<MethodRecord<'a>>,
}

#[derive(Serialize)]
struct MethodRecord<'a> {
    name: &'a str,
    section: String,
    failures: &'a [String],
    candidates: Vec<CandidateRecord<'a>>,
}

#[derive(Serialize)]
struct CandidateRecord<'a> {
    name: Option<&'a str>,
    #[serde(flatten)]
    scores: &'a Scores,
}

impl<'a> Record<'a> {
    pub(super) fn of(
        of: &'a Comparison<'_>,
        command: &'a str,
        measured: &'a [Measured],
        tables: &'a [Table],
    ) -> Self {
        let candidate =
            |(name, scores): &'a (Option<String>, Scores)| CandidateRecord { name: name.as_deref(), scores };
        let method = |row: &'a Measured| MethodRecord {
            name: &row.row.title,
            section: row.row.section.title(),
            failures: &row.failures,
            candidates: row.candidates.iter().map(candidate).collect(),
        };
        Record {
            version: env!("CARGO_PKG_VERSION"),
            command,
            network: network_key(&of.network),
            nodes: of.network.nodes().len(),
            views: of.network.views().iter().map(|view| view.name.as_str()).collect(),
            labels: of.labels.names(),
            labeled: of.labels.labeled(),
            unknown: of.labels.unknown(),
            multi_label: of.labels.is_multi_label(),
            train: &of.args.train,
            repeats: of.args.repeats,
            seed: of.args.seed,
            dim: of.args.dim,
            preset: of.args.preset.name(),
            notes: &of.notes,
            tables,
            methods: measured.iter().map(method).collect(),
        }
    }
}

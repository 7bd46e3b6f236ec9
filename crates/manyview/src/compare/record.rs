//! `compare.json`: every score, failure, choice and note of a comparison.

use std::io::{self, Write};

use manyview_data::Network;
use manyview_data::labels::Labels;
use serde::Serialize;

use super::cache::{network_key, write_json};
use super::table::{MeasuredRow, RowTime, Table};
use super::{CompareSettings, Comparison};

/// The name of the record.
pub(super) const RECORD: &str = "compare.json";

/// The files in which a front end writes a comparison, next to the folders of the jobs. They are replaced only if the
/// first of them is the record of a comparison of the same network.
pub const REPORT_FILES: [&str; 4] = [RECORD, "compare.md", "compare.tex", "compare.html"];

/// A comparison and what it was made from, to be written as `compare.json`.
#[derive(Debug, Serialize)]
pub struct CompareRecord<'a> {
    version: &'static str,
    command: &'a str,
    /// A hash of all nodes, edges and weights.
    network: String,
    nodes: usize,
    views: Vec<&'a str>,
    labels: &'a [String],
    labeled: usize,
    /// The number of ids with labels that are not nodes.
    unknown: usize,
    multi_label: bool,
    train: &'a [f64],
    repeats: usize,
    seed: u64,
    dim: usize,
    preset: &'static str,
    /// The notes that apply to all scores; candidates have notes of their own.
    notes: &'a [String],
    tables: &'a [Table],
    times: &'a [RowTime],
    methods: &'a [MeasuredRow],
}

impl<'a> CompareRecord<'a> {
    /// The record of a comparison that `command` started.
    pub fn new(
        comparison: &'a Comparison,
        network: &'a Network,
        labels: &'a Labels,
        command: &'a str,
    ) -> Self {
        let CompareSettings { train, repeats, seed, dim, preset, .. } = &comparison.settings;
        CompareRecord {
            version: env!("CARGO_PKG_VERSION"),
            command,
            network: network_key(network),
            nodes: network.nodes().len(),
            views: network.views().iter().map(|view| view.name.as_str()).collect(),
            labels: labels.names(),
            labeled: labels.labeled(),
            unknown: labels.unknown(),
            multi_label: labels.is_multi_label(),
            train,
            repeats: *repeats,
            seed: *seed,
            dim: *dim,
            preset: preset.name(),
            notes: &comparison.notes,
            tables: &comparison.tables,
            times: &comparison.times,
            methods: &comparison.rows,
        }
    }

    /// Writes the record as JSON.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        write_json(writer, self)
    }
}

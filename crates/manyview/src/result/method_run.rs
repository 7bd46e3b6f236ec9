//! `run.json` of the methods other than MNMF: the same fields where they mean the same.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use manyview_baselines::{Model, Outcome};
use manyview_data::embedding::Part;
use manyview_data::network::{Network, View};
use manyview_data::overlap::Overlap;

/// Everything about a run but its vectors. Field names are a contract; see `docs/formats.md`.
#[derive(Clone, Debug, Serialize)]
pub struct MethodRecord<'a> {
    version: &'static str,
    command: &'a str,
    method: &'static str,
    config: &'a Model,
    network: NetworkRecord<'a>,
    parts: Vec<PartRecord>,
    warnings: &'a [String],
    seconds: MethodSeconds,
    threads: usize,
    ranks: usize,
    peak_memory_bytes: Option<u64>,
}

/// Wall time of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MethodSeconds {
    /// Reading the network.
    pub read: f64,
    /// The method itself.
    pub fit: f64,
    /// Writing the result.
    pub write: f64,
    /// From start to end.
    pub total: f64,
}

/// Which columns came from where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// The view; none when the columns are of all views.
    pub view: Option<String>,
    /// From the first to before the second.
    pub columns: [usize; 2],
}

#[derive(Clone, Debug, Serialize)]
struct NetworkRecord<'a> {
    nodes: usize,
    views: Vec<ViewRecord<'a>>,
    overlap: &'a [Overlap],
}

#[derive(Clone, Debug, Serialize)]
struct ViewRecord<'a> {
    name: &'a str,
    edges: usize,
    isolated: usize,
}

impl<'a> MethodRecord<'a> {
    /// The record of a run that `command` started.
    pub fn new(
        command: &'a str,
        model: &'a Model,
        network: &'a Network,
        overlap: &'a [Overlap],
        outcome: &'a Outcome,
        seconds: MethodSeconds,
    ) -> Self {
        let view =
            |view: &'a View| ViewRecord { name: &view.name, edges: view.edges(), isolated: view.isolated() };
        let part = |part: &Part| {
            let columns = [part.columns.start, part.columns.end];
            PartRecord { view: part.view.clone(), columns }
        };
        MethodRecord {
            version: env!("CARGO_PKG_VERSION"),
            command,
            method: model.method().name(),
            config: model,
            network: NetworkRecord {
                nodes: network.nodes().len(),
                views: network.views().iter().map(view).collect(),
                overlap,
            },
            parts: outcome.embedding.parts().iter().map(part).collect(),
            warnings: &outcome.warnings,
            seconds,
            threads: outcome.threads,
            ranks: 1,
            peak_memory_bytes: manyview_base::memory::peak_resident_bytes(),
        }
    }

    /// Writes it as JSON.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *writer, self)?;
        writeln!(writer)
    }
}

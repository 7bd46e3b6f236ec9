//! `run.json`: what a result can be traced back to.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::date;
use crate::comm::{self, Comm};
use crate::method::{ChosenPlan, Fit, StageRecord, ViewRecord};
use manyview_base::linalg::kernels::uses_wide_vectors;
use manyview_base::memory::peak_resident_bytes;
use manyview_base::message::{Message, Warning};
use manyview_data::embedding::Part;
use manyview_data::io::{Directed, InputFile};
use manyview_data::network::Duplicates;
use manyview_data::overlap::Overlap;

/// Everything about a run but its vectors. Field names are a contract; see `docs/formats.md`.
#[derive(Clone, Debug, Serialize)]
pub struct RunRecord<'a> {
    version: &'static str,
    /// When the record was made, in UTC.
    date: String,
    /// Processor and system.
    platform: String,
    /// What started the run.
    pub command: &'a str,
    /// The files that the network and the labels were read from.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub inputs: &'a [InputFile],
    method: &'a str,
    config: &'a Value,
    settings: &'a Value,
    network: NetworkRecord<'a>,
    /// The views that were read as directed, unless their files say so themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directed: Option<Directed>,
    /// How several edges between the same two nodes were merged, if not by the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<Duplicates>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stages: &'a [StageRecord],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartRecord>,
    vector_scale: f64,
    notes: &'a [Message],
    skipped_lines: u64,
    /// The model that was kept beside the vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen_plan: &'a Option<ChosenPlan>,
    warnings: Vec<&'a Warning>,
    /// Wall time.
    pub seconds: RunSeconds,
    threads: usize,
    ranks: usize,
    wide_vectors: bool,
    peak_memory_bytes: Option<u64>,
    /// What each rank did.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub rank_records: &'a [RankRecord],
    /// Memory of the phases.
    pub memory: RunMemory,
}

/// The file of a kept model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Its name.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Its CRC-32, in hexadecimal digits.
    pub checksum: String,
}

/// Memory of a run, in bytes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RunMemory {
    /// The peak that was expected before the work started.
    pub estimated_bytes: Option<u64>,
    /// The peak so far at the end of each phase.
    pub phases: RunPeaks,
}

/// The most memory the process had held at once when a phase ended; `None` if the system does not report it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RunPeaks {
    /// Reading the network.
    pub read: Option<u64>,
    /// Proximity matrices.
    pub proximity: Option<u64>,
    /// All stages.
    pub factorize: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
struct NetworkRecord<'a> {
    nodes: usize,
    /// As text: JSON numbers do not hold 64 bits.
    fingerprint: String,
    views: &'a [ViewRecord],
    #[serde(skip_serializing_if = "Option::is_none")]
    joint: &'a Option<ViewRecord>,
    overlap: &'a [Overlap],
}

/// Which columns belong to which view, of a method without stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// The view; none when the columns belong to all views.
    pub view: Option<String>,
    /// From the first column to before the second.
    pub columns: [usize; 2],
}

/// Wall time of a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct RunSeconds {
    /// Reading the network.
    pub read: f64,
    /// Proximity matrices; 0 for methods without stages.
    #[serde(default)]
    pub proximity: f64,
    /// All stages; 0 for methods without stages.
    #[serde(default, alias = "factorise")]
    pub factorize: f64,
    /// The whole fit: all that is not reading or writing.
    #[serde(default)]
    pub fit: f64,
    /// Writing the result.
    pub write: f64,
    /// From start to end.
    pub total: f64,
}

/// What one rank did in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankRecord {
    /// The rank, from 0.
    pub rank: usize,
    /// The most memory it held at once.
    pub peak_memory_bytes: Option<u64>,
    /// Rows it owns.
    pub rows: usize,
    /// Entries of all proximity matrices in them.
    pub entries: usize,
    /// Collective calls.
    pub calls: u64,
    /// Bytes that it brought to them.
    pub bytes: u64,
    /// Its wall time.
    pub seconds: RankSeconds,
}

/// Wall time of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RankSeconds {
    /// Reading the network.
    pub read: f64,
    /// Proximity matrices.
    pub proximity: f64,
    /// Passes over the residuals, and all else in the stages that is not communication.
    pub pass: f64,
    /// Collective calls, the wait for slower ranks included.
    pub communication: f64,
    /// Writing the result.
    pub write: f64,
}

impl RankRecord {
    /// The records of all ranks, each of which brings its own: its fit, and how long it read and wrote. Empty for methods
    /// without stages, which run on no ranks.
    pub fn gather(comm: &dyn Comm, fit: &Fit, read: f64, write: f64) -> Vec<Self> {
        if fit.stages.is_empty() {
            return Vec::new();
        }
        let (own, peak) = (&fit.own, peak_resident_bytes());
        // All but a size beyond 2^53 goes through f64 exactly; a peak of 0 stands for one that is not known.
        let counts = [
            peak.unwrap_or(0) as f64,
            own.rows as f64,
            own.entries as f64,
            own.traffic.calls as f64,
            own.traffic.bytes as f64,
        ];
        let seconds = [read, own.proximity, own.pass, own.traffic.seconds, write];
        let (counts, seconds) = (comm::gather(comm, counts), comm::gather(comm, seconds));
        let record = |(rank, (counts, seconds)): (usize, ([f64; 5], [f64; 5]))| {
            let [peak, rows, entries, calls, bytes] = counts.map(|x| x as u64);
            let [read, proximity, pass, communication, write] = seconds;
            RankRecord {
                rank,
                peak_memory_bytes: (peak > 0).then_some(peak),
                rows: rows as usize,
                entries: entries as usize,
                calls,
                bytes,
                seconds: RankSeconds { read, proximity, pass, communication, write },
            }
        };
        counts.into_iter().zip(seconds).enumerate().map(record).collect()
    }
}

impl<'a> RunRecord<'a> {
    /// The record of a fit that `command` started, without the time of reading and writing.
    pub fn new(fit: &'a Fit, command: &'a str) -> Self {
        let part = |part: &Part| PartRecord {
            view: part.view.clone(),
            columns: [part.columns.start, part.columns.end],
        };
        let parts = if fit.stages.is_empty() { fit.embedding.parts() } else { &[] };
        let seconds = fit.seconds;
        RunRecord {
            version: env!("CARGO_PKG_VERSION"),
            date: date::now(),
            platform: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            command,
            inputs: &[],
            method: &fit.method,
            config: &fit.config,
            settings: &fit.settings,
            network: NetworkRecord {
                nodes: fit.embedding.rows(),
                fingerprint: format!("{:016x}", fit.fingerprint),
                views: &fit.views,
                joint: &fit.joint,
                overlap: &fit.overlap,
            },
            directed: None,
            duplicates: None,
            stages: &fit.stages,
            parts: parts.iter().map(part).collect(),
            vector_scale: fit.vector_scale,
            model: None,
            chosen_plan: &fit.chosen,
            notes: &[],
            skipped_lines: 0,
            warnings: fit.warnings.iter().collect(),
            seconds: RunSeconds {
                proximity: seconds.proximity,
                factorize: seconds.factorize,
                fit: seconds.total,
                total: seconds.total,
                ..RunSeconds::default()
            },
            threads: fit.threads,
            ranks: fit.ranks,
            wide_vectors: uses_wide_vectors(),
            peak_memory_bytes: peak_resident_bytes(),
            rank_records: &[],
            memory: RunMemory::default(),
        }
    }

    /// Adds how the network was read: notes, warnings before those of the fit, and the number of skipped lines.
    pub fn add_reading(&mut self, notes: &'a [Message], warnings: &'a [Warning], skipped_lines: u64) {
        (self.notes, self.skipped_lines) = (notes, skipped_lines);
        self.warnings.splice(0..0, warnings);
    }

    /// Writes it as JSON.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *writer, self)?;
        writeln!(writer)
    }
}

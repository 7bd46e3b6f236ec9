//! `run.json`: what a number can be traced back to.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use manyview_core::comm::{self, Comm};
use manyview_core::config::Config;
use manyview_core::stages::{Fit, StageRecord, ViewRecord};
use manyview_data::overlap::Overlap;

/// Everything about a run but its vectors. Field names are a contract; see `docs/formats.md`.
#[derive(Clone, Debug, Serialize)]
pub struct RunRecord<'a> {
    version: &'static str,
    command: &'a str,
    method: &'static str,
    config: Config,
    network: NetworkRecord<'a>,
    stages: &'a [StageRecord],
    warnings: &'a [String],
    seconds: RunSeconds,
    threads: usize,
    ranks: usize,
    peak_memory_bytes: Option<u64>,
    rank_records: &'a [RankRecord],
    memory: RunMemory,
}

/// Memory of a run, in bytes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RunMemory {
    /// The peak that was expected before the work started.
    pub estimated_bytes: Option<u64>,
    /// The peak so far at the end of each phase.
    pub phases: RunPeaks,
}

/// The most memory the process had held at once when a phase ended; `None` where the system does not tell.
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
    views: &'a [ViewRecord],
    overlap: &'a [Overlap],
}

/// Wall time of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RunSeconds {
    /// Reading the network.
    pub read: f64,
    /// Proximity matrices; 0 in files of other methods.
    #[serde(default)]
    pub proximity: f64,
    /// All stages; in files of other methods, the method itself.
    #[serde(alias = "factorise", alias = "fit")]
    pub factorize: f64,
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
    /// The records of all ranks, each of which brings its own: its fit, and how long it read and wrote.
    pub fn gather<C: Comm>(comm: &C, fit: &Fit, read: f64, write: f64) -> Vec<Self> {
        let (own, peak) = (&fit.own, manyview_base::memory::peak_resident_bytes());
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
    /// The record of a fit that `command` started with these settings.
    pub fn new(
        command: &'a str,
        config: &Config,
        fit: &'a Fit,
        seconds: RunSeconds,
        rank_records: &'a [RankRecord],
    ) -> Self {
        RunRecord {
            version: env!("CARGO_PKG_VERSION"),
            command,
            method: "mnmf",
            config: config.resolved(fit.views.len()),
            network: NetworkRecord { nodes: fit.embedding.rows(), views: &fit.views, overlap: &[] },
            stages: &fit.stages,
            warnings: &fit.warnings,
            seconds,
            threads: fit.threads,
            ranks: fit.ranks,
            peak_memory_bytes: manyview_base::memory::peak_resident_bytes(),
            rank_records,
            memory: RunMemory::default(),
        }
    }

    /// The same record with what was found out about memory on the way.
    pub fn with_memory(self, memory: RunMemory) -> Self {
        RunRecord { memory, ..self }
    }

    /// The same record with how far each two views agree.
    pub fn with_overlap(mut self, overlap: &'a [Overlap]) -> Self {
        self.network.overlap = overlap;
        self
    }

    /// Writes it as JSON.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *writer, self)?;
        writeln!(writer)
    }
}

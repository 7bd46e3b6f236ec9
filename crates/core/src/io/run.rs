//! `run.json`: what a number can be traced back to.

use std::io::{self, Write};

use serde::Serialize;

use crate::config::Config;
use crate::stages::{Fit, StageRecord, ViewRecord};

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
    pub factorise: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
struct NetworkRecord<'a> {
    nodes: usize,
    views: &'a [ViewRecord],
}

/// Wall time of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RunSeconds {
    /// Reading the network.
    pub read: f64,
    /// Proximity matrices.
    pub proximity: f64,
    /// All stages.
    pub factorise: f64,
    /// Writing the result.
    pub write: f64,
    /// From start to end.
    pub total: f64,
}

impl<'a> RunRecord<'a> {
    /// The record of a fit that `command` started with these settings.
    pub fn new(command: &'a str, config: &Config, fit: &'a Fit, seconds: RunSeconds) -> Self {
        RunRecord {
            version: env!("CARGO_PKG_VERSION"),
            command,
            method: "mnmf",
            config: config.resolved(fit.views.len()),
            network: NetworkRecord { nodes: fit.embedding.rows(), views: &fit.views },
            stages: &fit.stages,
            warnings: &fit.warnings,
            seconds,
            threads: fit.threads,
            ranks: fit.ranks,
            peak_memory_bytes: crate::memory::peak_resident_bytes(),
            memory: RunMemory::default(),
        }
    }

    /// The same record with what was found out about memory on the way.
    pub fn with_memory(self, memory: RunMemory) -> Self {
        RunRecord { memory, ..self }
    }

    /// Writes it as JSON.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *writer, self)?;
        writeln!(writer)
    }
}

//! Evaluations as files: JSON for scripts, and what was said of every node.

use std::io::{self, Write};

use serde::Serialize;

use super::{Classification, Clustering, Labels};
use manyview_data::network::Nodes;

/// An evaluation with where it came from, as JSON.
#[derive(Debug, Serialize)]
pub struct EvaluationRecord<'a, T> {
    version: &'static str,
    command: &'a str,
    task: &'a str,
    #[serde(flatten)]
    result: &'a T,
    threads: usize,
    seconds: f64,
}

impl<'a, T: Serialize> EvaluationRecord<'a, T> {
    /// What `command` found for a task (`classify`, `cluster` or `links`), on so many threads in so many seconds.
    pub fn new(command: &'a str, task: &'a str, result: &'a T, threads: usize, seconds: f64) -> Self {
        EvaluationRecord { version: env!("CARGO_PKG_VERSION"), command, task, result, threads, seconds }
    }

    /// Writes it.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *writer, self)?;
        writeln!(writer)
    }
}

#[derive(Serialize)]
struct PredictionLine<'a> {
    train: f64,
    repeat: usize,
    node: &'a str,
    labels: Vec<&'a str>,
    predicted: Vec<&'a str>,
}

/// Writes what was said of each tested node, one JSON object a line.
///
/// # Errors
/// What the writer reports.
pub fn write_predictions(
    writer: &mut impl Write,
    nodes: &Nodes,
    labels: &Labels,
    found: &Classification,
) -> io::Result<()> {
    let names = |of: &[u32]| of.iter().map(|&label| labels.names()[label as usize].as_str()).collect();
    for share in &found.shares {
        for run in &share.runs {
            for prediction in &run.predictions {
                let row = prediction.row as usize;
                let line = PredictionLine {
                    train: share.train,
                    repeat: run.repeat,
                    node: nodes.id(row),
                    labels: names(labels.of(row)),
                    predicted: names(&prediction.labels),
                };
                serde_json::to_writer(&mut *writer, &line)?;
                writeln!(writer)?;
            }
        }
    }
    Ok(())
}

/// Writes the cluster of each node, tab-separated: the node, its label, and its cluster in each repeat.
///
/// # Errors
/// What the writer reports.
pub fn write_assignments(
    writer: &mut impl Write,
    nodes: &Nodes,
    labels: &Labels,
    found: &Clustering,
) -> io::Result<()> {
    for (place, &row) in found.rows.iter().enumerate() {
        write!(writer, "{}\t{}", nodes.id(row as usize), labels.names()[labels.only(row) as usize])?;
        for run in &found.runs {
            write!(writer, "\t{}", run.assignments[place])?;
        }
        writeln!(writer)?;
    }
    Ok(())
}

//! Output of evaluations: JSON records, and the predictions and clusters of the nodes.

use std::io::{self, Write};

use serde::Serialize;

use super::{Classification, Clustering, Labels};
use manyview_data::network::Nodes;

/// An evaluation and how it was made, to be written as JSON.
#[derive(Debug, Serialize)]
pub struct EvaluationRecord<'a, T> {
    /// The command line.
    pub command: &'a str,
    /// `classify`, `cluster` or `links`.
    pub task: &'a str,
    /// The result, whose fields become fields of the record.
    #[serde(flatten)]
    pub result: &'a T,
    /// Number of threads.
    pub threads: usize,
    /// Run time in seconds.
    pub seconds: f64,
}

#[derive(Serialize)]
struct Versioned<'a, T> {
    version: &'static str,
    #[serde(flatten)]
    record: &'a T,
}

impl<T: Serialize> EvaluationRecord<'_, T> {
    /// Writes the record and the version of manyview.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        let record = Versioned { version: env!("CARGO_PKG_VERSION"), record: self };
        serde_json::to_writer_pretty(&mut *writer, &record)?;
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

/// Writes the prediction for each test node, one JSON object per line.
///
/// # Errors
/// If writing fails.
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

/// Writes the cluster of each node as a label file: tab-separated, with quotes around ids that need them.
///
/// # Errors
/// If writing fails.
pub fn write_clusters(writer: &mut impl Write, nodes: &Nodes, clusters: &[u32]) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(b'\t').from_writer(writer);
    for (id, cluster) in nodes.iter().zip(clusters) {
        table.write_record([id, &cluster.to_string()])?;
    }
    table.flush()
}

/// Writes the clusters of each node as tab-separated text, with quotes around ids that need
/// them: the node, its label, and its cluster in each repeat.
///
/// # Errors
/// If writing fails.
pub fn write_assignments(
    writer: &mut impl Write,
    nodes: &Nodes,
    labels: &Labels,
    found: &Clustering,
) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(b'\t').from_writer(writer);
    for (place, &row) in found.rows.iter().enumerate() {
        table.write_field(nodes.id(row as usize))?;
        table.write_field(&labels.names()[labels.only(row) as usize])?;
        for run in &found.runs {
            table.write_field(run.assignments[place].to_string())?;
        }
        table.write_record(None::<&[u8]>)?;
    }
    table.flush()
}

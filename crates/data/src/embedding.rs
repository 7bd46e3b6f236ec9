//! The result: one vector per node, and which of its columns came from which stage and view.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::network::Nodes;

/// One vector per node.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    nodes: Nodes,
    dim: usize,
    values: Vec<f32>,
    parts: Vec<Part>,
}

/// Columns that one factorization gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The stage, from 1.
    pub stage: usize,
    /// What the stage looked for.
    pub kind: Kind,
    /// The view, in a unique stage.
    pub view: Option<String>,
    /// The columns.
    pub columns: Range<usize>,
}

/// What a stage looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What the views have in common.
    Consensus,
    /// What each view says alone.
    Unique,
}

impl Kind {
    /// The word for it in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Consensus => "consensus",
            Kind::Unique => "unique",
        }
    }
}

impl Embedding {
    /// Vectors that were computed before, such as those of a file.
    pub fn new(nodes: Nodes, dim: usize, values: Vec<f32>, parts: Vec<Part>) -> Self {
        assert_eq!(
            values.len(),
            nodes.len() * dim,
            "a row of {dim} numbers for each of {} nodes",
            nodes.len()
        );
        assert!(parts.iter().all(|part| part.columns.end <= dim), "parts are within the {dim} columns");
        Embedding { nodes, dim, values, parts }
    }

    /// Vectors of zeros, to be filled part by part.
    pub fn zeros(nodes: Nodes, dim: usize) -> Self {
        let values = vec![0.0; nodes.len() * dim];
        Embedding { nodes, dim, values, parts: Vec::new() }
    }

    /// Writes a part: `values` has a row of its columns for each node.
    pub fn set(&mut self, part: Part, rows: impl Iterator<Item = impl Iterator<Item = f32>>) {
        for (row, new) in self.values.chunks_exact_mut(self.dim).zip(rows) {
            for (value, new) in row[part.columns.clone()].iter_mut().zip(new) {
                *value = new;
            }
        }
        self.parts.push(part);
    }

    /// The nodes, in row order.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Number of nodes.
    pub fn rows(&self) -> usize {
        self.nodes.len()
    }

    /// Length of each vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The vector of the node in a row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.dim..][..self.dim]
    }

    /// All vectors, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Which columns came from where; columns of stages that found nothing left to explain are in no part.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

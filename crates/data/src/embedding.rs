//! Embeddings: one vector per node, and the stage and view of each column.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::network::Nodes;
use manyview_base::error::{Error, Result};

/// One vector per node.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    nodes: Nodes,
    dim: usize,
    values: Vec<f32>,
    parts: Vec<Part>,
}

/// Columns that one factorization computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The number of the stage, from 1.
    pub stage: usize,
    /// The kind of the stage.
    pub kind: Kind,
    /// The view of a unique stage.
    pub view: Option<String>,
    /// The columns.
    pub columns: Range<usize>,
}

/// The kind of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A stage for what the views have in common.
    Consensus,
    /// A stage for what only single views contain.
    Unique,
    /// The part of a unique stage for what only paths through several views contain.
    Joint,
}

impl Kind {
    /// Returns the kind of the stage: what only paths through several views contain is a part of unique stages.
    pub fn of_stage(self) -> Self {
        if self == Kind::Joint { Kind::Unique } else { self }
    }

    /// Returns the name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Consensus => "consensus",
            Kind::Unique => "unique",
            Kind::Joint => "joint",
        }
    }
}

impl Embedding {
    /// Creates an embedding from existing vectors, such as those of a file.
    ///
    /// # Panics
    /// When `values` does not have `nodes.len() x dim` numbers, or a part is outside the columns.
    pub fn new(nodes: Nodes, dim: usize, values: Vec<f32>, parts: Vec<Part>) -> Self {
        assert_eq!(
            values.len(),
            nodes.len() * dim,
            "a row of {dim} numbers for each of {} nodes",
            nodes.len()
        );
        assert!(parts.iter().all(|part| part.columns.end <= dim), "parts must be within the {dim} columns");
        Embedding { nodes, dim, values, parts }
    }

    /// Creates an embedding from vectors in row order, with one part for all columns.
    ///
    /// ```
    /// use manyview_data::Embedding;
    /// use manyview_data::network::Nodes;
    ///
    /// let nodes = Nodes::new(["ann", "bob"])?;
    /// let embedding = Embedding::from_vectors(nodes, 3, vec![1.0, 0.0, 0.5, 0.0, 2.0, 0.5])?;
    /// assert_eq!(embedding.row(1), [0.0, 2.0, 0.5]);
    /// # Ok::<(), manyview_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Network`] when there are not `nodes.len() x dim` numbers, or a number is not finite.
    pub fn from_vectors(nodes: Nodes, dim: usize, values: Vec<f32>) -> Result<Self> {
        if nodes.len().checked_mul(dim) != Some(values.len()) {
            let (rows, found) = (nodes.len(), values.len());
            return Err(Error::network(format!(
                "got {found} numbers for {rows} nodes, expected {dim} per node"
            )));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::network(format!(
                "column {} of node {:?} is {}; vectors must be finite",
                at % dim,
                nodes.id(at / dim),
                values[at]
            )));
        }
        let part = Part { stage: 1, kind: Kind::Consensus, view: None, columns: 0..dim };
        Ok(Embedding::new(nodes, dim, values, vec![part]))
    }

    /// Returns the vectors of some of the nodes, in the order of `rows`.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn select(&self, rows: &[u32]) -> Embedding {
        let nodes = rows.iter().map(|&row| self.nodes.id(row as usize)).collect();
        let values = rows.iter().flat_map(|&row| self.row(row as usize)).copied().collect();
        Embedding { nodes, dim: self.dim, values, parts: self.parts.clone() }
    }

    /// Creates an embedding of zeros, to be filled part by part.
    pub fn zeros(nodes: Nodes, dim: usize) -> Self {
        let values = manyview_base::memory::zeros(nodes.len() * dim);
        Embedding { nodes, dim, values, parts: Vec::new() }
    }

    /// Returns the vectors in row order, and the parts.
    pub fn into_vectors(self) -> (Vec<f32>, Vec<Part>) {
        (self.values, self.parts)
    }

    /// Sets the columns of a part. `rows` has the values of these columns for each node.
    pub fn set(&mut self, part: Part, rows: impl Iterator<Item = impl Iterator<Item = f32>>) {
        for (row, new) in self.values.chunks_exact_mut(self.dim).zip(rows) {
            for (value, new) in row[part.columns.clone()].iter_mut().zip(new) {
                *value = new;
            }
        }
        self.parts.push(part);
    }

    /// Returns the nodes in row order.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Returns the number of nodes.
    pub fn rows(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the length of the vectors.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns the vector of the node in a row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.dim..][..self.dim]
    }

    /// Returns all vectors in row order.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the parts. Columns of stages that found nothing left to explain are in no part.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_do_not_fit_or_are_not_finite_are_refused() {
        let from = |values: &[f32]| {
            let nodes = Nodes::from_iter(["ann", "bob"]);
            Embedding::from_vectors(nodes, 2, values.to_vec()).map_err(|error| error.to_string())
        };
        let embedding = from(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((embedding.row(1), embedding.parts()[0].columns.clone()), (&[3.0, 4.0][..], 0..2));
        assert_eq!(from(&[1.0; 3]).unwrap_err(), "got 3 numbers for 2 nodes, expected 2 per node");
        let text = from(&[1.0, 2.0, 3.0, f32::NAN]).unwrap_err();
        assert_eq!(text, "column 1 of node \"bob\" is NaN; vectors must be finite");
        assert!(Embedding::from_vectors(Nodes::default(), 0, Vec::new()).is_ok());
    }
}

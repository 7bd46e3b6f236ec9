//! The network: one set of nodes, and for each view (kind of edge) a weighted adjacency matrix over it.
//!
//! Invariant: all adjacency matrices are `nodes x nodes`, their weights are finite and above zero, their
//! diagonals are empty, and the matrix of an undirected view is symmetric.

mod adjacency;
mod builder;
mod interner;
mod near;

use manyview_base::linalg::Csr;
use manyview_base::random::{mix_words, text_key};

pub use builder::NetworkBuilder;
pub use interner::NodeError;
pub use interner::{Found, Interner, lossy};

/// Node ids in row order; any text without a line break.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    // One string for all ids: a million small allocations would cost more than the ids themselves.
    text: String,
    ends: Vec<usize>,
}

impl Nodes {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of the node in a row.
    pub fn id(&self, node: usize) -> &str {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.text[start..self.ends[node]]
    }

    /// The id as bytes: without the check that a `str` begins and ends between characters.
    fn bytes(&self, node: usize) -> &[u8] {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.text.as_bytes()[start..self.ends[node]]
    }

    /// All ids in row order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|node| self.id(node))
    }

    fn text_at(&self, start: usize, length: usize) -> &[u8] {
        &self.text.as_bytes()[start..start + length]
    }

    fn text_length(&self) -> usize {
        self.text.len()
    }

    /// Appends an id; the caller makes sure that it is new.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }
}

/// One kind of edge.
#[derive(Clone, Debug)]
pub struct View {
    /// Its name, unique in the network.
    pub name: String,
    /// Whether directions were kept.
    pub directed: bool,
    /// Weights; symmetric unless `directed`.
    pub adjacency: Csr<f64>,
    /// What was met while the edges were collected.
    pub counts: EdgeCounts,
}

/// What became of the edges that were given for a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    /// Edges as given.
    pub given: usize,
    /// Dropped because their weight was zero.
    pub zero_weights: usize,
    /// Dropped because both ends were the same node.
    pub self_loops: usize,
    /// Given again for a pair that was there already, and merged into it.
    pub duplicates: usize,
}

impl View {
    /// Number of distinct edges (of arcs, when directed).
    pub fn edges(&self) -> usize {
        if self.directed { self.adjacency.entries() } else { self.adjacency.entries() / 2 }
    }

    /// A number that any other edge or weight would change.
    pub fn fingerprint(&self) -> u64 {
        let indptr = self.adjacency.indptr().iter().map(|&start| start as u64);
        let indices = self.adjacency.indices().iter().map(|&col| u64::from(col));
        let values = self.adjacency.values().iter().map(|value| value.to_bits());
        mix_words(indptr.chain(indices).chain(values))
    }

    /// Number of nodes without any edge in this view.
    pub fn isolated(&self) -> usize {
        let mut touched = vec![false; self.adjacency.rows()];
        for row in 0..self.adjacency.rows() {
            let (cols, _) = self.adjacency.row(row);
            touched[row] |= !cols.is_empty();
            for &col in cols {
                touched[col as usize] = true;
            }
        }
        touched.iter().filter(|&&touched| !touched).count()
    }
}

/// What to do with several edges between the same two nodes of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// Add their weights up.
    #[default]
    Sum,
    /// Keep the largest weight.
    Max,
}

/// Several kinds of edges over one set of nodes.
#[derive(Clone, Debug)]
pub struct Network {
    nodes: Nodes,
    views: Vec<View>,
}

impl Network {
    /// A network of views whose matrices have a row for each node.
    pub fn new(nodes: Nodes, views: Vec<View>) -> Self {
        for view in &views {
            assert_eq!(
                (view.adjacency.rows(), view.adjacency.cols()),
                (nodes.len(), nodes.len()),
                "adjacency is nodes x nodes"
            );
        }
        Network { nodes, views }
    }

    /// The nodes, in row order.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The views, in the order given.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The same nodes with one of the views.
    pub fn only(&self, view: usize) -> Network {
        Network { nodes: self.nodes.clone(), views: vec![self.views[view].clone()] }
    }

    /// A number that any other node, name of a view, direction, edge or weight would change.
    pub fn fingerprint(&self) -> u64 {
        let nodes = mix_words(self.nodes.iter().map(text_key));
        let of_view = |view: &View| [text_key(&view.name), u64::from(view.directed), view.fingerprint()];
        mix_words(std::iter::once(nodes).chain(self.views.iter().flat_map(of_view)))
    }
}

//! Networks: one set of nodes, and a weighted adjacency matrix per view (kind of edge).
//!
//! Invariant: all adjacency matrices are `nodes x nodes`, their weights are finite and above zero, their diagonals
//! are empty, and the matrix of an undirected view is symmetric.

mod adjacency;
mod builder;
mod edges;
mod interner;
mod lookup;
mod pending;

use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_base::named;
use manyview_base::random::{mix_words, text_key};

pub use builder::NetworkBuilder;
pub use interner::NodeError;
pub use interner::{Found, Interner, check_id, lossy};

/// Node ids in row order: any text without line breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    // One string for all ids: a million small allocations would cost more than the ids themselves.
    text: String,
    ends: Vec<usize>,
}

impl Nodes {
    /// Creates nodes from ids in row order.
    ///
    /// ```
    /// use manyview_data::network::Nodes;
    ///
    /// let nodes = Nodes::new(["ann", "bob"])?;
    /// assert_eq!((nodes.len(), nodes.id(1)), (2, "bob"));
    /// assert!(Nodes::new(["ann", "ann"]).is_err());
    /// # Ok::<(), manyview_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// When an id is empty, contains a line break, or is given twice.
    pub fn new(ids: impl IntoIterator<Item: AsRef<str>>) -> Result<Self> {
        let mut interner = Interner::default();
        ids.into_iter().try_for_each(|id| interner.intern_new(id.as_ref().as_bytes()))?;
        Ok(interner.into_nodes())
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the id of the node in a row.
    pub fn id(&self, node: usize) -> &str {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.text[start..self.ends[node]]
    }

    /// Returns the id as bytes, without the check for character boundaries.
    fn bytes(&self, node: usize) -> &[u8] {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.text.as_bytes()[start..self.ends[node]]
    }

    /// Returns all ids in row order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|node| self.id(node))
    }

    fn text_at(&self, start: usize, length: usize) -> &[u8] {
        &self.text.as_bytes()[start..start + length]
    }

    fn text_length(&self) -> usize {
        self.text.len()
    }

    /// Appends an id without checks. The caller ensures that it is new and valid; [`Nodes::new`] checks.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }
}

/// Collects ids without checks. The caller ensures that they are distinct and valid; [`Nodes::new`] checks.
impl<S: AsRef<str>> FromIterator<S> for Nodes {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        let mut nodes = Nodes::default();
        ids.into_iter().for_each(|id| nodes.push(id.as_ref()));
        nodes
    }
}

/// A kind of edge.
#[derive(Clone, Debug)]
pub struct View {
    /// The name, unique in the network.
    pub name: String,
    /// Whether edges have directions.
    pub directed: bool,
    /// The weights, symmetric unless `directed`.
    pub adjacency: Csr<f64>,
    /// What became of the given edges.
    pub counts: EdgeCounts,
}

/// What became of the edges given for a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    /// The number of given edges.
    pub given: usize,
    /// The number of edges dropped because their weight was zero.
    pub zero_weights: usize,
    /// The number of edges dropped because both ends were the same node.
    pub self_loops: usize,
    /// The number of edges merged into an earlier edge of the same pair.
    pub duplicates: usize,
}

impl View {
    /// Returns the number of distinct edges (arcs if directed).
    pub fn edges(&self) -> usize {
        if self.directed { self.adjacency.entries() } else { self.adjacency.entries() / 2 }
    }

    /// Returns a hash of the edges and weights.
    pub fn fingerprint(&self) -> u64 {
        let indptr = self.adjacency.indptr().iter().map(|&start| start as u64);
        let indices = self.adjacency.indices().iter().map(|&col| u64::from(col));
        let values = self.adjacency.values().iter().map(|value| value.to_bits());
        mix_words(indptr.chain(indices).chain(values))
    }

    /// Returns the number of nodes without edges in this view.
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

named! {
    /// How to merge several edges between the same two nodes of a view.
    pub enum Duplicates {
        Sum = "sum", "sum of the weights";
        Max = "max", "largest weight";
    }
}

impl Duplicates {
    /// Returns the weight of two edges.
    pub fn merged(self, first: f64, second: f64) -> f64 {
        match self {
            Duplicates::Sum => first + second,
            Duplicates::Max => first.max(second),
        }
    }
}

/// A network with several kinds of edges over one set of nodes.
#[derive(Clone, Debug)]
pub struct Network {
    nodes: Nodes,
    views: Vec<View>,
}

impl Network {
    /// Creates a network from views whose matrices have one row per node.
    ///
    /// # Panics
    /// When the shape of a matrix is not nodes x nodes.
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

    /// Returns the nodes in row order.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Returns the views in the order given.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// Returns the index of the view with this name.
    ///
    /// # Errors
    /// [`Error::Config`] with the names of all views, when there is no such view.
    pub fn view_index(&self, name: &str) -> Result<usize> {
        self.views.iter().position(|view| view.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.views.iter().map(|view| view.name.as_str()).collect();
            Error::config(format!("unknown view {name:?}; the views are {}", names.join(", ")))
        })
    }

    /// Returns the view with this name.
    ///
    /// # Errors
    /// Those of [`Network::view_index`].
    pub fn view_named(&self, name: &str) -> Result<&View> {
        Ok(&self.views[self.view_index(name)?])
    }

    /// Returns the network with only one of its views.
    pub fn only(&self, view: usize) -> Network {
        Network { nodes: self.nodes.clone(), views: vec![self.views[view].clone()] }
    }

    /// Returns the network without one of its views.
    pub fn without(&self, view: usize) -> Network {
        let mut views = self.views.clone();
        views.remove(view);
        Network { nodes: self.nodes.clone(), views }
    }

    /// Returns a hash of the nodes, and of the name, directedness, edges and weights of each view.
    pub fn fingerprint(&self) -> u64 {
        let nodes = mix_words(self.nodes.iter().map(text_key));
        let of_view = |view: &View| [text_key(&view.name), u64::from(view.directed), view.fingerprint()];
        mix_words(std::iter::once(nodes).chain(self.views.iter().flat_map(of_view)))
    }
}

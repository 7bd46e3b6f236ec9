//! Builds a [`Network`] from edges.
//!
//! Invariant: an edge is kept only if its weight is finite and above zero and its ends are two different known nodes,
//! so the network needs no further check.

use super::edges::Edge;
use super::interner::{Found, Interner, NodeError, lossy};
use super::pending::Pending;
use super::{Duplicates, Network, Nodes};
use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;

/// Collects nodes, views and edges, and builds a [`Network`].
///
/// Nodes are numbered in the order of their first occurrence. A collected edge takes 16 bytes; repeated edges are merged when
/// they are most of a million or more. While a view is built, its edges and its matrix (24 bytes per undirected edge) exist at
/// the same time.
///
/// ```
/// use manyview_data::network::{Duplicates, NetworkBuilder};
///
/// let mut builder = NetworkBuilder::new();
/// let calls = builder.add_view("calls", false, Duplicates::Sum)?;
/// let (ann, bob) = (builder.node(b"ann")?, builder.node(b"bob")?);
/// builder.add_edge(calls, ann, bob, 1.0)?;
/// builder.add_edge(calls, bob, ann, 0.5)?;
/// let network = builder.build()?;
/// assert_eq!(network.nodes().id(0), "ann");
/// assert_eq!(network.views()[0].adjacency.row(0), (&[1][..], &[1.5][..]));
/// # Ok::<(), manyview_base::error::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NetworkBuilder {
    interner: Interner,
    fixed: bool,
    views: Vec<Pending>,
}

impl NetworkBuilder {
    /// Creates a builder without nodes and views.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a builder with a fixed set of nodes in a fixed order. Other ids will be refused.
    ///
    /// # Errors
    /// When an id is not valid or is given twice.
    pub fn with_nodes<I>(ids: I) -> Result<Self>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let mut builder = Self::new();
        ids.into_iter().try_for_each(|id| builder.interner.intern_new(id.as_ref()))?;
        builder.fix_nodes();
        Ok(builder)
    }

    /// Fixes the set of nodes. Unknown ids will be refused from now on.
    pub fn fix_nodes(&mut self) {
        self.fixed = true;
    }

    /// Returns whether the set of nodes is fixed.
    pub fn has_fixed_nodes(&self) -> bool {
        self.fixed
    }

    /// Returns the nodes so far.
    pub fn nodes(&self) -> &Nodes {
        self.interner.nodes()
    }

    /// Returns the number of the node with this id, and adds the node if it is new and the set is not fixed.
    ///
    /// # Errors
    /// When the id is empty, is not UTF-8, contains a line break, or is not in the fixed set.
    pub fn node(&mut self, id: &[u8]) -> Result<u32, NodeError> {
        if self.fixed {
            return self.interner.find(id).ok_or_else(|| match id {
                b"" => NodeError::Empty,
                _ => NodeError::Unknown(lossy(id)),
            });
        }
        self.interner.intern(id)
    }

    /// Adds a view and returns its number.
    ///
    /// # Errors
    /// When the name is empty, contains a line break, or is already used.
    pub fn add_view(&mut self, name: &str, directed: bool, duplicates: Duplicates) -> Result<usize> {
        if name.trim().is_empty() {
            return Err(Error::network("the name of a view is empty"));
        }
        if name.contains(['\n', '\r']) {
            return Err(Error::network(format!("view name {name:?} contains a line break")));
        }
        if self.views.iter().any(|view| view.name == name) {
            return Err(Error::network(format!("two views are called {name:?}; rename one")));
        }
        self.views.push(Pending::new(name, directed, duplicates));
        Ok(self.views.len() - 1)
    }

    /// Adds an edge (an arc if the view is directed) between two nodes, given by number.
    ///
    /// Self-loops and weights of zero are counted and dropped.
    ///
    /// # Errors
    /// When the weight is negative or not finite, or the number of the view or of a node is out of range.
    #[inline]
    pub fn add_edge(&mut self, view: usize, source: u32, target: u32, weight: f64) -> Result<()> {
        let nodes = self.interner.len();
        let known = source.max(target) < nodes as u32;
        // NaN is in no range, so it fails here too.
        let usable = (0.0..f64::INFINITY).contains(&weight);
        let Some(pending) = self.views.get_mut(view).filter(|_| known && usable) else {
            return Err(self.refusal(view, source, target, weight));
        };
        pending.counts.given += 1;
        if source == target {
            pending.counts.self_loops += 1;
        } else if weight == 0.0 {
            pending.counts.zero_weights += 1;
        } else {
            pending.push(Edge { source, target, weight });
        }
        Ok(())
    }

    #[cold]
    fn refusal(&self, view: usize, source: u32, target: u32, weight: f64) -> Error {
        let nodes = self.interner.len();
        Error::network(match self.views.get(view) {
            None => format!("unknown view number {view}; {} were added", self.views.len()),
            Some(_) if source.max(target) as usize >= nodes => {
                format!("unknown node number {}; {nodes} were added", source.max(target))
            }
            Some(view) => format!(
                "view {:?}: weight {weight} of the edge {} - {} is not a finite number of at least 0",
                view.name,
                self.nodes().id(source as usize),
                self.nodes().id(target as usize)
            ),
        })
    }

    /// Returns the number of the node with this id if it is known.
    pub fn find_node(&self, id: &[u8]) -> Option<u32> {
        self.interner.find(id)
    }

    /// Looks up the numbers of known nodes; see [`Interner::find_all`].
    pub fn find_nodes<'a>(&self, ids: impl Iterator<Item = &'a [u8]> + Clone, found: &mut Vec<Found>) {
        self.interner.find_all(ids, found);
    }

    /// Returns the number of edges given so far.
    pub fn edges(&self) -> usize {
        self.views.iter().map(|view| view.counts.given).sum()
    }

    /// Returns the bytes that edges and ids take.
    pub fn bytes(&self) -> u64 {
        self.interner.bytes() + self.views.iter().map(Pending::bytes).sum::<u64>()
    }

    /// Returns the bytes that `more` edges of one view may take in addition.
    pub fn growth(&self, more: usize) -> u64 {
        self.views.iter().map(|view| view.growth(more)).max().unwrap_or(0)
    }

    /// Returns the bytes that [`NetworkBuilder::build`] takes in addition. The edges of a view are freed when its matrix is
    /// filled.
    pub fn build_growth(&self) -> u64 {
        let matrix = |view: &Pending| view.matrix_bytes().saturating_sub(view.bytes());
        let edges = self.views.iter().map(Pending::bytes).max().unwrap_or(0);
        self.views.iter().map(matrix).sum::<u64>() + edges
    }

    /// Returns the names of the views so far.
    pub fn view_names(&self) -> impl Iterator<Item = &str> {
        self.views.iter().map(|view| view.name.as_str())
    }

    /// Builds the network on all cores; see [`NetworkBuilder::build_on`].
    ///
    /// # Errors
    /// Those of [`NetworkBuilder::build_on`].
    pub fn build(self) -> Result<Network> {
        self.build_on(&Pool::new(None)?)
    }

    /// Merges the edges of each view into its adjacency matrix, on the threads of the pool.
    ///
    /// The result does not depend on the number of threads: weights of one pair are added in the order given.
    ///
    /// # Errors
    /// When there is no view, a view has no edge, there are fewer than two nodes, merged weights overflow, or the ratio of
    /// two weights of a view is above 1e300.
    pub fn build_on(self, pool: &Pool) -> Result<Network> {
        let nodes = self.interner.into_nodes();
        if self.views.is_empty() {
            return Err(Error::network("the network has no views; give at least one edge list"));
        }
        if nodes.len() < 2 {
            let count = nodes.len();
            let noun = if count == 1 { "node" } else { "nodes" };
            return Err(Error::network(format!(
                "the network has {count} {noun}, but an edge needs two; check the source and target columns"
            )));
        }
        if let Some(empty) = self.views.iter().find(|view| view.is_empty()) {
            return Err(empty.without_edges());
        }
        // One view after the other, so that only one exists both as edges and as a matrix.
        let build = |view: Pending| pool.run(|| view.build(nodes.len()));
        let views = self.views.into_iter().map(build).collect::<Result<_>>()?;
        Ok(Network::new(nodes, views))
    }
}

impl Network {
    /// Creates a network of undirected views from edges. Nodes are numbered in the order of their first occurrence.
    ///
    /// ```
    /// use manyview_data::Network;
    ///
    /// let network = Network::from_edges(&[
    ///     ("calls", &[("ann", "bob", 1.0), ("bob", "eve", 2.0)]),
    ///     ("mails", &[("ann", "eve", 1.0)]),
    /// ])?;
    /// assert_eq!((network.nodes().len(), network.views().len()), (3, 2));
    /// # Ok::<(), manyview_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`NetworkBuilder`].
    #[allow(clippy::type_complexity)] // plain tuples are what a caller writes down
    pub fn from_edges(views: &[(&str, &[(&str, &str, f64)])]) -> Result<Network> {
        let mut builder = NetworkBuilder::new();
        for (name, edges) in views {
            let view = builder.add_view(name, false, Duplicates::Sum)?;
            for (source, target, weight) in *edges {
                let (source, target) = (builder.node(source.as_bytes())?, builder.node(target.as_bytes())?);
                builder.add_edge(view, source, target, *weight)?;
            }
        }
        builder.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::EdgeCounts;

    fn message(result: Result<Network>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_pair_in_both_orders_is_one_edge() {
        let network = Network::from_edges(&[("calls", &[("a", "b", 1.0), ("b", "a", 0.5)])]).unwrap();
        let view = &network.views()[0];
        assert_eq!((view.edges(), view.counts.duplicates, view.counts.given), (1, 1, 2));
        assert_eq!(view.adjacency.values(), [1.5, 1.5]);
    }

    #[test]
    fn directions_are_kept_when_asked_for() {
        let mut builder = NetworkBuilder::with_nodes(["a", "b", "c"]).unwrap();
        let view = builder.add_view("mails", true, Duplicates::Max).unwrap();
        for (source, target, weight) in [(0, 1, 1.0), (0, 1, 3.0), (0, 1, 2.0), (1, 0, 4.0)] {
            builder.add_edge(view, source, target, weight).unwrap();
        }
        let network = builder.build().unwrap();
        let view = &network.views()[0];
        assert_eq!(view.adjacency.row(0), (&[1][..], &[3.0][..]));
        assert_eq!(view.adjacency.row(1), (&[0][..], &[4.0][..]));
        assert_eq!((view.edges(), view.counts.duplicates, view.isolated()), (2, 2, 1));
    }

    #[test]
    fn dropped_edges_leave_their_nodes() {
        let edges: &[_] = &[("a", "a", 1.0), ("b", "c", 0.0), ("a", "d", 1.0), ("d", "d", 0.0)];
        let network = Network::from_edges(&[("calls", edges)]).unwrap();
        assert_eq!(network.nodes().iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        let counts = EdgeCounts { given: 4, zero_weights: 1, self_loops: 2, duplicates: 0 };
        assert_eq!(network.views()[0].counts, counts);
    }

    #[test]
    fn networks_from_which_nothing_follows_are_refused() {
        assert!(message(NetworkBuilder::new().build()).contains("no views"));
        assert!(message(Network::from_edges(&[("calls", &[("a", "a", 1.0)])])).contains("has 1 node,"));
        let dropped: &[_] = &[("a", "a", 1.0), ("a", "b", 0.0), ("b", "b", 1.0)];
        let text = message(Network::from_edges(&[("calls", dropped)]));
        assert!(
            text.contains(
                "\"calls\" has no edges: all 3 were dropped (weight zero: 1, self-loops: 2); remove it"
            ),
            "{text}"
        );
        let text = message(Network::from_edges(&[("calls", &[("a", "b", 1.0)]), ("mails", &[])]));
        assert_eq!(text, "view \"mails\" has no edges; remove it");
        let huge: &[_] = &[("a", "b", f64::MAX), ("a", "b", f64::MAX)];
        assert!(message(Network::from_edges(&[("calls", huge)])).contains("infinity"));
    }

    /// Defect 2 of the fault campaign.
    #[test]
    fn weights_whose_ratio_is_out_of_range_are_refused() {
        let with = |small, large| Network::from_edges(&[("calls", &[("a", "b", small), ("b", "c", large)])]);
        for (small, large) in [(1e-150, 1e150), (3e307, 3e307), (5e-324, 5e-324), (1e-290, 1e10)] {
            assert!(with(small, large).is_ok(), "{small} {large}");
        }
        for (small, large) in [(1e-151, 1e150), (5e-324, 1e300)] {
            let text = message(with(small, large));
            let numbers = format!("smallest weight is {small:e} and its largest {large:e}");
            assert!(text.contains(&numbers) && text.contains("at most 1e300 times"), "{text}");
        }
    }

    #[test]
    fn bad_weights_and_numbers_are_refused() {
        let mut builder = NetworkBuilder::with_nodes(["a", "b"]).unwrap();
        let view = builder.add_view("calls", false, Duplicates::Sum).unwrap();
        for weight in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let text = builder.add_edge(view, 0, 1, weight).unwrap_err().to_string();
            assert!(text.contains(&format!("weight {weight} of the edge a - b")), "{text}");
        }
        assert!(builder.add_edge(view, 0, 2, 1.0).unwrap_err().to_string().contains("unknown node number 2"));
        assert!(builder.add_edge(9, 0, 1, 1.0).unwrap_err().to_string().contains("unknown view number 9"));
    }

    #[test]
    fn names_of_views_are_unique_and_not_empty() {
        let mut builder = NetworkBuilder::new();
        builder.add_view("calls", false, Duplicates::Sum).unwrap();
        assert!(builder.add_view("calls", true, Duplicates::Sum).is_err());
        assert!(builder.add_view(" ", false, Duplicates::Sum).is_err());
        assert!(builder.add_view("a\nb", false, Duplicates::Sum).is_err());
    }

    #[test]
    fn fixed_nodes_admit_no_others() {
        let mut builder = NetworkBuilder::with_nodes(["b", "a"]).unwrap();
        assert_eq!(builder.node(b"a"), Ok(1));
        assert_eq!(builder.node(b"c"), Err(NodeError::Unknown("c".into())));
        assert_eq!(builder.node(b""), Err(NodeError::Empty));
        let text = NetworkBuilder::with_nodes(["a", "b", "a"]).unwrap_err().to_string();
        assert_eq!(text, "node \"a\" is given twice");
    }
}

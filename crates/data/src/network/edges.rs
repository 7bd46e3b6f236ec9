//! The edges of a view in the order given.
//!
//! Invariant: there is one weight per edge, so both lists grow together and their growth is known.

/// An edge as given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) weight: f64,
}

/// A list of edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    ends: Vec<[u32; 2]>,
    weights: Vec<f64>,
}

impl Edges {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of edges for which there is room.
    pub(super) fn capacity(&self) -> usize {
        self.ends.capacity()
    }

    /// The bytes that the list takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.ends.capacity() * size_of::<[u32; 2]>() + self.weights.capacity() * size_of::<f64>()) as u64
    }

    /// Source and target of each edge.
    pub(super) fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// The weight of each edge.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    #[inline]
    pub(super) fn push(&mut self, Edge { source, target, weight }: Edge) {
        self.ends.push([source, target]);
        self.weights.push(weight);
    }

    pub(super) fn get(&self, at: usize) -> Edge {
        let [source, target] = self.ends[at];
        Edge { source, target, weight: self.weights[at] }
    }

    /// Replaces an edge.
    pub(super) fn set(&mut self, at: usize, Edge { source, target, weight }: Edge) {
        self.ends[at] = [source, target];
        self.weights[at] = weight;
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.weights.truncate(len);
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Edge> {
        (0..self.len()).map(|at| self.get(at))
    }
}

impl FromIterator<Edge> for Edges {
    fn from_iter<I: IntoIterator<Item = Edge>>(edges: I) -> Self {
        let mut list = Edges::default();
        edges.into_iter().for_each(|edge| list.push(edge));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(source: u32, weight: f64) -> Edge {
        Edge { source, target: 9, weight }
    }

    #[test]
    fn edges_are_replaced_and_dropped() {
        let mut list: Edges = (0..3).map(|at| edge(at, 1.0)).collect();
        list.set(1, edge(7, 1.0));
        list.set(2, edge(8, 4.0));
        assert_eq!(list.iter().collect::<Vec<_>>(), [edge(0, 1.0), edge(7, 1.0), edge(8, 4.0)]);
        assert_eq!(list.weights(), [1.0, 1.0, 4.0]);
        list.truncate(1);
        list.push(edge(5, 1.0));
        assert_eq!(list.iter().collect::<Vec<_>>(), [edge(0, 1.0), edge(5, 1.0)]);
    }
}

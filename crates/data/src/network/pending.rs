//! The edges of a view while they are collected.
//!
//! A file may repeat its pairs without end, so repeated pairs are merged as soon as they are most of what was collected.
//! How many they are is estimated from a sample whenever the list has doubled, because merging lists without repeated
//! pairs would only cost time.
//!
//! Invariant: merging leaves each pair at its first place with the weights up to there, added in the order given. So the
//! network has the same bits as if all edges had been kept.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use super::adjacency::adjacency;
use super::edges::{Edge, Edges};
use super::{Duplicates, EdgeCounts, View};
use manyview_base::error::{Error, Result};

/// Lists of fewer edges than this (16 MB) are not worth looking at.
const LEAST: usize = 1 << 20;

/// The number of edges in a sample. Its error is 3% of the list.
const SAMPLE: usize = 256;

/// A view whose edges are being collected.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) name: String,
    pub(super) directed: bool,
    duplicates: Duplicates,
    pub(super) counts: EdgeCounts,
    edges: Edges,
    /// The number of edges at which to look for repeated pairs.
    look_at: usize,
}

impl Pending {
    pub(super) fn new(name: &str, directed: bool, duplicates: Duplicates) -> Self {
        let (counts, edges) = (EdgeCounts::default(), Edges::default());
        Pending { name: name.to_owned(), directed, duplicates, counts, edges, look_at: LEAST }
    }

    /// Adds an edge between two different nodes, with a weight above zero.
    #[inline]
    pub(super) fn push(&mut self, edge: Edge) {
        if self.edges.len() == self.look_at {
            self.merge_if_repeated();
        }
        self.edges.push(edge);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The bytes that the edges take.
    pub(super) fn bytes(&self) -> u64 {
        self.edges.bytes()
    }

    /// The bytes that the list takes in addition when it has no room for `more` edges.
    pub(super) fn growth(&self, more: usize) -> u64 {
        if self.edges.len() + more > self.edges.capacity() { self.bytes() } else { 0 }
    }

    /// The bytes of the matrix before its repeated pairs are merged.
    pub(super) fn matrix_bytes(&self) -> u64 {
        let entries = if self.directed { self.edges.len() } else { 2 * self.edges.len() };
        (entries * (size_of::<u32>() + size_of::<f64>())) as u64
    }

    #[cold]
    fn merge_if_repeated(&mut self) {
        if self.distinct_share() < 0.5 {
            self.merge();
        }
        self.look_at = (2 * self.edges.len()).max(LEAST);
    }

    /// Estimates the share of edges that would remain: a pair that occurs m times contributes `1/m` at each place.
    fn distinct_share(&self) -> f64 {
        let step = self.edges.len().div_ceil(SAMPLE).max(1);
        let places = || self.edges.ends().iter().step_by(step).map(|ends| self.pair(ends));
        let mut counts: HashMap<u64, u32, FxBuildHasher> = places().map(|pair| (pair, 0)).collect();
        for ends in self.edges.ends() {
            if let Some(count) = counts.get_mut(&self.pair(ends)) {
                *count += 1;
            }
        }
        places().map(|pair| 1.0 / f64::from(counts[&pair])).sum::<f64>() / places().count().max(1) as f64
    }

    fn merge(&mut self) {
        let mut places: HashMap<u64, usize, FxBuildHasher> = HashMap::default();
        let mut kept = 0;
        for at in 0..self.edges.len() {
            let edge = self.edges.get(at);
            match places.entry(self.pair(&[edge.source, edge.target])) {
                Entry::Occupied(place) => {
                    let merged = self.edges.get(*place.get());
                    let weight = self.duplicates.merged(merged.weight, edge.weight);
                    self.edges.set(*place.get(), Edge { weight, ..merged });
                }
                Entry::Vacant(place) => {
                    place.insert(kept);
                    self.edges.set(kept, edge);
                    kept += 1;
                }
            }
        }
        self.edges.truncate(kept);
    }

    /// What edges have in common that are merged.
    fn pair(&self, &[source, target]: &[u32; 2]) -> u64 {
        let (first, second) =
            if self.directed { (source, target) } else { (source.min(target), source.max(target)) };
        u64::from(first) << 32 | u64::from(second)
    }

    /// The error for a view without edges.
    pub(super) fn without_edges(&self) -> Error {
        let EdgeCounts { given, zero_weights, self_loops, .. } = self.counts;
        let name = &self.name;
        Error::network(if given == 0 {
            format!("view {name:?} has no edges; remove it")
        } else {
            format!(
                "view {name:?} has no edges: all {given} were dropped (weight zero: {zero_weights}, self-loops: \
                 {self_loops}); remove it or check its columns"
            )
        })
    }

    /// Merges the edges into the adjacency matrix.
    pub(super) fn build(self, nodes: usize) -> Result<View> {
        let Pending { name, directed, duplicates, mut counts, edges, .. } = self;
        let adjacency = adjacency(edges, nodes, directed, duplicates);
        if adjacency.values().iter().any(|weight| !weight.is_finite()) {
            return Err(Error::network(format!(
                "view {name:?}: the weights of a repeated edge add up to infinity; scale them down"
            )));
        }
        check_range(&name, adjacency.values())?;
        let distinct = if directed { adjacency.entries() } else { adjacency.entries() / 2 };
        counts.duplicates = counts.given - counts.self_loops - counts.zero_weights - distinct;
        Ok(View { name, directed, adjacency, counts })
    }
}

/// The largest ratio of two weights of a view. It leaves the range of f64 room for sums over all edges, whatever the weights are
/// divided by.
const MOST_RATIO: f64 = 1e300;

/// Refuses weights whose ratio cannot be computed with.
fn check_range(name: &str, weights: &[f64]) -> Result<()> {
    let smallest = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest / smallest <= MOST_RATIO * (1.0 + 1e-9) {
        return Ok(());
    }
    Err(Error::network(format!(
        "view {name:?}: its smallest weight is {smallest:e} and its largest {largest:e}; the largest may be at most \
         {MOST_RATIO:e} times the smallest; remove the edges with extreme weights, or use the logarithms of the weights"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(count: usize, pairs: usize) -> impl Iterator<Item = Edge> {
        // Weights whose sum depends on the order in the last bits.
        (0..count).map(move |at| {
            let pair = at * 7 % pairs;
            let (source, target) = ((pair % 50) as u32, 50 + (pair / 50) as u32);
            let (source, target) = if at % 3 == 0 { (target, source) } else { (source, target) };
            Edge { source, target, weight: 1.0 / (1 + at % 1000) as f64 }
        })
    }

    fn pending(directed: bool, duplicates: Duplicates) -> Pending {
        Pending::new("calls", directed, duplicates)
    }

    #[test]
    fn merging_changes_no_bit_of_the_matrix() {
        for directed in [false, true] {
            for duplicates in [Duplicates::Sum, Duplicates::Max] {
                let (mut merged, mut all) = (pending(directed, duplicates), pending(directed, duplicates));
                for (at, edge) in edges(5000, 600).enumerate() {
                    merged.push(edge);
                    all.push(edge);
                    if at % 700 == 0 {
                        merged.merge();
                    }
                }
                merged.counts.given = 5000;
                all.counts.given = 5000;
                let [merged, all] = [merged, all].map(|pending| pending.build(100).unwrap());
                assert_eq!((merged.adjacency, merged.counts), (all.adjacency, all.counts));
            }
        }
    }

    #[test]
    fn the_share_of_distinct_pairs_is_estimated() {
        for (count, pairs, expected) in [(2500, 2500, 1.0), (5000, 1, 1.0 / 5000.0), (5000, 1000, 0.2)] {
            let mut pending = pending(false, Duplicates::Sum);
            edges(count, pairs).for_each(|edge| pending.push(edge));
            let share = pending.distinct_share();
            assert!((share - expected).abs() < 0.1, "{share}, not {expected}");
        }
    }

    /// Defect 3 of the fault campaign: a file of the same line grew without end.
    #[test]
    fn repeated_edges_take_no_more_memory() {
        let mut pending = pending(false, Duplicates::Sum);
        edges(5 * LEAST, 1000).for_each(|edge| pending.push(edge));
        assert!(
            pending.edges.len() < 2 * LEAST && pending.bytes() <= 3 * 16 * LEAST as u64,
            "{}",
            pending.bytes()
        );
        let distinct = (0..4 * LEAST as u32).map(|at| Edge { source: at, target: at + 1, weight: 1.0 });
        let mut kept = Pending::new("mails", true, Duplicates::Sum);
        distinct.for_each(|edge| kept.push(edge));
        assert_eq!(kept.edges.len(), 4 * LEAST);
    }
}

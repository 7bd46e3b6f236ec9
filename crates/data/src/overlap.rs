//! The agreement of views: the measure of consensus and unique information from the paper.
//!
//! A node has consensus information in views a and b if its two neighborhoods overlap by more than half: `|N_a ∩ N_b|
//! / |N_a ∪ N_b| > 1/2`. Nodes without edges in both views have no neighborhoods to compare and are not counted. A
//! node with edges in only one of them is counted and never agrees.
//!
//! Invariant: directions and weights are ignored, and the time is linear in the edges of the two views.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::network::{Network, View};
use manyview_base::linalg::Csr;
use manyview_base::parallel::Pool;

/// The agreement of two views.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The first view.
    pub a: String,
    /// The second view.
    pub b: String,
    /// The number of nodes with an edge in at least one of the two.
    pub nodes: usize,
    /// The share of these nodes whose neighborhoods have a Jaccard coefficient above 1/2, or 0 if there are none.
    pub share: f64,
}

/// Returns the overlap of every pair of views, in the order of the views.
pub fn overlaps(network: &Network, pool: &Pool) -> Vec<Overlap> {
    let views = network.views();
    let pairs: Vec<(usize, usize)> =
        (0..views.len()).flat_map(|a| (a + 1..views.len()).map(move |b| (a, b))).collect();
    pool.run(|| {
        let around: Vec<Neighborhoods<'_>> = views.par_iter().map(Neighborhoods::new).collect();
        let overlap = |&(a, b): &(usize, usize)| {
            let (nodes, agreeing) = agreement(&around[a], &around[b], network.nodes().len());
            let share = if nodes == 0 { 0.0 } else { agreeing as f64 / nodes as f64 };
            Overlap { a: views[a].name.clone(), b: views[b].name.clone(), nodes, share }
        };
        pairs.par_iter().map(overlap).collect()
    })
}

/// The neighbors of each node, in ascending order.
pub struct Neighborhoods<'a> {
    out: &'a Csr<f64>,
    /// The reversed arcs of a directed view.
    back: Option<Csr<f64>>,
}

impl<'a> Neighborhoods<'a> {
    /// Returns the neighborhoods in a view.
    pub fn new(view: &'a View) -> Self {
        let back = view.directed.then(|| view.adjacency.transpose());
        Neighborhoods { out: &view.adjacency, back }
    }

    /// Returns the distinct neighbors of a node. `both` is scratch space.
    pub fn of<'s>(&'s self, node: usize, both: &'s mut Vec<u32>) -> &'s [u32] {
        let (out, _) = self.out.row(node);
        let Some(back) = &self.back else { return out };
        both.clear();
        both.extend_from_slice(out);
        both.extend_from_slice(back.row(node).0);
        both.sort_unstable();
        both.dedup();
        both
    }
}

/// Returns the number of nodes with a neighbor in one of two views, and how many of them agree.
fn agreement(a: &Neighborhoods<'_>, b: &Neighborhoods<'_>, nodes: usize) -> (usize, usize) {
    let (mut counted, mut agreeing) = (0, 0);
    let (mut scratch_a, mut scratch_b) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        let (of_a, of_b) = (a.of(node, &mut scratch_a), b.of(node, &mut scratch_b));
        let common = common(of_a, of_b);
        let all = of_a.len() + of_b.len() - common;
        counted += usize::from(all > 0);
        agreeing += usize::from(2 * common > all);
    }
    (counted, agreeing)
}

/// Returns the number of elements that two ascending lists have in common.
fn common(mut a: &[u32], mut b: &[u32]) -> usize {
    let mut common = 0;
    while let (Some(&first_a), Some(&first_b)) = (a.first(), b.first()) {
        common += usize::from(first_a == first_b);
        a = &a[usize::from(first_a <= first_b)..];
        b = &b[usize::from(first_b <= first_a)..];
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Duplicates, NetworkBuilder};

    type Edges<'a> = &'a [(&'a str, &'a str)];

    fn network(views: &[(&str, bool, Edges<'_>)]) -> Network {
        let mut builder = NetworkBuilder::new();
        for &(name, directed, edges) in views {
            let view = builder.add_view(name, directed, Duplicates::Sum).unwrap();
            for (source, target) in edges {
                let ends = [source, target].map(|id| builder.node(id.as_bytes()).unwrap());
                builder.add_edge(view, ends[0], ends[1], 1.0).unwrap();
            }
        }
        builder.build().unwrap()
    }

    /// a: {b, c} and {b, c, d}, 2/3; b: {a} and {a}, 1; c: {a} and {a}, 1; d: {} and {a}, 0; e: {f} and {}, 0; f likewise.
    #[test]
    fn nodes_agree_when_more_than_half_of_the_neighbors_are_common() {
        let network = network(&[
            ("calls", false, &[("a", "b"), ("a", "c"), ("e", "f")]),
            ("mails", false, &[("a", "b"), ("a", "c"), ("a", "d")]),
        ]);
        let found = overlaps(&network, &Pool::new(Some(2)).unwrap());
        let expected = Overlap { a: "calls".into(), b: "mails".into(), nodes: 6, share: 0.5 };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn exactly_half_is_not_more_than_half() {
        let network = network(&[("x", false, &[("a", "b"), ("a", "c")]), ("y", false, &[("a", "b")])]);
        let found = overlaps(&network, &Pool::new(Some(1)).unwrap());
        // a has {b, c} and {b}, one half; b agrees; c has {a} and nothing.
        assert_eq!((found[0].nodes, found[0].share), (3, 1.0 / 3.0));
    }

    #[test]
    fn directions_do_not_matter() {
        let edges: Edges<'_> = &[("a", "b"), ("b", "a"), ("c", "a"), ("b", "d")];
        let network = network(&[("x", true, edges), ("y", false, edges)]);
        let found = overlaps(&network, &Pool::new(Some(1)).unwrap());
        assert_eq!((found[0].nodes, found[0].share), (4, 1.0));
    }

    #[test]
    fn common_numbers_are_counted_once() {
        assert_eq!(common(&[1, 3, 5, 7], &[0, 3, 4, 7, 9]), 2);
        assert_eq!(common(&[], &[1]), 0);
    }
}

//! The union of all views: walks in it may change views at every step.
//!
//! `A = sum_k D_k^(-1/2) A_k D_k'^(-1/2)`, with the weights that leave nodes in D and those that enter them in D', which are the
//! same in an undirected view. So a walk takes each kind of edge of a node about equally often, whatever the units of the
//! weights and however many edges a view has. Two nodes that only a path through several views connects are near in its
//! proximity, and in none of the views.
//!
//! Invariant: the union depends on the views only up to the unit of the weights of each, and not on threads.

use rayon::prelude::*;

use super::degrees::Degrees;
use manyview_base::linalg::{BLOCK_ROWS, Csr};
use manyview_base::parallel::Pool;
use manyview_data::network::{EdgeCounts, View};

/// The name of the union in records, unless a view has this name.
const NAME: &str = "joint";
const OTHER_NAME: &str = "joint (all views)";

/// The union of views; `None` if there is only one. It is directed if any view is.
pub fn union_of_views(views: &[View], pool: &Pool) -> Option<View> {
    if views.len() < 2 {
        return None;
    }
    let shares: Vec<Shares> = pool.run(|| views.par_iter().map(Shares::of).collect());
    let nodes = views[0].adjacency.rows();
    let firsts: Vec<usize> = (0..nodes).step_by(BLOCK_ROWS).collect();
    let block = |sums: &mut Vec<f64>, &first: &usize| {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in first..(first + BLOCK_ROWS).min(nodes) {
            let start = indices.len();
            for (view, shares) in views.iter().zip(&shares) {
                let (cols, weights) = view.adjacency.row(row);
                for (&col, weight) in cols.iter().zip(weights) {
                    let sum = &mut sums[col as usize];
                    // Nothing was added yet, or only what is too small to matter; then the column is listed twice.
                    if *sum == 0.0 {
                        indices.push(col);
                    }
                    *sum += weight * shares.scale * shares.leaving[row] * shares.entering[col as usize];
                }
            }
            indices[start..].sort_unstable();
            let mut kept = start;
            for at in start..indices.len() {
                let sum = std::mem::take(&mut sums[indices[at] as usize]);
                if sum > 0.0 {
                    indices[kept] = indices[at];
                    values.push(sum);
                    kept += 1;
                }
            }
            indices.truncate(kept);
            indptr.push(kept);
        }
        Csr::new(nodes, indptr, indices, values)
    };
    let blocks = pool.run(|| firsts.par_iter().map_init(|| vec![0.0; nodes], block).collect());
    let taken = views.iter().any(|view| view.name == NAME);
    Some(View {
        name: if taken { OTHER_NAME } else { NAME }.to_owned(),
        directed: views.iter().any(|view| view.directed),
        adjacency: Csr::stack(nodes, blocks),
        counts: EdgeCounts::default(),
    })
}

/// What a weight of a view is multiplied by, for each of its two ends.
struct Shares {
    /// The power of two that extreme weights are multiplied by.
    scale: f64,
    leaving: Vec<f64>,
    entering: Vec<f64>,
}

impl Shares {
    fn of(view: &View) -> Self {
        let degrees = Degrees::of(view);
        let (of_nodes, scale) = (&degrees.of_nodes, degrees.scale);
        let share = |&degree: &f64| if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 };
        let leaving: Vec<f64> = of_nodes.iter().map(share).collect();
        if !view.directed {
            return Shares { scale, entering: leaving.clone(), leaving };
        }
        Shares { scale, leaving, entering: degrees.entering(view).iter().map(share).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_data::network::Network;

    fn weights(view: &View) -> Vec<(usize, u32, f64)> {
        let row = |row: usize| view.adjacency.row(row);
        let entries =
            |at: usize| row(at).0.iter().zip(row(at).1).map(move |(&col, &weight)| (at, col, weight));
        (0..view.adjacency.rows()).flat_map(entries).collect()
    }

    /// Each view adds at most one to the weights of a node, whatever the unit of its weights.
    #[test]
    fn every_view_has_the_same_share_of_each_node() {
        let calls = [("a", "b", 30.0), ("b", "c", 10.0)];
        let mails = [("c", "d", 0.5), ("a", "b", 0.5)];
        let pool = Pool::new(Some(2)).unwrap();
        let union = |scale: f64| {
            let calls = calls.map(|(from, to, weight)| (from, to, scale * weight));
            let network = Network::from_edges(&[("calls", &calls), ("mails", &mails)]).unwrap();
            union_of_views(network.views(), &pool).unwrap()
        };
        let found = union(1.0);
        assert_eq!((found.name.as_str(), found.directed, found.edges()), ("joint", false, 3));
        let (ab, bc) = (30.0 / (30.0f64 * 40.0).sqrt() + 1.0, 10.0 / (40.0f64 * 10.0).sqrt());
        let expected = [(0, 1, ab), (1, 0, ab), (1, 2, bc), (2, 1, bc), (2, 3, 1.0), (3, 2, 1.0)];
        for scale in [1.0, 0.3, 2f64.powi(900), 2f64.powi(-900)] {
            for (found, expected) in weights(&union(scale)).iter().zip(expected) {
                assert_eq!((found.0, found.1), (expected.0, expected.1));
                assert!((found.2 / expected.2 - 1.0).abs() < 1e-12, "{scale:e}: {found:?}");
            }
        }
    }

    #[test]
    fn one_view_has_no_union_and_a_name_that_is_taken_changes() {
        let edges = [("a", "b", 1.0)];
        let pool = Pool::new(Some(1)).unwrap();
        let one = Network::from_edges(&[("joint", &edges)]).unwrap();
        assert!(union_of_views(one.views(), &pool).is_none());
        let two = Network::from_edges(&[("joint", &edges), ("x", &edges)]).unwrap();
        assert_eq!(union_of_views(two.views(), &pool).unwrap().name, OTHER_NAME);
    }

    #[test]
    fn one_directed_view_makes_the_union_directed() {
        let edges = [("a", "b", 1.0), ("b", "c", 1.0)];
        let both = Network::from_edges(&[("x", &edges), ("y", &edges)]).unwrap();
        let mut views = both.views().to_vec();
        views[1].directed = true;
        views[1].adjacency = views[1].adjacency.upper_triangle(0);
        let mixed = Network::new(both.nodes().clone(), views);
        let union = union_of_views(mixed.views(), &Pool::new(Some(2)).unwrap()).unwrap();
        assert!(union.directed);
        // x: 1 / sqrt(1 2); y: 1 / sqrt(1 1), in one direction.
        let near = 0.5f64.sqrt();
        let expected = [(0, 1, 1.0 + near), (1, 0, near), (1, 2, 1.0 + near), (2, 1, near)];
        for (found, expected) in weights(&union).iter().zip(expected) {
            assert_eq!((found.0, found.1), (expected.0, expected.1));
            assert!((found.2 - expected.2).abs() < 1e-12);
        }
    }
}

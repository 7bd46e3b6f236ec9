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
use manyview_base::memory::zeros;
use manyview_base::parallel::Pool;
use manyview_data::network::{EdgeCounts, Network, View};

/// The name of the union in records, unless a view has this name.
const NAME: &str = "joint";
const OTHER_NAME: &str = "joint (all views)";

/// The union of views; `None` if there is only one. It is directed if any view is.
///
/// Its rows are counted before they are written, so that it is never in memory twice.
pub fn union_of_views(views: &[View], pool: &Pool) -> Option<View> {
    if views.len() < 2 {
        return None;
    }
    let shares: Vec<Shares> = pool.run(|| views.par_iter().map(Shares::of).collect());
    let nodes = views[0].adjacency.rows();
    let lengths = row_lengths(views, nodes, pool);
    let entries = lengths.iter().sum();
    let (mut indices, mut values) = (zeros::<u32>(entries), zeros::<f64>(entries));
    let blocks = blocks(&lengths, &mut indices, &mut values);
    let fill = |sums: &mut Vec<f64>, block: Rows<'_>| -> Vec<usize> { block.fill(views, &shares, sums) };
    let kept: Vec<Vec<usize>> =
        pool.run(|| blocks.into_par_iter().map_init(|| vec![0.0; nodes], fill).collect());
    let indptr = close_gaps(&lengths, &kept.concat(), &mut indices, &mut values);
    let taken = views.iter().any(|view| view.name == NAME);
    Some(View {
        name: if taken { OTHER_NAME } else { NAME }.to_owned(),
        directed: views.iter().any(|view| view.directed),
        adjacency: Csr::new(nodes, indptr, indices, values),
        counts: EdgeCounts::default(),
    })
}

/// The number of entries of the union of all views; 0 if there is only one view.
pub fn entries_of_union(network: &Network, pool: &Pool) -> usize {
    let views = network.views();
    if views.len() < 2 { 0 } else { row_lengths(views, network.nodes().len(), pool).iter().sum() }
}

/// The number of different columns in each row of all views together.
fn row_lengths(views: &[View], nodes: usize, pool: &Pool) -> Vec<usize> {
    let count = |last_row: &mut Vec<u32>, first: usize| -> Vec<usize> {
        let length = |row: usize| {
            let stamp = row as u32 + 1;
            let cols = views.iter().flat_map(|view| view.adjacency.row(row).0);
            cols.filter(|&&col| std::mem::replace(&mut last_row[col as usize], stamp) != stamp).count()
        };
        (first..(first + BLOCK_ROWS).min(nodes)).map(length).collect()
    };
    let firsts: Vec<usize> = (0..nodes).step_by(BLOCK_ROWS).collect();
    let lengths: Vec<Vec<usize>> =
        pool.run(|| firsts.into_par_iter().map_init(|| vec![0; nodes], count).collect());
    lengths.concat()
}

/// A block of rows that is being written.
struct Rows<'a> {
    first: usize,
    lengths: &'a [usize],
    indices: &'a mut [u32],
    values: &'a mut [f64],
}

/// Cuts arrays into blocks of rows of these lengths.
fn blocks<'a>(lengths: &'a [usize], mut indices: &'a mut [u32], mut values: &'a mut [f64]) -> Vec<Rows<'a>> {
    let block = |(index, lengths): (usize, &'a [usize])| {
        let entries = lengths.iter().sum();
        let (own_indices, own_values);
        (own_indices, indices) = std::mem::take(&mut indices).split_at_mut(entries);
        (own_values, values) = std::mem::take(&mut values).split_at_mut(entries);
        Rows { first: index * BLOCK_ROWS, lengths, indices: own_indices, values: own_values }
    };
    lengths.chunks(BLOCK_ROWS).enumerate().map(block).collect()
}

impl Rows<'_> {
    /// Writes the rows. Returns the number of entries of each: those that are too small to be numbers are not kept.
    fn fill(self, views: &[View], shares: &[Shares], sums: &mut [f64]) -> Vec<usize> {
        let (mut start, mut cols) = (0, Vec::new());
        let row = |(at, &length): (usize, &usize)| {
            let row = self.first + at;
            cols.clear();
            for (view, shares) in views.iter().zip(shares) {
                let (view_cols, weights) = view.adjacency.row(row);
                for (&col, weight) in view_cols.iter().zip(weights) {
                    let sum = &mut sums[col as usize];
                    // Nothing was added yet, or only what is too small to matter; then the column is listed twice.
                    if *sum == 0.0 {
                        cols.push(col);
                    }
                    *sum += weight * shares.scale * shares.leaving[row] * shares.entering[col as usize];
                }
            }
            cols.sort_unstable();
            let mut kept = 0;
            for &col in &cols {
                let sum = std::mem::take(&mut sums[col as usize]);
                if sum > 0.0 {
                    self.indices[start + kept] = col;
                    self.values[start + kept] = sum;
                    kept += 1;
                }
            }
            start += length;
            kept
        };
        self.lengths.iter().enumerate().map(row).collect()
    }
}

/// Moves the entries that were kept together, where there are fewer than room was made for; returns the starts of the rows.
fn close_gaps(
    lengths: &[usize],
    kept: &[usize],
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> Vec<usize> {
    let (mut indptr, mut start, mut end) = (vec![0], 0, 0);
    for (&length, &kept) in lengths.iter().zip(kept) {
        if start != end {
            indices.copy_within(start..start + kept, end);
            values.copy_within(start..start + kept, end);
        }
        start += length;
        end += kept;
        indptr.push(end);
    }
    indices.truncate(end);
    values.truncate(end);
    indptr
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
    fn entries_are_counted_before_they_are_computed() {
        let edges = |step: usize| -> Vec<(String, String, f64)> {
            let end = |node: usize| (node % 301).to_string();
            (0..600).map(|at| (end(at), end(at * step + 1), 1.0 + at as f64)).collect()
        };
        let lists = [edges(2), edges(5), edges(2)];
        let views: Vec<Vec<(&str, &str, f64)>> = lists
            .iter()
            .map(|edges| edges.iter().map(|(a, b, weight)| (a.as_str(), b.as_str(), *weight)).collect())
            .collect();
        let network = Network::from_edges(&[("x", &views[0]), ("y", &views[1]), ("z", &views[2])]).unwrap();
        let union = |threads| union_of_views(network.views(), &Pool::new(Some(threads)).unwrap()).unwrap();
        let (one, pool) = (union(1), Pool::new(Some(3)).unwrap());
        assert_eq!(entries_of_union(&network, &pool), one.adjacency.entries());
        assert_eq!(union(3).adjacency, one.adjacency);
        assert_eq!(entries_of_union(&network.only(1), &pool), 0);
    }

    #[test]
    fn rows_move_together_where_entries_vanish() {
        let (mut indices, mut values) = (vec![0, 4, 9, 1, 2, 9], vec![1.0, 2.0, 0.0, 3.0, 4.0, 0.0]);
        let indptr = close_gaps(&[3, 0, 3], &[2, 0, 2], &mut indices, &mut values);
        assert_eq!((indptr, indices), (vec![0, 2, 2, 4], vec![0, 4, 1, 2]));
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
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

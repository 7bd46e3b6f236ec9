//! Adjacency matrices of views, and leading singular vectors, for the methods that embed by them.
//!
//! `S = D^-1/2 A D^-1/2` has eigenvalues from -1 to 1; the smallest eigenvalues of the normalized Laplacian `I - S` are
//! those of its largest. Directed views are made undirected, `A + Aᵀ`, because these methods are defined for symmetric
//! matrices.
//!
//! Invariant: views are used in the order of their names, so the order in which they are given changes no bit. Nodes
//! without edges have empty rows.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::svd::{Operator, Svd, leading};
use manyview_base::linalg::{BLOCK_ROWS, Csr, Dense, Tiles, safe_scale};
use manyview_base::named;
use manyview_core::method::Task;
use manyview_data::network::View;

use crate::edges::by_name;

/// The default number of additional Krylov blocks: on networks of some thousand nodes, the error is as low as that of
/// seven power iterations.
pub(crate) const ITERATIONS: usize = 5;

/// More blocks than this would be a dense decomposition.
pub(crate) const MOST_ITERATIONS: f64 = 1000.0;

named! {
    /// The matrix of a view whose eigenvectors are computed.
    pub enum Adjacency {
        Normalized = "normalized", "divided by the square roots of the degrees of both nodes";
        Plain = "plain", "the weights, divided by the largest";
    }
}

named! {
    /// What the columns of an embedding, which are orthonormal, are multiplied by, besides the root of the number of nodes.
    pub enum ColumnScale {
        Values = "values", "how much of the views a column explains, so that the last ones count little";
        Plain = "plain", "1, as published for a few columns";
    }
}

/// By default, the basis of a view has at most one column for this many nodes. A basis of all nodes spans everything, and
/// so says nothing about the view.
const NODES_PER_COLUMN: usize = 8;

/// Returns the number of eigenvectors of each view.
pub(crate) fn view_columns(given: Option<usize>, task: &Task<'_, '_>) -> usize {
    given.unwrap_or(task.dim.min(task.network.nodes().len().div_ceil(NODES_PER_COLUMN)))
}

/// Returns the views in the order of their names, as undirected ones.
pub(crate) fn undirected_views<'a>(task: &Task<'a, '_>) -> Vec<Cow<'a, View>> {
    by_name(task).into_iter().map(|(_, view)| undirected(view)).collect()
}

/// Returns a view with the weights of both directions added, if it is directed.
fn undirected(view: &View) -> Cow<'_, View> {
    if !view.directed {
        return Cow::Borrowed(view);
    }
    let scale = safe_scale(view.adjacency.values());
    let arcs = (0..view.adjacency.rows()).flat_map(|row| {
        let (cols, weights) = view.adjacency.row(row);
        cols.iter().zip(weights).flat_map(move |(&col, &weight)| {
            [(row, col as usize, weight * scale), (col as usize, row, weight * scale)]
        })
    });
    // A weight that is zero after scaling is too small to matter.
    let arcs = arcs.filter(|arc| arc.2 > 0.0);
    let adjacency = Csr::from_triplets(view.adjacency.rows(), view.adjacency.rows(), arcs);
    Cow::Owned(View { directed: false, adjacency, ..view.clone() })
}

/// Returns the symmetric matrix of an undirected view, on the threads of the current pool.
pub(crate) fn matrix(view: &View, kind: Adjacency) -> Tiles<f32> {
    let adjacency = &view.adjacency;
    let nodes = adjacency.rows();
    let scale = safe_scale(adjacency.values());
    let roots: Vec<f64> = (0..nodes)
        .map(|row| adjacency.row(row).1.iter().map(|weight| weight * scale).sum::<f64>().sqrt())
        .collect();
    let largest = adjacency.values().iter().copied().fold(0.0, f64::max);
    let entry = |row: usize, col: u32, weight: f64| match kind {
        Adjacency::Normalized => (weight * scale / roots[row] / roots[col as usize]) as f32,
        Adjacency::Plain => (weight / largest) as f32,
    };
    let block = |first: usize| {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in first..(first + BLOCK_ROWS).min(nodes) {
            let (cols, weights) = adjacency.row(row);
            indices.extend_from_slice(cols);
            values.extend(cols.iter().zip(weights).map(|(&col, &weight)| entry(row, col, weight)));
            indptr.push(indices.len());
        }
        Csr::new(nodes, indptr, indices, values).upper_triangle(first)
    };
    Tiles::symmetric(nodes, (0..nodes).step_by(BLOCK_ROWS).map(block).collect())
}

/// Returns the `task.dim` leading singular values and vectors of a matrix, with progress.
pub(crate) fn singular_vectors(
    matrix: &dyn Operator,
    iterations: usize,
    task: &mut Task<'_, '_>,
) -> Result<Svd> {
    let done = AtomicU64::new(0f64.to_bits());
    let dim = task.dim;
    let work = |canceled: &AtomicBool| {
        leading(matrix, dim, iterations, &|share| {
            done.store(share.to_bits(), Ordering::Relaxed);
            !canceled.load(Ordering::Relaxed)
        })
    };
    let pool = task.pool;
    let found = pool.run_watched(work, &mut || {
        let reported = task.tell("singular vectors", f64::from_bits(done.load(Ordering::Relaxed)));
        if reported.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.ok_or(Error::Interrupted)
}

/// Returns orthonormal columns times the root of the number of nodes, so that the size of vectors does not depend on it (a
/// penalty of fixed weight would notice), and times the roots of `squares` if asked for.
pub(crate) fn of_columns(
    left: &Dense<f32>,
    scale: ColumnScale,
    squares: impl Iterator<Item = f64>,
) -> Vec<f32> {
    let nodes = left.rows() as f64;
    scaled(
        left,
        squares.map(|square| match scale {
            ColumnScale::Values => (nodes * square.max(0.0)).sqrt(),
            ColumnScale::Plain => nodes.sqrt(),
        }),
    )
}

/// Returns the vectors with each column multiplied by its factor, row after row.
pub(crate) fn scaled(vectors: &Dense<f32>, factors: impl Iterator<Item = f64>) -> Vec<f32> {
    let factors: Vec<f64> = factors.collect();
    let row = |row: usize| vectors.row(row).iter().zip(&factors).map(|(&x, f)| (f64::from(x) * f) as f32);
    (0..vectors.rows()).flat_map(row).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use manyview_base::linalg::eigen;
    use manyview_core::method::Fit;
    use manyview_data::network::{EdgeCounts, Network};

    /// A square matrix in row order.
    pub(crate) type Square = Vec<f64>;

    /// The weights of a view, in both directions, dense.
    pub(crate) fn dense(view: &View) -> Square {
        let nodes = view.adjacency.rows();
        let mut dense = vec![0.0; nodes * nodes];
        for row in 0..nodes {
            for (&col, &weight) in view.adjacency.row(row).0.iter().zip(view.adjacency.row(row).1) {
                dense[row * nodes + col as usize] += weight;
                if view.directed {
                    dense[col as usize * nodes + row] += weight;
                }
            }
        }
        dense
    }

    /// `D^-1/2 A D^-1/2`, dense.
    pub(crate) fn normalized(view: &View) -> Square {
        let (mut dense, nodes) = (dense(view), view.adjacency.rows());
        let degrees: Vec<f64> = dense.chunks_exact(nodes).map(|row| row.iter().sum::<f64>()).collect();
        for (at, value) in dense.iter_mut().enumerate().filter(|(_, value)| **value > 0.0) {
            *value /= (degrees[at / nodes] * degrees[at % nodes]).sqrt();
        }
        dense
    }

    /// The eigenvectors of the `count` largest eigenvalues, by the given order, and the eigenvalues.
    pub(crate) fn largest(
        matrix: Square,
        nodes: usize,
        count: usize,
        size: impl Fn(f64) -> f64,
    ) -> Vec<(f64, Vec<f64>)> {
        let found = eigen::symmetric(matrix, nodes, nodes);
        let mut pairs: Vec<_> = found.values.into_iter().zip(found.vectors).collect();
        pairs.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)));
        pairs.truncate(count);
        pairs
    }

    /// Adds `factor x xᵀ`.
    pub(crate) fn add_outer(matrix: &mut [f64], factor: f64, x: &[f64]) {
        for (row, a) in matrix.chunks_exact_mut(x.len()).zip(x) {
            row.iter_mut().zip(x).for_each(|(sum, b)| *sum += factor * a * b);
        }
    }

    /// Compares all inner products of vectors with a dense matrix: what remains if columns of equal values are turned.
    pub(crate) fn check_products(fit: &Fit, expected: &[f64]) {
        let (found, squared_scale) = (&fit.embedding, fit.vector_scale * fit.vector_scale);
        let nodes = found.rows();
        let size = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (at, theirs) in expected.iter().enumerate() {
            let (a, b) = (found.row(at / nodes), found.row(at % nodes));
            let ours: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            let ours = ours / squared_scale;
            assert!((ours - theirs).abs() < 2e-3 * size, "{ours} against {theirs} of {size}");
        }
    }

    /// The same views in the reverse order.
    pub(crate) fn reversed(network: &Network) -> Network {
        Network::new(network.nodes().clone(), network.views().iter().rev().cloned().collect())
    }

    /// The first view of a network as a directed one, with the edges in one direction.
    pub(crate) fn with_directed_view(network: &Network) -> Network {
        let mut views = network.views().to_vec();
        views[0].directed = true;
        views[0].adjacency = views[0].adjacency.upper_triangle(0);
        Network::new(network.nodes().clone(), views)
    }

    #[test]
    fn matrices_are_the_dense_ones_and_directions_are_added() {
        let arcs = [(0, 1, 2.0), (1, 0, 1.0), (1, 2, 4.0), (3, 1, 0.5)];
        let adjacency = Csr::from_triplets(5, 5, arcs);
        let view = View { name: "v".into(), directed: true, adjacency, counts: EdgeCounts::default() };
        let both = undirected(&view);
        assert!(!both.directed && both.adjacency.row(0) == (&[1][..], &[3.0][..]));
        for kind in [Adjacency::Normalized, Adjacency::Plain] {
            let found = matrix(&both, kind).to_csr();
            let expected = match kind {
                Adjacency::Normalized => normalized(&view),
                Adjacency::Plain => dense(&view).iter().map(|weight| weight / 4.0).collect(),
            };
            for row in 0..5 {
                let (cols, values) = found.row(row);
                let all: f64 = expected[row * 5..][..5].iter().sum();
                assert!((all - values.iter().map(|&x| f64::from(x)).sum::<f64>()).abs() < 1e-6);
                for (&col, &value) in cols.iter().zip(values) {
                    assert!((f64::from(value) - expected[row * 5 + col as usize]).abs() < 1e-6);
                }
            }
        }
    }
}

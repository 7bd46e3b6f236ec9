//! Random walks with restart: where a walk is that returns to its start with a fixed probability before each step.
//!
//! `Q = p (I + (1-p) P + (1-p)² P² + ...)` with `P = D^-1 A`; row j is where the walk from j is. The matrix is
//! `log(1 + n Q)ᵀ`: row i tells how often the walks from all nodes j are at i, compared with the chance 1 / n.
//!
//! With `s_0 = n e_i` and `s_(t+1) = p n e_i + (1-p) P s_t`, number j of `s_T` is `n Q_ji`, except for the share `(1-p)^T`
//! of the walk that is left, which is put where the walk is after T steps. So `P`, which is `D^-1 Aᵀ` of an undirected
//! view, is applied as in the walks of a window, and the threshold is the same for all numbers. The numbers are kept
//! divided by `(1-p)^t`, so that a step need not multiply them.
//!
//! Invariant: entries below `least` are dropped, so at most `log(1 + least)` is missing from any.

use std::ops::ControlFlow;

use super::degrees::Degrees;
use super::twins::Twins;
use super::walk::{Rule, Walk};
use super::{Keep, Rows, blocks_of};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Real;
use manyview_base::parallel::Pool;
use manyview_data::network::View;

/// A random walk with restart, and which of its numbers are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restart {
    /// The probability of a restart before each step, between 0 and 1.
    pub probability: f64,
    /// The share of the walk at which the steps end.
    pub tol: f64,
    /// The smallest `n Q` that is kept.
    pub least: f64,
}

impl Restart {
    /// The number of steps.
    pub(super) fn steps(self) -> usize {
        (libm::log(self.tol) / libm::log1p(-self.probability)).ceil().max(1.0) as usize
    }

    /// What `s_t` is divided by after `steps` steps.
    pub(super) fn scale(self, steps: usize) -> f64 {
        libm::pow(1.0 - self.probability, steps as f64)
    }
}

/// Computes `log(1 + n Q)ᵀ` of an undirected view.
///
/// # Panics
/// When the view is directed.
///
/// # Errors
/// `Error::Interrupted` if `watch` breaks.
pub fn restart_blocks<T: Real>(
    view: &View,
    restart: Restart,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Rows<T>> {
    assert!(!view.directed, "the transition matrix of an undirected view");
    let degrees = Degrees::of(view);
    // Exchanging two nodes is the only relation that keeps the start of a walk.
    let twins = Twins::exchangeable(view);
    let walk = pool.run(|| Walk::<T>::new(view, &degrees, Rule::Restart(restart)));
    let found = blocks_of(view, &walk, &twins, Keep::All, pool, watch).ok_or(Error::Interrupted)?;
    let (blocks, largest): (Vec<_>, Vec<f64>) = found.into_iter().unzip();
    Ok(Rows { blocks, largest: largest.into_iter().fold(0.0, f64::max), noise: None, keep: Keep::All })
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::linalg::Csr;
    use manyview_data::network::EdgeCounts;

    fn view(nodes: usize, edges: impl Iterator<Item = (usize, usize, f64)>) -> View {
        let arcs = edges.flat_map(|(a, b, weight)| [(a, b, weight), (b, a, weight)]);
        let adjacency = Csr::from_triplets(nodes, nodes, arcs);
        View { name: "v".into(), directed: false, adjacency, counts: EdgeCounts::default() }
    }

    /// `n Q` by many dense steps.
    fn naive(view: &View, probability: f64) -> Vec<Vec<f64>> {
        let nodes = view.adjacency.rows();
        let walk_from = |start: usize| {
            let mut now = vec![0.0; nodes];
            now[start] = f64::from(u8::from(!view.adjacency.row(start).0.is_empty()));
            for _ in 0..200 {
                let mut next = vec![0.0; nodes];
                next[start] = probability * now.iter().sum::<f64>();
                for (node, &share) in now.iter().enumerate() {
                    let (cols, weights) = view.adjacency.row(node);
                    let degree: f64 = weights.iter().sum();
                    for (&col, weight) in cols.iter().zip(weights) {
                        next[col as usize] += (1.0 - probability) * share * weight / degree;
                    }
                }
                now = next;
            }
            now.iter().map(|x| x * nodes as f64).collect()
        };
        (0..nodes).map(walk_from).collect()
    }

    fn check(view: &View, restart: Restart, most: f64) {
        let nodes = view.adjacency.rows();
        let exact = naive(view, restart.probability);
        let pool = Pool::new(Some(2)).unwrap();
        let found = restart_blocks::<f64>(view, restart, &pool, &mut |_| ControlFlow::Continue(())).unwrap();
        let found = Csr::stack(nodes, found.blocks);
        for row in 0..nodes {
            let mut dense = vec![0.0; nodes];
            let (cols, values) = found.row(row);
            cols.iter().zip(values).for_each(|(&col, &value)| dense[col as usize] = value);
            for (from, (value, exact)) in dense.iter().zip(&exact).enumerate() {
                let expected = exact[row].ln_1p();
                assert!((value - expected).abs() <= most, "{value} against {expected} at {row} from {from}");
            }
        }
    }

    #[test]
    fn walks_are_the_dense_ones_up_to_the_entries_that_are_dropped() {
        let ring = |node: usize| (node, (node * 3 + 1) % 200, 1.0 + (node % 4) as f64);
        let weighted = view(203, (0..200).map(ring).filter(|edge| edge.0 != edge.1));
        // Ten groups whose members are all linked: rows that follow from others.
        let pairs = (0..120usize).flat_map(|a| (0..a).map(move |b| (a, b)));
        let linked = pairs.filter(|(a, b)| a / 12 == b / 12 || (a % 12 == 0 && b % 12 == 0));
        let groups = view(121, linked.map(|(a, b)| (a, b, 1.0)));
        assert!(!Twins::exchangeable(&groups).originals().is_empty());
        // A star: leaves have the same neighbors, but walks start at different ones.
        let star = view(60, (1..60).map(|leaf| (0, leaf, 1.0 + leaf as f64)));
        for view in [weighted, groups, star] {
            for probability in [0.1, 0.5, 0.9] {
                check(&view, Restart { probability, tol: 1e-9, least: 0.0 }, 1e-6);
                check(&view, Restart { probability, tol: 1e-9, least: 0.05 }, 0.05f64.ln_1p() + 1e-6);
            }
        }
    }

    #[test]
    fn the_steps_end_when_little_of_the_walk_is_left() {
        let restart = |probability, tol| Restart { probability, tol, least: 0.0 };
        assert_eq!(restart(0.5, 1e-3).steps(), 10);
        assert_eq!(restart(0.999, 0.1).steps(), 1);
        assert_eq!(restart(0.5, 1e-6).scale(3), 0.125);
    }
}

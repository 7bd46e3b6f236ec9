//! Mashup: where random walks with restart are, of all views, by common singular vectors.
//!
//! `Q_k = p (I - (1-p) P_k)^-1` with `P_k = D_k^-1 A_k`; row i is where the walk from node i is that returns to i with the
//! probability p. `R_k = log(Q_k + 1/n) - log(1/n) = log(1 + n Q_k)`. With `[R_1 R_2 ...] ~ U S Vᵀ`, the vectors are
//! `U S^(1/2)`: U are the eigenvectors of `sum_k R_k R_kᵀ`, and S² the eigenvalues.
//!
//! After Cho, Berger and Peng (2016), the variant by singular vectors.
//!
//! Q_k is dense. Entries with `n Q` below `least`, which are far below chance, are dropped as soon as their row is
//! computed, so R_k is kept sparse and lacks at most `log(1 + least)` at any place.
//!
//! Invariant: vectors follow from the views alone, not from the seed or the order of views.

use std::ops::ControlFlow;

use manyview_base::error::Result;
use manyview_base::linalg::Tiles;
use manyview_base::linalg::svd::{SideBySide, Transposed};
use manyview_base::settings;
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};
use manyview_core::proximity::{Restart, restart_blocks};
use manyview_data::network::View;

use crate::spectra::{ITERATIONS, MOST_ITERATIONS, scaled, singular_vectors, undirected_views};
use crate::{default_or, for_each_view};

/// The approximate share of the time that the walks take.
const WALKS: f64 = 0.6;

settings! {
    /// Settings of Mashup.
    pub struct Mashup {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The probability that a walk returns to its start before a step.
        restart: f64 = 0.5 => at_least(0.01).at_most(0.99).hint("the usual choice is 0.5");
        /// The share of a walk that is left when its steps end.
        tol: f64 = 1e-4 => at_least(1e-9).at_most(0.5).hint("the usual choice is 0.0001");
        /// The smallest probability that is kept, as a multiple of chance (1 / nodes). 0 keeps all, which takes 6 bytes
        /// for each pair of nodes and view.
        least: f64 = 0.1 => at_least(0.0).hint("the usual choice is 0.1");
        /// The number of blocks of the Krylov iteration beyond those that are needed for the columns; more blocks make
        /// the last columns more accurate.
        iterations: usize = ITERATIONS => at_most(MOST_ITERATIONS).hint("the usual choice is 5");
    }
}

impl Mashup {
    /// Computes `R_kᵀ` of an undirected view.
    fn matrix(&self, view: &View, task: &mut Task<'_, '_>) -> Result<Tiles<f32>> {
        let (nodes, pool) = (view.adjacency.rows(), task.pool);
        let restart = Restart { probability: self.restart, tol: self.tol, least: self.least };
        let rows = restart_blocks::<f32>(view, restart, pool, &mut |done| {
            let reported = task.tell("walks", done as f64 / nodes.max(1) as f64);
            if reported.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(pool.run(|| rows.into_tiles(nodes)))
    }
}

impl Method for Mashup {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(Mashup { tol: 1e-6, least: 0.0, ..Mashup::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let views = undirected_views(task);
        let mut first = task.part(None, 0.0..WALKS);
        let matrices = for_each_view(&views, &mut first, |_, view, task| self.matrix(view, task))?;
        let parts: Vec<Transposed<'_>> = matrices.iter().map(Transposed).collect();
        let found = singular_vectors(&SideBySide(&parts), self.iterations, &mut task.part(None, WALKS..1.0))?;
        let vectors = scaled(&found.left, found.values.iter().map(|value| value.sqrt()));
        Ok(Found { vectors, ..Found::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectra::tests::{add_outer, check_products, dense, largest, reversed, with_directed_view};
    use crate::tests::{fit, network};
    use manyview_data::network::Network;
    use serde_json::json;

    fn mashup(dim: usize) -> Mashup {
        Mashup { dim, tol: 1e-9, least: 0.0, ..Mashup::default() }
    }

    /// `E Eᵀ = U S Uᵀ`, of `sum_k R_k R_kᵀ = U S² Uᵀ`, by many dense steps.
    fn expected(network: &Network, dim: usize) -> Vec<f64> {
        let nodes = network.nodes().len();
        let mut sum = vec![0.0; nodes * nodes];
        for view in network.views() {
            let weights = dense(view);
            let degrees: Vec<f64> = weights.chunks_exact(nodes).map(|row| row.iter().sum()).collect();
            let mut rows = vec![vec![0.0; nodes]; nodes];
            for (start, row) in rows.iter_mut().enumerate().filter(|(start, _)| degrees[*start] > 0.0) {
                row[start] = 1.0;
                for _ in 0..100 {
                    let mut next = vec![0.0; nodes];
                    next[start] = 0.5;
                    for from in (0..nodes).filter(|&from| row[from] > 0.0) {
                        for to in 0..nodes {
                            next[to] += 0.5 * row[from] * weights[from * nodes + to] / degrees[from];
                        }
                    }
                    *row = next;
                }
            }
            for to in 0..nodes {
                let column: Vec<f64> = rows.iter().map(|row| (nodes as f64 * row[to]).ln_1p()).collect();
                add_outer(&mut sum, 1.0, &column);
            }
        }
        let mut products = vec![0.0; nodes * nodes];
        for (value, vector) in largest(sum, nodes, dim, |value| value) {
            add_outer(&mut products, value.max(0.0).sqrt(), &vector);
        }
        products
    }

    #[test]
    fn it_is_the_dense_decomposition() {
        for network in [network(), network().only(1), with_directed_view(&network())] {
            for dim in [6, 40] {
                check_products(&fit(&mashup(dim), &network), &expected(&network, dim));
            }
        }
    }

    /// The dropped entries are small: inner products change by 3 %.
    #[test]
    fn the_default_threshold_is_near_the_dense_matrix() {
        let network = network();
        let default = Mashup { dim: 8, ..Mashup::default() };
        let (rough, exact) = (fit(&default, &network).embedding, fit(&mashup(8), &network).embedding);
        let product = |of: &manyview_data::Embedding, a: usize, b: usize| -> f64 {
            of.row(a).iter().zip(of.row(b)).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
        };
        let pairs = || (0..40).flat_map(|a| (0..40).map(move |b| (a, b)));
        let squared: f64 = pairs().map(|(a, b)| product(&exact, a, b).powi(2)).sum();
        let error: f64 = pairs().map(|(a, b)| (product(&rough, a, b) - product(&exact, a, b)).powi(2)).sum();
        assert!(error < 0.04f64.powi(2) * squared, "{}", (error / squared).sqrt());
    }

    #[test]
    fn the_order_of_views_does_not_matter() {
        let network = network();
        assert_eq!(fit(&mashup(9), &network).embedding, fit(&mashup(9), &reversed(&network)).embedding);
    }

    #[test]
    fn columns_beyond_the_rank_are_zero() {
        let found = fit(&mashup(50), &network()).embedding;
        assert!((0..40).all(|row| found.row(row)[40..].iter().all(|&x| x == 0.0)));
    }

    #[test]
    fn senseless_settings_are_refused() {
        for (name, value, message) in [
            ("restart", json!(1), "restart = 1: expected a number from 0.01 to 0.99"),
            ("least", json!(-1), "least = -1: expected a number of at least 0"),
            ("tol", json!(0), "tol = 0: expected a number from"),
        ] {
            let error = Mashup::default().set_value(name, &value);
            assert!(error.starts_with(message), "{error}");
        }
    }

    impl Mashup {
        fn set_value(mut self, name: &str, value: &serde_json::Value) -> String {
            manyview_base::settings::Settings::set(&mut self, name, value).unwrap_err().to_string()
        }
    }
}

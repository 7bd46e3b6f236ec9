//! MASE, multiple adjacency spectral embedding: what the leading eigenvectors of all views have in common.
//!
//! V_k are the eigenvectors of view k whose eigenvalues have the largest magnitude. The vectors are the leading left
//! singular vectors of `[V_1 V_2 ...]`: the directions that most views agree on.
//!
//! After Arroyo, Athreya, Cape, Chen, Priebe and Vogelstein (2021), who take the plain adjacency matrix and, in the
//! algorithm they analyze, a few eigenvectors without the eigenvalues. With hundreds of columns, most of which are noise,
//! all of them count the same then, and with as many as nodes nothing is left but the identity. So by default the
//! eigenvectors are multiplied by the roots of the eigenvalues' magnitudes (the variant `scaled` of the authors), and the
//! result by the singular values: `E Eᵀ` is `n sum_k |S_k|`, restricted to the leading directions.
//!
//! The eigenvectors of the largest magnitude are the leading singular vectors. Those of `l` and `-l` may be turned within
//! their plane, which changes neither the space that they span nor the result.
//!
//! Invariant: vectors follow from the views alone, not from the seed or the order of views. Columns beyond the rank
//! are zero.

use manyview_base::error::Result;
use manyview_base::linalg::svd::{Sum, of_blocks};
use manyview_base::linalg::{Dense, Tiles};
use manyview_base::{named, settings};
use manyview_core::method::{Found, Method, Task};
use manyview_core::preset::{Preset, largest_dim};

use crate::spectra::{
    Adjacency, ColumnScale, ITERATIONS, MOST_ITERATIONS, matrix, of_columns, singular_vectors,
    undirected_views, view_columns,
};
use crate::{default_or, for_each_view};

/// The approximate share of the time that the eigenvectors of the views take.
const VIEWS: f64 = 0.8;

named! {
    /// What the columns of a view's basis are multiplied by.
    pub enum Bases {
        Scaled = "scaled", "the square roots of the eigenvalues' magnitudes";
        Unscaled = "unscaled", "1, as in the published algorithm";
    }
}

settings! {
    /// Settings of MASE.
    pub struct Mase {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of eigenvectors of each view.
        view_dim: Option<usize> = None
            => at_least(1.0).at_most(largest_dim()).absent("as many as columns, at most one for 8 nodes");
        /// The matrix of a view.
        adjacency: Adjacency = Adjacency::Normalized;
        /// What the eigenvectors of a view are multiplied by before the views are joined.
        bases: Bases = Bases::Scaled;
        /// What the columns of the embedding are multiplied by: the singular values, or nothing.
        column_scale: ColumnScale = ColumnScale::Values;
        /// The number of blocks of the Krylov iteration beyond those that are needed for the columns; more blocks make
        /// the last columns more accurate.
        iterations: usize = ITERATIONS => at_most(MOST_ITERATIONS).hint("the usual choice is 5");
    }
}

impl Mase {
    /// Computes the basis of a view.
    fn basis(&self, of: &Tiles<f32>, task: &mut Task<'_, '_>) -> Result<Dense<f32>> {
        let columns = view_columns(self.view_dim, task);
        // The directions of a single basis have no order by which some could be selected.
        task.dim = if task.network.views().len() == 1 { columns.min(task.dim) } else { columns };
        let mut found = singular_vectors(&Sum(&[of]), self.iterations, task)?;
        if self.bases == Bases::Scaled {
            let roots: Vec<f64> = found.values.iter().map(|value| value.sqrt()).collect();
            found.left.scale_columns(&roots);
        }
        // Columns beyond the rank would only make the last step slower.
        let rank = found.values.iter().filter(|&&value| value > 0.0).count();
        Ok(Dense::from_fn(found.left.rows(), rank, |row, col| found.left.row(row)[col]))
    }
}

impl Method for Mase {
    fn of_preset(preset: Preset) -> Option<Self> {
        let paper = Mase {
            adjacency: Adjacency::Plain,
            bases: Bases::Unscaled,
            column_scale: ColumnScale::Plain,
            ..Mase::default()
        };
        default_or(paper, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let views = undirected_views(task);
        let (dim, pool) = (task.dim, task.pool);
        let bases = for_each_view(&views, &mut task.part(None, 0.0..VIEWS), |_, view, task| {
            self.basis(&pool.run(|| matrix(view, self.adjacency)), task)
        })?;
        task.tell("common directions", VIEWS)?;
        let (left, values) = pool.run(|| of_blocks(&bases, dim));
        task.tell("common directions", 1.0)?;
        let vectors = of_columns(&left, self.column_scale, values.iter().map(|value| value * value));
        Ok(Found { vectors, ..Found::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectra::tests::{
        add_outer, check_products, dense, largest, normalized, reversed, with_directed_view,
    };
    use crate::tests::{fit, network};
    use manyview_data::network::Network;

    fn mase(dim: usize, adjacency: Adjacency, bases: Bases) -> Mase {
        Mase { dim, view_dim: Some(dim), adjacency, bases, ..Mase::default() }
    }

    /// `n U Uᵀ`, with U the eigenvectors of `sum_k V_k V_kᵀ`.
    fn expected(settings: &Mase, network: &Network) -> Vec<f64> {
        let nodes = network.nodes().len();
        let mut sum = vec![0.0; nodes * nodes];
        for view in network.views() {
            let matrix = match settings.adjacency {
                Adjacency::Normalized => normalized(view),
                Adjacency::Plain => {
                    let weights = dense(view);
                    let most = weights.iter().copied().fold(0.0, f64::max);
                    weights.iter().map(|weight| weight / most).collect()
                }
            };
            let single = network.views().len() == 1;
            let count = settings.view_dim.filter(|_| !single).unwrap_or(settings.dim);
            let pairs = largest(matrix, nodes, count, f64::abs);
            for (value, vector) in pairs.iter().filter(|(value, _)| value.abs() > 1e-9) {
                let weight = if settings.bases == Bases::Scaled { value.abs() } else { 1.0 };
                add_outer(&mut sum, weight, vector);
            }
        }
        let mut products = vec![0.0; nodes * nodes];
        for (value, vector) in largest(sum, nodes, settings.dim, |value| value) {
            if value > 1e-9 {
                let weight = if settings.column_scale == ColumnScale::Values { value } else { 1.0 };
                add_outer(&mut products, nodes as f64 * weight, &vector);
            }
        }
        products
    }

    #[test]
    fn it_is_the_dense_decomposition() {
        for network in [network(), network().only(1), with_directed_view(&network())] {
            for adjacency in [Adjacency::Normalized, Adjacency::Plain] {
                for bases in [Bases::Unscaled, Bases::Scaled] {
                    let plain = mase(6, adjacency, bases);
                    let published = Mase { column_scale: ColumnScale::Plain, ..plain.clone() };
                    for settings in [plain.clone(), Mase { view_dim: Some(11), ..plain }, published] {
                        check_products(&fit(&settings, &network), &expected(&settings, &network));
                    }
                }
            }
        }
    }

    #[test]
    fn the_order_of_views_does_not_matter() {
        let (network, settings) = (network(), mase(9, Adjacency::Normalized, Bases::Unscaled));
        assert_eq!(fit(&settings, &network).embedding, fit(&settings, &reversed(&network)).embedding);
    }

    #[test]
    fn columns_beyond_the_rank_are_zero() {
        let found = fit(&mase(50, Adjacency::Normalized, Bases::Unscaled), &network()).embedding;
        assert!((0..40).all(|row| found.row(row)[40..].iter().all(|&x| x == 0.0)));
        let few = Mase { view_dim: Some(2), ..mase(9, Adjacency::Normalized, Bases::Unscaled) };
        let found = fit(&few, &network()).embedding;
        assert!((0..40).all(|row| found.row(row)[6..].iter().all(|&x| x == 0.0)));
    }
}

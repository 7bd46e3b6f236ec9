//! Clustering on the Grassmann manifold (SC-ML): one subspace that is near those of all views.
//!
//! `L_k = I - S_k` with `S_k = D_k^-1/2 A_k D_k^-1/2`, and U_k the eigenvectors of its smallest eigenvalues. The vectors
//! are the eigenvectors of the smallest eigenvalues of `sum_k L_k - alpha sum_k U_k U_kᵀ`: smooth in all views, and near
//! the subspace of each (the second sum is the projection distance on the Grassmann manifold, up to a constant).
//!
//! They are those of the largest eigenvalues of `sum_k S_k + alpha sum_k U_k U_kᵀ`. All eigenvalues of `S_k + I` are at
//! least zero, so with a shift of I per view they are singular vectors.
//!
//! After Dong, Frossard, Vandergheynst and Nefedov (2014), who take as many columns as there are clusters. With hundreds,
//! most are noise; by default a column is multiplied by the root of its eigenvalue in the sum above (0 if that is
//! negative), which is small for those.
//!
//! Invariant: vectors follow from the views alone, not from the seed or the order of views. Nodes without edges have
//! zero vectors.

use manyview_base::error::Result;
use manyview_base::linalg::svd::Symmetric;
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
const VIEWS: f64 = 0.6;

named! {
    /// How the rows of the eigenvectors become vectors.
    pub enum RowScale {
        Unit = "unit", "scaled to length 1, as spectral clustering does";
        Plain = "plain", "not scaled";
    }
}

settings! {
    /// Settings of clustering on the Grassmann manifold.
    pub struct Grassmann {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of eigenvectors of each view.
        view_dim: Option<usize> = None
            => at_least(1.0).at_most(largest_dim()).absent("as many as columns, at most one for 8 nodes");
        /// The weight of the nearness to the subspaces of the views.
        alpha: f64 = 0.5 => at_least(0.0).at_most(1e6).hint("the usual choice is 0.5");
        /// What the columns of the embedding are multiplied by: the roots of the eigenvalues, or nothing.
        column_scale: ColumnScale = ColumnScale::Values;
        /// How vectors are scaled after that.
        row_scale: RowScale = RowScale::Unit;
        /// The number of blocks of the Krylov iteration beyond those that are needed for the columns; more blocks make
        /// the last columns more accurate.
        iterations: usize = ITERATIONS => at_most(MOST_ITERATIONS).hint("the usual choice is 5");
    }
}

impl Grassmann {
    /// Computes U_k.
    fn basis(&self, of: &Tiles<f32>, task: &mut Task<'_, '_>) -> Result<Dense<f32>> {
        task.dim = view_columns(self.view_dim, task);
        Ok(singular_vectors(&Symmetric::new(&[of], 1.0, 0.0, &[]), self.iterations, task)?.left)
    }
}

impl Method for Grassmann {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(Grassmann { column_scale: ColumnScale::Plain, ..Grassmann::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let views = undirected_views(task);
        let pool = task.pool;
        let matrices: Vec<Tiles<f32>> =
            pool.run(|| views.iter().map(|view| matrix(view, Adjacency::Normalized)).collect());
        let mut first = task.part(None, 0.0..VIEWS);
        let bases = for_each_view(&views, &mut first, |at, _, task| self.basis(&matrices[at], task))?;
        let parts: Vec<&Tiles<f32>> = matrices.iter().collect();
        let all = Symmetric::new(&parts, parts.len() as f64, self.alpha, &bases);
        let found = singular_vectors(&all, self.iterations, &mut task.part(None, VIEWS..1.0))?;
        let shift = parts.len() as f64;
        let mut vectors =
            of_columns(&found.left, self.column_scale, found.values.iter().map(|value| value - shift));
        if self.row_scale == RowScale::Unit {
            vectors.chunks_exact_mut(task.dim).for_each(to_unit_length);
        }
        Ok(Found { vectors, ..Found::default() })
    }
}

/// Scales a vector to length 1, unless it is zero.
fn to_unit_length(vector: &mut [f32]) {
    let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectra::tests::{
        add_outer, check_products, largest, normalized, reversed, with_directed_view,
    };
    use crate::tests::{fit, network};
    use manyview_core::method::LENGTH;
    use manyview_data::network::Network;

    fn plain(dim: usize, alpha: f64) -> Grassmann {
        Grassmann { dim, view_dim: Some(dim), alpha, row_scale: RowScale::Plain, ..Grassmann::default() }
    }

    /// `n U Uᵀ`, with U the eigenvectors of `sum_k L_k - alpha sum_k U_k U_kᵀ`, which is computed as written.
    fn expected(settings: &Grassmann, network: &Network) -> Vec<f64> {
        let nodes = network.nodes().len();
        let mut sum = vec![0.0; nodes * nodes];
        for view in network.views() {
            let adjacency = normalized(view);
            let laplacian: Vec<f64> = adjacency
                .iter()
                .enumerate()
                .map(|(at, x)| f64::from(u8::from(at % (nodes + 1) == 0)) - x)
                .collect();
            for (_, vector) in largest(laplacian.clone(), nodes, settings.dim, |value| -value) {
                add_outer(&mut sum, -settings.alpha, &vector);
            }
            sum.iter_mut().zip(&laplacian).for_each(|(sum, x)| *sum += x);
        }
        let mut products = vec![0.0; nodes * nodes];
        for (value, vector) in largest(sum, nodes, settings.dim, |value| -value) {
            let weight = match settings.column_scale {
                ColumnScale::Values => (network.views().len() as f64 - value).max(0.0),
                ColumnScale::Plain => 1.0,
            };
            add_outer(&mut products, nodes as f64 * weight, &vector);
        }
        products
    }

    #[test]
    fn it_is_the_dense_decomposition() {
        for network in [network(), network().only(1), with_directed_view(&network())] {
            for (dim, alpha) in [(4, 0.5), (9, 0.5), (7, 0.0), (5, 20.0)] {
                let values = plain(dim, alpha);
                let published = Grassmann { column_scale: ColumnScale::Plain, ..values.clone() };
                for settings in [values, published] {
                    check_products(&fit(&settings, &network), &expected(&settings, &network));
                }
            }
        }
    }

    #[test]
    fn rows_get_the_length_one() {
        let (network, unit) = (network(), Grassmann { dim: 5, view_dim: Some(5), ..Grassmann::default() });
        let (found, other) = (fit(&unit, &network).embedding, fit(&plain(5, 0.5), &network).embedding);
        for row in 0..found.rows() {
            let (unit, plain) = (found.row(row), other.row(row));
            // All of the same length, which is then the mean one.
            let unit: Vec<f32> = unit.iter().map(|x| x / LENGTH as f32).collect();
            let length: f32 = plain.iter().map(|x| x * x).sum::<f32>().sqrt();
            unit.iter()
                .zip(plain)
                .for_each(|(x, y)| assert!((x * length - y).abs() < 1e-4 * length.max(1.0)));
            assert!((unit.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn the_order_of_views_does_not_matter() {
        let network = network();
        assert_eq!(
            fit(&plain(9, 0.5), &network).embedding,
            fit(&plain(9, 0.5), &reversed(&network)).embedding
        );
    }

    #[test]
    fn columns_beyond_the_nodes_are_zero() {
        let found = fit(&plain(50, 0.5), &network()).embedding;
        assert!((0..40).all(|row| found.row(row)[40..].iter().all(|&x| x == 0.0)));
    }
}

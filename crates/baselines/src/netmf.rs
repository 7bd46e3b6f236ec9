//! NetMF, and three simple ways to use it on several views.
//!
//! NetMF approximates `M = log(max(X, 1))` of a view by its leading singular vectors, `M ~ U S Vᵀ`, and embeds nodes as
//! `U S^(1/2)`. `netmf-sum` factorizes the sum of the matrices of all views; `netmf-concat` divides the columns among
//! the views and concatenates their embeddings; `netmf-union` factorizes the matrix of the union of all views, in which
//! walks may change views at every step.
//!
//! Invariant: vectors follow from the matrices alone, not from the seed; the entry of the largest magnitude in each
//! column is positive. Columns beyond the rank are zero.

use manyview_base::error::{Error, Result};
use manyview_base::linalg::Tiles;
use manyview_base::linalg::svd::Sum;
use manyview_base::message::option_value;
use manyview_base::{named, settings};
use manyview_core::method::{Found, MemoryLike, Method, Task};
use manyview_core::mnmf::{Joint, Mnmf, largest_remainder};
use manyview_core::preset::{Preset, largest_dim};
use manyview_core::proximity;
use manyview_data::network::{Network, View};

use crate::boostne::Nmf;
use crate::edges::by_name;
use crate::spectra::{ITERATIONS, MOST_ITERATIONS, scaled, singular_vectors};
use crate::{default_or, each_of, each_view, proximity_matrices};

/// The approximate share of the time that the proximity takes.
const PROXIMITY: f64 = 0.3;

named! {
    /// How NetMF factorizes the matrix of a view.
    pub enum Factor {
        Svd = "svd", "singular vectors, as published";
        Nmf = "nmf", "one non-negative factorization, the same as boostne with one stage";
    }
}

settings! {
    /// Settings of NetMF.
    pub struct NetMf {
        /// The number of columns per view.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// How the matrix is factorized.
        factor: Factor = Factor::Svd;
        /// The number of blocks of the Krylov iteration beyond those that are needed for the columns; more blocks make
        /// the last columns more accurate.
        iterations: usize = ITERATIONS => at_most(MOST_ITERATIONS).hint("the usual choice is 5");
    } with {
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

settings! {
    /// Settings of NetMF on the sum of all views.
    pub struct NetMfSum {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of blocks of the Krylov iteration beyond those that are needed for the columns; more blocks make
        /// the last columns more accurate.
        iterations: usize = ITERATIONS => at_most(MOST_ITERATIONS).hint("the usual choice is 5");
        /// Whether the proximity of the union of all views, in which walks may change views, is one more matrix.
        joint: Joint = Joint::Off;
    } with {
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

settings! {
    /// Settings of NetMF on each view, with `dim` columns in total.
    pub struct NetMfConcat {
        /// The number of columns of the embedding, which are divided equally among the views.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of blocks of the Krylov iteration beyond those that are needed for the columns; more blocks make
        /// the last columns more accurate.
        iterations: usize = ITERATIONS => at_most(MOST_ITERATIONS).hint("the usual choice is 5");
        /// Whether the proximity of the union of all views, in which walks may change views, is one more matrix.
        joint: Joint = Joint::Off;
    } with {
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

settings! {
    /// Settings of NetMF on the union of all views.
    pub struct NetMfUnion {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of blocks of the Krylov iteration beyond those that are needed for the columns; more blocks make
        /// the last columns more accurate.
        iterations: usize = ITERATIONS => at_most(MOST_ITERATIONS).hint("the usual choice is 5");
    } with {
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

/// Computes `U S^(1/2)` of the sum of some matrices.
fn embed(matrices: &[&Tiles<f32>], iterations: usize, task: &mut Task<'_, '_>) -> Result<Vec<f32>> {
    let found = singular_vectors(&Sum(matrices), iterations, task)?;
    Ok(scaled(&found.left, found.values.iter().map(|value| value.sqrt())))
}

/// Embeds one view by singular vectors, in `task.dim` columns.
fn run_on_view(
    proximity: proximity::Settings,
    iterations: usize,
    view: &View,
    task: &mut Task<'_, '_>,
) -> Result<Found> {
    let matrix = proximity_matrices::of_view(proximity, view, &mut task.part(None, 0.0..PROXIMITY))?;
    let vectors = embed(&[&matrix], iterations, &mut task.part(None, PROXIMITY..1.0))?;
    Ok(Found { vectors, ..Found::default() })
}

impl Method for NetMf {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(NetMf { proximity: proximity_matrices::of_paper(), ..NetMf::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        each_view(task, |view, task| match self.factor {
            Factor::Svd => run_on_view(self.proximity, self.iterations, &task.network.views()[view], task),
            Factor::Nmf => Nmf::default().run_on_view(self.proximity, 1, view, task),
        })
    }

    fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        Some(proximity_matrices::memory_like(self.dim, self.proximity, views, true))
    }
}

impl Method for NetMfSum {
    fn of_preset(preset: Preset) -> Option<Self> {
        default_or(NetMfSum { proximity: proximity_matrices::of_paper(), ..NetMfSum::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let mut first = task.part(None, 0.0..PROXIMITY);
        let union = proximity_matrices::union_of_views(self.joint, &first);
        let views: Vec<&View> = first.network.views().iter().chain(&union).collect();
        let matrices = proximity_matrices::of_views(self.proximity, &views, &mut first)?;
        let parts: Vec<&Tiles<f32>> = matrices.iter().collect();
        let vectors = embed(&parts, self.iterations, &mut task.part(None, PROXIMITY..1.0))?;
        Ok(Found { vectors, ..Found::default() })
    }

    fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        let like = proximity_matrices::memory_like(self.dim, self.proximity, views, false);
        Some(MemoryLike { mnmf: Mnmf { joint: self.joint, ..like.mnmf }, ..like })
    }
}

impl Method for NetMfConcat {
    fn of_preset(preset: Preset) -> Option<Self> {
        let proximity = proximity_matrices::of_paper();
        default_or(NetMfConcat { proximity, ..NetMfConcat::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let union = proximity_matrices::union_of_views(self.joint, task);
        let views: Vec<&View> = task.network.views().iter().chain(&union).collect();
        let (dim, count) = (task.dim, views.len());
        if dim < count {
            let and_union = if union.is_some() { " and one for their union" } else { "" };
            let network_views = task.network.views().len();
            return Err(Error::config(format!(
                "{} is too small for {network_views} views: netmf-concat needs at least one column per view{and_union}",
                option_value("dim", dim)
            )));
        }
        let columns = largest_remainder(dim, &vec![1.0; count], 1);
        each_of(&views, task, |view, task| {
            task.dim = columns[view];
            run_on_view(self.proximity, self.iterations, views[view], task)
        })
    }

    fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        let like = proximity_matrices::memory_like(self.dim, self.proximity, views, false);
        Some(MemoryLike { mnmf: Mnmf { joint: self.joint, ..like.mnmf }, ..like })
    }
}

impl Method for NetMfUnion {
    fn of_preset(preset: Preset) -> Option<Self> {
        let proximity = proximity_matrices::of_paper();
        default_or(NetMfUnion { proximity, ..NetMfUnion::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        // In the order of names, because the order in which the weights are added changes their last digits.
        let views = by_name(task).into_iter().map(|(_, view)| view.clone()).collect();
        let sorted = Network::new(task.network.nodes().clone(), views);
        let union = proximity::union_of_views(sorted.views(), task.pool);
        let view = union.as_ref().unwrap_or(&sorted.views()[0]);
        run_on_view(self.proximity, self.iterations, view, task)
    }

    /// The matrices of the views are not computed, so this is more than it takes.
    fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        let like = proximity_matrices::memory_like(self.dim, self.proximity, views, false);
        Some(MemoryLike { mnmf: Mnmf { joint: Joint::On, ..like.mnmf }, ..like })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoostNe;
    use crate::spectra::tests::reversed;
    use crate::tests::{are_columns_of, fit, network, try_fit};
    use manyview_base::linalg::eigen;
    use manyview_base::parallel::Pool;
    use manyview_core::method::{Fit, Progress};
    use manyview_data::embedding::Kind;
    use serde_json::json;
    use std::ops::ControlFlow;

    fn netmf(dim: usize) -> NetMf {
        NetMf { dim, ..NetMf::default() }
    }

    /// M of a view of the test network, dense.
    fn dense(view: usize) -> Vec<f64> {
        let (network, pool) = (network(), Pool::new(Some(1)).unwrap());
        let mut go_on = |_: &Progress<'_>| ControlFlow::Continue(());
        let mut task = Task::new(&network, 1, 0, &pool, None, &mut go_on);
        let view = &network.views()[view];
        let matrix =
            proximity_matrices::of_view(proximity::Settings::default(), view, &mut task).unwrap().to_csr();
        let mut dense = vec![0.0; matrix.rows() * matrix.cols()];
        for row in 0..matrix.rows() {
            for (&col, &value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                dense[row * matrix.cols() + col as usize] = f64::from(value);
            }
        }
        dense
    }

    /// M is symmetric, so `|M| = U S Uᵀ = E Eᵀ`, and M itself is that with the signs of the eigenvalues.
    fn check_against_dense(fit: &Fit, matrix: &[f64]) {
        let (found, squared_scale) = (&fit.embedding, fit.vector_scale * fit.vector_scale);
        let nodes = found.rows();
        let exact = eigen::symmetric(matrix.to_vec(), nodes, nodes);
        let mut order: Vec<usize> = (0..nodes).collect();
        order.sort_by(|&a, &b| exact.values[b].abs().total_cmp(&exact.values[a].abs()));
        let largest = exact.values[order[0]].abs();
        for i in 0..nodes {
            for j in 0..nodes {
                let ours: f64 =
                    found.row(i).iter().zip(found.row(j)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
                let terms = order.iter().take(found.dim());
                let theirs: f64 = terms
                    .map(|&at| exact.values[at].abs() * exact.vectors[at][i] * exact.vectors[at][j])
                    .sum();
                let ours = ours / squared_scale;
                assert!((ours - theirs).abs() < 1e-4 * largest, "{ours} against {theirs}");
            }
        }
    }

    #[test]
    fn netmf_is_the_dense_decomposition() {
        for dim in [5, 40] {
            let network = network().only(1);
            let fit = fit(&netmf(dim), &network);
            check_against_dense(&fit, &dense(1));
            let found = fit.embedding;
            for col in 0..dim {
                let column = (0..found.rows()).map(|row| found.row(row)[col]);
                let largest = column.fold(0f32, |most, x| if x.abs() > most.abs() { x } else { most });
                assert!(largest >= 0.0);
            }
        }
    }

    #[test]
    fn the_sum_is_the_dense_decomposition_of_the_sum() {
        let sum: Vec<f64> =
            dense(0).iter().zip(dense(1)).zip(dense(2)).map(|((a, b), c)| a + b + c).collect();
        let found = fit(&NetMfSum { dim: 7, ..NetMfSum::default() }, &network());
        check_against_dense(&found, &sum);
    }

    #[test]
    fn concatenated_columns_are_those_of_each_view() {
        let network = network();
        let concat = |dim: usize| NetMfConcat { dim, ..NetMfConcat::default() };
        let found = fit(&concat(8), &network);
        let widths: Vec<usize> = found.embedding.parts().iter().map(|part| part.columns.len()).collect();
        assert_eq!(widths, [3, 3, 2]);
        for (view, part) in found.embedding.parts().iter().enumerate() {
            assert_eq!(part.view.as_deref(), Some(&*network.views()[view].name));
            let alone = fit(&netmf(part.columns.len()), &network.only(view));
            assert!(are_columns_of(&found, part.columns.clone(), &alone));
        }
        let message = try_fit(&concat(2), &network).unwrap_err().to_string();
        assert!(message.contains("dim = 2 is too small for 3 views"), "{message}");
    }

    #[test]
    fn the_union_is_one_more_matrix() {
        let network = network();
        let all = proximity::union_of_views(network.views(), &Pool::new(Some(2)).unwrap());
        let views: Vec<View> = network.views().iter().cloned().chain(all).collect();
        let extended = Network::new(network.nodes().clone(), views);
        let sum = |joint| NetMfSum { dim: 7, joint, ..NetMfSum::default() };
        let found = fit(&sum(Joint::On), &network).embedding;
        assert_eq!(found, fit(&sum(Joint::Off), &extended).embedding);
        let concat = |joint| NetMfConcat { dim: 10, joint, ..NetMfConcat::default() };
        let found = fit(&concat(Joint::On), &network).embedding;
        assert_eq!(found.values(), fit(&concat(Joint::Off), &extended).embedding.values());
        let last = &found.parts()[3];
        assert_eq!((last.kind, last.view.as_ref(), last.columns.clone()), (Kind::Joint, None, 8..10));
        let message =
            try_fit(&NetMfConcat { dim: 3, ..concat(Joint::On) }, &network).unwrap_err().to_string();
        assert!(message.contains("one column per view and one for their union"), "{message}");
    }

    #[test]
    fn netmf_of_the_union_is_netmf_of_one_more_view() {
        let network = network();
        let union = NetMfUnion { dim: 7, ..NetMfUnion::default() };
        let found = fit(&union, &network).embedding;
        let view = proximity::union_of_views(network.views(), &Pool::new(Some(2)).unwrap()).unwrap();
        let alone = Network::new(network.nodes().clone(), vec![view]);
        assert_eq!(found.values(), fit(&netmf(7), &alone).embedding.values());
        assert_eq!(found.parts().len(), 1);
        assert_eq!(found, fit(&union, &reversed(&network)).embedding);
        let one = network.only(1);
        assert_eq!(fit(&union, &one).embedding.values(), fit(&netmf(7), &one).embedding.values());
    }

    #[test]
    fn columns_beyond_the_rank_and_nodes_without_edges_are_zero() {
        let network = network();
        let found = fit(&netmf(45), &network).embedding;
        for (view, of) in network.views().iter().enumerate() {
            let columns = 45 * view..45 * (view + 1);
            for row in 0..found.rows() {
                let vector = &found.row(row)[columns.clone()];
                assert!(vector[40..].iter().all(|&x| x == 0.0));
                let absent = of.adjacency.row(row).0.is_empty();
                assert_eq!(vector.iter().all(|&x| x == 0.0), absent);
            }
        }
        let absent =
            |view: &manyview_data::network::View| (0..40).any(|row| view.adjacency.row(row).0.is_empty());
        assert!(network.views().iter().any(absent), "the network has a node without edges");
    }

    #[test]
    fn with_nmf_it_is_boostne_with_one_stage() {
        let network = network();
        let ours = fit(&NetMf { factor: Factor::Nmf, ..netmf(5) }, &network);
        let theirs = fit(&BoostNe { dim: 5, stages: 1, ..BoostNe::default() }, &network);
        assert_eq!(ours.embedding, theirs.embedding);
    }

    fn check_refused<M: Method>() {
        for (name, value, message) in [
            ("window", json!(0), "window = 0: expected a whole number of at least 1"),
            ("negative", json!(-1.0), "negative = -1: expected a number above 0"),
            ("iterations", json!(5000), "iterations = 5000: expected a whole number of at most 1000"),
        ] {
            let error = M::default().set(name, &value).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn senseless_settings_are_refused() {
        check_refused::<NetMf>();
        check_refused::<NetMfSum>();
        check_refused::<NetMfConcat>();
        check_refused::<NetMfUnion>();
        let near = proximity::Settings { window: 0, ..proximity::Settings::default() };
        assert!(NetMf { proximity: near, ..netmf(5) }.check().is_err());
        assert_eq!(NetMf::of_preset(Preset::Paper).unwrap().proximity.negative, 5.0);
    }
}

//! NetMF, and the two plainest ways to use it on several views.
//!
//! NetMF explains a view's `M = log(max(X, 1))` by its leading singular vectors, `M ~ U S Vᵀ`, and embeds nodes as
//! `U S^(1/2)`. `netmf-sum` does this to the sum of all views' matrices; `netmf-concat` shares the columns out over
//! the views and puts their embeddings side by side.
//!
//! Invariant: vectors follow from the matrices alone, not from the seed; the entry of the largest magnitude in each
//! column is positive. Columns beyond the rank are zero.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::boostne::Nmf;
use super::near::Near;
use super::{Found, Rival, Task, each_view};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Tiles;
use manyview_base::linalg::svd::{Svd, truncated};
use manyview_base::named;
use manyview_core::config::{Preset, largest_remainder};

/// Enough for an error as low as that of seven power iterations, on networks of some thousand nodes.
const ITERATIONS: usize = 5;

/// More blocks than these would be a dense decomposition by other means.
const MOST_ITERATIONS: usize = 1000;

/// Share of the work that the proximity takes, about.
const PROXIMITY: f64 = 0.3;

/// What NetMF makes of a view's matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Factor {
    /// Singular vectors.
    #[default]
    Svd,
    /// The left factor of a non-negative factorization.
    Nmf,
}

named! { Factor:
    Svd = "svd", "singular vectors, as published";
    Nmf = "nmf", "one non-negative factorization, which is boostne with one stage";
}

/// Settings of NetMF.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetMf {
    /// Which pairs of nodes count as near.
    #[serde(flatten)]
    pub near: Near,
    /// What is made of the matrix.
    pub factor: Factor,
    /// Blocks of the Krylov iteration beyond those that hold the columns: more make the last columns more exact.
    pub iterations: usize,
}

/// Settings of NetMF of the sum of all views.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetMfSum {
    /// Which pairs of nodes count as near.
    #[serde(flatten)]
    pub near: Near,
    /// As in [`NetMf`].
    pub iterations: usize,
}

/// Settings of NetMF of each view, `dim` columns in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetMfConcat {
    /// Which pairs of nodes count as near.
    #[serde(flatten)]
    pub near: Near,
    /// As in [`NetMf`].
    pub iterations: usize,
}

fn check_iterations(iterations: usize) -> Result<()> {
    if iterations > MOST_ITERATIONS {
        return Err(Error::config(format!(
            "iterations = {iterations} is more than {MOST_ITERATIONS}; the usual choice is {ITERATIONS}"
        )));
    }
    Ok(())
}

/// `U S^(1/2)` of the sum of some matrices.
fn embed(matrices: &[&Tiles<f32>], iterations: usize, task: &mut Task<'_, '_>) -> Result<Vec<f32>> {
    let done = AtomicU64::new(0f64.to_bits());
    let dim = task.dim;
    let work = |canceled: &AtomicBool| {
        truncated(matrices, dim, iterations, &|share| {
            done.store(share.to_bits(), Ordering::Relaxed);
            !canceled.load(Ordering::Relaxed)
        })
    };
    let pool = task.pool;
    let found = pool.run_watched(work, &mut || {
        let told = task.tell("singular vectors", f64::from_bits(done.load(Ordering::Relaxed)));
        if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    Ok(scaled(&found.ok_or(Error::Interrupted)?))
}

fn scaled(svd: &Svd) -> Vec<f32> {
    let roots: Vec<f64> = svd.values.iter().map(|value| value.sqrt()).collect();
    let row =
        |row: usize| svd.left.row(row).iter().zip(&roots).map(|(&x, root)| (f64::from(x) * root) as f32);
    (0..svd.left.rows()).flat_map(row).collect()
}

/// NetMF of one view, `task.dim` columns.
fn fit_view(near: &Near, iterations: usize, view: usize, task: &mut Task<'_, '_>) -> Result<Found> {
    let matrix = near.matrix(&task.network.views()[view], &mut task.part(None, 0.0..PROXIMITY))?;
    let vectors = embed(&[&matrix], iterations, &mut task.part(None, PROXIMITY..1.0))?;
    Ok(Found { vectors, ..Found::default() })
}

impl Default for NetMf {
    fn default() -> Self {
        NetMf { near: Near::of(Preset::Default), factor: Factor::Svd, iterations: ITERATIONS }
    }
}

impl Rival for NetMf {
    fn paper() -> Self {
        NetMf { near: Near::of(Preset::Paper), ..NetMf::default() }
    }

    fn check(&self) -> Result<()> {
        self.near.check()?;
        check_iterations(self.iterations)
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let Near { window, negative } = self.near;
        let nmf = Nmf { window, negative, ..Nmf::of(Preset::Default) };
        each_view(task, |view, task| match self.factor {
            Factor::Svd => fit_view(&self.near, self.iterations, view, task),
            Factor::Nmf => nmf.fit_view(1, view, task),
        })
    }

    fn proximity(&self) -> Option<(usize, f64)> {
        Some((self.near.window, self.near.negative))
    }
}

impl Default for NetMfSum {
    fn default() -> Self {
        NetMfSum { near: Near::of(Preset::Default), iterations: ITERATIONS }
    }
}

impl Rival for NetMfSum {
    fn paper() -> Self {
        NetMfSum { near: Near::of(Preset::Paper), ..NetMfSum::default() }
    }

    fn check(&self) -> Result<()> {
        self.near.check()?;
        check_iterations(self.iterations)
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let matrices = self.near.matrices(&mut task.part(None, 0.0..PROXIMITY))?;
        let parts: Vec<&Tiles<f32>> = matrices.iter().collect();
        let vectors = embed(&parts, self.iterations, &mut task.part(None, PROXIMITY..1.0))?;
        Ok(Found { vectors, ..Found::default() })
    }

    fn proximity(&self) -> Option<(usize, f64)> {
        Some((self.near.window, self.near.negative))
    }
}

impl Default for NetMfConcat {
    fn default() -> Self {
        NetMfConcat { near: Near::of(Preset::Default), iterations: ITERATIONS }
    }
}

impl Rival for NetMfConcat {
    fn paper() -> Self {
        NetMfConcat { near: Near::of(Preset::Paper), ..NetMfConcat::default() }
    }

    fn check(&self) -> Result<()> {
        self.near.check()?;
        check_iterations(self.iterations)
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        let (dim, views) = (task.dim, task.network.views().len());
        if dim < views {
            return Err(Error::config(format!(
                "dim = {dim} is too small for {views} views: netmf-concat needs a column for each"
            )));
        }
        let columns = largest_remainder(dim, &vec![1.0; views], 1);
        each_view(task, |view, task| {
            task.dim = columns[view];
            fit_view(&self.near, self.iterations, view, task)
        })
    }

    fn proximity(&self) -> Option<(usize, f64)> {
        Some((self.near.window, self.near.negative))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Method, Model, tests::network};
    use manyview_base::linalg::eigen;
    use serde_json::{Map, Value, json};

    fn model(method: Method, settings: Value) -> Model {
        let Value::Object(settings) = settings else { panic!("an object") };
        Model::new(method, Preset::Default, &settings).unwrap()
    }

    /// M of a view of the test network, dense.
    fn dense(view: usize) -> Vec<f64> {
        let (network, pool) = (network(), manyview_base::parallel::Pool::new(Some(1)).unwrap());
        let mut nobody = |_: &super::super::Progress<'_>| ControlFlow::Continue(());
        let mut task = Task::new(&network, 1, 0, &pool, None, &mut nobody);
        let matrix = Near::of(Preset::Default).matrix(&network.views()[view], &mut task).unwrap().to_csr();
        let mut dense = vec![0.0; matrix.rows() * matrix.cols()];
        for row in 0..matrix.rows() {
            for (&col, &value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                dense[row * matrix.cols() + col as usize] = f64::from(value);
            }
        }
        dense
    }

    /// M is symmetric, so `|M| = U S Uᵀ = E Eᵀ`, and M itself is that with the signs of the eigenvalues.
    fn check_against_dense(found: &manyview_data::Embedding, matrix: &[f64]) {
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
                assert!((ours - theirs).abs() < 1e-4 * largest, "{ours} against {theirs}");
            }
        }
    }

    #[test]
    fn netmf_is_the_dense_decomposition() {
        for dim in [5, 40] {
            let network = network().only(1);
            let found = model(Method::NetMf, json!({"dim": dim})).fit(&network).unwrap().embedding;
            check_against_dense(&found, &dense(1));
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
        let found = model(Method::NetMfSum, json!({"dim": 7})).fit(&network()).unwrap().embedding;
        check_against_dense(&found, &sum);
    }

    #[test]
    fn concatenated_columns_are_those_of_each_view() {
        let network = network();
        let found = model(Method::NetMfConcat, json!({"dim": 8})).fit(&network).unwrap().embedding;
        let widths: Vec<usize> = found.parts().iter().map(|part| part.columns.len()).collect();
        assert_eq!(widths, [3, 3, 2]);
        for (view, part) in found.parts().iter().enumerate() {
            assert_eq!(part.view.as_deref(), Some(&*network.views()[view].name));
            let alone = model(Method::NetMf, json!({"dim": part.columns.len()}));
            let alone = alone.fit(&network.only(view)).unwrap().embedding;
            for row in 0..found.rows() {
                assert_eq!(&found.row(row)[part.columns.clone()], alone.row(row));
            }
        }
        let told = model(Method::NetMfConcat, json!({"dim": 2})).fit(&network).unwrap_err().to_string();
        assert!(told.contains("dim = 2 is too small for 3 views"), "{told}");
    }

    #[test]
    fn columns_beyond_the_rank_and_nodes_without_edges_are_zero() {
        let network = network();
        let found = model(Method::NetMf, json!({"dim": 45})).fit(&network).unwrap().embedding;
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
        let ours = model(Method::NetMf, json!({"dim": 5, "factor": "nmf"})).fit(&network).unwrap();
        let theirs = model(Method::BoostNe, json!({"dim": 5, "stages": 1})).fit(&network).unwrap();
        assert_eq!(ours.embedding, theirs.embedding);
    }

    #[test]
    fn senseless_settings_are_refused() {
        for method in [Method::NetMf, Method::NetMfSum, Method::NetMfConcat] {
            for (settings, told) in [
                (json!({"window": 0}), "window = 0"),
                (json!({"negative": -1.0}), "negative = -1"),
                (json!({"iterations": 5000}), "iterations = 5000 is more than 1000; the usual choice is 5"),
            ] {
                let error = model(method, settings).check().unwrap_err().to_string();
                assert!(error.contains(told), "{error}");
            }
        }
        let paper = Model::new(Method::NetMf, Preset::Paper, &Map::new()).unwrap();
        assert_eq!(serde_json::to_value(paper).unwrap()["negative"], json!(5.0));
    }
}

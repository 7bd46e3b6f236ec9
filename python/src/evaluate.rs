//! Classification, clustering and link prediction. Results are returned as JSON.

use std::cell::RefCell;
use std::path::PathBuf;

use manyview::evaluate::{self, ClassifySettings, ClusterSettings, LinkSettings, Vectors};
use manyview::message::{Warning, WarningKind};
use manyview::network::Nodes;
use manyview::parallel::Pool;
use manyview::{Error, FitOptions, Labels, Model, Network, Progress};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::{detached, to_python};
use crate::fit::{Warnings, fitted, warnings};
use crate::network::PyNetwork;
use crate::settings::{GivenModel, named};
use crate::watch::{Fact, Watch};

/// A label file; or the labels of each node, and the number of other ids that have labels.
#[derive(FromPyObject)]
pub(crate) enum GivenLabels {
    File(PathBuf),
    Sets(Vec<Vec<String>>, usize),
}

impl GivenLabels {
    /// Returns the labels of these nodes.
    pub(crate) fn of(&self, nodes: &Nodes) -> Result<Labels, Error> {
        match self {
            GivenLabels::File(path) => Labels::open(path, nodes),
            GivenLabels::Sets(sets, unknown) => {
                Labels::from_sets(nodes.iter(), sets).map(|labels| labels.and_unknown(*unknown))
            }
        }
    }
}

/// Settings of [`classify`], by name.
#[derive(FromPyObject)]
pub(crate) struct GivenClassify {
    #[pyo3(item)]
    train: Vec<f64>,
    #[pyo3(item)]
    repeats: usize,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    c: String,
    #[pyo3(item)]
    l2norm: bool,
    #[pyo3(item)]
    standardize: bool,
    #[pyo3(item)]
    max_iter: usize,
    #[pyo3(item)]
    threads: Option<usize>,
}

/// Classifies nodes by their vectors.
#[pyfunction]
pub(crate) fn classify(
    py: Python<'_>,
    vectors: PyReadonlyArray2<'_, f32>,
    ids: Vec<String>,
    labels: GivenLabels,
    given: GivenClassify,
) -> PyResult<String> {
    let settings = ClassifySettings {
        train: given.train,
        repeats: given.repeats,
        seed: given.seed,
        c: given.c.parse().map_err(to_python)?,
        l2norm: given.l2norm,
        standardize: given.standardize,
        max_iter: given.max_iter,
        ..ClassifySettings::default()
    };
    on_vectors(py, &vectors, &ids, &labels, given.threads, |vectors, labels, pool, watch| {
        evaluate::classify_watched(vectors, labels, &settings, pool, watch)
    })
}

/// Settings of [`cluster`], by name.
#[derive(FromPyObject)]
pub(crate) struct GivenCluster {
    #[pyo3(item)]
    k: Option<usize>,
    #[pyo3(item)]
    repeats: usize,
    #[pyo3(item)]
    restarts: usize,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    max_iter: usize,
    #[pyo3(item)]
    average: String,
    #[pyo3(item)]
    l2norm: bool,
    #[pyo3(item)]
    standardize: bool,
    #[pyo3(item)]
    threads: Option<usize>,
}

/// Clusters nodes by their vectors and compares the clusters with labels.
#[pyfunction]
pub(crate) fn cluster(
    py: Python<'_>,
    vectors: PyReadonlyArray2<'_, f32>,
    ids: Vec<String>,
    labels: GivenLabels,
    given: GivenCluster,
) -> PyResult<String> {
    let settings = ClusterSettings {
        k: given.k,
        repeats: given.repeats,
        restarts: given.restarts,
        seed: given.seed,
        max_iter: given.max_iter,
        average: named("average", &given.average)?,
        l2norm: given.l2norm,
        standardize: given.standardize,
    };
    on_vectors(py, &vectors, &ids, &labels, given.threads, |vectors, labels, pool, watch| {
        evaluate::cluster_watched(vectors, labels, &settings, pool, watch)
    })
}

fn on_vectors<R: Serialize + Send>(
    py: Python<'_>,
    vectors: &PyReadonlyArray2<'_, f32>,
    ids: &[String],
    labels: &GivenLabels,
    threads: Option<usize>,
    work: impl FnOnce(&Vectors<'_>, &Labels, &Pool, &mut evaluate::Watch<'_>) -> Result<R, Error> + Send,
) -> PyResult<String> {
    let (rows, dim) = (vectors.shape()[0], vectors.shape()[1]);
    let values = vectors.as_slice()?;
    let mut watch = Watch::new(None);
    let result = detached(py, || {
        let labels = labels.of(&Nodes::new(ids)?)?;
        let vectors = Vectors::new(values, rows, dim)?;
        work(&vectors, &labels, &Pool::new(threads)?, &mut |_| watch.look(&[]))
    });
    json(&watch.outcome(result)?)
}

/// Hides edges, embeds the remaining network, and scores the hidden edges. Returns the scores as JSON, and warnings.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are the arguments of the Python function")]
pub(crate) fn links(
    py: Python<'_>,
    network: &PyNetwork,
    model: GivenModel,
    view: Option<String>,
    hide: f64,
    repeats: usize,
    score: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<(String, Warnings)> {
    let model = model.model()?;
    let score = named("score", score)?;
    let settings = LinkSettings { view, hide, repeats, seed: model.seed, score };
    settings.check().map_err(to_python)?;
    let network = &network.network;
    let mut watch = Watch::new(callback);
    let result = detached(py, || {
        // The embedding and the evaluation use it in turn, on this thread.
        hide_and_embed(network, &model, &settings, &RefCell::new(&mut watch))
    });
    let (found, told) = watch.outcome(result)?;
    Ok((json(&found)?, warnings(&told)))
}

fn hide_and_embed(
    network: &Network,
    model: &Model,
    settings: &LinkSettings,
    watch: &RefCell<&mut Watch>,
) -> Result<(evaluate::Links, Vec<Warning>), Error> {
    // The remaining network has fewer edges, so it needs no more memory than the whole.
    let (model, _) = fitted(model, network, None, false, &mut watch.borrow_mut())?;
    let mut told: Vec<Warning> = Vec::new();
    let embed = |rest: &Network, _: usize| {
        let mut look = |_: &Progress<'_>| watch.borrow_mut().look(&[]);
        let fit = model.fit_with(rest, &FitOptions::default(), &mut look)?;
        for warning in fit.warnings {
            // The repeats differ in how many factorizations did not converge.
            let same = |other: &Warning| {
                *other == warning || other.kind == warning.kind && warning.kind == WarningKind::NotConverged
            };
            if !told.iter().any(same) {
                told.push(warning);
            }
        }
        let dim = fit.embedding.dim();
        Ok((fit.embedding.into_vectors().0, dim))
    };
    let pool = Pool::new(model.threads)?;
    let found = evaluate::links_watched(network, settings, &pool, embed, &mut |step| {
        watch.borrow_mut().look(&[("done", Fact::Whole(step.done)), ("total", Fact::Whole(step.total))])
    })?;
    Ok((found, told))
}

fn json<T: Serialize>(result: &T) -> PyResult<String> {
    serde_json::to_string(result).map_err(|error| PyValueError::new_err(error.to_string()))
}

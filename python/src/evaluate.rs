//! Classification, clustering and link prediction; results go out as JSON, which Python has a reader for.

use std::cell::RefCell;
use std::path::PathBuf;

use manyview::comm::Local;
use manyview::evaluate::metrics::Average;
use manyview::evaluate::{self, ClassifySettings, ClusterSettings, Labels, LinkScore, LinkSettings, Vectors};
use manyview::methods::Model;
use manyview::parallel::Pool;
use manyview::{Config, Embedding, Error, Network, NetworkBuilder};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::config::config;
use crate::error::{in_python, to_python};
use crate::methods::model;
use crate::network::PyNetwork;
use crate::watch::{Fact, Watch};

/// A label file; or the labels of each node, and how many ids that are no nodes had some.
#[derive(FromPyObject)]
pub(crate) enum GivenLabels {
    File(PathBuf),
    Sets(Vec<Vec<String>>, usize),
}

impl GivenLabels {
    /// The labels of these nodes.
    pub(crate) fn of(&self, ids: &[String]) -> Result<Labels, Error> {
        match self {
            GivenLabels::File(path) => Labels::open(path, NetworkBuilder::with_nodes(ids)?.nodes()),
            GivenLabels::Sets(sets, unknown) => {
                Labels::from_sets(ids, sets).map(|labels| labels.and_unknown(*unknown))
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

/// Clusters nodes by their vectors and compares with labels.
#[pyfunction]
pub(crate) fn cluster(
    py: Python<'_>,
    vectors: PyReadonlyArray2<'_, f32>,
    ids: Vec<String>,
    labels: GivenLabels,
    given: GivenCluster,
) -> PyResult<String> {
    let average = match given.average.as_str() {
        "arithmetic" => Average::Arithmetic,
        "geometric" => Average::Geometric,
        "min" => Average::Min,
        "max" => Average::Max,
        other => {
            let sentence = format!("average = {other:?} is not one of arithmetic, geometric, min, max");
            return Err(PyValueError::new_err(sentence));
        }
    };
    let settings = ClusterSettings {
        k: given.k,
        repeats: given.repeats,
        restarts: given.restarts,
        seed: given.seed,
        max_iter: given.max_iter,
        average,
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
    let result = py.detach(|| {
        let labels = labels.of(ids)?;
        let vectors = Vectors::new(values, rows, dim)?;
        work(&vectors, &labels, &Pool::new(threads)?, &mut |_| watch.look(&[]))
    });
    json(&watch.outcome(result)?)
}

/// The parameters of MNMF; or another method, its preset, and its settings as JSON.
#[derive(FromPyObject)]
pub(crate) enum GivenMethod<'py> {
    Mnmf(Bound<'py, PyDict>),
    Other(String, String, String),
}

/// A method with all its settings, checked.
enum Chosen {
    Mnmf(Config),
    Other(Model),
}

impl Chosen {
    fn of(given: &GivenMethod<'_>) -> PyResult<Self> {
        let (chosen, checked) = match given {
            GivenMethod::Mnmf(parameters) => {
                let config = config(parameters)?;
                let checked = config.check();
                (Chosen::Mnmf(config), checked)
            }
            GivenMethod::Other(method, preset, settings) => {
                let model = model(method, preset, settings)?;
                let checked = model.check();
                (Chosen::Other(model), checked)
            }
        };
        checked.map_err(to_python)?;
        Ok(chosen)
    }

    fn seed(&self) -> u64 {
        match self {
            Chosen::Mnmf(config) => config.seed,
            Chosen::Other(model) => model.seed,
        }
    }

    fn threads(&self) -> Option<usize> {
        match self {
            Chosen::Mnmf(config) => config.threads,
            Chosen::Other(model) => model.threads,
        }
    }

    /// The vectors, and what a person should read about how they came about.
    fn embed(&self, network: &Network, watch: &RefCell<Watch>) -> Result<(Embedding, Vec<String>), Error> {
        match self {
            Chosen::Mnmf(config) => {
                let fit = config.fit_with(network, &Local, &mut |_| watch.borrow_mut().look(&[]))?;
                // Convergence is what these are about mostly, and no matter of the scores.
                Ok((fit.embedding, Vec::new()))
            }
            Chosen::Other(model) => {
                let outcome = model.fit_with(network, None, &mut |_| watch.borrow_mut().look(&[]))?;
                Ok((outcome.embedding, outcome.warnings))
            }
        }
    }
}

/// Hides edges, embeds what is left, and looks whether hidden edges are found again: scores as JSON, and warnings.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are the settings, by name")]
pub(crate) fn links(
    py: Python<'_>,
    network: &PyNetwork,
    method: GivenMethod<'_>,
    view: Option<String>,
    hide: f64,
    repeats: usize,
    score: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let chosen = Chosen::of(&method)?;
    let score = match score {
        "cosine" => LinkScore::Cosine,
        "dot" => LinkScore::Dot,
        _ => return Err(PyValueError::new_err(format!("score = {score:?} is not one of cosine, dot"))),
    };
    let settings = LinkSettings { view, hide, repeats, seed: chosen.seed(), score };
    let network = &network.network;
    let (result, watch) = py.detach(|| {
        // Both the embedding and the evaluation look, one after the other on this thread.
        let watch = RefCell::new(Watch::new(callback));
        let result = hide_and_embed(network, &chosen, &settings, &watch);
        (result, watch.into_inner())
    });
    let (found, warnings) = watch.outcome(result)?;
    Ok((json(&found)?, warnings.iter().map(|warning| in_python(warning)).collect()))
}

fn hide_and_embed(
    network: &Network,
    chosen: &Chosen,
    settings: &LinkSettings,
    watch: &RefCell<Watch>,
) -> Result<(evaluate::Links, Vec<String>), Error> {
    let mut warnings = Vec::new();
    let embed = |rest: &Network, _: usize| {
        let (embedding, told) = chosen.embed(rest, watch)?;
        // What is true of one repeat is mostly true of all.
        warnings.extend(told.into_iter().filter(|sentence| !warnings.contains(sentence)).collect::<Vec<_>>());
        Ok((embedding.values().to_vec(), embedding.dim()))
    };
    let found =
        evaluate::links_watched(network, settings, &Pool::new(chosen.threads())?, embed, &mut |step| {
            watch.borrow_mut().look(&[("done", Fact::Whole(step.done)), ("total", Fact::Whole(step.total))])
        })?;
    Ok((found, warnings))
}

fn json<T: Serialize>(result: &T) -> PyResult<String> {
    serde_json::to_string(result).map_err(|error| PyValueError::new_err(error.to_string()))
}

//! Methods other than MNMF, by name.

use std::time::Instant;

use manyview::Config;
use manyview::config::Preset;
use manyview::methods::{Method, Model, Progress};
use manyview::result::{MethodRecord, MethodSeconds};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::error::{in_python, to_python};
use crate::evaluate::GivenLabels;
use crate::network::PyNetwork;
use crate::watch::{Fact, Watch};

/// All methods with their groups, help and default settings, as JSON.
#[pyfunction]
pub(crate) fn methods() -> PyResult<String> {
    let mut all = Map::new();
    for method in Method::ALL {
        let settings = match method {
            Method::Mnmf => serde_json::to_value(Config::default()),
            _ => serde_json::to_value(Model::new(method, Preset::Default, &Map::new()).map_err(to_python)?),
        };
        let settings = settings.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let entry = json!({"group": method.group().name(), "help": method.help(), "settings": settings});
        all.insert(method.name().into(), entry);
    }
    Ok(Value::Object(all).to_string())
}

/// Embeds a network by a method whose settings come as JSON: the vectors, the run's record as JSON, and warnings.
///
/// Labels come with the ids of the nodes, as text: a network made of arrays does not know them.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are what the caller was given, by name")]
pub(crate) fn embed<'py>(
    py: Python<'py>,
    network: &PyNetwork,
    method: &str,
    preset: &str,
    settings: &str,
    labels: Option<(GivenLabels, Vec<String>)>,
    command: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyArray2<f32>>, String, Vec<String>)> {
    let model = model(method, preset, settings)?;
    model.check().map_err(to_python)?;
    if labels.is_some() != model.learns_from_labels() {
        let sentence = match labels {
            Some(_) => format!("labels: {method} as set learns from no labels; leave it out"),
            None => format!("{method} with attention needs labels of training nodes: give labels"),
        };
        return Err(PyValueError::new_err(sentence));
    }
    let (network, began) = (&network.network, Instant::now());
    let mut watch = Watch::new(callback);
    let result = py.detach(|| {
        let labels = labels.as_ref().map(|(labels, ids)| labels.of(ids)).transpose()?;
        model.fit_with(network, labels.as_ref(), &mut |now: &Progress<'_>| {
            watch.look(&[
                ("phase", Fact::Text("method")),
                ("doing", Fact::Text(now.doing)),
                ("view", Fact::Text(now.view.unwrap_or(""))),
                ("done", Fact::Number(now.done)),
            ])
        })
    });
    let outcome = watch.outcome(result)?;
    let seconds =
        MethodSeconds { read: 0.0, fit: outcome.seconds, write: 0.0, total: began.elapsed().as_secs_f64() };
    let mut record = Vec::new();
    MethodRecord::new(command, &model, network, &[], &outcome, seconds).write_to(&mut record)?;
    let (rows, dim) = (outcome.embedding.rows(), outcome.embedding.dim());
    let vectors = outcome.embedding.values().to_vec().into_pyarray(py).reshape([rows, dim])?;
    let warnings = outcome.warnings.iter().map(|warning| in_python(warning)).collect();
    Ok((vectors, String::from_utf8(record)?, warnings))
}

/// A method with settings laid over those of a preset.
pub(crate) fn model(method: &str, preset: &str, settings: &str) -> PyResult<Model> {
    let unknown = |what: &str, given: &str, names: Vec<&str>| {
        PyValueError::new_err(format!("{what} = {given:?} is not one of {}", names.join(", ")))
    };
    let known = Method::from_name(method)
        .ok_or_else(|| unknown("method", method, Method::ALL.map(Method::name).to_vec()))?;
    let preset = Preset::from_name(preset)
        .ok_or_else(|| unknown("preset", preset, Preset::ALL.map(Preset::name).to_vec()))?;
    let values: Map<String, Value> =
        serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Model::new(known, preset, &values).map_err(to_python)
}

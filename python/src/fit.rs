//! The fit of a network by any method.

use std::ops::ControlFlow;
use std::time::Instant;

use manyview::comm::Local;
use manyview::estimate::Terms;
use manyview::living::KeptModel;
use manyview::memory::peak_resident_bytes;
use manyview::message::{Notation, Warning, WarningKind};
use manyview::overlap::overlaps;
use manyview::parallel::Pool;
use manyview::result::{RankRecord, RunMemory, RunRecord};
use manyview::{FitOptions, Model, Network, Progress, Result};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::error::{detached, to_python};
use crate::evaluate::GivenLabels;
use crate::living::PyKept;
use crate::network::PyNetwork;
use crate::settings::GivenModel;
use crate::watch::{Fact, Watch};

/// Warnings: whether each is about convergence, and its text.
pub(crate) type Warnings = Vec<(bool, String)>;

/// The vectors, the record of the run as JSON, warnings, and the model if it is kept.
type Fitted<'py> = (Bound<'py, PyArray2<f32>>, String, Warnings, Option<PyKept>);

/// Embeds a network. `command` is the record's name for what started the run; `callback` receives progress.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are the arguments of the Python function")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    network: &PyNetwork,
    model: GivenModel,
    labels: Option<GivenLabels>,
    max_memory: Option<u64>,
    command: &str,
    keep_model: bool,
    callback: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let began = Instant::now();
    let model = model.model()?;
    model.check_labels(labels.is_some()).map_err(to_python)?;
    model.check_max_memory(max_memory).map_err(to_python)?;
    let PyNetwork { network, inputs, notes, warnings: doubts, skipped } = network;
    let mut watch = Watch::new(callback);
    let result = detached(py, || {
        let (model, mut memory) = fitted(&model, network, max_memory, keep_model, &mut watch)?;
        let labels = labels.as_ref().map(|labels| labels.of(network.nodes())).transpose()?;
        let options =
            FitOptions { labels: labels.as_ref(), keep_factors: keep_model, ..FitOptions::default() };
        let staged = model.method().capabilities().stages;
        let mut fit = model.fit_with(network, &options, &mut |now| {
            if memory.phases.proximity.is_none() && matches!(now, Progress::Iteration { .. }) {
                memory.phases.proximity = peak_resident_bytes();
            }
            tell(&mut watch, now, staged)
        })?;
        memory.phases.factorize = peak_resident_bytes();
        fit.overlap = overlaps(network, &Pool::new(model.threads)?);
        let kept = keep_model.then(|| KeptModel::of_fit(&fit, network.clone())).transpose()?;
        Ok((fit, memory, kept))
    });
    let (fit, memory, kept) = watch.outcome(result)?;
    let ranks = RankRecord::gather(&Local, &fit, 0.0, 0.0);
    let mut record = RunRecord::new(&fit, command);
    record.add_reading(notes, doubts, *skipped);
    record.inputs = inputs;
    (record.rank_records, record.memory, record.seconds.total) =
        (&ranks, memory, began.elapsed().as_secs_f64());
    let record = json(&record)?;
    let (rows, dim) = (fit.embedding.rows(), fit.embedding.dim());
    let (values, _) = fit.embedding.into_vectors();
    Ok((values.into_pyarray(py).reshape([rows, dim])?, record, warnings(&fit.warnings), kept.map(PyKept)))
}

/// Returns warnings with settings in Python's notation.
pub(crate) fn warnings(warnings: &[Warning]) -> Warnings {
    let text = |warning: &Warning| {
        (warning.kind == WarningKind::NotConverged, warning.message.in_notation(Notation::Python))
    };
    warnings.iter().map(text).collect()
}

/// The model with what its settings leave open chosen so that the fit fits into memory, and what it is expected to need.
pub(crate) fn fitted(
    model: &Model,
    network: &Network,
    max_memory: Option<u64>,
    keep_model: bool,
    watch: &mut Watch,
) -> Result<(Model, RunMemory)> {
    let mut memory = RunMemory::default();
    memory.phases.read = peak_resident_bytes();
    let (model, estimate) =
        model.fitted_with(Terms { keeps_factors: keep_model, max_memory }, network, &mut |_| {
            watch.look(&[])
        })?;
    memory.estimated_bytes = estimate.map(|estimate| estimate.peak());
    Ok((model, memory))
}

fn json(record: &RunRecord<'_>) -> PyResult<String> {
    let mut json = Vec::new();
    record.write_to(&mut json)?;
    Ok(String::from_utf8(json)?)
}

/// Passes progress on. Methods without stages have a single phase.
fn tell(watch: &mut Watch, now: &Progress<'_>, staged: bool) -> ControlFlow<()> {
    match *now {
        Progress::Working { view, done, .. } if staged => watch.look(&[
            ("phase", Fact::Text("proximity")),
            ("view", Fact::Text(view.unwrap_or(""))),
            ("done", Fact::Number(done)),
        ]),
        Progress::Working { doing, view, done } => watch.look(&[
            ("phase", Fact::Text("method")),
            ("doing", Fact::Text(doing)),
            ("view", Fact::Text(view.unwrap_or(""))),
            ("done", Fact::Number(done)),
        ]),
        Progress::Iteration { stage, stages, kind, view, iteration, error, done } => watch.look(&[
            ("phase", Fact::Text("stages")),
            ("stage", Fact::Whole(stage)),
            ("stages", Fact::Whole(stages)),
            ("kind", Fact::Text(kind.name())),
            ("view", Fact::Text(view.unwrap_or(""))),
            ("iteration", Fact::Whole(iteration)),
            ("error", Fact::Number(error)),
            ("done", Fact::Number(done)),
        ]),
        Progress::StageFinished(record) => watch.look_now(&[
            ("phase", Fact::Text("finished")),
            ("stage", Fact::Whole(record.stage)),
            ("kind", Fact::Text(record.kind.name())),
            ("view", Fact::Text(record.view.as_deref().unwrap_or(""))),
            ("iteration", Fact::Whole(record.iterations)),
            ("columns", Fact::Whole(record.columns[1] - record.columns[0])),
            ("seconds", Fact::Number(record.seconds)),
        ]),
        _ => watch.look(&[]),
    }
}

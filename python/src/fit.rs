//! The whole method on a network.

use std::ops::ControlFlow;
use std::time::Instant;

use manyview::comm::Local;
use manyview::memory::peak_resident_bytes;
use manyview::result::{RankRecord, RunMemory, RunPeaks, RunRecord, RunSeconds};
use manyview::stages::{Progress, Stop};
use manyview::{Config, Fit};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::config::config;
use crate::error::{in_python, to_python};
use crate::network::PyNetwork;
use crate::watch::{Fact, Watch};

/// The vectors; the run's record as JSON; warnings, each with whether it is about convergence.
type Fitted<'py> = (Bound<'py, PyArray2<f32>>, String, Vec<(bool, String)>);

/// Embeds a network. `command` is what the record calls the run; `callback` is told how far it is.
#[pyfunction]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    network: &PyNetwork,
    parameters: &Bound<'py, PyDict>,
    max_memory: Option<u64>,
    command: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let config = config(parameters)?;
    config.check().map_err(to_python)?;
    let network = &network.network;
    let mut watch = Watch::new(callback);
    let began = Instant::now();
    let result = py.detach(|| {
        let mut look = |_: &Progress<'_>| watch.look(&[]);
        let phases = RunPeaks { read: peak_resident_bytes(), ..RunPeaks::default() };
        let estimate = config.estimate(network, &mut look)?;
        estimate.check(&config, network, max_memory, &mut look)?;
        let estimated_bytes = Some(estimate.memory.peak());
        let fit = config.fit_with(network, &Local, &mut |now| tell(&mut watch, now))?;
        Ok((fit, RunMemory { estimated_bytes, phases }))
    });
    let (fit, memory) = watch.outcome(result)?;
    let record = record(&config, &fit, memory, command, began.elapsed().as_secs_f64())?;
    let (rows, dim) = (fit.embedding.rows(), fit.embedding.dim());
    let vectors = fit.embedding.values().to_vec().into_pyarray(py).reshape([rows, dim])?;
    let open = fit.stop() == Stop::MaxIter;
    let last = fit.warnings.len().saturating_sub(1);
    // The library speaks of convergence last.
    let warnings =
        fit.warnings.iter().enumerate().map(|(at, text)| (open && at == last, in_python(text))).collect();
    Ok((vectors, record, warnings))
}

fn record(config: &Config, fit: &Fit, memory: RunMemory, command: &str, total: f64) -> PyResult<String> {
    let ranks = RankRecord::gather(&Local, fit, 0.0, 0.0);
    let seconds = RunSeconds {
        read: 0.0,
        proximity: fit.seconds.proximity,
        factorize: fit.seconds.factorize,
        write: 0.0,
        total,
    };
    let mut json = Vec::new();
    RunRecord::new(command, config, fit, seconds, &ranks).with_memory(memory).write_to(&mut json)?;
    Ok(String::from_utf8(json)?)
}

fn tell(watch: &mut Watch, now: &Progress<'_>) -> ControlFlow<()> {
    match *now {
        Progress::Proximity { view, index, views, done, rows } => {
            let share = (index as f64 + done as f64 / rows.max(1) as f64) / views as f64;
            watch.look(&[
                ("phase", Fact::Text("proximity")),
                ("view", Fact::Text(view)),
                ("done", Fact::Number(share)),
            ])
        }
        Progress::Iteration { stage, stages, kind, iteration, error, done, view } => watch.look(&[
            ("phase", Fact::Text("stages")),
            ("stage", Fact::Whole(stage)),
            ("stages", Fact::Whole(stages)),
            ("kind", Fact::Text(kind.name())),
            ("view", Fact::Text(view.unwrap_or(""))),
            ("iteration", Fact::Whole(iteration)),
            ("error", Fact::Number(error)),
            ("done", Fact::Number(done)),
        ]),
        Progress::Finished(record) => watch.look_now(&[
            ("phase", Fact::Text("finished")),
            ("stage", Fact::Whole(record.stage)),
            ("kind", Fact::Text(record.kind.name())),
            ("view", Fact::Text(record.view.as_deref().unwrap_or(""))),
            ("iteration", Fact::Whole(record.iterations)),
            ("columns", Fact::Whole(record.columns[1] - record.columns[0])),
            ("seconds", Fact::Number(record.seconds)),
        ]),
    }
}

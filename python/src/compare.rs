//! The comparison of methods. Its record is returned as JSON.

use std::ops::ControlFlow;
use std::path::PathBuf;

use manyview::Progress;
use manyview::compare::{
    CompareOptions, CompareRecord, CompareSettings, Event, JobTitle, Parts, Swept, compare_with,
};
use manyview::evaluate::Cost;
use manyview::message::{Notation, WarningKind};
use pyo3::prelude::*;

use crate::error::{detached, to_python};
use crate::evaluate::GivenLabels;
use crate::fit::Warnings;
use crate::network::PyNetwork;
use crate::settings::named;
use crate::watch::{Fact, Watch};

/// Settings of [`compare`], by name.
#[derive(FromPyObject)]
pub(crate) struct GivenCompare {
    #[pyo3(item)]
    methods: Vec<String>,
    #[pyo3(item)]
    preset: String,
    #[pyo3(item)]
    dim: usize,
    #[pyo3(item)]
    metapaths: String,
    #[pyo3(item)]
    ablations: bool,
    #[pyo3(item)]
    sweep: Vec<String>,
    #[pyo3(item)]
    train: Vec<f64>,
    #[pyo3(item)]
    repeats: usize,
    #[pyo3(item)]
    c: Vec<String>,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    threads: Option<usize>,
}

impl GivenCompare {
    fn settings(self) -> PyResult<CompareSettings> {
        let method = |name: &String| named("methods", name);
        let costs = self.c.iter().map(|c| c.parse::<Cost>().map_err(to_python));
        let settings = CompareSettings {
            methods: self.methods.iter().map(method).collect::<PyResult<_>>()?,
            preset: named("preset", &self.preset)?,
            dim: self.dim,
            metapaths: named("metapaths", &self.metapaths)?,
            ablations: self.ablations,
            sweep: Swept::parse(&self.sweep).map_err(to_python)?,
            train: self.train,
            repeats: self.repeats,
            c: costs.collect::<PyResult<_>>()?,
            seed: self.seed,
            threads: self.threads,
        };
        settings.check().map_err(to_python)?;
        Ok(settings)
    }
}

/// The record as JSON, the values that a sweep leaves out, the failures as job and reason, and warnings.
type Compared = (String, Vec<String>, Vec<(String, String)>, Warnings);

/// Compares methods on a network. `folder` and `force` are where results are kept and whether foreign ones are replaced;
/// `command` is the record's name for what started the comparison; `callback` receives progress.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are Python's parameters")]
pub(crate) fn compare(
    py: Python<'_>,
    network: &PyNetwork,
    labels: GivenLabels,
    given: GivenCompare,
    folder: Option<PathBuf>,
    force: bool,
    command: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<Compared> {
    let settings = given.settings()?;
    let network = &network.network;
    let mut listener = Listener {
        watch: Watch::new(callback),
        job: JobTitle::default(),
        failures: Vec::new(),
        warnings: Vec::new(),
    };
    let result = detached(py, || {
        let labels = labels.of(network.nodes())?;
        let options = CompareOptions { folder: folder.as_deref(), locked: false, overwrite: force, command };
        let found = compare_with(network, &labels, &settings, &options, &mut |event| listener.hear(event))?;
        let mut json = Vec::new();
        CompareRecord::new(&found, network, &labels, command)
            .write_to(&mut json)
            .expect("writing to memory does not fail");
        Ok((String::from_utf8(json).expect("JSON is UTF-8"), found.left_out))
    });
    let Listener { watch, failures, warnings, .. } = listener;
    let (record, left_out) = watch.outcome(result)?;
    Ok((record, left_out, failures, warnings))
}

/// Passes progress on, and collects failures and warnings.
struct Listener {
    watch: Watch,
    /// The job that is running.
    job: JobTitle,
    failures: Vec<(String, String)>,
    warnings: Warnings,
}

impl Listener {
    fn hear(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        let Listener { watch, job, failures, warnings } = self;
        let facts = |phase, done: f64, job: &JobTitle, watch: &mut Watch, now: bool| {
            let facts = [
                ("phase", Fact::Text(phase)),
                ("job", Fact::Text(&job.title)),
                ("number", Fact::Whole(job.number)),
                ("of", Fact::Whole(job.of)),
                ("done", Fact::Number(done)),
            ];
            if now { watch.look_now(&facts) } else { watch.look(&facts) }
        };
        match event {
            Event::Started { job: started, .. } => {
                job.clone_from(started);
                facts("started", 0.0, job, watch, true)
            }
            Event::Embedding(now) => {
                let (Progress::Working { done, .. } | Progress::Iteration { done, .. }) = **now else {
                    return watch.look(&[]);
                };
                facts("embedding", done, job, watch, false)
            }
            Event::Measuring { parts, step } => {
                let phase = if *parts == Parts::Clusterings { "clustering" } else { "classification" };
                facts(phase, step.done as f64 / step.total.max(1) as f64, job, watch, false)
            }
            Event::Failed { job: failed, message } => {
                failures.push((failed.title.clone(), (*message).to_owned()));
                facts("failed", 1.0, failed, watch, true)
            }
            Event::Warning(warning) => {
                let text = warning.message.in_notation(Notation::Python);
                let about_convergence = warning.kind == WarningKind::NotConverged;
                warnings.push((about_convergence, format!("{}: {text}", job.title)));
                watch.look(&[])
            }
            _ => watch.look(&[]),
        }
    }
}

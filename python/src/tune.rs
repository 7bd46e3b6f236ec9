//! The search for settings. Its record is returned as JSON.

use std::ops::ControlFlow;
use std::path::PathBuf;

use manyview::Progress;
use manyview::evaluate::Cost;
use manyview::tune::{Event, Over, Search, TuneOptions, TuneRecord, TuneSettings};
use pyo3::prelude::*;

use crate::error::{detached, to_python};
use crate::evaluate::GivenLabels;
use crate::network::PyNetwork;
use crate::settings::{GivenModel, named};
use crate::watch::{Fact, Watch};

/// Settings of [`tune`], by name.
#[derive(FromPyObject)]
pub(crate) struct GivenTune {
    #[pyo3(item)]
    search: Vec<String>,
    #[pyo3(item)]
    over: Vec<String>,
    #[pyo3(item)]
    validation: f64,
    #[pyo3(item)]
    validation_rounds: usize,
    #[pyo3(item)]
    train: Vec<f64>,
    #[pyo3(item)]
    repeats: usize,
    #[pyo3(item)]
    c: String,
    #[pyo3(item)]
    hide: f64,
    #[pyo3(item)]
    trials: usize,
    #[pyo3(item)]
    patience: usize,
    #[pyo3(item)]
    cut: bool,
    #[pyo3(item)]
    max_memory: Option<u64>,
}

impl GivenTune {
    fn settings(self, model: &GivenModel) -> PyResult<TuneSettings> {
        let search = |name: &String| named::<Search>("search", &name.replace('_', "-"));
        let settings = TuneSettings {
            model: model.model()?,
            searches: self.search.iter().map(search).collect::<PyResult<_>>()?,
            over: Over::parse(&self.over).map_err(to_python)?,
            validation: self.validation,
            validation_rounds: self.validation_rounds,
            train: self.train,
            repeats: self.repeats,
            c: self.c.parse::<Cost>().map_err(to_python)?,
            hide: self.hide,
            trials: self.trials,
            patience: self.patience,
            cut: self.cut,
            max_memory: self.max_memory,
        };
        settings.check().map_err(to_python)?;
        Ok(settings)
    }
}

/// Searches for settings of MNMF, and returns the record. `model` has the settings that are not searched over; `folder` and
/// `force` are where candidates are kept and whether to start over; `callback` receives progress.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are Python's parameters")]
pub(crate) fn tune(
    py: Python<'_>,
    network: &PyNetwork,
    labels: Option<GivenLabels>,
    model: GivenModel,
    given: GivenTune,
    folder: Option<PathBuf>,
    force: bool,
    command: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<String> {
    let settings = given.settings(&model)?;
    let network = &network.network;
    let mut listener = Listener {
        watch: Watch::new(callback),
        search: "baseline",
        candidate: String::new(),
        number: 0,
        of: 0,
        best: f64::NAN,
    };
    let result = detached(py, || {
        let labels = labels.map(|labels| labels.of(network.nodes())).transpose()?;
        let options = TuneOptions { folder: folder.as_deref(), locked: false, overwrite: force };
        let observer = &mut |event: &Event<'_>| listener.hear(event);
        let found = manyview::tune::tune(network, labels.as_ref(), &settings, &options, observer)?;
        let mut json = Vec::new();
        TuneRecord::new(&found, network, command)
            .write_to(&mut json)
            .expect("writing to memory does not fail");
        Ok(String::from_utf8(json).expect("JSON is UTF-8"))
    });
    listener.watch.outcome(result)
}

/// Passes progress on.
struct Listener {
    watch: Watch,
    /// The search and the candidate that is being tried.
    search: &'static str,
    candidate: String,
    number: usize,
    of: usize,
    /// The best score of the search so far.
    best: f64,
}

impl Listener {
    fn hear(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Started { search, candidate, number, of } => {
                let name = search.map_or("baseline", Search::name);
                if name != self.search {
                    self.best = f64::NAN;
                }
                (self.search, self.number, self.of) = (name, *number, *of);
                self.candidate = (*candidate).to_owned();
                self.tell("started", f64::NAN, 0.0, true)
            }
            Event::Fitting(Progress::Working { done, .. } | Progress::Iteration { done, .. }) => {
                self.tell("embedding", f64::NAN, *done, false)
            }
            Event::Measuring(step) => {
                self.tell("measuring", f64::NAN, step.done as f64 / step.total.max(1) as f64, false)
            }
            Event::Finished { score, failed, best, .. } => {
                self.best = best.map_or(f64::NAN, |(score, _)| score);
                let phase = if failed.is_some() { "failed" } else { "finished" };
                self.tell(phase, score.unwrap_or(f64::NAN), 1.0, true)
            }
            _ => self.watch.look(&[]),
        }
    }

    fn tell(&mut self, phase: &str, score: f64, done: f64, now: bool) -> ControlFlow<()> {
        let facts = [
            ("phase", Fact::Text(phase)),
            ("search", Fact::Text(self.search)),
            ("candidate", Fact::Text(&self.candidate)),
            ("number", Fact::Whole(self.number)),
            ("of", Fact::Whole(self.of)),
            ("done", Fact::Number(done)),
            ("score", Fact::Number(score)),
            ("best", Fact::Number(self.best)),
        ];
        if now { self.watch.look_now(&facts) } else { self.watch.look(&facts) }
    }
}

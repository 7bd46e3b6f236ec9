//! What a method is: settings, capabilities, and a fit that turns a network into vectors.
//!
//! MNMF and the methods it is compared with all implement [`Method`]. [`fit`] runs any of them and makes the one
//! [`Fit`] from what they found, so that nothing above this module needs to know which method ran.
//!
//! Invariant: vectors follow from the network, the settings and the seed; never from the number of threads. Their root mean square
//! length is [`LENGTH`].

mod length;
mod ranks;
mod record;
mod shared;
mod task;

pub use length::LENGTH;
pub(crate) use length::scale_to_length;
pub use record::{ChosenPlan, Fit, OwnWork, SampledRecord, Seconds, StageRecord, Stop, ViewRecord};
pub use shared::share_network;
pub use task::{Found, Observer, Progress, StageWork, Task, part};

use std::sync::Arc;
use std::time::Instant;

use manyview_base::error::{Error, Result};
use manyview_base::message::{Warning, WarningKind, option, switch};
use manyview_base::parallel::Pool;
use manyview_base::random::{mix_words, text_key};
use manyview_base::settings::Settings;
use manyview_data::Network;
use manyview_data::embedding::Embedding;
use manyview_data::labels::Labels;
use serde_json::Value;

use crate::checkpoint::Checkpoints;
use crate::comm::Comm;
use crate::mnmf::Mnmf;
use crate::preset::Preset;

/// What a method can do besides a fit in one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// It runs on several ranks.
    pub ranks: bool,
    /// It keeps finished stages, so that an interrupted run can be resumed.
    pub checkpoints: bool,
    /// It works in stages, which it reports.
    pub stages: bool,
}

impl Capabilities {
    /// Those of a method in stages.
    pub const STAGED: Capabilities = Capabilities { ranks: true, checkpoints: true, stages: true };
    /// None of them.
    pub const NONE: Capabilities = Capabilities { ranks: false, checkpoints: false, stages: false };

    /// Checks what a run of a method called `name` asks for.
    ///
    /// # Errors
    /// [`Error::Config`] when it asks for more than the method can do.
    pub fn check(self, name: &str, ranks: usize, checkpoints: bool) -> Result<()> {
        if ranks > 1 && !self.ranks {
            return Err(Error::config(format!(
                "{name} runs in one process; start it without mpirun or srun, or use mnmf"
            )));
        }
        if checkpoints && !self.checkpoints {
            return Err(Error::config(format!("{name} does not support checkpoints")));
        }
        Ok(())
    }
}

/// A method, with its settings.
pub trait Method: Settings + serde::Serialize {
    /// What it can do besides a fit.
    const CAPABILITIES: Capabilities = Capabilities::NONE;

    /// The settings of a preset; `None` when the method does not have it.
    fn of_preset(preset: Preset) -> Option<Self>;

    /// The number of columns that was asked for.
    fn dim(&self) -> usize;

    /// Checks everything that does not depend on the network.
    fn check(&self) -> Result<()> {
        self.check_limits()
    }

    /// Sets what follows from settings that were given over those `before`, by name, and was not given itself.
    fn complete(&mut self, _before: &Self, _given: &[&str]) {}

    /// Sets several settings by name, and what follows from them.
    ///
    /// # Errors
    /// [`Error::Config`] when a value does not fit.
    fn override_with(&mut self, given: &[(&str, &Value)]) -> Result<()> {
        let before = self.clone();
        for (name, value) in given {
            self.set(name, value)?;
        }
        let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        self.complete(&before, &names);
        Ok(())
    }

    /// The same settings with everything that is left open filled in for this number of views.
    fn resolved(&self, _views: usize) -> Self {
        self.clone()
    }

    /// Embeds the network of a task.
    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found>;

    /// Embeds the network of a task on the ranks of `comm`, keeping finished stages.
    ///
    /// Only called with several ranks or with checkpoints when the method has these capabilities.
    fn run_on(&self, task: &mut Task<'_, '_>, _: &dyn Comm, _: Option<&Checkpoints>) -> Result<Found> {
        self.run(task)
    }

    /// What its memory follows from, if it keeps proximity matrices.
    fn memory_like(&self, _views: usize) -> Option<MemoryLike> {
        None
    }

    /// The setting because of which it learns from labels of training nodes, if it does.
    fn label_setting(&self) -> Option<&'static str> {
        None
    }
}

/// A fit of MNMF that takes as much memory as another method.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryLike {
    /// The settings of that fit.
    pub mnmf: Mnmf,
    /// Whether the method works on one view at a time, and keeps nothing of the others.
    pub each_view: bool,
}

/// How a method is run.
pub struct Options<'a> {
    /// The random seed.
    pub seed: u64,
    /// The number of threads; all cores when not given.
    pub threads: Option<usize>,
    /// Labels of training nodes, for methods that learn from them.
    pub labels: Option<&'a Labels>,
    /// The ranks.
    pub comm: &'a dyn Comm,
    /// Where finished stages are kept.
    pub checkpoints: Option<&'a Checkpoints>,
    /// Whether the fit has its factors, see [`Fit::factors`].
    pub keep_factors: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            seed: 0,
            threads: None,
            labels: None,
            comm: &crate::comm::Local,
            checkpoints: None,
            keep_factors: false,
        }
    }
}

/// Embeds a network by a method called `name`; the observer receives progress and can stop the fit.
pub fn fit<M: Method>(
    method: &M,
    name: &str,
    network: &Network,
    options: &Options<'_>,
    observer: &mut Observer<'_>,
) -> Result<Fit> {
    method.check()?;
    M::CAPABILITIES.check(name, options.comm.size(), options.checkpoints.is_some())?;
    if options.keep_factors && !M::CAPABILITIES.stages {
        return Err(Error::config(format!(
            "{name} has no factors to keep; leave {} out, or use mnmf",
            switch("save_model")
        )));
    }
    let pool = Pool::new(options.threads)?;
    let began = Instant::now();
    let mut task = Task::new(network, method.dim(), options.seed, &pool, options.labels, observer);
    task.keeps_factors = options.keep_factors;
    let fingerprint = network.fingerprint();
    let keeps = [options.keep_factors, options.checkpoints.is_some()].map(u64::from);
    let settings = text_key(&serde_json::to_string(method).expect("settings are plain values"));
    let settings = mix_words([text_key(name), settings, options.seed].into_iter().chain(keeps));
    ranks::check_same(network, &ranks::Work { network: fingerprint, settings }, options.comm)?;
    let found = method.run_on(&mut task, options.comm, options.checkpoints)?;
    let ran = Ran { found, fingerprint, seconds: began.elapsed().as_secs_f64(), threads: pool.threads() };
    ran.finish(method, name, network, options)
}

/// A method has run on a network.
pub(crate) struct Ran {
    pub(crate) found: Found,
    /// That of the network.
    pub(crate) fingerprint: u64,
    /// Wall time of the whole fit.
    pub(crate) seconds: f64,
    /// The number of threads it had.
    pub(crate) threads: usize,
}

impl Ran {
    /// Makes the one [`Fit`] from what a method found.
    pub(crate) fn finish<M: Method>(
        self,
        method: &M,
        name: &str,
        network: &Network,
        options: &Options<'_>,
    ) -> Result<Fit> {
        let Ran { mut found, fingerprint, seconds, threads } = self;
        let has_rate = method.describe().iter().any(|setting| setting.name == "rate");
        check_vectors(name, has_rate, network, &mut found)?;
        let columns = found.vectors.len() / network.nodes().len();
        let vector_scale = length::scale_to_length(&mut found.vectors, columns);
        if found.parts.is_empty() {
            found.parts.push(part(None, 0..columns));
        }
        let embedding = Embedding::new(network.nodes().clone(), columns, found.vectors, found.parts);
        let stages = found.stages.unwrap_or_default();
        let views = match stages.views {
            views if views.is_empty() => network.views().iter().map(ViewRecord::of).collect(),
            views => views,
        };
        let seconds = Seconds { total: seconds, ..stages.seconds };
        let config = match &found.chosen {
            Some(chosen) => with_options(chosen.config.clone(), options),
            None => settings_json(&method.resolved(network.views().len()), options),
        };
        Ok(Fit {
            method: name.to_owned(),
            settings: settings_json(method, options),
            config,
            fingerprint,
            overlap: Vec::new(),
            embedding,
            vector_scale,
            views,
            joint: stages.joint,
            stages: stages.records,
            chosen: found.chosen,
            factors: found.factors.map(Arc::new),
            warnings: found.warnings,
            seconds,
            threads,
            ranks: options.comm.size(),
            own: stages.own,
        })
    }
}

fn settings_json<M: Method>(method: &M, options: &Options<'_>) -> Value {
    with_options(serde_json::to_value(method).expect("settings are plain values"), options)
}

fn with_options(mut settings: Value, options: &Options<'_>) -> Value {
    settings["seed"] = options.seed.into();
    settings["threads"] = options.threads.into();
    settings
}

/// Extreme settings can drive numbers to infinity, or all of them to zero; and a method may find nothing for some nodes.
fn check_vectors(name: &str, has_rate: bool, network: &Network, found: &mut Found) -> Result<()> {
    if found.vectors.iter().any(|x| !x.is_finite()) {
        let advice = if has_rate {
            format!("try a lower {}", option("rate"))
        } else {
            "use settings closer to the defaults".into()
        };
        return Err(Error::config(format!("the run of {name} diverged; {advice}")));
    }
    if found.vectors.iter().all(|&x| x == 0.0) {
        let message = format!("all vectors of {name} are zero; try settings closer to the defaults");
        found.warnings.push(Warning::new(WarningKind::Zero, message));
        return Ok(());
    }
    let nodes = network.nodes().len();
    let rows = found.vectors.chunks_exact(found.vectors.len() / nodes);
    let has_edges = |node: usize| network.views().iter().any(|view| !view.adjacency.row(node).0.is_empty());
    let zero = rows.enumerate().filter(|(node, row)| row.iter().all(|&x| x == 0.0) && has_edges(*node));
    let zero: Vec<usize> = zero.map(|(node, _)| node).collect();
    if let Some(&first) = zero.first() {
        let (count, id) = (zero.len(), network.nodes().id(first));
        let message = format!(
            "{count} of {nodes} vectors of {name} are zero although their nodes have edges, the first that of {id:?}; \
             leave these nodes out, or try settings closer to the defaults"
        );
        found.warnings.push(Warning::new(WarningKind::Zero, message));
    }
    Ok(())
}

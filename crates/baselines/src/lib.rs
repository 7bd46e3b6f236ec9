//! The methods that MNMF is compared with: a name, settings, and `fit`.
//!
//! A method has a file. Its settings are a plain struct whose `Default` is what runs when nothing is said and whose
//! `paper` is what the paper of MNMF used (or the method's own paper, where that one is silent). Names of settings are the same in Rust, on the
//! command line, in Python and in `run.json`; [`Model::new`] makes a model from names and values.
//!
//! Invariant: vectors follow from the network, the settings and the seed alone; not from the number of threads, nor
//! from the order of views where a method treats them alike.
//!
//! Methods of a single view are run on each view, `dim` columns for each, side by side.

mod boostne;
mod deepwalk;
mod edges;
mod metapath2vec;
mod mne;
mod mtne;
mod multinmf;
mod mve;
mod near;
mod netmf;
mod pte;
mod sgd;
mod skipgram;
mod task;
#[cfg(test)]
mod tests;
mod tucker;
mod walks;
mod wrong;

use std::ops::ControlFlow;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use boostne::{BoostNe, NmfCon};
pub use deepwalk::DeepWalk;
pub use deepwalk::walks_of;
pub use metapath2vec::{Metapath2Vec, all_paths, usual_paths};
pub use mne::Mne;
pub use mtne::{Give, MtneC};
pub use multinmf::MultiNmf;
pub use mve::{Feature, Loss, Mve, NoiseOf, Pairs};
pub use near::Near;
pub use netmf::{Factor, NetMf, NetMfConcat, NetMfSum};
pub use pte::{Pte, Sources};
pub use skipgram::{SkipGram, Softmax};
pub use task::part;
pub(crate) use task::{Found, Task};
pub use task::{Observer, Progress};
pub use tucker::{Smoothing, TuckEr};
pub use walks::DeadEnd;

use manyview_base::error::{Error, Result};
use manyview_base::named;
use manyview_base::parallel::{self, Pool};
use manyview_core::config::Preset;
use manyview_data::embedding::Embedding;
use manyview_data::labels::Labels;
use manyview_data::network::Network;

/// The register of methods: everything that is true of each, once.
macro_rules! register {
    ($($variant:ident($settings:ty) = $name:literal, $group:ident, $help:literal;)*) => {
        /// A method by name.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Method {
            /// Ours, whose settings are [`Config`](manyview_core::Config).
            #[default]
            Mnmf,
            $(#[doc = concat!("Set by [`", stringify!($settings), "`].")] $variant,)*
        }

        named! { Method:
            Mnmf = "mnmf", "ours: what all views share, then what each says alone, stage by stage";
            $($variant = $name, $help;)*
        }

        impl Method {
            /// What it looks at.
            pub fn group(self) -> Group {
                match self {
                    Method::Mnmf => Group::Multi,
                    $(Method::$variant => Group::$group,)*
                }
            }
        }

        /// The settings of a method.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Settings {
            $(#[doc = concat!("Of `", $name, "`.")] $variant($settings),)*
        }

        impl Settings {
            fn new(method: Method, preset: Preset, values: &Map<String, Value>) -> Result<Self> {
                match method {
                    Method::Mnmf => Err(Error::config("mnmf is set by a Config of its own")),
                    $(Method::$variant => laid_over(method, preset, values).map(Settings::$variant),)*
                }
            }

            fn method(&self) -> Method {
                match self { $(Settings::$variant(_) => Method::$variant,)* }
            }

            fn check(&self) -> Result<()> {
                match self { $(Settings::$variant(settings) => settings.check(),)* }
            }

            fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
                match self { $(Settings::$variant(settings) => settings.fit(task),)* }
            }

            fn proximity(&self) -> Option<(usize, f64)> {
                match self { $(Settings::$variant(settings) => settings.proximity(),)* }
            }

            fn learns_from_labels(&self) -> bool {
                match self { $(Settings::$variant(settings) => settings.learns_from_labels(),)* }
            }
        }
    };
}

register! {
    DeepWalk(DeepWalk) = "deepwalk", Single, "vectors of nodes that meet on random walks are alike";
    NetMf(NetMf) = "netmf", Single, "singular vectors of each view's proximity matrix";
    BoostNe(BoostNe) = "boostne", Single, "factorizations in stages, each of what the last left over";
    Pte(Pte) = "pte", Heterogeneous, "edges of all views predict their targets, which have one vector for all views";
    Metapath2Vec(Metapath2Vec) = "metapath2vec", Heterogeneous, "walks that take the views in turn";
    NmfCon(NmfCon) = "nmf-con", Multi, "one factorization of each view, side by side: dim columns for each";
    Mne(Mne) = "mne", Multi, "one vector from the walks of all views, and a small extra from each";
    MultiNmf(MultiNmf) = "multinmf", Multi, "a factorization of each view, drawn toward a consensus of all";
    TuckEr(TuckEr) = "tucker", Multi, "the views as one tensor, decomposed after Tucker by a small neural network";
    MtneC(MtneC) = "mtne-c", Multi, "(reconstructed) common columns and each view's own, together scored on edges";
    Mve(Mve) = "mve", Multi, "vectors of each view that vote for a common one, by attention where labels are given";
    NetMfSum(NetMfSum) = "netmf-sum", Plain, "singular vectors of the sum of the views' proximity matrices";
    NetMfConcat(NetMfConcat) = "netmf-concat", Plain, "netmf of each view side by side, dim columns in all";
}

/// Methods by what they look at, as in the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// One view at a time.
    Single,
    /// Several kinds of edges as one heterogeneous network.
    Heterogeneous,
    /// Several views together.
    Multi,
    /// Several views by the plainest means: what any method should beat. Not in the paper.
    Plain,
}

impl Group {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Group::Single => "single view",
            Group::Heterogeneous => "heterogeneous",
            Group::Multi => "multi-view",
            Group::Plain => "plain",
        }
    }
}

/// A method other than MNMF, with every setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    /// Columns of the embedding; of each view's, in methods of a single view and in `nmf-con`.
    pub dim: usize,
    /// What the method has of its own.
    #[serde(flatten)]
    pub settings: Settings,
    /// All random numbers follow from it.
    pub seed: u64,
    /// Threads; all cores when not given. Does not change the result.
    pub threads: Option<usize>,
}

/// The result of a method.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One vector per node.
    pub embedding: Embedding,
    /// Sentences that a person should read.
    pub warnings: Vec<String>,
    /// Wall time of the method itself.
    pub seconds: f64,
    /// Threads.
    pub threads: usize,
}

/// What all methods can do.
trait Rival: Default + Serialize + DeserializeOwned {
    /// The settings of the paper.
    fn paper() -> Self;

    /// Refuses settings that cannot work.
    fn check(&self) -> Result<()>;

    /// Embeds a network: `task.dim` columns, or others with parts that say what they are.
    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found>;

    /// `window` and `negative` of the proximity matrices that it keeps, if it does.
    fn proximity(&self) -> Option<(usize, f64)> {
        None
    }

    /// Whether it looks at labels of training nodes.
    fn learns_from_labels(&self) -> bool {
        false
    }
}

impl Model {
    /// A method's settings: those of a preset, with values by name laid over them.
    ///
    /// # Errors
    /// [`Error::Config`] when the method has no such setting or the value does not fit, and for MNMF, whose settings
    /// are [`Config`](manyview_core::Config).
    pub fn new(method: Method, preset: Preset, values: &Map<String, Value>) -> Result<Self> {
        let mut own = values.clone();
        let mut model =
            Model { dim: 256, settings: Settings::new(method, preset, &Map::new())?, seed: 0, threads: None };
        take(&mut own, "dim", &mut model.dim)?;
        take(&mut own, "seed", &mut model.seed)?;
        take(&mut own, "threads", &mut model.threads)?;
        model.settings = Settings::new(method, preset, &own)?;
        Ok(model)
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.settings.method()
    }

    /// `window` and `negative` of the proximity matrices that the method keeps, if it does: what its memory follows from.
    pub fn proximity(&self) -> Option<(usize, f64)> {
        self.settings.proximity()
    }

    /// Whether the method, as set, looks at labels of training nodes.
    pub fn learns_from_labels(&self) -> bool {
        self.settings.learns_from_labels()
    }

    /// Checks what does not depend on the network.
    pub fn check(&self) -> Result<()> {
        if self.dim == 0 || self.dim > 1 << 20 {
            let dim = self.dim;
            return Err(Error::config(format!("dim = {dim} makes no sense; the usual choice is --dim 256")));
        }
        parallel::check_threads(self.threads)?;
        self.settings.check()
    }

    /// Embeds a network.
    pub fn fit(&self, network: &Network) -> Result<Outcome> {
        self.fit_with(network, None, &mut |_| ControlFlow::Continue(()))
    }

    /// Embeds a network with somebody looking on. Only `mve` learns from labels; give it those of training nodes.
    pub fn fit_with(
        &self,
        network: &Network,
        labels: Option<&Labels>,
        observer: &mut Observer<'_>,
    ) -> Result<Outcome> {
        self.check()?;
        let pool = Pool::new(self.threads)?;
        let began = Instant::now();
        let mut task = Task::new(network, self.dim, self.seed, &pool, labels, observer);
        let mut found = self.settings.fit(&mut task)?;
        self.check_numbers(&mut found)?;
        let columns = found.vectors.len() / network.nodes().len();
        let parts = if found.parts.is_empty() { vec![part(None, 0..columns)] } else { found.parts };
        let embedding = Embedding::new(network.nodes().clone(), columns, found.vectors, parts);
        let (seconds, threads) = (began.elapsed().as_secs_f64(), pool.threads());
        Ok(Outcome { embedding, warnings: found.warnings, seconds, threads })
    }
}

impl Model {
    /// Settings far from the usual can drive numbers to infinity, or all to zero.
    fn check_numbers(&self, found: &mut Found) -> Result<()> {
        let method = self.method().name();
        if found.vectors.iter().any(|x| !x.is_finite()) {
            return Err(Error::config(format!(
                "{method} ran beyond all numbers with these settings; bring them nearer to the usual ones, first a lower rate"
            )));
        }
        if found.vectors.iter().all(|&x| x == 0.0) {
            found
                .warnings
                .push(format!("all vectors of {method} are zero: with these settings it found nothing"));
        }
        Ok(())
    }
}

/// A preset with values laid over it.
fn laid_over<R: Rival>(method: Method, preset: Preset, values: &Map<String, Value>) -> Result<R> {
    let base = match preset {
        Preset::Default => R::default(),
        Preset::Paper => R::paper(),
        Preset::Authors => {
            return Err(Error::config(format!(
                "{} has no preset \"authors\", which is one of mnmf; use paper or default",
                method.name()
            )));
        }
    };
    let Ok(Value::Object(base)) = serde_json::to_value(base) else {
        unreachable!("settings are a struct of plain values")
    };
    if let Some(unknown) = values.keys().find(|name| !base.contains_key(*name)) {
        let known: String = base.keys().map(|name| format!(", {name}")).collect();
        let method = method.name();
        return Err(Error::config(format!(
            "{method} has no setting {unknown:?}; it has dim, seed, threads{known}"
        )));
    }
    let laid = |over: &mut dyn Iterator<Item = (&String, &Value)>| {
        let mut all = base.clone();
        all.extend(over.map(|(name, value)| (name.clone(), value.clone())));
        serde_json::from_value::<R>(Value::Object(all))
    };
    laid(&mut values.iter()).map_err(|error| {
        let alone = |name: &String, value: &Value| laid(&mut std::iter::once((name, value))).err();
        // The error does not name the setting; the one that does not fit alone is it.
        let Some((name, value)) = values.iter().find(|(name, value)| alone(name, value).is_some()) else {
            return Error::config(format!("the settings of {} do not fit: {error}", method.name()));
        };
        // No choice has the empty name, and the error for it tells all names; that for a number would not.
        let empty = Value::from("");
        let asked = if base[name].is_string() { &empty } else { value };
        let error = alone(name, asked).unwrap_or(error);
        Error::config(wrong::sentence(name, value, &error.to_string()))
    })
}

/// Moves a value out of a list into its place.
fn take<T: DeserializeOwned>(values: &mut Map<String, Value>, name: &str, place: &mut T) -> Result<()> {
    if let Some(value) = values.remove(name) {
        *place = serde_json::from_value(value.clone())
            .map_err(|error| Error::config(wrong::sentence(name, &value, &error.to_string())))?;
    }
    Ok(())
}

/// Runs a method of a single view on every view: the blocks of columns side by side, in the views' order.
fn each_view(
    task: &mut Task<'_, '_>,
    mut fit_view: impl FnMut(usize, &mut Task<'_, '_>) -> Result<Found>,
) -> Result<Found> {
    let (network, views) = (task.network, task.network.views().len());
    let nodes = network.nodes().len();
    let mut blocks = Vec::with_capacity(views);
    let mut found = Found::default();
    for (at, view) in network.views().iter().enumerate() {
        let span = at as f64 / views as f64..(at + 1) as f64 / views as f64;
        let block = fit_view(at, &mut task.part(Some(&view.name), span))?;
        let width = block.vectors.len() / nodes;
        let from = found.parts.last().map_or(0, |part| part.columns.end);
        found.parts.push(part(Some(&view.name), from..from + width));
        let named = |warning: String| format!("view {}: {warning}", view.name);
        found.warnings.extend(block.warnings.into_iter().map(named));
        blocks.push((width, block.vectors));
    }
    let columns = blocks.iter().map(|block| block.0).sum::<usize>();
    found.vectors = vec![0.0; nodes * columns];
    for (part, (width, block)) in found.parts.iter().zip(&blocks) {
        let rows = found.vectors.chunks_exact_mut(columns).zip(block.chunks_exact(*width));
        rows.for_each(|(row, own)| row[part.columns.clone()].copy_from_slice(own));
    }
    Ok(found)
}

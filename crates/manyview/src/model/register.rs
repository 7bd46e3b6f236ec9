//! The register of methods: everything that is true of each, once.

use manyview_base::error::{Error, Result};
use manyview_base::named;
use manyview_base::settings::{Setting, Settings};
use manyview_baselines::{
    BoostNe, DeepWalk, Grassmann, Mase, Mashup, Metapath2Vec, Mne, MtneC, MultiNmf, Mve, NetMf, NetMfConcat,
    NetMfSum, NetMfUnion, NmfCon, Pte, TuckEr,
};
use manyview_core::method::{self, Capabilities, Fit, MemoryLike, Method as _, Observer, Options};
use manyview_core::mnmf::Mnmf;
use manyview_core::preset::Preset;
use manyview_data::Network;
use serde::Serialize;
use serde_json::Value;

use super::Model;

macro_rules! register {
    ($($variant:ident = $name:literal, $group:ident, $help:literal;)*) => {
        named! {
            /// A method by name; its settings are the struct of that name.
            pub enum Method {
                $($variant = $name, $help;)*
            }
        }

        impl Method {
            /// What it looks at.
            pub fn group(self) -> Group {
                match self { $(Method::$variant => Group::$group,)* }
            }

            /// What it can do besides a fit.
            pub fn capabilities(self) -> Capabilities {
                match self { $(Method::$variant => $variant::CAPABILITIES,)* }
            }
        }

        /// The settings of a method.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum MethodSettings {
            $(#[doc = concat!("Of `", $name, "`.")] $variant($variant),)*
        }

        $(
            impl From<$variant> for MethodSettings {
                fn from(settings: $variant) -> Self {
                    MethodSettings::$variant(settings)
                }
            }

            impl From<$variant> for Model {
                fn from(settings: $variant) -> Self {
                    Model { settings: settings.into(), seed: 0, threads: None }
                }
            }
        )*

        /// Evaluates an expression with the settings of whichever method it is.
        macro_rules! dispatch {
            ($self_:expr, $settings:ident => $body:expr) => {
                match $self_ { $(MethodSettings::$variant($settings) => $body,)* }
            };
        }

        impl MethodSettings {
            /// The settings of a preset.
            pub(super) fn of_preset(method: Method, preset: Preset) -> Result<Self> {
                let found = match method {
                    $(Method::$variant => $variant::of_preset(preset).map(MethodSettings::$variant),)*
                };
                found.ok_or_else(|| {
                    Error::config(format!("{} has no preset {:?}; use default or paper", method.name(), preset.name()))
                })
            }

            /// The method.
            pub fn method(&self) -> Method {
                match self { $(MethodSettings::$variant(_) => Method::$variant,)* }
            }
        }
    };
}

register! {
    Mnmf = "mnmf", Multi, "in stages: what all views share, then what is specific to each view";
    DeepWalk = "deepwalk", Single, "skip-gram on random walks in one view";
    NetMf = "netmf", Single, "singular vectors of the proximity matrix of one view";
    BoostNe = "boostne", Single, "factorizations in stages, each of the residual of the previous one";
    Pte = "pte", Heterogeneous, "the edges of all views predict their targets, which share one vector for all views";
    Metapath2Vec = "metapath2vec", Heterogeneous, "skip-gram on walks that alternate between the views";
    NmfCon = "nmf-con", Multi, "one factorization of each view, concatenated: dim columns per view";
    Mne = "mne", Multi, "one vector from the walks of all views, plus a small vector for each view";
    MultiNmf = "multinmf", Multi, "a factorization of each view, pulled toward a consensus of all views";
    TuckEr = "tucker", Multi, "a Tucker decomposition of the views as one tensor, trained as a neural network";
    MtneC = "mtne-c", Multi, "(reconstructed) shared and view-specific columns, scored together on edges";
    Mve = "mve", Multi, "combines the vectors of all views by weights, with attention if labels are given";
    NetMfSum = "netmf-sum", Plain, "singular vectors of the sum of the views' proximity matrices";
    NetMfConcat = "netmf-concat", Plain, "netmf of each view, concatenated: dim columns in total";
    NetMfUnion = "netmf-union", Plain, "netmf of the union of all views, in which walks may change views";
    Mashup = "mashup", Plain, "common singular vectors of the views' random walks with restart";
    Mase = "mase", Plain, "what the leading eigenvectors of the views' adjacency matrices have in common";
    Grassmann = "grassmann", Plain, "eigenvectors that are smooth in all views and near the subspace of each";
}

impl Method {
    /// The method that runs when none is named.
    pub const DEFAULT: Method = Method::Mnmf;
}

impl MethodSettings {
    pub(super) fn describe(&self) -> Vec<Setting> {
        dispatch!(self, settings => settings.describe())
    }

    pub(super) fn set(&mut self, name: &str, value: &Value) -> Result<bool> {
        dispatch!(self, settings => settings.set(name, value))
    }

    pub(super) fn override_with(&mut self, given: &[(&str, &Value)]) -> Result<()> {
        dispatch!(self, settings => settings.override_with(given))
    }

    pub(super) fn check(&self) -> Result<()> {
        dispatch!(self, settings => method::Method::check(settings))
    }

    pub(super) fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        dispatch!(self, settings => settings.memory_like(views))
    }

    pub(super) fn label_setting(&self) -> Option<&'static str> {
        dispatch!(self, settings => settings.label_setting())
    }

    /// The number of columns that was asked for (per view, in methods of a single view and in `nmf-con`).
    pub fn dim(&self) -> usize {
        dispatch!(self, settings => settings.dim())
    }

    pub(super) fn fit(
        &self,
        network: &Network,
        options: &Options<'_>,
        observer: &mut Observer<'_>,
    ) -> Result<Fit> {
        let name = self.method().name();
        dispatch!(self, settings => method::fit(settings, name, network, options, observer))
    }
}

/// Methods by what they look at, as in the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Group {
    /// One view at a time.
    Single,
    /// Several kinds of edges as one heterogeneous network.
    Heterogeneous,
    /// Several views together.
    Multi,
    /// Several views by the simplest means, as a baseline for the others. Not in the paper.
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

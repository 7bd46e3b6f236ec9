//! The identity of a run: program, settings and data.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mnmf::Mnmf;
use manyview_base::message::option;
use manyview_base::random::mix_words;
use manyview_data::network::Network;

/// The program, the settings and the data of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    program: String,
    config: Value,
    /// A hash of the node ids.
    nodes: u64,
    /// The number of nodes. Not in the file, where the hash stands for it: it is what the sizes in a file are compared with.
    #[serde(skip)]
    node_count: usize,
    /// The number of matrices that are factorized: one per view, and one for their union. Not in the file, which has the setting.
    #[serde(skip)]
    targets: usize,
    views: Vec<ViewIdentity>,
    /// The columns of each stage.
    columns: Vec<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ViewIdentity {
    name: String,
    directed: bool,
    edges: u64,
}

impl Identity {
    /// The identity of a fit with these settings. The number of threads is not part of it, since it does not affect the
    /// result.
    pub fn of(settings: &Mnmf, seed: u64, network: &Network) -> Self {
        let mut config = serde_json::to_value(settings.resolved(network.views().len()))
            .expect("settings are serializable");
        config["seed"] = seed.into();
        let view = |view: &manyview_data::network::View| ViewIdentity {
            name: view.name.clone(),
            directed: view.directed,
            edges: view.fingerprint(),
        };
        // Settings without a plan are refused by the run itself.
        let plan = settings.plan(network.views().len());
        let columns = plan.map(|plan| plan.stages.into_iter().map(|stage| stage.columns).collect());
        let ids = network.nodes().iter().map(manyview_base::random::text_key);
        Identity {
            program: env!("CARGO_PKG_VERSION").into(),
            config,
            nodes: mix_words(ids),
            node_count: network.nodes().len(),
            targets: settings.targets(network.views().len()),
            views: network.views().iter().map(view).collect(),
            columns: columns.unwrap_or_default(),
        }
    }

    /// The columns of a stage, from 1; `None` if the run has no such stage.
    pub(super) fn columns_of(&self, stage: usize) -> Option<&Range<usize>> {
        self.columns.get(stage.checked_sub(1)?)
    }

    /// The number of nodes.
    pub(super) fn node_count(&self) -> usize {
        self.node_count
    }

    /// The number of matrices that are factorized.
    pub(super) fn targets(&self) -> usize {
        self.targets
    }

    /// Describes the first difference from `other`; `None` if there is none.
    pub(super) fn difference(&self, other: &Identity) -> Option<String> {
        if self.program != other.program {
            return Some(format!(
                "it was written by version {}, and this is version {}",
                other.program, self.program
            ));
        }
        if let Some(difference) = setting_difference(&self.config, &other.config) {
            return Some(difference);
        }
        let names =
            |identity: &Identity| identity.views.iter().map(|view| view.name.clone()).collect::<Vec<_>>();
        if names(self) != names(other) {
            return Some(format!(
                "the views were {} and are now {}",
                names(other).join(", "),
                names(self).join(", ")
            ));
        }
        if self.nodes != other.nodes {
            return Some("the nodes or their order have changed".into());
        }
        let changed = self.views.iter().zip(&other.views).find(|(now, then)| now != then);
        let changed = changed.map(|(view, _)| format!("the edges of view \"{}\" have changed", view.name));
        changed.or_else(|| {
            (self.columns != other.columns).then(|| "the columns of the stages have changed".into())
        })
    }
}

fn setting_difference(now: &Value, then: &Value) -> Option<String> {
    let (now, then) = (now.as_object()?, then.as_object()?);
    let changed = now.iter().find(|(name, value)| then.get(*name) != Some(value));
    changed.map(|(name, value)| {
        let then = then.get(name).map_or_else(|| "not set".into(), Value::to_string);
        format!("{} was {then} and is now {value}", option(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::message::Message;

    fn network(weight: f64, third: &str) -> Network {
        Network::from_edges(&[("calls", &[("a", "b", 1.0), ("b", third, weight)])]).unwrap()
    }

    #[test]
    fn differences_are_named() {
        let base = Identity::of(&Mnmf::default(), 0, &network(1.0, "c"));
        assert_eq!(base.difference(&Identity::of(&Mnmf::default(), 0, &network(1.0, "c"))), None);
        let words = base.difference(&Identity::of(&Mnmf::default(), 7, &network(1.0, "c"))).unwrap();
        assert_eq!(Message::from(words).to_string(), "seed was 7 and is now 0");
        let gamma = Mnmf { gamma: 2.0, ..Mnmf::default() };
        let words = base.difference(&Identity::of(&gamma, 0, &network(1.0, "c"))).unwrap();
        assert_eq!(Message::from(words).to_string(), "gamma was 2.0 and is now 5.0");
        let words = base.difference(&Identity::of(&Mnmf::default(), 0, &network(2.0, "c"))).unwrap();
        assert_eq!(words, "the edges of view \"calls\" have changed");
        let words = base.difference(&Identity::of(&Mnmf::default(), 0, &network(1.0, "d"))).unwrap();
        assert_eq!(words, "the nodes or their order have changed");
        let older = Identity { program: "0.0.1".into(), ..base.clone() };
        assert!(base.difference(&older).unwrap().contains("version 0.0.1"));
    }

    #[test]
    fn an_identity_survives_the_disk() {
        let identity =
            Identity::of(&Mnmf { tol: Some(1e-7), gamma: 0.1, ..Mnmf::default() }, 0, &network(0.3, "c"));
        let text = serde_json::to_string(&identity).unwrap();
        assert_eq!(serde_json::from_str::<Identity>(&text).unwrap().difference(&identity), None);
    }
}

//! What a fit gives back besides the vectors: everything a person needs to see what happened.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::comm::Traffic;
use crate::config::{Config, Consensus, Kind};
use crate::residual::Residual;
use manyview_base::linalg::Real;
use manyview_data::embedding::Embedding;
use manyview_data::network::Network;

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct Fit {
    /// One vector per node.
    pub embedding: Embedding,
    /// The views as they went in.
    pub views: Vec<ViewRecord>,
    /// The stages as they ran; a unique stage has a record for each view.
    pub stages: Vec<StageRecord>,
    /// Sentences that a person should read.
    pub warnings: Vec<String>,
    /// Wall time.
    pub seconds: Seconds,
    /// Threads of a rank.
    pub threads: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// What this rank did.
    pub own: OwnWork,
}

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every factorization converged.
    Converged,
    /// At least one used up its iterations.
    MaxIter,
}

impl Fit {
    /// How it ended.
    pub fn stop(&self) -> Stop {
        if self.stages.iter().all(|stage| stage.converged) { Stop::Converged } else { Stop::MaxIter }
    }
}

/// A view as it went into the stages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ViewRecord {
    /// Its name.
    pub name: String,
    /// Distinct edges.
    pub edges: usize,
    /// Nodes without an edge in it.
    pub isolated: usize,
    /// Entries of its proximity matrix M; 0 in files of other methods.
    #[serde(default)]
    pub entries: usize,
    /// `||M||^2`; 0 in files of other methods.
    #[serde(default)]
    pub squared_norm: f64,
}

impl ViewRecord {
    pub(super) fn of<T>(network: &Network, residuals: &[Residual<T>]) -> Vec<Self> {
        let record = |(view, residual): (&manyview_data::network::View, &Residual<T>)| ViewRecord {
            name: view.name.clone(),
            edges: view.edges(),
            isolated: view.isolated(),
            entries: residual.entries,
            squared_norm: residual.squared_norm,
        };
        network.views().iter().zip(residuals).map(record).collect()
    }
}

/// A stage (in a unique stage, one view of it) as it ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StageRecord {
    /// From 1.
    pub stage: usize,
    /// What it looked for.
    pub kind: Kind,
    /// How, in a consensus stage.
    pub consensus: Option<Consensus>,
    /// The view, in a unique stage.
    pub view: Option<String>,
    /// Its columns of the embedding: from, and up to but not including.
    pub columns: [usize; 2],
    /// Iterations it took.
    pub iterations: usize,
    /// Whether it converged before `max_iter`.
    pub converged: bool,
    /// Wall time.
    pub seconds: f64,
    /// View weights after the last iteration.
    pub weights: BTreeMap<String, f64>,
    /// `||R||^2 / ||M||^2` of each view after the stage.
    pub residual: BTreeMap<String, f64>,
    /// Entries of each view's residual before the stage.
    pub entries: BTreeMap<String, usize>,
}

/// Wall time of the parts of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    /// Proximity matrices.
    pub proximity: f64,
    /// All stages.
    pub factorize: f64,
}

/// What one rank did in a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnWork {
    /// Rows it owns.
    pub rows: usize,
    /// Entries of all proximity matrices in them.
    pub entries: usize,
    /// Wall time of its proximity matrices, without communication.
    pub proximity: f64,
    /// Wall time of its passes over residuals, without communication.
    pub pass: f64,
    /// What it said to other ranks.
    pub traffic: Traffic,
}

impl OwnWork {
    pub(super) fn begin<T: Real>(rows: usize, residuals: &[Residual<T>]) -> Self {
        let entries = residuals.iter().map(|residual| residual.tiles.entries()).sum();
        OwnWork { rows, entries, ..OwnWork::default() }
    }

    pub(super) fn proximity_took(&mut self, seconds: f64, traffic: Traffic) {
        self.proximity = seconds - traffic.seconds;
        self.traffic = traffic;
    }

    pub(super) fn stages_took(&mut self, seconds: f64, traffic: Traffic) {
        self.pass = seconds - (traffic.seconds - self.traffic.seconds);
        self.traffic = traffic;
    }
}

pub(super) fn convergence_warning(stages: &[StageRecord], config: &Config) -> Option<String> {
    let open = stages.iter().filter(|stage| !stage.converged).count();
    let (all, tol) = (stages.len(), config.tol);
    (open > 0).then(|| {
        format!(
            "{open} of {all} factorizations used all their iterations before an iteration gained less than tol = {tol}; \
             the result is usable, --max-iter with a higher number may improve it"
        )
    })
}

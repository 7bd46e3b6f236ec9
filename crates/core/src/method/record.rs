//! What a fit returns: the vectors, and everything that shows what happened.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::comm::Traffic;
use crate::mnmf::Consensus;
use crate::piece::FittedFactors;
use manyview_base::message::Warning;
use manyview_data::embedding::{Embedding, Kind};
use manyview_data::network::View;
use manyview_data::overlap::Overlap;

/// The result of a fit, by any method.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fit {
    /// The name of the method.
    pub method: String,
    /// The settings as they were given, with the seed and the number of threads.
    pub settings: Value,
    /// The settings with everything that was left open filled in.
    pub config: Value,
    /// A hash of the network: nodes and edges.
    pub fingerprint: u64,
    /// How far each two views agree; empty unless the caller looked.
    pub overlap: Vec<Overlap>,
    /// One vector per node.
    pub embedding: Embedding,
    /// The factor by which all vectors were multiplied, so that their root mean square length is [`LENGTH`](super::LENGTH).
    pub vector_scale: f64,
    /// The views as they went in.
    pub views: Vec<ViewRecord>,
    /// The union of all views, if it was factorized as well.
    pub joint: Option<ViewRecord>,
    /// The stages as they ran, one record per view in unique stages; empty for methods without stages.
    pub stages: Vec<StageRecord>,
    /// What the plan was chosen by, if it was chosen by the data.
    pub chosen: Option<ChosenPlan>,
    /// Its factors, if they are kept: what vectors of other nodes follow from.
    pub factors: Option<Arc<FittedFactors>>,
    /// What the user should know about the result.
    pub warnings: Vec<Warning>,
    /// Wall time.
    pub seconds: Seconds,
    /// The number of threads per rank.
    pub threads: usize,
    /// The number of ranks.
    pub ranks: usize,
    /// What this rank did.
    pub own: OwnWork,
}

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// How M was sampled; absent if it is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledRecord>,
}

/// How a proximity matrix was sampled, and how far it is from the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledRecord {
    /// Walks from each node.
    pub walks: usize,
    /// The relative error of X before the logarithm, from the difference of two halves of the walks; absent if no pair was visited by
    /// both.
    pub relative_error: Option<f64>,
    /// The share of the visited pairs that were visited once.
    pub seen_once: f64,
}

impl ViewRecord {
    /// A view before anything is known of its proximity.
    pub fn of(view: &View) -> Self {
        ViewRecord {
            name: view.name.clone(),
            edges: view.edges(),
            isolated: view.isolated(),
            entries: 0,
            squared_norm: 0.0,
            sampled: None,
        }
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

/// A plan that was chosen by the data, and what it follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenPlan {
    /// The settings that have this plan.
    #[serde(skip)]
    pub config: Value,
    /// The share of the pairs that were hidden.
    pub hidden: f64,
    /// The number of columns of the candidates.
    pub columns: usize,
    /// The error on hidden pairs with these columns divided among the views.
    pub unique: f64,
    /// The error with these columns for all views together.
    pub consensus: f64,
    /// The error with so many columns for every view.
    pub separate: f64,
    /// How far common columns can replace separate ones, from 0 to 1; 0 if the errors cannot tell.
    pub agreement: f64,
    /// The number of unique stages that follows: none if the views repeat each other.
    pub unique_stages: usize,
    /// The number of columns of the consensus stages.
    pub consensus_columns: usize,
}

impl ChosenPlan {
    /// What was chosen, and why.
    pub fn sentence(&self) -> String {
        let ChosenPlan { columns, unique, consensus, separate, unique_stages, consensus_columns, .. } = self;
        let plural = if *unique_stages == 1 { "" } else { "s" };
        let follows = match unique_stages {
            0 => format!(
                "they repeat each other, and all {consensus_columns} columns are for all views together"
            ),
            _ => format!(
                "as usual, {unique_stages} unique stage{plural}, then {consensus_columns} columns for all views together"
            ),
        };
        format!(
            "the views agree to {:.0} %: {follows} (error of {columns} columns on hidden pairs: {unique:.3} if divided among \
             the views, {consensus:.3} if for all views together, {separate:.3} if every view had as many)",
            100.0 * self.agreement
        )
    }
}

/// Wall time of the parts of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Proximity matrices; 0 for methods without stages.
    pub proximity: f64,
    /// All stages; 0 for methods without stages.
    pub factorize: f64,
    /// The whole fit.
    pub total: f64,
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
    /// Communication with other ranks.
    pub traffic: Traffic,
}

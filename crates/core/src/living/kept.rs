//! What a fit leaves behind so that other nodes get vectors: its factors, its network and its settings.

use std::sync::{Arc, OnceLock};

use super::rows::Attachments;
use super::solve::Stages;
use crate::method::Fit;
use crate::mnmf::Mnmf;
use crate::piece::FittedFactors;
use manyview_base::error::{Error, Result};
use manyview_base::message::{option_value, switch};
use manyview_base::parallel::Pool;
use manyview_base::settings::Settings;
use manyview_data::network::{Network, View};
use serde_json::{Map, Value};

/// A fit that can give vectors to nodes that it did not see.
///
/// What is needed again for every call, such as the steps of the walks, is prepared at the first one.
pub struct KeptModel {
    pub(super) network: Network,
    pub(super) settings: Mnmf,
    /// The settings as `run.json` has them.
    pub(super) config: Map<String, Value>,
    pub(super) factors: Arc<FittedFactors>,
    pub(super) vector_scale: f64,
    pub(super) dim: usize,
    pub(super) sampled: bool,
    union: OnceLock<Option<View>>,
    attachments: OnceLock<Attachments>,
    stages: OnceLock<Stages>,
}

impl KeptModel {
    /// The model of a fit that kept its factors, and its network.
    ///
    /// # Errors
    /// [`Error::Config`] when it did not keep them.
    pub fn of_fit(fit: &Fit, network: Network) -> Result<Self> {
        let Some(factors) = &fit.factors else {
            return Err(Error::config(format!(
                "the factors of this fit were not kept; fit again with {}",
                switch("save_model")
            )));
        };
        let config = fit.config.as_object().cloned().unwrap_or_default();
        let sampled = super::file::is_sampled(fit);
        Self::new(network, config, factors.clone(), fit.vector_scale, fit.embedding.dim(), sampled)
    }

    pub(super) fn new(
        network: Network,
        config: Map<String, Value>,
        factors: Arc<FittedFactors>,
        vector_scale: f64,
        dim: usize,
        sampled: bool,
    ) -> Result<Self> {
        let mut settings = Mnmf::default();
        for (name, value) in config.iter().filter(|(name, _)| !["seed", "threads"].contains(&name.as_str())) {
            if !settings.set(name, value)? {
                return Err(Error::config(format!("the model has an unknown setting {name:?}")));
            }
        }
        Ok(KeptModel {
            network,
            settings,
            config,
            factors,
            vector_scale,
            dim,
            sampled,
            union: OnceLock::new(),
            attachments: OnceLock::new(),
            stages: OnceLock::new(),
        })
    }

    /// The network of the fit.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The number of columns of the vectors.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Whether the proximity matrices of the fit were sampled by random walks; rows of new nodes are always exact.
    pub fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// The model with only the first stages, whose columns of the embedding were multiplied by a factor when the others were cut off.
    ///
    /// # Errors
    /// [`Error::Config`] when there are fewer stages.
    pub fn first_stages(
        &self,
        stages: usize,
        columns: &[usize],
        factor: f64,
        config: &Value,
    ) -> Result<Self> {
        let place = |column: usize| columns.iter().position(|&other| other == column);
        let mut kept = Vec::new();
        for piece in self.factors.pieces.iter().filter(|piece| piece.stage <= stages) {
            let width = piece.piece.columns.len();
            let Some(start) = place(piece.piece.columns.start) else {
                return Err(Error::config(format!(
                    "{}: the model and run.json have different stages",
                    option_value("stages", stages)
                )));
            };
            let mut piece = piece.clone();
            piece.piece.columns = start..start + width;
            kept.push(piece);
        }
        let factors = FittedFactors { matrix_scales: self.factors.matrix_scales.clone(), pieces: kept };
        let config = config.as_object().cloned().unwrap_or_default();
        Self::new(
            self.network.clone(),
            config,
            Arc::new(factors),
            self.vector_scale * factor,
            columns.len(),
            self.sampled,
        )
    }

    /// The union of the views, if it took part.
    pub(super) fn union(&self, pool: &Pool) -> Option<&View> {
        self.union.get_or_init(|| self.settings.union_of_views(&self.network, pool)).as_ref()
    }

    /// What the rows of new nodes are computed with.
    pub(super) fn attachments(&self, pool: &Pool) -> Result<&Attachments> {
        if let Some(known) = self.attachments.get() {
            return Ok(known);
        }
        let made = Attachments::new(self, pool)?;
        Ok(self.attachments.get_or_init(|| made))
    }

    /// The factors, prepared for solving rows.
    pub(super) fn stages(&self, pool: &Pool) -> &Stages {
        self.stages.get_or_init(|| Stages::new(self, pool))
    }
}

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
    /// The number of views that were fitted together; views after them were added later, and are not part of the union.
    pub(super) fitted_views: usize,
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
        let (sampled, views) = (super::file::is_sampled(fit), network.views().len());
        Self::new(network, config, factors.clone(), fit.vector_scale, fit.embedding.dim(), sampled, views)
    }

    pub(super) fn new(
        network: Network,
        config: Map<String, Value>,
        factors: Arc<FittedFactors>,
        vector_scale: f64,
        dim: usize,
        sampled: bool,
        fitted_views: usize,
    ) -> Result<Self> {
        let mut settings = Mnmf::default();
        for (name, value) in config.iter().filter(|(name, _)| !["seed", "threads"].contains(&name.as_str())) {
            if !settings.set(name, value)? {
                return Err(Error::config(format!("the model has an unknown setting {name:?}")));
            }
        }
        settings.check()?;
        Ok(KeptModel {
            network,
            settings,
            config,
            factors,
            vector_scale,
            dim,
            sampled,
            fitted_views,
            union: OnceLock::new(),
            attachments: OnceLock::new(),
            stages: OnceLock::new(),
        })
    }

    /// The network of the fit.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The hash of the network, as `run.json` has it.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.network.fingerprint())
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
        let views = self.views_until(stages);
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
            piece.explained.retain(|later| later.view < views);
            let union = self.network.views().len();
            piece.piece.views.iter_mut().filter(|view| **view == union).for_each(|view| *view = views);
            kept.push(piece);
        }
        let mut matrix_scales = self.factors.matrix_scales.clone();
        matrix_scales.drain(views..self.network.views().len());
        let config = config.as_object().cloned().unwrap_or_default();
        Self::new(
            Network::new(self.network.nodes().clone(), self.network.views()[..views].to_vec()),
            config,
            Arc::new(FittedFactors { matrix_scales, pieces: kept }),
            self.vector_scale * factor,
            columns.len(),
            self.sampled,
            self.fitted_views,
        )
    }

    /// The number of views after some stages: those of the fit, and those added later whose stage is among them.
    fn views_until(&self, stages: usize) -> usize {
        let pieces = || self.factors.pieces.iter().filter(|piece| piece.stage <= stages);
        let has_columns = |view: &usize| pieces().any(|piece| piece.piece.views == [*view]);
        let added = self.fitted_views..self.network.views().len();
        self.fitted_views + added.take_while(has_columns).count()
    }

    /// Whether there is a matrix for each view, and for the union of those that were fitted if it takes part.
    pub(super) fn has_its_matrices(&self) -> bool {
        let added = self.network.views().len() - self.fitted_views;
        self.factors.matrix_scales.len() == self.settings.targets(self.fitted_views) + added
    }

    /// The union of the views that were fitted together, if it took part.
    pub(super) fn union(&self, pool: &Pool) -> Option<&View> {
        self.union.get_or_init(|| self.union_in(&self.network, pool)).as_ref()
    }

    /// The same union in a network with these views and other edges or nodes.
    pub(super) fn union_in(&self, network: &Network, pool: &Pool) -> Option<View> {
        self.settings.union_of_views(&network.views()[..self.fitted_views], pool)
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

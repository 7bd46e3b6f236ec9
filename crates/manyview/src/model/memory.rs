//! What a fit needs: its memory, estimated before it runs, and settings with which it fits.

use manyview_base::error::{Error, Result};
use manyview_base::memory::{self, Limit};
use manyview_base::message::option;
use manyview_base::parallel::Pool;
use manyview_core::estimate::{Estimate, Terms, ViewEstimate};
use manyview_core::method::Observer;
use manyview_core::mnmf::Mnmf;
use manyview_core::proximity::{How, Source};
use manyview_data::Network;
use serde_json::Value;

use super::Model;

impl Model {
    /// Whether the memory of a fit can be estimated: that of methods that form proximity matrices can.
    pub fn is_estimated(&self) -> bool {
        self.settings.memory_like(1).is_some()
    }

    /// Refuses a memory limit for methods whose memory is not known in advance.
    pub fn check_max_memory(&self, max_memory: Option<u64>) -> Result<()> {
        if max_memory.is_none() || self.is_estimated() {
            return Ok(());
        }
        let (name, method) = (option("max_memory"), self.method().name());
        Err(Error::config(format!("{name}: the memory of {method} is not known in advance; leave it out")))
    }

    /// Refuses fits by [`Trials`](manyview_core::trials::Trials) that need too much memory: twice that of a single fit, since
    /// the matrices are kept for the next one while a copy of them is worked on.
    pub(crate) fn check_memory_of_trials(
        &self,
        network: &Network,
        most: Option<u64>,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        let Some(estimate) = self.estimate(network, observer)? else { return Ok(()) };
        let sentence = |needs| {
            let (dim, negative) = (option("dim"), option("negative"));
            format!("several fits with these settings need about {needs}; lower {dim}, or raise {negative}")
        };
        let needed = estimate.peak().saturating_mul(2);
        memory::Limit::new(most).check(needed).map_err(|needs| Error::too_large(sentence(needs)))
    }

    /// Estimates the memory of a fit in one process; `None` for methods whose memory is not known beforehand.
    pub fn estimate(&self, network: &Network, observer: &mut Observer<'_>) -> Result<Option<ModelEstimate>> {
        self.estimate_with(Terms::default(), network, observer)
    }

    /// The same on some terms.
    ///
    /// # Errors
    /// Those of [`Mnmf::estimate_with`].
    pub fn estimate_with(
        &self,
        terms: Terms,
        network: &Network,
        observer: &mut Observer<'_>,
    ) -> Result<Option<ModelEstimate>> {
        let Some(like) = self.settings.memory_like(network.views().len()) else { return Ok(None) };
        let pool = Pool::new(self.threads)?;
        if !like.each_view {
            let estimate = like.mnmf.estimate_with(terms, network, &pool, observer)?;
            let views = estimate.views.clone();
            return Ok(Some(ModelEstimate { mnmf: like.mnmf, views, largest: None, estimate, pool }));
        }
        let mut views = Vec::new();
        let mut largest: Option<(Network, Estimate)> = None;
        for view in 0..network.views().len() {
            let alone = network.only(view);
            let estimate = like.mnmf.estimate_with(terms, &alone, &pool, observer)?;
            views.extend(estimate.views.iter().cloned());
            if largest.as_ref().is_none_or(|(_, known)| known.memory.peak() < estimate.memory.peak()) {
                largest = Some((alone, estimate));
            }
        }
        let found = largest.map(|(alone, estimate)| ModelEstimate {
            mnmf: like.mnmf.clone(),
            views,
            largest: Some(alone),
            estimate,
            pool,
        });
        Ok(found)
    }

    /// The model with what its settings leave open chosen so that a fit fits into memory: sampled matrices where exact ones do not,
    /// and fewer walks where the usual number does not. The estimate is that of the model that is returned; `None` for methods
    /// whose memory is not known beforehand.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when it does not fit with the settings that were given; the message names some that would.
    pub fn fitted(
        &self,
        network: &Network,
        max_memory: Option<u64>,
        observer: &mut Observer<'_>,
    ) -> Result<(Model, Option<ModelEstimate>)> {
        self.fitted_with(Terms { max_memory, ..Terms::default() }, network, observer)
    }

    /// The same for a fit on some terms.
    ///
    /// # Errors
    /// Those of [`fitted`](Self::fitted).
    pub fn fitted_with(
        &self,
        terms: Terms,
        network: &Network,
        observer: &mut Observer<'_>,
    ) -> Result<(Model, Option<ModelEstimate>)> {
        let max_memory = terms.max_memory;
        let estimate = self.estimate_with(terms, network, observer)?;
        let Some(mut estimate) = estimate else { return Ok((self.clone(), None)) };
        let limit = Limit::new(max_memory);
        let given = estimate.mnmf.proximity;
        if limit.check(estimate.peak()).is_ok() || given.walks.is_some() || given.proximity == Source::Exact {
            estimate.check(network, max_memory, observer)?;
            return Ok((self.clone(), Some(estimate)));
        }
        let mut model = self.clone();
        // An estimate holds the union of the views: one at a time.
        let mut again = |model: &Model, before: ModelEstimate| -> Result<ModelEstimate> {
            drop(before);
            Ok(model.estimate_with(terms, network, observer)?.expect("the method is the same"))
        };
        if estimate.estimate.proximity.how == How::Exact {
            model.settings.set("proximity", &Source::Sampled.name().into())?;
            estimate = again(&model, estimate)?;
        }
        if limit.check(estimate.peak()).is_err()
            && let Some(walks) = estimate.walks_within(network, limit.bytes)
        {
            model.settings.set("walks", &Value::from(walks))?;
            estimate = again(&model, estimate)?;
        }
        estimate.check(network, max_memory, observer)?;
        Ok((model, Some(estimate)))
    }
}

/// The memory that a model will need.
pub struct ModelEstimate {
    /// The fit of MNMF that takes as much memory.
    pub mnmf: Mnmf,
    /// What is expected for each view, in order.
    pub views: Vec<ViewEstimate>,
    /// The view that takes the most memory, for methods that process one view at a time.
    largest: Option<Network>,
    /// What the fit needs: of all views, or of the one that takes the most memory.
    pub estimate: Estimate,
    /// The threads it was made with.
    pub pool: Pool,
}

impl ModelEstimate {
    /// The expected peak, in bytes.
    pub fn peak(&self) -> u64 {
        self.estimate.memory.peak()
    }

    /// Entries of all proximity matrices, which methods that process one view at a time do not hold together.
    pub fn entries(&self) -> f64 {
        self.views.iter().map(|view| view.entries).sum()
    }

    /// The name of the view that the peak belongs to, for methods that process one view at a time.
    pub fn largest_view(&self) -> Option<&str> {
        self.largest.as_ref().map(|network| network.views()[0].name.as_str())
    }

    /// Refuses what exceeds `max_memory` or the memory that this process can get.
    ///
    /// # Errors
    /// [`Error::TooLarge`], with settings that would fit.
    pub fn check(
        &self,
        network: &Network,
        max_memory: Option<u64>,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        let network = self.largest.as_ref().unwrap_or(network);
        self.estimate.check(&self.mnmf, network, max_memory, &self.pool, observer)
    }

    /// The largest number of walks with which a fit with sampled matrices fits into so much memory.
    fn walks_within(&self, network: &Network, limit: u64) -> Option<usize> {
        let network = self.largest.as_ref().unwrap_or(network);
        // Entries between the numbers of walks that were looked at are interpolated.
        self.estimate.walks_within(&self.mnmf, network, limit / 100 * 97)
    }
}

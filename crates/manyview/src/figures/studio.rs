//! Fits MNMF with the settings that a figure asks for, and scores the vectors. Fits share what they have in common ([`Trials`]).

use manyview_analysis::evaluate::{ClassifySettings, ShareScores, Vectors, classify_watched};
use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_core::method::Fit;
use manyview_core::mnmf::Mnmf;
use manyview_core::trials::Trials;
use manyview_data::Network;
use manyview_data::labels::Labels;

use super::{Event, FigureSettings, Observer};
use crate::model::{MethodSettings, Model};

/// The most bytes of finished stages that are kept for later fits.
const KEPT_STAGES: usize = 1 << 28;

/// Where figures are computed.
pub(super) struct Studio<'a, 'o> {
    pub(super) network: &'a Network,
    pub(super) labels: Option<&'a Labels>,
    /// MNMF as given.
    pub(super) ours: Mnmf,
    pub(super) seed: u64,
    pub(super) threads: Option<usize>,
    pub(super) pool: Pool,
    classify: ClassifySettings,
    max_memory: Option<u64>,
    trials: Trials<'a>,
    observer: &'a mut Observer<'o>,
    notes: Vec<String>,
}

impl FigureSettings {
    /// The settings of MNMF.
    pub(super) fn mnmf(&self) -> &Mnmf {
        match &self.model.settings {
            MethodSettings::Mnmf(mnmf) => mnmf,
            // `check` refuses other methods.
            other => unreachable!("figures of {other:?}"),
        }
    }
}

impl<'a, 'o> Studio<'a, 'o> {
    pub(super) fn new(
        network: &'a Network,
        labels: Option<&'a Labels>,
        settings: &FigureSettings,
        observer: &'a mut Observer<'o>,
    ) -> Result<Self> {
        let (seed, threads) = (settings.model.seed, settings.model.threads);
        Ok(Studio {
            network,
            labels,
            ours: settings.mnmf().clone(),
            seed,
            threads,
            pool: Pool::new(threads)?,
            classify: settings.classify(),
            max_memory: settings.max_memory,
            trials: Trials::new(network, seed, threads, KEPT_STAGES)?,
            observer,
            notes: Vec::new(),
        })
    }

    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) -> Result<()> {
        if (self.observer)(event).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }

    pub(super) fn note(&mut self, note: String) -> Result<()> {
        self.tell(&Event::Note(&note))?;
        self.notes.push(note);
        Ok(())
    }

    /// Those variants that this network and number of columns allow; the others are noted.
    pub(super) fn possible(
        &mut self,
        what: &str,
        variants: Vec<(String, Mnmf)>,
    ) -> Result<Vec<(String, Mnmf)>> {
        let views = self.network.views().len();
        let (mut found, mut impossible, mut reason) = (Vec::new(), Vec::new(), None);
        for (name, mnmf) in variants {
            match mnmf.plan(views) {
                Ok(_) => found.push((name, mnmf)),
                Err(error) => {
                    impossible.push(name);
                    reason.get_or_insert(error);
                }
            }
        }
        if let Some(reason) = reason {
            self.note(format!("{what} leaves out {}: {reason}", impossible.join(", ")))?;
        }
        Ok(found)
    }

    /// Refuses settings that need too much memory.
    pub(super) fn check_memory(&mut self, mnmf: &Mnmf) -> Result<()> {
        let model = Model { settings: mnmf.clone().into(), seed: self.seed, threads: self.threads };
        let observer = &mut *self.observer;
        model.check_memory_of_trials(self.network, self.max_memory, &mut |now| observer(&Event::Fitting(now)))
    }

    /// Fits a variant.
    pub(super) fn fit(&mut self, name: &str, mnmf: &Mnmf) -> Result<Fit> {
        self.tell(&Event::Variant(name))?;
        let observer = &mut *self.observer;
        self.trials.fit(mnmf, None, &mut |now| observer(&Event::Fitting(now)))
    }

    /// Fits a variant to another network, with nothing in common.
    pub(super) fn fit_other(&mut self, name: &str, network: &Network, mnmf: &Mnmf) -> Result<Fit> {
        self.tell(&Event::Variant(name))?;
        let observer = &mut *self.observer;
        Trials::new(network, self.seed, self.threads, 0)?
            .fit(mnmf, None, &mut |now| observer(&Event::Fitting(now)))
    }

    /// The scores of vectors; `None` without labels.
    pub(super) fn scores(&mut self, fit: &Fit) -> Result<Option<ShareScores>> {
        let Some(labels) = self.labels else { return Ok(None) };
        let vectors = Vectors::try_from(&fit.embedding)?;
        let observer = &mut *self.observer;
        let mut watch = |step| observer(&Event::Measuring(step));
        let found = classify_watched(&vectors, labels, &self.classify, &self.pool, &mut watch)?;
        Ok(found.shares.into_iter().next())
    }

    /// Two coordinates per node.
    pub(super) fn layout(
        &mut self,
        embedding: &manyview_data::embedding::Embedding,
    ) -> Result<Vec<Option<[f32; 2]>>> {
        let observer = &mut *self.observer;
        manyview_analysis::layout::layout_watched(embedding, self.seed, &self.pool, &mut |step| {
            observer(&Event::LayingOut(step))
        })
    }
}

//! Fits candidates and scores them, or takes both from the store.
//!
//! One candidate at a time is fitted, on all threads: the solver is parallel, and several fits at once would need their
//! memory together. Fits share their proximity and first stages ([`Trials`]).
//!
//! Invariant: a score follows from the candidate and the protocol alone, not from what was measured before.

use std::collections::BTreeSet;
use std::time::Instant;

use manyview_analysis::evaluate::Vectors;
use manyview_base::error::{Error, Result};
use manyview_base::memory;
use manyview_base::parallel::Pool;
use manyview_core::method::{Fit, Progress};
use manyview_core::trials::{Trials, approximation_errors, first_stages};
use manyview_data::Network;
use serde_json::{Value, json};

use super::event::{Event, Observer, tell};
use super::protocol::Protocol;
use super::settings::TuneSettings;
use super::space::{Candidate, cut_point};
use super::store::{Measured, StageScore, Store, name};

/// Of the memory that is available, this part may hold finished stages.
const STAGES_PART: u64 = 4;

/// Where candidates are fitted and scored.
pub(super) struct Lab<'a, 'o> {
    protocol: &'a Protocol<'a>,
    trials: Trials<'a>,
    pool: Pool,
    store: Store,
    observer: &'a mut Observer<'o>,
    views: usize,
    max_memory: Option<u64>,
    /// What scores follow from besides the candidate.
    context: Value,
    /// Candidates whose memory was checked: what it follows from.
    checked: BTreeSet<String>,
}

impl<'a, 'o> Lab<'a, 'o> {
    pub(super) fn new(
        protocol: &'a Protocol<'a>,
        settings: &TuneSettings,
        store: Store,
        network: &Network,
        observer: &'a mut Observer<'o>,
    ) -> Result<Self> {
        let (seed, threads) = (settings.model.seed, settings.model.threads);
        let limit = memory::Limit::new(settings.max_memory).bytes / STAGES_PART;
        let most_bytes = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(Lab {
            protocol,
            trials: Trials::new(protocol.network(), seed, threads, most_bytes)?,
            pool: Pool::new(threads)?,
            store,
            observer,
            views: network.views().len(),
            max_memory: settings.max_memory,
            context: json!({
                "version": env!("CARGO_PKG_VERSION"),
                "network": network_key(network),
                "protocol": protocol.identity(settings),
            }),
            checked: BTreeSet::new(),
        })
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) -> Result<()> {
        tell(self.observer, event)
    }

    /// The name of a candidate in files.
    pub(super) fn name(&self, candidate: &Candidate) -> String {
        name(&self.identity(candidate, false).to_string())
    }

    /// `every`: whether each stage is scored, and not only some.
    fn identity(&self, candidate: &Candidate, every: bool) -> Value {
        json!({"context": self.context, "settings": candidate.identity(self.views), "every": every})
    }

    /// What is known of a candidate.
    pub(super) fn known(&mut self, candidate: &Candidate) -> Measured {
        let identity = self.identity(candidate, false);
        self.store.get(&identity)
    }

    /// Measures a candidate up to this number of its stages. A failure is part of the result.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the observer breaks, and errors of the folder.
    pub(super) fn measure(&mut self, candidate: &Candidate, stages: usize) -> Result<Measured> {
        let identity = self.identity(candidate, false);
        let plan = candidate.mnmf().plan(self.views)?;
        let wanted: Vec<usize> = scored_stages(plan.stages.len(), cut_point(&plan));
        let wanted: Vec<usize> = wanted.into_iter().filter(|&stage| stage <= stages).collect();
        self.measure_stages(&identity, candidate, &wanted)
    }

    /// The scores after each stage of the longest plan, up to the stage that `candidate`, its beginning, ends with; and
    /// whether all were known.
    ///
    /// # Errors
    /// As [`measure`](Lab::measure).
    pub(super) fn measure_every(
        &mut self,
        longest: &Candidate,
        candidate: &Candidate,
    ) -> Result<(Measured, bool)> {
        let identity = self.identity(longest, true);
        let stages: Vec<usize> = (1..=candidate.mnmf().stages).collect();
        let before = self.store.get(&identity);
        let measured = self.measure_stages(&identity, candidate, &stages)?;
        let known = before == measured;
        Ok((measured, known))
    }

    fn measure_stages(
        &mut self,
        identity: &Value,
        candidate: &Candidate,
        wanted: &[usize],
    ) -> Result<Measured> {
        let mut measured = self.store.get(identity);
        let open: Vec<usize> =
            wanted.iter().copied().filter(|&stage| measured.after(stage).is_none()).collect();
        if measured.failed.is_some() || open.is_empty() {
            return Ok(measured);
        }
        let began = Instant::now();
        match self.score_stages(candidate, &open) {
            Ok(scores) => {
                measured.stages.extend(scores);
                measured.stages.sort_by_key(|score| score.stage);
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // A candidate that fails does not stop the others.
            Err(error) => measured.failed = Some(error.to_string()),
        }
        measured.seconds += began.elapsed().as_secs_f64();
        self.keep(identity, &measured)?;
        Ok(measured)
    }

    fn keep(&mut self, identity: &Value, measured: &Measured) -> Result<()> {
        if self.store.put(identity, measured.clone())? {
            tell(self.observer, &Event::Kept)?;
        }
        Ok(())
    }

    /// The scores after these stages, from one fit.
    fn score_stages(&mut self, candidate: &Candidate, open: &[usize]) -> Result<Vec<StageScore>> {
        let stages = open.last().copied().unwrap_or(0);
        let fit = self.fit(candidate, Some(stages))?;
        let errors = approximation_errors(&fit);
        let mut found = Vec::with_capacity(open.len());
        for &stage in open {
            let (values, dim) = first_stages(&fit.embedding, stage);
            let vectors = Vectors::new(&values, fit.embedding.rows(), dim)?;
            let observer = &mut *self.observer;
            let rounds =
                self.protocol.score(&vectors, &self.pool, &mut |step| observer(&Event::Measuring(step)))?;
            let score = rounds.iter().sum::<f64>() / rounds.len() as f64;
            found.push(StageScore { stage, dim, error: errors[stage - 1], score, rounds });
        }
        Ok(found)
    }

    fn fit(&mut self, candidate: &Candidate, stages: Option<usize>) -> Result<Fit> {
        self.check_memory(candidate)?;
        let observer = &mut *self.observer;
        self.trials.fit(candidate.mnmf(), stages, &mut |now| observer(&Event::Fitting(now)))
    }

    /// Refuses a fit that needs too much memory.
    fn check_memory(&mut self, candidate: &Candidate) -> Result<()> {
        let mnmf = candidate.mnmf();
        let key = json!([mnmf.proximity, mnmf.joint, mnmf.dim, mnmf.stages]).to_string();
        if self.checked.contains(&key) {
            return Ok(());
        }
        let (network, observer) = (self.protocol.network(), &mut *self.observer);
        let mut watch = |_: &Progress<'_>| observer(&Event::Estimating);
        candidate.model.check_memory_of_trials(network, self.max_memory, &mut watch)?;
        self.checked.insert(key);
        Ok(())
    }

    /// The candidate with its scores in the final table.
    ///
    /// # Errors
    /// Those of the fit and of the classification, which had worked before.
    pub(super) fn test(&mut self, candidate: &Candidate) -> Result<Measured> {
        let identity = self.identity(candidate, false);
        let mut measured = self.store.get(&identity);
        if measured.test.is_none() {
            let fit = self.fit(candidate, None)?;
            let vectors = Vectors::try_from(&fit.embedding)?;
            let observer = &mut *self.observer;
            let found =
                self.protocol.test(&vectors, &self.pool, &mut |step| observer(&Event::Measuring(step)))?;
            measured.test = Some(found);
            self.keep(&identity, &measured)?;
        }
        Ok(measured)
    }
}

/// A network in files.
pub(super) fn network_key(network: &Network) -> String {
    format!("{:016x}", network.fingerprint())
}

/// The stages after which a candidate is scored: powers of two, the one where it may be cut off, and the last one.
fn scored_stages(stages: usize, cut: Option<usize>) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |at| Some(at * 2)).take_while(|&at| at < stages);
    let all: BTreeSet<usize> = powers.chain(cut).chain([stages]).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_that_are_scored_have_the_cut_and_the_last() {
        assert_eq!(scored_stages(1, None), [1]);
        assert_eq!(scored_stages(10, Some(5)), [1, 2, 4, 5, 8, 10]);
        assert_eq!(scored_stages(64, Some(32)), [1, 2, 4, 8, 16, 32, 64]);
    }
}

//! Runs the jobs of a comparison one after the other: embeds, measures, and keeps both.
//!
//! Invariant: a job that fails is recorded and does not stop the others; only the observer stops them. Embeddings that
//! learn from labels see the labels of nodes that are never tested in their repeat.

use std::path::Path;
use std::time::Instant;

use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_data::Network;
use manyview_data::embedding::Embedding;
use manyview_data::io::Disk;
use manyview_data::labels::Labels;
use manyview_data::overlap::Overlap;

use super::cache::{Identity, JobCache, Kept};
use super::event::{Event, JobTitle, Listener, Reused};
use super::jobs::{Job, Jobs, Row, Section};
use super::scores::{Measurement, Scores};
use super::settings::CompareSettings;
use super::table::{Candidate, MeasuredRow};
use crate::model::FitOptions;

/// What all jobs share.
pub(super) struct Runner<'a, 'o> {
    pub(super) settings: &'a CompareSettings,
    pub(super) network: &'a Network,
    pub(super) labels: &'a Labels,
    /// The folder in which embeddings and scores are kept, if any.
    pub(super) folder: Option<&'a Path>,
    /// What started the comparison, for `run.json`.
    pub(super) command: &'a str,
    /// The overlap of the views, for `run.json`.
    pub(super) overlap: Vec<Overlap>,
    pub(super) pool: &'a Pool,
    pub(super) listener: Listener<'a, 'o>,
}

impl Runner<'_, '_> {
    /// Runs all jobs.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the observer breaks.
    pub(super) fn run(&mut self, jobs: &Jobs) -> Result<Vec<MeasuredRow>> {
        let open = |row: &Row| MeasuredRow {
            title: row.title.clone(),
            section: row.section,
            kind: row.kind,
            failures: Vec::new(),
            candidates: Vec::new(),
        };
        let mut rows: Vec<MeasuredRow> = jobs.rows.iter().map(open).collect();
        for (number, job) in jobs.jobs.iter().enumerate() {
            let row = &mut rows[job.row];
            let title = JobTitle { title: title(row, job), number: number + 1, of: jobs.jobs.len() };
            match self.run_job(job, row.kind.is_some(), &title) {
                Ok(scores) => row.candidates.push(Candidate { name: job.candidate.clone(), scores }),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => {
                    let message = error.to_string();
                    self.listener.tell(&Event::Failed { job: &title, message: &message })?;
                    let name = job.candidate.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
                    row.failures.push(format!("{name}{message}"));
                }
            }
        }
        Ok(rows)
    }

    /// Returns the scores of a job, from its folder or computed.
    fn run_job(&mut self, job: &Job, validate: bool, title: &JobTitle) -> Result<Scores> {
        let one_view = job.view.map(|view| self.network.only(view));
        let network = one_view.as_ref().unwrap_or(self.network);
        let cache = self.folder.map(|folder| {
            let identity = Identity::new(self.settings, job, network, self.labels, validate);
            JobCache::new(folder, job, identity)
        });
        let kept = cache.as_ref().map(|cache| cache.read(&Disk, self.settings, job, network));
        let (embedding, embedded) = match kept.unwrap_or(Kept::Nothing) {
            Kept::Scores(scores) => {
                self.listener.tell(&Event::Started { job: title, reused: Reused::Scores })?;
                self.tell_notes(&scores)?;
                return Ok(scores);
            }
            Kept::Embedding(saved, seconds) => {
                self.listener.tell(&Event::Started { job: title, reused: Reused::Embedding })?;
                (saved.embedding, seconds)
            }
            Kept::Nothing => {
                self.listener.tell(&Event::Started { job: title, reused: Reused::Nothing })?;
                self.embed(job, network, cache.as_ref())?
            }
        };
        let began = Instant::now();
        let Runner { settings, labels, pool, .. } = *self;
        let measurement = Measurement { settings, labels, repeat: job.repeat, validate, pool };
        let mut scores = measurement.run(&embedding, &mut self.listener)?;
        scores.seconds = embedded;
        if let Some(cache) = &cache {
            cache.write_scores(&scores, &mut self.listener)?;
        }
        self.listener.tell(&Event::Finished { embedded, measured: began.elapsed().as_secs_f64() })?;
        self.tell_notes(&scores)?;
        Ok(scores)
    }

    fn tell_notes(&mut self, scores: &Scores) -> Result<()> {
        scores.notes.iter().try_for_each(|note| self.listener.tell(&Event::ScoreNote(note)))
    }

    /// Embeds, and writes the result to the folder; returns the vectors and the time in seconds.
    fn embed(&mut self, job: &Job, network: &Network, cache: Option<&JobCache>) -> Result<(Embedding, f64)> {
        job.model.check()?;
        let listener = &mut self.listener;
        let (model, _) = job.model.fitted(network, None, &mut |_| listener.poll(&Event::Estimating))?;
        let CompareSettings { train, seed, .. } = self.settings;
        let labels =
            job.repeat.map(|repeat| training_labels(train, *seed, self.labels, repeat)).transpose()?;
        let options = FitOptions { labels: labels.as_ref(), ..FitOptions::default() };
        let mut fit = model.fit_with(network, &options, &mut |now| listener.poll(&Event::Embedding(now)))?;
        fit.warnings.iter().for_each(|warning| listener.announce(&Event::Warning(warning)));
        if let Some(cache) = cache {
            if job.view.is_none() {
                fit.overlap.clone_from(&self.overlap);
            }
            cache.write_embedding(&fit, self.command, self.pool, listener)?;
            listener.announce(&Event::Kept);
        }
        Ok((fit.embedding, fit.seconds.total))
    }
}

fn title(row: &MeasuredRow, job: &Job) -> String {
    let candidate = job.candidate.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    match row.section {
        Section::Method(_) | Section::Ours => format!("{}{candidate}", row.title),
        Section::Ablations | Section::Sweep(_) => format!("{}: {}{candidate}", row.section, row.title),
    }
}

/// The labels that may be learned from in a repeat: those of nodes that are training nodes at every fraction.
fn training_labels(train: &[f64], seed: u64, labels: &Labels, repeat: usize) -> Result<Labels> {
    let splits = train.iter().map(|&share| labels.split(share, seed, repeat));
    let splits: Vec<_> = splits.collect::<Result<_>>()?;
    let always = |row: &u32| splits.iter().all(|split| split.train.binary_search(row).is_ok());
    let rows: Vec<u32> = splits[0].train.iter().copied().filter(always).collect();
    Ok(labels.of_rows(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Because of rounding in small classes, the training nodes of a fraction are not always among those of a larger
    /// one; nodes with several labels are split by another rule.
    #[test]
    fn no_tested_node_of_any_share_is_learned_from() {
        let ids: Vec<String> = (0..61).map(|node| format!("n{node}")).collect();
        let one = |node: usize| vec![["a", "b", "c", "d", "e"][if node < 3 { 4 } else { node % 4 }]];
        let several = |node: usize| if node.is_multiple_of(3) { vec!["a", "b"] } else { one(node) };
        let none = |node: usize| if node.is_multiple_of(7) { vec![] } else { one(node) };
        for of in [&one as &dyn Fn(usize) -> Vec<&'static str>, &several, &none] {
            let labels = Labels::from_sets(&ids, (0..ids.len()).map(of)).unwrap();
            let shares = [0.7, 0.3, 0.45, 0.5];
            for repeat in 0..8 {
                let seen = training_labels(&shares, 3, &labels, repeat).unwrap();
                let splits = shares.map(|share| labels.split(share, 3, repeat).unwrap());
                let tested = |row: u32| splits.iter().any(|split| split.test.binary_search(&row).is_ok());
                assert!(seen.labeled_rows().into_iter().all(|row| !tested(row)), "repeat {repeat}");
                let rest = labels.labeled_rows().into_iter().filter(|&row| !tested(row)).count();
                assert_eq!(seen.labeled(), rest, "all others are learned from");
                assert!(rest > 10, "{rest}");
            }
        }
    }
}

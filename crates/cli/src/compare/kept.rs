//! What earlier runs of the same comparison left: an embedding and its scores for each job.
//!
//! A job's folder has the files of `manyview embed`, `made.json`, which says what they were made from, and
//! `scores.json`, which says how they were measured. What was made from anything else (another network, setting, label
//! or version) is made again.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use manyview::comm::Local;
use manyview::evaluate::Labels;
use manyview::io::OutputFolder;
use manyview::parallel::Pool;
use manyview::result::{RankRecord, ResultFolder, RunRecord, SavedResult};
use manyview::{Error, Fit, Network};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::jobs::Job;
use super::scores::{Scores, cost_name};
use crate::args::CompareArgs;
use crate::interrupt;

/// What a job's folder holds.
pub(super) const JOB_FILES: [&str; 6] =
    ["embedding.npy", "nodes.txt", "run.json", "made.json", "scores.json", "map.npy"];

/// Those that belong to the embedding.
const EMBEDDING_FILES: &[&str] = JOB_FILES.split_at(4).0;

/// A network as files name it.
pub(super) fn network_key(network: &Network) -> String {
    key(network.fingerprint())
}

fn key(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// What an embedding and its scores follow from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    version: String,
    /// The method, its settings, the network, and what it learns from.
    embedding: Value,
    /// How it is measured.
    scores: Value,
}

/// `made.json`.
#[derive(Serialize, Deserialize)]
struct Made {
    version: String,
    embedding: Value,
    seconds: f64,
}

/// `scores.json`.
#[derive(Serialize, Deserialize)]
struct Measured {
    identity: Identity,
    scores: Scores,
}

impl Identity {
    pub(super) fn of(
        args: &CompareArgs,
        job: &Job,
        network: &Network,
        labels: &Labels,
        validate: bool,
    ) -> Result<Self> {
        let (method, mut config) = (job.model.method().name(), job.model.to_json());
        // The number of threads does not affect the result.
        config.remove("threads");
        let costs: Vec<String> = args.c.iter().map(|&cost| cost_name(cost)).collect();
        let labels = key(labels.fingerprint());
        let learned =
            job.repeat.map(|repeat| json!({"labels": labels, "repeat": repeat, "train": args.train}));
        let scores = json!({
            "labels": labels, "train": args.train, "repeats": args.repeats, "seed": args.seed, "c": costs,
            "validated": validate,
        });
        Ok(Identity {
            version: env!("CARGO_PKG_VERSION").into(),
            embedding: json!({"method": method, "config": config, "network": network_key(network), "learned": learned}),
            scores,
        })
    }
}

/// The folder of a job.
pub(super) struct Place {
    folder: PathBuf,
    identity: Identity,
}

/// What was found there.
pub(super) enum Found {
    /// Everything.
    Scores(Scores),
    /// The embedding, but not these scores; with the seconds it took.
    Embedding(Box<SavedResult>, f64),
    Nothing,
}

impl Place {
    pub(super) fn new(output: &Path, job: &Job, identity: Identity) -> Self {
        Place { folder: output.join(&job.folder), identity }
    }

    /// What can be used again. What cannot be read is made again, like what is not there.
    pub(super) fn look(&self) -> Found {
        let Some(made) = self.read::<Made>("made.json") else { return Found::Nothing };
        if (&made.version, &made.embedding) != (&self.identity.version, &self.identity.embedding) {
            return Found::Nothing;
        }
        // Scores alone would leave nothing to draw a map of.
        if EMBEDDING_FILES.iter().any(|name| !self.folder.join(name).is_file()) {
            return Found::Nothing;
        }
        match self.read::<Measured>("scores.json") {
            Some(measured) if measured.identity == self.identity => Found::Scores(measured.scores),
            _ => match ResultFolder::open(&self.folder) {
                Ok(finished) => Found::Embedding(Box::new(finished), made.seconds),
                Err(_) => Found::Nothing,
            },
        }
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(name)).ok()?).ok()
    }

    /// Writes an embedding and its `run.json`, all or nothing.
    pub(super) fn keep_embedding(&self, fit: &Fit, command: &str, pool: &Pool) -> Result<()> {
        let mut output = ResultFolder::create_with(&self.folder, &["made.json"], true)?;
        // A map of an earlier embedding would be taken for one of this.
        let map = self.folder.join("map.npy");
        match fs::remove_file(&map) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => bail!(Error::Io { path: map, cause }),
            _ => {}
        }
        interrupt::writes_to(output.traces());
        output.write_vectors(&fit.embedding, pool)?;
        let ranks = RankRecord::gather(&Local, fit, 0.0, 0.0);
        let mut record = RunRecord::new(fit, command);
        record.rank_records = &ranks;
        output.write_record(&record)?;
        let Identity { version, embedding, .. } = self.identity.clone();
        let made = Made { version, embedding, seconds: fit.seconds.total };
        output.write_extra("made.json", |writer| write_json(writer, &made))?;
        output.commit()?;
        Ok(())
    }

    /// Writes the scores, all or nothing.
    pub(super) fn keep(&self, scores: &Scores) -> Result<()> {
        let mut output = OutputFolder::prepare(&self.folder, &["scores.json"], true)?;
        interrupt::writes_to(output.traces());
        let measured = Measured { identity: self.identity.clone(), scores: scores.clone() };
        output.write("scores.json", |writer| write_json(writer, &measured))?;
        output.commit()?;
        Ok(())
    }
}

fn write_json(writer: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, value)?;
    writeln!(writer)
}

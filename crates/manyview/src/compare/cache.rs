//! What earlier runs of the same comparison left: one folder per job with an embedding, its scores and its map.
//!
//! A job's folder has the files of a result folder, `made.json`, which says what the embedding was computed from,
//! `scores.json`, which says how it was measured, and `map.npy`.
//!
//! Invariant: only what was computed from the same network, settings, labels and version is reused. Everything else,
//! and every file that cannot be read, is computed again. Files appear complete or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_core::comm::Local;
use manyview_core::method::Fit;
use manyview_core::result::{EMBEDDING, NODES, RUN, RankRecord, ResultFolder, RunRecord, SavedResult};
use manyview_data::Network;
use manyview_data::embedding::Embedding;
use manyview_data::io::{Disk, Files, OutputFolder, read_npy_from, write_npy};
use manyview_data::labels::Labels;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::event::{Event, Listener};
use super::jobs::Job;
use super::scores::Scores;
use super::settings::CompareSettings;

pub(super) const MADE: &str = "made.json";
const SCORES: &str = "scores.json";
const MAP: &str = "map.npy";

/// The files in the folder of a job.
pub(super) const JOB_FILES: [&str; 6] = [EMBEDDING, NODES, RUN, MADE, SCORES, MAP];

/// Those that belong to the embedding.
const EMBEDDING_FILES: [&str; 4] = [EMBEDDING, NODES, RUN, MADE];

/// Two coordinates per node; `None` for nodes with a zero vector.
pub(super) type Coordinates = Vec<Option<[f32; 2]>>;

/// The hash of a network, as written in files.
pub(super) fn network_key(network: &Network) -> String {
    key(network.fingerprint())
}

fn key(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// What an embedding and its scores depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    version: String,
    /// The method, its settings, the network, and the labels it learns from.
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
struct SavedScores {
    identity: Identity,
    scores: Scores,
}

impl Identity {
    pub(super) fn new(
        settings: &CompareSettings,
        job: &Job,
        network: &Network,
        labels: &Labels,
        validate: bool,
    ) -> Self {
        let CompareSettings { train, repeats, seed, .. } = settings;
        let (method, mut config) = (job.model.method().name(), job.model.to_json());
        // The number of threads does not affect the result.
        config.remove("threads");
        let costs: Vec<String> = settings.c.iter().map(ToString::to_string).collect();
        let labels = key(labels.fingerprint());
        let learned = job.repeat.map(|repeat| json!({"labels": labels, "repeat": repeat, "train": train}));
        Identity {
            version: env!("CARGO_PKG_VERSION").into(),
            embedding: json!({
                "method": method, "config": config, "network": network_key(network), "learned": learned,
            }),
            scores: json!({
                "labels": labels, "train": train, "repeats": repeats, "seed": seed, "c": costs, "validated": validate,
            }),
        }
    }
}

/// The folder of a job.
pub(super) struct JobCache {
    folder: PathBuf,
    identity: Identity,
}

/// What the folder of a job has, as far as it can be reused.
#[derive(Debug)]
pub enum Kept {
    /// The embedding and its scores.
    Scores(Scores),
    /// The embedding, without these scores, and the time it took in seconds.
    Embedding(Box<SavedResult>, f64),
    /// Nothing.
    Nothing,
}

impl JobCache {
    pub(super) fn new(folder: &Path, job: &Job, identity: Identity) -> Self {
        JobCache { folder: folder.join(&job.folder), identity }
    }

    /// Reads what can be reused for a job on this network.
    pub(super) fn read(
        &self,
        files: &dyn Files,
        settings: &CompareSettings,
        job: &Job,
        network: &Network,
    ) -> Kept {
        let Some(made) = self.read_json::<Made>(files, MADE) else { return Kept::Nothing };
        if (&made.version, &made.embedding) != (&self.identity.version, &self.identity.embedding)
            || made.seconds < 0.0
        {
            return Kept::Nothing;
        }
        // Scores without an embedding would leave nothing to draw a map of.
        if EMBEDDING_FILES.iter().any(|name| !files.is_file(&self.folder.join(name))) {
            return Kept::Nothing;
        }
        match self.read_json::<SavedScores>(files, SCORES) {
            Some(SavedScores { identity, scores })
                if identity == self.identity && scores.belong_to(settings, job.repeat) =>
            {
                Kept::Scores(scores)
            }
            _ => match SavedResult::open_from(files, &self.folder) {
                Ok(saved) if belongs_to(&saved, network) => Kept::Embedding(Box::new(saved), made.seconds),
                _ => Kept::Nothing,
            },
        }
    }

    fn read_json<T: DeserializeOwned>(&self, files: &dyn Files, name: &str) -> Option<T> {
        serde_json::from_slice(&files.read(&self.folder.join(name)).ok()?).ok()
    }

    /// Writes an embedding with its `run.json`, and removes the map of the embedding that it replaces.
    pub(super) fn write_embedding(
        &self,
        fit: &Fit,
        command: &str,
        pool: &Pool,
        listener: &mut Listener<'_, '_>,
    ) -> Result<()> {
        let mut output = ResultFolder::create_with(&self.folder, &[MADE], true)?;
        let map = self.folder.join(MAP);
        match fs::remove_file(&map) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(Error::io(&map, cause)),
            _ => {}
        }
        listener.announce(&Event::Writing(&output.traces()));
        // First: a folder with it is known to be ours, also if the process is killed before the other files are there.
        let Identity { version, embedding, .. } = self.identity.clone();
        let made = Made { version, embedding, seconds: fit.seconds.total };
        output.write_extra(MADE, |writer| write_json(writer, &made))?;
        output.write_vectors(&fit.embedding, pool)?;
        let ranks = RankRecord::gather(&Local, fit, 0.0, 0.0);
        let mut record = RunRecord::new(fit, command);
        record.rank_records = &ranks;
        output.write_record(&record)?;
        output.commit()
    }

    /// Writes the scores.
    pub(super) fn write_scores(&self, scores: &Scores, listener: &mut Listener<'_, '_>) -> Result<()> {
        let mut output = OutputFolder::prepare(&self.folder, &[SCORES], true)?;
        listener.announce(&Event::Writing(&output.traces()));
        let saved = SavedScores { identity: self.identity.clone(), scores: scores.clone() };
        output.write(SCORES, |writer| write_json(writer, &saved))?;
        output.commit()
    }
}

/// Reads the map in a job's folder; if it has none of this many nodes, draws one from the embedding and writes it.
pub(super) fn read_or_draw_map(
    folder: &Path,
    nodes: usize,
    draw: impl FnOnce(&Embedding) -> Result<Coordinates>,
) -> Result<Coordinates> {
    if let Some(coordinates) = read_map(&Disk, folder, nodes) {
        return Ok(coordinates);
    }
    let coordinates = draw(&ResultFolder::open(folder)?.embedding)?;
    let flat: Vec<f32> = coordinates.iter().flat_map(|pair| pair.unwrap_or([f32::NAN; 2])).collect();
    write_npy(&folder.join(MAP), coordinates.len(), 2, &flat)?;
    Ok(coordinates)
}

/// Reads the map in a job's folder; `None` if it has none of this many nodes.
pub(super) fn read_map(files: &dyn Files, folder: &Path, nodes: usize) -> Option<Coordinates> {
    let saved = read_npy_from(files, &folder.join(MAP)).ok()?;
    if (saved.rows, saved.dim) != (nodes, 2) {
        return None;
    }
    // Nodes without coordinates have NaN in the file.
    let pair = |&[x, y]: &[f32; 2]| match (x.is_nan(), x.is_finite() && y.is_finite()) {
        (true, _) => Some(None),
        (_, true) => Some(Some([x, y])),
        _ => None,
    };
    saved.values.as_chunks().0.iter().map(pair).collect()
}

/// Whether a result is that of a network, although its files belong together.
fn belongs_to(saved: &SavedResult, network: &Network) -> bool {
    saved.embedding.nodes() == network.nodes()
        && saved.run.network.fingerprint.as_ref().is_none_or(|key| *key == network_key(network))
}

pub(super) fn write_json(writer: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, value)?;
    writeln!(writer)
}

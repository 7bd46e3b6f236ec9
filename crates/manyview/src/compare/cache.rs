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
use manyview_data::io::{OutputFolder, read_npy, write_npy};
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

/// What a job's folder has.
pub(super) enum Cached {
    /// The embedding and its scores.
    Scores(Scores),
    /// The embedding, without these scores, and the time it took in seconds.
    Embedding(Box<SavedResult>, f64),
    Nothing,
}

impl JobCache {
    pub(super) fn new(folder: &Path, job: &Job, identity: Identity) -> Self {
        JobCache { folder: folder.join(&job.folder), identity }
    }

    /// Reads what can be reused.
    pub(super) fn read(&self) -> Cached {
        let Some(made) = self.read_json::<Made>(MADE) else { return Cached::Nothing };
        if (&made.version, &made.embedding) != (&self.identity.version, &self.identity.embedding) {
            return Cached::Nothing;
        }
        // Scores without an embedding would leave nothing to draw a map of.
        if EMBEDDING_FILES.iter().any(|name| !self.folder.join(name).is_file()) {
            return Cached::Nothing;
        }
        match self.read_json::<SavedScores>(SCORES) {
            Some(saved) if saved.identity == self.identity => Cached::Scores(saved.scores),
            _ => match ResultFolder::open(&self.folder) {
                Ok(saved) => Cached::Embedding(Box::new(saved), made.seconds),
                Err(_) => Cached::Nothing,
            },
        }
    }

    fn read_json<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(name)).ok()?).ok()
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
        output.write_vectors(&fit.embedding, pool)?;
        let ranks = RankRecord::gather(&Local, fit, 0.0, 0.0);
        let mut record = RunRecord::new(fit, command);
        record.rank_records = &ranks;
        output.write_record(&record)?;
        let Identity { version, embedding, .. } = self.identity.clone();
        let made = Made { version, embedding, seconds: fit.seconds.total };
        output.write_extra(MADE, |writer| write_json(writer, &made))?;
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
    let file = folder.join(MAP);
    // Nodes without coordinates have NaN in the file.
    let pair = |pair: &[f32]| (!pair[0].is_nan()).then(|| [pair[0], pair[1]]);
    if let Ok(saved) = read_npy(&file)
        && (saved.rows, saved.dim) == (nodes, 2)
    {
        return Ok(saved.values.chunks_exact(2).map(pair).collect());
    }
    let coordinates = draw(&ResultFolder::open(folder)?.embedding)?;
    let flat: Vec<f32> = coordinates.iter().flat_map(|pair| pair.unwrap_or([f32::NAN; 2])).collect();
    write_npy(&file, coordinates.len(), 2, &flat)?;
    Ok(coordinates)
}

pub(super) fn write_json(writer: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, value)?;
    writeln!(writer)
}

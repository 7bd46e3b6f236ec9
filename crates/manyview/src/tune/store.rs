//! Finished candidates, in memory and in a folder: one file each.
//!
//! Invariant: only what was computed from the same network, settings, protocol and version is used again. A file that cannot be
//! read, or that belongs to something else, is computed again. Files appear complete or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use manyview_base::error::{Error, Result};
use manyview_base::random::text_key;
use manyview_data::io::write_atomic;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::protocol::TestScore;

/// The folder of the candidates, within that of the search.
pub(super) const CANDIDATES: &str = "candidates";

/// What is known of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The scores after some of its stages, in order.
    pub stages: Vec<StageScore>,
    /// Why it could not be fitted or scored.
    pub failed: Option<String>,
    /// Its scores in the final table, if it is there.
    pub test: Option<Vec<TestScore>>,
    /// The time of fits and scores in seconds. Stages that other candidates had computed before are not in it.
    pub seconds: f64,
}

/// The scores after a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageScore {
    /// The number of stages.
    pub stage: usize,
    /// The number of columns after them.
    pub dim: usize,
    /// The mean over the views of `||R||^2 / ||M||^2`, the share that is not explained.
    pub error: f64,
    /// The score: the mean of the rounds.
    pub score: f64,
    /// The score of each round; without labels, of each view.
    pub rounds: Vec<f64>,
}

impl Measured {
    /// The scores after this number of stages.
    pub fn after(&self, stage: usize) -> Option<&StageScore> {
        self.stages.iter().find(|found| found.stage == stage)
    }
}

/// A file of a candidate.
#[derive(Serialize, Deserialize)]
struct Saved {
    identity: Value,
    measured: Measured,
}

/// The candidates that are known.
pub(super) struct Store {
    folder: Option<PathBuf>,
    known: BTreeMap<String, Measured>,
}

impl Store {
    pub(super) fn new(folder: Option<&Path>) -> Self {
        Store { folder: folder.map(|folder| folder.join(CANDIDATES)), known: BTreeMap::new() }
    }

    /// Removes what earlier searches left.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be removed.
    pub(super) fn clear(&self) -> Result<()> {
        let Some(folder) = self.folder.as_ref().filter(|folder| folder.is_dir()) else { return Ok(()) };
        let files = fs::read_dir(folder).map_err(|cause| Error::io(folder, cause))?;
        // Other files in the folder are not ours.
        let ours = files.flatten().map(|file| file.path()).filter(|path| is_ours(path));
        ours.into_iter().try_for_each(|path| fs::remove_file(&path).map_err(|cause| Error::io(&path, cause)))
    }

    /// What is known of the candidate with this identity; of a new one, nothing.
    pub(super) fn get(&mut self, identity: &Value) -> Measured {
        let key = identity.to_string();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let read = || {
            let text = fs::read(self.path(&key)?).ok()?;
            let saved: Saved = serde_json::from_slice(&text).ok()?;
            (saved.identity == *identity && is_sound(&saved.measured)).then_some(saved.measured)
        };
        let found = read().unwrap_or_default();
        self.known.insert(key, found.clone());
        found
    }

    /// Keeps what is known; returns whether it is in a folder now.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written.
    pub(super) fn put(&mut self, identity: &Value, measured: Measured) -> Result<bool> {
        let key = identity.to_string();
        let path = self.path(&key);
        if let Some(path) = &path {
            let folder = path.parent().expect("a file in a folder");
            fs::create_dir_all(folder).map_err(|cause| Error::io(folder, cause))?;
            let saved = Saved { identity: identity.clone(), measured: measured.clone() };
            write_atomic(path, |writer| Ok(serde_json::to_writer(writer, &saved)?))?;
        }
        self.known.insert(key, measured);
        Ok(path.is_some())
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(format!("{}.json", name(key))))
    }
}

/// The name of a candidate in files, from the text of its identity.
pub(super) fn name(key: &str) -> String {
    format!("{:016x}", text_key(key))
}

fn is_ours(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    path.extension().is_some_and(|extension| extension == "json")
        && stem.len() == 16
        && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the numbers can be scores; tables and curves rely on it.
fn is_sound(measured: &Measured) -> bool {
    let share = |x: &f64| (0.0..=1.0 + 1e-9).contains(x);
    let sound = |stage: &StageScore| {
        share(&stage.score)
            && stage.error >= 0.0
            && !stage.rounds.is_empty()
            && stage.rounds.iter().all(share)
    };
    let tested = measured.test.iter().flatten().all(|column| share(&column.score.mean));
    measured.stages.iter().all(sound)
        && measured.stages.windows(2).all(|pair| pair[0].stage < pair[1].stage)
        && measured.seconds >= 0.0
        && tested
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn measured() -> Measured {
        let stage = StageScore { stage: 2, dim: 8, error: 0.5, score: 0.75, rounds: vec![0.5, 1.0] };
        Measured { stages: vec![stage], seconds: 1.5, ..Measured::default() }
    }

    #[test]
    fn what_was_put_is_there_for_the_same_identity_only() {
        let folder = tempfile::tempdir().unwrap();
        let identity = json!({"stages": 2});
        assert!(Store::new(Some(folder.path())).put(&identity, measured()).unwrap());
        let mut later = Store::new(Some(folder.path()));
        assert_eq!(later.get(&identity), measured());
        assert_eq!(later.get(&json!({"stages": 3})), Measured::default());
        // A file of another identity under the same name, or a damaged one, counts as nothing.
        let path = later.path(&identity.to_string()).unwrap();
        for text in ["{", "{\"identity\": {\"stages\": 3}, \"measured\": {}}", ""] {
            fs::write(&path, text).unwrap();
            assert_eq!(Store::new(Some(folder.path())).get(&identity), Measured::default(), "{text}");
        }
        let mut odd = measured();
        odd.stages[0].score = 7.0;
        later.put(&identity, odd).unwrap();
        assert_eq!(Store::new(Some(folder.path())).get(&identity), Measured::default());
    }

    #[test]
    fn clearing_removes_our_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::new(Some(folder.path()));
        store.clear().unwrap();
        store.put(&json!(1), measured()).unwrap();
        let other = folder.path().join(CANDIDATES).join("notes.json");
        fs::write(&other, "mine").unwrap();
        store.clear().unwrap();
        assert!(other.exists());
        assert_eq!(fs::read_dir(folder.path().join(CANDIDATES)).unwrap().count(), 1);
    }
}

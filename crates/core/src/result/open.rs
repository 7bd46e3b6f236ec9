//! Reads a result folder.
//!
//! Invariant: the files of an opened result belong together. There is a row per id, every number is finite, and the parts of
//! `run.json` are within the columns and name views of the network. A column belongs to at most one part; to none only if it is
//! zero, which happens when nothing was left to factorize.

use std::io;
use std::ops::Range;
use std::path::Path;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};

use super::record::{PartRecord, RunSeconds};
use super::{EMBEDDING, NODES, RUN};
use crate::method::{ChosenPlan, StageRecord, ViewRecord, part};
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, option_value};
use manyview_data::embedding::{Embedding, Part};
use manyview_data::io::{Disk, Files, NpyMatrix, read_npy_from};
use manyview_data::network::{Interner, Nodes};
use manyview_data::overlap::Overlap;

/// A result that was read.
#[derive(Clone, Debug)]
pub struct SavedResult {
    /// The vectors, with the origin of their columns.
    pub embedding: Embedding,
    /// `run.json`.
    pub run: SavedRun,
}

/// The contents of `run.json`; `docs/formats.md` describes the fields.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct SavedRun {
    /// Version of manyview.
    pub version: String,
    /// The command.
    pub command: String,
    /// The method.
    pub method: String,
    /// Every setting and its value, in the order of the file.
    #[serde(deserialize_with = "settings")]
    pub config: Vec<(String, String)>,
    /// The settings as they were given, by name; older files have none.
    #[serde(default)]
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// The network.
    pub network: SavedNetwork,
    /// The stages as they ran; empty for methods without stages.
    #[serde(default)]
    pub stages: Vec<StageRecord>,
    /// Which columns belong to which view, for methods without stages.
    #[serde(default)]
    pub parts: Vec<PartRecord>,
    /// What the plan was chosen by, if it was chosen by the data.
    #[serde(default)]
    pub chosen_plan: Option<ChosenPlan>,
    /// What the user should know about the result.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Wall time.
    pub seconds: RunSeconds,
    /// The number of threads.
    pub threads: usize,
    /// The peak memory, where known.
    pub peak_memory_bytes: Option<u64>,
    /// Which vectors were folded in, if some were.
    #[serde(default)]
    pub folded_in: Option<SavedFoldIn>,
}

/// The rows of nodes that were folded in.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub struct SavedFoldIn {
    /// The first of them; those before it were fitted.
    pub first_row: usize,
    /// How many there are.
    pub nodes: usize,
}

/// The network, as `run.json` describes it.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct SavedNetwork {
    /// The number of nodes.
    pub nodes: usize,
    /// A hash of nodes and edges; older files have none.
    #[serde(default)]
    pub fingerprint: Option<String>,
    /// The views, in order.
    pub views: Vec<ViewRecord>,
    /// The union of all views, if it was factorized as well.
    #[serde(default)]
    pub joint: Option<ViewRecord>,
    /// How far each two views agree; empty in older files.
    #[serde(default)]
    pub overlap: Vec<Overlap>,
}

impl SavedRun {
    /// The value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.config.iter().find(|setting| setting.0 == name).map(|setting| setting.1.as_str())
    }

    /// A note when shares of a vector cannot be compared, because columns of different stages have no common scale.
    pub fn scale_note(&self) -> Option<Message> {
        let scale = self.setting("scale").filter(|&scale| scale != "balanced")?;
        let message = format!(
            "the columns of this result have the scale {scale:?}, so shares of different stages cannot be compared; use {} for \
             shares that can",
            option_value("scale", "balanced")
        );
        Some(message.into())
    }
}

impl SavedResult {
    /// Opens a folder with `embedding.npy`, `nodes.txt` and `run.json`.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read; [`Error::Parse`] when one is damaged; [`Error::Network`] when a
    /// file is missing, a number is not finite, or the files do not belong together.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_from(&Disk, folder)
    }

    /// As [`open`](Self::open), from files that need not be on a disk.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_from(files: &dyn Files, folder: &Path) -> Result<Self> {
        let place = folder.display();
        for name in [RUN, NODES, EMBEDDING] {
            let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
            if files.kind(&folder.join(name)).is_err_and(|error| missing(&error)) {
                return Err(Error::network(format!(
                    "{place} is not a result folder: {name} is missing; give the folder that manyview embed wrote"
                )));
            }
        }
        let run = read_run(files, &folder.join(RUN))?;
        let nodes = read_ids(files, &folder.join(NODES))?;
        let NpyMatrix { rows, dim, values } = read_npy_from(files, &folder.join(EMBEDDING))?;
        let apart = |what: String| {
            Error::network(format!(
                "{place}: the files do not belong together: {what}; use all three files of one run of manyview embed"
            ))
        };
        if rows != nodes.len() {
            let ids = nodes.len();
            return Err(apart(format!("embedding.npy has {rows} rows and nodes.txt {ids} ids")));
        }
        if run.network.nodes != rows {
            let claimed = run.network.nodes;
            return Err(apart(format!("embedding.npy has {rows} rows and run.json has {claimed} nodes")));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (id, column, value) = (nodes.id(at / dim), at % dim, values[at]);
            return Err(Error::network(format!(
                "{}: the vector of node {id:?} is not finite: column {column} is {value}; run manyview embed again",
                folder.join(EMBEDDING).display()
            )));
        }
        let staged = run.stages.iter().map(|stage| {
            let what = format!("stage {} of run.json", stage.stage);
            let columns = columns(&what, stage.columns, stage.view.as_ref(), &run, dim)?;
            Ok(Part { stage: stage.stage, kind: stage.kind, view: stage.view.clone(), columns })
        });
        let others = run.parts.iter().map(|of| {
            let columns = columns("a part of run.json", of.columns, of.view.as_ref(), &run, dim)?;
            Ok(part(of.view.as_deref(), columns))
        });
        let parts = staged.chain(others).collect::<Result<Vec<_>, _>>();
        let parts = parts.and_then(|parts| check_cover(&parts, dim, &values).map(|()| parts));
        let embedding = Embedding::new(nodes, dim, values, parts.map_err(apart)?);
        Ok(SavedResult { embedding, run })
    }
}

/// The columns of a stage or part, or the problem with them.
fn columns(
    what: &str,
    [from, to]: [usize; 2],
    view: Option<&String>,
    run: &SavedRun,
    dim: usize,
) -> Result<Range<usize>, String> {
    if from > to || to > dim {
        return Err(format!("{what} has columns {from} to {to} and embedding.npy has {dim}"));
    }
    if let Some(view) = view
        && run.network.views.iter().all(|known| known.name != *view)
    {
        return Err(format!("{what} belongs to view {view:?}, which is not in its network"));
    }
    Ok(from..to)
}

/// Checks that no column belongs to two parts, and that those without a part are zero. A result without parts is accepted.
fn check_cover(parts: &[Part], dim: usize, values: &[f32]) -> Result<(), String> {
    let mut covered = vec![false; dim];
    for column in parts.iter().flat_map(|part| part.columns.clone()) {
        if std::mem::replace(&mut covered[column], true) {
            return Err(format!("column {column} belongs to two parts of run.json"));
        }
    }
    let alone: Vec<usize> = (0..dim).filter(|&column| !covered[column]).collect();
    if parts.is_empty() || alone.is_empty() {
        return Ok(());
    }
    let used = |column: &&usize| values.chunks_exact(dim).any(|row| row[**column] != 0.0);
    match alone.iter().find(used) {
        Some(column) => Err(format!("column {column} is not zero and belongs to no part of run.json")),
        None => Ok(()),
    }
}

fn read_run(files: &dyn Files, path: &Path) -> Result<SavedRun> {
    read_record(files, path)
}

pub(super) fn read_record<T: DeserializeOwned>(files: &dyn Files, path: &Path) -> Result<T> {
    let text = files.read(path).map_err(|error| Error::io(path, error))?;
    serde_json::from_slice(&text).map_err(|error| {
        let (place, advice) = (path.display(), "is it a complete run.json of manyview embed?");
        Error::parse(format!("{place}:{}", error.line()), format!("cannot be read: {error}; {advice}"))
    })
}

/// Reads `nodes.txt`: each line is an id to the last byte. (Node files of users are read more leniently, by `io::read`.)
pub(super) fn read_ids(files: &dyn Files, path: &Path) -> Result<Nodes> {
    let text = files.read(path).map_err(|error| Error::io(path, error))?;
    let mut ids = Interner::default();
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    if text.is_empty() {
        return Err(Error::parse(path.display().to_string(), "no nodes: expected one id per line"));
    }
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let id = line.strip_suffix(b"\r").unwrap_or(line);
        let place = || format!("{}:{}", path.display(), number + 1);
        let node = ids.intern(id).map_err(|error| Error::parse(place(), error.to_string()))? as usize;
        if node < number {
            let sentence = format!(
                "node {:?} is already in line {}; each id must be unique",
                ids.nodes().id(node),
                node + 1
            );
            return Err(Error::parse(place(), sentence));
        }
    }
    Ok(ids.into_nodes())
}

/// A JSON object as names and texts, in the order of the file.
fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, String)>, D::Error> {
    struct InOrder;
    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<(String, String)>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object of settings")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, Value>()? {
                found.push((name, value.0));
            }
            Ok(found)
        }
    }
    deserializer.deserialize_map(InOrder)
}

/// The value of a setting as text.
struct Value(String);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Value(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Null => "not given".into(),
            serde_json::Value::Bool(yes) => if yes { "yes" } else { "no" }.into(),
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use manyview_data::embedding::Kind;
    use manyview_data::io::write_npy;

    const RUN: &str = r#"{"version": "0", "command": "manyview embed x", "method": "mnmf",
        "config": {"stages": 2, "dim": 3, "scale": "balanced", "threads": null, "unique_first": false},
        "network": {"nodes": 2, "views": [{"name": "a", "edges": 1, "isolated": 0, "entries": 2, "squared_norm": 1}]},
        "stages": [
            {"stage": 1, "kind": "consensus", "consensus": "pooled", "view": null, "columns": [0, 2], "iterations": 3,
             "converged": true, "seconds": 0.1, "weights": {"a": 1}, "residual": {"a": 0.5}, "entries": {"a": 2}},
            {"stage": 2, "kind": "unique", "consensus": null, "view": "a", "columns": [2, 3], "iterations": 3,
             "converged": true, "seconds": 0.1, "weights": {"a": 1}, "residual": {"a": 0.1}, "entries": {"a": 2}}],
        "warnings": [], "seconds": {"read": 0, "proximity": 0, "factorize": 0, "write": 0, "total": 0}, "threads": 1}"#;

    fn written(run: &str, ids: &str, rows: usize, values: &[f32]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("run.json"), run).unwrap();
        fs::write(folder.path().join("nodes.txt"), ids).unwrap();
        write_npy(&folder.path().join("embedding.npy"), rows, values.len() / rows, values).unwrap();
        folder
    }

    fn refused(run: &str, ids: &str, rows: usize, values: &[f32]) -> String {
        SavedResult::open(written(run, ids, rows, values).path()).unwrap_err().to_string()
    }

    #[test]
    fn a_result_comes_back() {
        let folder = written(RUN, "a b\nc\td\n", 2, &[1.0; 6]);
        let SavedResult { embedding, run } = SavedResult::open(folder.path()).unwrap();
        assert_eq!(embedding.nodes().iter().collect::<Vec<_>>(), ["a b", "c\td"]);
        let last = &embedding.parts()[1];
        assert_eq!((last.stage, last.kind, last.view.as_deref()), (2, Kind::Unique, Some("a")));
        assert_eq!(last.columns, 2..3);
        let names: Vec<&str> = run.config.iter().map(|setting| setting.0.as_str()).collect();
        assert_eq!(names, ["stages", "dim", "scale", "threads", "unique_first"]);
        assert_eq!((run.setting("threads"), run.setting("unique_first")), (Some("not given"), Some("no")));
        assert_eq!(run.scale_note(), None);
        let raw = written(&RUN.replace("balanced", "raw"), "a\nb\n", 2, &[1.0; 6]);
        assert!(
            SavedResult::open(raw.path())
                .unwrap()
                .run
                .scale_note()
                .unwrap()
                .to_string()
                .contains("the scale \"raw\"")
        );
    }

    #[test]
    fn results_of_other_methods_come_back_too() {
        let run = r#"{"version": "0", "command": "manyview embed x", "method": "netmf", "config": {"dim": 3},
            "network": {"nodes": 2, "views": [{"name": "a", "edges": 1, "isolated": 0}], "overlap": []},
            "parts": [{"view": null, "columns": [0, 1]}, {"view": "a", "columns": [1, 3]}], "warnings": [],
            "seconds": {"read": 0, "fit": 2, "write": 0, "total": 3}, "threads": 1, "ranks": 1}"#;
        let SavedResult { embedding, run } =
            SavedResult::open(written(run, "x\ny\n", 2, &[1.0; 6]).path()).unwrap();
        let parts: Vec<_> = embedding.parts().iter().map(|part| (part.kind, part.columns.clone())).collect();
        assert_eq!(parts, [(Kind::Consensus, 0..1), (Kind::Unique, 1..3)]);
        assert_eq!((run.seconds.proximity, run.seconds.fit), (0.0, 2.0));
    }

    #[test]
    fn files_of_two_runs_are_told_apart() {
        let told = refused(RUN, "a\nb\nc\n", 2, &[1.0; 6]);
        assert!(
            told.contains("embedding.npy has 2 rows and nodes.txt 3 ids; use all three files of one run"),
            "{told}"
        );
        let told = refused(RUN, "a\nb\nc\n", 3, &[1.0; 9]);
        assert!(told.contains("embedding.npy has 3 rows and run.json has 2 nodes"), "{told}");
        let told = refused(RUN, "a\nb\n", 2, &[1.0; 4]);
        assert!(told.contains("stage 2 of run.json has columns 2 to 3 and embedding.npy has 2"), "{told}");
        let told = refused(&RUN.replace(r#""view": "a""#, r#""view": "b""#), "a\nb\n", 2, &[1.0; 6]);
        assert!(told.contains("belongs to view \"b\", which is not in its network"), "{told}");
    }

    /// Defect 7: columns of two parts, and of none, were accepted.
    #[test]
    fn overlapping_and_missing_columns_are_refused() {
        let told = refused(&RUN.replace("[2, 3]", "[1, 3]"), "a\nb\n", 2, &[1.0; 6]);
        assert!(told.contains("column 1 belongs to two parts of run.json"), "{told}");
        let gap = RUN.replace("[0, 2]", "[0, 1]");
        let told = refused(&gap, "a\nb\n", 2, &[1.0; 6]);
        assert!(told.contains("column 1 is not zero and belongs to no part of run.json"), "{told}");
        // As when nothing was left to factorize.
        let zero = written(&gap, "a\nb\n", 2, &[1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
        SavedResult::open(zero.path()).unwrap();
    }

    #[test]
    fn damaged_files_get_a_sentence() {
        let told = refused(RUN, "a\nb\n", 2, &[1.0, 1.0, 1.0, 1.0, f32::NAN, 1.0]);
        assert!(told.contains("the vector of node \"b\" is not finite: column 1 is NaN"), "{told}");
        let told = refused("{\"version\": 1}", "a\nb\n", 2, &[1.0; 6]);
        assert!(told.contains("run.json:1: cannot be read") && told.contains("manyview embed"), "{told}");
        let told = refused(RUN, "a\na\n", 2, &[1.0; 6]);
        assert!(told.contains("nodes.txt:2: node \"a\" is already in line 1"), "{told}");
        assert!(refused(RUN, "", 2, &[1.0; 6]).contains("no nodes"));
    }

    #[test]
    fn a_folder_without_a_result_is_told() {
        let folder = written(RUN, "a\nb\n", 2, &[1.0; 6]);
        for name in ["embedding.npy", "nodes.txt", "run.json"] {
            fs::remove_file(folder.path().join(name)).unwrap();
            let told = SavedResult::open(folder.path()).unwrap_err().to_string();
            assert!(told.contains(&format!("is not a result folder: {name} is missing")), "{told}");
        }
    }
}

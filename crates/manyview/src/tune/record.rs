//! The files of a search: `tune.json`, and `best.toml`, which `manyview embed --settings` reads.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use manyview_base::error::{Error, Result};
use manyview_base::message::switch;
use manyview_data::Network;
use serde::Serialize;
use serde_json::{Map, Value};

use super::lab::network_key;
use super::protocol::TestScore;
use super::search::{Ending, SearchResult, Trial};
use super::store::StageScore;
use super::{TuneSettings, Tuning};
use crate::model::{Method, Model, describe};

/// The files that a front end writes. They are replaced only if the first of them is of the same network.
pub const REPORT_FILES: [&str; 3] = ["tune.json", "tune.html", "best.toml"];

/// Refuses to replace files that are not of a search on this network.
///
/// # Errors
/// [`Error::Config`] with the first such file.
pub(super) fn check_folder(folder: &Path, network: &Network) -> Result<()> {
    let Some(file) = REPORT_FILES.iter().map(|name| folder.join(name)).find(|file| file.exists()) else {
        return Ok(());
    };
    let record = fs::read(folder.join(REPORT_FILES[0])).ok();
    match record.and_then(|text| serde_json::from_slice::<Value>(&text).ok()) {
        Some(record) if record["network"] == *network_key(network) => Ok(()),
        _ => Err(Error::config(format!(
            "{} already exists and is not from tuning on this network; pass {} to overwrite it, or choose another folder",
            file.display(),
            switch("force")
        ))),
    }
}

/// A search and what it was made from, to be written as `tune.json`.
#[derive(Debug, Serialize)]
pub struct TuneRecord<'a> {
    version: &'static str,
    command: &'a str,
    /// A hash of all nodes, edges and weights.
    network: String,
    nodes: usize,
    views: Vec<&'a str>,
    /// How candidates were scored.
    protocol: ProtocolRecord<'a>,
    /// The settings as given.
    settings: Map<String, Value>,
    /// The settings that were searched over, with the values that were given.
    over: Map<String, Value>,
    notes: &'a [String],
    /// The rows of the table.
    searches: Vec<SearchRecord<'a>>,
    /// Every candidate, once.
    candidates: Vec<CandidateRecord<'a>>,
    best: BestRecord<'a>,
}

#[derive(Debug, Serialize)]
struct ProtocolRecord<'a> {
    score: &'static str,
    /// Labeled nodes that candidates are scored on, and those of the final table.
    #[serde(skip_serializing_if = "Option::is_none")]
    tuning_nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_nodes: Option<usize>,
    /// Hidden edges that candidates are scored on, and those of the final table.
    #[serde(skip_serializing_if = "Option::is_none")]
    tuning_edges: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_edges: Option<usize>,
    validation: f64,
    validation_rounds: usize,
    train: &'a [f64],
    repeats: usize,
    c: String,
    hide: f64,
    trials: usize,
    patience: usize,
    cut: bool,
    seed: u64,
}

#[derive(Debug, Serialize)]
struct SearchRecord<'a> {
    search: &'static str,
    /// The candidate that it selected.
    best: &'a str,
    score: Option<f64>,
    stages: usize,
    consensus_stages: Option<usize>,
    dim: usize,
    /// All that it tried, in order.
    candidates: Vec<&'a str>,
    cut: usize,
    failed: usize,
    left_out: usize,
    seconds: f64,
    test: &'a [TestScore],
    /// Early stopping: the scores after each stage.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stage_scores: &'a [StageScore],
}

#[derive(Debug, Serialize)]
struct CandidateRecord<'a> {
    name: &'a str,
    title: String,
    /// The searches that tried it.
    searches: Vec<&'static str>,
    /// The settings that were searched over.
    chosen: &'a Map<String, Value>,
    /// All settings.
    settings: Map<String, Value>,
    ending: Ending,
    score: Option<f64>,
    cut_after: Option<usize>,
    failed: Option<&'a str>,
    seconds: f64,
    stages: &'a [StageScore],
}

#[derive(Debug, Serialize)]
struct BestRecord<'a> {
    search: &'static str,
    candidate: &'a str,
    score: Option<f64>,
    settings: Map<String, Value>,
}

impl<'a> TuneRecord<'a> {
    /// The record of a search that `command` started.
    pub fn new(tuning: &'a Tuning, network: &'a Network, command: &'a str) -> Self {
        let mut candidates: Vec<CandidateRecord<'a>> = Vec::new();
        for result in &tuning.searches {
            for trial in &result.trials {
                match candidates.iter_mut().find(|known| known.name == trial.name) {
                    Some(known) => {
                        known.searches.push(search_name(result));
                        // One search may cut off what another one completes.
                        if known.ending == Ending::Cut && trial.ending() == Ending::Whole {
                            let searches = std::mem::take(&mut known.searches);
                            *known = CandidateRecord { searches, ..candidate(trial, result) };
                        }
                    }
                    None => candidates.push(candidate(trial, result)),
                }
            }
        }
        let (best_search, best) = (tuning.best_search(), tuning.best());
        TuneRecord {
            version: env!("CARGO_PKG_VERSION"),
            command,
            network: network_key(network),
            nodes: network.nodes().len(),
            views: network.views().iter().map(|view| view.name.as_str()).collect(),
            protocol: protocol(tuning),
            settings: without_threads(&tuning.settings.model),
            over: over(&tuning.settings),
            notes: &tuning.notes,
            searches: tuning.searches.iter().map(|result| search(result, network.views().len())).collect(),
            candidates,
            best: BestRecord {
                search: search_name(best_search),
                candidate: &best.name,
                score: best.score,
                settings: without_threads(&best.candidate.model),
            },
        }
    }

    /// Writes the record as JSON.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *writer, self)?;
        writeln!(writer)
    }
}

fn protocol(tuning: &Tuning) -> ProtocolRecord<'_> {
    let TuneSettings {
        validation, validation_rounds, train, repeats, c, hide, trials, patience, cut, ..
    } = &tuning.settings;
    let (ours, others) = tuning.sizes;
    let by_labels = tuning.by_labels;
    ProtocolRecord {
        score: if by_labels { "mean of micro-F1 and macro-F1" } else { "AUC of hidden edges" },
        tuning_nodes: by_labels.then_some(ours),
        other_nodes: by_labels.then_some(others),
        tuning_edges: (!by_labels).then_some(ours),
        other_edges: (!by_labels).then_some(others),
        validation: *validation,
        validation_rounds: *validation_rounds,
        train,
        repeats: *repeats,
        c: c.to_string(),
        hide: *hide,
        trials: *trials,
        patience: *patience,
        cut: *cut,
        seed: tuning.settings.model.seed,
    }
}

fn over(settings: &TuneSettings) -> Map<String, Value> {
    let words = |over: &super::Over| {
        let values = over
            .values
            .as_ref()
            .map(|values| values.iter().map(|item| Value::from(item.to_string())).collect());
        (over.setting.to_owned(), values.map_or_else(|| "usual".into(), Value::Array))
    };
    settings.over.iter().map(words).collect()
}

fn search_name(result: &SearchResult) -> &'static str {
    result.search.map_or("baseline", super::Search::name)
}

fn search(result: &SearchResult, views: usize) -> SearchRecord<'_> {
    let winner = result.winner();
    let mnmf = winner.candidate.mnmf().resolved(views);
    let count = |ending| result.trials.iter().filter(|trial| trial.ending() == ending).count();
    SearchRecord {
        search: search_name(result),
        best: &winner.name,
        score: winner.score,
        stages: mnmf.stages,
        consensus_stages: mnmf.consensus_stages,
        dim: mnmf.dim,
        candidates: result.trials.iter().map(|trial| trial.name.as_str()).collect(),
        cut: count(Ending::Cut),
        failed: count(Ending::Failed),
        left_out: result.left_out,
        seconds: result.seconds,
        test: winner.measured.test.as_deref().unwrap_or_default(),
        stage_scores: &result.stages,
    }
}

fn candidate<'a>(trial: &'a Trial, result: &SearchResult) -> CandidateRecord<'a> {
    let shown = trial.cut_after.map_or(trial.measured.stages.len(), |cut| {
        trial.measured.stages.iter().take_while(|found| found.stage <= cut).count()
    });
    CandidateRecord {
        name: &trial.name,
        title: trial.candidate.title(),
        searches: vec![search_name(result)],
        chosen: &trial.candidate.chosen,
        settings: without_threads(&trial.candidate.model),
        ending: trial.ending(),
        score: trial.score,
        cut_after: trial.cut_after,
        failed: trial.measured.failed.as_deref(),
        seconds: trial.measured.seconds,
        stages: &trial.measured.stages[..shown],
    }
}

/// The number of threads does not affect the result.
fn without_threads(model: &Model) -> Map<String, Value> {
    let mut settings = model.to_json();
    settings.remove("threads");
    settings
}

/// The settings as a TOML file that `manyview embed --settings` reads: all that differ from the defaults, and the stages.
pub fn settings_toml(model: &Model) -> String {
    let defaults = describe(Method::Mnmf);
    let is_default = |name: &str, value: &Value| {
        defaults.iter().any(|setting| setting.name == name && setting.default == *value)
    };
    let mut text = format!("method = \"{}\"\n", model.method().name());
    for (name, value) in without_threads(model) {
        let always = ["dim", "stages", "consensus_stages", "seed"].contains(&name.as_str());
        if value.is_null() || (is_default(&name, &value) && !always) {
            continue;
        }
        // A value of JSON that is no object and not null is one of TOML.
        text += &format!("{name} = {value}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use manyview_core::mnmf::{Joint, Mnmf};
    use manyview_core::preset::Preset;

    use super::*;
    use crate::model::read_settings;

    #[test]
    fn a_settings_file_gives_the_same_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("best.toml");
        let even =
            Mnmf { dim: 96, stages: 12, consensus_stages: Some(5), joint: Joint::Off, ..Mnmf::default() };
        let uneven = Mnmf { dim: 9, stages: 2, stage_dims: Some(vec![5, 4]), gamma: 0.5, ..Mnmf::default() };
        let presets = Preset::ALL.map(Mnmf::preset);
        for mnmf in [even, uneven].into_iter().chain(presets) {
            let model = Model { seed: 7, ..Model::from(mnmf) };
            fs::write(&path, settings_toml(&model)).unwrap();
            let read = read_settings(&path).unwrap().model(None, None, &Map::new()).unwrap();
            assert_eq!(read, model, "{}", settings_toml(&model));
        }
    }
}

//! Comparison of methods: every method embeds the same network and is scored on the same splits.
//!
//! [`compare()`] runs the jobs (`jobs.rs`) one after the other (`run.rs`), measures them (`scores.rs`) and makes tables
//! as data (`table.rs`). With a folder, finished jobs are kept (`cache.rs`), and a later call computes only what is
//! missing; results of other networks are not replaced (`overwrite.rs`). Front ends print the events (`event.rs`), and
//! write the tables, the maps (`maps.rs`) and `compare.json` (`record.rs`).
//!
//! Invariant: the scores depend on the network, the labels and the settings except `threads`; not on the folder.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use manyview::compare::{CompareSettings, compare};
//! use manyview::evaluate::Cost;
//! use manyview::generate::Planted;
//! use manyview::{Labels, Method};
//!
//! let planted = Planted { nodes: 60, views: 2, communities: 3, ..Planted::default() }.generate()?;
//! let network = planted.network()?;
//! let labels = Labels::from_sets(network.nodes().iter(), planted.labels.iter().map(|label| [label.to_string()]))?;
//!
//! let settings = CompareSettings {
//!     methods: vec![Method::NetMf, Method::Mnmf],
//!     dim: 16,
//!     repeats: 2,
//!     c: vec![Cost::Fixed(1.0)],
//!     ..CompareSettings::default()
//! };
//! let comparison = compare(&network, &labels, &settings, None, &mut |_| ControlFlow::Continue(()))?;
//! let names: Vec<&str> = comparison.tables[0].lines.iter().map(|line| line.name.as_str()).collect();
//! assert_eq!(names, ["netmf, best view", "netmf, chosen view", "mnmf"]);
//! # Ok::<(), manyview::Error>(())
//! ```

mod cache;
mod event;
mod jobs;
mod maps;
mod overwrite;
mod record;
mod run;
mod scores;
mod settings;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod variants;

pub use cache::Kept;
pub use event::{Event, JobTitle, Observer, Parts, Reused};
pub use jobs::{CandidateKind, Section};
pub use maps::MethodMap;
pub use record::{CompareRecord, REPORT_FILES};
pub use scores::{CostScores, Scores, ShareScores};
pub use settings::{CompareSettings, Metapaths, Sweep, Swept};
pub use table::{Candidate, Line, MeasuredRow, RowTime, Table, percent};

use std::path::Path;

use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_data::Network;
use manyview_data::io::{Files, OutputFolder};
use manyview_data::labels::Labels;
use manyview_data::overlap::overlaps;

use event::Listener;
use jobs::Jobs;
use run::Runner;

/// The result of a comparison.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The settings, without duplicates.
    pub settings: CompareSettings,
    /// The rows with every score, in the order of the tables.
    pub rows: Vec<MeasuredRow>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The running time of each row that has an embedding.
    pub times: Vec<RowTime>,
    /// Notes on the labels and splits, which apply to all scores: sentences without a full stop.
    pub notes: Vec<String>,
    /// Which values of a sweep are impossible, and why: sentences without a full stop.
    pub left_out: Vec<String>,
    maps: Vec<MethodMap>,
}

impl Comparison {
    /// The maps of the methods; none if the comparison has no folder.
    pub fn maps(&self) -> &[MethodMap] {
        &self.maps
    }
}

/// Where a comparison is kept, and what it may replace there.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions<'a> {
    /// The folder in which embeddings, scores and maps are kept; nothing is kept when not given.
    pub folder: Option<&'a Path>,
    /// Whether the caller has prepared the folder, which no other comparison can then write to. Otherwise this is done
    /// while the methods run.
    pub locked: bool,
    /// Whether to replace results in the folder that are not from a comparison of the same network.
    pub overwrite: bool,
    /// What started the comparison, for the `run.json` of each embedding.
    pub command: &'a str,
}

impl Default for CompareOptions<'_> {
    fn default() -> Self {
        CompareOptions { folder: None, locked: false, overwrite: false, command: "manyview::compare" }
    }
}

/// Compares methods on a network. With a folder, finished jobs are kept there, and those that an earlier call left are
/// reused.
///
/// A method that fails does not stop the others; [`MeasuredRow::failures`] has the reasons.
///
/// # Errors
/// When a setting is invalid, the labels have a single class or too few nodes for the splits, or the folder has results
/// that are not from a comparison of this network; [`Error::Interrupted`] when the observer
/// breaks.
pub fn compare(
    network: &Network,
    labels: &Labels,
    settings: &CompareSettings,
    folder: Option<&Path>,
    observer: &mut Observer<'_>,
) -> Result<Comparison> {
    compare_with(network, labels, settings, &CompareOptions { folder, ..CompareOptions::default() }, observer)
}

/// As [`compare()`], with options of the folder.
///
/// # Errors
/// As [`compare()`].
pub fn compare_with(
    network: &Network,
    labels: &Labels,
    settings: &CompareSettings,
    options: &CompareOptions<'_>,
    observer: &mut Observer<'_>,
) -> Result<Comparison> {
    let CompareOptions { folder, locked, overwrite, command } = *options;
    let settings = settings.without_duplicates();
    settings.check()?;
    check_rows(network, labels)?;
    labels.check_classes("a comparison needs at least two classes")?;
    // Problems of fractions and labels are reported before the first method runs. They are the same for every C.
    let notes = settings.classify(settings.c[0]).label_notes(labels)?;
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let jobs = Jobs::new(&settings, network)?;
    let mut listener = Listener::new(observer);
    for note in notes.iter().chain(&jobs.left_out) {
        listener.tell(&Event::Note(note))?;
    }
    // Held until the end.
    let _output = match folder.filter(|_| !locked) {
        Some(folder) => Some(OutputFolder::prepare(folder, &[] as &[&str], true)?),
        None => None,
    };
    if let Some(folder) = folder.filter(|_| !overwrite) {
        overwrite::check(folder, &jobs, network)?;
    }
    let pool = Pool::new(settings.threads)?;
    let overlap = if folder.is_some() { overlaps(network, &pool) } else { Vec::new() };
    let mut runner =
        Runner { settings: &settings, network, labels, folder, command, overlap, pool: &pool, listener };
    let rows = runner.run(&jobs)?;
    let tables = table::tables(&rows, &settings.train, &settings.c);
    let times = table::times(&rows);
    let (nodes, seed) = (network.nodes().len(), settings.seed);
    let maps = folder.map(|folder| MethodMap::all(folder, nodes, seed, &jobs, &rows)).unwrap_or_default();
    Ok(Comparison { rows, tables, times, notes, left_out: jobs.left_out, maps, settings })
}

/// The folder of a job of a comparison, as [`kept_jobs`] finds it.
#[derive(Debug)]
#[non_exhaustive]
pub struct KeptJob {
    /// The name of the folder.
    pub folder: String,
    /// Its embedding and scores.
    pub kept: Kept,
    /// Its map: two coordinates per node, `None` for nodes with a zero vector.
    pub map: Option<Vec<Option<[f32; 2]>>>,
}

/// What a comparison with these settings would reuse of a folder, in the order of its jobs. The files need not be on a disk.
///
/// Files that cannot be read, or that belong to something else, are no error: they would be computed again.
///
/// # Errors
/// When a setting is invalid.
pub fn kept_jobs(
    files: &dyn Files,
    folder: &Path,
    network: &Network,
    labels: &Labels,
    settings: &CompareSettings,
) -> Result<Vec<KeptJob>> {
    let settings = settings.without_duplicates();
    settings.check()?;
    let jobs = Jobs::new(&settings, network)?;
    let kept = |job: &jobs::Job| {
        let one_view = job.view.map(|view| network.only(view));
        let network = one_view.as_ref().unwrap_or(network);
        let validate = jobs.rows[job.row].kind.is_some();
        let identity = cache::Identity::new(&settings, job, network, labels, validate);
        let kept = cache::JobCache::new(folder, job, identity).read(files, &settings, job, network);
        let map = cache::read_map(files, &folder.join(&job.folder), network.nodes().len());
        KeptJob { folder: job.folder.clone(), kept, map }
    };
    Ok(jobs.jobs.iter().map(kept).collect())
}

/// Refuses labels of other nodes, as far as their number shows it.
fn check_rows(network: &Network, labels: &Labels) -> Result<()> {
    let nodes = network.nodes().len();
    if labels.rows() == nodes {
        return Ok(());
    }
    Err(Error::network(format!(
        "the network has {nodes} nodes but there are labels for {}; use the labels of the same nodes",
        labels.rows()
    )))
}

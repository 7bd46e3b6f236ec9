//! Search for good settings of MNMF on a network: every combination, Bayesian search, or early stopping.
//!
//! [`tune()`] scores candidates on some labeled nodes or hidden edges (`protocol.rs`), and tests the best of each search on the
//! others. Candidates are combinations of values (`over.rs`, `space.rs`); the searches (`search.rs`, `gaussian.rs`) have them
//! fitted and scored one after the other (`lab.rs`). With a folder, finished candidates are kept (`store.rs`), and a later
//! call computes only what is missing. Front ends print the events (`event.rs`) and write the record (`record.rs`).
//!
//! Invariant: the result depends on the network, the labels and the settings except `threads`; not on the folder.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use manyview::generate::Planted;
//! use manyview::tune::{Over, TuneOptions, TuneSettings, tune};
//! use manyview::{Labels, Mnmf, Model};
//!
//! let planted = Planted { nodes: 120, views: 2, communities: 3, ..Planted::default() }.generate()?;
//! let network = planted.network()?;
//! let labels = Labels::from_sets(network.nodes().iter(), planted.labels.iter().map(|label| [label.to_string()]))?;
//!
//! let settings = TuneSettings {
//!     model: Model::from(Mnmf { dim: 16, stages: 4, ..Mnmf::default() }),
//!     over: Over::parse(&["stages=2,4", "negative=1,5"])?,
//!     validation_rounds: 3,
//!     repeats: 2,
//!     ..TuneSettings::default()
//! };
//! let options = TuneOptions::default();
//! let found = tune(&network, Some(&labels), &settings, &options, &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(found.searches[1].trials.len(), 4);
//! let fit = found.best().candidate.model.fit(&network)?;
//! assert_eq!(fit.embedding.dim(), 16);
//! # Ok::<(), manyview::Error>(())
//! ```

mod event;
mod gaussian;
mod lab;
mod over;
mod protocol;
mod record;
mod search;
mod settings;
mod space;
mod store;
#[cfg(test)]
mod tests;

pub use event::{Event, Observer};
pub use over::{Item, Over};
pub use protocol::TestScore;
pub use record::{REPORT_FILES, TuneRecord, settings_toml};
pub use search::{Ending, SearchResult, Trial};
pub use settings::{Search, TuneSettings};
pub use space::Candidate;
pub use store::{Measured, StageScore};

use std::path::Path;

use manyview_base::error::{Error, Result};
use manyview_data::Network;
use manyview_data::io::OutputFolder;
use manyview_data::labels::Labels;

use lab::Lab;
use protocol::Protocol;
use search::Searcher;
use store::Store;

/// The result of [`tune()`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tuning {
    /// The settings.
    pub settings: TuneSettings,
    /// The settings as given, then the searches. The best trial of each has scores in the final table.
    pub searches: Vec<SearchResult>,
    /// Whether candidates were scored by labels.
    pub by_labels: bool,
    /// The number of tuning nodes and of other labeled nodes; without labels, of edges that were hidden for scores and for the
    /// final table.
    pub sizes: (usize, usize),
    /// Notes on the scores: sentences without a full stop.
    pub notes: Vec<String>,
}

impl Tuning {
    /// The search whose best candidate has the highest score; the first, if several are equal.
    pub fn best_search(&self) -> &SearchResult {
        let first = &self.searches[0];
        let score = |result: &SearchResult| result.winner().score;
        self.searches[1..]
            .iter()
            .fold(first, |best, other| if score(other) > score(best) { other } else { best })
    }

    /// The best candidate of all searches.
    pub fn best(&self) -> &Trial {
        self.best_search().winner()
    }
}

impl SearchResult {
    /// The best candidate.
    pub fn winner(&self) -> &Trial {
        &self.trials[self.best]
    }

    /// The name of its row in the table.
    pub fn title(&self) -> &'static str {
        self.search.map_or("baseline", Search::title)
    }
}

/// Where finished candidates are kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct TuneOptions<'a> {
    /// The folder; nothing is kept when not given.
    pub folder: Option<&'a Path>,
    /// Whether the caller has prepared the folder, which no other run can then write to.
    pub locked: bool,
    /// Whether to start over, and to replace results in the folder that are not of this network.
    pub overwrite: bool,
}

/// Searches for settings. With labels, candidates are scored by classification, otherwise by hidden edges.
///
/// A candidate that fails does not stop the others.
///
/// # Errors
/// When a setting is invalid, there are too few labels, there is nothing to search, or the folder has results of another
/// network; [`Error::Interrupted`] when the observer breaks.
pub fn tune(
    network: &Network,
    labels: Option<&Labels>,
    settings: &TuneSettings,
    options: &TuneOptions<'_>,
    observer: &mut Observer<'_>,
) -> Result<Tuning> {
    let settings = with_defaults(settings);
    settings.check()?;
    let views = network.views().len();
    if let Some(labels) = labels
        && labels.rows() != network.nodes().len()
    {
        return Err(Error::network(format!(
            "the network has {} nodes but there are labels for {}; use the labels of the same nodes",
            network.nodes().len(),
            labels.rows()
        )));
    }
    // Problems of the search are reported before the first fit.
    Candidate::baseline(&settings.model).mnmf().plan(views)?;
    for search in &settings.searches {
        match search {
            Search::EarlyStopping => drop(space::with_stages(&settings.model, 2, views)?),
            search => {
                drop(space::Space::new(&settings.model, &settings.over, views, *search == Search::Bayes)?)
            }
        }
    }
    let mut notes = Vec::new();
    let protocol = Protocol::new(network, labels, &settings, &mut notes)?;
    for note in &notes {
        event::tell(observer, &Event::Note(note))?;
    }
    // Held until the end.
    let _output = match options.folder.filter(|_| !options.locked) {
        Some(folder) => Some(OutputFolder::prepare(folder, &[] as &[&str], true)?),
        None => None,
    };
    let store = Store::new(options.folder);
    if options.overwrite {
        store.clear()?;
    } else if let Some(folder) = options.folder {
        record::check_folder(folder, network)?;
    }
    let mut lab = Lab::new(&protocol, &settings, store, network, observer)?;
    let mut searcher = Searcher { lab: &mut lab, settings: &settings, views };
    let mut searches = vec![searcher.baseline()?];
    for &search in &settings.searches {
        let found = searcher.run(search, searches[0].winner())?;
        searches.push(found);
    }
    for found in &mut searches {
        lab.tell(&Event::Testing(found.search))?;
        let winner = &mut found.trials[found.best];
        winner.measured = lab.test(&winner.candidate)?;
    }
    drop(lab);
    let (by_labels, sizes) = (labels.is_some(), protocol.sizes());
    Ok(Tuning { searches, by_labels, sizes, notes, settings })
}

/// The same settings without duplicates, and with something to search over.
fn with_defaults(settings: &TuneSettings) -> TuneSettings {
    let mut settings = settings.clone();
    let mut searches: Vec<Search> = Vec::new();
    settings.searches.retain(|search| {
        let first = !searches.contains(search);
        searches.push(*search);
        first
    });
    if settings.over.is_empty() {
        settings.over = vec![Over { setting: "stages", values: None }];
    }
    settings
}

//! Whether the matrices of a run are exact or sampled, and by how many walks.
//!
//! Invariant: the decision follows from the network and the settings, never from the machine.

use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value};
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key};
use manyview_data::network::View;

use super::sampled::{self, Walks};
use super::step::TOGETHER;
use super::{Settings, Source, computed_groups};

/// Matrices are exact while their walks take at most this many steps over edges, all views together: two to three minutes of one
/// core.
pub const EXACT_WORK: f64 = 5e11;

/// Walks from each node, for each edge that it has on average.
const WALKS_PER_EDGE: f64 = 3.0;
/// The smallest usual number of walks.
const FEWEST: usize = 10;

/// The entries of all matrices together that walks are chosen for, at most.
const ENTRIES: f64 = 8e8;

impl Settings {
    /// Checks rules between settings.
    ///
    /// # Errors
    /// `Error::Config` for walks of exact matrices.
    pub(crate) fn check(self) -> Result<()> {
        if self.proximity == Source::Exact && self.walks.is_some() {
            return Err(Error::config(format!(
                "{} has no walks; leave {} out, or use {}",
                option_value("proximity", Source::Exact.name()),
                option("walks"),
                option_value("proximity", Source::Sampled.name())
            )));
        }
        Ok(())
    }
}

/// How matrices are computed, with nothing left open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// Window and threshold.
    pub settings: Settings,
    /// Exact or sampled.
    pub how: How,
}

/// Exact or sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// All entries.
    Exact,
    /// By random walks.
    Sampled(Walks),
}

impl Proximity {
    /// Exact matrices.
    pub fn exact(settings: Settings) -> Self {
        Proximity { settings, how: How::Exact }
    }

    /// Decides what the settings leave open, for all views of a run together.
    pub fn decide(settings: Settings, views: &[&View], seed: u64, pool: &Pool) -> Result<Self> {
        settings.check()?;
        let exact = match settings.proximity {
            Source::Exact => true,
            Source::Sampled => false,
            Source::Auto => settings.walks.is_none() && pool.run(|| is_affordable(settings, views)),
        };
        if exact {
            return Ok(Self::exact(settings));
        }
        let per_node = settings.walks.unwrap_or_else(|| pool.run(|| usual_walks(settings, views)));
        sampled::check(view_nodes(views), per_node, settings.window)?;
        let key = Key::new(seed).with(text_key("proximity"));
        Ok(Proximity { settings, how: How::Sampled(Walks { per_node, key }) })
    }
}

fn view_nodes(views: &[&View]) -> usize {
    views.first().map_or(0, |view| view.adjacency.rows())
}

/// Whether exact matrices take at most [`EXACT_WORK`].
fn is_affordable(settings: Settings, views: &[&View]) -> bool {
    let steps = (settings.window - 1) as f64;
    let work = |view: &View, rows: usize| steps * rows as f64 * view.adjacency.entries() as f64;
    let all: f64 = views.iter().map(|view| work(view, view.adjacency.rows())).sum();
    // Rows that follow from others cost nothing, but looking for them does.
    let computed = || views.iter().map(|view| work(view, TOGETHER * computed_groups(view))).sum::<f64>();
    all <= EXACT_WORK || computed() <= EXACT_WORK
}

/// The number of walks that suits the degrees and [`ENTRIES`], halved while fewer are enough for all views.
fn usual_walks(settings: Settings, views: &[&View]) -> usize {
    let degree = |view: &&View| {
        let with_edges = view.adjacency.indptr().windows(2).filter(|pair| pair[0] < pair[1]).count();
        view.adjacency.entries() as f64 / with_edges.max(1) as f64
    };
    let mean = views.iter().map(degree).sum::<f64>() / views.len().max(1) as f64;
    let rows: f64 = views.iter().map(|view| view.adjacency.rows() as f64).sum();
    let affordable = ENTRIES / (rows * 2.0 * settings.window as f64);
    let mut walks = ((WALKS_PER_EDGE * mean).min(affordable).ceil() as usize).max(FEWEST);
    while walks / 2 >= FEWEST && views.iter().all(|view| sampled::are_enough(view, settings, walks / 2)) {
        walks /= 2;
    }
    walks
}

//! Estimates what a fit needs before it runs: entries of the proximity matrices, memory and time.
//!
//! Some rows of the proximity of each view are computed exactly and extrapolated. Nodes are sorted by degree and divided into
//! strata of equal size; one node of each is sampled, so that hubs and leaves are represented in proportion. The cost is a
//! few percent of that of the proximity.
//!
//! Invariant: the entries are a function of network and settings alone, not of threads or of the clock.

mod advice;
mod bytes;
mod time;

use std::ops::ControlFlow;

pub use bytes::Memory;
use bytes::{Matrix, Process};
pub use time::{ExpectedTime, StageTime};

use crate::method::{Observer, Progress};
use crate::mnmf::Mnmf;
use crate::proximity::Isolated;
use crate::proximity::{self, How, Proximity, STEP, STEPS, TOGETHER, Walks};
use manyview_base::error::{Error, Result};
use manyview_base::memory::{Limit, peak_resident_bytes, resident_bytes};
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key, unit_f64};
use manyview_data::network::{Network, View};

/// The number of groups of rows that are sampled: the minimum, the maximum, and one out of this many in between.
const FEWEST_GROUPS: usize = 8;
const MOST_GROUPS: usize = 64;
const ONE_GROUP_IN: usize = 32;

/// The time of sampling a matrix, in times of its walks: visits are sorted and merged after them (measured).
const AFTER_WALKS: f64 = 3.0;

/// The number of operations beyond which only [`FEWEST_GROUPS`] are sampled: about a second of one core.
const AFFORDABLE: f64 = 4e9;

/// What a fit needs.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// How the matrices are computed.
    pub proximity: Proximity,
    /// The views, in order, and their union if it takes part.
    pub views: Vec<ViewEstimate>,
    /// The peak memory of each phase.
    pub memory: Memory,
    threads: usize,
    /// Whether the factors are kept until the end.
    keeps_factors: bool,
    union: Option<View>,
}

/// What is expected for a view.
#[derive(Clone, Debug)]
pub struct ViewEstimate {
    /// Its name.
    pub name: String,
    /// Distinct edges.
    pub edges: usize,
    /// Entries of its proximity matrix.
    pub entries: f64,
    /// Standard error of `entries` relative to it; 0 when all rows were computed.
    pub error: f64,
    /// Rows that were computed.
    pub sampled: usize,
    /// Time for its proximity matrix.
    pub seconds: f64,
    /// The bytes of a number while its proximity is computed.
    number_bytes: usize,
    /// Entries with other settings.
    otherwise: Otherwise,
}

/// How the entries of a view depend on a setting.
#[derive(Clone, Debug)]
enum Otherwise {
    /// Of an exact matrix: entries by value, in steps of [`STEP`].
    ByValue(Vec<f64>),
    /// Of a sampled one: numbers of walks, descending, and the entries with them.
    ByWalks(Vec<(usize, f64)>),
}

impl Estimate {
    /// Entries of all proximity matrices.
    pub fn entries(&self) -> f64 {
        self.views.iter().map(|view| view.entries).sum()
    }

    /// Time for all proximity matrices.
    pub fn proximity_seconds(&self) -> f64 {
        self.views.iter().map(|view| view.seconds).sum()
    }
}

/// What a fit is estimated for, besides its settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    /// Whether it keeps its factors.
    pub keeps_factors: bool,
    /// The most bytes that the estimate itself may take, beside what is available.
    pub max_memory: Option<u64>,
}

impl Mnmf {
    /// Estimates what [`Mnmf::fit`] needs for a network, in a small fraction of its time. The fit itself never refuses.
    pub fn estimate(&self, network: &Network, pool: &Pool, observer: &mut Observer<'_>) -> Result<Estimate> {
        self.estimate_with(Terms::default(), network, pool, observer)
    }

    /// The same on some terms.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the network and the union of its views do not fit into `max_memory`, or into the memory that is available.
    pub fn estimate_with(
        &self,
        terms: Terms,
        network: &Network,
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<Estimate> {
        let plan = self.plan(network.views().len())?;
        advice::check_union(self, network, terms.max_memory, pool)?;
        let union = self.union_of_views(network.views(), pool);
        let all_views: Vec<&View> = network.views().iter().chain(&union).collect();
        // The seed decides which walks are made, and hardly how many entries they leave.
        let proximity = Proximity::decide(self.proximity, &all_views, 0, pool)?;
        let mut views = Vec::new();
        for (index, view) in all_views.iter().enumerate() {
            let mut watch = |done: usize, rows: usize| {
                let done = (index as f64 + done as f64 / rows.max(1) as f64) / all_views.len() as f64;
                observer(&Progress::Working { doing: "estimate", view: Some(&view.name), done })
            };
            views.push(match proximity.how {
                How::Exact => estimate_view(self.proximity, view, pool, &mut watch)?,
                How::Sampled(walks) => estimate_sampled(self.proximity, walks, view, pool)?,
            });
        }
        let matrices: Vec<Matrix> = views.iter().map(|view| view.matrix(view.entries)).collect();
        let keeps_factors = terms.keeps_factors;
        let process = Process { threads: pool.threads(), read: peak_resident_bytes(), keeps_factors };
        let memory = Memory::of(self, proximity.how, &plan, network, union.as_ref(), &matrices, process);
        Ok(Estimate { proximity, views, memory, threads: process.threads, keeps_factors, union })
    }
}

fn estimate_view(
    settings: proximity::Settings,
    view: &View,
    pool: &Pool,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<ViewEstimate> {
    check_walk(view, bytes::walk_with_scratch(view, pool.threads()))?;
    let strata = Strata::of(view, settings.window);
    let all = strata.picks.len();
    let mut watch = |groups: usize| watch((groups * TOGETHER).min(all), all);
    let sample = proximity::sample(view, settings, &strata.picks, pool, &mut watch)?;

    let mut by_value = vec![0.0; STEPS];
    let mut totals = Vec::new();
    for (counts, &size) in sample.rows.iter().zip(&strata.sizes) {
        for (sum, &count) in by_value.iter_mut().zip(counts) {
            *sum += size * f64::from(count);
        }
        totals.push(size * counts.iter().map(|&count| f64::from(count)).sum::<f64>());
    }
    let volume: f64 = view.adjacency.values().iter().sum();
    if settings.isolated == Isolated::Loop && volume > settings.negative {
        let step = (libm::log(volume / settings.negative) / STEP) as usize;
        by_value[step.min(STEPS - 1)] += strata.without_edges as f64;
    }
    let entries: f64 = by_value.iter().sum();
    let error = if entries > 0.0 { strata.standard_error(&totals) / entries } else { 0.0 };
    let groups = proximity::computed_groups(view) as f64;
    let busy = pool.threads().min(view.adjacency.rows().div_ceil(manyview_base::linalg::BLOCK_ROWS)).max(1);
    let seconds = median(sample.group_seconds) * groups / busy as f64;
    let (name, edges, number_bytes) = (view.name.clone(), view.edges(), sample.number_bytes);
    let otherwise = Otherwise::ByValue(by_value);
    Ok(ViewEstimate { name, edges, entries, error, sampled: all, seconds, number_bytes, otherwise })
}

/// The same for a matrix that is sampled.
fn estimate_sampled(
    settings: proximity::Settings,
    walks: Walks,
    view: &View,
    pool: &Pool,
) -> Result<ViewEstimate> {
    check_walk(view, bytes::sampling(view))?;
    let strata = Strata::of(view, settings.window);
    let found = proximity::expected_entries(view, settings, walks, &strata.picks, pool)?;
    let loops = if settings.isolated == Isolated::Loop { strata.without_edges as f64 } else { 0.0 };
    let totals = |level: usize| -> Vec<f64> {
        found.rows.iter().zip(&strata.sizes).map(|(row, size)| size * row[level]).collect()
    };
    let entries: Vec<f64> =
        (0..found.walks.len()).map(|level| loops + totals(level).iter().sum::<f64>()).collect();
    let error = if entries[0] > 0.0 { strata.standard_error(&totals(0)) / entries[0] } else { 0.0 };
    let nodes = view.adjacency.rows() as f64;
    let seconds = AFTER_WALKS * nodes * found.seconds_per_node / pool.threads() as f64;
    let by_walks = found.walks.into_iter().zip(entries.iter().copied()).collect();
    Ok(ViewEstimate {
        name: view.name.clone(),
        edges: view.edges(),
        entries: entries[0],
        error,
        sampled: strata.picks.len(),
        seconds,
        number_bytes: size_of::<f64>(),
        otherwise: Otherwise::ByWalks(by_walks),
    })
}

/// Refuses a view whose walk, which takes so many bytes, does not fit into the memory: sampled rows need it too, before anything is
/// known of the rest.
fn check_walk(view: &View, bytes: u64) -> Result<()> {
    let needed = resident_bytes().unwrap_or(0) + bytes;
    Limit::new(None).check(needed).map_err(|exceeded| {
        let name = &view.name;
        Error::too_large(format!(
            "random walks in view \"{name}\" would need {exceeded}; use fewer edges, or a machine with more memory"
        ))
    })
}

impl ViewEstimate {
    fn matrix(&self, entries: f64) -> Matrix {
        Matrix { entries, number_bytes: self.number_bytes }
    }

    /// An upper estimate of the entries with a `negative` that is `factor` times as high; `factor` is at least 1.
    fn entries_at(&self, factor: f64) -> f64 {
        let Otherwise::ByValue(by_value) = &self.otherwise else { return self.entries };
        let step = (libm::log(factor) / STEP + 1e-9) as usize;
        by_value[step.min(STEPS - 1)..].iter().sum()
    }

    /// The entries with fewer walks from each node.
    fn entries_with(&self, walks: usize) -> f64 {
        let Otherwise::ByWalks(by_walks) = &self.otherwise else { return self.entries };
        let at = by_walks.iter().position(|&(known, _)| known <= walks).unwrap_or(by_walks.len() - 1);
        let (fewer, low) = by_walks[at];
        let (more, high) = by_walks[at.saturating_sub(1)];
        if more <= fewer { low } else { low + (high - low) * (walks - fewer) as f64 / (more - fewer) as f64 }
    }
}

/// The rows to compute, each of which represents a stratum of rows of similar degree.
struct Strata {
    picks: Vec<usize>,
    sizes: Vec<f64>,
    /// The number of rows without edges, which need no sample.
    without_edges: usize,
}

impl Strata {
    fn of(view: &View, window: usize) -> Self {
        let adjacency = &view.adjacency;
        let degree = |&row: &usize| adjacency.row(row).0.len();
        let mut order: Vec<usize> = (0..adjacency.rows()).filter(|row| degree(row) > 0).collect();
        // Stable: nodes of the same degree keep their order, and neighbors in a file are often similar.
        order.sort_by_key(degree);
        let groups = order.len().div_ceil(TOGETHER);
        let work = TOGETHER * (adjacency.entries() * (window - 1) + 8 * adjacency.rows());
        let affordable = (AFFORDABLE / work as f64) as usize;
        let wanted = (groups / ONE_GROUP_IN).min(affordable).clamp(FEWEST_GROUPS, MOST_GROUPS);
        let count = (wanted * TOGETHER).min(order.len());
        let key = Key::new(0).with(text_key("estimate"));
        let bound = |index: usize| index * order.len() / count;
        // Random, not at regular intervals: a generated network may repeat itself at such intervals.
        let pick = |index: usize| {
            let size = bound(index + 1) - bound(index);
            order[bound(index) + (unit_f64(key.at(index, 0)) * size as f64) as usize]
        };
        Strata {
            picks: (0..count).map(pick).collect(),
            sizes: (0..count).map(|index| (bound(index + 1) - bound(index)) as f64).collect(),
            without_edges: adjacency.rows() - order.len(),
        }
    }

    /// Standard error of the sum of `totals`, from the differences between neighboring strata.
    fn standard_error(&self, totals: &[f64]) -> f64 {
        let rows: f64 = self.sizes.iter().sum();
        let left_out = 1.0 - self.picks.len() as f64 / rows.max(1.0);
        let squares: f64 = totals.chunks_exact(2).map(|pair| (pair[0] - pair[1]).powi(2)).sum();
        (squares * left_out).sqrt()
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_data::generate::Planted;

    fn planted(planted: &Planted) -> Network {
        planted.generate().unwrap().network().unwrap()
    }

    fn entries(config: &Mnmf, view: &View) -> f64 {
        let pool = Pool::new(None).unwrap();
        let go_on = &mut |_| ControlFlow::Continue(());
        proximity::proximity_watched::<f32>(view, Proximity::exact(config.proximity), &pool, go_on)
            .unwrap()
            .entries() as f64
    }

    fn estimate(config: &Mnmf, network: &Network) -> Estimate {
        estimate_on(None, config, network)
    }

    fn estimate_on(threads: Option<usize>, config: &Mnmf, network: &Network) -> Estimate {
        let pool = Pool::new(threads).unwrap();
        config.estimate(network, &pool, &mut |_| ControlFlow::Continue(())).unwrap()
    }

    #[test]
    fn a_small_network_is_counted_and_not_estimated() {
        let network = planted(&Planted { nodes: 100, views: 2, ..Planted::default() });
        let near = proximity::Settings { isolated: Isolated::Loop, ..Default::default() };
        let config = Mnmf { proximity: near, ..Mnmf::default() };
        for (view, found) in network.views().iter().zip(&estimate(&config, &network).views) {
            assert_eq!((found.entries, found.error), (entries(&config, view), 0.0));
        }
    }

    /// The walk was counted in f32 where it is computed in f64.
    #[test]
    fn a_walk_in_f64_needs_twice_the_scratch() {
        let edges = |first: f64| -> Vec<(String, String, f64)> {
            let id = |node: usize| (node % 3000).to_string();
            let weight = |node| if node == 0 { first } else { 1.0 };
            (0..3000).map(|node| (id(node), id(node + 1), weight(node))).collect()
        };
        let network = |first: f64| {
            let edges = edges(first);
            let edges: Vec<_> = edges.iter().map(|(a, b, w)| (a.as_str(), b.as_str(), *w)).collect();
            Network::from_edges(&[("ring", &edges)]).unwrap()
        };
        let config = Mnmf { dim: 4, stages: 1, ..Mnmf::default() };
        let [usual, double] = [1.0, 1e45].map(network);
        let (threads, plan) = (3, config.plan(1).unwrap());
        let found = estimate_on(Some(threads), &config, &double);
        let number_bytes = |network: &Network| estimate(&config, network).views[0].number_bytes;
        assert_eq!((number_bytes(&usual), found.views[0].number_bytes), (4, 8));
        // The estimate is that of f64, and differs from one of f32 by sixteen rows of `now` and `next`, and by the steps.
        let of = |number_bytes| {
            let matrix = Matrix { entries: found.views[0].entries, number_bytes };
            Memory::of(
                &config,
                How::Exact,
                &plan,
                &double,
                None,
                &[matrix],
                Process { threads, read: None, keeps_factors: false },
            )
            .proximity
        };
        assert_eq!(found.memory.proximity, of(8));
        let nodes = double.nodes().len();
        let added = threads * 2 * TOGETHER * nodes * 4 + double.views()[0].adjacency.entries() * 4;
        let difference = (of(8) - of(4)) as usize;
        assert!((added..2 * added).contains(&difference), "{difference} of {added}");
    }

    #[test]
    fn estimates_are_near_the_truth_whatever_the_degrees() {
        for (skew, absent, communities) in [(0.0, 0.0, 10), (1.0, 0.0, 20), (1.5, 0.3, 50), (0.5, 0.9, 5)] {
            let planted = Planted {
                nodes: 2500,
                views: 1,
                skew,
                absent,
                communities,
                degree: vec![8.0],
                ..Planted::default()
            };
            let network = self::planted(&planted);
            let near = |negative| proximity::Settings { negative, ..Default::default() };
            let config = Mnmf { proximity: near(2.0), ..Mnmf::default() };
            let found = estimate(&config, &network);
            let alone = estimate_on(Some(1), &config, &network);
            assert_eq!(found.entries(), alone.entries(), "whatever the threads");
            let truth = entries(&config, &network.views()[0]);
            assert!(
                (found.entries() / truth - 1.0).abs() < 0.2,
                "{planted:?}: {} of {truth}",
                found.entries()
            );
            assert!(found.views[0].error < 0.2);
            // What it says of a higher `negative` is on the safe side, and near.
            let higher = Mnmf { proximity: near(6.0), ..config };
            let (predicted, truth) = (found.views[0].entries_at(3.0), entries(&higher, &network.views()[0]));
            assert!(
                predicted / truth > 0.8 && predicted / truth < 1.4,
                "{planted:?}: {predicted} of {truth}"
            );
            assert!(predicted >= estimate(&higher, &network).entries());
        }
    }
}

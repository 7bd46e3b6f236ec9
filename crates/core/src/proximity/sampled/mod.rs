//! Proximity matrices estimated by random walks, for networks whose exact matrices are too large.
//!
//! W walks of T steps start at every node with edges; `c_ij` is how often those from i visit j. Of an undirected view, both
//! directions estimate the same number. Taken as Poisson variables, they are combined with the least variance by
//!
//! ```text
//! X_ij = vol (c_ij + c_ji) / (b T W (d_i + d_j))
//! ```
//!
//! and of a directed view, `X_ij = vol c_ij / (b T W d_j)`. `M = log(max(X, 1))` as for the exact matrix.
//!
//! Invariant: the matrix is a function of the view, the settings and the key; not of threads, of which rows are computed
//! together, or of the ranks that share the rows.

mod counts;
mod pilot;
#[cfg(test)]
mod tests;
mod walker;

use std::ops::{ControlFlow, Range};
use std::time::Instant;

use super::degrees::Degrees;
use super::{Keep, Rows, Settings};
use counts::{Collect, Count, MOST_NODES, MOST_VISITS, Sample, by_block, visits_kept};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::{Csr, Real};
use manyview_base::message::option_value;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key};
use manyview_data::network::View;
use walker::{Visits, Walker, halves};

pub(super) use pilot::are_enough;

/// The walks of a sampled matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walks {
    /// From each node.
    pub per_node: usize,
    /// Their random numbers.
    pub key: Key,
}

/// How far an estimated matrix is from the exact one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// The sum of the squared errors of all X, estimated from the difference of the two halves of the walks.
    squared_error: f64,
    /// The sum of all squared X, estimated from the product of the halves.
    squared: f64,
    /// Pairs that were visited once.
    once: f64,
    /// Pairs that were visited.
    visited: f64,
}

impl Noise {
    /// The sums, to be added over ranks.
    pub fn sums(&self) -> [f64; 4] {
        [self.squared_error, self.squared, self.once, self.visited]
    }

    /// The noise that has these sums.
    pub fn of_sums([squared_error, squared, once, visited]: [f64; 4]) -> Self {
        Noise { squared_error, squared, once, visited }
    }

    fn add(&mut self, other: &Noise) {
        self.squared_error += other.squared_error;
        self.squared += other.squared;
        self.once += other.once;
        self.visited += other.visited;
    }

    /// The relative error of X in the Frobenius norm; `None` if no pair was visited by both halves.
    pub fn relative_error(&self) -> Option<f64> {
        (self.squared > 0.0).then(|| (self.squared_error / self.squared).sqrt())
    }

    /// The share of the visited pairs that were visited once.
    pub fn seen_once(&self) -> f64 {
        if self.visited > 0.0 { self.once / self.visited } else { 0.0 }
    }
}

/// Checks that everything can be counted.
///
/// # Errors
/// `Error::Config` and `Error::TooLarge` with what would work.
pub(super) fn check(nodes: usize, walks: usize, window: usize) -> Result<()> {
    if nodes > MOST_NODES {
        return Err(Error::too_large(format!(
            "{nodes} nodes are more than the {MOST_NODES} that sampled matrices can have"
        )));
    }
    // The larger half of the walks, at the same node in every second step, and counted in both directions.
    if walks.div_ceil(2) * window > MOST_VISITS {
        return Err(Error::config(format!(
            "{} and {} make too many visits to count; the largest number of walks with this window is {}",
            option_value("walks", walks),
            option_value("window", window),
            2 * (MOST_VISITS / window)
        )));
    }
    Ok(())
}

/// Estimates the given rows: all of them, if only the entries above the diagonal are kept.
pub(super) fn row_blocks<T: Real>(
    view: &View,
    settings: Settings,
    walks: Walks,
    rows: Range<usize>,
    keep: Keep,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Rows<T>> {
    let collect = match (view.directed, keep) {
        (true, _) => Collect::From,
        (false, Keep::All) => Collect::Both,
        (false, Keep::Upper) => Collect::BothUpper,
    };
    let found = collected(view, settings, walks, rows, collect, pool, watch)?;
    Ok(Rows { keep, ..found })
}

/// Rows as walks from their nodes alone would estimate them, which costs nothing for other rows: about half of the entries of an undirected
/// view.
pub fn rows_from_their_nodes<T: Real>(
    view: &View,
    settings: Settings,
    walks: Walks,
    rows: Range<usize>,
    pool: &Pool,
) -> Result<Rows<T>> {
    collected(view, settings, walks, rows, Collect::From, pool, &mut |_| ControlFlow::Continue(()))
}

fn collected<T: Real>(
    view: &View,
    settings: Settings,
    walks: Walks,
    rows: Range<usize>,
    collect: Collect,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Rows<T>> {
    let degrees = Degrees::of(view);
    degrees.precision(view, settings)?;
    let nodes = view.adjacency.rows();
    let (window, key) = (settings.window, walks.key.with(text_key(&view.name)));
    let walker = pool.run(|| Walker::new(view, &degrees, key, window));
    let sample = Sample { walker, nodes, walks: walks.per_node, window, collect };
    let estimator = Estimator { view, degrees: &degrees, settings, walks: walks.per_node };
    let merged = |rows: Range<usize>, counts: &[Count]| estimator.block(rows, counts);
    let found = by_block(&sample, rows, pool, merged, watch).ok_or(Error::Interrupted)?;
    let (mut blocks, mut largest, mut noise) = (Vec::with_capacity(found.len()), 0.0f64, Noise::default());
    for block in found {
        largest = largest.max(block.largest);
        noise.add(&block.noise);
        blocks.push(block.rows);
    }
    Ok(Rows { blocks, largest, keep: Keep::All, noise: Some(noise) })
}

/// The entries that are expected in rows of a sampled matrix.
pub struct ExpectedEntries {
    /// Numbers of walks from each node, from the one that was asked for down to one.
    pub walks: Vec<usize>,
    /// For each row, its entries with each of these numbers.
    pub rows: Vec<Vec<f64>>,
    /// Seconds that one thread takes for the walks from a node.
    pub seconds_per_node: f64,
}

/// Counts what walks from some nodes visit. In an undirected view, the walks that visit them add about as many entries: what twice as
/// many walks from the node would.
pub fn expected_entries(
    view: &View,
    settings: Settings,
    walks: Walks,
    nodes: &[usize],
    pool: &Pool,
) -> Result<ExpectedEntries> {
    let degrees = Degrees::of(view);
    degrees.precision(view, settings)?;
    let walker =
        pool.run(|| Walker::new(view, &degrees, walks.key.with(text_key(&view.name)), settings.window));
    let levels: Vec<usize> =
        std::iter::successors(Some(walks.per_node), |walks| (*walks > 1).then_some(walks / 2)).collect();
    let both = if view.directed { 1 } else { 2 };
    let mut scratch = Visits::default();
    let mut visited = |node: usize, walks: usize| {
        let mut count = 0.0;
        walker.visits_of(node, walks, &mut scratch, |_, _| count += 1.0);
        count
    };
    let rows =
        nodes.iter().map(|&node| levels.iter().map(|&walks| visited(node, both * walks)).collect()).collect();
    let began = Instant::now();
    let visited: f64 = nodes.iter().map(|&node| visited(node, walks.per_node)).sum();
    let seconds = began.elapsed().as_secs_f64();
    let seconds_per_node = if visited > 0.0 { seconds / nodes.len() as f64 } else { 0.0 };
    Ok(ExpectedEntries { walks: levels, rows, seconds_per_node })
}

/// The bytes of what walks in a view are made from, and of the visits that are kept at a time.
pub fn sampling_bytes(view: &View, settings: Settings, walks: usize) -> f64 {
    let weighted = view.adjacency.values().windows(2).any(|pair| pair[0] != pair[1]);
    let slots = if weighted { 8.0 * view.adjacency.entries() as f64 } else { 0.0 };
    slots + 8.0 * visits_kept(view.adjacency.rows(), walks, settings.window) as f64
}

/// What the value of a pair follows from.
struct Estimator<'a> {
    view: &'a View,
    degrees: &'a Degrees,
    settings: Settings,
    walks: usize,
}

/// A block of rows of the matrix.
struct EstimatedBlock<T> {
    rows: Csr<T>,
    /// The largest value of `b X`.
    largest: f64,
    noise: Noise,
}

impl Estimator<'_> {
    fn block<T: Real>(&self, rows: Range<usize>, counts: &[Count]) -> EstimatedBlock<T> {
        let mut noise = Noise::default();
        let (of_nodes, per_degree) = (&self.degrees.of_nodes, self.per_degree());
        let mut largest = 0.0f64;
        let (mut indptr, mut indices, mut values) =
            (vec![0], Vec::with_capacity(counts.len()), Vec::with_capacity(counts.len()));
        let mut counts = counts.iter().peekable();
        for row in rows {
            if let Some(value) = self.degrees.diagonal_of::<T>(row, self.settings) {
                indices.push(row as u32);
                values.push(value);
            }
            while let Some(count) = counts.next_if(|count| count.row == row) {
                let col = of_nodes[count.col as usize];
                let by_chance = per_degree * if self.view.directed { col } else { of_nodes[row] + col };
                self.measure(count, by_chance, &mut noise);
                let visits = f64::from(count.halves[0] + count.halves[1]);
                largest = largest.max(self.settings.negative * visits / by_chance);
                // In the type of the matrix, as of exact ones: a number that rounds to 1 is not kept.
                let value = T::from_f64(visits / by_chance).ln();
                if value > T::ZERO {
                    indices.push(count.col);
                    values.push(value);
                }
            }
            indptr.push(indices.len());
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
        EstimatedBlock {
            rows: Csr::new(self.degrees.of_nodes.len(), indptr, indices, values),
            largest,
            noise,
        }
    }

    /// The number of visits at `X = 1`, which is b times as many as by chance, for each unit of degree.
    fn per_degree(&self) -> f64 {
        self.settings.negative * (self.settings.window * self.walks) as f64 / self.degrees.volume
    }

    fn measure(&self, count: &Count, by_chance: f64, noise: &mut Noise) {
        let [first, second] = halves(self.walks).map(|walks| walks as f64);
        noise.visited += 1.0;
        if count.halves[0] + count.halves[1] == 1 {
            noise.once += 1.0;
        }
        if second > 0.0 {
            let unit = self.walks as f64 / by_chance;
            let [a, b] =
                [f64::from(count.halves[0]) / first * unit, f64::from(count.halves[1]) / second * unit];
            noise.squared_error += (a - b) * (a - b) * first * second / (self.walks * self.walks) as f64;
            noise.squared += a * b;
        }
    }
}

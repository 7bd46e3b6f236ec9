//! Random walks from a node: which nodes they visit.
//!
//! The walks from a node are divided into two halves, which are independent of each other: their difference tells the noise. In a
//! half of W walks, first steps are spread evenly over the edges (systematic sampling: walk w takes the edge at `(w + r) / W` of the
//! node's weight, with one random r), which adds no bias and misses no heavy edge. Further steps are drawn alone, from alias tables
//! if the view has weights.
//!
//! Invariant: the visits of a node are a function of (key, node) and the view.

use rayon::prelude::*;

use super::super::degrees::Degrees;
use manyview_base::linalg::Csr;
use manyview_base::memory::zeros;
use manyview_base::random::{Key, Stream, unit_f64};
use manyview_data::network::View;

/// Marks a walk that has ended at a node without edges that leave it.
const ENDED: u32 = u32::MAX;

/// Rows of an alias table that one task makes.
const ROWS_PER_TASK: usize = 4096;

/// The numbers of walks in the two halves of so many.
pub(super) fn halves(walks: usize) -> [usize; 2] {
    [walks.div_ceil(2), walks / 2]
}

/// What walks in a view need.
pub(super) struct Walker<'a> {
    adjacency: &'a Csr<f64>,
    degrees: &'a Degrees,
    /// For each edge, unless all have the same weight.
    slots: Option<Vec<Slot>>,
    key: Key,
    window: usize,
}

/// A slot of a row's alias table: the neighbor at its place owns it below the threshold, and another one the rest.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    threshold: u32,
    other: u32,
}

/// The working memory of a thread.
#[derive(Default)]
pub(super) struct Visits {
    /// The node and the random state of each walk.
    at: Vec<u32>,
    streams: Vec<Stream>,
    /// All visits, as `2 node + half`, sorted.
    visits: Vec<u32>,
}

impl<'a> Walker<'a> {
    /// Prepares walks, on the threads of the current pool.
    pub(super) fn new(view: &'a View, degrees: &'a Degrees, key: Key, window: usize) -> Self {
        let adjacency = &view.adjacency;
        let unweighted = adjacency.values().windows(2).all(|pair| pair[0] == pair[1]);
        let slots = (!unweighted).then(|| slots(adjacency, degrees.scale));
        Walker { adjacency, degrees, slots, key, window }
    }

    /// Makes walks from a node; calls `found` with each visited node, in ascending order, and how often each half visited it.
    pub(super) fn visits_of(
        &self,
        node: usize,
        walks: usize,
        scratch: &mut Visits,
        mut found: impl FnMut(u32, [u32; 2]),
    ) {
        let Visits { at, streams, visits } = scratch;
        visits.clear();
        if self.adjacency.row(node).0.is_empty() {
            return;
        }
        let key = self.key.with(node as u64);
        at.clear();
        let halves = halves(walks);
        for (walks, half) in halves.into_iter().zip(0..) {
            self.first_steps(node, walks, unit_f64(key.with(half).bits()), at);
        }
        let in_second = |walk: usize| u32::from(walk >= halves[0]);
        streams.clear();
        streams.extend((0..walks as u64).map(|walk| Stream::new(key.with(walk))));
        visits.extend(at.iter().enumerate().map(|(walk, &at)| 2 * at + in_second(walk)));
        for _ in 1..self.window {
            // One step of all walks after the other: their reads do not wait for each other.
            for (walk, (at, stream)) in at.iter_mut().zip(streams.iter_mut()).enumerate() {
                if *at != ENDED {
                    *at = self.step(*at as usize, stream);
                    if *at != ENDED {
                        visits.push(2 * *at + in_second(walk));
                    }
                }
            }
        }
        visits.sort_unstable();
        for run in visits.chunk_by(|a, b| a / 2 == b / 2) {
            let second = run.iter().filter(|&&visit| visit % 2 == 1).count() as u32;
            found(run[0] / 2, [run.len() as u32 - second, second]);
        }
    }

    /// Appends the first node of every walk of a half, by the weights of the edges.
    fn first_steps(&self, node: usize, walks: usize, random: f64, at: &mut Vec<u32>) {
        let (cols, weights) = self.adjacency.row(node);
        let (total, scale) = (self.degrees.of_nodes[node], self.degrees.scale);
        let (mut edge, mut passed) = (0, weights[0] * scale);
        for walk in 0..walks {
            let place = (walk as f64 + random) / walks as f64 * total;
            while passed <= place && edge + 1 < cols.len() {
                edge += 1;
                passed += weights[edge] * scale;
            }
            at.push(cols[edge]);
        }
    }

    fn step(&self, node: usize, stream: &mut Stream) -> u32 {
        let indptr = self.adjacency.indptr();
        let (start, end) = (indptr[node], indptr[node + 1]);
        if start == end {
            return ENDED;
        }
        // One random number is used twice: the high half of the product is the edge, the low half the place in its slot.
        let product = u128::from(stream.next_u64()) * (end - start) as u128;
        let edge = start + (product >> 64) as usize;
        match &self.slots {
            Some(slots) if (product as u64 >> 32) as u32 >= slots[edge].threshold => slots[edge].other,
            _ => self.adjacency.indices()[edge],
        }
    }
}

/// The alias tables of all rows. The memory is asked for first: a refusal is an error, and not the end of the process.
fn slots(adjacency: &Csr<f64>, scale: f64) -> Vec<Slot> {
    let (rows, indptr) = (adjacency.rows(), adjacency.indptr());
    let mut slots = zeros::<Slot>(adjacency.entries());
    let (mut parts, mut rest) = (Vec::new(), slots.as_mut_slice());
    for first in (0..rows).step_by(ROWS_PER_TASK) {
        let rows = first..(first + ROWS_PER_TASK).min(rows);
        let (part, after) = rest.split_at_mut(indptr[rows.end] - indptr[rows.start]);
        parts.push((rows, part));
        rest = after;
    }
    parts.into_par_iter().for_each_init(Scratch::default, |scratch, (rows, mut part)| {
        for row in rows {
            let (of_row, after) = part.split_at_mut(indptr[row + 1] - indptr[row]);
            fill_row(adjacency.row(row), scale, scratch, of_row);
            part = after;
        }
    });
    slots
}

#[derive(Default)]
struct Scratch {
    shares: Vec<f64>,
    poor: Vec<u32>,
    rich: Vec<u32>,
}

/// Fills the alias table of a row (Walker, Vose).
fn fill_row((cols, weights): (&[u32], &[f64]), scale: f64, scratch: &mut Scratch, slots: &mut [Slot]) {
    let Scratch { shares, poor, rich } = scratch;
    let total: f64 = weights.iter().map(|weight| weight * scale).sum();
    let count = weights.len() as f64;
    shares.clear();
    shares.extend(weights.iter().map(|weight| weight * scale / total * count));
    poor.clear();
    rich.clear();
    for (at, &share) in shares.iter().enumerate() {
        if share < 1.0 { poor.push(at as u32) } else { rich.push(at as u32) }
    }
    // What rounding leaves over keeps its whole slot.
    slots.iter_mut().zip(cols).for_each(|(slot, &col)| *slot = Slot { threshold: u32::MAX, other: col });
    while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
        let share = shares[taker as usize];
        let threshold = (share * 2.0f64.powi(32)) as u32;
        slots[taker as usize] = Slot { threshold, other: cols[giver as usize] };
        shares[giver as usize] -= 1.0 - share;
        if shares[giver as usize] < 1.0 {
            rich.pop();
            poor.push(giver);
        }
    }
}

//! Rows of the proximity matrix, computed sixteen at a time by walks from their nodes.
//!
//! With `z_0 = vol e_i / d_i`, the column vector `z_t = (D^-1 Aᵀ) z_(t-1)` is row i of `vol P^t D^-1`. The sums `s_t =
//! z_1 + ... + z_t` are computed as `s_(t+1) = z_1 + (D^-1 Aᵀ) s_t`, without the single terms. While few nodes are
//! reached, a step scatters from those nodes only; later it gathers for every node. Both add the same numbers in the
//! same order, except for zeros, so the choice does not affect the result.
//!
//! Invariant: a row depends on the view only, not on which rows are computed together.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Settings;
use super::degrees::Degrees;
use crate::proximity::Isolated;
use manyview_base::linalg::kernels::{add_multiple, vectorized};
use manyview_base::linalg::{Csr, Real};
use manyview_data::network::View;

/// Number of rows computed together: one cache line of f32 per node.
pub const TOGETHER: usize = 16;

/// The values of sixteen rows in one column. Aligned, because a load across two cache lines costs twice as much.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Lanes<T>([T; TOGETHER]);

impl<T: Real> Lanes<T> {
    const ZERO: Self = Lanes([T::ZERO; TOGETHER]);
}

/// Scattering writes where gathering only reads: it is faster below this fraction of the edges.
const OUTWARD_SHARE: f64 = 0.4;

/// Number of columns that are filtered together; their lanes fit the first-level cache.
const SIFTED: usize = 256;

/// The data shared by all rows of a view.
pub(super) struct Walk<'a, T> {
    adjacency: &'a Csr<f64>,
    /// `D^-1 Aᵀ`; rows of nodes without weight are zero.
    inward: Csr<T>,
    /// `A D^-1`, the same by columns; only if steps from few nodes are expected.
    outward: Option<Csr<T>>,
    degrees: &'a Degrees,
    settings: Settings,
}

/// Whether sixteen rows reach few nodes in a step, estimated from the average degree. Otherwise the matrix by columns
/// would only use memory, and most of it for the largest views.
pub fn goes_out(adjacency: &Csr<f64>) -> bool {
    let (nodes, entries) = (adjacency.rows() as f64, adjacency.entries() as f64);
    TOGETHER as f64 * entries < OUTWARD_SHARE * nodes * nodes
}

/// The working memory of a thread.
pub(super) struct Scratch<T> {
    now: Vec<Lanes<T>>,
    next: Vec<Lanes<T>>,
    /// `z_1`: node, lane and value.
    first: Vec<(u32, u8, T)>,
    /// Nodes where `now` may be nonzero.
    reached: NodeSet,
    /// The columns of each lane, ascending, whose sums exceed the threshold.
    found: Vec<Vec<(u32, T)>>,
    /// Entries of the current rows. They are collected here and then copied, so that the result has no unused capacity.
    indices: Vec<u32>,
    pub(super) values: Vec<T>,
}

impl<T: Real> Scratch<T> {
    pub(super) fn new(nodes: usize) -> Self {
        let lanes = || vec![Lanes::ZERO; nodes];
        Scratch {
            now: lanes(),
            next: lanes(),
            first: Vec::new(),
            reached: NodeSet::new(nodes),
            found: vec![Vec::new(); TOGETHER],
            indices: Vec::new(),
            values: Vec::new(),
        }
    }

    /// `now += z_1`.
    fn add_first(&mut self) {
        for &(node, lane, near) in &self.first {
            self.now[node as usize].0[usize::from(lane)] += near;
            self.reached.insert(node);
        }
    }

    /// Prepares for other rows.
    pub(super) fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
    }
}

impl<'a, T: Real> Walk<'a, T> {
    pub(super) fn new(view: &'a View, degrees: &'a Degrees, settings: Settings) -> Self {
        let adjacency = &view.adjacency;
        let share = |(weight, node): (f64, usize)| {
            let degree = degrees.of_nodes[node];
            T::from_f64(if degree > 0.0 { weight * degrees.scale / degree } else { 0.0 })
        };
        let by_target = || {
            let arcs = adjacency.indices().iter().zip(adjacency.values());
            adjacency.with_values(arcs.map(|(&to, &weight)| share((weight, to as usize))).collect())
        };
        let by_source = || {
            let row = |node| adjacency.row(node).1.iter().map(move |&weight| (weight, node));
            adjacency.with_values((0..adjacency.rows()).flat_map(row).map(share).collect())
        };
        // A symmetric matrix is its own transpose, except for the degrees it is divided by.
        let inward = if view.directed { by_target().transpose() } else { by_source() };
        let outward = goes_out(adjacency).then(by_target);
        Walk { adjacency, inward, outward, degrees, settings }
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.adjacency.rows()
    }

    /// One block of rows, whose logarithms may have another type than the walk, and the largest `b X` in it; `None` if
    /// canceled.
    pub(super) fn block<U: Real>(
        &self,
        rows: Range<usize>,
        scratch: &mut Scratch<T>,
        canceled: &AtomicBool,
    ) -> Option<(Csr<U>, f64)> {
        let mut indptr = vec![0];
        let mut largest = 0.0f64;
        scratch.clear();
        for first in rows.clone().step_by(TOGETHER) {
            let group = first..(first + TOGETHER).min(rows.end);
            let ends = &mut |end| indptr.push(end);
            largest = largest.max(self.group(group, scratch, canceled, ends)?);
        }
        let indices = scratch.indices.clone();
        let values: Vec<U> = scratch.values.iter().map(|value| U::from_f64(value.to_f64())).collect();
        // By the choice of the precision; a number that is not finite would spoil everything computed from it.
        let finite = values.iter().all(|value| value.to_f64().is_finite());
        assert!(finite, "rows {rows:?} have numbers that are not finite");
        Some((Csr::new(self.nodes(), indptr, indices, values), largest))
    }

    /// Appends up to [`TOGETHER`] rows to the scratch's entries and calls `ends` with the end of each; returns the
    /// largest `b X` among them, or `None` if canceled.
    pub(super) fn group(
        &self,
        rows: impl Iterator<Item = usize> + Clone,
        scratch: &mut Scratch<T>,
        canceled: &AtomicBool,
        ends: &mut dyn FnMut(usize),
    ) -> Option<f64> {
        self.first_step(rows.clone(), scratch);
        for _ in 1..self.settings.window {
            if canceled.load(Ordering::Relaxed) {
                return None;
            }
            self.step(scratch);
        }
        let window = self.settings.window as f64;
        let threshold = T::from_f64(self.settings.negative * window);
        let most = vectorized(
            #[inline(always)]
            || sift(&scratch.now, threshold, &mut scratch.found),
        );
        let Scratch { found, indices, values, .. } = scratch;
        for (row, found) in rows.zip(found.iter_mut()) {
            self.finish_row(row, threshold, found, indices, values);
            ends(indices.len());
        }
        found.iter_mut().for_each(Vec::clear);
        Some(most.to_f64() / window)
    }

    /// `z_1`, which is sparse: `vol A_ij / (d_i d_j)`.
    fn first_step(&self, group: impl Iterator<Item = usize>, scratch: &mut Scratch<T>) {
        let Degrees { of_nodes, volume, scale, .. } = self.degrees;
        scratch.now.fill(Lanes::ZERO);
        scratch.reached.clear();
        scratch.first.clear();
        for (lane, row) in group.enumerate() {
            let (cols, weights) = self.adjacency.row(row);
            for (&col, weight) in cols.iter().zip(weights) {
                let degree = of_nodes[col as usize];
                if degree > 0.0 {
                    let near = T::from_f64(volume * (weight * scale / of_nodes[row]) / degree);
                    scratch.first.push((col, lane as u8, near));
                }
            }
        }
        scratch.add_first();
    }

    /// From `z_1 + ... + z_t` to `z_1 + ... + z_(t+1)`.
    fn step(&self, scratch: &mut Scratch<T>) {
        let Scratch { now, next, reached, .. } = scratch;
        let outward = self.outward.as_ref().filter(|outward| reached.are_few(outward));
        vectorized(
            #[inline(always)]
            || match outward {
                Some(outward) => go_out(outward, now, next, reached),
                None => {
                    reached.fill();
                    gather(&self.inward, now, next);
                }
            },
        );
        std::mem::swap(now, next);
        scratch.add_first();
    }

    /// Appends a row: the logarithms of the remaining sums, and the diagonal entry of an isolated node if requested.
    fn finish_row(
        &self,
        row: usize,
        threshold: T,
        found: &[(u32, T)],
        indices: &mut Vec<u32>,
        values: &mut Vec<T>,
    ) {
        let without_edges = self.degrees.of_nodes[row] == 0.0 && found.is_empty();
        let alone = self.settings.isolated == Isolated::Loop && without_edges;
        let diagonal = alone.then(|| (row as u32, self.diagonal()));
        let logs = found.iter().map(|&(col, sum)| (col, (sum / threshold).ln()));
        for (col, value) in logs.chain(diagonal) {
            if value > T::ZERO {
                indices.push(col);
                values.push(value);
            }
        }
    }
}

impl<T: Real> Walk<'_, T> {
    /// The entry of an isolated node, `log(vol / b)`: the only one that depends on the unit of the weights.
    fn diagonal(&self) -> T {
        let (Degrees { volume, scale, .. }, negative) = (self.degrees, self.settings.negative);
        let quotient = T::from_f64(volume / scale / negative);
        if quotient.to_f64().is_finite() {
            return quotient.ln();
        }
        // The volume itself may be beyond all numbers, its logarithm is not.
        T::from_f64(libm::log(*volume) - libm::log(*scale) - libm::log(negative))
    }
}

/// `next = inward x now`, gathered for each node.
#[inline(always)]
fn gather<T: Real>(inward: &Csr<T>, now: &[Lanes<T>], next: &mut [Lanes<T>]) {
    for (node, next) in next.iter_mut().enumerate() {
        let mut total = [T::ZERO; TOGETHER];
        let (from, shares) = inward.row(node);
        for (&from, &share) in from.iter().zip(shares) {
            add_multiple(&mut total, share, &now[from as usize].0);
        }
        *next = Lanes(total);
    }
}

/// The same, scattered from the reached nodes; their neighbors are the nodes reached next. Nodes are processed in
/// ascending order, as in [`gather`], so the sums are bitwise identical.
#[inline(always)]
fn go_out<T: Real>(outward: &Csr<T>, now: &[Lanes<T>], next: &mut [Lanes<T>], reached: &mut NodeSet) {
    next.fill(Lanes::ZERO);
    let mut next_reached = NodeSet::new(now.len());
    for node in reached.iter() {
        let (to, shares) = outward.row(node);
        for (&to, &share) in to.iter().zip(shares) {
            add_multiple(&mut next[to as usize].0, share, &now[node].0);
            next_reached.insert(to);
        }
    }
    *reached = next_reached;
}

/// Collects the sums above the threshold by lane; returns the largest of all sums.
#[inline(always)]
fn sift<T: Real>(sum: &[Lanes<T>], threshold: T, found: &mut [Vec<(u32, T)>]) -> T {
    let mut largest = [T::ZERO; TOGETHER];
    for (index, sums) in sum.chunks(SIFTED).enumerate() {
        for Lanes(sums) in sums {
            for lane in 0..TOGETHER {
                largest[lane] = if sums[lane] > largest[lane] { sums[lane] } else { largest[lane] };
            }
        }
        for (lane, found) in found.iter_mut().enumerate() {
            let mut kept = [(0, T::ZERO); SIFTED];
            let mut count = 0;
            for (col, sums) in sums.iter().enumerate() {
                // Always written, and counted only if above the threshold: this avoids branch mispredictions.
                kept[count] = ((index * SIFTED + col) as u32, sums.0[lane]);
                count += usize::from(sums.0[lane] > threshold);
            }
            found.extend_from_slice(&kept[..count]);
        }
    }
    largest.into_iter().fold(T::ZERO, |max, x| if x > max { x } else { max })
}

/// A set of nodes, one bit each.
struct NodeSet {
    words: Vec<u64>,
    /// Whether all nodes are members, independent of the bits.
    full: bool,
}

impl NodeSet {
    fn new(nodes: usize) -> Self {
        NodeSet { words: vec![0; nodes.div_ceil(64)], full: false }
    }

    fn clear(&mut self) {
        self.words.fill(0);
        self.full = false;
    }

    fn fill(&mut self) {
        self.full = true;
    }

    /// Whether the members have few enough edges for a step from them only.
    fn are_few<T: Copy>(&self, outward: &Csr<T>) -> bool {
        let most = OUTWARD_SHARE * outward.entries() as f64;
        !self.full && (self.iter().map(|node| outward.row(node).0.len()).sum::<usize>() as f64) < most
    }

    #[inline(always)]
    fn insert(&mut self, node: u32) {
        self.words[node as usize / 64] |= 1 << (node % 64);
    }

    /// The members in ascending order; not for a full set.
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), rest)
                .map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_ascending_order() {
        let mut set = NodeSet::new(200);
        for node in [199, 0, 64, 63, 5, 64] {
            set.insert(node);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 5, 63, 64, 199]);
        set.clear();
        assert_eq!(set.iter().count(), 0);
    }

    /// Both kinds of step on the same numbers, from few nodes and from many.
    #[test]
    fn going_out_and_gathering_give_the_same_bits() {
        let nodes = 300;
        let outward = Csr::<f32>::random(nodes, nodes, 0.05, 9);
        let inward = outward.transpose();
        for members in [1, 7, 100, 300] {
            let mut reached = NodeSet::new(nodes);
            let mut now = vec![Lanes::ZERO; nodes];
            for member in 0..members {
                let node = member * 7 % nodes;
                reached.insert(node as u32);
                now[node] = Lanes(std::array::from_fn(|lane| 1.0 / (node * 16 + lane + 1) as f32));
            }
            let mut gathered = vec![Lanes([7.0f32; TOGETHER]); nodes];
            let mut sent = gathered.clone();
            gather(&inward, &now, &mut gathered);
            go_out(&outward, &now, &mut sent, &mut reached);
            let bits = |lanes: &Lanes<f32>| lanes.0.map(f32::to_bits);
            assert!(sent.iter().map(bits).eq(gathered.iter().map(bits)), "{members} members");
            let beyond = (0..nodes).filter(|&node| bits(&sent[node]) != [0; TOGETHER]);
            assert!(beyond.eq(reached.iter()));
        }
    }
}

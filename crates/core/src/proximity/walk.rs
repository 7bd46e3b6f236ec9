//! Rows of the proximity matrix, computed sixteen at a time by walks from their nodes.
//!
//! With `z_0 = vol e_i / d_i`, the column vector `z_t = (D^-1 Aᵀ) z_(t-1)` is row i of `vol P^t D^-1`. The sums `s_t =
//! z_1 + ... + z_t` are computed as `s_(t+1) = z_1 + (D^-1 Aᵀ) s_t`, without the single terms (`step`). Walks with restart
//! are computed in the same way, from another start (`restart`).
//!
//! Invariant: a row depends on the view only, not on which rows are computed together.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Settings;
use super::degrees::Degrees;
use super::restart::Restart;
use super::step::{Lanes, NodeSet, Steps, TOGETHER};
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::{Csr, Real};
use manyview_data::network::View;

/// Number of columns that are filtered together; their lanes fit the first-level cache.
const SIFTED: usize = 256;

/// Which walks a row is computed from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// The steps of a window.
    Window(Settings),
    /// Walks with restart.
    Restart(Restart),
}

impl Rule {
    /// The number of steps after the first, which is the start of walks with restart.
    fn steps(self) -> usize {
        match self {
            Rule::Window(settings) => settings.window - 1,
            Rule::Restart(restart) => restart.steps(),
        }
    }

    /// The factor of what is added after a step, from 1.
    fn factor(self, step: usize) -> f64 {
        match self {
            Rule::Window(_) => 1.0,
            Rule::Restart(restart) => restart.probability / restart.scale(step),
        }
    }

    /// What the sums are multiplied by at the end, and the smallest sum that is kept, before that.
    fn ending(self) -> Ending {
        match self {
            Rule::Window(settings) => {
                let window = settings.window as f64;
                Ending { scale: 1.0 / window, threshold: settings.negative * window }
            }
            Rule::Restart(restart) => {
                let scale = restart.scale(restart.steps());
                Ending { scale, threshold: restart.least / scale }
            }
        }
    }
}

struct Ending {
    scale: f64,
    threshold: f64,
}

/// The data shared by all rows of a view.
pub(super) struct Walk<'a, T> {
    adjacency: &'a Csr<f64>,
    steps: Steps<T>,
    degrees: &'a Degrees,
    rule: Rule,
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

    /// `now += factor z_1`.
    fn add_first(&mut self, factor: f64) {
        let factor = T::from_f64(factor);
        for &(node, lane, near) in &self.first {
            self.now[node as usize].0[usize::from(lane)] += factor * near;
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
    pub(super) fn new(view: &'a View, degrees: &'a Degrees, rule: Rule) -> Self {
        Walk { adjacency: &view.adjacency, steps: Steps::new(view, degrees), degrees, rule }
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.adjacency.rows()
    }

    /// The columns from `first_col` on of some rows, whose logarithms may have another type than the walk, and the largest
    /// `b X` in them; `None` if canceled.
    pub(super) fn block<U: Real>(
        &self,
        rows: &[usize],
        first_col: usize,
        scratch: &mut Scratch<T>,
        canceled: &AtomicBool,
    ) -> Option<(Csr<U>, f64)> {
        let mut indptr = vec![0];
        let mut largest = 0.0f64;
        scratch.clear();
        for group in rows.chunks(TOGETHER) {
            let ends = &mut |end| indptr.push(end);
            largest = largest.max(self.group(group.iter().copied(), first_col, scratch, canceled, ends)?);
        }
        let indices = scratch.indices.clone();
        let values: Vec<U> = scratch.values.iter().map(|value| U::from_f64(value.to_f64())).collect();
        // By the choice of the precision; a number that is not finite would spoil everything computed from it.
        let finite = values.iter().all(|value| value.to_f64().is_finite());
        assert!(finite, "rows {rows:?} have numbers that are not finite");
        Some((Csr::new(self.nodes(), indptr, indices, values), largest))
    }

    /// Appends up to [`TOGETHER`] rows, from `first_col` on, to the scratch's entries and calls `ends` with the end of each;
    /// returns the largest `b X` among them, or `None` if canceled.
    pub(super) fn group(
        &self,
        rows: impl Iterator<Item = usize> + Clone,
        first_col: usize,
        scratch: &mut Scratch<T>,
        canceled: &AtomicBool,
        ends: &mut dyn FnMut(usize),
    ) -> Option<f64> {
        match self.rule {
            Rule::Window(_) => self.first_step(rows.clone(), scratch),
            Rule::Restart(_) => self.start(rows.clone(), scratch),
        }
        let steps = self.rule.steps();
        for step in 1..=steps {
            if canceled.load(Ordering::Relaxed) {
                return None;
            }
            // Only the last step may leave out columns: the others are where it starts from.
            self.step(scratch, if step == steps { first_col } else { 0 });
            scratch.add_first(self.rule.factor(step));
        }
        let Ending { scale, threshold } = self.rule.ending();
        let threshold = T::from_f64(threshold);
        let most = vectorized(
            #[inline(always)]
            || sift(&scratch.now, first_col, threshold, &mut scratch.found),
        );
        let Scratch { found, indices, values, .. } = scratch;
        for (row, found) in rows.zip(found.iter_mut()) {
            self.finish_row(row, found, indices, values);
            ends(indices.len());
        }
        found.iter_mut().for_each(Vec::clear);
        Some(most.to_f64() * scale)
    }

    /// Prepares for the first step of other rows.
    fn clear(scratch: &mut Scratch<T>) {
        scratch.now.fill(Lanes::ZERO);
        scratch.reached.clear();
        scratch.first.clear();
    }

    /// The start of walks with restart: as many as there are nodes, at each node with edges.
    fn start(&self, group: impl Iterator<Item = usize>, scratch: &mut Scratch<T>) {
        Self::clear(scratch);
        let all = T::from_f64(self.nodes() as f64);
        let rows = group.enumerate().filter(|&(_, row)| self.degrees.of_nodes[row] > 0.0);
        scratch.first.extend(rows.map(|(lane, row)| (row as u32, lane as u8, all)));
        scratch.add_first(1.0);
    }

    /// `z_1`, which is sparse: `vol A_ij / (d_i d_j)`.
    fn first_step(&self, group: impl Iterator<Item = usize>, scratch: &mut Scratch<T>) {
        let Degrees { of_nodes, volume, scale, .. } = self.degrees;
        Self::clear(scratch);
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
        scratch.add_first(1.0);
    }

    /// From `z_1 + ... + z_t` to `z_2 + ... + z_(t+1)`; what is before `first_col` is not used and may be anything.
    fn step(&self, scratch: &mut Scratch<T>, first_col: usize) {
        let Scratch { now, next, reached, .. } = scratch;
        self.steps.make(now, next, first_col, reached);
        std::mem::swap(now, next);
    }

    /// Appends a row: the logarithms of the remaining sums, and the diagonal entry of an isolated node if requested.
    fn finish_row(&self, row: usize, found: &[(u32, T)], indices: &mut Vec<u32>, values: &mut Vec<T>) {
        let Ending { scale, threshold } = self.rule.ending();
        let (scale, threshold) = (T::from_f64(scale), T::from_f64(threshold));
        let logs = found.iter().map(|&(col, sum)| match self.rule {
            Rule::Window(_) => (col, (sum / threshold).ln()),
            Rule::Restart(_) => (col, (T::ONE + sum * scale).ln()),
        });
        let diagonal = if found.is_empty() { self.diagonal_of(row) } else { None };
        for (col, value) in logs.chain(diagonal.map(|value| (row as u32, value))) {
            if value > T::ZERO {
                indices.push(col);
                values.push(value);
            }
        }
    }

    /// The entry of a node without edges, if there is to be one.
    pub(super) fn diagonal_of(&self, row: usize) -> Option<T> {
        let Rule::Window(settings) = self.rule else { return None };
        self.degrees.diagonal_of(row, settings)
    }
}

/// Collects the sums above the threshold by lane, from `first_col` on; returns the largest of these sums.
#[inline(always)]
pub(super) fn sift<T: Real>(
    sum: &[Lanes<T>],
    first_col: usize,
    threshold: T,
    found: &mut [Vec<(u32, T)>],
) -> T {
    let mut largest = [T::ZERO; TOGETHER];
    for (index, sums) in sum[first_col..].chunks(SIFTED).enumerate() {
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
                kept[count] = ((first_col + index * SIFTED + col) as u32, sums.0[lane]);
                count += usize::from(sums.0[lane] > threshold);
            }
            found.extend_from_slice(&kept[..count]);
        }
    }
    largest.into_iter().fold(T::ZERO, |max, x| if x > max { x } else { max })
}

//! Rows that are copies of each other: those of nodes whose only neighbor is the same.
//!
//! Row i of the walk follows from the shares of i's edges in its degree. A node with one edge has the share 1, whatever the
//! weight, so all such nodes of a hub have the same row, to the bit. The row of a star's leaf costs as much as that of
//! any other node, and reaches all of them; a star of a million leaves was not finished after 300 s.
//!
//! Rows are computed in groups, so single ones save nothing: a block is split into computed and copied rows only where that
//! leaves fewer groups, and a row is copied only if many are the same.

use std::ops::Range;

use super::step::TOGETHER;
use manyview_base::linalg::{BLOCK_ROWS, Csr, Real};

/// The number of equal rows from which one is computed and copied. It is computed alone, in a group of its own.
const MANY: usize = 4 * TOGETHER;

/// Which rows are copied.
pub(super) struct Twins {
    rows: Range<usize>,
    /// Hubs with many leaves, ascending, and the first leaf of each: the row that is computed.
    hubs: Vec<(u32, usize)>,
    /// The blocks that are split.
    split: Vec<bool>,
    /// The number of groups that are computed in all.
    groups: usize,
}

impl Twins {
    /// Looks for equal rows among some of a view.
    pub(super) fn of(adjacency: &Csr<f64>, rows: Range<usize>) -> Self {
        let mut leaves = vec![0usize; adjacency.cols()];
        let mut firsts = Vec::new();
        for row in rows.clone() {
            if let Some(hub) = only_neighbor(adjacency, row) {
                let count = &mut leaves[hub as usize];
                if *count == 0 {
                    firsts.push((hub, row));
                }
                *count += 1;
            }
        }
        firsts.retain(|&(hub, _)| leaves[hub as usize] >= MANY);
        firsts.sort_unstable();
        let blocks = rows.len().div_ceil(BLOCK_ROWS);
        let mut found = Twins { rows, hubs: firsts, split: vec![false; blocks], groups: 0 };
        let whole: Vec<usize> =
            (0..blocks).map(|block| found.block(block).len().div_ceil(TOGETHER)).collect();
        found.groups = whole.iter().sum();
        if found.hubs.is_empty() {
            return found;
        }
        let parts = |block: usize| -> usize {
            let runs = found.runs(adjacency, found.block(block));
            runs.iter().filter(|run| run.1.is_none()).map(|run| run.0.len().div_ceil(TOGETHER)).sum()
        };
        let parts: Vec<usize> = (0..blocks).map(parts).collect();
        let fewer: usize = whole.iter().zip(&parts).map(|(&whole, &parts)| whole.min(parts)).sum();
        if found.hubs.len() + fewer < found.groups {
            found.groups = found.hubs.len() + fewer;
            found.split = whole.iter().zip(&parts).map(|(whole, parts)| parts < whole).collect();
        } else {
            found.hubs.clear();
        }
        found
    }

    /// The number of groups of rows that are computed.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// All rows.
    pub(super) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The rows that are computed to be copied.
    pub(super) fn originals(&self) -> Vec<usize> {
        self.hubs.iter().map(|&(_, row)| row).collect()
    }

    /// The rows of a block.
    pub(super) fn block(&self, block: usize) -> Range<usize> {
        let first = self.rows.start + block * BLOCK_ROWS;
        first..(first + BLOCK_ROWS).min(self.rows.end)
    }

    /// The parts of a block, in order: rows to compute, or copies of one of the [`originals`](Self::originals).
    pub(super) fn parts(&self, adjacency: &Csr<f64>, block: usize) -> Vec<(Range<usize>, Option<usize>)> {
        if self.split[block] {
            self.runs(adjacency, self.block(block))
        } else {
            vec![(self.block(block), None)]
        }
    }

    fn runs(&self, adjacency: &Csr<f64>, rows: Range<usize>) -> Vec<(Range<usize>, Option<usize>)> {
        let mut runs: Vec<(Range<usize>, Option<usize>)> = Vec::new();
        for row in rows {
            let original = only_neighbor(adjacency, row)
                .and_then(|hub| self.hubs.binary_search_by_key(&hub, |&(hub, _)| hub).ok());
            match runs.last_mut() {
                Some((run, last)) if *last == original => run.end = row + 1,
                _ => runs.push((row..row + 1, original)),
            }
        }
        runs
    }
}

/// The neighbor of a node that has one only.
fn only_neighbor(adjacency: &Csr<f64>, row: usize) -> Option<u32> {
    match adjacency.row(row).0 {
        &[neighbor] => Some(neighbor),
        _ => None,
    }
}

/// A matrix of this row, `times` times.
pub(super) fn copies<T: Real>(row: &Csr<T>, times: usize) -> Csr<T> {
    let (indices, values) = row.row(0);
    let indptr = (0..=times).map(|at| at * indices.len()).collect();
    Csr::new(row.cols(), indptr, indices.repeat(times), values.repeat(times))
}

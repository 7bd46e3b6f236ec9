//! How often walks from one node visit another, collected for the rows of a matrix.
//!
//! Walks are made by chunks of nodes; each chunk sorts its visits by block of rows. Then the visits of a block from all chunks are
//! put together. Rows are processed in parts, so that the visits kept at a time are bounded; the walks are made again for each part.
//!
//! Invariant: counts are whole numbers, so neither the order of the chunks nor the parts change them.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use super::walker::{Visits, Walker};
use manyview_base::linalg::BLOCK_ROWS;
use manyview_base::parallel::Pool;

/// The nodes whose walks one task makes, at least; and the number of tasks, at most.
const CHUNK: usize = if cfg!(test) { 64 } else { 4096 };
const MOST_CHUNKS: usize = 256;

/// Bits of a visit: the row within its block, the column, and the counts of both halves.
const COL_BITS: u32 = 31;
const COUNT_BITS: u32 = 13;
/// The largest number of visits of a half that can be counted.
pub(super) const MOST_VISITS: usize = (1 << COUNT_BITS) - 1;
/// The largest number of nodes.
pub(super) const MOST_NODES: usize = 1 << COL_BITS;

/// Visits that are kept at a time, of 8 bytes each. Few in tests, so that they have rows in several parts.
const KEPT: usize = if cfg!(test) { 1 << 13 } else { 1 << 27 };

/// Which visits belong to a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Collect {
    /// Visits by walks from the row's node.
    From,
    /// Also visits to the row's node: in an undirected view both directions estimate the same.
    Both,
    /// The same, in columns from the diagonal on.
    BothUpper,
}

/// A pair of a row and a column, and how often it was visited by each half of the walks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Count {
    pub(super) row: usize,
    pub(super) col: u32,
    pub(super) halves: [u32; 2],
}

/// The visits of the walks of a chunk, sorted by block of rows.
struct Chunk {
    /// The start of each block's visits, and the end of the last.
    starts: Vec<u32>,
    visits: Vec<u64>,
}

/// The walks of a matrix, and which of their visits belong to it.
pub(super) struct Sample<'a> {
    pub(super) walker: Walker<'a>,
    pub(super) nodes: usize,
    /// Walks from each node, and the steps of each.
    pub(super) walks: usize,
    pub(super) window: usize,
    pub(super) collect: Collect,
}

/// The most visits that are kept at a time.
pub(super) fn visits_kept(nodes: usize, walks: usize, window: usize) -> usize {
    (nodes * walks * window).min(KEPT)
}

/// Calls `merged` for each block of rows with its counts, sorted by row and column; returns what it returned, in order. `None` if
/// canceled.
pub(super) fn by_block<R: Send>(
    sample: &Sample<'_>,
    rows: Range<usize>,
    pool: &Pool,
    merged: impl Fn(Range<usize>, &[Count]) -> R + Sync,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Option<Vec<R>> {
    let visits = sample.walks * sample.window;
    let of_row = if sample.collect == Collect::Both { 2 * visits } else { visits };
    let together = (KEPT / of_row.max(1)).max(1).next_multiple_of(BLOCK_ROWS);
    let mut results = Vec::new();
    let mut first = rows.start;
    while first < rows.end {
        let part = first..(first + together).min(rows.end);
        let (done, share) = (first - rows.start, part.len());
        let chunks = chunks(sample, part.clone(), pool, &mut |walked| {
            watch(done + (share as f64 * 0.4 * walked) as usize)
        })?;
        let blocks = part.len().div_ceil(BLOCK_ROWS);
        let task = |(visits, counts): &mut (Vec<u64>, Vec<Count>), block: usize, canceled: &AtomicBool| {
            if canceled.load(Ordering::Relaxed) {
                return None;
            }
            let first = part.start + block * BLOCK_ROWS;
            merge(&chunks, block, first, visits, counts);
            Some(merged(first..(first + BLOCK_ROWS).min(part.end), counts))
        };
        results.extend(pool.map_watched(blocks, Default::default, task, &mut |blocks_done| {
            watch(done + (share as f64 * (0.4 + 0.6 * blocks_done as f64 / blocks as f64)) as usize)
        })?);
        first = part.end;
    }
    Some(results)
}

/// The visits of all walks that belong to some rows.
fn chunks(
    sample: &Sample<'_>,
    rows: Range<usize>,
    pool: &Pool,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Option<Vec<Chunk>> {
    let Sample { ref walker, nodes, walks, collect, .. } = *sample;
    let chunk = CHUNK.max(nodes.div_ceil(MOST_CHUNKS));
    let from_rows = collect == Collect::From;
    // Without visits from other nodes, other nodes need not walk.
    let walking = if from_rows { rows.clone() } else { 0..nodes };
    let count = walking.len().div_ceil(chunk);
    let task = |(scratch, found): &mut (Visits, Vec<(u32, u64)>), index: usize, canceled: &AtomicBool| {
        found.clear();
        let first = walking.start + index * chunk;
        for node in first..(first + chunk).min(walking.end) {
            if canceled.load(Ordering::Relaxed) {
                return None;
            }
            walker.visits_of(node, walks, scratch, |visited, halves| {
                let visited = visited as usize;
                let mut add = |row: usize, col: usize, halves: [u32; 2]| {
                    if rows.contains(&row) {
                        found.push(packed(row - rows.start, col, halves));
                    }
                };
                match collect {
                    Collect::From => add(node, visited, halves),
                    Collect::Both => {
                        add(node, visited, halves);
                        add(visited, node, halves);
                    }
                    // Both directions are the same walk.
                    Collect::BothUpper if node == visited => add(node, node, halves.map(|count| 2 * count)),
                    Collect::BothUpper => add(node.min(visited), node.max(visited), halves),
                }
            });
        }
        Some(sorted(found, rows.len().div_ceil(BLOCK_ROWS)))
    };
    pool.map_watched(count, Default::default, task, &mut |done| watch(done as f64 / count.max(1) as f64))
}

/// The block of a row, and all else of a visit in one number that sorts by row and column.
fn packed(row: usize, col: usize, halves: [u32; 2]) -> (u32, u64) {
    let counts = u64::from(halves[0]) << COUNT_BITS | u64::from(halves[1]);
    let place = ((row % BLOCK_ROWS) as u64) << COL_BITS | col as u64;
    ((row / BLOCK_ROWS) as u32, place << (2 * COUNT_BITS) | counts)
}

/// Sorts visits by block, in linear time.
fn sorted(found: &[(u32, u64)], blocks: usize) -> Chunk {
    let mut starts = vec![0u32; blocks + 1];
    found.iter().for_each(|&(block, _)| starts[block as usize + 1] += 1);
    (0..blocks).for_each(|block| starts[block + 1] += starts[block]);
    let mut next = starts.clone();
    let mut visits = vec![0; found.len()];
    for &(block, visit) in found {
        let next = &mut next[block as usize];
        visits[*next as usize] = visit;
        *next += 1;
    }
    Chunk { starts, visits }
}

/// The counts of a block of rows, from all chunks. `visits` is scratch.
fn merge(chunks: &[Chunk], block: usize, first: usize, visits: &mut Vec<u64>, counts: &mut Vec<Count>) {
    visits.clear();
    counts.clear();
    for chunk in chunks {
        visits
            .extend_from_slice(&chunk.visits[chunk.starts[block] as usize..chunk.starts[block + 1] as usize]);
    }
    visits.sort_unstable();
    let place = |visit: u64| visit >> (2 * COUNT_BITS);
    let count = |visit: u64| (visit & MOST_VISITS as u64) as u32;
    for same in visits.chunk_by(|&a, &b| place(a) == place(b)) {
        let halves =
            same.iter().fold([0, 0], |[a, b], &visit| [a + count(visit >> COUNT_BITS), b + count(visit)]);
        let (row, col) = (place(same[0]) >> COL_BITS, place(same[0]) & (MOST_NODES as u64 - 1));
        counts.push(Count { row: first + row as usize, col: col as u32, halves });
    }
}

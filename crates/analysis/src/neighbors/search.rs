//! Exhaustive search for the rows with the largest scores for a given row.
//!
//! The score of candidate y for query x is `<x, y> + bias(y)`. Sixteen queries are processed in the lanes of vectors,
//! and four candidates at a time, so that each number loaded is used 4 or 16 times.
//!
//! Invariant: a score is summed over the columns in order, independent of the block it is computed in; among equal
//! scores the lower row is preferred. So the result depends on the rows only.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::kernels::{add_multiple, vectorized};
use manyview_base::parallel::Pool;

/// Number of queries processed in parallel.
const LANES: usize = 16;

/// Groups of queries that share a panel of candidates while it is in the cache.
const GROUPS: usize = 4;

/// Number of candidates processed together.
const STEP: usize = 4;

/// Size of a panel of candidates in numbers: half of a typical second-level cache.
const PANEL: usize = 1 << 15;

/// A candidate and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    pub(crate) row: u32,
    pub(crate) score: f32,
}

/// The rows to search.
pub(crate) struct Rows<'a> {
    pub(crate) dim: usize,
    /// Row by row.
    pub(crate) values: &'a [f32],
    /// Added to a candidate's scores; negative infinity excludes it.
    pub(crate) bias: &'a [f32],
}

/// For each query, which is a row, the `count` other rows with the largest scores, in descending order.
pub(crate) fn search(
    rows: &Rows<'_>,
    queries: &[u32],
    count: usize,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<Vec<Scored>>> {
    assert_eq!(rows.values.len(), rows.bias.len() * rows.dim, "one row of {} numbers per bias", rows.dim);
    let tasks: Vec<&[u32]> = queries.chunks(LANES * GROUPS).collect();
    let task =
        |(): &mut (), index: usize, canceled: &AtomicBool| search_block(rows, tasks[index], count, canceled);
    let found = pool
        .map_watched(tasks.len(), || (), task, &mut |done| watch((done * LANES * GROUPS).min(queries.len())));
    Ok(found.ok_or(Error::Interrupted)?.concat())
}

fn search_block(
    rows: &Rows<'_>,
    queries: &[u32],
    count: usize,
    canceled: &AtomicBool,
) -> Option<Vec<Vec<Scored>>> {
    let groups: Vec<&[u32]> = queries.chunks(LANES).collect();
    let side_by_side: Vec<Vec<[f32; LANES]>> = groups.iter().map(|group| transposed(rows, group)).collect();
    let mut best: Vec<Best> = queries.iter().map(|&query| Best::new(query, count)).collect();
    // A multiple of the step, so that no candidate is computed twice.
    let panel = (PANEL / rows.dim.max(1)).max(1).next_multiple_of(STEP);
    for first in (0..rows.bias.len()).step_by(panel) {
        if canceled.load(Ordering::Relaxed) {
            return None;
        }
        let last = (first + panel).min(rows.bias.len());
        for (group, best) in side_by_side.iter().zip(best.chunks_mut(LANES)) {
            for candidate in (first..last).step_by(STEP) {
                let scores = scores(rows, group, candidate, last);
                for (row, scores) in (candidate..last).zip(&scores) {
                    for (best, &score) in best.iter_mut().zip(scores) {
                        best.offer(row as u32, score);
                    }
                }
            }
        }
    }
    Some(best.into_iter().map(|best| best.found).collect())
}

/// The queries of a group, column by column; unused lanes are 0.
fn transposed(rows: &Rows<'_>, group: &[u32]) -> Vec<[f32; LANES]> {
    let mut columns = vec![[0.0; LANES]; rows.dim];
    for (lane, &query) in group.iter().enumerate() {
        let row = &rows.values[query as usize * rows.dim..][..rows.dim];
        columns.iter_mut().zip(row).for_each(|(column, &value)| column[lane] = value);
    }
    columns
}

/// Scores of up to [`STEP`] candidates, starting at `first`, for all queries of a group.
fn scores(rows: &Rows<'_>, group: &[[f32; LANES]], first: usize, last: usize) -> [[f32; LANES]; STEP] {
    let dim = rows.dim;
    // After the last candidate, the last one is repeated and ignored.
    let row = |step: usize| &rows.values[(first + step).min(last - 1) * dim..][..dim];
    let candidates: [&[f32]; STEP] = std::array::from_fn(row);
    let mut sums = vectorized(
        #[inline(always)]
        || products(group, candidates),
    );
    for (step, sums) in sums.iter_mut().enumerate() {
        let bias = rows.bias[(first + step).min(last - 1)];
        sums.iter_mut().for_each(|sum| *sum += bias);
    }
    sums
}

#[inline(always)]
fn products(group: &[[f32; LANES]], candidates: [&[f32]; STEP]) -> [[f32; LANES]; STEP] {
    let mut sums = [[0.0; LANES]; STEP];
    let [a, b, c, d] = candidates;
    for ((((column, &a), &b), &c), &d) in group.iter().zip(a).zip(b).zip(c).zip(d) {
        add_multiple(&mut sums[0], a, column);
        add_multiple(&mut sums[1], b, column);
        add_multiple(&mut sums[2], c, column);
        add_multiple(&mut sums[3], d, column);
    }
    sums
}

/// The best candidates of one query so far, in descending order.
struct Best {
    query: u32,
    count: usize,
    found: Vec<Scored>,
    /// The minimum score (exclusive) of a new candidate.
    bar: f32,
}

impl Best {
    fn new(query: u32, count: usize) -> Self {
        let bar = if count == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
        Best { query, count, found: Vec::with_capacity(count.min(1 << 10) + 1), bar }
    }

    fn offer(&mut self, row: u32, score: f32) {
        if score > self.bar && row != self.query {
            self.insert(row, score);
        }
    }

    #[cold]
    fn insert(&mut self, row: u32, score: f32) {
        // Rows arrive in ascending order, so a new row is placed after those with equal scores.
        let place = self.found.partition_point(|other| other.score >= score);
        self.found.insert(place, Scored { row, score });
        if self.found.len() > self.count {
            self.found.pop();
        }
        if self.found.len() == self.count {
            self.bar = self.found[self.count - 1].score;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, unit_f64};

    fn sample(rows: usize, dim: usize) -> Vec<f32> {
        let key = Key::new(4);
        // Few distinct values, so that ties are frequent.
        let value = |at: usize| (unit_f64(key.at(at / dim, at % dim)) * 4.0).floor() as f32 - 1.0;
        (0..rows * dim).map(value).collect()
    }

    #[test]
    fn the_best_are_those_of_a_sort() {
        let (rows, dim) = (203, 7);
        let values = sample(rows, dim);
        let bias: Vec<f32> =
            (0..rows).map(|row| if row % 10 == 3 { f32::NEG_INFINITY } else { (row % 3) as f32 }).collect();
        let queries: Vec<u32> = (0..rows as u32).collect();
        for (threads, count) in [(1, 1), (2, 10), (3, 300)] {
            let pool = Pool::new(Some(threads)).unwrap();
            let searched = Rows { dim, values: &values, bias: &bias };
            let found =
                search(&searched, &queries, count, &pool, &mut |_| ControlFlow::Continue(())).unwrap();
            for (query, found) in found.iter().enumerate() {
                let score = |row: usize| {
                    let pairs = values[query * dim..][..dim].iter().zip(&values[row * dim..][..dim]);
                    pairs.map(|(a, b)| a * b).sum::<f32>() + bias[row]
                };
                let mut expected: Vec<Scored> = (0..rows)
                    .filter(|&row| row != query && bias[row] > f32::NEG_INFINITY)
                    .map(|row| Scored { row: row as u32, score: score(row) })
                    .collect();
                expected.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
                expected.truncate(count);
                assert_eq!(*found, expected, "query {query}, count {count}");
            }
        }
    }

    #[test]
    fn nothing_is_found_where_there_is_nothing() {
        let pool = Pool::new(Some(1)).unwrap();
        let go_on = &mut |_: usize| ControlFlow::Continue(());
        let none = Rows { dim: 3, values: &[], bias: &[] };
        assert!(search(&none, &[], 5, &pool, go_on).unwrap().is_empty());
        let one = Rows { dim: 0, values: &[], bias: &[0.0] };
        assert_eq!(search(&one, &[0], 5, &pool, go_on).unwrap(), [vec![]]);
    }
}

//! Random walks, generated when they are needed and never stored together.
//!
//! Step t of a walk follows an edge of view `t mod m`; with one view these are the walks of DeepWalk. Each edge of a
//! node is chosen with the same probability, or in proportion to its weight.
//!
//! Invariant: a walk follows from its number and the key alone, so walks can be generated in any order, by any thread,
//! and again in the next epoch.

use std::sync::atomic::{AtomicU64, Ordering};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::{Csr, safe_scale};
use manyview_base::named;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, Stream, unit_f64};
use manyview_data::network::View;

/// The number of walks that one task counts.
const COUNTED: usize = 256;

named! {
    /// What happens at a node that has no edge in the next view of the path.
    pub enum DeadEnd {
        Stop = "stop", "the walk ends";
        Skip = "skip", "continue with the next view of the path in which the node has an edge";
    }
}

/// Steps along the edges of one view.
#[derive(Clone, Debug)]
pub(super) struct Steps<'a> {
    adjacency: &'a Csr<f64>,
    /// The cumulative weights of each row, scaled if they are extreme, if edges are chosen by weight.
    sums: Option<Vec<f64>>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(adjacency: &'a Csr<f64>, weighted: bool) -> Self {
        let scale = safe_scale(adjacency.values());
        let row_sums = |row: usize| {
            let weights = adjacency.row(row).1.iter();
            weights.scan(0.0, move |sum, weight| {
                *sum += weight * scale;
                Some(*sum)
            })
        };
        let sums = weighted.then(|| (0..adjacency.rows()).flat_map(row_sums).collect());
        Steps { adjacency, sums }
    }

    /// Returns a random neighbor; `None` if the node has no edge.
    pub(super) fn next(&self, node: u32, stream: &mut Stream) -> Option<u32> {
        let (neighbors, _) = self.adjacency.row(node as usize);
        let last = neighbors.len().checked_sub(1)?;
        let bits = stream.next_u64();
        let at = match &self.sums {
            // Exact up to degree / 2^64, because nothing is rejected.
            None => ((u128::from(bits) * neighbors.len() as u128) >> 64) as usize,
            Some(sums) => {
                let sums = &sums[self.adjacency.indptr()[node as usize]..][..neighbors.len()];
                let wanted = unit_f64(bits) * sums[last];
                sums.partition_point(|&sum| sum <= wanted).min(last)
            }
        };
        Some(neighbors[at])
    }
}

/// All walks of a run.
#[derive(Clone, Debug)]
pub(super) struct Walks<'a> {
    path: Vec<Steps<'a>>,
    dead_end: DeadEnd,
    /// The nodes that walks start from.
    starts: Vec<u32>,
    /// The number of walks from each.
    each: usize,
    /// The maximum number of nodes of a walk.
    length: usize,
    key: Key,
}

impl<'a> Walks<'a> {
    /// Returns walks that take these views in turn, from every node that has an edge in the first view.
    pub(super) fn new(
        views: impl Iterator<Item = &'a View>,
        weighted: bool,
        dead_end: DeadEnd,
        (each, length): (usize, usize),
        key: Key,
    ) -> Self {
        Self::on(views.map(|view| &view.adjacency), weighted, dead_end, (each, length), key)
    }

    /// Returns the same for adjacency matrices.
    pub(super) fn on(
        path: impl Iterator<Item = &'a Csr<f64>>,
        weighted: bool,
        dead_end: DeadEnd,
        (each, length): (usize, usize),
        key: Key,
    ) -> Self {
        let path: Vec<Steps<'_>> = path.map(|adjacency| Steps::new(adjacency, weighted)).collect();
        // The views that the first step may take.
        let first = if dead_end == DeadEnd::Skip { &path[..] } else { &path[..1] };
        let goes_on =
            |node: &u32| first.iter().any(|steps| !steps.adjacency.row(*node as usize).0.is_empty());
        let starts = (0..path[0].adjacency.rows() as u32).filter(goes_on);
        Walks { starts: starts.collect(), path, dead_end, each, length, key }
    }

    /// Returns the number of walks.
    pub(super) fn count(&self) -> usize {
        self.starts.len() * self.each
    }

    /// Returns the maximum number of nodes of a walk.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Writes the nodes of a walk; at least two. Every node starts one walk before any node starts its second one, each
    /// time in a different order.
    pub(super) fn walk(&self, number: usize, nodes: &mut Vec<u32>) {
        let (pass, place) = (number / self.starts.len(), number % self.starts.len());
        let key = self.key.with(pass as u64);
        let start = shuffled(place, self.starts.len(), key.with(u64::MAX));
        let mut stream = Stream::new(key.with(place as u64));
        let mut node = self.starts[start];
        nodes.clear();
        nodes.push(node);
        let mut turn = 0;
        while nodes.len() < self.length {
            let Some(next) = self.step(node, &mut turn, &mut stream) else { return };
            node = next;
            nodes.push(node);
        }
    }

    /// Takes one step, and sets `turn` to the view after the one that was used.
    fn step(&self, node: u32, turn: &mut usize, stream: &mut Stream) -> Option<u32> {
        let tries = if self.dead_end == DeadEnd::Skip { self.path.len() } else { 1 };
        for _ in 0..tries {
            let steps = &self.path[*turn];
            *turn = (*turn + 1) % self.path.len();
            if let Some(next) = steps.next(node, stream) {
                return Some(next);
            }
        }
        None
    }

    /// Counts how often each node is in the walks. They are generated an additional time for this, which is cheap
    /// compared with training.
    pub(super) fn counts(&self, pool: &Pool, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<u64>> {
        // Sums of integers do not depend on their order, so threads can share the counters.
        let counts: Vec<AtomicU64> = (0..self.path[0].adjacency.rows()).map(|_| AtomicU64::new(0)).collect();
        let tasks = self.count().div_ceil(COUNTED);
        let mut ended = Ok(());
        let count = |nodes: &mut Vec<u32>, task: usize, _: &_| {
            for number in task * COUNTED..((task + 1) * COUNTED).min(self.count()) {
                self.walk(number, nodes);
                nodes.iter().for_each(|&node| {
                    counts[node as usize].fetch_add(1, Ordering::Relaxed);
                });
            }
            Some(())
        };
        let mut look = |done: usize| match watch(done as f64 / tasks.max(1) as f64) {
            Ok(()) => std::ops::ControlFlow::Continue(()),
            Err(error) => {
                ended = Err(error);
                std::ops::ControlFlow::Break(())
            }
        };
        let counted = pool.map_watched(tasks, Vec::new, count, &mut look);
        ended?;
        counted.map(|_| counts.into_iter().map(AtomicU64::into_inner).collect()).ok_or(Error::Interrupted)
    }
}

/// Returns the image of `place` under a random permutation of `0..count` that follows from the key and is not stored.
///
/// A Feistel network permutes the numbers up to the next power of four. It is applied again until the result is below
/// `count`.
fn shuffled(place: usize, count: usize, key: Key) -> usize {
    let half = count.next_power_of_two().ilog2().div_ceil(2);
    let mask = (1usize << half) - 1;
    let mut at = place;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4 {
            (left, right) = (right, left ^ (key.at(round, right) as usize & mask));
        }
        at = left << half | right;
        if at < count {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a matrix from its dense rows.
    pub(super) fn matrix(rows: &[&[f64]]) -> Csr<f64> {
        let entries = rows.iter().enumerate().flat_map(|(at, row)| {
            let filled = row.iter().enumerate().filter(|entry| *entry.1 > 0.0);
            filled.map(move |(col, &weight)| (at, col, weight))
        });
        Csr::from_triplets(rows.len(), rows[0].len(), entries)
    }

    fn walks<'a>(
        path: &[&'a Csr<f64>],
        weighted: bool,
        dead_end: DeadEnd,
        size: (usize, usize),
    ) -> Walks<'a> {
        Walks::on(path.iter().copied(), weighted, dead_end, size, Key::new(3))
    }

    fn all(walks: &Walks<'_>) -> Vec<Vec<u32>> {
        let walk = |number| {
            let mut nodes = Vec::new();
            walks.walk(number, &mut nodes);
            nodes
        };
        (0..walks.count()).map(walk).collect()
    }

    #[test]
    fn places_are_shuffled_without_loss() {
        for count in [1, 2, 3, 5, 16, 17, 1000] {
            let orders = [0, 1].map(|seed| -> Vec<usize> {
                (0..count).map(|place| shuffled(place, count, Key::new(seed))).collect()
            });
            for order in &orders {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..count), "{count}");
            }
            assert!(count < 16 || orders[0] != orders[1]);
        }
    }

    #[test]
    fn every_step_is_an_edge_of_the_view_whose_turn_it_is() {
        let near = matrix(&[&[0., 1., 0., 0.], &[1., 0., 0., 0.], &[0., 0., 0., 1.], &[0., 0., 1., 0.]]);
        let far = matrix(&[&[0., 0., 1., 1.], &[0., 0., 1., 1.], &[1., 1., 0., 0.], &[1., 1., 0., 0.]]);
        let path = [&near, &far, &far];
        let walks = walks(&path, false, DeadEnd::Stop, (5, 20));
        assert_eq!(walks.count(), 20);
        let found = all(&walks);
        for walk in &found {
            assert_eq!(walk.len(), 20);
            for (step, pair) in walk.windows(2).enumerate() {
                assert!(path[step % 3].row(pair[0] as usize).0.contains(&pair[1]), "{walk:?}");
            }
        }
        for node in 0..4 {
            assert_eq!(found.iter().filter(|walk| walk[0] == node).count(), 5);
        }
        let pool = Pool::new(Some(2)).unwrap();
        let counts = walks.counts(&pool, &mut |_| Ok(())).unwrap();
        let count = |node| found.iter().flatten().filter(|&&other| other == node).count() as u64;
        assert!(counts.into_iter().eq((0..4).map(count)));
        assert!(matches!(walks.counts(&pool, &mut |_| Err(Error::Interrupted)), Err(Error::Interrupted)));
    }

    #[test]
    fn a_dead_end_stops_a_walk_or_is_skipped() {
        let first = matrix(&[&[0., 1., 0.], &[0., 0., 0.], &[0., 0., 0.]]);
        let second = matrix(&[&[0., 0., 0.], &[0., 0., 1.], &[0., 0., 0.]]);
        let third = matrix(&[&[0., 0., 0.], &[0., 0., 1.], &[1., 0., 0.]]);
        let stopped = |path: &[&Csr<f64>], dead_end| {
            let mut found = all(&walks(path, false, dead_end, (1, 6)));
            found.sort();
            found
        };
        assert_eq!(stopped(&[&first, &first], DeadEnd::Stop), [vec![0, 1]]);
        assert_eq!(stopped(&[&first, &second], DeadEnd::Stop), [vec![0, 1, 2]]);
        // Walks that skip views also start at nodes without an edge in the first one.
        assert_eq!(stopped(&[&first, &second], DeadEnd::Skip), [vec![0, 1, 2], vec![1, 2]]);
        // Node 1 has no edge in the first view, but in the third; node 2 has none in the first two views.
        let on = [vec![0, 1, 2, 0, 1, 2], vec![1, 2, 0, 1, 2, 0], vec![2, 0, 1, 2, 0, 1]];
        assert_eq!(stopped(&[&first, &first, &third], DeadEnd::Skip), on);
        assert_eq!(stopped(&[&first, &first, &third], DeadEnd::Stop), [vec![0, 1]]);
    }

    /// `chances[i][j]` is the probability of a step from i to j, by weight or not.
    fn chances(matrix: &Csr<f64>, weighted: bool) -> Vec<Vec<f64>> {
        let row = |node: usize| {
            let (cols, weights) = matrix.row(node);
            let total: f64 = if weighted { weights.iter().sum() } else { cols.len() as f64 };
            let mut row = vec![0.0; matrix.cols()];
            for (&col, weight) in cols.iter().zip(weights) {
                row[col as usize] = if weighted { weight / total } else { 1.0 / total };
            }
            row
        };
        (0..matrix.rows()).map(row).collect()
    }

    fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let entry = |row: &Vec<f64>, col: usize| row.iter().zip(b).map(|(x, other)| x * other[col]).sum();
        a.iter().map(|row| (0..row.len()).map(|col| entry(row, col)).collect()).collect()
    }

    fn sample() -> [Csr<f64>; 2] {
        let one = matrix(&[
            &[0., 1., 2., 0., 0.],
            &[1., 0., 4., 1., 0.],
            &[2., 4., 0., 0., 3.],
            &[0., 1., 0., 0., 1.],
            &[0., 0., 3., 1., 0.],
        ]);
        let two = matrix(&[
            &[0., 5., 0., 0., 1.],
            &[5., 0., 0., 2., 0.],
            &[0., 0., 0., 1., 1.],
            &[0., 2., 1., 0., 0.],
            &[1., 0., 1., 0., 0.],
        ]);
        [one, two]
    }

    #[test]
    fn two_steps_have_the_chances_of_both_views() {
        let [one, two] = sample();
        for weighted in [false, true] {
            let each = 20_000;
            let found = all(&walks(&[&one, &two], weighted, DeadEnd::Stop, (each, 3)));
            let expected = times(&chances(&one, weighted), &chances(&two, weighted));
            for from in 0..5 {
                for to in 0..5 {
                    let met = found.iter().filter(|walk| walk[0] == from && walk[2] == to).count() as f64;
                    let chance = expected[from as usize][to as usize];
                    let error = (chance * (1.0 - chance) / each as f64).sqrt();
                    assert!(
                        (met / each as f64 - chance).abs() <= 5.0 * error,
                        "{from} {to}, weights {weighted}"
                    );
                }
            }
        }
    }

    /// On a path of one view, pairs that are t apart on long walks are distributed in proportion to `D P^t`, as in
    /// DeepWalk.
    #[test]
    fn pairs_of_long_walks_follow_the_powers_of_the_step() {
        let [one, _] = sample();
        let found = all(&walks(&[&one], true, DeadEnd::Stop, (40, 2000)));
        let step = chances(&one, true);
        let degrees: Vec<f64> = (0..5).map(|node| one.row(node).1.iter().sum()).collect();
        let volume: f64 = degrees.iter().sum();
        let (mut power, total) = (step.clone(), 200.0 * 2000.0);
        for apart in 1..=3 {
            for from in 0..5u32 {
                for to in 0..5u32 {
                    let met = |walk: &Vec<u32>| {
                        walk.iter().zip(&walk[apart..]).filter(|pair| pair == &(&from, &to)).count()
                    };
                    let share = found.iter().map(met).sum::<usize>() as f64 / total;
                    let expected = degrees[from as usize] / volume * power[from as usize][to as usize];
                    assert!((share - expected).abs() < 0.004, "{from} {to} {apart}: {share} and {expected}");
                }
            }
            power = times(&power, &step);
        }
    }
}

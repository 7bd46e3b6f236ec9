//! k-means: centers that minimize the sum of squared distances to the nearest center.
//!
//! The initial centers are chosen by greedy k-means++ (Arthur and Vassilvitskii, 2007): each new center is the best of
//! a few nodes drawn with probabilities proportional to their squared distances from the previous centers. Then follow
//! Lloyd's iterations with Hamerly's bounds (2010): a node is skipped if the bounds show that its center is still the
//! nearest, which is the case for most nodes after a few iterations. The bounds affect the speed but not the result.
//!
//! Invariant: sums are computed over blocks of nodes that depend on the data only, and blocks are added in order.

mod centers;
mod start;

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use self::centers::{Bound, Centers, Look, Run, Scratch, Totals, two_nearest};
use super::curvature::moments;
use super::kernels::{GROUP, block_rows};
use super::{Step, Vectors, Watch};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::kernels::vectorized;
use manyview_base::message::option_value;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, Stream};

/// Separates the random numbers of the initial centers from others of the same seed.
const STARTS: u64 = 0x6b6d_6561_6e73;

/// Number of runs that pass over the vectors together, since reading the vectors takes longer than a few distances.
const TOGETHER: usize = 5;

/// The default maximum number of iterations; a few dozen are usual.
pub const MAX_ITER: usize = 300;

/// Settings of [`kmeans()`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KmeansSettings {
    /// Number of clusters.
    pub k: usize,
    /// Number of runs; the one with the smallest inertia is used.
    pub restarts: usize,
    /// Maximum number of iterations per run.
    pub max_iter: usize,
    /// Random seed of the initial centers.
    pub seed: u64,
}

/// The result of [`kmeans()`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Clusters {
    /// The cluster of each node, in the order of the given rows.
    pub assignments: Vec<u32>,
    /// Sum of squared distances to the centers.
    pub inertia: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether no node changed its cluster in the last iteration.
    pub converged: bool,
}

impl Clusters {
    /// The cluster of each node, numbered from the largest (of equal ones, that of the first node), and the sizes of those
    /// that have nodes.
    pub fn by_size(&self) -> (Vec<u32>, Vec<usize>) {
        let most = self.assignments.iter().max().map_or(0, |&most| most as usize + 1);
        let (mut sizes, mut first) = (vec![0; most], vec![usize::MAX; most]);
        for (node, &cluster) in self.assignments.iter().enumerate() {
            sizes[cluster as usize] += 1;
            first[cluster as usize] = first[cluster as usize].min(node);
        }
        let mut order: Vec<usize> = (0..most).filter(|&cluster| sizes[cluster] > 0).collect();
        order.sort_by_key(|&cluster| (Reverse(sizes[cluster]), first[cluster]));
        let mut number = vec![0; most];
        order.iter().zip(0..).for_each(|(&cluster, at)| number[cluster] = at);
        let clusters = self.assignments.iter().map(|&cluster| number[cluster as usize]).collect();
        (clusters, order.iter().map(|&cluster| sizes[cluster]).collect())
    }
}

/// The nodes to be clustered. All computations use vectors minus their mean, which changes no distance.
pub(super) struct Nodes<'a> {
    vectors: &'a Vectors<'a>,
    rows: &'a [u32],
    mean: Vec<f64>,
    /// Squared lengths of the centered vectors.
    norms: Vec<f64>,
}

/// Clusters all vectors: the best of several runs.
///
/// ```
/// use manyview_analysis::evaluate::{Vectors, kmeans::{KmeansSettings, kmeans}};
/// use manyview_base::parallel::Pool;
///
/// let vectors = Vectors::new(&[0.0, 0.1, 5.0, 5.1], 4, 1)?;
/// let found = kmeans(&vectors, &KmeansSettings::new(2), &Pool::new(None)?)?;
/// assert_eq!(found.assignments[0], found.assignments[1]);
/// assert!((found.inertia - 0.01).abs() < 1e-6);
/// # Ok::<(), manyview_base::error::Error>(())
/// ```
///
/// # Errors
/// If the settings are invalid, or if there are more clusters than vectors.
pub fn kmeans(vectors: &Vectors<'_>, settings: &KmeansSettings, pool: &Pool) -> Result<Clusters> {
    kmeans_watched(vectors, settings, pool, &mut |_| ControlFlow::Continue(()))
}

/// Like [`kmeans()`], and calls `watch` with the progress.
///
/// # Errors
/// As [`kmeans()`], and [`Error::Interrupted`] if `watch` breaks.
pub fn kmeans_watched(
    vectors: &Vectors<'_>,
    settings: &KmeansSettings,
    pool: &Pool,
    watch: &mut Watch<'_>,
) -> Result<Clusters> {
    settings.check(vectors.rows())?;
    let rows: Vec<u32> = (0..vectors.rows() as u32).collect();
    let nodes = pool.run(|| Nodes::new(vectors, &rows));
    let mut best = nodes.best_of(settings, 1, pool, watch)?;
    Ok(best.pop().expect("there is one repeat"))
}

impl KmeansSettings {
    /// `k` clusters, the best of 10 runs.
    pub fn new(k: usize) -> Self {
        KmeansSettings { k, restarts: 10, max_iter: MAX_ITER, seed: 0 }
    }

    pub(super) fn check(&self, nodes: usize) -> Result<()> {
        let positive = |name: &str, value: usize| match value {
            0 => Err(Error::config(format!("{} must be at least 1", option_value(name, 0)))),
            _ => Ok(()),
        };
        positive("k", self.k)?;
        if self.k > nodes {
            let k = option_value("k", self.k);
            return Err(Error::config(format!("{k} exceeds the number of nodes; use at most {nodes}")));
        }
        positive("restarts", self.restarts)?;
        positive("max_iter", self.max_iter)
    }
}

impl<'a> Nodes<'a> {
    /// Prepares the vectors in these rows.
    pub(super) fn new(vectors: &'a Vectors<'a>, rows: &'a [u32]) -> Self {
        let (mean, _) = moments(vectors, rows);
        let norm = |&row: &u32| {
            let centered = vectors.row(row as usize).iter().zip(&mean).map(|(&x, mean)| f64::from(x) - mean);
            centered.map(|x| x * x).sum()
        };
        let norms = rows.par_iter().map(norm).collect();
        Nodes { vectors, rows, mean, norms }
    }

    /// Writes the centered vector in a row as f64; the padding of `wide` is unchanged.
    #[inline(always)]
    fn widen(&self, row: u32, wide: &mut [f64]) {
        for ((wide, &x), mean) in wide.iter_mut().zip(self.vectors.row(row as usize)).zip(&self.mean) {
            *wide = f64::from(x) - mean;
        }
    }

    /// For each repeat the run with the smallest inertia; the first, if tied.
    pub(super) fn best_of(
        &self,
        settings: &KmeansSettings,
        repeats: usize,
        pool: &Pool,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Clusters>> {
        let KmeansSettings { k, restarts, max_iter, seed } = *settings;
        let groups = restarts.div_ceil(TOGETHER);
        let total = repeats * groups;
        let run = |(): &mut (), task: usize, canceled: &AtomicBool| {
            let (repeat, first) = (task / groups, task % groups * TOGETHER);
            let key = Key::new(seed).with(STARTS).with(repeat as u64);
            let keys: Vec<Key> =
                (first..restarts.min(first + TOGETHER)).map(|restart| key.with(restart as u64)).collect();
            self.cluster(k, max_iter, &keys, canceled)
        };
        let runs = pool.map_watched(total, || (), run, &mut |done| watch(Step { done, total }));
        let mut runs = runs.ok_or(Error::Interrupted)?.into_iter().flatten();
        let best = |_| {
            let restarts = runs.by_ref().take(restarts);
            let best = restarts.reduce(|best, next| if next.inertia < best.inertia { next } else { best });
            best.expect("there is a run for each repeat")
        };
        Ok((0..repeats).map(best).collect())
    }

    /// Several runs in parallel, each from its own initial centers; returns `None` if canceled.
    fn cluster(
        &self,
        k: usize,
        max_iter: usize,
        keys: &[Key],
        canceled: &AtomicBool,
    ) -> Option<Vec<Clusters>> {
        let run = |&key: &Key| Some(Run::new(self, self.start(k, &mut Stream::new(key), canceled)?));
        let mut runs: Vec<Run> = keys.iter().map(run).collect::<Option<_>>()?;
        loop {
            let mut open: Vec<&mut Run> =
                runs.iter_mut().filter(|run| !run.converged && run.iterations < max_iter).collect();
            if open.is_empty() {
                break;
            }
            if canceled.load(Ordering::Relaxed) {
                return None;
            }
            let moved = self.assign(&mut open);
            for (run, moved) in open.into_iter().zip(moved) {
                run.iterations += 1;
                let filled = self.fill_empty(run);
                run.converged = !moved && !filled;
                if !run.converged {
                    run.move_centers();
                }
            }
        }
        let finish = |run: Run| {
            // The bounds include rounding errors, so the final assignment is computed exactly.
            let (assignments, inertia) = self.nearest(&run.centers);
            Clusters { assignments, inertia, iterations: run.iterations, converged: run.converged }
        };
        Some(runs.into_iter().map(finish).collect())
    }

    /// Assigns each node to its nearest center (the first, if tied) in every run; returns whether any node changed its
    /// cluster.
    fn assign(&self, runs: &mut [&mut Run]) -> Vec<bool> {
        let block = block_rows(self.rows.len());
        let mut bounds: Vec<Vec<&mut [Bound]>> = Vec::new();
        bounds.resize_with(self.rows.len().div_ceil(block), Vec::new);
        let (mut looks, mut totals) = (Vec::new(), Vec::new());
        for run in runs {
            let Run { centers, bounds: of_run, totals: of_all, .. } = &mut **run;
            looks.push(Look::new(centers));
            totals.push(of_all);
            of_run.chunks_mut(block).zip(&mut bounds).for_each(|(chunk, blocks)| blocks.push(chunk));
        }
        let moves: Vec<Vec<Option<Totals>>> = bounds
            .into_par_iter()
            .zip(self.rows.par_chunks(block))
            .zip(self.norms.par_chunks(block))
            .map(|((bounds, rows), norms)| {
                vectorized(
                    #[inline(always)]
                    || self.assign_block(&looks, rows, norms, bounds),
                )
            })
            .collect();
        let mut moved = vec![false; totals.len()];
        for moves in &moves {
            for ((totals, moved), moves) in totals.iter_mut().zip(&mut moved).zip(moves) {
                if let Some(moves) = moves {
                    totals.add(moves);
                    *moved = true;
                }
            }
        }
        moved
    }

    #[inline(always)]
    fn assign_block(
        &self,
        looks: &[Look<'_>],
        rows: &[u32],
        norms: &[f64],
        mut bounds: Vec<&mut [Bound]>,
    ) -> Vec<Option<Totals>> {
        let centers = looks[0].centers;
        let (mut wide, mut scratch) = (vec![0.0; centers.stride], Scratch::new(centers));
        let mut moves: Vec<Option<Totals>> = vec![None; looks.len()];
        for (place, (&row, &norm)) in rows.iter().zip(norms).enumerate() {
            let mut widened = false;
            for ((look, bounds), moves) in looks.iter().zip(&mut bounds).zip(&mut moves) {
                let bound = &mut bounds[place];
                let settled = look.settled(bound);
                if bound.upper <= settled {
                    continue;
                }
                if !std::mem::replace(&mut widened, true) {
                    self.widen(row, &mut wide);
                }
                // With few centers, all distances cost as much as one.
                if centers.count > GROUP && bound.cluster != u32::MAX {
                    bound.upper = look.centers.distance(&wide, bound.cluster as usize, &mut scratch).sqrt();
                    if bound.upper <= settled {
                        continue;
                    }
                }
                let next = look.nearest(&wide, norm, &mut scratch);
                if next.cluster != bound.cluster {
                    let moves = moves.get_or_insert_with(|| Totals::zeros(centers.count, self.vectors.dim()));
                    if bound.cluster != u32::MAX {
                        moves.count(bound.cluster, &wide, -1);
                    }
                    moves.count(next.cluster, &wide, 1);
                }
                *bound = next;
            }
        }
        moves
    }

    /// Moves the node farthest from its center to each empty cluster; returns whether any cluster was filled.
    fn fill_empty(&self, run: &mut Run) -> bool {
        let Run { centers, bounds, totals, .. } = run;
        let empty: Vec<usize> = (0..centers.count).filter(|&cluster| totals.sizes[cluster] == 0).collect();
        if empty.is_empty() {
            return false;
        }
        let (mut wide, mut scratch) = (vec![0.0; centers.stride], Scratch::new(centers));
        let mut farthest: Vec<(f64, usize)> = Vec::with_capacity(bounds.len());
        for (place, bound) in bounds.iter().enumerate() {
            self.widen(self.rows[place], &mut wide);
            farthest.push((centers.distance(&wide, bound.cluster as usize, &mut scratch), place));
        }
        farthest.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut filled = false;
        let mut next = farthest.into_iter();
        for cluster in empty {
            let found = next.find(|&(_, place)| totals.sizes[bounds[place].cluster as usize] > 1);
            // All remaining nodes are at their centers: there are fewer distinct vectors than clusters.
            let Some((_, place)) = found.filter(|&(distance, _)| distance > 0.0) else { break };
            self.widen(self.rows[place], &mut wide);
            totals.count(bounds[place].cluster, &wide, -1);
            totals.count(cluster as u32, &wide, 1);
            bounds[place] = Bound { cluster: cluster as u32, upper: f64::INFINITY, lower: 0.0 };
            filled = true;
        }
        filled
    }

    /// The nearest center of each node, and the sum of the squared distances.
    fn nearest(&self, centers: &Centers) -> (Vec<u32>, f64) {
        let of_block = |rows: &[u32]| {
            let (mut wide, mut scratch) = (vec![0.0; centers.stride], Scratch::new(centers));
            let (mut clusters, mut sum) = (Vec::with_capacity(rows.len()), 0.0);
            for &row in rows {
                self.widen(row, &mut wide);
                vectorized(
                    #[inline(always)]
                    || centers.distances(&wide, &mut scratch),
                );
                let (cluster, nearest, _) = two_nearest(&scratch.distances);
                clusters.push(cluster);
                sum += nearest;
            }
            (clusters, sum)
        };
        let block = block_rows(self.rows.len());
        let parts: Vec<(Vec<u32>, f64)> = self.rows.par_chunks(block).map(of_block).collect();
        let inertia = parts.iter().map(|part| part.1).sum();
        (parts.into_iter().flat_map(|part| part.0).collect(), inertia)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::unit_f64;

    fn numbers(seed: u64, count: usize) -> Vec<f32> {
        (0..count).map(|at| unit_f64(Key::new(seed).at(at, 0)) as f32).collect()
    }

    /// Points around centers that are far apart.
    fn clouds(rows: usize, dim: usize, k: usize) -> Vec<f32> {
        let mut values = numbers(1, rows * dim);
        for (row, vector) in values.chunks_exact_mut(dim).enumerate() {
            vector[(row % k) % dim] += 10.0 * (1 + row % k) as f32;
        }
        values
    }

    fn run(values: &[f32], dim: usize, k: usize, seed: u64, threads: usize) -> Clusters {
        let vectors = Vectors::new(values, values.len() / dim, dim).unwrap();
        let pool = Pool::new(Some(threads)).unwrap();
        kmeans(&vectors, &KmeansSettings { restarts: 4, seed, ..KmeansSettings::new(k) }, &pool).unwrap()
    }

    #[test]
    fn the_largest_cluster_comes_first() {
        let by_size = |assignments: &[u32]| {
            let assignments = assignments.to_vec();
            Clusters { assignments, inertia: 0.0, iterations: 1, converged: true }.by_size()
        };
        assert_eq!(by_size(&[2, 0, 2, 3, 3, 2]), (vec![0, 2, 0, 1, 1, 0], vec![3, 2, 1]));
        assert_eq!(by_size(&[1, 0]), (vec![0, 1], vec![1, 1]), "of equal ones, that of the first node");
    }

    #[test]
    fn clouds_apart_are_found() {
        for k in [1, 2, 4, 5, 9] {
            let found = run(&clouds(500, 10, k), 10, k, 0, 2);
            assert!(found.converged);
            for (row, cluster) in found.assignments.iter().enumerate() {
                assert_eq!(*cluster, found.assignments[row % k], "{k} clusters, row {row}");
            }
        }
    }

    /// Lloyd's iterations from the same initial centers, without bounds or blocks.
    fn plain(values: &[f32], dim: usize, centers: &mut [Vec<f64>]) -> (Vec<usize>, f64) {
        let rows: Vec<Vec<f64>> =
            values.chunks(dim).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut before = Vec::new();
        loop {
            let of = |row: &Vec<f64>| {
                let order = (0..centers.len())
                    .min_by(|&a, &b| distance(row, &centers[a]).total_cmp(&distance(row, &centers[b])));
                order.unwrap()
            };
            let now: Vec<usize> = rows.iter().map(of).collect();
            if now == before {
                let inertia =
                    rows.iter().zip(&now).map(|(row, &cluster)| distance(row, &centers[cluster])).sum();
                return (now, inertia);
            }
            for (cluster, center) in centers.iter_mut().enumerate() {
                let members: Vec<&Vec<f64>> =
                    rows.iter().zip(&now).filter(|(_, of)| **of == cluster).map(|(row, _)| row).collect();
                assert!(!members.is_empty(), "this start leaves no cluster empty");
                for (column, x) in center.iter_mut().enumerate() {
                    *x = members.iter().map(|row| row[column]).sum::<f64>() / members.len() as f64;
                }
            }
            before = now;
        }
    }

    #[test]
    fn bounds_change_nothing() {
        for (k, dim) in [(3, 2), (7, 5), (12, 3)] {
            let values = numbers(2, 900 * dim);
            let vectors = Vectors::new(&values, 900, dim).unwrap();
            let rows: Vec<u32> = (0..900).collect();
            let nodes = Nodes::new(&vectors, &rows);
            let key = Key::new(k as u64);
            let never = AtomicBool::new(false);
            let start = nodes.start(k, &mut Stream::new(key), &never).unwrap();
            let at = |center| start.row(center).iter().zip(&nodes.mean).map(|(x, mean)| x + mean).collect();
            let mut centers: Vec<Vec<f64>> = (0..k).map(at).collect();
            let (assignments, inertia) = plain(&values, dim, &mut centers);
            let found = nodes.cluster(k, MAX_ITER, &[Key::new(99), key], &never).unwrap().pop().unwrap();
            let same = found.assignments.iter().zip(&assignments).all(|(a, b)| *a as usize == *b);
            assert!(same && (found.inertia / inertia - 1.0).abs() < 1e-12, "{k} clusters");
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let values = numbers(3, 3000 * 6);
        let one = run(&values, 6, 8, 5, 1);
        for threads in [2, 3, 8] {
            assert_eq!(run(&values, 6, 8, 5, threads), one);
        }
        assert_ne!(run(&values, 6, 8, 6, 2).inertia, one.inertia);
    }

    #[test]
    fn fewer_distinct_vectors_than_clusters_are_no_trap() {
        let values = [0.0, 0.0, 0.0, 7.0, 7.0, 7.0];
        for k in 1..=6 {
            let found = run(&values, 1, k, 0, 1);
            assert!(found.converged, "{k}");
            assert!(k == 1 || found.inertia == 0.0);
        }
        assert_eq!(run(&[5.0; 12], 3, 4, 0, 1).inertia, 0.0);
    }

    #[test]
    fn as_many_clusters_as_nodes_have_one_each() {
        let mut found = run(&numbers(4, 20), 2, 10, 0, 2).assignments;
        found.sort_unstable();
        assert_eq!(found, (0..10).collect::<Vec<u32>>());
    }

    #[test]
    fn empty_clusters_are_filled() {
        let values = [0.0f32, 1.0, 2.0, 10.0, 11.0, 12.0];
        let vectors = Vectors::new(&values, 6, 1).unwrap();
        let nodes = Nodes::new(&vectors, &[0, 1, 2, 3, 4, 5]);
        let mut centers = Centers::zeros(2, 1);
        // The mean is 6, so the centers are at 3 and 1006.
        (centers.row_mut(0)[0], centers.row_mut(1)[0]) = (-3.0, 1000.0);
        let mut run = Run::new(&nodes, centers);
        assert_eq!(nodes.assign(&mut [&mut run]), [true]);
        assert_eq!(run.totals.sizes, [6, 0]);
        assert!(nodes.fill_empty(&mut run));
        assert_eq!((&run.totals.sizes[..], run.bounds[5].cluster), (&[5, 1][..], 1));
        assert_eq!(run.totals.sums.row(0)[0], 24.0 - 5.0 * 6.0);
    }

    #[test]
    fn draws_follow_the_distances() {
        let vectors = [0.0f32; 4];
        let vectors = Vectors::new(&vectors, 4, 1).unwrap();
        let nodes = Nodes::new(&vectors, &[0, 1, 2, 3]);
        let mut stream = Stream::new(Key::new(1));
        let mut counts = [0; 4];
        for _ in 0..4000 {
            counts[nodes.draw(&[1.0, 0.0, 3.0, 0.0], &mut stream)] += 1;
        }
        assert_eq!((counts[1], counts[3]), (0, 0));
        assert!((counts[0] - 1000i32).abs() < 150, "{counts:?}");
        assert!(nodes.draw(&[0.0; 4], &mut stream) < 4);
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let sentence = |k, restarts, max_iter| {
            KmeansSettings { k, restarts, max_iter, seed: 0 }.check(10).unwrap_err().to_string()
        };
        assert_eq!(sentence(11, 1, 1), "k = 11 exceeds the number of nodes; use at most 10");
        assert_eq!(sentence(0, 1, 1), "k = 0 must be at least 1");
        assert_eq!(sentence(1, 0, 1), "restarts = 0 must be at least 1");
        assert_eq!(sentence(1, 1, 0), "max_iter = 0 must be at least 1");
    }
}

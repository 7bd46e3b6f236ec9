//! k-means: centres that make the sum of squared distances to the nearest of them small.
//!
//! Starts are greedy k-means++ (Arthur and Vassilvitskii, 2007): each new centre is the best of a few nodes that were
//! drawn in proportion to their squared distance from the centres so far. Then Lloyd's iterations, with Hamerly's
//! bounds (2010): a node whose distance to its own centre is below what the other centres can have come near to needs
//! no look, which holds for most nodes after a few iterations. The bounds change the speed and not the result.
//!
//! Invariant: sums run over blocks of nodes that depend on the data alone, added in order.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::kernels::{GROUP, LANES, Lanes, add_multiple, block_rows, four_distances, stride, totals, widen};
use super::{Step, Vectors, Watch};
use crate::error::{Error, Result};
use crate::linalg::kernels::vectorised;
use crate::parallel::Pool;
use crate::random::{Key, Stream, unit_f64};

/// Sets starts apart from whatever else is made from the seed.
const STARTS: u64 = 0x6b6d_6561_6e73;

/// At most so many iterations by default; a few dozen are usual.
pub const MAX_ITER: usize = 300;

/// One run of k-means.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The cluster of each node, in the order of the rows that were given.
    pub assignments: Vec<u32>,
    /// Sum of squared distances to the centres.
    pub inertia: f64,
    /// Iterations until nothing moved.
    pub iterations: usize,
    /// Whether nothing moved in the end.
    pub converged: bool,
}

/// The nodes to be clustered.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a> {
    pub(super) vectors: &'a Vectors<'a>,
    pub(super) rows: &'a [u32],
}

/// Where the centres are: a padded row for each, and rows of zeros up to a multiple of [`GROUP`].
#[derive(Clone)]
struct Centres {
    count: usize,
    stride: usize,
    values: Vec<f64>,
}

/// What is known of a node.
#[derive(Clone, Copy)]
struct Bound {
    cluster: u32,
    /// At least the distance to its centre.
    upper: f64,
    /// At most the distance to any other centre.
    lower: f64,
}

/// The clusters: sums of their vectors, and how many those are. A block's moves have the same form.
#[derive(Clone)]
struct Totals {
    sums: Centres,
    sizes: Vec<i64>,
}

/// Room for the distances of one node, used again for the next.
struct Scratch {
    lanes: Vec<Lanes>,
    /// Squared, from each centre.
    distances: Vec<f64>,
}

impl Scratch {
    fn new(centres: &Centres) -> Self {
        let lanes = vec![[[0.0; LANES]; GROUP]; centres.count.div_ceil(GROUP)];
        Scratch { lanes, distances: vec![0.0; centres.count] }
    }
}

impl Centres {
    fn zeros(count: usize, dim: usize) -> Self {
        let stride = stride(dim);
        Centres { count, stride, values: vec![0.0; count.next_multiple_of(GROUP) * stride] }
    }

    fn row(&self, centre: usize) -> &[f64] {
        &self.values[centre * self.stride..][..self.stride]
    }

    fn row_mut(&mut self, centre: usize) -> &mut [f64] {
        &mut self.values[centre * self.stride..][..self.stride]
    }

    /// Squared distances of a padded row from all centres.
    #[inline(always)]
    fn distances(&self, wide: &[f64], scratch: &mut Scratch) {
        let groups = self.values.chunks_exact(GROUP * self.stride);
        for (four, lanes) in groups.zip(&mut scratch.lanes) {
            four_distances(four, wide, lanes);
        }
        for (lanes, found) in scratch.lanes.iter().zip(scratch.distances.chunks_mut(GROUP)) {
            found.copy_from_slice(&totals(lanes)[..found.len()]);
        }
    }

    #[inline(always)]
    fn distance(&self, wide: &[f64], centre: usize, scratch: &mut Scratch) -> f64 {
        let group = centre / GROUP * GROUP;
        let four = &self.values[group * self.stride..][..GROUP * self.stride];
        four_distances(four, wide, &mut scratch.lanes[0]);
        totals(&scratch.lanes[0])[centre - group]
    }

    /// Half the distance from each centre to the nearest other one.
    fn half_gaps(&self) -> Vec<f64> {
        let mut scratch = Scratch::new(self);
        let mut of = |centre: usize| {
            self.distances(self.row(centre), &mut scratch);
            let others = scratch.distances.iter().enumerate().filter(|(other, _)| *other != centre);
            others.fold(f64::INFINITY, |least, (_, &distance)| least.min(distance)).sqrt() / 2.0
        };
        (0..self.count).map(&mut of).collect()
    }
}

impl Totals {
    fn zeros(k: usize, dim: usize) -> Self {
        Totals { sums: Centres::zeros(k, dim), sizes: vec![0; k] }
    }

    /// Lets a node come (`sign` 1) or leave (-1).
    #[inline(always)]
    fn count(&mut self, cluster: u32, wide: &[f64], sign: i64) {
        add_multiple(self.sums.row_mut(cluster as usize), sign as f64, wide);
        self.sizes[cluster as usize] += sign;
    }

    fn add(&mut self, moves: &Totals) {
        add_multiple(&mut self.sums.values, 1.0, &moves.sums.values);
        self.sizes.iter_mut().zip(&moves.sizes).for_each(|(size, moved)| *size += moved);
    }
}

/// Clusters all vectors: the best of several runs.
///
/// ```
/// use std::ops::ControlFlow;
/// use manyview::evaluate::{Vectors, kmeans::{MAX_ITER, kmeans}};
/// use manyview::parallel::Pool;
///
/// let vectors = Vectors::new(&[0.0, 0.1, 5.0, 5.1], 4, 1)?;
/// let found = kmeans(&vectors, 2, 10, MAX_ITER, 0, &Pool::new(None)?, &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!(found.assignments[0], found.assignments[1]);
/// assert!((found.inertia - 0.01).abs() < 1e-6);
/// # Ok::<(), manyview::Error>(())
/// ```
///
/// # Errors
/// When there are more clusters than vectors, no cluster or no run is asked for, or `watch` breaks off.
pub fn kmeans(
    vectors: &Vectors<'_>,
    k: usize,
    restarts: usize,
    max_iter: usize,
    seed: u64,
    pool: &Pool,
    watch: &mut Watch<'_>,
) -> Result<Clusters> {
    check(k, vectors.rows(), restarts, max_iter)?;
    let rows: Vec<u32> = (0..vectors.rows() as u32).collect();
    let nodes = Nodes { vectors, rows: &rows };
    let mut best = nodes.best_of(k, 1, restarts, max_iter, seed, pool, watch)?;
    Ok(best.pop().expect("one repeat was asked for"))
}

/// Refuses numbers that make no sense.
pub(super) fn check(k: usize, nodes: usize, restarts: usize, max_iter: usize) -> Result<()> {
    let refuse = |message: String| Err(Error::Config(message));
    match () {
        () if k == 0 => refuse("k = 0 clusters; give at least 1".into()),
        () if k > nodes => {
            refuse(format!("k = {k} clusters of {nodes} nodes; give at most as many as nodes"))
        }
        () if restarts == 0 => refuse("restarts = 0 clusters nothing; give at least 1".into()),
        () if max_iter == 0 => refuse("max_iter = 0 clusters nothing; give at least 1".into()),
        () => Ok(()),
    }
}

impl Nodes<'_> {
    /// For each repeat the run with the smallest inertia, the first of several.
    #[expect(clippy::too_many_arguments, reason = "numbers that the caller checked, and who looks on")]
    pub(super) fn best_of(
        &self,
        k: usize,
        repeats: usize,
        restarts: usize,
        max_iter: usize,
        seed: u64,
        pool: &Pool,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Clusters>> {
        let total = repeats * restarts;
        let run = |(): &mut (), run: usize, cancelled: &AtomicBool| {
            let key = Key::new(seed).with(STARTS).with((run / restarts) as u64).with((run % restarts) as u64);
            self.cluster(k, max_iter, key, cancelled)
        };
        let runs = pool.map_watched(total, || (), run, &mut |done| watch(Step { done, total }));
        let mut runs = runs.ok_or(Error::Interrupted)?.into_iter();
        let best = |_| {
            let restarts = runs.by_ref().take(restarts);
            let best = restarts.reduce(|best, next| if next.inertia < best.inertia { next } else { best });
            best.expect("there is a run for each repeat")
        };
        Ok((0..repeats).map(best).collect())
    }

    /// One run from a start of its own; `None` when cancelled.
    fn cluster(&self, k: usize, max_iter: usize, key: Key, cancelled: &AtomicBool) -> Option<Clusters> {
        let mut centres = self.start(k, &mut Stream::new(key), cancelled)?;
        // Nodes of no cluster, infinitely far from it: the first pass looks at every one.
        let unknown = Bound { cluster: u32::MAX, upper: f64::INFINITY, lower: 0.0 };
        let mut bounds = vec![unknown; self.rows.len()];
        let mut totals = Totals::zeros(k, self.vectors.dim());
        let (mut iterations, mut converged) = (0, false);
        while iterations < max_iter && !converged {
            if cancelled.load(Ordering::Relaxed) {
                return None;
            }
            iterations += 1;
            let moved = self.assign(&centres, &mut bounds, &mut totals);
            let filled = self.fill_empty(&centres, &mut bounds, &mut totals);
            converged = !moved && !filled;
            if !converged {
                move_centres(&mut centres, &totals, &mut bounds);
            }
        }
        // The bounds were carried along with rounding; the last word has an exact look at all.
        let (assignments, inertia) = self.nearest(&centres);
        Some(Clusters { assignments, inertia, iterations, converged })
    }

    /// Gives each node to its nearest centre, the first of several; whether any moved.
    fn assign(&self, centres: &Centres, bounds: &mut [Bound], totals: &mut Totals) -> bool {
        let half_gaps = centres.half_gaps();
        let block = block_rows(self.rows.len());
        let moves: Vec<Option<Totals>> = self
            .rows
            .par_chunks(block)
            .zip(bounds.par_chunks_mut(block))
            .map(|(rows, bounds)| {
                vectorised(
                    #[inline(always)]
                    || self.assign_block(centres, &half_gaps, rows, bounds),
                )
            })
            .collect();
        moves.iter().flatten().for_each(|moves| totals.add(moves));
        moves.iter().any(Option::is_some)
    }

    #[inline(always)]
    fn assign_block(
        &self,
        centres: &Centres,
        half_gaps: &[f64],
        rows: &[u32],
        bounds: &mut [Bound],
    ) -> Option<Totals> {
        let (mut wide, mut scratch) = (vec![0.0; centres.stride], Scratch::new(centres));
        let mut moves: Option<Totals> = None;
        for (&row, bound) in rows.iter().zip(bounds) {
            let settled =
                half_gaps.get(bound.cluster as usize).map_or(f64::NEG_INFINITY, |gap| gap.max(bound.lower));
            if bound.upper <= settled {
                continue;
            }
            widen(self.vectors.row(row as usize), &mut wide);
            // With few centres all distances cost what one does.
            if centres.count > GROUP && bound.cluster != u32::MAX {
                bound.upper = centres.distance(&wide, bound.cluster as usize, &mut scratch).sqrt();
                if bound.upper <= settled {
                    continue;
                }
            }
            centres.distances(&wide, &mut scratch);
            let (cluster, nearest, second) = two_nearest(&scratch.distances);
            if cluster != bound.cluster {
                let moves = moves.get_or_insert_with(|| Totals::zeros(centres.count, self.vectors.dim()));
                if bound.cluster != u32::MAX {
                    moves.count(bound.cluster, &wide, -1);
                }
                moves.count(cluster, &wide, 1);
            }
            *bound = Bound { cluster, upper: nearest.sqrt(), lower: second.sqrt() };
        }
        moves
    }

    /// Gives each empty cluster the node that is farthest from its own centre; whether any was filled.
    fn fill_empty(&self, centres: &Centres, bounds: &mut [Bound], totals: &mut Totals) -> bool {
        let empty: Vec<usize> = (0..centres.count).filter(|&cluster| totals.sizes[cluster] == 0).collect();
        if empty.is_empty() {
            return false;
        }
        let (mut wide, mut scratch) = (vec![0.0; centres.stride], Scratch::new(centres));
        let mut farthest: Vec<(f64, usize)> = Vec::with_capacity(bounds.len());
        for (place, bound) in bounds.iter().enumerate() {
            widen(self.vectors.row(self.rows[place] as usize), &mut wide);
            farthest.push((centres.distance(&wide, bound.cluster as usize, &mut scratch), place));
        }
        farthest.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut filled = false;
        let mut next = farthest.into_iter();
        for cluster in empty {
            let found = next.find(|&(_, place)| totals.sizes[bounds[place].cluster as usize] > 1);
            // Nodes on their centres are no better elsewhere: there are fewer distinct vectors than clusters.
            let Some((_, place)) = found.filter(|&(distance, _)| distance > 0.0) else { break };
            widen(self.vectors.row(self.rows[place] as usize), &mut wide);
            totals.count(bounds[place].cluster, &wide, -1);
            totals.count(cluster as u32, &wide, 1);
            bounds[place] = Bound { cluster: cluster as u32, upper: f64::INFINITY, lower: 0.0 };
            filled = true;
        }
        filled
    }

    /// The nearest centre of each node, and the sum of the squared distances.
    fn nearest(&self, centres: &Centres) -> (Vec<u32>, f64) {
        let of_block = |rows: &[u32]| {
            let (mut wide, mut scratch) = (vec![0.0; centres.stride], Scratch::new(centres));
            let (mut clusters, mut sum) = (Vec::with_capacity(rows.len()), 0.0);
            for &row in rows {
                widen(self.vectors.row(row as usize), &mut wide);
                vectorised(
                    #[inline(always)]
                    || centres.distances(&wide, &mut scratch),
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

    /// Centres to start from; `None` when cancelled.
    fn start(&self, k: usize, stream: &mut Stream, cancelled: &AtomicBool) -> Option<Centres> {
        let mut centres = Centres::zeros(k, self.vectors.dim());
        // As many candidates as scikit-learn tries: enough to miss a far cluster rarely.
        let trials = 2 + libm::log(k as f64) as usize;
        let mut distances = vec![f64::INFINITY; self.rows.len()];
        for centre in 0..k {
            if cancelled.load(Ordering::Relaxed) {
                return None;
            }
            let drawn: Vec<usize> = match centre {
                0 => vec![stream.below(self.rows.len() as u64) as usize],
                _ => (0..trials).map(|_| self.draw(&distances, stream)).collect(),
            };
            let (best, nearer) = self.best_candidate(&drawn, &distances);
            distances = nearer;
            widen(self.vectors.row(self.rows[drawn[best]] as usize), centres.row_mut(centre));
        }
        Some(centres)
    }

    /// A node, with a chance in proportion to its squared distance; any node when all are zero.
    fn draw(&self, distances: &[f64], stream: &mut Stream) -> usize {
        let block = block_rows(distances.len());
        let sums: Vec<f64> = distances.chunks(block).map(|block| block.iter().sum()).collect();
        let total: f64 = sums.iter().sum();
        let mut left = unit_f64(stream.next_u64()) * total;
        let mut first = 0;
        for sum in &sums {
            if left < *sum {
                break;
            }
            left -= sum;
            first += block;
        }
        for (place, distance) in distances.iter().enumerate().skip(first) {
            if left < *distance {
                return place;
            }
            left -= distance;
        }
        // Rounding went past the last node, or there is nothing to go by.
        match distances.iter().rposition(|&distance| distance > 0.0) {
            Some(last) => last,
            None => stream.below(distances.len() as u64) as usize,
        }
    }

    /// The candidate that as a further centre leaves the smallest sum of squared distances, and those distances.
    fn best_candidate(&self, drawn: &[usize], distances: &[f64]) -> (usize, Vec<f64>) {
        let mut candidates = Centres::zeros(drawn.len(), self.vectors.dim());
        for (candidate, &place) in drawn.iter().enumerate() {
            widen(self.vectors.row(self.rows[place] as usize), candidates.row_mut(candidate));
        }
        let (block, count) = (block_rows(self.rows.len()), drawn.len());
        let mut nearer = vec![0.0; count * self.rows.len()];
        let blocks = self.rows.par_chunks(block).zip(distances.par_chunks(block));
        let of_block = |((rows, distances), nearer): ((&[u32], &[f64]), &mut [f64])| {
            let mut sums = vec![0.0; count];
            let (mut wide, mut scratch) = (vec![0.0; candidates.stride], Scratch::new(&candidates));
            vectorised(
                #[inline(always)]
                || {
                    for ((&row, &before), nearer) in
                        rows.iter().zip(distances).zip(nearer.chunks_exact_mut(count))
                    {
                        widen(self.vectors.row(row as usize), &mut wide);
                        candidates.distances(&wide, &mut scratch);
                        for ((sum, nearer), distance) in sums.iter_mut().zip(nearer).zip(&scratch.distances) {
                            *nearer = distance.min(before);
                            *sum += *nearer;
                        }
                    }
                },
            );
            sums
        };
        let parts: Vec<Vec<f64>> = blocks.zip(nearer.par_chunks_mut(block * count)).map(of_block).collect();
        let mut sums = vec![0.0; count];
        parts.iter().for_each(|part| add_multiple(&mut sums, 1.0, part));
        let best =
            (0..count).rev().min_by(|&a, &b| sums[a].total_cmp(&sums[b])).expect("some node was drawn");
        (best, nearer.into_iter().skip(best).step_by(count).collect())
    }
}

/// The nearest centre (the first of several), its squared distance, and that of the next.
#[inline(always)]
fn two_nearest(distances: &[f64]) -> (u32, f64, f64) {
    let (mut cluster, mut nearest, mut second) = (0, f64::INFINITY, f64::INFINITY);
    for (at, &distance) in distances.iter().enumerate() {
        if distance < nearest {
            (cluster, nearest, second) = (at as u32, distance, nearest);
        } else if distance < second {
            second = distance;
        }
    }
    (cluster, nearest, second)
}

/// Puts centres into the middle of their clusters, and widens the bounds by what they moved.
fn move_centres(centres: &mut Centres, totals: &Totals, bounds: &mut [Bound]) {
    let mut shifts = vec![0.0f64; centres.count];
    for (cluster, shift) in shifts.iter_mut().enumerate() {
        let size = totals.sizes[cluster];
        if size == 0 {
            continue;
        }
        let mut moved = 0.0;
        for (old, sum) in centres.row_mut(cluster).iter_mut().zip(totals.sums.row(cluster)) {
            let new = sum / size as f64;
            moved += (new - *old) * (new - *old);
            *old = new;
        }
        *shift = moved.sqrt();
    }
    let (farthest, most, next) = two_largest(&shifts);
    for bound in bounds {
        bound.upper += shifts[bound.cluster as usize];
        bound.lower -= if bound.cluster == farthest { next } else { most };
    }
}

/// The place of the largest, the largest, and the next largest.
fn two_largest(numbers: &[f64]) -> (u32, f64, f64) {
    let minus: Vec<f64> = numbers.iter().map(|number| -number).collect();
    let (place, largest, next) = two_nearest(&minus);
    (place, -largest, if next.is_finite() { -next } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    fn numbers(seed: u64, count: usize) -> Vec<f32> {
        (0..count).map(|at| unit_f64(Key::new(seed).at(at, 0)) as f32).collect()
    }

    /// Points around centres far apart.
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
        kmeans(&vectors, k, 4, MAX_ITER, seed, &pool, &mut |_| ControlFlow::Continue(())).unwrap()
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

    /// Lloyd's iterations without bounds or blocks, from the same start.
    fn plain(values: &[f32], dim: usize, centres: &mut [Vec<f64>]) -> (Vec<usize>, f64) {
        let rows: Vec<Vec<f64>> =
            values.chunks(dim).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut before = Vec::new();
        loop {
            let of = |row: &Vec<f64>| {
                let order = (0..centres.len())
                    .min_by(|&a, &b| distance(row, &centres[a]).total_cmp(&distance(row, &centres[b])));
                order.unwrap()
            };
            let now: Vec<usize> = rows.iter().map(of).collect();
            if now == before {
                let inertia =
                    rows.iter().zip(&now).map(|(row, &cluster)| distance(row, &centres[cluster])).sum();
                return (now, inertia);
            }
            for (cluster, centre) in centres.iter_mut().enumerate() {
                let members: Vec<&Vec<f64>> =
                    rows.iter().zip(&now).filter(|(_, of)| **of == cluster).map(|(row, _)| row).collect();
                assert!(!members.is_empty(), "this start leaves no cluster empty");
                for (column, x) in centre.iter_mut().enumerate() {
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
            let nodes = Nodes { vectors: &vectors, rows: &rows };
            let key = Key::new(k as u64);
            let never = AtomicBool::new(false);
            let start = nodes.start(k, &mut Stream::new(key), &never).unwrap();
            let mut centres: Vec<Vec<f64>> = (0..k).map(|centre| start.row(centre)[..dim].to_vec()).collect();
            let (assignments, inertia) = plain(&values, dim, &mut centres);
            let found = nodes.cluster(k, MAX_ITER, key, &never).unwrap();
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
        let nodes = Nodes { vectors: &vectors, rows: &[0, 1, 2, 3, 4, 5] };
        let mut centres = Centres::zeros(2, 1);
        (centres.row_mut(0)[0], centres.row_mut(1)[0]) = (3.0, 1000.0);
        let unknown = Bound { cluster: u32::MAX, upper: f64::INFINITY, lower: 0.0 };
        let (mut bounds, mut totals) = (vec![unknown; 6], Totals::zeros(2, 1));
        assert!(nodes.assign(&centres, &mut bounds, &mut totals));
        assert_eq!(totals.sizes, [6, 0]);
        assert!(nodes.fill_empty(&centres, &mut bounds, &mut totals));
        assert_eq!((&totals.sizes[..], bounds[5].cluster), (&[5, 1][..], 1));
        assert_eq!(totals.sums.row(0)[0], 24.0);
    }

    #[test]
    fn draws_follow_the_distances() {
        let vectors = [0.0f32; 4];
        let vectors = Vectors::new(&vectors, 4, 1).unwrap();
        let nodes = Nodes { vectors: &vectors, rows: &[0, 1, 2, 3] };
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
        let sentence = |k, restarts, max_iter| check(k, 10, restarts, max_iter).unwrap_err().to_string();
        assert!(sentence(11, 1, 1).starts_with("k = 11 clusters of 10 nodes"));
        assert!(sentence(0, 1, 1).contains("k = 0"));
        assert!(sentence(1, 0, 1).contains("restarts = 0"));
        assert!(sentence(1, 1, 0).contains("max_iter = 0"));
    }
}

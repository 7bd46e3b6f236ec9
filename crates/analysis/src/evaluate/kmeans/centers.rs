//! Centers, the distances from them, and the state kept from one iteration to the next.
//!
//! Invariant: a node's bounds are valid in spite of rounding: `upper` is at least the distance to its center, and
//! `lower` at most the distance to any other center.

use super::Nodes;
use crate::evaluate::kernels::{GROUP, LANES, Lanes, four_distances, four_products, stride, totals};
use manyview_base::linalg::vector::{add_multiple, product};

/// Upper bound of the rounding error relative to the squared lengths, for vectors of fewer than 100,000 columns.
const ROUNDING: f64 = 1e-11;

/// The centers: one padded row each, followed by rows of zeros up to a multiple of [`GROUP`].
#[derive(Clone)]
pub(super) struct Centers {
    pub(super) count: usize,
    pub(super) stride: usize,
    pub(super) values: Vec<f64>,
}

/// The cluster of a node and the bounds of its distances.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) cluster: u32,
    /// Upper bound of the distance to its center.
    pub(super) upper: f64,
    /// Lower bound of the distance to any other center.
    pub(super) lower: f64,
}

/// The sum of the vectors of each cluster and their number. Also used for the changes of a block.
#[derive(Clone)]
pub(super) struct Totals {
    pub(super) sums: Centers,
    pub(super) sizes: Vec<i64>,
}

/// Buffers for the distances of one node, reused for the next.
pub(super) struct Scratch {
    pub(super) lanes: Vec<Lanes>,
    /// Squared distance from each center.
    pub(super) distances: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(centers: &Centers) -> Self {
        let lanes = vec![[[0.0; LANES]; GROUP]; centers.count.div_ceil(GROUP)];
        Scratch { lanes, distances: vec![0.0; centers.count] }
    }
}

impl Centers {
    pub(super) fn zeros(count: usize, dim: usize) -> Self {
        let stride = stride(dim);
        Centers { count, stride, values: vec![0.0; count.next_multiple_of(GROUP) * stride] }
    }

    pub(super) fn row(&self, center: usize) -> &[f64] {
        &self.values[center * self.stride..][..self.stride]
    }

    pub(super) fn row_mut(&mut self, center: usize) -> &mut [f64] {
        &mut self.values[center * self.stride..][..self.stride]
    }

    /// The squared length of each center.
    pub(super) fn norms(&self) -> Vec<f64> {
        (0..self.count).map(|center| product(self.row(center), self.row(center))).collect()
    }

    /// Squared distances from all centers, computed from inner products, which takes half the time.
    ///
    /// Their error is up to [`ROUNDING`] times the squared lengths, and they may be negative.
    #[inline(always)]
    pub(super) fn rough_distances(&self, wide: &[f64], norm: f64, norms: &[f64], scratch: &mut Scratch) {
        let groups = self.values.chunks_exact(GROUP * self.stride);
        for (four, lanes) in groups.zip(&mut scratch.lanes) {
            four_products(four, wide, lanes);
        }
        let found = scratch.distances.chunks_mut(GROUP).zip(norms.chunks(GROUP));
        for (lanes, (found, norms)) in scratch.lanes.iter().zip(found) {
            for ((found, product), center) in found.iter_mut().zip(totals(lanes)).zip(norms) {
                *found = (norm - 2.0 * product) + center;
            }
        }
    }

    /// Squared distances of a padded row from all centers.
    #[inline(always)]
    pub(super) fn distances(&self, wide: &[f64], scratch: &mut Scratch) {
        let groups = self.values.chunks_exact(GROUP * self.stride);
        for (four, lanes) in groups.zip(&mut scratch.lanes) {
            four_distances(four, wide, lanes);
        }
        for (lanes, found) in scratch.lanes.iter().zip(scratch.distances.chunks_mut(GROUP)) {
            found.copy_from_slice(&totals(lanes)[..found.len()]);
        }
    }

    #[inline(always)]
    pub(super) fn distance(&self, wide: &[f64], center: usize, scratch: &mut Scratch) -> f64 {
        let group = center / GROUP * GROUP;
        let four = &self.values[group * self.stride..][..GROUP * self.stride];
        four_distances(four, wide, &mut scratch.lanes[0]);
        totals(&scratch.lanes[0])[center - group]
    }

    /// Half the distance from each center to the nearest other center.
    pub(super) fn half_gaps(&self) -> Vec<f64> {
        let mut scratch = Scratch::new(self);
        let mut of = |center: usize| {
            self.distances(self.row(center), &mut scratch);
            let others = scratch.distances.iter().enumerate().filter(|(other, _)| *other != center);
            others.fold(f64::INFINITY, |least, (_, &distance)| least.min(distance)).sqrt() / 2.0
        };
        (0..self.count).map(&mut of).collect()
    }
}

impl Totals {
    pub(super) fn zeros(k: usize, dim: usize) -> Self {
        Totals { sums: Centers::zeros(k, dim), sizes: vec![0; k] }
    }

    /// Adds a node to a cluster (`sign` 1) or removes it (-1).
    #[inline(always)]
    pub(super) fn count(&mut self, cluster: u32, wide: &[f64], sign: i64) {
        add_multiple(self.sums.row_mut(cluster as usize), sign as f64, wide);
        self.sizes[cluster as usize] += sign;
    }

    pub(super) fn add(&mut self, moves: &Totals) {
        add_multiple(&mut self.sums.values, 1.0, &moves.sums.values);
        self.sizes.iter_mut().zip(&moves.sizes).for_each(|(size, moved)| *size += moved);
    }
}

/// The state of a run: its centers, and the bounds of each node.
pub(super) struct Run {
    pub(super) centers: Centers,
    pub(super) bounds: Vec<Bound>,
    pub(super) totals: Totals,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

impl Run {
    pub(super) fn new(nodes: &Nodes<'_>, centers: Centers) -> Self {
        // No cluster and an infinite distance, so that the first pass computes the distances of every node.
        let unknown = Bound { cluster: u32::MAX, upper: f64::INFINITY, lower: 0.0 };
        let totals = Totals::zeros(centers.count, nodes.vectors.dim());
        Run { centers, bounds: vec![unknown; nodes.rows.len()], totals, iterations: 0, converged: false }
    }

    /// Moves the centers to the means of their clusters, and widens the bounds by the distances moved.
    pub(super) fn move_centers(&mut self) {
        let Run { centers, totals, bounds, .. } = self;
        let mut shifts = vec![0.0f64; centers.count];
        for (cluster, shift) in shifts.iter_mut().enumerate() {
            let size = totals.sizes[cluster];
            if size == 0 {
                continue;
            }
            let mut moved = 0.0;
            for (old, sum) in centers.row_mut(cluster).iter_mut().zip(totals.sums.row(cluster)) {
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
}

/// Centers, and values derived from them once for all nodes.
pub(super) struct Look<'a> {
    pub(super) centers: &'a Centers,
    half_gaps: Vec<f64>,
    norms: Vec<f64>,
    longest: f64,
}

impl<'a> Look<'a> {
    pub(super) fn new(centers: &'a Centers) -> Self {
        let norms = centers.norms();
        let longest = norms.iter().fold(0.0f64, |most, &norm| most.max(norm));
        Look { centers, half_gaps: centers.half_gaps(), norms, longest }
    }

    /// The distance up to which a node's own center is certainly the nearest.
    #[inline(always)]
    pub(super) fn settled(&self, bound: &Bound) -> f64 {
        let gap = self.half_gaps.get(bound.cluster as usize);
        gap.map_or(f64::NEG_INFINITY, |gap| gap.max(bound.lower))
    }

    /// The nearest center of a padded row with this squared length.
    #[inline(always)]
    pub(super) fn nearest(&self, wide: &[f64], norm: f64, scratch: &mut Scratch) -> Bound {
        self.centers.rough_distances(wide, norm, &self.norms, scratch);
        let (cluster, nearest, second) = two_nearest(&scratch.distances);
        let slack = ROUNDING * (norm + self.longest);
        Bound { cluster, upper: (nearest.max(0.0) + slack).sqrt(), lower: (second - slack).max(0.0).sqrt() }
    }
}

/// The nearest center (the first, if tied), its squared distance, and the second smallest squared distance.
#[inline(always)]
pub(super) fn two_nearest(distances: &[f64]) -> (u32, f64, f64) {
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

/// The index of the largest number, the largest and the second largest number.
fn two_largest(numbers: &[f64]) -> (u32, f64, f64) {
    let minus: Vec<f64> = numbers.iter().map(|number| -number).collect();
    let (place, largest, next) = two_nearest(&minus);
    (place, -largest, if next.is_finite() { -next } else { 0.0 })
}

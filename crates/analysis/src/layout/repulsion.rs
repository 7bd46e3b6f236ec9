//! The repulsion between all points of the plane, approximated by Barnes and Hut: a distant cell counts as one point at
//! its center.
//!
//! For point i: `Z_i = sum_j 1 / (1 + d^2)` and `F_i = sum_j (y_i - y_j) / (1 + d^2)^2`. Points are sorted along a
//! Z-order curve, so that 16 consecutive points are close to each other. They traverse the tree together, a cell is
//! used as a whole if it is far from all of them, and the forces of the 16 points are computed in the lanes of vectors.
//!
//! Invariant: the tree and the groups depend on the points only, and each lane adds in the order of the traversal.

use rayon::prelude::*;

use manyview_base::linalg::kernels::vectorized;

/// Number of points that traverse the tree together.
const LANES: usize = 16;

/// A cell is far if its side is less than half its distance; this is the square of 1 / 2.
const FAR: f32 = 0.25;

/// Bits per coordinate in the Z-order curve, and the depth of the tree.
const BITS: u32 = 16;

/// Cells with fewer points are not divided.
const LEAF: usize = 8;

/// The repulsive forces between the points.
pub(super) struct Repulsion {
    /// `sum_i Z_i`.
    pub(super) normalizer: f64,
    /// `F_i`, in the order of the points.
    pub(super) forces: Vec<[f32; 2]>,
}

/// Computes the repulsion between all points.
pub(super) fn repulsion(points: &[[f32; 2]]) -> Repulsion {
    let tree = Tree::new(points);
    let groups: Vec<(Vec<[f32; 2]>, f64)> =
        tree.points.par_chunks(LANES).map_init(Vec::new, |list, group| tree.on_group(group, list)).collect();
    let mut forces = vec![[0.0; 2]; points.len()];
    let of_points = groups.iter().flat_map(|group| &group.0);
    for (&at, &force) in tree.order.iter().zip(of_points) {
        forces[at as usize] = force;
    }
    Repulsion { normalizer: groups.iter().map(|group| group.1).sum(), forces }
}

/// A square that contains points. Cells are in the order of the traversal: a cell is followed by its first part.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The center of its points.
    center: [f32; 2],
    mass: f32,
    /// The squared side length.
    size: f32,
    /// The first cell after this one and all its parts.
    next: u32,
    /// For a cell that is not divided: the range of its points in the order of the curve.
    leaf: Option<[u32; 2]>,
}

struct Tree {
    cells: Vec<Cell>,
    /// The points in the order of the curve, and their original indices.
    points: Vec<[f32; 2]>,
    order: Vec<u32>,
}

/// A position and a mass.
type Mass = [f32; 3];

impl Tree {
    fn new(points: &[[f32; 2]]) -> Self {
        let low = [0, 1].map(|axis| points.iter().map(|point| point[axis]).fold(f32::INFINITY, f32::min));
        let high =
            [0, 1].map(|axis| points.iter().map(|point| point[axis]).fold(f32::NEG_INFINITY, f32::max));
        let side = (high[0] - low[0]).max(high[1] - low[1]).max(f32::MIN_POSITIVE);
        let scale = ((1u32 << BITS) - 1) as f32 / side;
        let code = |point: &[f32; 2]| {
            let [x, y] = [0, 1].map(|axis| ((point[axis] - low[axis]) * scale) as u32);
            spread_bits(x) | spread_bits(y) << 1
        };
        let keyed = points.par_iter().enumerate().map(|(at, point)| u64::from(code(point)) << 32 | at as u64);
        let mut keys: Vec<u64> = keyed.collect();
        keys.par_sort_unstable();
        let order: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
        let codes: Vec<u32> = keys.iter().map(|&key| (key >> 32) as u32).collect();
        let points = order.iter().map(|&at| points[at as usize]).collect();
        let mut tree = Tree { cells: Vec::with_capacity(codes.len()), points, order };
        tree.divide(&codes, 0, codes.len(), 0, side * side);
        tree
    }

    /// Adds the cell of the points `first..last`, whose codes agree in their first `depth` pairs of bits.
    fn divide(&mut self, codes: &[u32], first: usize, last: usize, depth: u32, size: f32) -> [f64; 3] {
        let own = self.cells.len();
        let whole = last - first <= LEAF || depth == BITS;
        let leaf = whole.then_some([first as u32, last as u32]);
        self.cells.push(Cell { center: [0.0; 2], mass: 0.0, size, next: 0, leaf });
        let mut sums = [0.0f64; 3];
        if whole {
            for point in &self.points[first..last] {
                sums[0] += f64::from(point[0]);
                sums[1] += f64::from(point[1]);
            }
            sums[2] = (last - first) as f64;
        } else {
            let shift = 2 * (BITS - 1 - depth);
            let mut from = first;
            for quarter in 0..4 {
                let to = from + codes[from..last].partition_point(|code| code >> shift & 3 <= quarter);
                if to > from {
                    let part = self.divide(codes, from, to, depth + 1, size / 4.0);
                    sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                }
                from = to;
            }
        }
        let next = self.cells.len() as u32;
        let cell = &mut self.cells[own];
        cell.center = [(sums[0] / sums[2]) as f32, (sums[1] / sums[2]) as f32];
        (cell.mass, cell.next) = (sums[2] as f32, next);
        sums
    }

    /// The forces on some points that are close together, and the sum of their `Z_i`.
    fn on_group(&self, group: &[[f32; 2]], list: &mut Vec<Mass>) -> (Vec<[f32; 2]>, f64) {
        self.walk(group, list);
        let mut lanes = [[0.0; LANES]; 2];
        for (lane, point) in group.iter().enumerate() {
            (lanes[0][lane], lanes[1][lane]) = (point[0], point[1]);
        }
        let [x, y, z] = vectorized(
            #[inline(always)]
            || sum_up(&lanes, list),
        );
        // Each point was counted with itself at distance 0, which added 1 to its Z and nothing to its force.
        let normalizer = z[..group.len()].iter().map(|&z| f64::from(z) - 1.0).sum();
        ((0..group.len()).map(|lane| [x[lane], y[lane]]).collect(), normalizer)
    }

    /// Lists the masses that repel the group: far cells, and the points of near cells.
    fn walk(&self, group: &[[f32; 2]], list: &mut Vec<Mass>) {
        let low = [0, 1].map(|axis| group.iter().map(|point| point[axis]).fold(f32::INFINITY, f32::min));
        let high = [0, 1].map(|axis| group.iter().map(|point| point[axis]).fold(f32::NEG_INFINITY, f32::max));
        list.clear();
        let mut at = 0;
        while let Some(cell) = self.cells.get(at) {
            let gap =
                |axis: usize| (low[axis] - cell.center[axis]).max(cell.center[axis] - high[axis]).max(0.0);
            let distance = gap(0) * gap(0) + gap(1) * gap(1);
            if cell.size < FAR * distance {
                list.push([cell.center[0], cell.center[1], cell.mass]);
                at = cell.next as usize;
            } else if let Some([first, last]) = cell.leaf {
                let points = &self.points[first as usize..last as usize];
                list.extend(points.iter().map(|point| [point[0], point[1], 1.0]));
                at = cell.next as usize;
            } else {
                at += 1;
            }
        }
    }
}

/// The forces in both directions, and Z, of each lane.
#[inline(always)]
fn sum_up(points: &[[f32; LANES]; 2], list: &[Mass]) -> [[f32; LANES]; 3] {
    let [mut x, mut y, mut z] = [[0.0f32; LANES]; 3];
    for &[center_x, center_y, mass] in list {
        for lane in 0..LANES {
            let (dx, dy) = (points[0][lane] - center_x, points[1][lane] - center_y);
            let near = 1.0 / (1.0 + dx * dx + dy * dy);
            let pull = mass * near;
            let push = pull * near;
            z[lane] += pull;
            x[lane] += push * dx;
            y[lane] += push * dy;
        }
    }
    [x, y, z]
}

/// Inserts a zero between any two of the lower 16 bits.
fn spread_bits(bits: u32) -> u32 {
    let mut bits = bits & 0xffff;
    for (shift, mask) in [(8, 0x00ff_00ff), (4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, unit_f64};

    fn scattered(count: usize, width: f64) -> Vec<[f32; 2]> {
        let key = Key::new(2);
        // Denser toward a corner, since real maps are not uniform.
        (0..count).map(|at| [0, 1].map(|axis| (width * unit_f64(key.at(at, axis)).powi(3)) as f32)).collect()
    }

    fn naive(points: &[[f32; 2]]) -> (f64, Vec<[f64; 2]>) {
        let (mut z, mut forces) = (0.0, vec![[0.0; 2]; points.len()]);
        for (i, a) in points.iter().enumerate() {
            for (j, b) in points.iter().enumerate() {
                let d = [0, 1].map(|axis| f64::from(a[axis]) - f64::from(b[axis]));
                let near = 1.0 / (1.0 + d[0] * d[0] + d[1] * d[1]);
                z += if i == j { 0.0 } else { near };
                forces[i][0] += near * near * d[0];
                forces[i][1] += near * near * d[1];
            }
        }
        (z, forces)
    }

    #[test]
    fn forces_are_near_those_of_all_pairs() {
        for (count, width) in [(1, 1.0), (2, 3.0), (17, 5.0), (1000, 0.01), (1500, 80.0)] {
            let points = scattered(count, width);
            let (z, expected) = naive(&points);
            let found = repulsion(&points);
            assert!((found.normalizer - z).abs() <= 1e-2 * z + 1e-9, "{count}: {} {z}", found.normalizer);
            let size =
                |forces: &mut dyn Iterator<Item = f64>| forces.map(|force| force * force).sum::<f64>().sqrt();
            let error = size(
                &mut expected
                    .iter()
                    .zip(&found.forces)
                    .flat_map(|(a, b)| [a[0] - f64::from(b[0]), a[1] - f64::from(b[1])]),
            );
            let whole = size(&mut expected.iter().flatten().copied());
            assert!(error <= 2e-2 * whole + 1e-6, "{count}: {error} of {whole}");
        }
    }

    #[test]
    fn points_in_one_place_end_the_division() {
        let found = repulsion(&[[3.0, 3.0]; 100]);
        assert_eq!(found.normalizer, 9900.0);
        assert!(found.forces.iter().flatten().all(|&force| force == 0.0));
    }

    #[test]
    fn bits_are_spread() {
        assert_eq!(spread_bits(0b1011), 0b1000101);
        assert_eq!(spread_bits(0xffff), 0x5555_5555);
    }
}

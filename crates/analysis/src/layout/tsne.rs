//! t-SNE: moves points until points with a high affinity are near each other.
//!
//! Minimizes the divergence of `q_ij ~ 1 / (1 + |y_i - y_j|^2)` from the affinities `p_ij` by gradient descent, `dy_i =
//! sum_j p_ij n_ij (y_i - y_j) - F_i / Z` with `n_ij = 1 / (1 + d^2)` and the repulsion `F`, `Z`. The descent uses
//! momentum, a gain per coordinate, and exaggerated affinities in the first iterations, in which clusters form (van der
//! Maaten and Hinton; step size by Belkina et al.).
//!
//! Invariant: each point's step depends only on the points before the iteration.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::Step;
use super::repulsion::{Repulsion, repulsion};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_base::parallel::Pool;

const ITERATIONS: usize = 750;
const EXAGGERATED: usize = 250;
const EXAGGERATION: f32 = 12.0;

/// Maximum step length; otherwise a few nodes with a large gain would move far away.
const LONGEST_STEP: f32 = 5.0;

/// Moves the points by gradient descent.
pub(super) fn descend(
    affinities: &Csr<f32>,
    start: Vec<[f32; 2]>,
    pool: &Pool,
    watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Vec<[f32; 2]>> {
    let rate = (start.len() as f32 / EXAGGERATION).max(200.0);
    let mut points = start;
    let mut moving: Vec<Moving> = vec![Moving { speed: [0.0; 2], gain: [1.0; 2] }; points.len()];
    for iteration in 0..ITERATIONS {
        let (exaggeration, momentum) = if iteration < EXAGGERATED { (EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        points = pool.run(|| {
            let repulsion = repulsion(&points);
            let moved = |(at, moving): (usize, &mut Moving)| {
                let gradient = gradient(at, &points, affinities, exaggeration, &repulsion);
                moving.step(points[at], gradient, rate, momentum)
            };
            moving.par_iter_mut().enumerate().map(moved).collect()
        });
        center(&mut points);
        if watch(Step::Descent(iteration + 1, ITERATIONS)).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(points)
}

/// The speed and gain of a point.
#[derive(Clone, Copy)]
struct Moving {
    speed: [f32; 2],
    gain: [f32; 2],
}

impl Moving {
    /// Makes a step of gradient descent; returns the new position.
    fn step(&mut self, point: [f32; 2], gradient: [f32; 2], rate: f32, momentum: f32) -> [f32; 2] {
        for ((slope, speed), gain) in gradient.into_iter().zip(&mut self.speed).zip(&mut self.gain) {
            // The momentum points uphill: the point moved too far.
            let overshot = (slope > 0.0) == (*speed > 0.0);
            *gain = if overshot { *gain * 0.8 } else { *gain + 0.2 }.max(0.01);
            *speed = (momentum * *speed - rate * *gain * slope).clamp(-LONGEST_STEP, LONGEST_STEP);
        }
        [point[0] + self.speed[0], point[1] + self.speed[1]]
    }
}

fn gradient(
    at: usize,
    points: &[[f32; 2]],
    affinities: &Csr<f32>,
    exaggeration: f32,
    repulsion: &Repulsion,
) -> [f32; 2] {
    let (own, (others, p)) = (points[at], affinities.row(at));
    let mut attraction = [0.0f32; 2];
    for (&other, &p) in others.iter().zip(p) {
        let other = points[other as usize];
        let (dx, dy) = (own[0] - other[0], own[1] - other[1]);
        let pull = p / (1.0 + dx * dx + dy * dy);
        attraction[0] += pull * dx;
        attraction[1] += pull * dy;
    }
    let push = (1.0 / repulsion.normalizer) as f32;
    [0, 1].map(|axis| exaggeration * attraction[axis] - push * repulsion.forces[at][axis])
}

/// Centers the points; otherwise the map would drift away.
fn center(points: &mut [[f32; 2]]) {
    for axis in 0..2 {
        let sum: f64 = points.iter().map(|point| f64::from(point[axis])).sum();
        let mean = (sum / points.len() as f64) as f32;
        points.iter_mut().for_each(|point| point[axis] -= mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pairs with affinity within and none between: each pair ends close together, far from the other pair.
    #[test]
    fn affinity_is_nearness() {
        let p = Csr::new(4, vec![0, 1, 2, 3, 4], vec![1, 0, 3, 2], vec![0.25; 4]);
        let start = vec![[0.001, 0.0], [-0.001, 0.001], [0.0, 0.001], [0.0, -0.002]];
        let pool = Pool::new(Some(1)).unwrap();
        let found = descend(&p, start, &pool, &mut |_| ControlFlow::Continue(())).unwrap();
        let distance = |a: usize, b: usize| (found[a][0] - found[b][0]).hypot(found[a][1] - found[b][1]);
        let (within, between) = (distance(0, 1).max(distance(2, 3)), distance(0, 2).min(distance(1, 3)));
        assert!(between > 5.0 * within, "{within} within, {between} between");
    }
}

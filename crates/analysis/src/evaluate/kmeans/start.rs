//! The initial centers of k-means: greedy k-means++.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::Nodes;
use super::centers::{Centers, Scratch};
use crate::evaluate::kernels::block_rows;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::add_multiple;
use manyview_base::random::{Stream, unit_f64};

impl Nodes<'_> {
    /// Chooses the initial centers; returns `None` if canceled.
    pub(super) fn start(&self, k: usize, stream: &mut Stream, canceled: &AtomicBool) -> Option<Centers> {
        let mut centers = Centers::zeros(k, self.vectors.dim());
        // The same number of candidates as in scikit-learn, which rarely misses a distant cluster.
        let trials = 2 + libm::log(k as f64) as usize;
        let mut distances = vec![f64::INFINITY; self.rows.len()];
        for center in 0..k {
            if canceled.load(Ordering::Relaxed) {
                return None;
            }
            let drawn: Vec<usize> = match center {
                0 => vec![stream.below(self.rows.len() as u64) as usize],
                _ => (0..trials).map(|_| self.draw(&distances, stream)).collect(),
            };
            let (best, nearer) = self.best_candidate(&drawn, &distances);
            distances = nearer;
            self.widen(self.rows[drawn[best]], centers.row_mut(center));
        }
        Some(centers)
    }

    /// Draws a node with a probability proportional to its squared distance; uniformly if all distances are zero.
    pub(super) fn draw(&self, distances: &[f64], stream: &mut Stream) -> usize {
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
        // Rounding led past the last node, or all distances are zero.
        match distances.iter().rposition(|&distance| distance > 0.0) {
            Some(last) => last,
            None => stream.below(distances.len() as u64) as usize,
        }
    }

    /// The candidate that, as a new center, minimizes the sum of squared distances, and those distances.
    fn best_candidate(&self, drawn: &[usize], distances: &[f64]) -> (usize, Vec<f64>) {
        let mut candidates = Centers::zeros(drawn.len(), self.vectors.dim());
        for (candidate, &place) in drawn.iter().enumerate() {
            self.widen(self.rows[place], candidates.row_mut(candidate));
        }
        let (block, count) = (block_rows(self.rows.len()), drawn.len());
        let mut nearer = vec![0.0; count * self.rows.len()];
        let norms = candidates.norms();
        let nodes = self.rows.par_chunks(block).zip(self.norms.par_chunks(block));
        let blocks = nodes.zip(distances.par_chunks(block));
        type Block<'a> = (((&'a [u32], &'a [f64]), &'a [f64]), &'a mut [f64]);
        let of_block = |(((rows, own), distances), nearer): Block<'_>| {
            let mut sums = vec![0.0; count];
            let (mut wide, mut scratch) = (vec![0.0; candidates.stride], Scratch::new(&candidates));
            vectorized(
                #[inline(always)]
                || {
                    let known = rows.iter().zip(own).zip(distances);
                    for (((&row, &norm), &before), nearer) in known.zip(nearer.chunks_exact_mut(count)) {
                        self.widen(row, &mut wide);
                        candidates.rough_distances(&wide, norm, &norms, &mut scratch);
                        for ((sum, nearer), distance) in sums.iter_mut().zip(nearer).zip(&scratch.distances) {
                            *nearer = distance.clamp(0.0, before);
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
            (0..count).rev().min_by(|&a, &b| sums[a].total_cmp(&sums[b])).expect("there is a candidate");
        (best, nearer.into_iter().skip(best).step_by(count).collect())
    }
}

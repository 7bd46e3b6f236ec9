//! Affinities between near rows: the distribution that the map approximates.
//!
//! The neighbors j of row i have `p_j|i ~ exp(-b_i d_ij^2)`, where `b_i` is chosen so that the entropy of the
//! distribution is the logarithm of the perplexity; `p_ij = (p_j|i + p_i|j) / 2n`.
//!
//! Invariant: affinities are symmetric and sum to 1.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::Step;
use crate::neighbors::{Rows, search};
use manyview_base::error::Result;
use manyview_base::linalg::Csr;
use manyview_base::parallel::Pool;

/// Number of bisection steps for `b_i`; the entropy is then more accurate than f32.
const HALVINGS: usize = 50;

/// The `3 x perplexity` nearest rows of each row, or all others if there are fewer, with their squared distances.
pub(super) fn nearest(
    x: &[f32],
    rows: usize,
    perplexity: f64,
    pool: &Pool,
    watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Csr<f64>> {
    let dim = x.len() / rows;
    let count = ((3.0 * perplexity) as usize).min(rows - 1);
    let row = |row: u32| &x[row as usize * dim..][..dim];
    // The nearest y has the largest <x, y> - |y|^2 / 2.
    let half_norm = |y: &[f32]| -0.5 * y.iter().map(|value| value * value).sum::<f32>();
    let bias: Vec<f32> = (0..rows as u32).map(|y| half_norm(row(y))).collect();
    let all: Vec<u32> = (0..rows as u32).collect();
    let searched = Rows { dim, values: x, bias: &bias };
    let found = search(&searched, &all, count, pool, &mut |done| watch(Step::Neighbors(done, rows)))?;
    // The scores of near rows are inaccurate, so the distances are computed directly.
    let distance = |a: u32, b: u32| {
        let differences = row(a).iter().zip(row(b)).map(|(&a, &b)| f64::from(a) - f64::from(b));
        differences.map(|difference| difference * difference).sum::<f64>()
    };
    let of_row = |(own, mut found): (usize, Vec<_>)| {
        found.sort_unstable_by_key(|scored: &crate::neighbors::Scored| scored.row);
        let distances = found.iter().map(|scored| distance(own as u32, scored.row)).collect();
        Csr::new(rows, vec![0, found.len()], found.iter().map(|scored| scored.row).collect(), distances)
    };
    let blocks = pool.run(|| found.into_par_iter().enumerate().map(of_row).collect());
    Ok(Csr::stack(rows, blocks))
}

/// Affinities from squared distances.
pub(super) fn affinities(distances: &Csr<f64>, rows: usize, perplexity: f64, pool: &Pool) -> Csr<f32> {
    // With few rows, there are fewer neighbors than the perplexity requires; a third of their number is usual.
    let perplexity = perplexity.min((rows - 1) as f64 / 3.0).max(1.0);
    let of_row = |row: usize| conditional(distances.row(row).1, perplexity);
    let seen: Vec<f64> = pool.run(|| (0..rows).into_par_iter().flat_map_iter(of_row).collect());
    let seen = distances.with_values(seen);
    symmetric(&seen, &seen.transpose(), 0.5 / rows as f64)
}

/// The distribution over the neighbors of one row.
fn conditional(distances: &[f64], perplexity: f64) -> Vec<f64> {
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    // The scale of the distances, as a good initial value.
    let mean = distances.iter().map(|distance| distance - nearest).sum::<f64>() / distances.len() as f64;
    if mean <= 0.0 {
        return vec![1.0 / distances.len() as f64; distances.len()];
    }
    let (mut low, mut high, mut beta) = (0.0, f64::INFINITY, 1.0 / mean);
    let weights = |beta: f64| distances.iter().map(move |distance| libm::exp(-beta * (distance - nearest)));
    for _ in 0..HALVINGS {
        let sum: f64 = weights(beta).sum();
        let mean = distances.iter().zip(weights(beta)).map(|(d, w)| (d - nearest) * w).sum::<f64>() / sum;
        let entropy = libm::log(sum) + beta * mean;
        if entropy > libm::log(perplexity) {
            low = beta;
            beta = if high.is_finite() { (low + high) / 2.0 } else { 2.0 * beta };
        } else {
            high = beta;
            beta = (low + high) / 2.0;
        }
    }
    let sum: f64 = weights(beta).sum();
    weights(beta).map(|weight| weight / sum).collect()
}

/// `scale (A + B)` for two matrices with ascending columns.
fn symmetric(a: &Csr<f64>, b: &Csr<f64>, scale: f64) -> Csr<f32> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..a.rows() {
        let ((a_cols, a_values), (b_cols, b_values)) = (a.row(row), b.row(row));
        let (mut at_a, mut at_b) = (0, 0);
        while at_a < a_cols.len() || at_b < b_cols.len() {
            let col_a = a_cols.get(at_a).copied().unwrap_or(u32::MAX);
            let col_b = b_cols.get(at_b).copied().unwrap_or(u32::MAX);
            let mut sum = 0.0;
            if col_a <= col_b {
                sum += a_values[at_a];
                at_a += 1;
            }
            if col_b <= col_a {
                sum += b_values[at_b];
                at_b += 1;
            }
            indices.push(col_a.min(col_b));
            values.push((scale * sum) as f32);
        }
        indptr.push(indices.len());
    }
    Csr::new(a.cols(), indptr, indices, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entropy_is_that_of_the_perplexity() {
        let distances: Vec<f64> = (1..=60).map(|at| 0.01 * f64::from(at * at)).collect();
        let p = conditional(&distances, 20.0);
        let entropy: f64 = p.iter().map(|&p| -p * p.ln()).sum();
        assert!((entropy - 20f64.ln()).abs() < 1e-6, "{}", entropy.exp());
        assert!(p.is_sorted_by(|a, b| a > b));
    }

    #[test]
    fn equal_distances_share_equally() {
        assert_eq!(conditional(&[2.0; 4], 3.0), [0.25; 4]);
    }

    #[test]
    fn affinities_are_symmetric_and_sum_to_one() {
        let x: Vec<f32> = (0..50).flat_map(|at| [(at as f32).sin(), (at * at % 7) as f32]).collect();
        let pool = Pool::new(Some(2)).unwrap();
        let near = nearest(&x, 50, 4.0, &pool, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!((0..50).all(|row| near.row(row).0.len() == 12));
        let p = affinities(&near, 50, 4.0, &pool);
        assert_eq!(p, p.transpose());
        let sum: f64 = p.values().iter().map(|&p| f64::from(p)).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }
}

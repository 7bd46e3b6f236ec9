//! A start from singular vectors (`init svd`), which does not depend on the seed.
//!
//! Of each pair of singular vectors `s x yᵀ`, the positive or the negative parts of both are taken, whichever product is
//! larger: with `x⁺`, `y⁺` as unit vectors of lengths `p` and `q`, a column of U is `sqrt(s p q) x⁺` and a row of V is `sqrt(s p q)
//! y⁺` (Boutsidis and Gallopoulos, NNDSVD). Zeros stay zeros in the start; coordinate descent can leave them.

use manyview_base::linalg::svd::{Svd, truncated};
use manyview_base::linalg::{Dense, Tiles};

use super::Start;

/// Blocks of the Krylov iteration beyond those for the columns: accurate vectors are not needed.
const ITERATIONS: usize = 1;

/// A start for the sum of some matrices, on the threads of the current pool. Each of the targets, which have these means, gets its
/// share of V. Columns beyond the rank of the sum stay `random`. `going` gets the share that is done; when it returns false, the
/// result is `None`.
pub fn singular_start(
    parts: &[&Tiles<f32>],
    means: &[f64],
    random: Start<f32>,
    going: &(dyn Fn(f64) -> bool + Sync),
) -> Option<Start<f32>> {
    let Start { mut u, mut v_t } = random;
    let found = truncated(parts, u.width(), ITERATIONS, going)?;
    let total: f64 = means.iter().sum();
    for col in 0..u.width() {
        let Some((left, right)) = non_negative(&found, col) else { continue };
        left.iter().enumerate().for_each(|(row, &x)| u.row_mut(row)[col] = x);
        for (v_t, mean) in v_t.iter_mut().zip(means) {
            let share = (mean / total) as f32;
            right.iter().enumerate().for_each(|(row, &x)| v_t.row_mut(row)[col] = share * x);
        }
    }
    Some(Start { u, v_t })
}

/// A column of U and a row of V; `None` beyond the rank of the matrix.
fn non_negative(svd: &Svd, col: usize) -> Option<(Vec<f32>, Vec<f32>)> {
    let part = |side: &Dense<f32>, sign: f32| -> Vec<f32> {
        (0..side.rows()).map(|row| (sign * side.row(row)[col]).max(0.0)).collect()
    };
    let length = |x: &[f32]| x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let parts = [1.0, -1.0].map(|sign| {
        let (left, right) = (part(&svd.left, sign), part(&svd.right, sign));
        let (p, q) = (length(&left), length(&right));
        (left, right, p, q)
    });
    let [positive, negative] = parts;
    let larger = if positive.2 * positive.3 >= negative.2 * negative.3 { positive } else { negative };
    let (mut left, mut right, p, q) = larger;
    let size = (svd.values[col] * p * q).sqrt();
    if size == 0.0 {
        return None;
    }
    left.iter_mut().for_each(|x| *x *= (size / p) as f32);
    right.iter_mut().for_each(|x| *x *= (size / q) as f32);
    Some((left, right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::linalg::Csr;

    /// The blocks of such a matrix are its singular vectors.
    #[test]
    fn blocks_are_found_exactly() {
        let value = |row: usize, col: usize| (row % 3 == col % 3).then_some(1.0 + (row % 3) as f32);
        let entries =
            (0..30).flat_map(|row| (0..24).filter_map(move |col| Some((row, col, value(row, col)?))));
        let matrix = Csr::from_triplets(30, 24, entries.collect::<Vec<_>>());
        let found = truncated(&[&Tiles::from_csr(&matrix)], 4, 2, &|_| true).unwrap();
        let columns: Vec<_> = (0..3).map(|col| non_negative(&found, col).unwrap()).collect();
        for row in 0..30 {
            for col in 0..24 {
                let product: f32 = columns.iter().map(|(u, v)| u[row] * v[col]).sum();
                assert!((product - value(row, col).unwrap_or(0.0)).abs() < 1e-4);
            }
        }
        assert!(non_negative(&found, 3).is_none(), "the rank is three");
    }
}

//! Non-negative least squares for one row: minimizes `|r - x V|^2` over `x >= 0`, given `G = V Vᵀ` and `b = r Vᵀ`.
//!
//! Coordinate descent, as in the fit, until nothing moves. The gradient `x G - b` is kept up to date, so a coordinate that stays costs
//! nothing. In f64: the result is the minimum to the last digits that f32 has, whatever the condition of G.

use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::add_multiple;

/// A row is solved when a sweep moves no product `x_t V_t` by more than this share of the longest that one column alone could give.
const TOLERANCE: f64 = 1e-7;

/// Sweeps, at most. Columns that are almost the same converge slowly, and then the product has converged long before.
const MOST_SWEEPS: usize = 1000;

/// Solves one row, from zero. `gram` is `width x width`; a column of zeros gets 0.
pub(super) fn solve(gram: &[f64], b: &[f64]) -> Vec<f64> {
    let width = b.len();
    debug_assert_eq!(gram.len(), width * width, "the Gram matrix is square");
    let mut x = vec![0.0; width];
    let mut gradient: Vec<f64> = b.iter().map(|b| -b).collect();
    let norms: Vec<f64> = (0..width).map(|at| gram[at * width + at].sqrt()).collect();
    let lengths = b.iter().zip(&norms).map(|(b, norm)| if *norm > 0.0 { b / norm } else { 0.0 });
    let enough = TOLERANCE * lengths.fold(0.0, f64::max);
    vectorized(
        #[inline(always)]
        || {
            for _ in 0..MOST_SWEEPS {
                let mut moved = 0.0;
                for at in 0..width {
                    let curvature = gram[at * width + at];
                    if curvature <= 0.0 {
                        continue;
                    }
                    let new = x[at] - gradient[at] / curvature;
                    let new = if new > 0.0 { new } else { 0.0 };
                    let step: f64 = new - x[at];
                    if step != 0.0 {
                        x[at] = new;
                        add_multiple(&mut gradient, step, &gram[at * width..][..width]);
                        moved = f64::max(moved, step.abs() * norms[at]);
                    }
                }
                if moved <= enough {
                    break;
                }
            }
        },
    );
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::linalg::Dense;
    use manyview_base::linalg::gram::gram;

    /// The conditions of Karush, Kuhn and Tucker: no gradient where x is above zero, none that points down where it is zero.
    #[test]
    fn the_result_is_the_minimum() {
        for (rows, width) in [(40, 1), (40, 7), (300, 33), (5, 9)] {
            let value = |row: usize, col: usize| ((row * 31 + col * 17 + row * col) % 23) as f64 / 7.0;
            let v = Dense::from_fn(rows, width, |row, col| if col == 3 { 0.0 } else { value(row, col) });
            let target: Vec<f64> = (0..rows).map(|row| ((row * 13) % 11) as f64 - 3.0).collect();
            let b: Vec<f64> =
                (0..width).map(|t| (0..rows).map(|row| target[row] * v.row(row)[t]).sum()).collect();
            let gram = gram(&v);
            let x = solve(&gram, &b);
            let largest = b.iter().fold(0.0f64, |most, b| most.max(b.abs()));
            for t in 0..width {
                let gradient: f64 = (0..width).map(|s| gram[t * width + s] * x[s]).sum::<f64>() - b[t];
                assert!(x[t] >= 0.0);
                let slope = if x[t] > 0.0 { gradient.abs() } else { -gradient };
                assert!(slope <= 1e-4 * largest, "{rows} x {width}, column {t}: {gradient} at {}", x[t]);
            }
            assert!(width < 4 || x[3] == 0.0);
        }
    }
}

//! Non-negative least squares for one row: minimizes `|r - x V|^2` over `x >= 0`, given `G = V Vᵀ` and `b = r Vᵀ`.
//!
//! Coordinate descent, as in the fit, finds out in a few sweeps which coordinates are above zero; given these, the minimum is the solution of
//! linear equations. So after each few sweeps the row moves towards that solution, as far as all coordinates stay above zero:
//!
//! ```text
//! x_F += a d   with   G_FF d = (b - x G)_F   and the largest a <= 1 with x_F + a d >= 0
//! ```
//!
//! Both kinds of step only lower the error. The row is solved when a sweep moves nothing. The gradient `x G - b` is kept up to date, so a
//! coordinate that stays costs nothing. In f64: the result is the minimum to the last digits that f32 has, whatever the condition of G.

use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::{add_multiple, product};

/// A row is solved when a sweep moves no product `x_t V_t` by more than this share of the longest that one column alone could give.
const TOLERANCE: f64 = 1e-7;

/// Sweeps between two steps by linear equations.
const SWEEPS: usize = 3;

/// Rounds of sweeps and equations, at most. Columns that are almost the same converge slowly, and then the product has converged long before.
const MOST_ROUNDS: usize = 400;

/// Below this share of what it was, a pivot is rounding: the columns above zero depend on each other, and only sweeps go on.
const DEPENDENT: f64 = 1e-12;

/// The matrix of the problems of many rows.
pub(super) struct Problem {
    width: usize,
    gram: Vec<f64>,
    /// The lengths of the columns: the roots of the diagonal.
    norms: Vec<f64>,
}

/// The state of a row.
struct Row {
    x: Vec<f64>,
    gradient: Vec<f64>,
}

impl Problem {
    /// `gram` is `width x width`.
    pub(super) fn new(gram: Vec<f64>, width: usize) -> Self {
        debug_assert_eq!(gram.len(), width * width, "the Gram matrix is square");
        let norms = (0..width).map(|at| gram[at * width + at].sqrt()).collect();
        Problem { width, gram, norms }
    }

    /// Solves one row, from zero. A column of zeros gets 0.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let lengths = b.iter().zip(&self.norms).map(|(b, norm)| if *norm > 0.0 { b / norm } else { 0.0 });
        let enough = TOLERANCE * lengths.fold(0.0, f64::max);
        let mut row = Row { x: vec![0.0; self.width], gradient: b.iter().map(|b| -b).collect() };
        vectorized(
            #[inline(always)]
            || {
                for _ in 0..MOST_ROUNDS {
                    for _ in 0..SWEEPS {
                        if self.sweep(&mut row) <= enough {
                            return;
                        }
                    }
                    self.jump(&mut row);
                }
            },
        );
        row.x
    }

    /// The part of a row of G.
    #[inline(always)]
    fn row(&self, at: usize) -> &[f64] {
        &self.gram[at * self.width..][..self.width]
    }

    /// Moves each coordinate to its minimum given the others; returns the largest move of a product `x_t V_t`.
    #[inline(always)]
    fn sweep(&self, Row { x, gradient }: &mut Row) -> f64 {
        let mut moved = 0.0;
        for at in 0..self.width {
            let of_row = self.row(at);
            let curvature = of_row[at];
            if curvature <= 0.0 {
                continue;
            }
            let new = x[at] - gradient[at] / curvature;
            let new = if new > 0.0 { new } else { 0.0 };
            let step: f64 = new - x[at];
            if step != 0.0 {
                x[at] = new;
                add_multiple(gradient, step, of_row);
                moved = f64::max(moved, step.abs() * self.norms[at]);
            }
        }
        moved
    }

    /// Moves the coordinates above zero towards their common minimum.
    #[inline(always)]
    fn jump(&self, Row { x, gradient }: &mut Row) {
        let free: Vec<usize> = (0..self.width).filter(|&at| x[at] > 0.0).collect();
        let Some(direction) = self.newton(&free, gradient) else { return };
        let mut share = 1.0;
        let mut first_at_zero = None;
        for (&at, &step) in free.iter().zip(&direction) {
            if step < 0.0 && x[at] < -step * share {
                (share, first_at_zero) = (-x[at] / step, Some(at));
            }
        }
        for (&at, &step) in free.iter().zip(&direction) {
            let new = x[at] + share * step;
            let new = if new > 0.0 && first_at_zero != Some(at) { new } else { 0.0 };
            let step = new - x[at];
            x[at] = new;
            add_multiple(gradient, step, self.row(at));
        }
    }

    /// The step to the minimum over some coordinates, by a factorization `L Lᵀ` of their part of G; `None` if they depend on each other.
    #[inline(always)]
    fn newton(&self, free: &[usize], gradient: &[f64]) -> Option<Vec<f64>> {
        let size = free.len();
        let mut lower = vec![0.0; size * size];
        let mut step: Vec<f64> = free.iter().map(|&at| -gradient[at]).collect();
        for (at, &row) in free.iter().enumerate() {
            let (done, rest) = lower.split_at_mut(at * size);
            let of_row = &mut rest[..=at];
            for (other, &col) in free[..at].iter().enumerate() {
                let of_other = &done[other * size..][..=other];
                let sum = product(&of_row[..other], &of_other[..other]);
                of_row[other] = (self.row(row)[col] - sum) / of_other[other];
            }
            let diagonal = self.row(row)[row];
            let pivot = diagonal - product(&of_row[..at], &of_row[..at]);
            if pivot <= DEPENDENT * diagonal {
                return None;
            }
            of_row[at] = pivot.sqrt();
            step[at] = (step[at] - product(&of_row[..at], &step[..at])) / of_row[at];
        }
        for at in (0..size).rev() {
            step[at] /= lower[at * size + at];
            let solved = step[at];
            add_multiple(&mut step[..at], -solved, &lower[at * size..][..at]);
        }
        Some(step)
    }
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
            // A column of zeros, and two that are the same: no equations have one solution with both.
            let v = Dense::from_fn(rows, width, |row, col| match col {
                3 => 0.0,
                2 => value(row, 1),
                _ => value(row, col),
            });
            let target: Vec<f64> = (0..rows).map(|row| ((row * 13) % 11) as f64 - 3.0).collect();
            let b: Vec<f64> =
                (0..width).map(|t| (0..rows).map(|row| target[row] * v.row(row)[t]).sum()).collect();
            let gram = gram(&v);
            let x = Problem::new(gram.clone(), width).solve(&b);
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

//! A start that is computed on a sample of the rows.
//!
//! The first iterations find out what the columns are about, for which a part of the rows is enough. Of all rows with
//! entries, in order, every second to tenth is taken: so the sample does not depend on ranks, a view of few nodes is not
//! reduced to a handful, and networks whose nodes are sorted by class are sampled evenly.

use manyview_base::linalg::sum::squared_norm_of_sum;
use manyview_base::linalg::{Dense, Real, Tiles, filled_in_any};

use super::accelerated::{Descent, Step};
use super::problem::Problem;
use super::stop::explains_too_little;
use super::{Start, StopRule, Target};
use crate::comm;

/// Samples have at least this many rows. Smaller ones end in worse local minima: with 400 rows, 4 % more is left of acm
/// than with plain HALS, with 1,000 rows 0.4 %.
const ROWS: usize = 1000;
/// And at least this many for each column.
const ROWS_PER_COLUMN: usize = 20;
/// But they have every tenth row at least.
const LARGEST_STEP: usize = 10;
/// Iterations on the sample, and the relative decrease of the objective that ends them.
const ITERATIONS: usize = 10;
const TOL: f64 = 1e-3;
/// Sweeps of U in the first iteration with all rows: those that were not in the sample begin at zero.
const SWEEPS_AFTER: usize = 8;

/// The share of the rows in the sample, of `rows` that have entries; `None` if all are needed.
pub fn sampled_share(rows: usize, width: usize) -> Option<f64> {
    let step = step(rows, width);
    (step > 1).then(|| 1.0 / step as f64)
}

/// Every so many rows are in the sample.
fn step(rows: usize, width: usize) -> usize {
    (rows / ROWS.max(ROWS_PER_COLUMN * width)).clamp(1, LARGEST_STEP)
}

/// The first state of the iterations, after those on the sample if there is one.
pub(super) fn start<T: Real>(problem: &Problem<'_, T>, start: Start<T>) -> Descent<T> {
    let filled = filled_rows(problem);
    let counts: Vec<usize> =
        comm::gather(problem.comm, [filled.len() as f64]).iter().map(|[rows]| *rows as usize).collect();
    let before: usize = counts[..problem.comm.rank()].iter().sum();
    let step = step(counts.iter().sum(), start.u.width());
    if step == 1 {
        return Descent::new(problem, start, problem.equal_weights());
    }
    let first = before.next_multiple_of(step) - before;
    let rows: Vec<usize> = filled.into_iter().skip(first).step_by(step).collect();
    let parts: Vec<Vec<Tiles<T>>> = problem.pool.run(|| {
        problem
            .targets
            .iter()
            .map(|target| target.parts.iter().map(|part| part.rows_at(&rows)).collect())
            .collect()
    });
    let mut targets = Vec::new();
    for (parts, target) in parts.iter().zip(problem.targets) {
        let parts: Vec<&Tiles<T>> = parts.iter().collect();
        let squared_norm = comm::sum(problem.comm, problem.pool.run(|| squared_norm_of_sum(&parts)));
        // Errors of the sample stand for those of all rows.
        let unit = target.unit * squared_norm / target.squared_norm;
        targets.push(Target { parts, squared_norm, unit });
    }
    // A view without entries in the sample would be lost.
    if targets.iter().any(|target| target.squared_norm <= 0.0) {
        return Descent::new(problem, start, problem.equal_weights());
    }
    let Start { mut u, v_t } = start;
    let u_rows = Dense::from_fn(rows.len(), u.width(), |row, col| u.row(rows[row])[col]);
    let on_sample = Problem { targets: &targets, ..*problem };
    let mut descent = Descent::new(&on_sample, Start { u: u_rows, v_t }, problem.equal_weights());
    descend(&on_sample, &mut descent);
    u.padded_mut().fill(T::ZERO);
    for (at, &row) in rows.iter().enumerate() {
        u.row_mut(row).copy_from_slice(descent.u.row(at));
    }
    let mut whole = Descent::new(problem, Start { u, v_t: descent.v_t }, descent.weights);
    whole.u_sweeps = SWEEPS_AFTER;
    whole
}

fn descend<T: Real>(problem: &Problem<'_, T>, descent: &mut Descent<T>) {
    let (mut last, norm) = (f64::INFINITY, problem.norms_in_units().iter().sum());
    for _ in 0..ITERATIONS {
        let step = descent.step(problem);
        let sum: f64 = problem.measured(&descent.errors).iter().sum();
        let ended = match step {
            Step::Accepted if problem.settings.stop == StopRule::Explained => {
                explains_too_little(norm, last, sum, problem.settings.tol)
            }
            Step::Accepted => last - sum < TOL * last,
            Step::Rejected => false,
            Step::Stuck => true,
        };
        let [ended] = problem.vote([ended]);
        if ended {
            break;
        }
        last = sum;
    }
}

/// The rows of this rank that have entries in any target, in ascending order.
fn filled_rows<T: Real>(problem: &Problem<'_, T>) -> Vec<usize> {
    let parts = problem.parts();
    let filled = problem.pool.run(|| filled_in_any(&parts, Tiles::filled_rows));
    (0..filled.len()).filter(|&row| filled[row]).collect()
}

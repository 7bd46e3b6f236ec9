//! Properties of one stage that hold for any data.

use std::ops::ControlFlow;

use crate::common::{dense, sparse, squared_norm};
use manyview_base::linalg::{Csr, Dense, Real, Tiles};
use manyview_base::parallel::Pool;
use manyview_core::comm::Local;
use manyview_core::nmf::{Factors, Iteration, Settings, Start, Target, factorize_watched};
use manyview_core::nmf::{Solver, StopRule};
use manyview_core::residual::subtract;
use proptest::prelude::*;

const NODES: usize = 70;

fn settings(solver: Solver, gamma: f64, max_iter: usize) -> Settings {
    // With a negative tol, it never stops early.
    Settings { solver, gamma, max_iter, tol: -1.0, stop: StopRule::Decrease, epsilon: 0.0 }
}

fn solve<T: Real>(matrices: &[Csr<T>], start: Start<T>, settings: &Settings) -> Factors<T> {
    let tiles: Vec<_> = matrices.iter().map(Tiles::from_csr).collect();
    let targets: Vec<_> =
        tiles.iter().zip(matrices).map(|(tiles, matrix)| Target::new(tiles, squared_norm(matrix))).collect();
    let pool = Pool::new(Some(2)).unwrap();
    let mut go_on = |_: Iteration| ControlFlow::Continue(());
    factorize_watched(&targets, start, settings, &pool, &Local, &mut go_on).unwrap()
}

fn start<T: Real>(views: usize, width: usize) -> Start<T> {
    Start {
        u: dense(NODES, width, 1),
        v_t: (0..views).map(|view| dense(NODES, width, 2 + view as u64)).collect(),
    }
}

fn matrices<T: Real>(views: usize) -> Vec<Csr<T>> {
    (0..views).map(|view| sparse(NODES, NODES, 0.08 + 0.05 * view as f64, 100 + view as u64)).collect()
}

fn product(u: &Dense<f64>, v_t: &Dense<f64>, row: usize, col: usize) -> f64 {
    u.row(row).iter().zip(v_t.row(col)).map(|(x, y)| x * y).sum()
}

fn largest<T: Real>(x: &Dense<T>) -> f64 {
    (0..x.rows()).flat_map(|row| x.row(row)).map(|x| x.to_f64()).fold(0.0, f64::max)
}

/// Plain NMF on dense arrays, as in textbooks.
mod naive {
    pub(super) fn mu(r: &[Vec<f64>], u: &mut [Vec<f64>], v: &mut [Vec<f64>]) {
        let (n, m, d) = (r.len(), r[0].len(), v.len());
        let ratio = |x: f64, num: f64, den: f64| if den > 0.0 { x * num / den } else { 0.0 };
        let old = u.to_vec();
        for i in 0..n {
            for t in 0..d {
                let num: f64 = (0..m).map(|j| r[i][j] * v[t][j]).sum();
                let den: f64 =
                    (0..d).map(|s| old[i][s] * (0..m).map(|j| v[s][j] * v[t][j]).sum::<f64>()).sum();
                u[i][t] = ratio(old[i][t], num, den);
            }
        }
        let old = v.to_vec();
        for t in 0..d {
            for j in 0..m {
                let num: f64 = (0..n).map(|i| u[i][t] * r[i][j]).sum();
                let den: f64 =
                    (0..d).map(|s| (0..n).map(|i| u[i][t] * u[i][s]).sum::<f64>() * old[s][j]).sum();
                v[t][j] = ratio(old[t][j], num, den);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// For gamma above 1 no iteration increases the objective; factors stay finite and non-negative.
    #[test]
    fn objective_never_rises(
        seed in 0u64..1000, views in 1usize..5, width in 1usize..10, solver in 0usize..3, gamma in 1.01f64..50.0,
    ) {
        let matrices: Vec<Csr<f64>> =
            (0..views).map(|view| sparse(NODES, NODES, 0.02 + 0.1 * view as f64, seed + view as u64)).collect();
        let solver = Solver::ALL[solver];
        let found = solve(&matrices, start(views, width), &settings(solver, gamma, 25));
        for pair in found.objective.windows(2) {
            prop_assert!(pair[1] <= pair[0] * (1.0 + 1e-10), "{} after {}", pair[1], pair[0]);
        }
        for factor in found.v_t.iter().chain([&found.u]) {
            let numbers = (0..factor.rows()).flat_map(|row| factor.row(row));
            prop_assert!(numbers.clone().all(|x| x.is_finite() && *x >= 0.0));
        }
        prop_assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// The error computed without a pass over the matrix is correct.
    #[test]
    fn error_is_that_of_the_product(seed in 0u64..1000, width in 1usize..8, solver in 0usize..3) {
        let matrix = sparse::<f64>(NODES, NODES, 0.1, seed);
        let solver = Solver::ALL[solver];
        let found = solve(std::slice::from_ref(&matrix), start(1, width), &settings(solver, 5.0, 7));
        let mut error = 0.0;
        for row in 0..NODES {
            let mut values = vec![0.0; NODES];
            for (&col, &value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                values[col as usize] = value;
            }
            for (col, value) in values.iter().enumerate() {
                error += (value - product(&found.u, &found.v_t[0], row, col)).powi(2);
            }
        }
        prop_assert!((found.errors[0] - error).abs() <= 1e-9 * squared_norm(&matrix));
    }

    /// No entry of a residual is larger than before, and there are no new entries.
    #[test]
    fn residual_never_grows(seed in 0u64..1000, width in 1usize..8) {
        let matrix = sparse::<f32>(NODES, NODES, 0.1, seed);
        let mut tiles = Tiles::from_csr(&matrix);
        subtract(&mut tiles, &dense(NODES, width, seed), &dense(NODES, width, seed + 1), 0.3, &Pool::new(Some(2)).unwrap());
        let residual = tiles.to_csr();
        for row in 0..NODES {
            for (col, &value) in residual.row(row).0.iter().zip(residual.row(row).1) {
                let at = matrix.row(row).0.binary_search(col);
                prop_assert!(at.is_ok_and(|at| value > 0.0 && value <= matrix.row(row).1[at]));
            }
        }
    }
}

#[test]
fn three_stages_are_those_of_dense_arrays() {
    let first = sparse::<f64>(NODES, NODES, 0.15, 9);
    let mut tiles = Tiles::from_csr(&first);
    let mut dense_r = vec![vec![0.0; NODES]; NODES];
    for (row, values) in dense_r.iter_mut().enumerate() {
        for (&col, &value) in first.row(row).0.iter().zip(first.row(row).1) {
            values[col as usize] = value;
        }
    }
    for stage in 0..3 {
        let begin: Start<f64> = Start { u: dense(NODES, 3, stage), v_t: vec![dense(NODES, 3, stage + 50)] };
        let mut u: Vec<Vec<f64>> = (0..NODES).map(|row| begin.u.row(row).to_vec()).collect();
        let mut v: Vec<Vec<f64>> =
            (0..3).map(|t| (0..NODES).map(|col| begin.v_t[0].row(col)[t]).collect()).collect();
        let found = solve(&[tiles.to_csr()], begin, &settings(Solver::Mu, 5.0, 6));
        for _ in 0..6 {
            naive::mu(&dense_r, &mut u, &mut v);
        }
        subtract(&mut tiles, &found.u, &found.v_t[0], 1.0, &Pool::new(Some(1)).unwrap());
        for i in 0..NODES {
            for j in 0..NODES {
                let fitted: f64 = (0..3).map(|t| u[i][t] * v[t][j]).sum();
                dense_r[i][j] = (dense_r[i][j] - fitted).max(0.0);
            }
        }
        let residual = tiles.to_csr();
        assert_eq!(residual.entries(), dense_r.iter().flatten().filter(|&&x| x > 0.0).count());
        for (i, dense_row) in dense_r.iter().enumerate() {
            for (&col, &value) in residual.row(i).0.iter().zip(residual.row(i).1) {
                assert!((value - dense_row[col as usize]).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn equal_views_get_equal_weights_and_factors() {
    let matrix = sparse::<f64>(NODES, NODES, 0.1, 3);
    let begin = Start { u: dense(NODES, 4, 1), v_t: vec![dense(NODES, 4, 2); 3] };
    for gamma in [0.5, 1.0, 5.0] {
        let found = solve(&vec![matrix.clone(); 3], begin.clone(), &settings(Solver::Hals, gamma, 8));
        assert!(found.weights.iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-12));
        assert!(found.v_t.iter().all(|v_t| *v_t == found.v_t[0]));
    }
}

#[test]
fn consensus_of_equal_views_is_the_view_alone() {
    let matrix = sparse::<f64>(NODES, NODES, 0.1, 3);
    for solver in Solver::ALL {
        let alone = solve(std::slice::from_ref(&matrix), start(1, 4), &settings(solver, 5.0, 8));
        let begin = Start { u: dense(NODES, 4, 1), v_t: vec![dense(NODES, 4, 2); 2] };
        let both = solve(&[matrix.clone(), matrix.clone()], begin, &settings(solver, 5.0, 8));
        for row in 0..NODES {
            for (x, y) in alone.u.row(row).iter().zip(both.u.row(row)) {
                assert!((x - y).abs() < 1e-10 * (1.0 + x));
            }
        }
    }
}

#[test]
fn a_factor_of_all_matrices_scales_the_product_alone() {
    let plain = matrices::<f64>(3);
    let scaled: Vec<_> =
        plain.iter().map(|m| m.with_values(m.values().iter().map(|x| 1024.0 * x).collect())).collect();
    for solver in Solver::ALL {
        let times = |x: Dense<f64>| Dense::from_fn(x.rows(), x.width(), |row, col| 32.0 * x.row(row)[col]);
        let begin = start::<f64>(3, 5);
        let large = Start { u: times(begin.u.clone()), v_t: begin.v_t.iter().cloned().map(times).collect() };
        let here = solve(&plain, begin, &settings(solver, 5.0, 10));
        let there = solve(&scaled, large, &settings(solver, 5.0, 10));
        for (a, b) in here.weights.iter().zip(&there.weights) {
            assert!((a - b).abs() < 1e-12);
        }
        let (a, b) = (product(&here.u, &here.v_t[1], 3, 7), product(&there.u, &there.v_t[1], 3, 7));
        assert!((1024.0 * a - b).abs() < 1e-9 * b.abs(), "{solver:?}: {a} {b}");
    }
}

#[test]
fn permuting_views_permutes_weights_and_factors() {
    let matrices = matrices::<f64>(3);
    let begin = start::<f64>(3, 4);
    let here = solve(&matrices, begin.clone(), &settings(Solver::Hals, 3.0, 10));
    let order = [2, 0, 1];
    let moved = Start { u: begin.u, v_t: order.map(|view| begin.v_t[view].clone()).to_vec() };
    let there = solve(&order.map(|view| matrices[view].clone()), moved, &settings(Solver::Hals, 3.0, 10));
    for (at, view) in order.into_iter().enumerate() {
        assert!((there.weights[at] - here.weights[view]).abs() < 1e-10);
        assert!((there.errors[at] / here.errors[view] - 1.0).abs() < 1e-10);
    }
}

#[test]
fn permuting_nodes_permutes_rows() {
    let to = |node: usize| (node * 11 + 5) % NODES;
    let matrix = sparse::<f64>(NODES, NODES, 0.1, 21);
    let moved = (0..NODES).flat_map(|row| {
        let (cols, values) = matrix.row(row);
        cols.iter().zip(values).map(move |(&col, &value)| (to(row), to(col as usize), value))
    });
    let moved = Csr::from_triplets(NODES, NODES, moved);
    let permuted = |x: &Dense<f64>| {
        let mut y = x.clone();
        for row in 0..NODES {
            y.row_mut(to(row)).copy_from_slice(x.row(row));
        }
        y
    };
    let begin = start::<f64>(1, 6);
    let there_start = Start { u: permuted(&begin.u), v_t: vec![permuted(&begin.v_t[0])] };
    let here = solve(&[matrix], begin, &settings(Solver::Hals, 5.0, 10));
    let there = solve(&[moved], there_start, &settings(Solver::Hals, 5.0, 10));
    for row in 0..NODES {
        for (x, y) in here.u.row(row).iter().zip(there.u.row(to(row))) {
            assert!((x - y).abs() < 1e-9 * (1.0 + x));
        }
    }
}

#[test]
fn a_planted_product_is_found() {
    let (u, views) = (dense::<f64>(NODES, 3, 5), [dense::<f64>(NODES, 3, 6), dense::<f64>(NODES, 3, 7)]);
    let matrix = |v_t: &Dense<f64>| {
        let values = (0..NODES * NODES).map(|at| product(&u, v_t, at / NODES, at % NODES)).collect();
        let indices = (0..NODES * NODES).map(|at| (at % NODES) as u32).collect();
        Csr::new(NODES, (0..=NODES).map(|row| row * NODES).collect(), indices, values)
    };
    let matrices = views.each_ref().map(matrix);
    let found = solve(&matrices, start(2, 3), &settings(Solver::Hals, 2.0, 3000));
    for (error, matrix) in found.errors.iter().zip(&matrices) {
        assert!(error / squared_norm(matrix) < 1e-5, "{error}");
    }
}

#[test]
fn a_matrix_of_rank_one_is_found_exactly() {
    let (u, v_t) = (dense::<f64>(NODES, 1, 5), dense::<f64>(NODES, 1, 6));
    let values = (0..NODES * NODES).map(|at| product(&u, &v_t, at / NODES, at % NODES)).collect();
    let indices = (0..NODES * NODES).map(|at| (at % NODES) as u32).collect();
    let matrix = Csr::new(NODES, (0..=NODES).map(|row| row * NODES).collect(), indices, values);
    for solver in Solver::ALL {
        let found = solve(std::slice::from_ref(&matrix), start(1, 1), &settings(solver, 2.0, 50));
        for at in 0..NODES * NODES {
            let fitted = product(&found.u, &found.v_t[0], at / NODES, at % NODES);
            let given = product(&u, &v_t, at / NODES, at % NODES);
            assert!((fitted - given).abs() < 1e-12 * given.max(1.0), "{solver:?}: {fitted} and {given}");
        }
    }
}

/// At convergence, gradients are zero where a factor is positive, and not negative where it is zero.
#[test]
fn hals_ends_where_nothing_can_be_gained() {
    let matrix = sparse::<f64>(NODES, NODES, 0.2, 8);
    let found = solve(std::slice::from_ref(&matrix), start(1, 3), &settings(Solver::Hals, 5.0, 2000));
    for row in 0..NODES {
        for t in 0..3 {
            let own = |col: usize| found.v_t[0].row(col)[t];
            let fitted: f64 =
                (0..NODES).map(|col| product(&found.u, &found.v_t[0], row, col) * own(col)).sum();
            let given: f64 = matrix
                .row(row)
                .0
                .iter()
                .zip(matrix.row(row).1)
                .map(|(&col, value)| value * own(col as usize))
                .sum();
            let (x, gradient) = (found.u.row(row)[t], fitted - given);
            assert!(if x > 0.0 { gradient.abs() < 1e-6 } else { gradient > -1e-6 }, "{x} {gradient}");
        }
    }
}

#[test]
fn rows_without_entries_become_zero_with_mu() {
    let matrix = sparse::<f32>(NODES, NODES, 0.1, 8);
    let (mut indptr, indices, values) =
        (matrix.indptr().to_vec(), matrix.indices().to_vec(), matrix.values().to_vec());
    let cut = indptr[NODES - 10];
    indptr[NODES - 10..].fill(cut);
    let matrix = Csr::new(NODES, indptr, indices[..cut].to_vec(), values[..cut].to_vec());
    for solver in Solver::ALL {
        let found = solve(std::slice::from_ref(&matrix), start(1, 4), &settings(solver, 5.0, 30));
        assert!((NODES - 10..NODES).all(|row| found.u.row(row).iter().all(|&x| x == 0.0)), "{solver:?}");
    }
}

/// The published code adds 1e-10 to denominators with weights like 6^-20, so its U vanishes. Ours does not.
#[test]
fn epsilon_makes_u_collapse_and_relative_weights_do_not() {
    let matrices = matrices::<f32>(6);
    let begin =
        || Start { u: dense(NODES, 4, 1), v_t: (0..6).map(|view| dense(NODES, 4, 2 + view)).collect() };
    let ours = settings(Solver::Mu, 20.0, 60);
    let collapsed = solve(&matrices, begin(), &Settings { epsilon: 1e-10, ..ours });
    assert!(largest(&collapsed.u) < 1e-4, "{}", largest(&collapsed.u));
    assert!(largest(&solve(&matrices, begin(), &ours).u) > 0.1);
}

#[test]
fn breaking_interrupts() {
    let tiles = Tiles::from_csr(&sparse::<f32>(NODES, NODES, 0.1, 1));
    let target = Target::new(&tiles, 1.0);
    let mut seen = 0;
    let mut stop_at_three = |now: Iteration| {
        seen = now.iteration;
        if now.iteration == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let pool = Pool::new(Some(1)).unwrap();
    let settings = settings(Solver::Hals, 5.0, 100);
    let result = factorize_watched(&[target], start(1, 4), &settings, &pool, &Local, &mut stop_at_three);
    assert!(matches!(result, Err(manyview_base::error::Error::Interrupted)));
    assert_eq!(seen, 3);
}

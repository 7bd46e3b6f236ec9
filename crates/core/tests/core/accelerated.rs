//! Accelerated HALS against plain HALS, and at the limits of what it is given.

use std::ops::ControlFlow;

use crate::common::{dense, sparse, squared_norm};
use manyview_base::linalg::{Csr, Dense, Real, Tiles};
use manyview_base::parallel::Pool;
use manyview_core::comm::{Comm, Local, Threads};
use manyview_core::nmf::{Factors, Iteration, Settings, Solver, Start, StopRule, Target, factorize_watched};

fn settings(solver: Solver, gamma: f64, max_iter: usize) -> Settings {
    // With a negative tol, it never stops early.
    Settings { solver, gamma, max_iter, tol: -1.0, stop: StopRule::Decrease, epsilon: 0.0 }
}

fn start<T: Real>(rows: usize, cols: usize, views: usize, width: usize) -> Start<T> {
    Start {
        u: dense(rows, width, 1),
        v_t: (0..views).map(|view| dense(cols, width, 2 + view as u64)).collect(),
    }
}

fn solve<T: Real>(matrices: &[Csr<T>], start: Start<T>, settings: &Settings, threads: usize) -> Factors<T> {
    let tiles: Vec<_> = matrices.iter().map(Tiles::from_csr).collect();
    let targets: Vec<_> = tiles
        .iter()
        .zip(matrices)
        .map(|(tiles, matrix)| Target::new(tiles, squared_norm(matrix)).relative())
        .collect();
    let pool = Pool::new(Some(threads)).unwrap();
    factorize_watched(&targets, start, settings, &pool, &Local, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Communities with noise: rows and columns of the same class have many and large entries in common.
fn planted(rows: usize, cols: usize, classes: usize, seed: u64) -> Csr<f32> {
    let noise = sparse::<f32>(rows, cols, 0.1, seed);
    let value = |row: usize, col: usize, value: f32| {
        let same = row % classes == col % classes;
        if same { 2.0 + value } else { 0.2 * value }
    };
    let entries = (0..rows).flat_map(|row| {
        let (cols, values) = noise.row(row);
        cols.iter().zip(values).map(move |(&col, &x)| (row, col as usize, value(row, col as usize, x)))
    });
    Csr::from_triplets(rows, cols, entries.collect::<Vec<_>>())
}

/// The rows from which a start on a sample is computed.
const SAMPLED: usize = 2000;

/// Both end in local minima, so single cases may be higher.
#[test]
fn error_is_no_higher_than_that_of_plain_hals_after_the_same_passes() {
    for passes in [5usize, 20, 60] {
        let ratios: Vec<f64> = (0..50u64)
            .map(|case| {
                let rows = [60, 300, 900, SAMPLED][case as usize % 4];
                let width = [3, 8, 16][case as usize % 3];
                let matrix =
                    if case % 2 == 0 { planted(rows, 200, 7, case) } else { sparse(rows, 200, 0.1, case) };
                let error = |solver, iterations| {
                    let begin = start(rows, 200, 1, width);
                    let settings = settings(solver, 5.0, iterations);
                    solve(std::slice::from_ref(&matrix), begin, &settings, 2).errors[0]
                };
                // Ten iterations on half of the rows.
                let on_sample = if rows < SAMPLED { 0 } else { 5 };
                let accelerated = error(Solver::Accelerated, passes.saturating_sub(on_sample).max(1));
                accelerated / error(Solver::Hals, passes)
            })
            .collect();
        let higher = ratios.iter().filter(|&&ratio| ratio > 1.0005).count();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        let mean = ratios.iter().sum::<f64>() / 50.0;
        assert!(mean < 1.0 && higher <= 8 && worst < 1.02, "{passes} passes: {mean} {higher} {worst}");
    }
}

#[test]
fn any_weights_widths_and_numbers_of_views_lower_the_error() {
    for (case, gamma) in [0.01, 0.5, 1.0, 1.1, 5.0, 100.0].into_iter().enumerate() {
        for views in 1..=6 {
            let width = [1, 2, 7, 16, 33, 70][(case + views) % 6];
            let matrices: Vec<Csr<f32>> =
                (0..views).map(|view| planted(150, 120, 4 + view, (10 * case + view) as u64)).collect();
            let found =
                solve(&matrices, start(150, 120, views, width), &settings(Solver::Accelerated, gamma, 20), 2);
            let what = format!("gamma {gamma}, {views} views, width {width}");
            if gamma >= 1.0 {
                assert!(found.objective.windows(2).all(|pair| pair[1] <= pair[0]), "{what}");
            }
            assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{what}");
            let norms = matrices.iter().map(squared_norm);
            assert!(found.errors.iter().zip(norms).all(|(&error, norm)| error < norm), "{what}");
        }
    }
}

/// Not the ends of the range of f32: products of three numbers must be representable.
#[test]
fn large_and_small_numbers_give_the_same_factors() {
    let matrix = planted(SAMPLED, 150, 5, 3);
    let solve_times = |factor: f64| {
        let root = factor.sqrt() as f32;
        let scaled = matrix.with_values(matrix.values().iter().map(|x| x * factor as f32).collect());
        let Start { mut u, mut v_t } = start::<f32>(SAMPLED, 150, 1, 6);
        for x in u.padded_mut().iter_mut().chain(v_t[0].padded_mut()) {
            *x *= root;
        }
        solve(&[scaled], Start { u, v_t }, &settings(Solver::Accelerated, 5.0, 15), 2).errors[0]
            / factor
            / factor
    };
    let plain = solve_times(1.0);
    for factor in [1e-20, 1e20] {
        assert!((solve_times(factor) / plain - 1.0).abs() < 1e-3, "{factor:e}");
    }
}

#[test]
fn rows_and_columns_without_entries_become_zero() {
    for rows in [100, SAMPLED] {
        let whole = sparse::<f32>(rows, 80, 0.1, 5);
        let entries = (0..rows).filter(|row| row % 3 != 0).flat_map(|row| {
            let (cols, values) = whole.row(row);
            let kept = cols.iter().zip(values).filter(|&(&col, _)| col >= 20);
            kept.map(move |(&col, &value)| (row, col as usize, value))
        });
        let matrix = Csr::from_triplets(rows, 80, entries.collect::<Vec<_>>());
        let found = solve(&[matrix], start(rows, 80, 1, 5), &settings(Solver::Accelerated, 5.0, 12), 2);
        assert!((0..rows).step_by(3).all(|row| found.u.row(row).iter().all(|&x| x == 0.0)));
        assert!((0..20).all(|col| found.v_t[0].row(col).iter().all(|&x| x == 0.0)));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits_with_a_sample() {
    let matrices = [planted(SAMPLED, SAMPLED, 6, 1), planted(SAMPLED, SAMPLED, 4, 2)];
    let on = |threads| {
        let settings = settings(Solver::Accelerated, 3.0, 8);
        let found = solve(&matrices, start(SAMPLED, SAMPLED, 2, 9), &settings, threads);
        (found.u, found.v_t, found.objective)
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert!(on(threads) == one, "{threads} threads");
    }
}

/// The sample is the same, however the rows are divided among ranks.
#[test]
fn ranks_agree_with_one_process_with_a_sample() {
    let matrix = planted(SAMPLED, 150, 5, 7);
    let norm = squared_norm(&matrix);
    let error = |bounds: &[usize]| {
        let ranks = Threads::run(bounds.len() - 1, |comm| {
            let (from, to) = (bounds[comm.rank()], bounds[comm.rank() + 1]);
            let at = matrix.indptr()[from]..matrix.indptr()[to];
            let indptr = matrix.indptr()[from..=to].iter().map(|start| start - at.start).collect();
            let rows =
                Csr::new(150, indptr, matrix.indices()[at.clone()].to_vec(), matrix.values()[at].to_vec());
            let Start { u, v_t } = start::<f32>(SAMPLED, 150, 1, 6);
            let u = Dense::from_fn(to - from, 6, |row, col| u.row(from + row)[col]);
            let (tiles, pool) = (Tiles::from_csr(&rows), Pool::new(Some(1)).unwrap());
            let settings = settings(Solver::Accelerated, 5.0, 4);
            let targets = [Target::new(&tiles, norm)];
            let go_on = &mut |_: Iteration<'_>| ControlFlow::Continue(());
            factorize_watched(&targets, Start { u, v_t }, &settings, &pool, comm, go_on).unwrap().errors[0]
        });
        assert!(ranks.iter().all(|error| *error == ranks[0]));
        ranks[0]
    };
    let one = error(&[0, SAMPLED]);
    for bounds in [&[0, 701, SAMPLED][..], &[0, 1, 1, 1333, SAMPLED]] {
        assert!((error(bounds) / one - 1.0).abs() < 1e-4, "{bounds:?}");
    }
}

/// Once nothing can be gained, rounding decides whether an iteration rises.
#[test]
fn an_exact_fit_ends_and_has_converged() {
    let ones = (0..40).flat_map(|row| (0..30).map(move |col| (row, col, 2.0f32)));
    let matrix = Csr::from_triplets(40, 30, ones.collect::<Vec<_>>());
    let settings = Settings { tol: 1e-3, ..settings(Solver::Accelerated, 5.0, 500) };
    let found = solve(&[matrix], start(40, 30, 1, 1), &settings, 1);
    assert!(found.converged && found.objective.len() < 100, "{} iterations", found.objective.len());
    assert!(found.errors[0] < 1e-6 * 40.0 * 30.0 * 4.0);
}

/// Columns that a matrix of low rank does not need faded out in one factor while they grew in the other, up to infinity.
#[test]
fn factors_of_a_matrix_of_low_rank_stay_alike() {
    for (classes, width) in [(2, 4), (3, 5), (5, 8)] {
        for seed in 0..40u64 {
            let block = sparse::<f32>(classes, classes, 0.5, seed);
            let of_class = |row: usize| block.row(row * classes / 300);
            let entries = (0..300).flat_map(|row| {
                (0..300).filter_map(move |col| {
                    let (cols, values) = of_class(row);
                    let at = cols.binary_search(&((col * classes / 300) as u32)).ok()?;
                    Some((row, col, values[at]))
                })
            });
            let matrix = Csr::from_triplets(300, 300, entries.collect::<Vec<_>>());
            if matrix.entries() == 0 {
                continue;
            }
            let Start { u, v_t } = start::<f32>(300, 300, 1, width);
            let u = Dense::from_fn(300, width, |row, col| u.row((row + seed as usize) % 300)[col]);
            let found = solve(&[matrix], Start { u, v_t }, &settings(Solver::Accelerated, 5.0, 60), 1);
            for (u, v) in found.u_norms.iter().zip(&found.v_norms[0]).filter(|&(&u, &v)| u > 0.0 && v > 0.0) {
                assert!((1e-6..1e6).contains(&(u / v)), "{classes} {width} {seed}: {u} and {v}");
            }
        }
    }
}

//! Compares whole computations with the numbers in `data/oracle/tiny.json`, which an independent NumPy program
//! computed: three views over 60 nodes in f64. They agree to 1e-9 in f64, and to about 1e-4 in f32.

use std::ops::ControlFlow;

use manyview_base::linalg::{Csr, Dense, Real, Tiles};
use manyview_base::parallel::Pool;
use manyview_core::comm::Local;
use manyview_core::nmf::{self, Factors, Settings, Start, Target, factorize_watched, view_weights};
use manyview_core::nmf::{Solver, StopRule};
use manyview_core::proximity::{self, proximity_watched};
use manyview_core::residual::{products_on_pattern, subtract};
use manyview_data::network::{EdgeCounts, View};
use serde_json::Value;

const VIEWS: [&str; 3] = ["calls", "mail", "visits"];

fn oracle() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/oracle/tiny.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn transposed(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..rows[0].len()).map(|col| rows.iter().map(|row| row[col]).collect()).collect()
}

fn dense<T: Real>(rows: &[Vec<f64>]) -> Dense<T> {
    Dense::from_fn(rows.len(), rows[0].len(), |row, col| T::from_f64(rows[row][col]))
}

fn csr<T: Real>(rows: &[Vec<f64>]) -> Csr<T> {
    let entries = rows.iter().enumerate().flat_map(|(at, row)| {
        let filled = row.iter().enumerate().filter(|&(_, &value)| value != 0.0);
        filled.map(move |(col, &value)| (at, col, T::from_f64(value)))
    });
    Csr::from_triplets(rows.len(), rows[0].len(), entries)
}

/// The largest difference, relative to the largest expected number.
fn difference(found: impl Iterator<Item = f64>, expected: impl Iterator<Item = f64>) -> f64 {
    let (mut most, mut largest) = (0.0f64, f64::MIN_POSITIVE);
    for (found, expected) in found.zip(expected) {
        assert!(found.is_finite());
        most = most.max((found - expected).abs());
        largest = largest.max(expected.abs());
    }
    most / largest
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{what}: {found} against {expected}");
    }
}

fn assert_factor<T: Real>(found: &Dense<T>, expected: &[Vec<f64>], tolerance: f64, what: &str) {
    let found_numbers = (0..found.rows()).flat_map(|row| found.row(row).iter().map(|x| x.to_f64()));
    let difference = difference(found_numbers, expected.iter().flatten().copied());
    assert!(difference <= tolerance, "{what}: {difference:e}");
}

struct Oracle {
    all: Value,
    pool: Pool,
}

impl Oracle {
    fn open() -> Self {
        Oracle { all: oracle(), pool: Pool::new(Some(2)).unwrap() }
    }

    fn view(&self, name: &str) -> View {
        let nodes = self.all["nodes"].as_u64().unwrap() as usize;
        let mut matrix = vec![vec![0.0; nodes]; nodes];
        for edge in self.all["edges"][name].as_array().unwrap() {
            let (source, target) = (number(&edge[0]) as usize, number(&edge[1]) as usize);
            matrix[source][target] += number(&edge[2]);
            matrix[target][source] += number(&edge[2]);
        }
        View { name: name.into(), directed: false, adjacency: csr(&matrix), counts: EdgeCounts::default() }
    }

    fn matrices<T: Real>(&self) -> Vec<Tiles<T>> {
        let key = self.all["factorised"].as_str().unwrap();
        self.all["proximity"][key]
            .as_array()
            .unwrap()
            .iter()
            .map(|view| Tiles::from_csr(&csr(&rows(view))))
            .collect()
    }

    fn start<T: Real>(&self, views: &[usize]) -> Start<T> {
        let v = |&view: &usize| dense(&transposed(&rows(&self.all["init"]["v"][view])));
        Start { u: dense(&rows(&self.all["init"]["u"])), v_t: views.iter().map(v).collect() }
    }

    fn solve<T: Real>(&self, case: &Value, targets: &[Target<'_, T>], start: Start<T>) -> Factors<T> {
        let settings = Settings {
            solver: Solver::from_name(case["solver"].as_str().unwrap()).unwrap(),
            gamma: case["gamma"].as_f64().unwrap_or(5.0),
            max_iter: case["iterations"].as_u64().unwrap() as usize,
            tol: -1.0,
            stop: StopRule::Decrease,
            epsilon: 0.0,
        };
        let mut go_on = |_: nmf::Iteration| ControlFlow::Continue(());
        factorize_watched(targets, start, &settings, &self.pool, &Local, &mut go_on).unwrap()
    }
}

fn squared_norm<T: Real>(tiles: &Tiles<T>) -> f64 {
    tiles.to_csr().values().iter().map(|x| x.to_f64() * x.to_f64()).sum()
}

fn check_proximity<T: Real>(tolerance: f64) {
    let oracle = Oracle::open();
    for (key, expected) in oracle.all["proximity"].as_object().unwrap() {
        let part = |name: &str| key.split(name).nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
        let (window, negative): (f64, f64) = (part("window="), part("negative="));
        let settings = proximity::Settings { window: window as usize, negative, ..Default::default() };
        for (name, expected) in VIEWS.into_iter().zip(expected.as_array().unwrap()) {
            let mut go_on = |_| ControlFlow::Continue(());
            let ours = proximity_watched::<T>(
                &oracle.view(name),
                proximity::Proximity::exact(settings),
                &oracle.pool,
                &mut go_on,
            )
            .unwrap();
            let mut found = vec![0.0; 60 * 60];
            for row in 0..60 {
                for (&col, value) in ours.row(row).0.iter().zip(ours.row(row).1) {
                    found[row * 60 + col as usize] = value.to_f64();
                }
            }
            let expected = rows(expected);
            let difference = difference(found.into_iter(), expected.iter().flatten().copied());
            assert!(difference <= tolerance, "{key} {name}: {difference:e}");
            let entries = expected.iter().flatten().filter(|&&x| x > tolerance).count();
            assert!(ours.entries().abs_diff(entries) <= if tolerance < 1e-8 { 0 } else { 2 }, "{key} {name}");
        }
    }
}

/// `exact` requires equal counts of residual entries; in f32 they may differ by entries close to zero.
fn check_consensus<T: Real>(tolerance: f64, exact: bool) {
    let oracle = Oracle::open();
    let matrices = oracle.matrices::<T>();
    let targets: Vec<_> = matrices.iter().map(|matrix| Target::new(matrix, squared_norm(matrix))).collect();
    for case in oracle.all["consensus"].as_array().unwrap() {
        let what = format!("{} gamma {} iterations {}", case["solver"], case["gamma"], case["iterations"]);
        let found = oracle.solve(case, &targets, oracle.start(&[0, 1, 2]));
        assert_factor(&found.u, &rows(&case["u"]), tolerance, &what);
        for (v_t, expected) in found.v_t.iter().zip(case["v"].as_array().unwrap()) {
            assert_factor(v_t, &transposed(&rows(expected)), tolerance, &what);
        }
        assert_close(&found.weights, &numbers(&case["weights"]), tolerance, &what);
        assert_close(&found.errors, &numbers(&case["errors"]), tolerance, &what);
        assert_close(&found.objective, &numbers(&case["objective"]), 10.0 * tolerance, &what);
        let mut norms = Vec::new();
        let mut entries = Vec::new();
        for (matrix, v_t) in matrices.iter().zip(&found.v_t) {
            let mut residual = matrix.clone();
            subtract(&mut residual, &found.u, v_t, 1.0, &oracle.pool);
            norms.push(squared_norm(&residual));
            entries.push(residual.entries() as f64);
        }
        assert_close(&norms, &numbers(&case["residual_squared_norms"]), tolerance, &what);
        assert_close(&entries, &numbers(&case["residual_entries"]), if exact { 0.0 } else { 0.01 }, &what);
    }
}

fn check_unique<T: Real>(tolerance: f64) {
    let oracle = Oracle::open();
    let matrices = oracle.matrices::<T>();
    for case in oracle.all["unique"].as_array().unwrap() {
        let view = case["view"].as_u64().unwrap() as usize;
        let what = format!("{} view {view}", case["solver"]);
        let target = Target::new(&matrices[view], squared_norm(&matrices[view]));
        let found = oracle.solve(case, &[target], oracle.start(&[view]));
        assert_factor(&found.u, &rows(&case["u"]), tolerance, &what);
        assert_factor(&found.v_t[0], &transposed(&rows(&case["v"])), tolerance, &what);
        assert_close(&found.errors, &[number(&case["error"])], tolerance, &what);
    }
}

fn check_pooled<T: Real>(tolerance: f64, exact: bool) {
    let oracle = Oracle::open();
    let matrices = oracle.matrices::<T>();
    let mut sum = vec![vec![0.0; 60]; 60];
    for matrix in matrices.iter().map(Tiles::to_csr) {
        for (row, sum) in sum.iter_mut().enumerate() {
            for (&col, value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                sum[col as usize] += value.to_f64();
            }
        }
    }
    let squared_norm_of_sum = sum.iter().flatten().map(|x| x * x).sum();
    for case in oracle.all["pooled"].as_array().unwrap() {
        let what = format!("pooled {}", case["solver"]);
        let target = Target::sum_of(matrices.iter().collect(), squared_norm_of_sum);
        let found = oracle.solve(case, &[target], oracle.start(&[0]));
        assert_factor(&found.u, &rows(&case["u"]), tolerance, &what);
        assert_factor(&found.v_t[0], &transposed(&rows(&case["v"])), tolerance, &what);
        let (mut scales, mut norms, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for matrix in &matrices {
            let [cross, square] = products_on_pattern(matrix, &found.u, &found.v_t[0], &oracle.pool);
            let mut residual = matrix.clone();
            subtract(&mut residual, &found.u, &found.v_t[0], cross / square, &oracle.pool);
            scales.push(cross / square);
            norms.push(squared_norm(&residual));
            entries.push(residual.entries() as f64);
        }
        assert_close(&scales, &numbers(&case["scales"]), tolerance, &what);
        assert_close(&norms, &numbers(&case["residual_squared_norms"]), tolerance, &what);
        assert_close(&entries, &numbers(&case["residual_entries"]), if exact { 0.0 } else { 0.01 }, &what);
    }
}

#[test]
fn pooled_stage_in_f64() {
    check_pooled::<f64>(1e-9, true);
}

#[test]
fn pooled_stage_in_f32() {
    check_pooled::<f32>(1e-4, false);
}

#[test]
fn proximity_in_f64() {
    check_proximity::<f64>(1e-9);
}

#[test]
fn proximity_in_f32() {
    check_proximity::<f32>(1e-5);
}

#[test]
fn consensus_stage_in_f64() {
    check_consensus::<f64>(1e-9, true);
}

#[test]
fn consensus_stage_in_f32() {
    check_consensus::<f32>(1e-4, false);
}

#[test]
fn unique_stage_in_f64() {
    check_unique::<f64>(1e-9);
}

#[test]
fn unique_stage_in_f32() {
    check_unique::<f32>(1e-4);
}

#[test]
fn weights_for_given_errors() {
    for case in oracle()["view_weights"].as_array().unwrap() {
        let found = view_weights(&numbers(&case["errors"]), number(&case["gamma"]));
        assert_close(&found, &numbers(&case["weights"]), 1e-12, "view weights");
    }
}

//! Multiplicative updates in f32 against the same in f64, on matrices that span twelve orders of magnitude.
//!
//! In f32 alone, numbers that fade out underflow or their quotients overflow, and whole factors became zero.

use std::ops::ControlFlow;

use crate::common::{Numbers, squared_norm};
use manyview_base::linalg::{Csr, Dense, Real, Tiles};
use manyview_base::parallel::Pool;
use manyview_core::comm::Local;
use manyview_core::nmf::{Factors, Settings, Solver, Start, StopRule, Target, factorize_watched};

const CASES: u64 = 200;
const ITERATIONS: usize = 200;

/// Several views of one set of nodes, and start values for them.
struct Case {
    matrices: Vec<Csr<f32>>,
    u: Dense<f32>,
    v_t: Vec<Dense<f32>>,
    gamma: f64,
    pooled: bool,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let mut below = |limit: usize| ((numbers.next() * limit as f64) as usize).min(limit - 1);
        let (nodes, views, width) = (8 + below(60), 1 + below(3), 1 + below(12));
        let pooled = below(4) == 0;
        let gamma = 10f64.powf(3.0 * numbers.next() - 1.0);
        let matrices: Vec<_> = (0..views).map(|_| matrix(nodes, &mut numbers)).collect();
        // Half of the cases start near the size of the matrices, the others far below, as the paper's preset does.
        let scaled = numbers.next() < 0.5;
        let mean = |matrix: &Csr<f32>| {
            matrix.values().iter().map(|&x| f64::from(x)).sum::<f64>() / (nodes * nodes) as f64
        };
        let all = matrices.iter().map(mean).sum::<f64>() / views as f64;
        let size = if scaled { (all / width as f64).sqrt() } else { 0.01 };
        let mut factor =
            |size: f64| Dense::from_fn(nodes, width, |_, _| (2.0 * size * numbers.next()) as f32);
        let u = factor(size);
        let v_t = (0..if pooled { 1 } else { views }).map(|_| factor(size)).collect();
        Case { matrices, u, v_t, gamma, pooled }
    }

    /// The relative error of each target after each iteration. Values are multiplied by up to `1 + noise`.
    fn errors<T: Real>(&self, noise: f64) -> (Vec<Vec<f64>>, Factors<T>) {
        let mut numbers = Numbers::new(99);
        let mut noisy = |x: f32| T::from_f64(f64::from(x) * (1.0 + noise * numbers.next()));
        let mut convert =
            |matrix: &Csr<f32>| matrix.with_values(matrix.values().iter().map(|&x| noisy(x)).collect());
        let matrices: Vec<Csr<T>> = self.matrices.iter().map(&mut convert).collect();
        let tiles: Vec<_> = matrices.iter().map(Tiles::from_csr).collect();
        let targets: Vec<_> = if self.pooled {
            vec![Target::sum_of(tiles.iter().collect(), norm_of_sum(&matrices))]
        } else {
            tiles
                .iter()
                .zip(&matrices)
                .map(|(tiles, matrix)| Target::new(tiles, squared_norm(matrix)))
                .collect()
        };
        let norms: Vec<f64> = if self.pooled {
            vec![norm_of_sum(&matrices)]
        } else {
            matrices.iter().map(squared_norm).collect()
        };
        let widen = |x: &Dense<f32>| {
            Dense::from_fn(x.rows(), x.width(), |row, col| T::from_f64(f64::from(x.row(row)[col])))
        };
        let start = Start { u: widen(&self.u), v_t: self.v_t.iter().map(widen).collect() };
        let settings = Settings {
            solver: Solver::Mu,
            gamma: self.gamma,
            max_iter: ITERATIONS,
            tol: -1.0,
            stop: StopRule::Decrease,
            epsilon: 0.0,
        };
        let mut errors = Vec::new();
        let pool = Pool::new(Some(1)).unwrap();
        let factors = factorize_watched(&targets, start, &settings, &pool, &Local, &mut |now| {
            errors.push(now.errors.iter().zip(&norms).map(|(error, norm)| error / norm).collect());
            ControlFlow::Continue(())
        });
        (errors, factors.unwrap())
    }
}

/// Values between 1e-6 and 1e6; some rows and columns have none.
fn matrix(nodes: usize, numbers: &mut Numbers) -> Csr<f32> {
    let (density, absent) = (0.03 + 0.3 * numbers.next(), 0.6 * numbers.next());
    let mut missing = |share: f64| (0..nodes).map(|_| numbers.next() < share).collect::<Vec<bool>>();
    let (rows, cols) = (missing(absent), missing(0.2));
    let mut triplets = vec![(0, 1, 1.0)];
    for row in (0..nodes).filter(|&row| !rows[row]) {
        for col in (0..nodes).filter(|&col| !cols[col]) {
            if numbers.next() < density {
                triplets.push((row, col, 10f64.powf(12.0 * numbers.next() - 6.0)));
            }
        }
    }
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..nodes {
        let own: std::collections::BTreeMap<usize, f64> =
            triplets.iter().filter(|triplet| triplet.0 == row).map(|&(_, col, value)| (col, value)).collect();
        indices.extend(own.keys().map(|&col| col as u32));
        values.extend(own.values().map(|&value| value as f32));
        indptr.push(indices.len());
    }
    Csr::new(nodes, indptr, indices, values)
}

fn norm_of_sum<T: Real>(matrices: &[Csr<T>]) -> f64 {
    let mut sums = std::collections::BTreeMap::<(usize, u32), f64>::new();
    for matrix in matrices {
        for row in 0..matrix.rows() {
            let (cols, values) = matrix.row(row);
            cols.iter().zip(values).for_each(|(&col, x)| *sums.entry((row, col)).or_default() += x.to_f64());
        }
    }
    sums.values().map(|x| x * x).sum()
}

fn largest_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(x, y)| if x.is_finite() { (x - y).abs() } else { f64::INFINITY }).fold(0.0, f64::max)
}

/// Where a view is fitted exactly, its weight is a quotient of rounding errors, and a change of the matrix in its last
/// bit moves the f64 run too. Such cases need only end as well.
#[test]
fn multiplicative_updates_in_f32_follow_f64() {
    let mut steady = 0;
    for seed in 0..CASES {
        let case = Case::new(seed);
        let (expected, in_f64) = case.errors::<f64>(0.0);
        let (found, in_f32) = case.errors::<f32>(0.0);
        let own = largest_difference(&case.errors::<f64>(1e-7).0, &expected);
        let words = format!(
            "case {seed}: {} views, pooled {}, width {}, gamma {}",
            case.matrices.len(),
            case.pooled,
            case.u.width(),
            case.gamma
        );
        assert!(in_f32.zero_columns() <= in_f64.zero_columns(), "{words}");
        let apart = largest_difference(&found, &expected);
        if own < 1e-4 {
            steady += 1;
            assert!(apart < 1e-3, "{words}: {apart}");
        } else {
            let total = |errors: &[Vec<f64>]| errors[ITERATIONS - 1].iter().sum::<f64>();
            assert!(total(&found) < total(&expected) + 0.1, "{words}: {apart}, f64 itself {own}");
        }
    }
    assert!(steady >= CASES * 9 / 10, "{steady} of {CASES}");
}

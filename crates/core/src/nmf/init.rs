//! Initial factors of a stage. Every initial value is a function of (seed, stage, view, row, column), so it does not
//! depend on threads, ranks or the order of the views.

use std::ops::Range;

use manyview_base::linalg::{Dense, Real};
use manyview_base::random::{Key, unit_f64};

/// The initial factors of a stage.
#[derive(Clone, Debug)]
pub struct Start<T> {
    /// This rank's rows of U.
    pub u: Dense<T>,
    /// The V_k, transposed.
    pub v_t: Vec<Dense<T>>,
}

impl<T: Real> Start<T> {
    /// Random factors for targets of `rows x cols` with these means; a function of the seed.
    pub fn random(seed: u64, means: &[f64], width: usize, rows: usize, cols: usize) -> Self {
        let key = Key::new(seed);
        let v_keys: Vec<Key> = (1..=means.len() as u64).map(|target| key.with(target)).collect();
        random_start(&StartMeans::fitting(means, width), width, 0..rows, cols, key.with(0), &v_keys)
    }
}

/// The scale of random initial values, which are uniform between 0 and twice the given mean.
#[derive(Clone, Debug, PartialEq)]
pub struct StartMeans {
    /// Mean of the values of U.
    pub u: f64,
    /// Mean of the values of each V_k.
    pub v: Vec<f64>,
}

impl StartMeans {
    /// Values uniform below `limit`, independent of the data.
    pub fn below(limit: f64, targets: usize) -> Self {
        StartMeans { u: limit / 2.0, v: vec![limit / 2.0; targets] }
    }

    /// Values for which the mean of each `U V_k` is about the mean of R_k; `means` are the means of the R_k.
    pub fn fitting(means: &[f64], width: usize) -> Self {
        let average = means.iter().sum::<f64>() / means.len() as f64;
        let u = (average / width as f64).sqrt();
        StartMeans { u, v: means.iter().map(|mean| mean / width as f64 / u).collect() }
    }
}

/// Random initial factors. `keys` are one key for U and one for each V_k; `rows` are this rank's rows among all rows.
pub fn random_start<T: Real>(
    means: &StartMeans,
    width: usize,
    rows: Range<usize>,
    cols: usize,
    u_key: Key,
    v_keys: &[Key],
) -> Start<T> {
    let fill = |key: Key, mean: f64, first: usize, rows: usize| {
        Dense::from_fn(rows, width, |row, col| T::from_f64(2.0 * mean * unit_f64(key.at(first + row, col))))
    };
    let v_t = v_keys.iter().zip(&means.v).map(|(&key, &mean)| fill(key, mean, 0, cols)).collect();
    Start { u: fill(u_key, means.u, rows.start, rows.len()), v_t }
}

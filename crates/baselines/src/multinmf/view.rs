//! One view of MultiNMF: its matrix, its factors, and updates that never increase the objective.
//!
//! The objective is `||X - U Vᵀ||^2 + lambda ||V Q - V*||^2` with `Q = diag(column sums of U)`. X has a column for each
//! node: it is the matrix M of the view, transposed and scaled. An iteration has these steps, in this order:
//!
//! - `V <- V ∘ (XᵀU + lambda V*) / (V (UᵀU + lambda I))`, which is correct as long as Q is the identity;
//! - `U <- U ∘ (X V + lambda 1 sᵀ) / (U VᵀV + lambda 1 (q ∘ t)ᵀ)`, with `s_c = <V_c, V*_c>`, `t_c = <V_c, V_c>`,
//!   `q = diag Q`;
//! - each column of U is divided by its sum, and that of V multiplied by it, which changes neither term.

use rayon::prelude::*;

use manyview_base::linalg::gram::{gram, inner};
use manyview_base::linalg::products::{times, transposed_times};
use manyview_base::linalg::{BLOCK_ROWS, Dense, Real, Tiles};
use manyview_core::nmf::update::multiply_rows;

/// Called between products: whether to continue.
pub(super) type Going<'a> = dyn Fn() -> bool + Sync + 'a;

/// The matrix of a view, scaled.
pub(super) struct Target<'a, T> {
    matrix: &'a Tiles<T>,
    scale: f64,
    squared_norm: f64,
}

/// The factors of a view; the columns of U sum to one. In f64, because multiplicative updates need its range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factors {
    /// U: a row for each column of M.
    pub(super) u: Dense<f64>,
    /// V: a row for each row of M, that is, for each node.
    pub(super) v: Dense<f64>,
}

/// What factors are pulled toward, and the minimum of denominators.
#[derive(Clone, Copy)]
pub(super) struct Pull<'a> {
    pub(super) lambda: f64,
    /// V*.
    pub(super) consensus: &'a Dense<f64>,
    /// The minimum of denominators: zero, or that of the published code.
    pub(super) guard: f64,
}

/// The numerators of an update, and the terms of its denominators `x gram + added`.
pub(super) struct Terms {
    pub(super) numerators: Dense<f64>,
    pub(super) gram: Vec<f64>,
    pub(super) added: Vec<f64>,
}

impl<'a, T: Real> Target<'a, T> {
    /// Returns the matrix, scaled so that its entries sum to `total`.
    pub(super) fn new(matrix: &'a Tiles<T>, total: f64) -> Self {
        let [sum, squares] = matrix.sums();
        let scale = total / sum;
        Target { matrix, scale, squared_norm: scale * scale * squares }
    }

    /// Returns the numbers of rows and columns of M.
    pub(super) fn shape(&self) -> [usize; 2] {
        [self.matrix.rows(), self.matrix.cols()]
    }

    /// Computes `XᵀU`.
    fn image(&self, u: &Dense<f64>, going: &Going<'_>) -> Dense<f64> {
        let mut product = times(&[self.matrix], u, going);
        change(&mut product, |x, _| x * self.scale);
        product
    }

    /// Runs one iteration. Its result is undefined if `going` returned `false`.
    pub(super) fn step(&self, factors: &mut Factors, pull: Pull<'_>, going: &Going<'_>) {
        let terms = self.v_terms(factors, pull, going);
        multiply(&mut factors.v, &terms, pull.guard);
        let terms = self.u_terms(factors, pull, going);
        multiply(&mut factors.u, &terms, pull.guard);
        normalize(factors);
    }

    fn v_terms(&self, factors: &Factors, pull: Pull<'_>, going: &Going<'_>) -> Terms {
        let (lambda, width) = (pull.lambda, factors.u.width());
        let mut numerators = self.image(&factors.u, going);
        if pull.lambda > 0.0 {
            let consensus = pull.consensus.padded();
            change(&mut numerators, |x, at| x + lambda * consensus[at]);
        }
        let mut gram = gram(&factors.u);
        gram.iter_mut().step_by(width + 1).for_each(|x| *x += pull.lambda);
        Terms { numerators, gram, added: vec![0.0; width] }
    }

    pub(super) fn u_terms(&self, factors: &Factors, pull: Pull<'_>, going: &Going<'_>) -> Terms {
        let Factors { u, v } = factors;
        let (width, stride) = (u.width(), u.stride());
        let mut numerators = Dense::zeros(u.rows(), width);
        transposed_times(&[self.matrix], v, &mut numerators, going);
        let (gram, mut added, scale) = (gram(v), vec![0.0; width], self.scale);
        let mut toward = vec![0.0; stride];
        if pull.lambda > 0.0 {
            let (sums, along) = (column_sums(u, None), column_sums(v, Some(pull.consensus)));
            for (col, added) in added.iter_mut().enumerate() {
                *added = pull.lambda * sums[col] * gram[col * width + col];
                toward[col] = pull.lambda * along[col];
            }
        }
        change(&mut numerators, |x, at| x * scale + toward[at % stride]);
        Terms { numerators, gram, added }
    }

    /// Returns the objective, also if the columns of U do not sum to one.
    pub(super) fn objective(&self, factors: &Factors, pull: Pull<'_>, going: &Going<'_>) -> f64 {
        let Factors { u, v } = factors;
        let cross = inner(self.image(u, going).padded(), v.padded());
        let fitted: f64 = gram(u).iter().zip(&gram(v)).map(|(x, y)| x * y).sum();
        let mut apart = 0.0;
        if pull.lambda > 0.0 {
            let sums = column_sums(u, None);
            for row in 0..v.rows() {
                let terms = v.row(row).iter().zip(pull.consensus.row(row)).zip(&sums);
                apart += terms.map(|((x, y), sum)| (x * sum - y).powi(2)).sum::<f64>();
            }
        }
        // Near an exact fit the terms cancel, and rounding can make the difference negative.
        (self.squared_norm - 2.0 * cross + fitted).max(0.0) + pull.lambda * apart
    }
}

/// Replaces every number by `f` of it and its index. Padding may become nonzero, since no sum reads it.
fn change(x: &mut Dense<f64>, f: impl Fn(f64, usize) -> f64 + Sync) {
    let length = BLOCK_ROWS * x.stride();
    x.padded_mut().par_chunks_mut(length).enumerate().for_each(|(block, part)| {
        part.iter_mut().zip(block * length..).for_each(|(x, at)| *x = f(*x, at));
    });
}

fn multiply(x: &mut Dense<f64>, terms: &Terms, guard: f64) {
    let stride = x.stride();
    let rows = x.padded_mut().par_chunks_mut(BLOCK_ROWS * stride);
    let numerators = terms.numerators.padded().par_chunks(BLOCK_ROWS * stride);
    rows.zip(numerators)
        .for_each(|(x, numerators)| multiply_rows(x, numerators, stride, &terms.gram, &terms.added, guard));
}

/// Returns the sums of the columns, or of their elementwise products with those of another matrix.
fn column_sums(x: &Dense<f64>, other: Option<&Dense<f64>>) -> Vec<f64> {
    let stride = x.stride();
    let length = BLOCK_ROWS * stride;
    let add = |mut sums: Vec<f64>, part: &[f64]| {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        sums
    };
    let of_block = |(block, part): (usize, &[f64])| {
        let mut sums = vec![0.0; stride];
        for (at, x) in part.iter().enumerate() {
            let factor = other.map_or(1.0, |other| other.padded()[block * length + at]);
            sums[at % stride] += x * factor;
        }
        sums
    };
    let parts: Vec<Vec<f64>> = x.padded().par_chunks(length).enumerate().map(of_block).collect();
    let mut sums = parts.iter().fold(vec![0.0; stride], |sums, part| add(sums, part));
    sums.truncate(x.width());
    sums
}

/// Makes the columns of U sum to one without changing `U Vᵀ`. Zero columns stay zero.
pub(super) fn normalize(factors: &mut Factors) {
    let sums = column_sums(&factors.u, None);
    let or_one = |sum: f64| if sum > 0.0 { sum } else { 1.0 };
    factors.u.scale_columns(&sums.iter().map(|&sum| 1.0 / or_one(sum)).collect::<Vec<f64>>());
    factors.v.scale_columns(&sums.iter().map(|&sum| or_one(sum)).collect::<Vec<f64>>());
}

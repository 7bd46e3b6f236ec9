//! One node through all stages: from its rows of the proximity matrices to its vector.
//!
//! For each factorization, in the order of the fit, with the rows `r_k` that are left of the node:
//!
//! ```text
//! u   = argmin sum_k share_k |r_k - u V_k|^2,  u >= 0
//! r_k = max(r_k - s_k u V_k, 0)                     or, in undirected views, with (u V_k + v_k Uᵀ) / 2 instead of u V_k
//! ```
//!
//! `v_k` is the column of the node in V_k. A node of the fit has one; that of a new node is the minimum of `|r_k - v Uᵀ|^2`, since its column
//! of the matrix is its row. Entries in the columns of new nodes do not exist: V has no such columns.
//!
//! Of a view that was added after the fit, U explains `U V` with a V of its own, which is subtracted in the same way. It is not in the sum that
//! u minimizes, so u is what it would be without that view.

use super::KeptModel;
use super::nnls;
use crate::piece::{Explained, FittedPiece, Piece};
use manyview_base::linalg::Dense;
use manyview_base::linalg::gram::gram;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::linalg::vector::{add_multiple, product};
use manyview_base::parallel::Pool;

/// The rows of a node: for each matrix, columns and values.
pub(super) type Row = Vec<(u32, f32)>;

/// What is needed to solve rows, besides the factors.
pub(super) struct Stages {
    /// For each matrix: whether what is subtracted is symmetric.
    symmetric: Vec<bool>,
    pieces: Vec<Grams>,
}

struct Grams {
    /// `sum_k share_k V_k V_kᵀ`.
    of_v: Vec<f64>,
    /// `UᵀU`, where columns of new nodes are needed.
    of_u: Option<Vec<f64>>,
}

/// A solved row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Solved {
    pub(super) vector: Vec<f32>,
    /// The squared norm of its rows, and of what the stages leave of them, over all matrices.
    pub(super) squared: [f64; 2],
    /// Its row of U in each factorization.
    pub(super) left_factors: Vec<Vec<f32>>,
}

impl Stages {
    pub(super) fn new(model: &KeptModel, pool: &Pool) -> Self {
        let views = model.network.views();
        let mut symmetric: Vec<bool> = views.iter().map(|view| model.settings.is_symmetric(view)).collect();
        symmetric.extend(model.union(pool).map(|union| model.settings.is_symmetric(union)));
        let grams = |FittedPiece { piece, shares, explained, .. }: &FittedPiece| {
            let mut of_v = vec![0.0; piece.u.width().pow(2)];
            for (at, v_t) in piece.v_t.iter().enumerate() {
                let gram = gram(v_t);
                of_v.iter_mut().zip(gram).for_each(|(sum, x)| *sum += shares[at] * x);
            }
            let mut views = piece.views.iter().copied().chain(explained.iter().map(|later| later.view));
            let mirrored = views.any(|view| symmetric[view]);
            Grams { of_v, of_u: mirrored.then(|| gram(&piece.u)) }
        };
        let pieces = pool.run(|| model.factors.pieces.iter().map(grams).collect());
        Stages { symmetric, pieces }
    }

    /// Solves the rows of a node, one for each matrix; `known` is its number in the fit, if it has one.
    pub(super) fn solve(&self, model: &KeptModel, mut rows: Vec<Row>, known: Option<usize>) -> Solved {
        for (row, &scale) in rows.iter_mut().zip(&model.factors.matrix_scales) {
            if scale != 1.0 {
                row.iter_mut().for_each(|(_, value)| *value *= scale as f32);
            }
        }
        let squares = |rows: &[Row]| -> f64 {
            rows.iter().flatten().map(|&(_, value)| f64::from(value) * f64::from(value)).sum()
        };
        let before = squares(&rows);
        let mut vector = vec![0.0; model.dim];
        let mut left_factors = Vec::with_capacity(self.pieces.len());
        for (fitted, grams) in model.factors.pieces.iter().zip(&self.pieces) {
            let piece = &fitted.piece;
            let u = self.left(fitted, grams, &rows);
            for ((x, u), scale) in vector[piece.columns.clone()].iter_mut().zip(&u).zip(&piece.column_scales)
            {
                // The same roundings as in the fit.
                let scaled = (f64::from(*u) * scale) as f32;
                *x = (f64::from(scaled) * model.vector_scale) as f32;
            }
            let columns = self.columns(fitted, grams, &rows, known);
            for (at, (&view, &scale)) in piece.views.iter().zip(&piece.scales).enumerate() {
                let v_t = v_of(piece, at);
                let mirrored = columns.as_ref().filter(|_| self.symmetric[view]);
                let mirrored = mirrored.map(|columns| (&columns[at.min(columns.len() - 1)][..], &piece.u));
                subtract(&mut rows[view], &u, v_t, mirrored, scale as f32);
            }
            for Explained { view, v_t } in &fitted.explained {
                let column = self.symmetric[*view].then(|| match known {
                    Some(node) => v_t.row(node).to_vec(),
                    None => column(grams, &rows[*view], &piece.u),
                });
                let mirrored = column.as_ref().map(|column| (&column[..], &piece.u));
                subtract(&mut rows[*view], &u, v_t, mirrored, 1.0);
            }
            left_factors.push(u);
        }
        Solved { vector, squared: [before, squares(&rows)], left_factors }
    }

    /// The row of U.
    fn left(&self, FittedPiece { piece, shares, .. }: &FittedPiece, grams: &Grams, rows: &[Row]) -> Vec<f32> {
        let mut b = vec![0.0; piece.u.width()];
        for (at, (&view, share)) in piece.views.iter().zip(shares).enumerate() {
            let products = times(&rows[view], v_of(piece, at));
            b.iter_mut().zip(products).for_each(|(b, x)| *b += share * f64::from(x));
        }
        nnls::solve(&grams.of_v, &b).into_iter().map(|x| x as f32).collect()
    }

    /// The column of the node in each V, where it is needed.
    fn columns(
        &self,
        FittedPiece { piece, .. }: &FittedPiece,
        grams: &Grams,
        rows: &[Row],
        known: Option<usize>,
    ) -> Option<Vec<Vec<f32>>> {
        let gram_u = grams.of_u.as_ref()?;
        if let Some(node) = known {
            return Some(piece.v_t.iter().map(|v_t| v_t.row(node).to_vec()).collect());
        }
        let symmetric = |at: &usize| self.symmetric[piece.views[*at]];
        let of_views = |wanted: Vec<usize>, unit: f64| -> Vec<f32> {
            let mut b = vec![0.0; piece.u.width()];
            for at in wanted {
                let products = times(&rows[piece.views[at]], &piece.u);
                b.iter_mut().zip(products).for_each(|(b, x)| *b += f64::from(x) / unit);
            }
            nnls::solve(gram_u, &b).into_iter().map(|x| x as f32).collect()
        };
        let all: Vec<usize> = (0..piece.views.len()).collect();
        if piece.v_t.len() == piece.views.len() {
            return Some(all.iter().map(|&at| of_views(vec![at], 1.0)).collect());
        }
        // One V for the sum of the views. The columns of directed views are not known; the others have their share of the sum.
        let mirrored: Vec<usize> = all.iter().copied().filter(symmetric).collect();
        let share: f64 = mirrored.iter().map(|&at| piece.scales[at]).sum();
        let unit = if mirrored.len() == all.len() || share <= 0.0 { 1.0 } else { share };
        Some(vec![of_views(mirrored, unit)])
    }
}

/// The column of a new node in a V: the minimum of `|r - v Uᵀ|^2`.
fn column(grams: &Grams, row: &Row, u: &Dense<f32>) -> Vec<f32> {
    let gram = grams.of_u.as_ref().expect("symmetric views have it");
    let b: Vec<f64> = times(row, u).into_iter().map(f64::from).collect();
    nnls::solve(gram, &b).into_iter().map(|x| x as f32).collect()
}

/// The V of a view of a piece: the views of a pooled stage share one.
fn v_of(piece: &Piece, at: usize) -> &Dense<f32> {
    piece.v_t.get(at).unwrap_or(&piece.v_t[0])
}

/// `r Vᵀ`.
fn times(row: &Row, v_t: &Dense<f32>) -> Vec<f32> {
    let mut sum = vec![0.0; v_t.width()];
    vectorized(
        #[inline(always)]
        || {
            for &(col, value) in row {
                add_multiple(&mut sum, value, v_t.row(col as usize));
            }
        },
    );
    sum
}

/// `r = max(r - scale u V, 0)`, or with half of `u V` and half of `v Uᵀ`; zeros are removed.
fn subtract(row: &mut Row, u: &[f32], v_t: &Dense<f32>, mirrored: Option<(&[f32], &Dense<f32>)>, scale: f32) {
    vectorized(
        #[inline(always)]
        || match mirrored {
            None => {
                row.iter_mut().for_each(|(col, value)| *value -= scale * product(u, v_t.row(*col as usize)))
            }
            Some((v, all_u)) => row.iter_mut().for_each(|(col, value)| {
                let col = *col as usize;
                *value -= scale * (0.5 * product(u, v_t.row(col)) + 0.5 * product(v, all_u.row(col)));
            }),
        },
    );
    row.retain(|&(_, value)| value > 0.0);
}

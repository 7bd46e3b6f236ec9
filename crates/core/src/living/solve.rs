//! Nodes through all stages: from their rows of the proximity matrices to their vectors.
//!
//! For each factorization, in the order of the fit, with the rows `r_k` that are left of a node:
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
//!
//! The rows of up to [`BLOCK_ROWS`] nodes share the passes over V and U, by the kernels of the fit. Nothing is subtracted after the last
//! factorization of a matrix, except from rows where what is left is measured.
//!
//! Invariant: the vector of a node does not depend on which others are in its block.

use super::KeptModel;
use super::nnls::Problem;
use crate::piece::{Explained, FittedPiece, Piece};
use manyview_base::linalg::gram::gram;
use manyview_base::linalg::kernels::{add_products, subtract_and_clip};
use manyview_base::linalg::{BLOCK_ROWS, Csr, Dense, Tiles};
use manyview_base::parallel::Pool;

/// Rows in one task: enough to use a part of V many times, few enough for all threads to have some.
pub(super) const MOST_ROWS: usize = BLOCK_ROWS;

/// What is left is measured in at most this many rows, since it takes as long as a stage of most columns.
pub(super) const MEASURED: usize = 64;

/// Entries of a row that the panels of the rows suit, whatever the rows have: how they are cut must not depend on who is beside them.
const USUAL_ENTRIES: usize = 2000;

/// Some rows of each matrix, with the columns of the model.
pub(super) type Rows = Vec<Csr<f32>>;

/// What is needed to solve rows, besides the factors.
pub(super) struct Stages {
    /// For each matrix: whether what is subtracted is symmetric.
    symmetric: Vec<bool>,
    pieces: Vec<Problems>,
}

struct Problems {
    /// With `sum_k share_k V_k V_kᵀ`.
    of_v: Problem,
    /// With `UᵀU`, where columns of new nodes are needed.
    of_u: Option<Problem>,
    /// Whether later factorizations use none of its matrices.
    last: bool,
}

/// A solved row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Solved {
    pub(super) vector: Vec<f32>,
    /// The squared norm of its rows, and of what the stages leave of them, over all matrices; where it was measured.
    pub(super) squared: Option<[f64; 2]>,
    /// Its row of U in each factorization, if it is a node of the fit.
    pub(super) left_factors: Vec<Vec<f32>>,
}

/// What is left of the rows of some nodes.
struct Block<'a> {
    /// For each matrix; after its last factorization, only the measured rows.
    left: Vec<Tiles<f32>>,
    /// Whether a matrix has only these.
    narrowed: Vec<bool>,
    /// The numbers of the nodes in the fit, if they have some.
    known: Option<&'a [usize]>,
    /// The rows that are measured, ascending.
    measured: &'a [usize],
}

impl Stages {
    pub(super) fn new(model: &KeptModel, pool: &Pool) -> Self {
        let views = model.network.views();
        let mut symmetric: Vec<bool> = views.iter().map(|view| model.settings.is_symmetric(view)).collect();
        symmetric.extend(model.union(pool).map(|union| model.settings.is_symmetric(union)));
        let pieces = &model.factors.pieces;
        let problems = |at: usize| {
            let FittedPiece { piece, shares, explained, .. } = &pieces[at];
            let width = piece.u.width();
            let mut of_v = vec![0.0; width * width];
            for (at, v_t) in piece.v_t.iter().enumerate() {
                let gram = gram(v_t);
                of_v.iter_mut().zip(gram).for_each(|(sum, x)| *sum += shares[at] * x);
            }
            let mut views = piece.views.iter().copied().chain(explained.iter().map(|added| added.view));
            let mirrored = views.any(|view| symmetric[view]);
            let of_u = mirrored.then(|| Problem::new(gram(&piece.u), width));
            let used_later =
                |view: &usize| pieces[at + 1..].iter().any(|later| later.piece.views.contains(view));
            Problems { of_v: Problem::new(of_v, width), of_u, last: !piece.views.iter().any(used_later) }
        };
        let pieces = pool.run(|| (0..pieces.len()).map(problems).collect());
        Stages { symmetric, pieces }
    }

    /// Solves the rows of at most [`MOST_ROWS`] nodes; `known` has their numbers in the fit, if they have some. What is left is measured in
    /// the rows of `measured`, in ascending order.
    pub(super) fn solve(
        &self,
        model: &KeptModel,
        mut rows: Rows,
        known: Option<&[usize]>,
        measured: &[usize],
    ) -> Vec<Solved> {
        scale(&mut rows, &model.factors.matrix_scales);
        let before = norms_of(rows.iter(), measured);
        let mut solved = vec![
            Solved { vector: vec![0.0; model.dim], squared: None, left_factors: Vec::new() };
            rows.first().map_or(0, Csr::rows)
        ];
        let mut block = Block { narrowed: vec![false; rows.len()], left: tiles(rows), known, measured };
        for (fitted, problems) in model.factors.pieces.iter().zip(&self.pieces) {
            let u = left_factors(fitted, problems, &block.left);
            for (row, solved) in solved.iter_mut().enumerate() {
                write(&mut solved.vector, &fitted.piece, u.row(row), model.vector_scale);
                if known.is_some() {
                    solved.left_factors.push(u.row(row).to_vec());
                }
            }
            if problems.last {
                block.narrow(&fitted.piece.views);
            }
            if !(problems.last && measured.is_empty()) {
                self.subtract(&mut block, &fitted.piece, problems, &u);
            }
            for added in &fitted.explained {
                self.subtract_added(&mut block, &fitted.piece, added, problems, &u);
            }
        }
        block.narrow(&(0..block.left.len()).collect::<Vec<_>>());
        let all: Vec<usize> = (0..measured.len()).collect();
        let left: Vec<Csr<f32>> = block.left.iter().map(Tiles::to_csr).collect();
        for ((&row, before), left) in measured.iter().zip(before).zip(norms_of(left.iter(), &all)) {
            solved[row].squared = Some([before, left]);
        }
        solved
    }

    /// Subtracts what a piece explains from its matrices.
    fn subtract(&self, block: &mut Block<'_>, piece: &Piece, problems: &Problems, u: &Dense<f32>) {
        let narrowed = problems.last;
        let of_block = |all: &Dense<f32>| if narrowed { rows_of(all, block.measured) } else { all.clone() };
        let known = block.known.map(|known| match narrowed {
            true => block.measured.iter().map(|&row| known[row]).collect(),
            false => known.to_vec(),
        });
        let u = of_block(u);
        let columns = self.columns(piece, problems, &block.left, known.as_deref());
        for (at, (&view, &scale)) in piece.views.iter().zip(&piece.scales).enumerate() {
            let left = &mut block.left[view];
            match columns.as_ref().filter(|_| self.symmetric[view]) {
                None => subtract(left, &u, v_of(piece, at), scale),
                Some(columns) => {
                    let column = &columns[at.min(columns.len() - 1)];
                    subtract_mirrored(left, &u, v_of(piece, at), column, &piece.u, scale);
                }
            }
        }
    }

    /// Subtracts what U explains of an added view, all rows of which are left: its own factorization comes later.
    fn subtract_added(
        &self,
        block: &mut Block<'_>,
        piece: &Piece,
        Explained { view, v_t }: &Explained,
        problems: &Problems,
        u: &Dense<f32>,
    ) {
        let left = &mut block.left[*view];
        let Some(of_u) = problems.of_u.as_ref().filter(|_| self.symmetric[*view]) else {
            return subtract(left, u, v_t, 1.0);
        };
        let column = match block.known {
            Some(nodes) => rows_of(v_t, nodes),
            None => solve(of_u, std::iter::once((&*left, &piece.u, 1.0)), piece.u.width()),
        };
        subtract_mirrored(left, u, v_t, &column, &piece.u, 1.0);
    }

    /// The columns of the nodes in each V, where they are needed.
    fn columns(
        &self,
        piece: &Piece,
        problems: &Problems,
        left: &[Tiles<f32>],
        known: Option<&[usize]>,
    ) -> Option<Vec<Dense<f32>>> {
        let of_u = problems.of_u.as_ref()?;
        if let Some(nodes) = known {
            return Some(piece.v_t.iter().map(|v_t| rows_of(v_t, nodes)).collect());
        }
        let of_views = |wanted: Vec<usize>, unit: f64| {
            let parts = wanted.into_iter().map(|at| (&left[piece.views[at]], &piece.u, 1.0 / unit));
            solve(of_u, parts, piece.u.width())
        };
        let all: Vec<usize> = (0..piece.views.len()).collect();
        if piece.v_t.len() == piece.views.len() {
            return Some(all.iter().map(|&at| of_views(vec![at], 1.0)).collect());
        }
        // One V for the sum of the views. The columns of directed views are not known; the others have their share of the sum.
        let symmetric = |at: &usize| self.symmetric[piece.views[*at]];
        let mirrored: Vec<usize> = all.iter().copied().filter(symmetric).collect();
        let share: f64 = mirrored.iter().map(|&at| piece.scales[at]).sum();
        let unit = if mirrored.len() == all.len() || share <= 0.0 { 1.0 } else { share };
        Some(vec![of_views(mirrored, unit)])
    }
}

impl Block<'_> {
    /// Leaves only the measured rows of some matrices.
    fn narrow(&mut self, matrices: &[usize]) {
        for &matrix in matrices {
            if !std::mem::replace(&mut self.narrowed[matrix], true) {
                self.left[matrix] = self.left[matrix].rows_at(self.measured);
            }
        }
    }
}

/// The rows of U.
fn left_factors(fitted: &FittedPiece, problems: &Problems, left: &[Tiles<f32>]) -> Dense<f32> {
    let FittedPiece { piece, shares, .. } = fitted;
    let part = |(at, (&view, &share)): (usize, (&usize, &f64))| (&left[view], v_of(piece, at), share);
    solve(&problems.of_v, piece.views.iter().zip(shares).enumerate().map(part), piece.u.width())
}

/// For each row the minimum over `x >= 0`, where the numerators are `sum share R Vᵀ` over some matrices.
fn solve<'a>(
    problem: &Problem,
    parts: impl Iterator<Item = (&'a Tiles<f32>, &'a Dense<f32>, f64)>,
    width: usize,
) -> Dense<f32> {
    let mut sums: Vec<Vec<f64>> = Vec::new();
    for (matrix, v_t, share) in parts {
        sums.resize(matrix.rows(), vec![0.0; width]);
        let mut products = Dense::zeros(matrix.rows(), width);
        add_products(matrix.blocks(), matrix.panel(), v_t, products.padded_mut());
        for (row, sums) in sums.iter_mut().enumerate() {
            sums.iter_mut().zip(products.row(row)).for_each(|(sum, x)| *sum += share * f64::from(*x));
        }
    }
    let mut found = Dense::zeros(sums.len(), width);
    for (row, sums) in sums.iter().enumerate() {
        let solved = problem.solve(sums);
        found.row_mut(row).iter_mut().zip(solved).for_each(|(found, x)| *found = x as f32);
    }
    found
}

/// The V of a view of a piece: the views of a pooled stage share one.
fn v_of(piece: &Piece, at: usize) -> &Dense<f32> {
    piece.v_t.get(at).unwrap_or(&piece.v_t[0])
}

/// Writes the columns of a piece to a vector.
fn write(vector: &mut [f32], piece: &Piece, u: &[f32], vector_scale: f64) {
    for ((x, u), scale) in vector[piece.columns.clone()].iter_mut().zip(u).zip(&piece.column_scales) {
        // The same roundings as in the fit.
        let scaled = (f64::from(*u) * scale) as f32;
        *x = (f64::from(scaled) * vector_scale) as f32;
    }
}

/// `R = max(R - scale U V, 0)`; zeros are removed.
fn subtract(left: &mut Tiles<f32>, u: &Dense<f32>, v_t: &Dense<f32>, scale: f64) {
    let panel = left.panel();
    subtract_and_clip(left.blocks_mut(), panel, u.padded(), v_t, scale as f32);
}

/// `R = max(R - scale (u V + v Uᵀ) / 2, 0)`.
fn subtract_mirrored(
    left: &mut Tiles<f32>,
    u: &Dense<f32>,
    v_t: &Dense<f32>,
    column: &Dense<f32>,
    all_u: &Dense<f32>,
    scale: f64,
) {
    // What is negative after the first half stays so after the second one.
    subtract(left, u, v_t, 0.5 * scale);
    subtract(left, column, all_u, 0.5 * scale);
}

fn rows_of(all: &Dense<f32>, rows: &[usize]) -> Dense<f32> {
    Dense::from_fn(rows.len(), all.width(), |row, col| all.row(rows[row])[col])
}

fn scale(rows: &mut Rows, scales: &[f64]) {
    for (matrix, &scale) in rows.iter_mut().zip(scales) {
        if scale != 1.0 {
            let scaled = matrix.values().iter().map(|&value| value * scale as f32).collect();
            *matrix = matrix.with_values(scaled);
        }
    }
}

/// The rows, cut as those of a matrix with the usual number of entries.
fn tiles(rows: Rows) -> Vec<Tiles<f32>> {
    let cut = |matrix: Csr<f32>| {
        let (count, nodes) = (matrix.rows(), matrix.cols());
        Tiles::part_of(nodes, nodes * USUAL_ENTRIES.min(nodes), count, nodes, vec![matrix])
    };
    rows.into_iter().map(cut).collect()
}

/// The squared norms of some rows over all matrices.
fn norms_of<'a>(matrices: impl Iterator<Item = &'a Csr<f32>> + Clone, rows: &[usize]) -> Vec<f64> {
    let square = |&value: &f32| f64::from(value) * f64::from(value);
    let norm = |&row: &usize| matrices.clone().flat_map(|matrix| matrix.row(row).1.iter().map(square)).sum();
    rows.iter().map(norm).collect()
}

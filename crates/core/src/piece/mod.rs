//! What one factorization adds to a fit: everything that is needed to apply it again without computing it.
//!
//! A stage is one piece (consensus) or one per view (unique). Applying the pieces of finished stages to the proximity
//! matrices gives the residuals, bit for bit; so pieces are what checkpoints store.

mod file;
mod fitted;

use std::ops::Range;
use std::time::Instant;

pub(crate) use file::{PieceHeader, Summed, read_f64, read_rows, write_numbers, write_rows};
pub use fitted::{Explained, FittedFactors, FittedPiece};

use crate::comm::{self, Comm};
use crate::mnmf::{Consensus, Scale};
use crate::nmf::Factors;
use manyview_base::linalg::Dense;

/// One factorization, not yet subtracted from its views.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The views that were factorized.
    pub views: Vec<usize>,
    /// The kind of consensus stage, if it is one.
    pub consensus: Option<Consensus>,
    /// Its columns of the embedding.
    pub columns: Range<usize>,
    /// U as the solver returned it, the rows of this rank.
    pub u: Dense<f32>,
    /// A V per view, or one for all views; transposed.
    pub v_t: Vec<Dense<f32>>,
    /// `scale U V` is subtracted from each view.
    pub scales: Vec<f64>,
    /// The weight of each view.
    pub weights: Vec<f64>,
    /// The factors of the columns of U in the embedding.
    pub column_scales: Vec<f64>,
    /// The number of iterations.
    pub iterations: usize,
    /// Whether it converged before `max_iter`.
    pub converged: bool,
    /// Wall time of the factorization.
    pub seconds: f64,
}

impl Piece {
    /// A piece from factors: each view has its own V, and `U V` is subtracted from it.
    pub(crate) fn new(
        views: &[usize],
        columns: Range<usize>,
        factors: Factors<f32>,
        scale: Scale,
        began: Instant,
    ) -> Self {
        Piece {
            views: views.to_vec(),
            consensus: None,
            columns,
            scales: vec![1.0; views.len()],
            column_scales: column_scales(&factors.u_norms, &factors.v_norms, scale),
            weights: factors.weights,
            iterations: factors.objective.len(),
            converged: factors.converged,
            u: factors.u,
            v_t: factors.v_t,
            seconds: began.elapsed().as_secs_f64(),
        }
    }

    /// The same with all rows of U.
    pub fn gathered(&self, nodes: usize, comm: &dyn Comm) -> Self {
        let mut u = Dense::zeros(nodes, self.u.width());
        comm::all_gather(comm, self.u.padded(), u.padded_mut());
        Piece { u, ..self.clone() }
    }
}

/// The factor of each column of U, given the norms of the columns of U and of the rows of each V_k.
///
/// A column without a counterpart in any V explains nothing and becomes 0.
fn column_scales(u_norms: &[f64], v_norms: &[Vec<f64>], scale: Scale) -> Vec<f64> {
    let views = v_norms.len() as f64;
    let of_column = |(column, &u_norm): (usize, &f64)| {
        let v_norm = (v_norms.iter().map(|norms| norms[column] * norms[column]).sum::<f64>() / views).sqrt();
        match scale {
            // Norms that f32 cannot hold are those of columns of zeros.
            _ if v_norm as f32 == 0.0 || u_norm as f32 == 0.0 => 0.0,
            Scale::Raw => 1.0,
            Scale::Balanced => (v_norm / u_norm).sqrt(),
        }
    };
    u_norms.iter().enumerate().map(of_column).collect()
}

//! What one factorization adds to a fit: all that is needed to do it again without computing it again.
//!
//! A stage is one piece (consensus) or one for each view (unique). Applying the pieces of the stages that are done
//! to the proximity matrices gives the residuals, bit for bit; so pieces are what checkpoints hold.

use std::ops::Range;
use std::time::Instant;

use crate::comm::Comm;
use crate::mnmf::{Consensus, Scale};
use crate::nmf::Factors;
use manyview_base::linalg::Dense;

/// One factorization, found and not yet taken away from its views.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The views it was found in.
    pub views: Vec<usize>,
    /// How, in a consensus stage.
    pub consensus: Option<Consensus>,
    /// Its columns of the embedding.
    pub columns: Range<usize>,
    /// U as the solver left it, this rank's rows.
    pub u: Dense<f32>,
    /// A V for each view, or one for all; transposed.
    pub v_t: Vec<Dense<f32>>,
    /// Each view loses `scale U V`.
    pub scales: Vec<f64>,
    /// The weight of each view.
    pub weights: Vec<f64>,
    /// What U's columns are multiplied with in the embedding.
    pub column_scales: Vec<f64>,
    /// Iterations it took.
    pub iterations: usize,
    /// Whether it converged before `max_iter`.
    pub converged: bool,
    /// Time it took to find.
    pub seconds: f64,
}

impl Piece {
    /// Makes a piece of factors: each view has its own V and loses `U V`.
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
    pub fn gathered<C: Comm>(&self, nodes: usize, comm: &C) -> Self {
        let mut u = Dense::zeros(nodes, self.u.width());
        comm.all_gather(self.u.padded(), u.padded_mut());
        Piece { u, ..self.clone() }
    }
}

/// What each column of U is multiplied with, given the norms of U's columns and of the rows of each V_k.
///
/// A column without a counterpart in any V says nothing and becomes 0.
fn column_scales(u_norms: &[f64], v_norms: &[Vec<f64>], scale: Scale) -> Vec<f64> {
    let views = v_norms.len() as f64;
    let of_column = |(column, &u_norm): (usize, &f64)| {
        let v_norm = (v_norms.iter().map(|norms| norms[column] * norms[column]).sum::<f64>() / views).sqrt();
        match scale {
            _ if v_norm == 0.0 || u_norm == 0.0 => 0.0,
            Scale::Raw => 1.0,
            Scale::Balanced => (v_norm / u_norm).sqrt(),
        }
    };
    u_norms.iter().enumerate().map(of_column).collect()
}

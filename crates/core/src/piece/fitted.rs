//! All pieces of a fit, with what else a row of U follows from.

use super::Piece;
use manyview_base::linalg::Dense;

/// The factors of a fit, in the order in which they were computed.
#[derive(Clone, Debug, Default)]
pub struct FittedFactors {
    /// What each matrix was multiplied by before the first stage: the views, and their union after them if it took part.
    pub matrix_scales: Vec<f64>,
    /// The factorizations.
    pub pieces: Vec<FittedPiece>,
}

/// One factorization, with all rows of U.
#[derive(Clone, Debug)]
pub struct FittedPiece {
    /// The stage, from 1.
    pub stage: usize,
    /// What was found.
    pub piece: Piece,
    /// What the residual of each view is multiplied by in the target of U: the weights of a shared stage in the units of its errors, and 1
    /// in others.
    pub shares: Vec<f64>,
    /// Views that were added after the fit, and what U explains of them. U does not depend on them.
    pub explained: Vec<Explained>,
}

/// What the U of a factorization explains of a view that was added later: `U V` is subtracted from it.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The view.
    pub view: usize,
    /// Its V, transposed.
    pub v_t: Dense<f32>,
}

//! The matrices that a stage approximates.

use manyview_base::linalg::{Real, Tiles};

/// A matrix to be approximated: the sum of its parts. With several ranks, this rank's rows of it.
#[derive(Clone, Debug)]
pub struct Target<'a, T> {
    pub(super) parts: Vec<&'a Tiles<T>>,
    /// `||R||^2` over all ranks.
    pub(super) squared_norm: f64,
    /// The unit of the error; `||R||^2` makes errors relative.
    pub(super) unit: f64,
}

impl<'a, T: Real> Target<'a, T> {
    /// One matrix and its squared norm over all ranks.
    pub fn new(matrix: &'a Tiles<T>, squared_norm: f64) -> Self {
        Target { parts: vec![matrix], squared_norm, unit: 1.0 }
    }

    /// The sum of several matrices, and the squared norm of that sum over all ranks.
    pub fn sum_of(parts: Vec<&'a Tiles<T>>, squared_norm: f64) -> Self {
        Target { parts, squared_norm, unit: 1.0 }
    }

    /// The same target, with its error relative to its squared norm.
    pub fn relative(self) -> Self {
        Target { unit: self.squared_norm, ..self }
    }
}

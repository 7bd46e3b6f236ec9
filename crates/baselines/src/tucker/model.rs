//! The parameters of the model, and their initial values.
//!
//! The score of (subject, relation, object) is `W x_1 w_r x_2 e_s x_3 e_o`: three vectors against a core tensor.
//!
//! Invariant: `core` is ordered by the subject's dimension, then the relation's, then the object's. So everything that
//! belongs to one dimension of the subject is contiguous, and is computed by one thread.

use std::f64::consts::TAU;

use manyview_base::linalg::Real;
use manyview_base::random::{Key, open_unit_f64, unit_f64};

/// The sizes of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) nodes: usize,
    pub(super) relations: usize,
    /// The length of the vector of a node.
    pub(super) dim: usize,
    /// The length of the vector of a relation.
    pub(super) relation_dim: usize,
}

/// All parameters; gradients have the same form.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameters<T> {
    pub(super) shape: Shape,
    /// A row of `dim` for each node: the embedding.
    pub(super) entities: Vec<T>,
    /// A row of `relation_dim` for each relation.
    pub(super) relations: Vec<T>,
    /// `dim x relation_dim x dim`.
    pub(super) core: Vec<T>,
    pub(super) input_scale: Vec<T>,
    pub(super) input_shift: Vec<T>,
    pub(super) hidden_scale: Vec<T>,
    pub(super) hidden_shift: Vec<T>,
}

impl<T: Real> Parameters<T> {
    pub(super) fn zeros(shape: Shape) -> Self {
        let Shape { nodes, relations, dim, relation_dim } = shape;
        let zeros = manyview_base::memory::zeros;
        Parameters {
            shape,
            entities: zeros(nodes * dim),
            relations: zeros(relations * relation_dim),
            core: zeros(dim * relation_dim * dim),
            input_scale: zeros(dim),
            input_shift: zeros(dim),
            hidden_scale: zeros(dim),
            hidden_shift: zeros(dim),
        }
    }

    /// Returns the initial values: vectors are normal with variance 2 / (rows + columns) of their table, the core is
    /// uniform in (-1, 1). `relation_keys` are the keys of the relations' random numbers.
    pub(super) fn start(shape: Shape, key: Key, relation_keys: &[Key]) -> Self {
        let Shape { nodes, relations, dim, relation_dim } = shape;
        assert_eq!(relation_keys.len(), relations, "a key for each relation");
        let mut start = Self::zeros(shape);
        let deviation = |rows: usize, cols: usize| (2.0 / (rows + cols) as f64).sqrt();
        for (node, row) in start.entities.chunks_exact_mut(dim).enumerate() {
            fill_normal(row, key.with(0).with(node as u64), deviation(nodes, dim));
        }
        for (row, &key) in start.relations.chunks_exact_mut(relation_dim).zip(relation_keys) {
            fill_normal(row, key, deviation(relations, relation_dim));
        }
        for (line, row) in start.core.chunks_exact_mut(dim).enumerate() {
            let uniform = |at: usize| T::from_f64(2.0 * unit_f64(key.with(1).at(line, at)) - 1.0);
            row.iter_mut().enumerate().for_each(|(at, x)| *x = uniform(at));
        }
        start.input_scale.fill(T::ONE);
        start.hidden_scale.fill(T::ONE);
        start
    }

    /// Returns all tables, always in the same order.
    pub(super) fn tables(&self) -> [&[T]; 7] {
        let norms = [&self.input_scale, &self.input_shift, &self.hidden_scale, &self.hidden_shift];
        let [a, b, c, d] = norms.map(Vec::as_slice);
        [&self.entities, &self.relations, &self.core, a, b, c, d]
    }

    /// Returns the same tables, mutable.
    pub(super) fn tables_mut(&mut self) -> [&mut [T]; 7] {
        [
            &mut self.entities,
            &mut self.relations,
            &mut self.core,
            &mut self.input_scale,
            &mut self.input_shift,
            &mut self.hidden_scale,
            &mut self.hidden_shift,
        ]
    }
}

/// Writes normal random numbers, by the Box-Muller method.
fn fill_normal<T: Real>(row: &mut [T], key: Key, deviation: f64) {
    for (at, x) in row.iter_mut().enumerate() {
        let radius = (-2.0 * libm::log(open_unit_f64(key.at(at, 0)))).sqrt();
        *x = T::from_f64(deviation * radius * libm::cos(TAU * unit_f64(key.at(at, 1))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_has_the_right_spread() {
        let shape = Shape { nodes: 300, relations: 2, dim: 40, relation_dim: 10 };
        let start = Parameters::<f64>::start(shape, Key::new(1), &[Key::new(2), Key::new(3)]);
        let variance = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
        assert!((variance(&start.entities) * 340.0 / 2.0 - 1.0).abs() < 0.05);
        assert!((variance(&start.core) * 3.0 - 1.0).abs() < 0.05);
        assert!((variance(&start.relations) * 12.0 / 2.0 - 1.0).abs() < 0.9);
        assert!(start.core.iter().all(|x| x.abs() < 1.0));
    }
}

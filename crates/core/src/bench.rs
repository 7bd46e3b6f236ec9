//! The kernels as `benches/kernels.rs` calls them. Only there with the feature `bench`, and no part of the
//! interface: it may change in any release.

use crate::config::Solver;
use crate::linalg::{BLOCK_ROWS, Dense, Real, Tiles, gram, kernels};
use crate::methods::{self, DeepWalk};
use crate::network::Network;
use crate::nmf::update::{Rule, update_rows};

/// Adds `R Vᵀ` to `out`.
pub fn products<T: Real>(matrix: &Tiles<T>, v_t: &Dense<T>, out: &mut Dense<T>) {
    let len = BLOCK_ROWS * out.stride();
    for (block, out) in matrix.blocks().iter().zip(out.padded_mut().chunks_mut(len)) {
        kernels::add_products(block, matrix.panel(), v_t, out);
    }
}

/// Adds `(Uᵀ R)ᵀ` to `out`.
pub fn transposed_products<T: Real>(matrix: &Tiles<T>, u: &Dense<T>, out: &mut Dense<T>) {
    let len = matrix.panel() * out.stride();
    for (index, out) in out.padded_mut().chunks_mut(len).enumerate() {
        kernels::add_transposed_products(matrix, index, u, out);
    }
}

/// `XᵀX`.
pub fn gram<T: Real>(x: &Dense<T>) -> Vec<f64> {
    gram::gram(x)
}

/// Updates all rows of a factor.
pub fn update<T: Real>(solver: Solver, x: &mut Dense<T>, numerators: &Dense<T>, gram: &[T]) {
    let stride = x.stride();
    let rule = Rule { solver, epsilon: 0.0 };
    update_rows(rule, x.padded_mut(), numerators.padded(), stride, gram);
}

/// All walks that [`DeepWalk`] trains on in a network's first view with seed 0, in their order.
pub fn walks(network: &Network, settings: &DeepWalk) -> Vec<Vec<u32>> {
    methods::walks_of(network, settings)
}

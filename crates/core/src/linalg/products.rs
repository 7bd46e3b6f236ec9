//! A sum of sparse matrices times a tall factor, from either side. The sum is never formed.
//!
//! Invariant: each row of a product is summed by one task in a fixed order.

use rayon::prelude::*;

use super::kernels::{add_products, add_transposed_products};
use super::{BLOCK_ROWS, Dense, Real, Tiles};

/// `(A_1 + A_2 + ...) X`. When `going` says no, the rest is left zero.
pub(crate) fn times<T: Real>(
    parts: &[&Tiles<T>],
    x: &Dense<T>,
    going: &(dyn Fn() -> bool + Sync),
) -> Dense<T> {
    let mut product = Dense::zeros(parts[0].rows(), x.width());
    let length = BLOCK_ROWS * product.stride();
    product.padded_mut().par_chunks_mut(length).enumerate().for_each(|(block, out)| {
        if going() {
            parts.iter().for_each(|part| add_products(&part.blocks()[block], part.panel(), x, out));
        }
    });
    product
}

/// Writes `(A_1 + A_2 + ...)ᵀ X` to `product`. Each task owns a range of columns of A, so that nothing is added in a
/// racing order. When `going` says no, the rest is left zero.
pub(crate) fn transposed_times<T: Real>(
    parts: &[&Tiles<T>],
    x: &Dense<T>,
    product: &mut Dense<T>,
    going: &(dyn Fn() -> bool + Sync),
) {
    let stride = product.stride();
    let columns = parts.iter().map(|part| part.panel()).max().unwrap_or(1);
    product.padded_mut().par_chunks_mut(columns * stride).enumerate().for_each(|(task, out)| {
        out.fill(T::ZERO);
        for part in parts.iter().filter(|_| going()) {
            let first = task * (columns / part.panel());
            for (index, out) in out.chunks_mut(part.panel() * stride).enumerate() {
                add_transposed_products(part, first + index, x, out);
            }
        }
    });
}

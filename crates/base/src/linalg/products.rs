//! Products of a sum of sparse matrices with a tall factor, from either side. The sum is never formed.
//!
//! Invariant: each row of a product is summed by one task in a fixed order.

use rayon::prelude::*;

use super::kernels::{add_products, add_transposed_products};
use super::{BLOCK_ROWS, Dense, Real, Tiles};

/// Wider factors are cut into slices of this many columns. Rows that are far apart share few sets of the first-level
/// cache; with slices, the transposed product with 256 columns takes a fifth less time (10 M entries).
const SLICE: usize = 32;
const WIDEST: usize = 64;

/// Returns `(A_1 + A_2 + ...) X`. When `going` returns false, the rest is left zero.
pub fn times<M: Real, T: Real>(
    parts: &[&Tiles<M>],
    x: &Dense<T>,
    going: &(dyn Fn() -> bool + Sync),
) -> Dense<T> {
    let mut product = Dense::zeros(parts[0].rows(), x.width());
    let rows = rows_together(parts);
    in_slices(x, &mut product, |x, product| {
        let length = rows * product.stride();
        product.padded_mut().par_chunks_mut(length).enumerate().for_each(|(task, out)| {
            if going() {
                parts.iter().for_each(|part| add_rows(part, task * rows, x, out));
            }
        });
    });
    product
}

/// The number of rows of a product that one task computes.
pub fn rows_together<M: Real>(parts: &[&Tiles<M>]) -> usize {
    parts.iter().map(|part| part.rows_together()).max().unwrap_or(BLOCK_ROWS)
}

/// Adds rows of `A X` to `out`, as many as it has, from row `first` on: a multiple of [`Tiles::rows_together`].
///
/// Of a symmetric matrix `T + D + Tᵀ`, the rows of T are gathered and the columns of T scattered, so that all threads read
/// all of T, and none writes where another one does.
pub fn add_rows<M: Real, T: Real>(part: &Tiles<M>, first: usize, x: &Dense<T>, out: &mut [T]) {
    let stride = x.stride();
    let blocks = &part.blocks()[first / BLOCK_ROWS..];
    let count = out.len().div_ceil(BLOCK_ROWS * stride).min(blocks.len());
    add_products(&blocks[..count], part.panel(), x, out);
    let Some(diagonal) = part.diagonal() else { return };
    for (index, out) in out.chunks_mut(part.panel() * stride).enumerate() {
        add_transposed_products(part, first / part.panel() + index, x, out);
    }
    let x_rows = x.padded()[first * stride..].chunks(stride);
    for ((out, x), &value) in out.chunks_mut(stride).zip(x_rows).zip(&diagonal[first..]) {
        let value = T::from_f64(value.to_f64());
        out.iter_mut().zip(x).for_each(|(out, &x)| *out += value * x);
    }
}

/// Writes `(A_1 + A_2 + ...)ᵀ X` to `product`. Each task owns a range of columns of A, so that the order of additions
/// is fixed. When `going` returns false, the rest is left zero.
pub fn transposed_times<M: Real, T: Real>(
    parts: &[&Tiles<M>],
    x: &Dense<T>,
    product: &mut Dense<T>,
    going: &(dyn Fn() -> bool + Sync),
) {
    // The columns of a symmetric matrix are its rows.
    let together = |part: &Tiles<M>| match part.diagonal() {
        Some(_) => part.rows_together(),
        None => part.panel(),
    };
    let columns = parts.iter().map(|part| together(part)).max().unwrap_or(1);
    in_slices(x, product, |x, product| {
        let stride = product.stride();
        product.padded_mut().par_chunks_mut(columns * stride).enumerate().for_each(|(task, out)| {
            out.fill(T::ZERO);
            for part in parts.iter().filter(|_| going()) {
                if part.diagonal().is_some() {
                    add_rows(part, task * columns, x, out);
                    continue;
                }
                let first = task * (columns / part.panel());
                for (index, out) in out.chunks_mut(part.panel() * stride).enumerate() {
                    add_transposed_products(part, first + index, x, out);
                }
            }
        });
    });
}

/// Calls `multiply` with a factor and its product, or with each slice of the columns of both. Columns are independent
/// of each other, so this changes no bit.
fn in_slices<T: Real>(x: &Dense<T>, product: &mut Dense<T>, multiply: impl Fn(&Dense<T>, &mut Dense<T>)) {
    if x.width() <= WIDEST {
        return multiply(x, product);
    }
    for from in (0..x.width()).step_by(SLICE) {
        let width = SLICE.min(x.width() - from);
        let slice = Dense::from_fn(x.rows(), width, |row, col| x.row(row)[from + col]);
        let mut part = Dense::zeros(product.rows(), width);
        multiply(&slice, &mut part);
        for row in 0..part.rows() {
            product.row_mut(row)[from..from + width].copy_from_slice(part.row(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Csr;
    use crate::linalg::tiles::{in_pairs, random_symmetric, symmetric, symmetric_in_pairs};

    #[test]
    fn half_of_a_symmetric_matrix_gives_the_products_of_the_whole() {
        for (nodes, density) in [(1, 1.0), (300, 0.2), (900, 0.004)] {
            let matrix = random_symmetric(nodes, density, 4);
            let (whole, half) = (Tiles::from_csr(&matrix), symmetric(&matrix));
            for width in [1, 5, 40] {
                let x = Dense::from_fn(nodes, width, |row, col| ((row * 7 + col * 3) % 11) as f64 - 4.5);
                let expected = times(&[&whole, &whole], &x, &|| true);
                let mut transposed = Dense::zeros(nodes, width);
                transposed_times(&[&half, &whole], &x, &mut transposed, &|| true);
                for found in [times(&[&half, &whole], &x, &|| true), transposed] {
                    let mut pairs = found.padded().iter().zip(expected.padded());
                    assert!(
                        pairs.all(|(found, expected)| (found - expected).abs() < 1e-10),
                        "{nodes} {width}"
                    );
                }
            }
        }
    }

    /// Against runs, and on any number of threads the same bits; also with a part in runs and one in pairs, and with panels of
    /// different widths.
    #[test]
    fn products_with_pairs_are_those_with_runs() {
        let x = |rows: usize, width: usize| {
            Dense::from_fn(rows, width, |row, col| ((row * 7 + col * 3) % 11) as f64 - 4.5)
        };
        for (nodes, density) in [(1, 1.0), (300, 0.2), (900, 0.004), (2100, 0.002)] {
            let matrix = random_symmetric(nodes, density, 4);
            let rectangle = Csr::<f64>::random(nodes, nodes + 77, density, 3);
            let (half, whole) = (symmetric_in_pairs(&matrix, 128), in_pairs(&matrix, 256));
            let (runs, wide) = (symmetric(&matrix), in_pairs(&rectangle, 64));
            for width in [1, 5, 33, 64, 70] {
                let check = |parts: &[&Tiles<f64>], expected: &[&Tiles<f64>]| {
                    let (x, y) = (x(parts[0].cols(), width), x(parts[0].rows(), width));
                    let both = |parts: &[&Tiles<f64>], threads: usize| {
                        let mut transposed = Dense::zeros(parts[0].cols(), width);
                        let pool = crate::parallel::Pool::new(Some(threads)).unwrap();
                        pool.run(|| transposed_times(parts, &y, &mut transposed, &|| true));
                        [pool.run(|| times(parts, &x, &|| true)), transposed]
                    };
                    let (found, expected) = (both(parts, 1), both(expected, 1));
                    for (found, expected) in found.iter().zip(&expected) {
                        let mut pairs = found.padded().iter().zip(expected.padded());
                        assert!(pairs.all(|(found, expected)| (found - expected).abs() < 1e-10));
                    }
                    for threads in [2, 3, 8] {
                        assert_eq!(both(parts, threads), found);
                    }
                };
                assert_eq!(half.blocks_together(), if nodes > 2000 { 2 } else { 1 });
                check(&[&half], &[&runs]);
                check(&[&half, &runs], &[&runs, &runs]);
                check(&[&half, &whole], &[&runs, &runs]);
                check(&[&wide], &[&Tiles::from_csr(&rectangle)]);
            }
        }
    }

    /// Compares wide factors, which are sliced, with single columns.
    #[test]
    fn every_column_is_multiplied_as_if_alone() {
        let matrices =
            [(0.1, 1), (0.002, 2)].map(|(density, seed)| Csr::<f64>::random(200, 700, density, seed));
        let tiles = matrices.each_ref().map(Tiles::from_csr);
        let parts = tiles.each_ref();
        for width in [3, 64, 65, 100] {
            let x = Dense::from_fn(700, width, |row, col| ((row * 7 + col * 3) % 11) as f64 - 4.5);
            let y = Dense::from_fn(200, width, |row, col| ((row * 5 + col * 2) % 13) as f64 - 5.5);
            let (there, mut back) = (times(&parts, &x, &|| true), Dense::zeros(700, width));
            transposed_times(&parts, &y, &mut back, &|| true);
            for col in 0..width {
                let alone = |x: &Dense<f64>| Dense::from_fn(x.rows(), 1, |row, _| x.row(row)[col]);
                let (there_alone, mut back_alone) =
                    (times(&parts, &alone(&x), &|| true), Dense::zeros(700, 1));
                transposed_times(&parts, &alone(&y), &mut back_alone, &|| true);
                assert_eq!(alone(&there), there_alone, "width {width}");
                assert_eq!(alone(&back), back_alone, "width {width}");
            }
        }
    }
}

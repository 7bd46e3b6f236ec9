//! The passes over tiles: `R Vᵀ` by row blocks, `Uᵀ R` by column panels, and functions that need `U V` on the pattern
//! of R.
//!
//! Widths are compile-time constants: a stage is narrow, and a loop of known length over registers is two to three
//! times as fast as one of unknown length. Wider factors are processed 32 columns at a time.
//!
//! Invariant: the result of each function depends only on its arguments, not on threads or vector width.

use std::sync::LazyLock;

use super::tiles::{BLOCK_ROWS, Block};
use super::{Dense, Real, Tiles};

/// The environment variable that disables wide vectors when it is set to 1. Slower, with the same result.
pub const PORTABLE: &str = "MANYVIEW_PORTABLE";

/// Read once. Tests that compare both settings start a process for each.
static ARCH: LazyLock<Option<pulp::Arch>> =
    LazyLock::new(|| (std::env::var_os(PORTABLE).is_none_or(|value| value != "1")).then(pulp::Arch::new));

/// Runs `f` with the widest vectors of this machine. `f` and everything it calls must be `inline(always)`: code that
/// is not inlined is compiled for the baseline.
#[inline(always)]
pub fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    match *ARCH {
        Some(arch) => arch.dispatch(f),
        None => f(),
    }
}

/// Returns whether the kernels use wider vectors than the baseline of the architecture.
pub fn uses_wide_vectors() -> bool {
    match *ARCH {
        #[cfg(target_arch = "x86_64")]
        Some(arch) => !matches!(arch, pulp::Arch::Scalar),
        _ => false,
    }
}

/// Calls `$body` with the constant `$width` for each window of columns of a factor with stride `$stride`.
macro_rules! for_each_window {
    ($stride:expr, |$offset:ident, $width:ident| $body:expr) => {{
        let stride: usize = $stride;
        let mut $offset = 0;
        while $offset < stride {
            let rest = (stride - $offset).min(32);
            for_each_window!(@pick rest, $width, $body, 4 8 12 16 20 24 28 32);
            $offset += rest;
        }
    }};
    (@pick $rest:ident, $width:ident, $body:expr, $($n:literal)*) => {
        match $rest {
            $($n => { const $width: usize = $n; $body })*
            _ => unreachable!("strides are multiples of 4, got a rest of {}", $rest),
        }
    };
}

pub(super) use for_each_window;

/// Adds `R Vᵀ` for the rows of some consecutive blocks to `out` (rows x stride). `v_t` is V transposed: one row per column
/// of R. The matrix may be of a narrower type than the factors.
pub fn add_products<M: Real, T: Real>(blocks: &[Block<M>], panel: usize, v_t: &Dense<T>, out: &mut [T]) {
    let stride = v_t.stride();
    for_each_window!(stride, |offset, WIDTH| vectorized(
        #[inline(always)]
        || {
            // A constant stride, which is the usual case, lets the compiler fold the address arithmetic.
            if stride == WIDTH {
                products_of_blocks::<M, T, WIDTH>(blocks, panel, v_t.padded(), WIDTH, 0, out);
            } else {
                products_of_blocks::<M, T, WIDTH>(blocks, panel, v_t.padded(), stride, offset, out);
            }
        }
    ));
}

#[inline(always)]
fn products_of_blocks<M: Real, T: Real, const WIDTH: usize>(
    blocks: &[Block<M>],
    panel: usize,
    v_t: &[T],
    stride: usize,
    offset: usize,
    out: &mut [T],
) {
    if !blocks.first().is_some_and(Block::in_pairs) {
        for (block, out) in blocks.iter().zip(out.chunks_mut(BLOCK_ROWS * stride)) {
            products_window::<M, T, WIDTH>(block, panel, v_t, stride, offset, out);
        }
        return;
    }
    // Panel by panel, so that this part of V stays in the cache. The order of additions to a row is the same.
    for (index, v_panel) in v_t.chunks(panel * stride).enumerate() {
        for (block, out) in blocks.iter().zip(out.chunks_mut(BLOCK_ROWS * stride)) {
            let (rows, cols, values) = block.pairs(index);
            let entries = rows.iter().zip(cols).zip(values);
            if stride == WIDTH {
                let (sums, v_rows) = (out.as_chunks_mut::<WIDTH>().0, v_panel.as_chunks::<WIDTH>().0);
                for ((&row, &col), &value) in entries {
                    add_multiple(&mut sums[usize::from(row)], converted(value), &v_rows[usize::from(col)]);
                }
            } else {
                for ((&row, &col), &value) in entries {
                    let sum = window_mut::<T, WIDTH>(out, u16::from(row), stride, offset);
                    add_multiple(sum, converted(value), window::<T, WIDTH>(v_panel, col, stride, offset));
                }
            }
        }
    }
}

#[inline(always)]
fn products_window<M: Real, T: Real, const WIDTH: usize>(
    block: &Block<M>,
    panel: usize,
    v_t: &[T],
    stride: usize,
    offset: usize,
    out: &mut [T],
) {
    for (index, v_panel) in v_t.chunks(panel * stride).enumerate().skip(block.first_panel()) {
        for row in 0..block.rows() {
            let (cols, values) = block.run(index, row);
            if cols.is_empty() {
                continue;
            }
            // Rows without gaps need one bounds check instead of two.
            let sum = if stride == WIDTH {
                let rows = v_panel.as_chunks::<WIDTH>().0;
                gather(cols, values, |col| &rows[usize::from(col)])
            } else {
                gather(cols, values, |col| window::<T, WIDTH>(v_panel, col, stride, offset))
            };
            add_to(&mut out[row * stride + offset..][..WIDTH], &sum);
        }
    }
}

/// `sum_e values[e] * v[cols[e]]`, with two independent chains of additions.
#[inline(always)]
fn gather<'a, M: Real, T: Real, const WIDTH: usize>(
    cols: &[u16],
    values: &[M],
    v: impl Fn(u16) -> &'a [T; WIDTH],
) -> [T; WIDTH] {
    let (mut even, mut odd) = ([T::ZERO; WIDTH], [T::ZERO; WIDTH]);
    let (col_pairs, last_col) = cols.as_chunks::<2>();
    let (value_pairs, last_value) = values.as_chunks::<2>();
    for (cols, values) in col_pairs.iter().zip(value_pairs) {
        add_multiple(&mut even, converted(values[0]), v(cols[0]));
        add_multiple(&mut odd, converted(values[1]), v(cols[1]));
    }
    if let ([col], [value]) = (last_col, last_value) {
        add_multiple(&mut even, converted(*value), v(*col));
    }
    add_to(&mut even, &odd);
    even
}

/// Converts between the number types; does nothing if they are the same.
#[inline(always)]
fn converted<M: Real, T: Real>(x: M) -> T {
    T::from_f64(x.to_f64())
}

/// Returns the columns `offset..offset + WIDTH` of row `row`.
#[inline(always)]
fn window<T, const WIDTH: usize>(x: &[T], row: u16, stride: usize, offset: usize) -> &[T; WIDTH] {
    x[usize::from(row) * stride + offset..].first_chunk().expect("the row is within the panel")
}

#[inline(always)]
fn window_mut<T, const WIDTH: usize>(x: &mut [T], row: u16, stride: usize, offset: usize) -> &mut [T; WIDTH] {
    x[usize::from(row) * stride + offset..].first_chunk_mut().expect("the row is within the panel")
}

/// `sum += factor * x` for vectors of constant width; see [`vector::add_multiple`](super::vector::add_multiple) for
/// slices. A constant width keeps `sum` in registers between calls, which a slice of unknown length does not.
#[inline(always)]
pub fn add_multiple<T: Real, const WIDTH: usize>(sum: &mut [T; WIDTH], factor: T, x: &[T; WIDTH]) {
    // By value: the compiler cannot prove that the two do not overlap, and would process one number at a time. A loop
    // instead of `array::from_fn`, which is not inlined everywhere and then compiled for the baseline, five times slower.
    let (mut new, x) = (*sum, *x);
    for lane in 0..WIDTH {
        new[lane] += factor * x[lane];
    }
    *sum = new;
}

#[inline(always)]
fn add_to<T: Real>(sum: &mut [T], part: &[T]) {
    for (sum, &part) in sum.iter_mut().zip(part) {
        *sum += part;
    }
}

/// Adds `(Uᵀ R)ᵀ` for the columns of one panel to `out` (panel columns x stride), row by row of R.
pub fn add_transposed_products<M: Real, T: Real>(
    tiles: &Tiles<M>,
    index: usize,
    u: &Dense<T>,
    out: &mut [T],
) {
    let stride = u.stride();
    for_each_window!(stride, |offset, WIDTH| vectorized(
        #[inline(always)]
        || {
            if stride == WIDTH {
                transposed_window::<M, T, WIDTH>(tiles, index, u.padded(), WIDTH, 0, out);
            } else {
                transposed_window::<M, T, WIDTH>(tiles, index, u.padded(), stride, offset, out);
            }
        }
    ));
}

#[inline(always)]
fn transposed_window<M: Real, T: Real, const WIDTH: usize>(
    tiles: &Tiles<M>,
    index: usize,
    u: &[T],
    stride: usize,
    offset: usize,
    out: &mut [T],
) {
    if tiles.blocks().first().is_some_and(Block::in_pairs) {
        for (block, u) in tiles.blocks_of_panel(index).iter().zip(u.chunks(BLOCK_ROWS * stride)) {
            let (rows, cols, values) = block.pairs(index);
            let entries = rows.iter().zip(cols).zip(values);
            if stride == WIDTH {
                let (sums, u_rows) = (out.as_chunks_mut::<WIDTH>().0, u.as_chunks::<WIDTH>().0);
                for ((&row, &col), &value) in entries {
                    add_multiple(&mut sums[usize::from(col)], converted(value), &u_rows[usize::from(row)]);
                }
            } else {
                for ((&row, &col), &value) in entries {
                    let u_row = window::<T, WIDTH>(u, u16::from(row), stride, offset);
                    add_multiple(window_mut::<T, WIDTH>(out, col, stride, offset), converted(value), u_row);
                }
            }
        }
        return;
    }
    let mut u_rows = u.chunks_exact(stride);
    for block in tiles.blocks_of_panel(index) {
        for row in 0..block.rows() {
            let u_row = u_rows.next().expect("U has a row for each row of R");
            // A copy, which stays in registers: the compiler cannot prove that U and the sums do not overlap.
            let u_row: [T; WIDTH] = *u_row[offset..].first_chunk().expect("the window is within the row");
            let (cols, values) = block.run(index, row);
            if stride == WIDTH {
                let rows = out.as_chunks_mut::<WIDTH>().0;
                for (&col, &value) in cols.iter().zip(values) {
                    add_multiple(&mut rows[usize::from(col)], converted(value), &u_row);
                }
            } else {
                for (&col, &value) in cols.iter().zip(values) {
                    add_multiple(window_mut::<T, WIDTH>(out, col, stride, offset), converted(value), &u_row);
                }
            }
        }
    }
}

/// Calls `$body` with the constant `$STRIDE`, which is `$stride` if that is one of the compiled values, else 0.
macro_rules! with_stride {
    ($stride:expr, |$STRIDE:ident| $body:expr) => {
        with_stride!(@pick $stride, $STRIDE, $body, 4 8 12 16 20 24 28 32 64)
    };
    (@pick $stride:expr, $STRIDE:ident, $body:expr, $($n:literal)*) => {
        match $stride {
            $($n => { const $STRIDE: usize = $n; $body })*
            _ => { const $STRIDE: usize = 0; $body }
        }
    };
}

/// Replaces R by `max(R - scale * U V, 0)` in some consecutive blocks and removes the zeros.
///
/// `u_rows` are the rows of U that belong to the blocks, with padding.
pub fn subtract_and_clip<T: Real>(
    blocks: &mut [Block<T>],
    panel: usize,
    u_rows: &[T],
    v_t: &Dense<T>,
    scale: T,
) {
    with_stride!(v_t.stride(), |STRIDE| vectorized(
        #[inline(always)]
        || {
            if blocks.first().is_some_and(Block::in_pairs) {
                subtract_pairs::<T, STRIDE>(blocks, panel, u_rows, v_t, scale);
                return;
            }
            for (block, u_rows) in blocks.iter_mut().zip(u_rows.chunks(BLOCK_ROWS * v_t.stride())) {
                subtract_rows::<T, STRIDE>(block, panel, u_rows, v_t, scale);
            }
        }
    ));
}

#[inline(always)]
fn subtract_rows<T: Real, const STRIDE: usize>(
    block: &mut Block<T>,
    panel: usize,
    u_rows: &[T],
    v_t: &Dense<T>,
    scale: T,
) {
    let stride = if STRIDE > 0 { STRIDE } else { v_t.stride() };
    block.retain(
        v_t.rows().div_ceil(panel),
        #[inline(always)]
        |index, row, cols, values| {
            let u_row = &u_rows[row * stride..][..stride];
            let v_panel = &v_t.padded()[index * panel * stride..];
            for (cols, values) in cols.chunks(DOTS).zip(values.chunks_mut(DOTS)) {
                let fitted = dots(
                    #[inline(always)]
                    |_| u_row,
                    v_panel,
                    stride,
                    cols,
                );
                for (value, &fitted) in values.iter_mut().zip(&fitted) {
                    *value = *value - scale * fitted;
                }
            }
        },
    );
}

/// Panel by panel, like the products; then what is zero is removed.
#[inline(always)]
fn subtract_pairs<T: Real, const STRIDE: usize>(
    blocks: &mut [Block<T>],
    panel: usize,
    u_rows: &[T],
    v_t: &Dense<T>,
    scale: T,
) {
    let stride = if STRIDE > 0 { STRIDE } else { v_t.stride() };
    for (index, v_panel) in v_t.padded().chunks(panel * stride).enumerate() {
        for (block, u_rows) in blocks.iter_mut().zip(u_rows.chunks(BLOCK_ROWS * stride)) {
            let (rows, cols, values) = block.pairs_mut(index);
            let rows_and_cols = rows.chunks(DOTS).zip(cols.chunks(DOTS));
            for ((rows, cols), values) in rows_and_cols.zip(values.chunks_mut(DOTS)) {
                let fitted = dots(
                    #[inline(always)]
                    |at| &u_rows[usize::from(rows[at]) * stride..][..stride],
                    v_panel,
                    stride,
                    cols,
                );
                for (value, &fitted) in values.iter_mut().zip(&fitted) {
                    *value = *value - scale * fitted;
                }
            }
        }
    }
    let panels = v_t.rows().div_ceil(panel);
    blocks.iter_mut().for_each(|block| block.retain(panels, |_, _, _, _| ()));
}

/// Returns `<R, U V>` and `<U V, U V>` over the entries of R in one block.
pub fn fit_on_pattern<T: Real>(block: &Block<T>, panel: usize, u_rows: &[T], v_t: &Dense<T>) -> (f64, f64) {
    with_stride!(v_t.stride(), |STRIDE| vectorized(
        #[inline(always)]
        || fit_of_rows::<T, STRIDE>(block, panel, u_rows, v_t)
    ))
}

#[inline(always)]
fn fit_of_rows<T: Real, const STRIDE: usize>(
    block: &Block<T>,
    panel: usize,
    u_rows: &[T],
    v_t: &Dense<T>,
) -> (f64, f64) {
    let stride = if STRIDE > 0 { STRIDE } else { v_t.stride() };
    let (mut cross, mut square) = (0.0, 0.0);
    for (index, v_panel) in v_t.padded().chunks(panel * stride).enumerate().skip(block.first_panel()) {
        block.for_each_run(
            index,
            #[inline(always)]
            |row, cols, values| {
                let u_row = &u_rows[row * stride..][..stride];
                for (cols, values) in cols.chunks(DOTS).zip(values.chunks(DOTS)) {
                    let fitted = dots(
                        #[inline(always)]
                        |_| u_row,
                        v_panel,
                        stride,
                        cols,
                    );
                    for (value, fitted) in values.iter().zip(fitted) {
                        let fitted = fitted.to_f64();
                        cross += value.to_f64() * fitted;
                        square += fitted * fitted;
                    }
                }
            },
        );
    }
    (cross, square)
}

/// The number of inner products that are computed together.
const DOTS: usize = 16;

/// Returns the inner products of a row of U for each of some rows of V with that row.
#[inline(always)]
fn dots<'a, T: Real>(
    u_row: impl Fn(usize) -> &'a [T],
    v_panel: &[T],
    stride: usize,
    cols: &[u16],
) -> [T; DOTS] {
    // The sums across a vector are dear, so only long rows fill the widest ones.
    if stride.is_multiple_of(16) && stride > 64 {
        dots_in_lanes::<T, 16>(u_row, v_panel, stride, cols)
    } else {
        dots_in_lanes::<T, 4>(u_row, v_panel, stride, cols)
    }
}

/// The same with this many partial sums for each product, a power of two.
#[inline(always)]
fn dots_in_lanes<'a, T: Real, const LANES: usize>(
    u_row: impl Fn(usize) -> &'a [T],
    v_panel: &[T],
    stride: usize,
    cols: &[u16],
) -> [T; DOTS] {
    // Partial sums are stored in memory: if they were summed immediately, the compiler would process one number at a
    // time throughout.
    let mut parts = [[T::ZERO; LANES]; DOTS];
    for (at, (parts, &col)) in parts.iter_mut().zip(cols).enumerate() {
        let v_row = &v_panel[usize::from(col) * stride..][..stride];
        let mut sums = [T::ZERO; LANES];
        for (x, y) in u_row(at).as_chunks::<LANES>().0.iter().zip(v_row.as_chunks::<LANES>().0) {
            let (mut new, x, y) = (sums, *x, *y);
            for lane in 0..LANES {
                new[lane] += x[lane] * y[lane];
            }
            sums = new;
        }
        *parts = sums;
    }
    let mut totals = [T::ZERO; DOTS];
    for (total, part) in totals.iter_mut().zip(&mut parts) {
        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                part[lane] += part[lane + half];
            }
            half /= 2;
        }
        *total = part[0];
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Csr;
    use crate::linalg::tiles::in_pairs;

    fn factor(rows: usize, width: usize, salt: usize) -> Dense<f64> {
        Dense::from_fn(rows, width, |row, col| ((row * 31 + col * 17 + salt) % 97) as f64 / 97.0)
    }

    fn naive_product(u: &Dense<f64>, v_t: &Dense<f64>, row: usize, col: usize) -> f64 {
        u.row(row).iter().zip(v_t.row(col)).map(|(x, y)| x * y).sum()
    }

    /// Widths below, at and above the compiled ones, and sizes around those of a block and a panel.
    const WIDTHS: [usize; 10] = [1, 3, 4, 5, 16, 31, 32, 33, 70, 79];
    const SHAPES: [(usize, usize, f64); 4] =
        [(1, 1, 1.0), (127, 256, 0.2), (129, 257, 0.05), (260, 700, 0.01)];

    fn for_all(check: impl Fn(&Csr<f64>, &Tiles<f64>, &Dense<f64>, &Dense<f64>)) {
        for (rows, cols, density) in SHAPES {
            let matrix = Csr::<f64>::random(rows, cols, density, 11);
            for tiles in [Tiles::from_csr(&matrix), in_pairs(&matrix, 64)] {
                for width in WIDTHS {
                    check(&matrix, &tiles, &factor(rows, width, 1), &factor(cols, width, 5));
                }
            }
        }
    }

    fn close(x: f64, y: f64) -> bool {
        (x - y).abs() <= 1e-12 * (1.0 + y.abs())
    }

    #[test]
    fn products_are_the_naive_ones() {
        for_all(|matrix, tiles, _, v_t| {
            let mut out = Dense::<f64>::zeros(matrix.rows(), v_t.width());
            let stride = out.stride();
            let together = tiles.blocks_together();
            let outs = out.padded_mut().chunks_mut(together * BLOCK_ROWS * stride);
            for (blocks, out) in tiles.blocks().chunks(together).zip(outs) {
                add_products(blocks, tiles.panel(), v_t, out);
            }
            for row in 0..matrix.rows() {
                let (cols, values) = matrix.row(row);
                for col in 0..v_t.width() {
                    let naive = cols.iter().zip(values).map(|(&j, r)| r * v_t.row(j as usize)[col]).sum();
                    assert!(close(out.row(row)[col], naive), "width {}", v_t.width());
                }
            }
        });
    }

    #[test]
    fn transposed_products_are_the_naive_ones() {
        for_all(|matrix, tiles, u, _| {
            let mut out = Dense::<f64>::zeros(matrix.cols(), u.width());
            let stride = out.stride();
            for (index, out) in out.padded_mut().chunks_mut(tiles.panel() * stride).enumerate() {
                add_transposed_products(tiles, index, u, out);
            }
            let transposed = matrix.transpose();
            for row in 0..matrix.cols() {
                let (rows, values) = transposed.row(row);
                for col in 0..u.width() {
                    let naive = rows.iter().zip(values).map(|(&i, r)| r * u.row(i as usize)[col]).sum();
                    assert!(close(out.row(row)[col], naive), "width {}", u.width());
                }
            }
        });
    }

    #[test]
    fn residual_is_the_naive_one_on_the_pattern() {
        for_all(|matrix, tiles, u, v_t| {
            let mut residual = tiles.clone();
            let (panel, stride) = (tiles.panel(), u.stride());
            let together = tiles.blocks_together();
            let u_rows = u.padded().chunks(together * BLOCK_ROWS * stride);
            for (blocks, u_rows) in residual.blocks_mut().chunks_mut(together).zip(u_rows) {
                subtract_and_clip(blocks, panel, u_rows, v_t, 0.1);
            }
            let mut left = Vec::new();
            for row in 0..matrix.rows() {
                for (&col, value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                    let rest = value - 0.1 * naive_product(u, v_t, row, col as usize);
                    if rest > 0.0 {
                        left.push((row, col, rest));
                    }
                }
            }
            let residual = residual.to_csr();
            assert_eq!(residual.entries(), left.len());
            for (row, col, rest) in left {
                let at = residual.row(row).0.binary_search(&col).expect("the entry is kept");
                assert!(close(residual.row(row).1[at], rest));
            }
        });
    }

    #[test]
    fn fit_is_the_naive_one_on_the_pattern() {
        for_all(|matrix, tiles, u, v_t| {
            let (mut cross, mut square) = (0.0, 0.0);
            for (block, u_rows) in tiles.blocks().iter().zip(u.padded().chunks(BLOCK_ROWS * u.stride())) {
                let part = fit_on_pattern(block, tiles.panel(), u_rows, v_t);
                cross += part.0;
                square += part.1;
            }
            let (mut naive_cross, mut naive_square) = (0.0, 0.0);
            for row in 0..matrix.rows() {
                for (&col, value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                    let fitted = naive_product(u, v_t, row, col as usize);
                    naive_cross += value * fitted;
                    naive_square += fitted * fitted;
                }
            }
            assert!(close(cross, naive_cross) && close(square, naive_square));
        });
    }
}

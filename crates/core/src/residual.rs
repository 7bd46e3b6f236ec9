//! The residual of a view: what the previous stages did not explain, and the input of the next stage.
//!
//! `R <- max(R - s U V, 0)`, with `(U V + Vᵀ Uᵀ) / 2` instead of `U V` where R stays symmetric. Invariant: a residual never gains
//! an entry, because `U V >= 0`. Its pattern is a subset of the pattern of the proximity matrix, and entries that become zero are
//! removed.

use std::ops::Range;

use rayon::prelude::*;

use crate::comm::{self, Comm};
use manyview_base::linalg::gram::{gram, inner};
use manyview_base::linalg::kernels::{fit_on_pattern, subtract_and_clip};
use manyview_base::linalg::products::times;
use manyview_base::linalg::sum::add_in_order;
use manyview_base::linalg::vector::product;
use manyview_base::linalg::{BLOCK_ROWS, Block, Dense, Real, Tiles};
use manyview_base::parallel::Pool;

/// The share of a squared norm below which a residual consists of rounding: numbers a millionth as large as before, of the 24 bits
/// that f32 has.
const ROUNDING: f64 = 1e-12;

/// This rank's rows of a view's residual, with sums over all ranks.
#[derive(Clone, Debug)]
pub struct Residual<T> {
    /// The remaining values.
    pub tiles: Tiles<T>,
    /// The sum of all values.
    pub sum: f64,
    /// `||R||^2`.
    pub squared_norm: f64,
    /// `||M||^2`, the squared norm before the first stage.
    pub first_squared_norm: f64,
    /// Number of entries.
    pub entries: usize,
    /// The rows of this rank, if the residual stays symmetric.
    symmetric: Option<Range<usize>>,
}

impl<T: Real> Residual<T> {
    /// The residual before the first stage: the matrix itself. With the rows of this rank in `symmetric`, what is subtracted is
    /// symmetric.
    pub fn new(tiles: Tiles<T>, symmetric: Option<Range<usize>>, pool: &Pool, comm: &dyn Comm) -> Self {
        let sums = pool.run(|| tiles.sums());
        let mut residual =
            Residual { tiles, sum: 0.0, squared_norm: 0.0, first_squared_norm: 0.0, entries: 0, symmetric };
        residual.measure(sums, comm);
        residual.first_squared_norm = residual.squared_norm;
        residual
    }

    /// Adds up the sums of all ranks.
    fn measure(&mut self, [sum, squares]: [f64; 2], comm: &dyn Comm) {
        let mut sums = [sum, squares, self.tiles.entries() as f64];
        comm::all_reduce_sum(comm, &mut sums);
        (self.sum, self.squared_norm, self.entries) = (sums[0], sums[1], sums[2] as usize);
    }

    /// Whether nothing is left but rounding. Stages that fitted rounding would fill columns with noise.
    pub fn is_empty(&self) -> bool {
        self.squared_norm <= ROUNDING * self.first_squared_norm
    }

    /// `||R||^2 / ||M||^2`: the fraction of the view that is not explained yet.
    pub fn share_left(&self) -> f64 {
        if self.first_squared_norm > 0.0 { self.squared_norm / self.first_squared_norm } else { 0.0 }
    }

    /// The mean over all pairs of nodes.
    pub fn mean(&self) -> f64 {
        let nodes = self.tiles.cols() as f64;
        self.sum / (nodes * nodes)
    }

    /// Subtracts `scale U V`, or half of it and half of its transpose.
    pub fn subtract(&mut self, u: &Dense<T>, v_t: &Dense<T>, scale: f64, pool: &Pool, comm: &dyn Comm) {
        let symmetric = self.symmetric.as_ref().map(|rows| both_halves(u, v_t, rows.clone(), comm));
        let (u, v_t) = symmetric.as_ref().map_or((u, v_t), |(u, v_t)| (u, v_t));
        let sums = subtract(&mut self.tiles, u, v_t, scale, pool);
        self.measure(sums, comm);
    }

    /// The scale `s` that minimizes `||R - s P||^2` over all pairs of nodes, where P is what [`subtract`](Self::subtract) subtracts
    /// with scale 1: `<R, P> / <P, P>`; 0 if P is 0.
    ///
    /// On the entries of R alone, a larger scale would fit better, and wipe out what is specific to a sparse view: where the
    /// views disagree, P is a smooth background that says little about any of them.
    pub fn best_scale(
        &self,
        u: &Dense<T>,
        v_t: &Dense<T>,
        squares: &SquaredProducts,
        pool: &Pool,
        comm: &dyn Comm,
    ) -> f64 {
        let square = self.squared_product(squares);
        if square <= 0.0 {
            return 0.0;
        }
        // Where P is symmetric, so is R, and the inner product is the same with `U V`.
        let cross = pool.run(|| inner(times(&[&self.tiles], v_t, &|| true).padded(), u.padded()));
        comm::sum(comm, cross) / square
    }

    /// `<P, P>` over all pairs of nodes, where P is what [`subtract`](Self::subtract) subtracts with scale 1.
    pub fn squared_product(&self, squares: &SquaredProducts) -> f64 {
        if self.symmetric.is_some() { squares.symmetric } else { squares.plain }
    }

    /// `<R, P>` and `<P, P>` over the entries of R, where P is what [`subtract`](Self::subtract) subtracts with scale 1.
    pub fn products(&self, u: &Dense<T>, v_t: &Dense<T>, pool: &Pool, comm: &dyn Comm) -> [f64; 2] {
        let symmetric = self.symmetric.as_ref().map(|rows| both_halves(u, v_t, rows.clone(), comm));
        let (u, v_t) = symmetric.as_ref().map_or((u, v_t), |(u, v_t)| (u, v_t));
        let mut sums = products_on_pattern(&self.tiles, u, v_t, pool);
        comm::all_reduce_sum(comm, &mut sums);
        sums
    }

    /// Two residuals without a common entry, this one being their sum: what is kept, and the pairs that are hidden. A pair is
    /// hidden or not whatever the view, and its two directions are hidden together; entries of the diagonal are kept.
    /// `rows` are those of this rank.
    pub fn hide(
        &self,
        is_hidden: &(impl Fn(usize, usize) -> bool + Sync),
        rows: Range<usize>,
        pool: &Pool,
        comm: &dyn Comm,
    ) -> [Self; 2] {
        [false, true].map(|wanted| {
            let mut tiles = self.tiles.clone();
            if let Some(diagonal) = tiles.diagonal_mut().filter(|_| wanted) {
                diagonal.fill(T::ZERO);
            }
            let (panel, panels) = (tiles.panel(), tiles.panels());
            let select = |(index, block): (usize, &mut Block<T>)| {
                let first = rows.start + index * BLOCK_ROWS;
                block.retain(panels, |at, row, cols, values| {
                    for (&col, value) in cols.iter().zip(values) {
                        let (row, col) = (first + row, at * panel + usize::from(col));
                        if (row != col && is_hidden(row.min(col), row.max(col))) != wanted {
                            *value = T::ZERO;
                        }
                    }
                });
            };
            pool.run(|| tiles.blocks_mut().par_iter_mut().enumerate().for_each(select));
            Residual::new(tiles, self.symmetric.clone(), pool, comm)
        })
    }
}

/// Squared norms of what is subtracted with scale 1, over all pairs of nodes.
#[derive(Clone, Copy, Debug)]
pub struct SquaredProducts {
    /// `||U V||^2`.
    plain: f64,
    /// `||U V + Vᵀ Uᵀ||^2 / 4`.
    symmetric: f64,
}

impl SquaredProducts {
    /// Those of U, of which `rows` are on this rank, and V.
    ///
    /// With the Gram matrix of `[U Vᵀ]`, whose blocks are `UᵀU`, `V Vᵀ` and `C = Uᵀ Vᵀ`: `||U V||^2 = <UᵀU, V Vᵀ>` and
    /// `<U V, Vᵀ Uᵀ> = <C, Cᵀ>`.
    pub fn new<T: Real>(
        u: &Dense<T>,
        v_t: &Dense<T>,
        rows: Range<usize>,
        pool: &Pool,
        comm: &dyn Comm,
    ) -> Self {
        let width = u.width();
        let beside = Dense::from_fn(u.rows(), 2 * width, |row, col| {
            if col < width { u.row(row)[col] } else { v_t.row(rows.start + row)[col - width] }
        });
        let mut whole = pool.run(|| gram(&beside));
        comm::all_reduce_sum(comm, &mut whole);
        let at = |row: usize, col: usize| whole[row * 2 * width + col];
        let pairs = || (0..width).flat_map(|a| (0..width).map(move |b| (a, b)));
        let plain: f64 = pairs().map(|(a, b)| at(a, b) * at(width + a, width + b)).sum();
        let turned: f64 = pairs().map(|(a, b)| at(a, width + b) * at(b, width + a)).sum();
        SquaredProducts { plain, symmetric: 0.5 * (plain + turned) }
    }
}

/// Factors of `(U V + Vᵀ Uᵀ) / 2`: `[U Vᵀ] / 2` and `[V; Uᵀ]`. `rows` are those of this rank.
fn both_halves<T: Real>(
    u: &Dense<T>,
    v_t: &Dense<T>,
    rows: Range<usize>,
    comm: &dyn Comm,
) -> (Dense<T>, Dense<T>) {
    let (width, stride, half) = (u.width(), u.stride(), T::from_f64(0.5));
    let mut all_u = vec![T::ZERO; v_t.rows() * stride];
    comm::all_gather(comm, u.padded(), &mut all_u);
    let left = Dense::from_fn(u.rows(), 2 * width, |row, col| {
        half * if col < width { u.row(row)[col] } else { v_t.row(rows.start + row)[col - width] }
    });
    let right = Dense::from_fn(v_t.rows(), 2 * width, |row, col| {
        if col < width { v_t.row(row)[col] } else { all_u[row * stride + col - width] }
    });
    (left, right)
}

/// `<R, U V>` and `<U V, U V>` over the entries of R; their quotient is the best scale of `U V` on this pattern.
pub fn products_on_pattern<T: Real>(
    matrix: &Tiles<T>,
    u: &Dense<T>,
    v_t: &Dense<T>,
    pool: &Pool,
) -> [f64; 2] {
    let panel = matrix.panel();
    let blocks = matrix.blocks().par_iter().zip(u.padded().par_chunks(BLOCK_ROWS * u.stride()));
    let products: Vec<(f64, f64)> =
        pool.run(|| blocks.map(|(block, u_rows)| fit_on_pattern(block, panel, u_rows, v_t)).collect());
    let sums: [f64; 2] =
        [products.iter().map(|product| product.0).sum(), products.iter().map(|product| product.1).sum()];
    let Some(diagonal) = matrix.diagonal() else { return sums };
    let entries = diagonal.iter().enumerate().filter(|&(_, &value)| value > T::ZERO);
    entries.fold(sums.map(|sum| 2.0 * sum), |[cross, square], (row, value)| {
        let fitted = product(u.row(row), v_t.row(row)).to_f64();
        [cross + value.to_f64() * fitted, square + fitted * fitted]
    })
}

/// Replaces the matrix by `max(R - scale U V, 0)` and removes zeros. Returns the sum of what is left, and of its squares: a block
/// is still in the cache when it is summed.
///
/// # Panics
/// If the shapes do not match.
pub fn subtract<T: Real>(
    matrix: &mut Tiles<T>,
    u: &Dense<T>,
    v_t: &Dense<T>,
    scale: f64,
    pool: &Pool,
) -> [f64; 2] {
    assert_eq!(
        (matrix.rows(), matrix.cols()),
        (u.rows(), v_t.rows()),
        "U must have the rows of R, and V its columns"
    );
    let (panel, scale) = (matrix.panel(), T::from_f64(scale));
    for (row, value) in matrix.diagonal_mut().into_iter().flatten().enumerate() {
        let rest = *value - scale * product(u.row(row), v_t.row(row));
        *value = if rest > T::ZERO { rest } else { T::ZERO };
    }
    let sums: Vec<[f64; 2]> = pool.run(|| {
        let together = matrix.blocks_together();
        let u_blocks = u.padded().par_chunks(together * BLOCK_ROWS * u.stride());
        let blocks = matrix.blocks_mut().par_chunks_mut(together).zip(u_blocks);
        let sums = blocks.flat_map_iter(|(blocks, u_rows)| {
            subtract_and_clip(blocks, panel, u_rows, v_t, scale);
            blocks.iter().map(Block::sums)
        });
        sums.collect()
    });
    matrix.with_other_half(add_in_order(&sums))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Local;
    use manyview_base::linalg::Csr;

    const NODES: usize = 300;

    /// A symmetric matrix, also with entries on its diagonal.
    fn value(row: usize, col: usize) -> f64 {
        let (low, high) = (row.min(col), row.max(col));
        if (low * 7 + high * 13) % 5 == 0 { 0.2 + ((low * 3 + high) % 11) as f64 } else { 0.0 }
    }

    fn block(rows: Range<usize>) -> Csr<f64> {
        let first = rows.start;
        let entries =
            rows.clone().flat_map(|row| (0..NODES).map(move |col| (row - first, col, value(row, col))));
        Csr::from_triplets(rows.len(), NODES, entries.filter(|entry| entry.2 > 0.0).collect::<Vec<_>>())
    }

    #[test]
    fn half_of_the_residual_is_that_of_the_whole() {
        let pool = Pool::new(Some(2)).unwrap();
        let factor =
            |salt: usize| Dense::from_fn(NODES, 5, |row, col| ((row * 5 + col * 3 + salt) % 7) as f64 / 9.0);
        let (u, v_t) = (factor(1), factor(4));
        let firsts = (0..NODES).step_by(BLOCK_ROWS);
        let upper = firsts.map(|from| block(from..(from + BLOCK_ROWS).min(NODES)).upper_triangle(from));
        let stored = [Tiles::symmetric(NODES, upper.collect()), Tiles::from_csr(&block(0..NODES))];
        let [mut half, mut whole] = stored.map(|tiles| Residual::new(tiles, Some(0..NODES), &pool, &Local));
        let near = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-12;
        let squares = SquaredProducts::new(&u, &v_t, 0..NODES, &pool, &Local);
        let fitted =
            |row: usize, col: usize| -> f64 { u.row(row).iter().zip(v_t.row(col)).map(|(x, y)| x * y).sum() };
        let (mut cross, mut plain, mut symmetric) = (0.0, 0.0, 0.0);
        for (row, col) in (0..NODES).flat_map(|row| (0..NODES).map(move |col| (row, col))) {
            let mean = 0.5 * (fitted(row, col) + fitted(col, row));
            cross += value(row, col) * mean;
            plain += fitted(row, col) * fitted(row, col);
            symmetric += mean * mean;
        }
        assert!(near(squares.plain, plain) && near(squares.symmetric, symmetric));
        assert!(near(half.best_scale(&u, &v_t, &squares, &pool, &Local), cross / symmetric));
        for _ in 0..2 {
            let [scale, expected] =
                [&half, &whole].map(|left| left.best_scale(&u, &v_t, &squares, &pool, &Local));
            assert!(near(scale, expected) && scale > 0.0, "{scale} {expected}");
            half.subtract(&u, &v_t, 0.4, &pool, &Local);
            whole.subtract(&u, &v_t, 0.4, &pool, &Local);
            assert!(near(half.sum, whole.sum) && near(half.squared_norm, whole.squared_norm));
            assert_eq!(half.entries, whole.entries);
        }
        // Against the definition.
        let (found, mut entries) = (half.tiles.to_csr(), 0);
        for row in 0..NODES {
            let (cols, values) = found.row(row);
            for col in 0..NODES {
                let expected = value(row, col) - 0.4 * (fitted(row, col) + fitted(col, row));
                let stored = cols.binary_search(&(col as u32)).map_or(0.0, |at| values[at]);
                assert!((stored - expected.max(0.0)).abs() < 1e-12, "({row}, {col}): {stored} {expected}");
            }
            entries += cols.len();
        }
        assert!(
            entries > NODES && entries < block(0..NODES).entries(),
            "some entries are left, some are not"
        );
    }
}

//! The residual of a view: what the previous stages did not explain, and the input of the next stage.
//!
//! `R <- max(R - s U V, 0)`. Invariant: a residual never gains an entry, because `U V >= 0`. Its pattern is a subset of
//! the pattern of the proximity matrix, and entries that become zero are removed.

use rayon::prelude::*;

use crate::comm::{self, Comm};
use manyview_base::linalg::kernels::{fit_on_pattern, subtract_and_clip};
use manyview_base::linalg::sum::add_in_order;
use manyview_base::linalg::{BLOCK_ROWS, Dense, Real, Tiles};
use manyview_base::parallel::Pool;

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
}

impl<T: Real> Residual<T> {
    /// The residual before the first stage: the matrix itself.
    pub fn new(tiles: Tiles<T>, pool: &Pool, comm: &dyn Comm) -> Self {
        let sums = pool.run(|| tiles.sums());
        let mut residual =
            Residual { tiles, sum: 0.0, squared_norm: 0.0, first_squared_norm: 0.0, entries: 0 };
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

    /// Whether the residual has no entries.
    pub fn is_empty(&self) -> bool {
        self.squared_norm == 0.0
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

    /// Subtracts `scale U V`.
    pub fn subtract(&mut self, u: &Dense<T>, v_t: &Dense<T>, scale: f64, pool: &Pool, comm: &dyn Comm) {
        let sums = subtract(&mut self.tiles, u, v_t, scale, pool);
        self.measure(sums, comm);
    }

    /// The scale `s` that minimizes the error of `s U V` on the pattern of R; 0 if `U V` is 0 there.
    pub fn best_scale(&self, u: &Dense<T>, v_t: &Dense<T>, pool: &Pool, comm: &dyn Comm) -> f64 {
        let mut sums = products_on_pattern(&self.tiles, u, v_t, pool);
        comm::all_reduce_sum(comm, &mut sums);
        if sums[1] > 0.0 { sums[0] / sums[1] } else { 0.0 }
    }
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
    [products.iter().map(|product| product.0).sum(), products.iter().map(|product| product.1).sum()]
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
    pool.run(|| {
        let u_blocks = u.padded().par_chunks(BLOCK_ROWS * u.stride());
        let blocks = matrix.blocks_mut().par_iter_mut().zip(u_blocks);
        let sums = blocks.map(|(block, u_rows)| {
            subtract_and_clip(block, panel, u_rows, v_t, scale);
            block.sums()
        });
        add_in_order(&sums.collect::<Vec<_>>())
    })
}

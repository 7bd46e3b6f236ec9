//! Matrices and the loops over them. This module does not depend on networks, files or ranks.
//!
//! - [`Csr`]: sparse rows, the format of input and output.
//! - [`Tiles`]: the format for factorization: row blocks x column panels that fit into the first-level cache.
//! - [`Dense`]: tall, narrow factors with padded rows.
//! - `svd`: the leading singular values and vectors of tiles; `eigen`: those of small symmetric matrices.
//! - `kernels`: the passes over tiles; `gram`: small products of factors; `gemm`: products of wide dense matrices;
//!   `vector`: products and sums of vectors.
//!
//! All kernels round after the multiplication and after the addition (no FMA), and every sum has a fixed order. So
//! the vector width of the machine affects the speed but not a single bit of the result.

mod aligned;
mod csr;
mod dense;
pub mod eigen;
pub mod gemm;
pub mod gram;
pub mod kernels;
pub mod products;
mod real;
mod scale;
pub mod sum;
pub mod svd;
mod tiles;
pub mod vector;

pub use aligned::Aligned;
pub use csr::Csr;
pub use dense::Dense;
pub use real::{Real, Slice, SliceMut};
pub use scale::safe_scale;
pub use tiles::{BLOCK_ROWS, NARROWEST_PANEL, filled_in_any, symmetric_panel_width, tile_bytes};
pub use tiles::{Block, Tiles};

//! Matrices and the loops over them. Knows nothing of networks, files or ranks.

mod csr;

pub use csr::Csr;

//! MNMF, the multi-stage non-negative matrix factorization of Huang et al.
//!
//! Internal: it may change in any release. Use the crate `manyview`.

pub mod checkpoint;
pub mod comm;
pub mod config;
pub mod estimate;
pub mod nmf;
pub mod proximity;
pub mod residual;
pub mod stages;
pub mod summary;

pub use config::Config;
pub use stages::Fit;

//! What a method is, and the method itself: MNMF, the multi-stage non-negative matrix factorization of Huang et al.
//!
//! Internal: it may change in any release. Use the crate `manyview`.

pub mod checkpoint;
pub mod comm;
pub mod estimate;
pub mod living;
pub mod method;
pub mod mnmf;
pub mod nmf;
pub mod piece;
pub mod preset;
pub mod proximity;
pub mod residual;
pub mod result;
pub mod stages;
pub mod summary;
pub mod trials;

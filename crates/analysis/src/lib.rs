//! Evaluation, nearest neighbors and maps of embeddings computed by any method.
//!
//! Internal: may change in any release. Use the crate `manyview`.

pub mod evaluate;
pub mod layout;
pub mod neighbors;

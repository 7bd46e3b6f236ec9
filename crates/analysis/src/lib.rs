//! What can be done with vectors, of any method: evaluation, neighbors, explanations, maps.
//!
//! Internal: it may change in any release. Use the crate `manyview`.

pub mod evaluate;
pub mod layout;
pub mod neighbors;

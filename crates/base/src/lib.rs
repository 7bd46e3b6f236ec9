//! What every other crate of manyview stands on: the error type, threads, random numbers and matrices.
//!
//! Internal: it may change in any release. Use the crate `manyview`.

pub mod error;
pub mod linalg;
pub mod memory;
pub mod message;
pub mod panics;
pub mod parallel;
pub mod random;
pub mod sampling;
pub mod settings;

#[doc(hidden)]
pub use {serde, serde_json};

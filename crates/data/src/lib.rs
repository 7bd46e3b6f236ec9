//! Networks, labels, embeddings, and their files.
//!
//! Internal: it may change in any release. Use the crate `manyview`.

#[cfg(feature = "digits")]
pub mod digits;
pub mod doubts;
pub mod embedding;
pub mod explain;
pub mod generate;
pub mod io;
pub mod labels;
pub mod network;
pub mod overlap;

pub use embedding::Embedding;
pub use network::{Network, NetworkBuilder, View};

//! One vector per node from a network whose nodes are linked in several ways.

pub mod comm;
pub mod config;
pub mod digits;
pub mod embedding;
pub mod error;
pub mod generate;
pub mod io;
pub mod linalg;
pub mod memory;
pub mod network;
pub mod nmf;
pub mod parallel;
pub mod proximity;
mod random;
pub mod residual;
mod sampling;
pub mod stages;

pub use config::Config;
pub use embedding::Embedding;
pub use error::{Error, Result};
pub use network::{Network, NetworkBuilder, View};
pub use stages::Fit;

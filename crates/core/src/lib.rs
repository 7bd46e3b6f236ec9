//! One vector per node from a network whose nodes are linked in several ways.

pub mod comm;
pub mod error;
pub mod generate;
pub mod io;
pub mod linalg;
pub mod network;
pub mod parallel;
mod random;
mod sampling;

pub use error::{Error, Result};
pub use network::{Network, View};

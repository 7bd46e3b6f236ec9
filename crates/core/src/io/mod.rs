//! Files: what networks are read from and results are written to.

mod atomic;

pub use atomic::{OutputFolder, write_atomic};

//! Files: what networks are read from and results are written to.

mod atomic;
mod npy;
mod npz;

pub use atomic::{OutputFolder, write_atomic};
pub use npy::{NpyMatrix, read_npy, write_npy, write_npy_to};
pub use npz::{write_npz, write_npz_to};

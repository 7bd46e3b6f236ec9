//! Reading networks and writing results.

mod atomic;
mod blocks;
mod npy;
mod npz;
mod read;
mod vectors;

pub use atomic::{OutputFolder, Traces, write_atomic};
pub use blocks::write_blocks;
pub use npy::{NpyMatrix, read_npy, write_npy, write_npy_to};
pub use npz::{write_npz, write_npz_to};
pub use read::{
    Delimiter, Directed, Header, ReadNetwork, ReadObserver, ReadOptions, Reading, Source, ViewSource,
    read_labels, read_network,
};
pub use vectors::{Format, write_vectors};

//! Files: what networks are read from and results are written to.

mod atomic;
mod blocks;
mod folder;
mod method_run;
mod npy;
mod npz;
mod read;
mod result;
mod run;
mod vectors;

pub use atomic::{OutputFolder, Traces, write_atomic};
pub(crate) use blocks::write_blocks;
pub use folder::read_embedding;
pub use method_run::{MethodRecord, MethodSeconds, PartRecord};
pub use npy::{NpyMatrix, read_npy, write_npy, write_npy_to};
pub use npz::{write_npz, write_npz_to};
pub use read::{
    Delimiter, Directed, Header, ReadNetwork, ReadObserver, ReadOptions, Reading, Source, ViewSource,
    read_labels, read_network, read_node_file,
};
pub use result::{Finished, FinishedNetwork, FinishedRun};
pub use run::{RankRecord, RankSeconds, RunMemory, RunPeaks, RunRecord, RunSeconds};
pub use vectors::{Format, write_vectors};

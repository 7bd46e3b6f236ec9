//! Reading networks and writing results.

mod atomic;
mod blocks;
mod checksums;
mod files;
mod lock;
mod npy;
mod npz;
mod read;
mod vectors;

pub use atomic::{OutputFolder, Traces, remove_left_behind, write_atomic};
pub use blocks::write_blocks;
pub use checksums::{Checksums, InputFile};
pub use files::{Disk, FileKind, Files, Memory, OpenFile};
pub use npy::{NpyMatrix, read_npy, read_npy_from, write_npy, write_npy_to};
pub use npz::{write_npz, write_npz_to};
pub use read::{
    Decimal, Delimiter, Directed, Header, LabelColumns, LabelSet, OnError, ReadNetwork, ReadObserver,
    ReadOptions, Reading, Source, TableColumns, ViewSource, read_label_sets, read_label_sets_from,
    read_labels, read_labels_from, read_network, read_network_from, read_node_file_from, table_columns,
};
pub use vectors::{Format, write_vectors};

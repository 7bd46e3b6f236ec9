//! The result folder: `embedding.npy`, `nodes.txt` and `run.json`, and the vectors in other formats.
//!
//! Invariant: a folder holds a whole result or none. Files are written under other names and renamed together by
//! [`ResultFolder::commit`]; what is opened is checked to belong together. `run.json` is renamed last, and an earlier one is
//! removed first: a folder without it holds no result.

mod date;
mod open;
mod record;
mod truncate;

pub use open::{SavedFoldIn, SavedNetwork, SavedResult, SavedRun};
pub use record::{
    ModelRecord, PartRecord, RankRecord, RankSeconds, RunMemory, RunPeaks, RunRecord, RunSeconds,
};
pub use truncate::{Cut, Shortened, truncate};

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_data::embedding::Embedding;
use manyview_data::io::{Disk, Files, Format, OutputFolder, Traces, read_npy, write_npy_to};

use manyview_data::network::Nodes;

use crate::comm::Local;
use crate::method::Fit;

/// The vectors, as a NumPy array.
pub const EMBEDDING: &str = "embedding.npy";
/// The node ids, one per line, in row order.
pub const NODES: &str = "nodes.txt";
/// Everything about the run but its vectors.
pub const RUN: &str = "run.json";

/// A result folder that is being written.
#[derive(Debug)]
pub struct ResultFolder {
    output: OutputFolder,
    formats: Vec<Format>,
}

impl ResultFolder {
    /// Makes sure that a result can be written to a folder, before the work and not after it.
    ///
    /// # Errors
    /// When the folder cannot be written, or holds a result that `force` does not allow to replace.
    pub fn create(path: &Path, formats: &[Format], force: bool) -> Result<Self> {
        let output = OutputFolder::prepare(path, &names(formats), force)?.sealed_by(RUN);
        Ok(ResultFolder { output, formats: formats.to_vec() })
    }

    /// As [`create`](Self::create), for the folder of a run that was killed while its files were put into place: it has no
    /// `run.json`. What it has of the others is replaced only by the same bytes.
    ///
    /// # Errors
    /// When the folder cannot be written, or holds a whole result.
    pub fn create_unfinished(path: &Path, formats: &[Format]) -> Result<Self> {
        let output = OutputFolder::prepare_unfinished(path, &names(formats), RUN)?;
        Ok(ResultFolder { output, formats: formats.to_vec() })
    }

    /// As [`create`](Self::create), for a folder that gets further files by [`write_extra`](Self::write_extra).
    pub fn create_with(path: &Path, extra: &[&str], force: bool) -> Result<Self> {
        let names: Vec<&str> = [EMBEDDING, NODES, RUN].into_iter().chain(extra.iter().copied()).collect();
        let output = OutputFolder::prepare(path, &names, force)?.sealed_by(RUN);
        Ok(ResultFolder { output, formats: Vec::new() })
    }

    /// Opens a folder that holds a result.
    ///
    /// # Errors
    /// See [`SavedResult::open`].
    pub fn open(path: &Path) -> Result<SavedResult> {
        SavedResult::open(path)
    }

    /// Reads the vectors of a folder, of this program or of any other that writes `embedding.npy` and `nodes.txt`.
    ///
    /// # Errors
    /// When one of the two cannot be read, or they do not belong together.
    pub fn open_vectors(path: &Path) -> Result<Embedding> {
        let nodes = open::read_ids(&Disk, &path.join(NODES))?;
        let matrix = read_npy(&path.join(EMBEDDING))?;
        if matrix.rows != nodes.len() {
            return Err(Error::parse(
                path.display().to_string(),
                format!(
                    "{EMBEDDING} has {} rows and {NODES} has {} ids; write both files again",
                    matrix.rows,
                    nodes.len()
                ),
            ));
        }
        Ok(Embedding::new(nodes, matrix.dim, matrix.values, Vec::new()))
    }

    /// Reads `run.json` as it is, with fields that this version does not know.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open_record(path: &Path) -> Result<serde_json::Value> {
        Self::open_record_from(&Disk, path)
    }

    /// As [`open_record`](Self::open_record), from files that need not be on a disk.
    ///
    /// # Errors
    /// Those of [`open_record`](Self::open_record).
    pub fn open_record_from(files: &dyn Files, path: &Path) -> Result<serde_json::Value> {
        open::read_record(files, &path.join(RUN))
    }

    /// Reads the ids of the rows, from files that need not be on a disk.
    ///
    /// # Errors
    /// When they cannot be read, or one occurs twice.
    pub fn open_ids_from(files: &dyn Files, path: &Path) -> Result<Nodes> {
        open::read_ids(files, &path.join(NODES))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.output.path()
    }

    /// What is left behind when the process ends before [`commit`](Self::commit), to be removed by a signal handler.
    pub fn traces(&self) -> Traces {
        self.output.traces()
    }

    /// Writes the vectors in all formats.
    pub fn write_vectors(&mut self, embedding: &Embedding, pool: &Pool) -> Result<()> {
        let (nodes, dim, values) = (embedding.nodes(), embedding.dim(), embedding.values());
        self.output.write(EMBEDDING, |writer| write_npy_to(writer, nodes.len(), dim, values))?;
        self.output.write(NODES, |writer| nodes.iter().try_for_each(|id| writeln!(writer, "{id}")))?;
        for format in &self.formats {
            self.output
                .write(format.file_name(), |writer| format.write_to(writer, nodes, dim, values, pool))?;
        }
        Ok(())
    }

    /// Writes `run.json`.
    pub fn write_record(&mut self, record: &RunRecord<'_>) -> Result<()> {
        self.output.write(RUN, |writer| record.write_to(writer))
    }

    /// Writes a further file, which [`create_with`](Self::create_with) named.
    pub fn write_extra(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        self.output.write(name, write)
    }

    /// Makes sure that a further file can be written.
    ///
    /// # Errors
    /// When it exists, and `force` was not given.
    pub fn expect_extra(&self, name: &str) -> Result<()> {
        self.output.check_absent(&[name])
    }

    /// Puts all files into place, and keeps the folder locked until it is dropped; see [`OutputFolder::publish`].
    pub fn publish(&mut self) -> Result<()> {
        self.output.publish()
    }

    /// Puts all files into place.
    pub fn commit(self) -> Result<()> {
        self.output.commit()
    }
}

/// The files of a result.
fn names(formats: &[Format]) -> Vec<&str> {
    let others = formats.iter().map(|format| format.file_name());
    [EMBEDDING, NODES, RUN].into_iter().chain(others).collect()
}

impl Fit {
    /// Writes the result to a folder, which is made when it does not exist.
    ///
    /// # Errors
    /// When the folder cannot be written or holds a result already; see [`ResultFolder::create`] to replace one.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<()> {
        let mut output = ResultFolder::create(folder.as_ref(), &[], false)?;
        output.write_vectors(&self.embedding, &Pool::new(Some(1))?)?;
        let ranks = RankRecord::gather(&Local, self, 0.0, 0.0);
        let mut record = RunRecord::new(self, "Fit::save");
        record.rank_records = &ranks;
        output.write_record(&record)?;
        output.commit()
    }
}

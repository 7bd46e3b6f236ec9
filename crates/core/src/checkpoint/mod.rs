//! Checkpoints: finished stages are stored on disk, so that an interrupted run can be resumed.
//!
//! Each stage is a separate file in the checkpoint folder, which is written atomically. It has the stage's pieces
//! (factors, scales, weights) and the identity of the run: program, settings, data. Residuals are not stored: the
//! pieces determine them bitwise, and are a thousand times smaller.
//!
//! Invariant: a stage is used only if it belongs to this run, is undamaged, and all earlier stages are usable.

mod file;
mod identity;

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use identity::Identity;

use crate::comm::{self, Comm};
use crate::piece::Piece;
use file::Damage;
use manyview_base::error::{Error, Result};
use manyview_base::message::switch;
use manyview_data::io::write_atomic;

/// The checkpoint folder of a run.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    identity: Identity,
    /// Number of finished stages that can be used.
    stages: usize,
}

/// The result of searching the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Number of finished stages that can be used.
    pub stages: usize,
    /// A sentence about a damaged file; its stage and all later ones are computed again.
    pub damaged: Option<String>,
}

impl Checkpoints {
    /// Starts over in a folder; rank 0 removes the checkpoints of earlier runs.
    pub fn begin(folder: &Path, identity: Identity, rank: usize) -> Result<Self> {
        let checkpoints = Checkpoints { folder: folder.to_owned(), identity, stages: 0 };
        if rank == 0 {
            checkpoints.remove()?;
        }
        Ok(checkpoints)
    }

    /// Resumes from the checkpoints in a folder.
    ///
    /// Checkpoints of another version, other settings or other data are an `Error::Config` that names the difference.
    /// Stages from a damaged file on are not used.
    pub fn resume(folder: &Path, identity: Identity) -> Result<(Self, Found)> {
        let mut checkpoints = Checkpoints { folder: folder.to_owned(), identity, stages: 0 };
        let mut found = Found::default();
        loop {
            let path = checkpoints.path(found.stages + 1);
            match file::check(&path) {
                Ok(None) => break,
                Ok(Some(identity)) => {
                    if let Some(difference) = checkpoints.identity.difference(&identity) {
                        let folder = folder.display();
                        return Err(Error::config(format!(
                            "{folder} is from another run: {difference}; use the settings and data of that run, or start over \
                             with {}",
                            switch("force")
                        )));
                    }
                    found.stages += 1;
                }
                Err(Damage(what)) => {
                    found.damaged = Some(format!("{}: {what}; the stage is computed again", path.display()));
                    break;
                }
            }
        }
        checkpoints.stages = found.stages;
        Ok((checkpoints, found))
    }

    /// The number of finished stages in a folder, of any run.
    pub fn count(folder: &Path) -> usize {
        (1..).take_while(|&stage| path_of(folder, stage).is_file()).count()
    }

    /// Removes all checkpoints, and the folder if it is then empty.
    pub fn remove(&self) -> Result<()> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(&self.folder, error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| Error::io(&self.folder, error))?.path();
            let left_behind = path.extension().is_some_and(|extension| extension == "tmp");
            if left_behind || path.extension().is_some_and(|extension| extension == EXTENSION) {
                fs::remove_file(&path).map_err(|error| Error::io(&path, error))?;
            }
        }
        // A folder with other files is kept.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// The pieces of the finished stages, with these rows of U.
    pub fn read(&self, rows: &Range<usize>, comm: &dyn Comm) -> Result<Vec<Vec<Piece>>> {
        let read =
            (1..=self.stages).map(|stage| file::read(&self.path(stage), rows)).collect::<Result<Vec<_>>>();
        // If one rank cannot read, all ranks fail.
        comm::agree(comm, read)
    }

    /// Writes a stage. Rank 0 writes; if that fails, all ranks fail.
    pub fn write(&self, stage: usize, pieces: &[Piece], nodes: usize, comm: &dyn Comm) -> Result<()> {
        let whole: Vec<Piece> = pieces.iter().map(|piece| piece.gathered(nodes, comm)).collect();
        let written = if comm.rank() == 0 { self.write_whole(stage, &whole) } else { Ok(()) };
        comm::agree(comm, written)
    }

    fn write_whole(&self, stage: usize, pieces: &[Piece]) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(|error| Error::io(&self.folder, error))?;
        write_atomic(&self.path(stage), |writer| file::write(writer, &self.identity, pieces))
    }

    fn path(&self, stage: usize) -> PathBuf {
        path_of(&self.folder, stage)
    }
}

const EXTENSION: &str = "stage";

fn path_of(folder: &Path, stage: usize) -> PathBuf {
    folder.join(format!("{stage:04}.{EXTENSION}"))
}

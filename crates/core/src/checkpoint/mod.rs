//! Finished stages on the disk, so that none is ever lost.
//!
//! Each stage is a file of its own in the checkpoint folder, written whole or not at all. It holds the stage's
//! pieces (factors, scales, weights) and the identity of the run: program, settings, data. Residuals are not kept:
//! the pieces determine them, to the bit, and are a thousand times smaller.
//!
//! Invariant: what is read back belongs to this run and is undamaged, or it is not used. Stages count only without
//! a gap from the first.

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
use manyview_data::io::write_atomic;

/// The folder of a run's checkpoints.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    identity: Identity,
    /// Finished stages that can be taken over.
    stages: usize,
}

/// What a look into the folder found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Finished stages that can be taken over.
    pub stages: usize,
    /// A sentence about a damaged file, from which on stages are computed again.
    pub damaged: Option<String>,
}

impl Checkpoints {
    /// Begins anew in a folder: what is in it of earlier runs is removed, by rank 0.
    pub fn begin(folder: &Path, identity: Identity, rank: usize) -> Result<Self> {
        let checkpoints = Checkpoints { folder: folder.to_owned(), identity, stages: 0 };
        if rank == 0 {
            checkpoints.remove()?;
        }
        Ok(checkpoints)
    }

    /// Goes on with what is in a folder.
    ///
    /// Checkpoints of another version, of other settings or other data are an `Error::Config` that names the
    /// difference. A damaged file ends the stages that count.
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
                            "{folder} is from another run: {difference}; repeat that run, or begin anew with --force"
                        )));
                    }
                    found.stages += 1;
                }
                Err(Damage(what)) => {
                    found.damaged = Some(format!("{}: {what}; this stage is computed again", path.display()));
                    break;
                }
            }
        }
        checkpoints.stages = found.stages;
        Ok((checkpoints, found))
    }

    /// How many finished stages a folder holds, of whatever run.
    pub fn count(folder: &Path) -> usize {
        (1..).take_while(|&stage| path_of(folder, stage).is_file()).count()
    }

    /// Removes all checkpoints, and the folder when nothing else is in it.
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
        // A folder with something else in it stays, and that is right.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// The pieces of the finished stages, with these rows of U.
    pub fn read<C: Comm>(&self, rows: &Range<usize>, comm: &C) -> Result<Vec<Vec<Piece>>> {
        let read =
            (1..=self.stages).map(|stage| file::read(&self.path(stage), rows)).collect::<Result<Vec<_>>>();
        // A rank that cannot read leaves together with the others.
        comm::agree(comm, read)
    }

    /// Keeps a stage. Rank 0 writes; a failure there is one everywhere.
    pub fn write<C: Comm>(&self, stage: usize, pieces: &[Piece], nodes: usize, comm: &C) -> Result<()> {
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

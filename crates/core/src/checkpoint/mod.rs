//! Checkpoints: finished stages are stored on disk, so that an interrupted run can be resumed.
//!
//! Each stage is a separate file in the checkpoint folder, which is written atomically. It has the stage's pieces
//! (factors, scales, weights) and the identity of the run: program, settings, data. Residuals are not stored: the
//! pieces determine them bitwise, and are a thousand times smaller.
//!
//! Invariant: a stage is used only if it belongs to this run, is undamaged, and all earlier stages are usable. Only files that
//! this module made are replaced or removed, and links are never followed: what they lead to is not ours.

mod file;
mod identity;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use crate::piece::Piece;
pub use identity::Identity;

use crate::comm::{self, Comm};
use file::{Checked, Damage};
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, switch};
use manyview_data::io::{Disk, Files, remove_left_behind, write_atomic};

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
    ///
    /// # Errors
    /// As [`Checkpoints::check_folder`], and when a checkpoint cannot be removed.
    pub fn begin(folder: &Path, identity: Identity, rank: usize) -> Result<Self> {
        Checkpoints::check_folder(folder)?;
        let checkpoints = Checkpoints { folder: folder.to_owned(), identity, stages: 0 };
        if rank == 0 {
            checkpoints.remove()?;
        }
        Ok(checkpoints)
    }

    /// Resumes from the checkpoints in a folder.
    ///
    /// Checkpoints of another version, other settings or other data are an `Error::Config` that names the difference.
    /// Stages from a damaged file on are not used. Otherwise the errors are those of [`Checkpoints::check_folder`].
    pub fn resume(folder: &Path, identity: Identity) -> Result<(Self, Found)> {
        Checkpoints::check_folder(folder)?;
        Self::resume_from(&Disk, folder, identity)
    }

    /// As [`resume`](Self::resume), from files that need not be on a disk.
    pub fn resume_from(files: &dyn Files, folder: &Path, identity: Identity) -> Result<(Self, Found)> {
        let mut checkpoints = Checkpoints { folder: folder.to_owned(), identity, stages: 0 };
        let mut found = Found::default();
        let mut previous = None;
        loop {
            let (stage, path) = (found.stages + 1, checkpoints.path(found.stages + 1));
            let problem = match file::check(files, &path) {
                Ok(None) => break,
                Ok(Some(checked)) => {
                    checkpoints.check_run(&checked)?;
                    match checkpoints.misplaced(&checked, stage, previous) {
                        Some(problem) => problem,
                        None => {
                            (found.stages, previous) = (stage, Some(checked.sum));
                            continue;
                        }
                    }
                }
                Err(Damage(problem)) => problem,
            };
            // As a message, because the problem may quote the file, control characters included.
            let problem = format!("{}: {problem}; the stage is computed again", path.display());
            found.damaged = Some(Message::from(problem).to_string());
            break;
        }
        checkpoints.stages = found.stages;
        Ok((checkpoints, found))
    }

    /// Refuses a stage of another run.
    fn check_run(&self, found: &Checked) -> Result<()> {
        let Some(difference) = self.identity.difference(&found.identity) else { return Ok(()) };
        let folder = self.folder.display();
        Err(Error::config(format!(
            "{folder} is from another run: {difference}; use the settings and data of that run, or start over with {}",
            switch("force")
        )))
    }

    /// Why a stage of this run cannot be used as this stage, after the one with the checksum `previous`.
    fn misplaced(&self, found: &Checked, stage: usize, previous: Option<u32>) -> Option<String> {
        if found.stage != stage {
            return Some(format!("is stage {} under another name", found.stage));
        }
        if found.previous != previous {
            return Some("was computed after another stage than the one before it".into());
        }
        let Some(columns) = self.identity.columns_of(stage) else {
            return Some("is beyond the last stage".into());
        };
        let (targets, nodes) = (self.identity.targets(), self.identity.node_count());
        let mut next = columns.start;
        for piece in &found.pieces {
            if piece.columns.start < next || piece.columns.end > columns.end {
                return Some(format!("has columns {:?} of {columns:?}", piece.columns));
            }
            if piece.views.iter().any(|&view| view >= targets) {
                return Some("has a view that the network does not have".into());
            }
            if piece.u_rows != nodes || piece.v_rows != nodes {
                return Some(format!("has {} nodes, and the network has {nodes}", piece.u_rows));
            }
            next = piece.columns.end;
        }
        None
    }

    /// Checks that stages can be kept in a folder, which need not exist.
    ///
    /// # Errors
    /// When the folder is a link, or has a link or a folder where a stage would be: those are not ours to replace or remove.
    pub fn check_folder(folder: &Path) -> Result<()> {
        let refuse = |path: &Path, what: &str| {
            Err(Error::config(format!(
                "{} is {what}, which is neither followed nor removed; remove it, or use {}",
                path.display(),
                switch("no_checkpoint")
            )))
        };
        if fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
            return refuse(folder, "a symbolic link");
        }
        for entry in entries(folder)? {
            // Another rank may be removing it.
            let Ok(kind) = entry.file_type() else { continue };
            if stage_of(&entry.file_name()).is_some() && !kind.is_file() {
                let what = if kind.is_symlink() { "a symbolic link" } else { "not a file" };
                return refuse(&entry.path(), what);
            }
        }
        Ok(())
    }

    /// The number of finished stages in a folder, of any run.
    pub fn count(folder: &Path) -> usize {
        (1..).take_while(|&stage| path_of(folder, stage).is_file()).count()
    }

    /// Removes all checkpoints and what a killed run left of them, and the folder if it is then empty.
    ///
    /// # Errors
    /// As [`Checkpoints::check_folder`], and when a checkpoint cannot be removed.
    pub fn remove(&self) -> Result<()> {
        Checkpoints::check_folder(&self.folder)?;
        for entry in entries(&self.folder)? {
            if stage_of(&entry.file_name()).is_some() {
                let path = entry.path();
                fs::remove_file(&path).map_err(|error| Error::io(&path, error))?;
            }
        }
        remove_left_behind(&self.folder);
        // A folder with other files is kept.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// The pieces of the finished stages, with these rows of U.
    pub fn read(&self, rows: &Range<usize>, comm: &dyn Comm) -> Result<Vec<Vec<Piece>>> {
        self.read_from(&Disk, rows, comm)
    }

    /// As [`read`](Self::read), from files that need not be on a disk.
    pub fn read_from(
        &self,
        files: &dyn Files,
        rows: &Range<usize>,
        comm: &dyn Comm,
    ) -> Result<Vec<Vec<Piece>>> {
        // Each rank looked for itself, and a file may be readable for some of them only. All use what every one has; if they
        // went on from different stages, they would wait for each other forever.
        let stages = -comm::max(comm, -(self.stages as f64)) as usize;
        let read =
            (1..=stages).map(|stage| file::read(files, &self.path(stage), rows)).collect::<Result<Vec<_>>>();
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
        Checkpoints::check_folder(&self.folder)?;
        // From the disk, because what will be read there has to fit together. If the file is gone, the stage has no
        // predecessor and is never used.
        let previous = (stage > 1).then(|| file::stored_sum(&self.path(stage - 1))).flatten();
        write_atomic(&self.path(stage), |writer| file::write(writer, &self.identity, stage, previous, pieces))
    }

    fn path(&self, stage: usize) -> PathBuf {
        path_of(&self.folder, stage)
    }
}

const EXTENSION: &str = "stage";

fn path_of(folder: &Path, stage: usize) -> PathBuf {
    folder.join(format!("{stage:04}.{EXTENSION}"))
}

/// The stage that a file name belongs to; `None` if it is not one of [`path_of`].
fn stage_of(name: &OsStr) -> Option<usize> {
    let stage = name.to_str()?.strip_suffix(EXTENSION)?.strip_suffix('.')?.parse().ok()?;
    (stage > 0 && path_of(Path::new(""), stage) == Path::new(name)).then_some(stage)
}

/// What is in a folder; nothing if it does not exist.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect),
    };
    entries.map_err(|error| Error::io(folder, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_we_make_are_stages() {
        let number = |name: &str| stage_of(OsStr::new(name));
        assert_eq!(
            [1, 9999, 10_000].map(|stage| number(&format!("{stage:04}.stage"))),
            [1, 9999, 10_000].map(Some)
        );
        for foreign in
            ["0000.stage", "1.stage", "00001.stage", "first.stage", "+001.stage", "0001.stage.bak", ".stage"]
        {
            assert_eq!(number(foreign), None, "{foreign}");
        }
    }
}

//! Atomic writes: a file is either complete or absent.
//!
//! Invariant: a file is never visible under its final name before it is complete. It is written and synced under a
//! hidden temporary name in the same folder (a rename across file systems would be a copy) and then renamed. If
//! anything fails before that, including a panic, the temporary file is removed. Only a killed process leaves one
//! behind. Its name ends in `.tmp`, so that it is never read as a view. A temporary file is locked as long as it is in use, so
//! that the next run can tell it from one that was left behind.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex};

use super::lock::{Claim, FolderLock, claim};
use manyview_base::error::{Error, Result};
use manyview_base::message::switch;

/// Large enough for cheap system calls, small enough to stay in the cache.
const BUFFER: usize = 1 << 18;

/// Writes a file atomically. An existing file is replaced at the end and unchanged until then.
///
/// Symbolic links are followed. Devices and pipes (`/dev/stdout`) are written directly, because a rename would
/// replace the device.
///
/// # Errors
/// [`Error::Io`] with `path` for the errors of `write` and of the system.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
    publish(vec![Staged::write(path, write)?])
}

/// A folder for the results of one run, which appear in it together.
///
/// Files have temporary names until [`OutputFolder::commit`]; dropping the folder before that removes them. If the
/// disk is full at the third file, nothing of the first two is left. No other process can prepare the folder meanwhile.
#[derive(Debug)]
#[must_use = "files that are not committed are removed"]
pub struct OutputFolder {
    path: PathBuf,
    /// The folders created for this run, the innermost first.
    made: Vec<PathBuf>,
    staged: Vec<Staged>,
    existing: Existing,
    /// See [`sealed_by`](Self::sealed_by).
    seal: Option<String>,
    /// Released at the end, here or by [`Traces`].
    lock: SharedLock,
}

/// What happens to files that are in a folder already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existing {
    Refused,
    /// They may stay if they have the same content as the new ones.
    Same,
    Replaced,
}

impl Existing {
    fn forced(force: bool) -> Self {
        if force { Existing::Replaced } else { Existing::Refused }
    }
}

type SharedLock = Arc<Mutex<Option<FolderLock>>>;

impl OutputFolder {
    /// Creates the folder and its parents if necessary, locks it, and checks that files can be created in it. Call it before
    /// a long computation. Temporary files of killed runs are removed.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be created or written to, or when another run writes to it; [`Error::Config`]
    /// when one of `names` exists in it and `force` is not set, or is not a plain file name.
    pub fn prepare<S: AsRef<str>>(path: &Path, names: &[S], force: bool) -> Result<Self> {
        Self::create(path, names, Existing::forced(force), true)
    }

    /// As [`prepare`](Self::prepare), for a folder in which a run was killed while it gave the files their names: the file
    /// `seal`, which comes last, is missing, and others may be there. Those are replaced only by files with the same content.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), when `seal` exists.
    pub fn prepare_unfinished<S: AsRef<str>>(path: &Path, names: &[S], seal: &str) -> Result<Self> {
        let output = Self::create(path, names, Existing::Same, true)?;
        check_absent(path, seal, Existing::Refused)?;
        Ok(output.sealed_by(seal))
    }

    /// Names the file that tells that all others are there. It gets its name after them, and an earlier one is removed before
    /// any other is replaced. So a killed process never leaves files of two runs that look like one result.
    pub fn sealed_by(mut self, name: &str) -> Self {
        self.seal = Some(name.to_owned());
        self
    }

    /// As [`prepare`](Self::prepare), for one file among others. The folder is not locked, because other runs may write
    /// other files to it, and a single file cannot be mixed up.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_file(path: &Path, name: &str, force: bool) -> Result<Self> {
        Self::create(path, &[name], Existing::forced(force), false)
    }

    fn create<S: AsRef<str>>(path: &Path, names: &[S], existing: Existing, locked: bool) -> Result<Self> {
        let made = missing_folders(path);
        if let Some(ground) = path.ancestors().nth(made.len())
            && ground.exists()
            && !ground.is_dir()
        {
            return Err(Error::io(ground, io::ErrorKind::NotADirectory.into()));
        }
        // From here on, an error drops the folder and removes what was created.
        let (staged, lock) = (Vec::new(), SharedLock::default());
        let output = OutputFolder { path: path.to_owned(), made, staged, existing, seal: None, lock };
        let refused = |source: io::Error| match source.kind() {
            // The error of the system for its own folders such as /proc, although the path is correct.
            io::ErrorKind::NotFound => {
                Error::io(path, io::Error::other("files cannot be created there; choose another folder"))
            }
            _ => Error::io(path, source),
        };
        fs::create_dir_all(path).map_err(refused)?;
        if locked {
            let Some(lock) = FolderLock::take(path).map_err(refused)? else {
                let sentence = "another run of manyview is writing to this folder; wait until it ends, or choose another folder";
                return Err(Error::io(path, io::Error::other(sentence)));
            };
            *output.lock.lock().expect(NO_PANIC) = Some(lock);
            remove_left_behind(path);
        }
        output.check_absent(names)?;
        Temporary::create(path).map_err(refused)?;
        Ok(output)
    }

    /// Checks further files, whose names were not known when the folder was prepared.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn check_absent<S: AsRef<str>>(&self, names: &[S]) -> Result<()> {
        names.iter().try_for_each(|name| check_absent(&self.path, name.as_ref(), self.existing))
    }

    /// Returns what would be left if the process ended without unwinding.
    pub fn traces(&self) -> Traces {
        Traces { folder: self.path.clone(), made: self.made.clone(), lock: self.lock.clone() }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, which gets its name when the folder is committed.
    ///
    /// # Errors
    /// [`Error::Io`] with the path of the file; [`Error::Config`] when `name` is not a plain file name.
    pub fn write(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        check_name(name)?;
        self.staged.push(Staged::write(&self.path.join(name), write)?);
        Ok(())
    }

    /// Gives all files their names, in the order in which they were written, but see [`sealed_by`](Self::sealed_by).
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub fn commit(mut self) -> Result<()> {
        self.publish()
    }

    /// As [`commit`](Self::commit), and keeps the folder locked until it is dropped, for what has to follow.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be renamed; the files after it are removed. [`Error::Config`] when a file appeared
    /// since the folder was prepared, and `force` was not set, or when a file of an unfinished folder has another content.
    pub fn publish(&mut self) -> Result<()> {
        let name = |staged: &Staged| staged.path.file_name().unwrap_or_default().to_owned();
        for staged in &self.staged {
            // Written by another program, or by another run where folders cannot be locked.
            check_absent(&self.path, &name(staged).to_string_lossy(), self.existing)?;
            if self.existing == Existing::Same && staged.differs()? {
                return Err(exists(&staged.path, " and is not of the run that is resumed"));
            }
        }
        let mut staged = std::mem::take(&mut self.staged);
        if let Some(seal) = &self.seal {
            // The order of the others stays the same.
            staged.sort_by_key(|staged| name(staged) == seal.as_str());
            remove_seal(&staged, &self.path.join(seal))?;
        }
        publish(staged)
    }
}

/// Removes the seal of earlier files, if there are others to replace.
fn remove_seal(staged: &[Staged], seal: &Path) -> Result<()> {
    let replaced = staged.iter().any(|staged| staged.path != seal);
    if !replaced || !seal.is_file() {
        return Ok(());
    }
    let removed = fs::remove_file(follow_link(seal)).map_err(|error| Error::io(seal, error));
    removed.and_then(|()| sync_folder(folder_of(seal)).map_err(|error| Error::io(seal, error)))
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        self.staged.clear();
        release(&self.lock);
        remove_empty(&self.made);
    }
}

/// Why a mutex cannot be poisoned.
const NO_PANIC: &str = "no thread panics while holding this mutex";

/// Removes the lock file, and then the lock.
fn release(lock: &SharedLock) {
    drop(lock.lock().expect(NO_PANIC).take());
}

/// The files and folders that a run leaves when its process ends without unwinding.
#[derive(Clone, Debug)]
pub struct Traces {
    folder: PathBuf,
    made: Vec<PathBuf>,
    lock: SharedLock,
}

impl Traces {
    /// Removes the files that this process was writing. Call it just before the process ends.
    pub fn remove(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if writer_of(&entry.file_name()) == Some(process::id()) {
                // The process is ending, so an error cannot be reported.
                let _ = fs::remove_file(entry.path());
            }
        }
        release(&self.lock);
        remove_empty(&self.made);
    }
}

/// Removes the temporary files that killed processes left in a folder. Files that are still being written are kept, and so is
/// everything that is not certainly ours: other names, links, and all files on a file system without locks.
pub fn remove_left_behind(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if writer_of(&entry.file_name()).is_none() || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // A file that cannot be removed does no harm; the results are not affected.
        if File::open(&path).is_ok_and(|file| claim(&file, &path) == Claim::Held) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Returns the name of a temporary file.
fn temporary_name(process: u32, attempt: u32) -> String {
    format!(".manyview-{process}-{attempt}.tmp")
}

/// Returns the process that wrote a temporary file, or `None` if the name is not one of [`temporary_name`].
fn writer_of(name: &OsStr) -> Option<u32> {
    let name = name.to_str()?;
    let (process, attempt) = name.strip_prefix(".manyview-")?.strip_suffix(".tmp")?.split_once('-')?;
    let (process, attempt) = (process.parse().ok()?, attempt.parse().ok()?);
    // Other spellings of the same numbers, such as 007, are not ours.
    (temporary_name(process, attempt) == name).then_some(process)
}

/// Removes empty folders of a failed run. A folder with results cannot be removed.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}

/// Returns the folder and those of its parents that do not exist, the innermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let named = path.ancestors().take_while(|folder| *folder != Path::new(""));
    named.take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

fn check_absent(folder: &Path, name: &str, existing: Existing) -> Result<()> {
    check_name(name)?;
    let file = folder.join(name);
    match fs::metadata(&file) {
        Ok(found) if found.is_dir() => Err(Error::io(&file, io::ErrorKind::IsADirectory.into())),
        Ok(found) if found.is_file() && existing == Existing::Refused => Err(exists(&file, "")),
        _ => Ok(()),
    }
}

fn exists(file: &Path, what: &str) -> Error {
    Error::config(format!(
        "{} already exists{what}; pass {} to overwrite it, or choose another folder",
        file.display(),
        switch("force")
    ))
}

/// File names often contain names of views, which may be any text. A slash would lead to another folder.
fn check_name(name: &str) -> Result<()> {
    if Path::new(name).file_name().is_some_and(|plain| plain == name) {
        return Ok(());
    }
    Err(Error::config(format!("\"{name}\" is not a valid file name; rename the view (without / and not ..)")))
}

/// A file whose content is complete and on the disk, but still under a temporary name.
#[derive(Debug)]
struct Staged {
    /// The path given by the caller, for messages.
    path: PathBuf,
    /// The final path, with links resolved.
    target: PathBuf,
    /// `None` if the data was written directly to a device.
    temporary: Option<Temporary>,
}

impl Staged {
    fn write(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<Self> {
        let target = follow_link(path);
        let temporary = write_unnamed(&target, write).map_err(|source| Error::io(path, source))?;
        Ok(Staged { path: path.to_owned(), target, temporary })
    }

    /// Whether there is a file of this name with another content.
    fn differs(&self) -> Result<bool> {
        let Some(temporary) = &self.temporary else { return Ok(false) };
        same_content(&temporary.path, &self.target)
            .map(|same| !same)
            .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(false) } else { Err(error) })
            .map_err(|error| Error::io(&self.path, error))
    }
}

fn same_content(a: &Path, b: &Path) -> io::Result<bool> {
    let [a, b] = [File::open(a)?, File::open(b)?];
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let [mut a, mut b] = [a, b].map(|file| BufReader::with_capacity(BUFFER, file));
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 {
            return Ok(left.len() == right.len());
        }
        if left[..length] != right[..length] {
            return Ok(false);
        }
        a.consume(length);
        b.consume(length);
    }
}

fn write_unnamed(
    target: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<Option<Temporary>> {
    match fs::metadata(target) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            let mut writer = BufWriter::with_capacity(BUFFER, OpenOptions::new().write(true).open(target)?);
            write(&mut writer)?;
            writer.flush()?;
            return Ok(None);
        }
        _ => {}
    }
    // Declared first, so dropped last: some systems do not remove open files.
    let (temporary, file) = Temporary::create(folder_of(target))?;
    let mut writer = BufWriter::with_capacity(BUFFER, file);
    write(&mut writer)?;
    writer.into_inner()?.sync_all()?;
    Ok(Some(temporary))
}

/// Renames the files in order. On an error the remaining ones are dropped and thereby removed.
fn publish(staged: Vec<Staged>) -> Result<()> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for Staged { path, target, temporary } in staged {
        let Some(temporary) = temporary else { continue };
        temporary.rename(&target).map_err(|source| Error::io(&path, source))?;
        folders.push(folder_of(&target).to_owned());
    }
    folders.dedup();
    folders.iter().try_for_each(|folder| sync_folder(folder).map_err(|source| Error::io(folder, source)))
}

/// A temporary file that is removed on drop.
#[derive(Debug)]
struct Temporary {
    /// Empty once the file has its final name.
    path: PathBuf,
    /// Holds the lock; see [`remove_left_behind`].
    lock: Option<File>,
}

impl Temporary {
    fn create(folder: &Path) -> io::Result<(Self, File)> {
        // The final name is not part of the temporary one, because it may already have the maximum length.
        let mut attempt = 0u32;
        loop {
            let path = folder.join(temporary_name(process::id(), attempt));
            match File::create_new(&path) {
                Ok(file) => match claim(&file, &path) {
                    Claim::Held | Claim::Unknown => {
                        let mut temporary = Temporary { path, lock: None };
                        temporary.lock = Some(file.try_clone()?);
                        return Ok((temporary, file));
                    }
                    // Another run took it for one that was left behind, and removes it.
                    Claim::InUse | Claim::Gone => attempt += 1,
                },
                // Used by another thread, or left by a killed process with the same id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        // From now on the old name may belong to another thread, so it must not be removed on drop.
        self.path = PathBuf::new();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // First, because some systems do not remove open files.
        self.lock = None;
        if self.path != Path::new("") {
            // An error cannot be reported here, and the cause of the drop is the more relevant one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the target of a symbolic link. A dangling link is returned itself.
fn follow_link(path: &Path) -> PathBuf {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        _ => path.to_owned(),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Makes the renames survive a power failure.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Windows does not open folders as files, and a folder that is writable but not readable cannot be opened either.
    // The files are complete anyway.
    let Ok(opened) = File::open(folder) else { return Ok(()) };
    match opened.sync_all() {
        // Some network file systems do not support syncing a folder.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

#[cfg(test)]
mod tests;

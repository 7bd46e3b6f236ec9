//! Locks of the system on files and on output folders.
//!
//! Invariant: a lock ends with its process, however that ends. A file that a killed process leaves behind is therefore not
//! locked, and blocks nobody.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The file that is locked while a run writes to its folder. It is hidden, so that it is never read as a view.
const NAME: &str = ".manyview.lock";

/// What [`claim`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The file is locked for us, and has its name.
    Held,
    /// Another process, or another thread, holds the lock.
    InUse,
    /// The file lost its name before it was locked: whoever held the lock removed it.
    Gone,
    /// The file system has no locks.
    Unknown,
}

/// Locks an open file, unless it is in use.
pub(super) fn claim(file: &File, path: &Path) -> Claim {
    match file.try_lock() {
        Ok(()) if has_name(file, path) => Claim::Held,
        Ok(()) => Claim::Gone,
        Err(TryLockError::WouldBlock) => Claim::InUse,
        Err(TryLockError::Error(_)) => Claim::Unknown,
    }
}

/// Whether a path still leads to an open file.
fn has_name(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |found: io::Result<fs::Metadata>| found.map(|found| (found.dev(), found.ino())).ok();
        let place_of_file = place(file.metadata());
        place_of_file.is_some() && place_of_file == place(fs::symlink_metadata(path))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// The lock of a folder: as long as it exists, no other run writes to the folder.
///
/// A file of its own is locked, and not one of the results, because those are replaced by renaming. The file is removed at the
/// end, while it is still locked. A process that opened it before that gets a lock on a file without a name, which it notices
/// ([`Claim::Gone`]) and tries again; so at no time do two processes hold the lock of one folder.
#[derive(Debug)]
pub(super) struct FolderLock {
    file: File,
    path: PathBuf,
}

impl FolderLock {
    /// Locks a folder; `None` if another run writes to it.
    ///
    /// A file system without locks is used without them: refusing it would be worse than not noticing a second run.
    pub(super) fn take(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(NAME);
        loop {
            // Links are not followed: the lock of a folder is in the folder.
            if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
                return Err(io::Error::other(format!("{NAME} is not a file of manyview; remove it")));
            }
            let file = open(&path)?;
            match claim(&file, &path) {
                Claim::Held | Claim::Unknown => return Ok(Some(FolderLock { file, path })),
                Claim::InUse => return Ok(None),
                Claim::Gone => {}
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    match opened {
        // Left behind by a killed run of another user. Most systems lock files that can only be read, too.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path).map_err(|_| error),
        result => result,
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Elsewhere the identity of an open file cannot be compared with that of its name, so the file stays.
        if cfg!(unix) && has_name(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
        // Closing the file is not enough if another process inherited it by a fork.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_folder_has_one_lock_and_keeps_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FolderLock::take(folder.path()).unwrap().expect("the folder is free");
        assert!(FolderLock::take(folder.path()).unwrap().is_none());
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(cfg!(not(unix))));
        assert!(FolderLock::take(folder.path()).unwrap().is_some());
    }

    #[test]
    fn a_file_that_was_left_behind_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), "").unwrap();
        assert!(FolderLock::take(folder.path()).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, folder.path().join(NAME)).unwrap();
        let error = FolderLock::take(folder.path()).unwrap_err();
        assert!(error.to_string().contains("remove it"), "{error}");
        assert!(!elsewhere.exists());
    }

    /// Many threads take and release the lock; a counter without any other protection shows whether two ever had it.
    #[test]
    fn the_lock_is_never_held_twice() {
        let folder = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicUsize::new(0);
        let order = std::sync::atomic::Ordering::SeqCst;
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut taken = 0;
                    while taken < 200 {
                        let Some(lock) = FolderLock::take(folder.path()).unwrap() else {
                            thread::yield_now();
                            continue;
                        };
                        assert_eq!(inside.fetch_add(1, order), 0);
                        thread::yield_now();
                        inside.fetch_sub(1, order);
                        drop(lock);
                        taken += 1;
                    }
                });
            }
        });
    }
}

//! Where readers get their files from: the disk, or memory.
//!
//! Every reader opens files through [`Files`], so that fuzzing and tests reach all of it without a disk.

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source of files.
pub trait Files {
    /// Opens a file. A folder is an error of the kind [`io::ErrorKind::IsADirectory`] on every system.
    fn open(&self, path: &Path) -> io::Result<OpenFile>;

    /// Says what a path is.
    fn kind(&self, path: &Path) -> io::Result<FileKind>;

    /// Returns the names in a folder, sorted.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Opens standard input, which the path `-` stands for.
    fn standard_input(&self) -> Box<dyn Read> {
        Box::new(io::stdin())
    }

    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let OpenFile { mut reader, length } = self.open(path)?;
        // One byte more than expected, so that the end is found without growing.
        let mut bytes =
            Vec::with_capacity(usize::try_from(length).map_or(0, |length| length.min(1 << 30) + 1));
        reader.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a whole file of text.
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
        String::from_utf8(self.read(path)?).map_err(invalid)
    }

    /// Returns whether the path is a folder.
    fn is_folder(&self, path: &Path) -> bool {
        matches!(self.kind(path), Ok(FileKind::Folder))
    }

    /// Returns whether the path is a file.
    fn is_file(&self, path: &Path) -> bool {
        matches!(self.kind(path), Ok(FileKind::File { .. }))
    }
}

/// An open file.
pub struct OpenFile {
    /// Its bytes.
    pub reader: Box<dyn Read>,
    /// Its length when it was opened; 0 for pipes.
    pub length: u64,
}

impl std::fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenFile").field("length", &self.length).finish_non_exhaustive()
    }
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A folder.
    Folder,
    /// A file with this many bytes.
    File {
        /// Its length.
        length: u64,
    },
    /// Something else, such as a pipe.
    Other,
}

/// The files of the system.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Files for Disk {
    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        // Linux opens folders and fails at the first read; other systems fail immediately with another error.
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(OpenFile { reader: Box::new(file), length: metadata.len() })
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let metadata = fs::metadata(path)?;
        Ok(match () {
            () if metadata.is_dir() => FileKind::Folder,
            () if metadata.is_file() => FileKind::File { length: metadata.len() },
            () => FileKind::Other,
        })
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }
}

/// Files in memory. The parent of a file is a folder.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: Vec<(PathBuf, Arc<[u8]>)>,
}

impl Memory {
    /// Creates files from paths and contents. Of two with the same path, the first counts.
    pub fn new(files: impl IntoIterator<Item = (impl Into<PathBuf>, impl Into<Arc<[u8]>>)>) -> Self {
        Memory { files: files.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect() }
    }

    /// Adds a file.
    pub fn add(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) {
        self.files.push((path.into(), bytes.into()));
    }

    fn find(&self, path: &Path) -> io::Result<&Arc<[u8]>> {
        match self.files.iter().find(|file| file.0 == path) {
            Some((_, bytes)) => Ok(bytes),
            None if self.has_folder(path) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn has_folder(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file.0.parent() == Some(path))
    }
}

impl Files for Memory {
    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        let bytes = Arc::clone(self.find(path)?);
        Ok(OpenFile { length: bytes.len() as u64, reader: Box::new(Cursor::new(bytes)) })
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        match self.find(path) {
            Ok(bytes) => Ok(FileKind::File { length: bytes.len() as u64 }),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(FileKind::Folder),
            Err(error) => Err(error),
        }
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let inside = self.files.iter().filter(|file| file.0.parent() == Some(folder));
        let mut names: Vec<String> =
            inside.filter_map(|file| Some(file.0.file_name()?.to_string_lossy().into_owned())).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What readers see of a folder `f` with files `a` and `b`.
    fn seen(files: &dyn Files, folder: &Path) -> Vec<String> {
        let kind = |name: &str| files.kind(&folder.join(name)).map_err(|error| error.kind());
        let read = |path: &Path| files.read_to_string(path).map_err(|error| error.kind());
        vec![
            format!("{:?} {:?} {:?}", kind(""), kind("a"), kind("c")),
            format!("{:?} {:?} {:?}", read(&folder.join("a")), read(&folder.join("b")), read(folder)),
            format!("{:?}", files.names(folder)),
            format!("{} {}", files.is_folder(folder), files.is_file(&folder.join("a"))),
        ]
    }

    #[test]
    fn memory_behaves_as_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let contents = [("b", &b"\xff"[..]), ("a", b"text")];
        for (name, bytes) in contents {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let memory = Memory::new(contents.map(|(name, bytes)| (Path::new("f").join(name), bytes)));
        assert_eq!(seen(&memory, Path::new("f")), seen(&Disk, folder.path()));
    }
}

//! Checksums of files, computed while they are read.
//!
//! Invariant: nothing is read but what the caller asks for. A file has a checksum if it was read to its end; one that was read
//! several times is listed once.
//!
//! The checksum is XXH3 with 128 bits, which `xxh128sum` prints. It is for finding out whether a file is still the same, not for
//! protection from forgery: it costs less than copying the bytes, where SHA-256 would slow down reading on processors without
//! instructions for it.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{FileKind, Files, OpenFile};

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its path, as given; `-` for standard input.
    pub path: String,
    /// Its length in bytes, compressed if the file is.
    pub bytes: u64,
    /// XXH3 of its bytes, 32 hexadecimal digits.
    pub xxh128: String,
}

/// Files whose checksums are taken while they are read.
pub struct Checksums<'a> {
    files: &'a dyn Files,
    read: Rc<RefCell<Vec<InputFile>>>,
}

impl std::fmt::Debug for Checksums<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checksums").field("read", &self.read).finish_non_exhaustive()
    }
}

impl<'a> Checksums<'a> {
    /// Takes checksums of these files.
    pub fn of(files: &'a dyn Files) -> Self {
        Checksums { files, read: Rc::default() }
    }

    /// The files that were read to their end, in the order in which that happened.
    pub fn inputs(&self) -> Vec<InputFile> {
        self.read.borrow().clone()
    }

    fn watched(&self, path: &Path, reader: Box<dyn Read>) -> Box<dyn Read> {
        let (path, read) = (path.to_owned(), Rc::clone(&self.read));
        Box::new(Watched { reader, path, bytes: 0, hash: Box::new(Xxh3::new()), read: Some(read) })
    }
}

impl Files for Checksums<'_> {
    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        let OpenFile { reader, length } = self.files.open(path)?;
        Ok(OpenFile { reader: self.watched(path, reader), length })
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.files.kind(path)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.files.names(folder)
    }

    fn standard_input(&self) -> Box<dyn Read> {
        self.watched(Path::new("-"), self.files.standard_input())
    }
}

struct Watched {
    reader: Box<dyn Read>,
    path: PathBuf,
    bytes: u64,
    hash: Box<Xxh3>,
    /// Where to list the file; `None` when it is there.
    read: Option<Rc<RefCell<Vec<InputFile>>>>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.bytes += length as u64;
        self.hash.update(&buffer[..length]);
        // Nothing is read into an empty buffer before the end either.
        if length == 0
            && !buffer.is_empty()
            && let Some(read) = self.read.take()
        {
            let path = self.path.to_string_lossy().into_owned();
            let mut read = read.borrow_mut();
            if read.iter().all(|known| known.path != path) {
                let xxh128 = format!("{:032x}", self.hash.digest128());
                read.push(InputFile { path, bytes: self.bytes, xxh128 });
            }
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use manyview_base::parallel::Pool;

    use super::*;
    use crate::io::{Memory, ReadOptions, Source, read_network_from};

    #[test]
    fn files_read_to_their_end_are_listed_once() {
        let memory = Memory::new([("a", &b""[..]), ("b", b"abc"), ("c", b"abc")]);
        let files = Checksums::of(&memory);
        for path in ["b", "a", "b"] {
            files.read(Path::new(path)).unwrap();
        }
        // Not to its end.
        files.open(Path::new("c")).unwrap().reader.read_exact(&mut [0; 3]).unwrap();
        let found = files.inputs();
        assert_eq!(found.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        // As printed by xxh128sum 0.8.
        assert_eq!((found[0].bytes, found[0].xxh128.as_str()), (3, "06b05ab6733a618578af5f94892f3950"));
        assert_eq!((found[1].bytes, found[1].xxh128.as_str()), (0, "99aa06d3014798d86001c324468d497f"));
    }

    /// Readers of compressed files must not stop before the end, or the file would have no checksum.
    #[test]
    fn every_kind_of_input_has_a_checksum() {
        let text = "a\tb\nb\tc\nc\ta\n".repeat(50);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
        let manifest =
            ["x.tsv", "y.tsv.gz", "z.tsv.zst"].map(|path| format!("[[view]]\npath = \"{path}\"\n"));
        let manifest = manifest.concat();
        let files: [(&str, Vec<u8>); 5] = [
            ("f/network.toml", manifest.into()),
            ("f/x.tsv", text.clone().into()),
            ("f/y.tsv.gz", gzip.finish().unwrap()),
            ("f/z.tsv.zst", zstd::encode_all(text.as_bytes(), 1).unwrap()),
            ("nodes.txt", b"a\nb\nc\n".to_vec()),
        ];
        let lengths = files.clone().map(|(path, bytes)| (path.to_owned(), bytes.len() as u64));
        let memory = Memory::new(files);
        let files = Checksums::of(&memory);
        let source = Source::Paths(vec!["f".into()]);
        let options = ReadOptions { nodes: Some("nodes.txt".into()), ..ReadOptions::default() };
        let pool = Pool::new(Some(2)).unwrap();
        read_network_from(&files, &source, &options, &pool, &mut |_| ControlFlow::Continue(())).unwrap();
        let mut found: Vec<(String, u64)> =
            files.inputs().into_iter().map(|file| (file.path, file.bytes)).collect();
        found.sort();
        assert_eq!(found, lengths);
    }
}

//! Files in memory that arrive in small pieces, as from a pipe or a slow disk.

use std::io::{self, Read};
use std::path::Path;

use manyview::io::{FileKind, Files, Memory, OpenFile};

/// The same files, at most `piece` bytes at a time.
pub(crate) struct InPieces<'a> {
    pub(crate) files: &'a Memory,
    pub(crate) piece: usize,
}

struct Pieces {
    reader: Box<dyn Read>,
    piece: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.piece);
        self.reader.read(&mut buffer[..length])
    }
}

impl Files for InPieces<'_> {
    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        let OpenFile { reader, length } = self.files.open(path)?;
        Ok(OpenFile { reader: Box::new(Pieces { reader, piece: self.piece }), length })
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.files.kind(path)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.files.names(folder)
    }
}

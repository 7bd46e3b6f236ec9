//! The library's one error type.
//!
//! Variants are what a caller would treat differently. Every message says where, what was found, what was
//! expected and what to do; it starts in lower case and has no full stop, so that it can be quoted in a sentence.

use std::io;
use std::path::{Path, PathBuf};

use crate::message::{Message, Notation};

/// What can go wrong; not converging is not among it (the result tells).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("{}: {}", path.display(), explain(cause))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said. Not the `source()` of this error: the message has it already.
        cause: io::Error,
    },
    /// A line of a file does not say what it should.
    #[error("{place}: {message}")]
    Parse {
        /// File and line, `calls.tsv:17`.
        place: String,
        /// What was found, what was expected, and what to do.
        message: Message,
    },
    /// A setting, or a combination of settings, cannot work.
    #[error("{0}")]
    Config(Message),
    /// The data can be read, but nothing can be computed from them.
    #[error("{0}")]
    Network(Message),
    /// The work would take more memory than there is, or than was allowed.
    #[error("{0}")]
    TooLarge(Message),
    /// The observer asked for an end.
    #[error("interrupted")]
    Interrupted,
}

/// `Result` with the library's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the system at a path.
    pub fn io(path: &Path, cause: io::Error) -> Self {
        Error::Io { path: path.to_owned(), cause }
    }

    /// An error at a place in a file.
    pub fn parse(place: impl Into<String>, message: impl Into<Message>) -> Self {
        Error::Parse { place: place.into(), message: message.into() }
    }

    /// A setting, or a combination of settings, that cannot work.
    pub fn config(message: impl Into<Message>) -> Self {
        Error::Config(message.into())
    }

    /// Data that nothing can be computed from.
    pub fn network(message: impl Into<Message>) -> Self {
        Error::Network(message.into())
    }

    /// Work that would take too much memory.
    pub fn too_large(message: impl Into<Message>) -> Self {
        Error::TooLarge(message.into())
    }

    /// The text for a front end, with settings in its notation.
    pub fn in_notation(&self, notation: Notation) -> String {
        match self {
            Error::Parse { place, message } => format!("{place}: {}", message.in_notation(notation)),
            Error::Config(message) | Error::Network(message) | Error::TooLarge(message) => {
                message.in_notation(notation)
            }
            Error::Io { .. } | Error::Interrupted => self.to_string(),
        }
    }
}

/// The system's words are often too terse to act upon ("os error 28"), so the frequent ones get a sentence.
fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder; check the path".into(),
        io::ErrorKind::PermissionDenied => {
            "permission denied; check the rights or choose another place".into()
        }
        io::ErrorKind::IsADirectory => "is a folder where a file is expected".into(),
        io::ErrorKind::NotADirectory => "is a file where a folder is expected".into(),
        io::ErrorKind::StorageFull => "no space left on the disk; free some or choose another place".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another place".into(),
        _ => error.to_string(),
    }
}

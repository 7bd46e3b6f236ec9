//! The error type of the library.
//!
//! The variants are the cases a caller may want to treat differently. A message says where the error is, what was
//! found, what was expected and what to do. It starts in lower case and has no full stop, so that it can be part of a
//! sentence.

use std::io;
use std::path::{Path, PathBuf};

use crate::message::{Message, Notation, printable};

/// The ways a call can fail. A run that does not converge is not an error; its result reports it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("{}: {}", printable(&path.display().to_string()), explain(cause))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system. It is not the `source()` of this error, because the message already includes it.
        cause: io::Error,
    },
    /// The content of a file is not as expected.
    #[error("{place}: {message}")]
    Parse {
        /// The file and the line, as in `calls.tsv:17`.
        place: String,
        /// What was found, what was expected, and what to do.
        message: Message,
    },
    /// A setting, or a combination of settings, cannot work.
    #[error("{0}")]
    Config(Message),
    /// The data could be read, but nothing can be computed from it.
    #[error("{0}")]
    Network(Message),
    /// The computation would need more memory than is available or allowed.
    #[error("{0}")]
    TooLarge(Message),
    /// The program has a bug: something panicked. See [`panics`](crate::panics).
    #[error("{0}")]
    Bug(String),
    /// The observer stopped the computation.
    #[error("interrupted")]
    Interrupted,
}

/// A `Result` with the error type of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns an error of the system for a path.
    pub fn io(path: &Path, cause: io::Error) -> Self {
        Error::Io { path: path.to_owned(), cause }
    }

    /// Returns an error about a place in a file.
    pub fn parse(place: impl Into<String>, message: impl Into<Message>) -> Self {
        Error::Parse { place: printable(&place.into()), message: message.into() }
    }

    /// Returns an error about a setting, or a combination of settings, that cannot work.
    pub fn config(message: impl Into<Message>) -> Self {
        Error::Config(message.into())
    }

    /// Returns an error about data from which nothing can be computed.
    pub fn network(message: impl Into<Message>) -> Self {
        Error::Network(message.into())
    }

    /// Returns an error about a computation that needs too much memory.
    pub fn too_large(message: impl Into<Message>) -> Self {
        Error::TooLarge(message.into())
    }

    /// Returns the text for a front end, with settings in its notation.
    pub fn in_notation(&self, notation: Notation) -> String {
        match self {
            Error::Parse { place, message } => format!("{place}: {}", message.in_notation(notation)),
            Error::Config(message) | Error::Network(message) | Error::TooLarge(message) => {
                message.in_notation(notation)
            }
            Error::Io { .. } | Error::Bug(_) | Error::Interrupted => self.to_string(),
        }
    }
}

/// Returns a sentence for the frequent errors of the system, whose own text is often too terse ("os error 28").
fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder; check the path".into(),
        io::ErrorKind::PermissionDenied => {
            "permission denied; check the permissions or choose another location".into()
        }
        io::ErrorKind::IsADirectory => "is a folder where a file is expected".into(),
        io::ErrorKind::NotADirectory => "is a file where a folder is expected".into(),
        io::ErrorKind::StorageFull => {
            "no space left on the disk; free some space or choose another location".into()
        }
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another location".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_file_names_do_not_reach_the_terminal() {
        let error = Error::io(Path::new("a\u{1b}b"), io::ErrorKind::NotFound.into());
        assert!(error.to_string().starts_with("a\\u{1b}b: no such file"), "{error}");
        assert_eq!(Error::parse("a\nb:1", "is odd").to_string(), "a\\nb:1: is odd");
    }
}

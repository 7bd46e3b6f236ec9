//! The library's errors as Python's exceptions, with its sentences in Python's words.

use std::io::ErrorKind;

use manyview::Error;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt, PyMemoryError, PyOSError,
    PyPermissionError, PyValueError,
};
use pyo3::prelude::*;

/// The exception for an error.
pub(crate) fn to_python(error: Error) -> PyErr {
    let sentence = in_python(&error.to_string());
    match error {
        Error::Io { cause, .. } => match cause.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(sentence),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(sentence),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(sentence),
            _ => PyOSError::new_err(sentence),
        },
        Error::TooLarge(_) => PyMemoryError::new_err(sentence),
        Error::Interrupted => PyKeyboardInterrupt::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// The library's sentences name options of the command line; parameters have the same names: `--max-iter 5`
/// becomes `max_iter=5`.
pub(crate) fn in_python(sentence: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = sentence.split(' ').peekable();
    while let Some(word) = rest.next() {
        let Some(at) =
            word.find("--").filter(|&at| word[at + 2..].starts_with(|c: char| c.is_ascii_lowercase()))
        else {
            words.push(word.into());
            continue;
        };
        let mut name = format!("{}{}", &word[..at], word[at + 2..].replace('-', "_"));
        if name.ends_with(|c: char| c.is_ascii_lowercase())
            && let Some(value) = rest.next_if(|next| next.starts_with(|c: char| c.is_ascii_digit()))
        {
            name = format!("{name}={value}");
        }
        words.push(name);
    }
    words.join(" ")
}

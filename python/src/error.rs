//! The library's errors as Python exceptions.

use std::io::ErrorKind;

use manyview::Error;
use manyview::message::{Notation, option_value};
use manyview::panics::caught;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

// Both a ValueError and a TypeError, as scikit-learn raises for parameters.
pyo3::import_exception!(manyview._check, InvalidParameter);

/// Returns the exception for an error.
pub(crate) fn to_python(error: Error) -> PyErr {
    let message = error.in_notation(Notation::Python);
    match error {
        Error::Io { cause, .. } => match cause.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(message),
            _ => PyOSError::new_err(message),
        },
        Error::Config(_) => InvalidParameter::new_err(message),
        Error::TooLarge(_) => PyMemoryError::new_err(message),
        Error::Bug(_) => PyRuntimeError::new_err(message),
        Error::Interrupted => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Runs `f` without the global interpreter lock. A panic becomes an error: pyo3 would raise an exception that `except
/// Exception` does not catch.
pub(crate) fn detached<R: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    py.detach(|| caught(f))
}

/// Returns the exception for a value that is not one of the names.
pub(crate) fn one_of(parameter: &str, value: &str, names: &[&str]) -> PyErr {
    let names = names.join(", ");
    to_python(Error::config(format!("{}: expected one of {names}", option_value(parameter, value))))
}

//! Output of results to standard output.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Prints a result. A closed pipe (`| head -1`) is not an error.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

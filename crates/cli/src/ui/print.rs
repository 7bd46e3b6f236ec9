//! Output of results to standard output, and of sentences to standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow};
use manyview::Error;

/// Prints a result. A closed pipe (`| head -1`) is not an error: its reader has what it wanted.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        // With the library's words for errors of the system.
        result => result
            .map_err(|error| anyhow!("cannot write to {}", Error::io(Path::new("standard output"), error))),
    }
}

/// Prints a line to standard error. If that fails (a full disk, a closed terminal), nothing can be said about it, and the work
/// goes on; `eprintln!` would end it.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

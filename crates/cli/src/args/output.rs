//! Output folders and files as typed. `-` means standard input where a network is read, and nothing here: results are folders
//! or files that are put into place when they are complete.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

/// Reads the name of an output folder.
pub(super) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path: PathBuf| match path.to_str() {
        Some("-") => Err("a result is several files and cannot be written to standard output; give a folder"),
        _ => Ok(path),
    })
}

/// Reads the name of an output file.
pub(super) fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path: PathBuf| match path.to_str() {
        Some("-") => Err("this cannot be written to standard output; give the name of a file"),
        _ => Ok(path),
    })
}

//! A view given in one word: its name, its file, and the columns of its file.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::text::is_stdin;
use crate::io::Files;
use manyview_base::error::{Error, Result};

/// A file and the name of its view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSource {
    /// The name of the view.
    pub name: String,
    /// The path of the file, or `PATH:SOURCE,TARGET` or `PATH:SOURCE,TARGET,WEIGHT` with columns by name or by number. A file with
    /// this whole text as its name comes first. `-` is standard input.
    pub path: PathBuf,
}

impl FromStr for ViewSource {
    type Err = Error;

    /// Parses `NAME=PATH`.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once('=') {
            Some((name, path)) if !name.trim().is_empty() && !path.is_empty() => {
                Ok(ViewSource { name: name.trim().to_owned(), path: path.into() })
            }
            _ => Err(Error::config(format!(
                "view {text:?} is not of the form NAME=PATH, such as calls=calls.tsv, or NAME=PATH:SOURCE,TARGET,WEIGHT, such as \
                 calls=calls.csv:caller,callee,minutes"
            ))),
        }
    }
}

/// The columns that follow a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathColumns {
    pub source: String,
    pub target: String,
    pub weight: Option<String>,
}

/// Splits a path from the columns after it.
///
/// A colon may be part of a file name or of a column name: the first colon after an existing file counts, otherwise the last
/// before two or three names.
pub(super) fn split_columns(files: &dyn Files, path: &Path) -> Result<(PathBuf, Option<PathColumns>)> {
    let whole = || Ok((path.to_owned(), None));
    let Some(text) = path.to_str() else { return whole() };
    let exists = |path: &Path| is_stdin(path) || files.kind(path).is_ok();
    if exists(path) {
        return whole();
    }
    let colons = || text.match_indices(':').map(|(at, _)| (Path::new(&text[..at]), &text[at + 1..]));
    if let Some((file, columns)) = colons().find(|(file, _)| exists(file)) {
        let columns = parse(columns).ok_or_else(|| {
            Error::config(format!(
                "{text}: expected two or three columns after {}, as in {0}:SOURCE,TARGET or {0}:SOURCE,TARGET,WEIGHT, by name or by \
                 number",
                file.display()
            ))
        })?;
        return Ok((file.to_owned(), Some(columns)));
    }
    // The file is missing: name it without the columns.
    match colons().filter_map(|(file, columns)| Some((file, parse(columns)?))).next_back() {
        Some((file, columns)) => Ok((file.to_owned(), Some(columns))),
        None => whole(),
    }
}

fn parse(columns: &str) -> Option<PathColumns> {
    let names: Vec<&str> = columns.split(',').map(str::trim).collect();
    let own = |name: &str| name.to_owned();
    match names[..] {
        _ if names.contains(&"") => None,
        [source, target] => Some(PathColumns { source: own(source), target: own(target), weight: None }),
        [source, target, weight] => {
            Some(PathColumns { source: own(source), target: own(target), weight: Some(own(weight)) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Memory;

    fn split(path: &str) -> String {
        let files = Memory::new(["calls.csv", "a:b,c", "a", "neo.csv"].map(|name| (name, Vec::new())));
        match split_columns(&files, Path::new(path)) {
            Ok((path, None)) => path.display().to_string(),
            Ok((path, Some(PathColumns { source, target, weight }))) => {
                format!("{} {source} {target} {}", path.display(), weight.unwrap_or_default())
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn columns_follow_a_colon() {
        for (path, expected) in [
            ("calls.csv", "calls.csv"),
            ("calls.csv:caller,callee", "calls.csv caller callee "),
            ("calls.csv: caller , 2,minutes", "calls.csv caller 2 minutes"),
            ("-:1,2", "- 1 2 "),
            ("a:b,c", "a:b,c"),
            ("a:b,d", "a b d "),
            ("neo.csv::START_ID,:END_ID", "neo.csv :START_ID :END_ID "),
            ("C:\\none.csv", "C:\\none.csv"),
            ("C:\\none.csv:a,b", "C:\\none.csv a b "),
            ("none.csv:a", "none.csv:a"),
        ] {
            assert_eq!(split(path), expected, "{path}");
        }
    }

    #[test]
    fn columns_that_are_not_two_or_three_are_refused() {
        for path in ["calls.csv:", "calls.csv:a", "calls.csv:a,", "calls.csv:a,b,c,d"] {
            let text = split(path);
            assert!(text.starts_with(path) && text.contains("as in calls.csv:SOURCE,TARGET or"), "{text}");
        }
    }
}

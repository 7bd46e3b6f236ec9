//! Reads a label file: a node and its labels per line.
//!
//! A node with several labels has several columns, several lines, or both. Labels are any text. Empty ones are
//! ignored, so tables with ragged rows are accepted.
//!
//! An id is any text without a line break. In a tab-separated file it is taken as written, or quoted as in CSV if it
//! contains a tab. A file that pads its ids, or whose ids begin and end with a quote, is accepted: where an id
//! can be read in several ways, the way that gives a node is used.

use std::borrow::Cow;
use std::path::Path;

use super::Delimiter;
use super::lines::Lines;
use super::table::Rows;
use super::text::{BytesRead, Text};
use crate::io::{Disk, Files};
use manyview_base::error::{Error, Result};

/// Column names that together form a header.
pub(super) const NODE: [&str; 5] = ["id", "node", "node_id", "nodeid", "name"];
/// The end of messages about files without labels.
pub(super) const LABELS_EXPECTED: &str = "expected a node and a label per line";
const LABEL: [&str; 7] = ["label", "labels", "class", "classes", "community", "group", "category"];

/// Returns the pairs of node and label in a file, in order. `is_node` decides between several readings of an id.
///
/// # Errors
/// When the file cannot be read, a line has no label, or text is not UTF-8.
pub fn read_labels(path: &Path, is_node: impl Fn(&str) -> bool) -> Result<Vec<(String, String)>> {
    read_labels_from(&Disk, path, is_node)
}

/// As [`read_labels`], from files that need not be on a disk.
///
/// # Errors
/// Those of [`read_labels`].
pub fn read_labels_from(
    files: &dyn Files,
    path: &Path,
    is_node: impl Fn(&str) -> bool,
) -> Result<Vec<(String, String)>> {
    let lines = Lines::new(Text::open(files, path, &BytesRead::default())?)?;
    let empty = Error::parse(super::text::place(path), format!("no labels: {LABELS_EXPECTED}"));
    let Some(mut rows) = Rows::new(lines, path, None)? else { return Err(empty) };
    let mut pairs = Vec::new();
    let mut first = true;
    while rows.advance()? {
        let text = |bytes| {
            std::str::from_utf8(bytes).map_err(|_| {
                rows.lines().line_error(
                    "the text is not UTF-8; convert it, for example with iconv -f latin1 -t utf-8",
                )
            })
        };
        let row = if rows.delimiter() == Delimiter::Tab {
            split_tabs(text(rows.lines().line())?, &is_node)
        } else {
            let field = |field| Ok(Cow::from(text(rows.field(field).unwrap_or_default())?));
            (0..rows.len()).map(field).collect::<Result<Vec<_>>>()?
        };
        let Some((node, labels)) = row.split_first().filter(|(_, labels)| !labels.is_empty()) else {
            let node = row.first().map_or("", |node| node);
            return Err(rows
                .lines()
                .line_error(format!("node {node:?} has no label; expected a node and a label")));
        };
        if node.is_empty() {
            return Err(rows.lines().line_error("the node id is empty"));
        }
        if std::mem::take(&mut first) && is_header(node, &labels[0]) {
            continue;
        }
        let labels = labels.iter().filter(|label| !label.is_empty());
        pairs.extend(labels.map(|label| (node.clone().into_owned(), label.clone().into_owned())));
    }
    if pairs.is_empty() { Err(empty) } else { Ok(pairs) }
}

/// Splits a tab-separated line into a node and its labels. Blanks around labels are trimmed unless they are quoted.
fn split_tabs<'a>(line: &'a str, is_node: impl Fn(&str) -> bool) -> Vec<Cow<'a, str>> {
    let (bare, rest) = line.split_once('\t').map_or((line, None), |(bare, rest)| (bare, Some(rest)));
    let mut readings = vec![(Cow::from(bare), rest), (Cow::from(bare.trim_matches(' ')), rest)];
    // A quoted id must be followed by a label.
    if let Some((text, Some(rest))) = unquote(line) {
        readings.insert(0, (text.into(), Some(rest)));
    }
    let known = readings.iter().position(|(id, _)| is_node(id));
    let (node, mut rest) = readings.swap_remove(known.unwrap_or(0));
    let mut row = vec![node];
    while let Some(line) = rest {
        let label;
        (label, rest) = match unquote(line) {
            Some((text, rest)) => (text.into(), rest),
            None => {
                let (bare, rest) =
                    line.split_once('\t').map_or((line, None), |(bare, rest)| (bare, Some(rest)));
                (bare.trim_matches(' ').into(), rest)
            }
        };
        row.push(label);
    }
    row
}

/// Returns the content of the quoted field that a line begins with, and the line after the next tab. `None` if the first
/// field is not quoted, or other text follows the closing quote.
pub(super) fn unquote(line: &str) -> Option<(String, Option<&str>)> {
    let mut text = String::new();
    let mut rest = line.strip_prefix('"')?;
    loop {
        let (before, after) = rest.split_once('"')?;
        text.push_str(before);
        if after.is_empty() {
            return Some((text, None));
        }
        if let Some(after) = after.strip_prefix('\t') {
            return Some((text, Some(after)));
        }
        rest = after.strip_prefix('"')?;
        text.push('"');
    }
}

fn is_header(node: &str, label: &str) -> bool {
    let is = |field: &str, names: &[&str]| {
        let field = field.strip_prefix('#').unwrap_or(field).trim();
        names.iter().any(|name| field.eq_ignore_ascii_case(name))
    };
    is(node, &NODE) && is(label, &LABEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: impl AsRef<[u8]>) -> Result<Vec<(String, String)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read_labels(&path, |id| KNOWN.contains(&id))
    }

    /// Decides between readings of an id.
    const KNOWN: [&str; 4] = ["bare", " blanks ", "\"quotes\"", "say \"hi\""];

    fn pairs(name: &str, text: &str) -> Vec<String> {
        read(name, text).unwrap().into_iter().map(|(node, label)| format!("{node}={label}")).collect()
    }

    #[test]
    fn several_labels_come_in_columns_or_lines() {
        assert_eq!(pairs("l.tsv", "a\tx\ty\nb\tx\na\tz\n"), ["a=x", "a=y", "b=x", "a=z"]);
        assert_eq!(pairs("l.csv", "node,label\na,\"x, y\"\nb,z,\n"), ["a=x, y", "b=z"]);
        assert_eq!(pairs("l.txt", "# made by hand\na x y\n"), ["a=x", "a=y"]);
        assert_eq!(pairs("l.tsv", "a\tStress response: heat\nb\t\n"), ["a=Stress response: heat"]);
        assert_eq!(pairs("l.tsv", "node\tx\nid\tlabel\n"), ["node=x", "id=label"]);
    }

    #[test]
    fn ids_are_read_exactly() {
        assert_eq!(pairs("l.tsv", "\"a\tb\"\tx\n"), ["a\tb=x"]);
        assert_eq!(pairs("l.tsv", "\" x \"\tx\n"), [" x =x"]);
        assert_eq!(pairs("l.tsv", "\"say \"\"hi\"\"\"\tx\n"), ["say \"hi\"=x"]);
        assert_eq!(pairs("l.tsv", "say \"hi\"\tx\n"), ["say \"hi\"=x"]);
        assert_eq!(pairs("l.tsv", " blanks \tx\n"), [" blanks =x"]);
        assert_eq!(pairs("l.tsv", " unknown \tx\n"), [" unknown =x"]);
        assert_eq!(pairs("l.tsv", "5\" disk\tx\n\"open\tx\n"), ["5\" disk=x", "\"open=x"]);
        assert_eq!(pairs("l.csv", "\"a\tb\",x\n\" x \",y\n"), ["a\tb=x", " x =y"]);
    }

    #[test]
    fn readings_that_give_a_node_are_preferred() {
        assert_eq!(pairs("l.tsv", "  bare \tx\n\"bare\"\ty\n"), ["bare=x", "bare=y"]);
        assert_eq!(
            pairs("l.tsv", "\"quotes\"\tx\n\"\"\"quotes\"\"\"\ty\n"),
            ["\"quotes\"=x", "\"quotes\"=y"]
        );
    }

    #[test]
    fn labels_are_trimmed_unless_quoted() {
        assert_eq!(pairs("l.tsv", "a\t x \t\" y\"\t\"z\n"), ["a=x", "a= y", "a=\"z"]);
    }

    #[test]
    fn what_cannot_be_understood_gets_a_line() {
        let sentence = |text: &[u8]| read("l.tsv", text).unwrap_err().to_string();
        assert!(
            sentence(b"a\tx\nb\n").ends_with("l.tsv:2: node \"b\" has no label; expected a node and a label")
        );
        assert!(sentence(b"").ends_with("no labels: expected a node and a label per line"));
        assert!(sentence(b"a\t\n").contains("no labels"));
        assert!(sentence(b"\tx\n").contains("l.tsv:1: the node id is empty"));
        assert!(sentence(b"a\tcaf\xe9\n").contains("l.tsv:1: the text is not UTF-8"));
    }
}

//! Reads a label file: a node and its labels per line.
//!
//! A node with several labels has several columns, several lines, or both. Labels are any text. Empty ones are
//! ignored, so tables with ragged rows are accepted.

use std::path::Path;

use super::lines::Lines;
use super::table::Rows;
use super::text::{Taken, Text};
use manyview_base::error::{Error, Result};

/// Column names that together form a header.
const NODE: [&str; 5] = ["id", "node", "node_id", "nodeid", "name"];
const LABEL: [&str; 7] = ["label", "labels", "class", "classes", "community", "group", "category"];

/// Returns the pairs of node and label in a file, in order.
///
/// # Errors
/// When the file cannot be read, a line has no label, or text is not UTF-8.
pub fn read_labels(path: &Path) -> Result<Vec<(String, String)>> {
    let lines = Lines::new(Text::open(path, &Taken::default())?)?;
    let empty = Error::parse(super::text::place(path), "no labels: expected a node and a label per line");
    let Some(mut rows) = Rows::new(lines, path, None)? else { return Err(empty) };
    let mut pairs = Vec::new();
    let mut first = true;
    while rows.advance()? {
        let text = |field: usize| {
            let bytes = rows.field(field).unwrap_or_default();
            std::str::from_utf8(bytes).map_err(|_| {
                rows.lines().line_error(
                    "the text is not UTF-8; convert it, for example with iconv -f latin1 -t utf-8",
                )
            })
        };
        let node = text(0)?;
        if rows.len() < 2 {
            return Err(rows
                .lines()
                .line_error(format!("node {node:?} has no label; expected a node and a label")));
        }
        if node.is_empty() {
            return Err(rows.lines().line_error("the node id is empty"));
        }
        let header = std::mem::take(&mut first) && is_header(node, text(1)?);
        for field in (1..rows.len()).filter(|_| !header) {
            match text(field)? {
                "" => {}
                label => pairs.push((node.to_owned(), label.to_owned())),
            }
        }
    }
    if pairs.is_empty() { Err(empty) } else { Ok(pairs) }
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
        read_labels(&path)
    }

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

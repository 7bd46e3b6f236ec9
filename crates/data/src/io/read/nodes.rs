//! Reads a node file: one id per line, in row order.
//!
//! Invariant: the file lists every node of the network once. It has no comments, since any line may be an id. The
//! `nodes.txt` of an earlier run is a node file.

use std::path::Path;

use super::budget::{Budget, LINES_PER_CHECK};
use super::lines::Lines;
use super::text::{BytesRead, Text};
use crate::io::Files;
use crate::network::{NetworkBuilder, Nodes};
use manyview_base::error::{Error, Result};
use manyview_base::message::Message;

/// Names of an id column. They count as a header only if there are further columns, so that no node is lost.
const IDS: [&str; 5] = ["id", "node", "node_id", "nodeid", "name"];

/// Returns the ids of a node file in order. (The `nodes.txt` of a result is stricter, see `ResultFolder`.)
///
/// # Errors
/// When the file cannot be read, has no ids, or has an id twice.
pub fn read_node_file_from(files: &dyn Files, path: &Path) -> Result<Nodes> {
    let mut builder = NetworkBuilder::new();
    read_nodes(files, path, &mut builder, &BytesRead::default(), &Budget::new(None))?;
    Ok(builder.nodes().clone())
}

/// Adds the nodes of a file to an empty builder, fixes the set of nodes, and returns a note.
pub(super) fn read_nodes(
    files: &dyn Files,
    path: &Path,
    builder: &mut NetworkBuilder,
    taken: &BytesRead,
    budget: &Budget,
) -> Result<Message> {
    let mut lines = Lines::new(Text::open(files, path, taken)?)?;
    let mut numbers = Vec::new();
    let mut further = false;
    while lines.advance()? {
        let line = lines.line();
        let tab = memchr::memchr(b'\t', line);
        let id = line[..tab.unwrap_or(line.len())].trim_ascii();
        if line.trim_ascii().is_empty() || (tab.is_some() && numbers.is_empty() && is_header(id)) {
            continue;
        }
        further |= tab.is_some();
        let node = builder.node(id).map_err(|error| lines.line_error(error.to_string()))? as usize;
        if let Some(before) = numbers.get(node) {
            let id = builder.nodes().id(node);
            return Err(
                lines.line_error(format!("node {id:?} is already in line {before}; list each node once"))
            );
        }
        numbers.push(lines.number());
        if numbers.len() % LINES_PER_CHECK == 0 {
            budget.check(builder, LINES_PER_CHECK, || format!("{}:{}", lines.file(), lines.number()))?;
        }
    }
    if numbers.is_empty() {
        return Err(Error::parse(lines.file(), "no nodes: expected one id per line"));
    }
    builder.fix_nodes();
    let further = if further { "; further columns are ignored" } else { "" };
    Ok(format!("{}: {} nodes in this order{further}", lines.file(), numbers.len()).into())
}

fn is_header(id: &[u8]) -> bool {
    let id = id.strip_prefix(b"#").unwrap_or(id);
    IDS.iter().any(|name| id.eq_ignore_ascii_case(name.as_bytes()))
}

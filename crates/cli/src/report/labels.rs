//! Labels to colour a map by.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use manyview::Error;
use manyview::network::Nodes;
use serde::Serialize;

/// Labels of nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Labels {
    /// All labels, each once.
    pub(crate) names: Vec<String>,
    /// The labels of each node, in row order.
    pub(crate) of: Vec<Vec<u32>>,
}

/// Reads a node and its labels from each line, separated by tabs; also returns how many nodes of the file are not
/// among the given ones.
pub(crate) fn read_labels(path: &Path, nodes: &Nodes) -> Result<(Labels, usize), Error> {
    let text = std::fs::read(path).map_err(|cause| Error::Io { path: path.to_owned(), cause })?;
    let parse = |line: usize, message: &str| Error::Parse {
        place: format!("{}:{line}", path.display()),
        message: message.to_owned(),
    };
    let text =
        String::from_utf8(text).map_err(|_| parse(1, "is not UTF-8; convert it, for example with iconv"))?;
    let rows: HashMap<&str, usize> = nodes.iter().enumerate().map(|(row, id)| (id, row)).collect();
    let mut found: Vec<Vec<&str>> = vec![Vec::new(); nodes.len()];
    let mut unknown = BTreeSet::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Some((id, labels)) = line.split_once('\t') else {
            return Err(parse(number + 1, "expected a node, a tab and its label"));
        };
        match rows.get(id.trim()) {
            Some(&row) => {
                found[row].extend(labels.split('\t').map(str::trim).filter(|label| !label.is_empty()))
            }
            None => {
                unknown.insert(id.trim());
            }
        }
    }
    let names = in_order(found.iter().flatten().copied().collect());
    if names.is_empty() {
        let sentence = "no node of the result has a label here; do both speak of the same nodes?";
        return Err(parse(1, sentence));
    }
    let index: HashMap<&str, u32> = names.iter().enumerate().map(|(at, &name)| (name, at as u32)).collect();
    let numbers = |labels: Vec<&str>| {
        let mut numbers: Vec<u32> = labels.into_iter().map(|label| index[label]).collect();
        let mut seen = BTreeSet::new();
        numbers.retain(|&label| seen.insert(label));
        numbers
    };
    let of = found.into_iter().map(numbers).collect();
    Ok((Labels { names: names.into_iter().map(str::to_owned).collect(), of }, unknown.len()))
}

/// Numbers by size, anything else by its letters.
fn in_order(names: BTreeSet<&str>) -> Vec<&str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    if numbers.is_some() {
        let number = |name: &&str| name.parse::<f64>().expect("all are numbers");
        names.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview::NetworkBuilder;

    fn read(text: &str) -> Result<(Labels, usize), Error> {
        let nodes = NetworkBuilder::with_nodes(["ann", "bob", "cat"]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.tsv");
        std::fs::write(&path, text).unwrap();
        read_labels(&path, nodes.nodes())
    }

    #[test]
    fn nodes_may_have_several_labels_or_none() {
        let (labels, unknown) = read("cat\t10\t9\nann\t9\n\nann\t9\ndan\t1\n").unwrap();
        assert_eq!(labels.names, ["9", "10"]);
        assert_eq!(labels.of, [vec![0], vec![], vec![1, 0]]);
        assert_eq!(unknown, 1);
    }

    #[test]
    fn what_holds_no_labels_is_refused() {
        assert!(read("ann 1\n").unwrap_err().to_string().contains("labels.tsv:1: expected a node, a tab"));
        assert!(read("dan\t1\n").unwrap_err().to_string().contains("no node of the result has a label"));
    }
}

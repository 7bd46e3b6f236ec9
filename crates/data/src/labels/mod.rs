//! Node labels: none, one or several per node.
//!
//! Invariant: labels are numbered in the order of their names, the labels of a node are ascending, and rows are those
//! of the vectors to be evaluated.

mod splits;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Serialize;

pub use splits::Split;

use crate::io::{LabelColumns, LabelSet, read_label_sets, read_labels};
use crate::network::Nodes;
use manyview_base::error::{Error, Result};
use manyview_base::random::{mix_words, text_key};

/// The labels of nodes, in row order.
///
/// ```
/// use manyview_data::labels::Labels;
///
/// let labels = Labels::from_pairs(["ann", "bob", "cat"], [("bob", "tall"), ("eve", "tall"), ("ann", "old")])?;
/// assert_eq!(labels.names(), ["old", "tall"]);
/// assert_eq!((labels.of(1), labels.of(2)), (&[1][..], &[][..]));
/// assert_eq!((labels.labeled(), labels.unknown()), (2, 1));
/// # Ok::<(), manyview_base::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    names: Vec<String>,
    /// The labels of row `i` are `items[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    items: Vec<u32>,
    /// A number derived from the id of each row. Random choices depend on it, so the order of rows does not matter.
    keys: Vec<u64>,
    unknown: usize,
}

/// The number of nodes with a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// The number of nodes with the label.
    pub nodes: usize,
}

/// Adds the file to an error about its labels.
fn placed(error: Error, path: &Path) -> Error {
    match error {
        Error::Network(message) => Error::parse(path.display().to_string(), message),
        other => other,
    }
}

impl Labels {
    /// Creates labels from one set of labels per node. Nodes without labels have empty sets.
    ///
    /// # Errors
    /// When the numbers of sets and ids differ, an id is given twice, or no node has a label.
    pub fn from_sets<I, S, L>(ids: I, sets: S) -> Result<Self>
    where
        I: IntoIterator<Item: AsRef<str>>,
        S: IntoIterator<Item = L>,
        L: IntoIterator<Item: AsRef<str>>,
    {
        let ids: Vec<I::Item> = ids.into_iter().collect();
        let mut pairs = Vec::new();
        let mut rows = 0;
        for set in sets {
            pairs.extend(set.into_iter().map(|label| (rows, label.as_ref().to_owned())));
            rows += 1;
        }
        if rows != ids.len() {
            return Err(Error::network(format!(
                "got {rows} sets of labels for {} nodes; expected one set per node",
                ids.len()
            )));
        }
        index(&ids)?;
        Labels::new(&ids, pairs, 0)
    }

    /// Creates labels from pairs of node and label in any order. Nodes that are not among `ids` are counted as
    /// unknown.
    ///
    /// # Errors
    /// When an id is given twice, or no node has a label.
    pub fn from_pairs<I, P, N, L>(ids: I, pairs: P) -> Result<Self>
    where
        I: IntoIterator<Item: AsRef<str>>,
        P: IntoIterator<Item = (N, L)>,
        N: AsRef<str>,
        L: AsRef<str>,
    {
        let ids: Vec<I::Item> = ids.into_iter().collect();
        let rows = index(&ids)?;
        let mut unknown = HashSet::new();
        let mut known = Vec::new();
        for (node, label) in pairs {
            match rows.get(node.as_ref()) {
                Some(&row) => known.push((row, label.as_ref().to_owned())),
                None => _ = unknown.insert(node.as_ref().to_owned()),
            }
        }
        Labels::new(&ids, known, unknown.len())
    }

    /// Reads a label file: a node and its label or labels per line. A node may have several lines.
    ///
    /// # Errors
    /// When the file cannot be read or interpreted, or has no label for any of the nodes.
    pub fn open(path: &Path, nodes: &Nodes) -> Result<Self> {
        let ids: HashSet<&str> = nodes.iter().collect();
        let pairs = read_labels(path, |id| ids.contains(id))?;
        Labels::from_pairs(nodes.iter(), pairs).map_err(|error| placed(error, path))
    }

    /// Reads one set of labels per chosen column of a table, with the names of the columns.
    ///
    /// # Errors
    /// When the file cannot be read or interpreted, or a column has no label for any of the nodes.
    pub fn open_columns(path: &Path, columns: &LabelColumns, nodes: &Nodes) -> Result<Vec<(String, Self)>> {
        let ids: HashSet<&str> = nodes.iter().collect();
        let sets = read_label_sets(path, columns, |id| ids.contains(id))?;
        let labels = |set: LabelSet| {
            let labels = Labels::from_pairs(nodes.iter(), set.pairs).map_err(|error| placed(error, path))?;
            Ok((set.name, labels))
        };
        sets.into_iter().map(labels).collect()
    }

    fn new<S: AsRef<str>>(ids: &[S], mut pairs: Vec<(usize, String)>, unknown: usize) -> Result<Self> {
        if pairs.is_empty() {
            return Err(Error::network(match unknown {
                0 => "no node has a label; expected a node and a label per line".into(),
                _ => format!(
                    "none of the {unknown} ids with labels is a node of the network; check that both use the same \
                     ids"
                ),
            }));
        }
        let mut names: Vec<String> = pairs.iter().map(|(_, label)| label.clone()).collect();
        names.sort_unstable();
        names.dedup();
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; ids.len() + 1];
        pairs.iter().for_each(|(row, _)| starts[row + 1] += 1);
        for row in 0..ids.len() {
            starts[row + 1] += starts[row];
        }
        let number =
            |label: &String| names.binary_search(label).expect("every label is among the names") as u32;
        let items = pairs.iter().map(|(_, label)| number(label)).collect();
        let keys = ids.iter().map(|id| text_key(id.as_ref())).collect();
        Ok(Labels { names, starts, items, keys, unknown })
    }

    /// Adds to the number of unknown ids, for callers that look up the ids themselves.
    pub fn and_unknown(self, ids: usize) -> Self {
        Labels { unknown: self.unknown + ids, ..self }
    }

    /// Refuses labels with a single class. `needs` is the end of the message.
    pub fn check_classes(&self, needs: &str) -> Result<()> {
        let [only] = &self.names[..] else { return Ok(()) };
        let nodes = match self.labeled() {
            1 => "the only labeled node has".to_owned(),
            nodes => format!("all {nodes} labeled nodes have"),
        };
        Err(Error::network(format!("{nodes} the label {only:?}; {needs}")))
    }

    /// Returns the labels of these rows only; the other nodes have none.
    pub fn of_rows(&self, rows: &[u32]) -> Self {
        let mut kept = vec![false; self.rows()];
        rows.iter().for_each(|&row| kept[row as usize] = true);
        let (mut starts, mut items) = (vec![0], Vec::new());
        for (row, kept) in kept.into_iter().enumerate() {
            if kept {
                items.extend_from_slice(self.of(row));
            }
            starts.push(items.len());
        }
        Labels { starts, items, ..self.clone() }
    }

    /// Returns a hash of all labels.
    pub fn fingerprint(&self) -> u64 {
        let names = self.names.iter().map(|name| text_key(name));
        let starts = self.starts.iter().map(|&start| start as u64);
        mix_words(
            names
                .chain(starts)
                .chain(self.items.iter().map(|&item| item.into()))
                .chain(self.keys.iter().copied()),
        )
    }

    /// Returns the names of the labels, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of nodes, with and without labels.
    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// Returns the labels of the node in a row, as indices into the names.
    pub fn of(&self, row: usize) -> &[u32] {
        &self.items[self.starts[row]..self.starts[row + 1]]
    }

    /// Returns the rows of nodes with labels.
    pub fn labeled_rows(&self) -> Vec<u32> {
        (0..self.rows()).filter(|&row| !self.of(row).is_empty()).map(|row| row as u32).collect()
    }

    /// Returns the number of nodes with labels.
    pub fn labeled(&self) -> usize {
        (0..self.rows()).filter(|&row| !self.of(row).is_empty()).count()
    }

    /// Returns the number of ids with labels that are not nodes.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// Returns whether any node has more than one label.
    pub fn is_multi_label(&self) -> bool {
        self.starts.windows(2).any(|pair| pair[1] - pair[0] > 1)
    }

    /// Returns the number of nodes of each label.
    pub fn counts(&self) -> Vec<LabelCount> {
        let mut counts = vec![0; self.names.len()];
        self.items.iter().for_each(|&label| counts[label as usize] += 1);
        let count = |(label, nodes): (&String, usize)| LabelCount { label: label.clone(), nodes };
        self.names.iter().zip(counts).map(count).collect()
    }

    /// Returns the number derived from the id of a row.
    pub fn key(&self, row: u32) -> u64 {
        self.keys[row as usize]
    }

    /// Returns the first label of a node that has one.
    pub fn only(&self, row: u32) -> u32 {
        self.of(row as usize)[0]
    }
}

fn index<S: AsRef<str>>(ids: &[S]) -> Result<HashMap<&str, usize>> {
    let mut rows = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if rows.insert(id.as_ref(), row).is_some() {
            return Err(Error::network(format!("node {:?} is given twice", id.as_ref())));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_some_rows_are_those_and_no_others() {
        let labels = Labels::from_sets(["a", "b", "c"], [vec!["x"], vec!["y", "z"], vec!["x"]]).unwrap();
        let some = labels.of_rows(&[1]);
        assert_eq!((some.of(0), some.of(1), some.labeled()), (&[][..], &[1, 2][..], 1));
        assert_eq!(some.names(), labels.names());
        assert_eq!(labels.of_rows(&[0, 1, 2]), labels);
        assert_ne!(some.fingerprint(), labels.fingerprint());
    }

    #[test]
    fn pairs_and_sets_give_the_same_labels() {
        let ids = ["a", "b", "c"];
        let pairs = Labels::from_pairs(ids, [("c", "y"), ("a", "x"), ("c", "x"), ("a", "x")]).unwrap();
        let sets = Labels::from_sets(ids, [vec!["x"], vec![], vec!["y", "x"]]).unwrap();
        assert_eq!(pairs, sets);
        assert_eq!((pairs.of(0), pairs.of(1), pairs.of(2)), (&[0][..], &[][..], &[0, 1][..]));
        assert!(pairs.is_multi_label());
        assert_eq!(pairs.labeled_rows(), [0, 2]);
        let counts: Vec<usize> = pairs.counts().iter().map(|count| count.nodes).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(pairs.and_unknown(2).unknown(), 2);
    }

    #[test]
    fn what_cannot_be_used_gets_a_sentence() {
        let none: [(&str, &str); 0] = [];
        let text = Labels::from_pairs(["a"], none).unwrap_err().to_string();
        assert!(text.starts_with("no node has a label"), "{text}");
        let text = Labels::from_pairs(["a"], [("b", "x"), ("b", "y"), ("c", "x")]).unwrap_err().to_string();
        assert!(text.starts_with("none of the 2 ids with labels is a node of the network"), "{text}");
        let text = Labels::from_sets(["a", "a"], [["x"], ["y"]]).unwrap_err().to_string();
        assert_eq!(text, "node \"a\" is given twice");
        assert!(Labels::from_sets(["a"], [["x"], ["y"]]).unwrap_err().to_string().contains("2 sets"));
    }
}

//! Numbers for node ids, in the order in which they are first seen.
//!
//! Invariant: every id is stored once, in the text of [`Nodes`]; the hash table holds nothing but node numbers.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::Nodes;
use crate::error::Error;

/// Why a node id was refused. The caller knows the place (file and line) and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// There is no text at all.
    #[error("the node id is empty")]
    Empty,
    /// The id contains a line feed or a carriage return.
    #[error("node id {0:?} contains a line break; nodes.txt holds one id a line")]
    LineBreak(String),
    /// The id is not UTF-8.
    #[error("node id {0:?} is not UTF-8; convert the text, for example with iconv -f latin1 -t utf-8")]
    NotUtf8(String),
    /// The set of nodes is fixed and this id is not in it.
    #[error("node {0:?} is not in the given set of nodes; add it there, or do not fix the set")]
    Unknown(String),
    /// The id would be one too many for 32-bit node numbers.
    #[error("more than {} nodes; node numbers have 32 bits", Interner::MOST)]
    TooMany,
}

impl From<NodeError> for Error {
    fn from(error: NodeError) -> Self {
        Error::Network(error.to_string())
    }
}

/// A growing set of ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    nodes: Nodes,
    table: HashTable<u32>,
}

impl Interner {
    /// The number of ids that fit; one number less than there are stays free as a mark for "none".
    const MOST: usize = u32::MAX as usize - 1;

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    pub(crate) fn into_nodes(self) -> Nodes {
        self.nodes
    }

    /// The number of an id that is there already.
    pub(crate) fn find(&self, id: &[u8]) -> Option<u32> {
        self.table.find(hash(id), |&node| self.nodes.bytes(node as usize) == id).copied()
    }

    /// The number of an id, which is added if it is new.
    ///
    /// Only new ids are checked for being UTF-8: an equal one has passed.
    pub(crate) fn intern(&mut self, id: &[u8]) -> Result<u32, NodeError> {
        match self.find(id) {
            Some(node) => Ok(node),
            None => self.add(id),
        }
    }

    #[cold]
    fn add(&mut self, id: &[u8]) -> Result<u32, NodeError> {
        if id.is_empty() {
            return Err(NodeError::Empty);
        }
        let text = std::str::from_utf8(id).map_err(|_| NodeError::NotUtf8(lossy(id)))?;
        if memchr::memchr2(b'\n', b'\r', id).is_some() {
            return Err(NodeError::LineBreak(lossy(id)));
        }
        if self.len() >= Self::MOST {
            return Err(NodeError::TooMany);
        }
        let node = self.len() as u32;
        self.nodes.push(text);
        let nodes = &self.nodes;
        self.table.insert_unique(hash(id), node, |&node| hash(nodes.bytes(node as usize)));
        Ok(node)
    }
}

/// The id as far as it can be shown, cut so that a message stays readable.
pub(crate) fn lossy(id: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(id);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn hash(id: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(id);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_first_sight() {
        let mut interner = Interner::default();
        let numbers: Vec<u32> = ["007", "7", "naïve 猫", "007", "#rust"]
            .iter()
            .map(|id| interner.intern(id.as_bytes()).unwrap())
            .collect();
        assert_eq!(numbers, [0, 1, 2, 0, 3]);
        assert_eq!(interner.find(b"7"), Some(1));
        assert_eq!(interner.find(b"8"), None);
        assert_eq!(interner.into_nodes().iter().collect::<Vec<_>>(), ["007", "7", "naïve 猫", "#rust"]);
    }

    #[test]
    fn many_ids_survive_the_growth_of_the_table() {
        let mut interner = Interner::default();
        for number in 0..5000u32 {
            assert_eq!(interner.intern(number.to_string().as_bytes()), Ok(number));
        }
        for number in 0..5000u32 {
            assert_eq!(interner.find(number.to_string().as_bytes()), Some(number));
        }
    }

    #[test]
    fn ids_that_nodes_txt_cannot_hold_are_refused() {
        let mut interner = Interner::default();
        assert_eq!(interner.intern(b""), Err(NodeError::Empty));
        assert_eq!(interner.intern(b"a\nb"), Err(NodeError::LineBreak("a\nb".into())));
        assert_eq!(interner.intern(b"a\r"), Err(NodeError::LineBreak("a\r".into())));
        let error = interner.intern(b"caf\xe9").unwrap_err();
        assert!(error.to_string().contains("iconv -f latin1"), "{error}");
        assert_eq!(interner.len(), 0);
    }

    #[test]
    fn long_ids_are_cut_in_messages() {
        assert_eq!(lossy(&[b'a'; 100]).chars().count(), 61);
    }
}

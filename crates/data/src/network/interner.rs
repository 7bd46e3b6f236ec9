//! Numbers for node ids, in the order of first occurrence.
//!
//! Invariant: every id is stored once, in the text of [`Nodes`]; the hash table refers to it.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::Nodes;
use manyview_base::error::Error;

/// The reason why a node id was refused. The caller adds the place (file and line).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The id is empty.
    #[error("the node id is empty")]
    Empty,
    /// The id contains a line feed or a carriage return.
    #[error("node id {0:?} contains a line break, but nodes.txt has one id per line")]
    LineBreak(String),
    /// The id is not UTF-8.
    #[error("node id {0:?} is not UTF-8; convert the text, for example with iconv -f latin1 -t utf-8")]
    NotUtf8(String),
    /// The set of nodes is fixed and this id is not in it.
    #[error("node {0:?} is not in the given set of nodes; add it there, or omit the node file")]
    Unknown(String),
    /// The id has more than 4 GB.
    #[error("a node id has more than 4 GB; check the delimiter")]
    TooLong,
    /// There are more ids than 32-bit node numbers.
    #[error("there are more than {} nodes, the maximum for 32-bit node numbers", Interner::MOST)]
    TooMany,
}

impl From<NodeError> for Error {
    fn from(error: NodeError) -> Self {
        Error::network(error.to_string())
    }
}

/// A growing set of ids.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    nodes: Nodes,
    table: HashTable<Slot>,
}

/// The entry of an id in the hash table. With a million nodes, the time of a lookup is that of its cache misses, and
/// a table of node numbers has four: the number, its two ends, its text. A slot contains ids of up to 8 bytes, and
/// refers directly to the text of others.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The id itself if it fits, else its start in the text.
    word: u64,
    length: u32,
    node: u32,
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    hash: u64,
    /// The number of the id, if it is known.
    pub node: Option<u32>,
}

/// Returns the bytes of an id that fits into a word.
#[inline]
fn short(id: &[u8]) -> Option<u64> {
    // Two overlapping loads of fixed size instead of a loop over bytes. The length distinguishes ids that differ only
    // in trailing zeros.
    let first = |bytes: &[u8]| bytes.first_chunk().map(|chunk| u64::from(u32::from_le_bytes(*chunk)));
    let last = |bytes: &[u8]| bytes.last_chunk().map(|chunk| u64::from(u32::from_le_bytes(*chunk)));
    match id.len() {
        0..4 => Some(id.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))),
        4..=8 => Some(first(id)? | last(id)? << 32),
        _ => None,
    }
}

impl Interner {
    /// The maximum number of ids. One number is reserved to mean "none".
    const MOST: usize = u32::MAX as usize - 1;

    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the bytes that ids and table take.
    pub fn bytes(&self) -> u64 {
        let Nodes { text, ends } = &self.nodes;
        let slots = self.table.capacity() * size_of::<Slot>();
        (text.capacity() + ends.capacity() * size_of::<usize>() + slots) as u64
    }

    /// Returns whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the ids so far.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Returns the ids.
    pub fn into_nodes(self) -> Nodes {
        self.nodes
    }

    /// Returns the number of a known id.
    pub fn find(&self, id: &[u8]) -> Option<u32> {
        self.find_hashed(id, hash(id))
    }

    /// Looks up the numbers of known ids, in order.
    ///
    /// There are only lookups in the loop, so that the processor waits for the memory of several at the same time.
    pub fn find_all<'a>(&self, ids: impl Iterator<Item = &'a [u8]> + Clone, found: &mut Vec<Found>) {
        found.clear();
        found.extend(ids.clone().map(|id| Found { hash: hash(id), node: None }));
        for (id, found) in ids.zip(found) {
            found.node = self.find_hashed(id, found.hash);
        }
    }

    #[inline]
    fn find_hashed(&self, id: &[u8], hash: u64) -> Option<u32> {
        let slot = match short(id) {
            Some(word) => self.table.find(hash, |slot| slot.word == word && slot.length as usize == id.len()),
            None => self.table.find(hash, |slot| {
                slot.length as usize == id.len() && self.nodes.text_at(slot.word as usize, id.len()) == id
            }),
        };
        slot.map(|slot| slot.node)
    }

    /// Returns the number of an id and adds the id if it is new.
    ///
    /// Only new ids are checked for valid UTF-8, because known ones have passed.
    pub fn intern(&mut self, id: &[u8]) -> Result<u32, NodeError> {
        match self.find(id) {
            Some(node) => Ok(node),
            None => self.add(id),
        }
    }

    /// Adds an id.
    ///
    /// # Errors
    /// When it is not valid or is already there.
    pub fn intern_new(&mut self, id: &[u8]) -> Result<(), Error> {
        let before = self.len();
        self.intern(id)?;
        if self.len() == before {
            return Err(Error::network(format!("node {:?} is given twice", lossy(id))));
        }
        Ok(())
    }

    #[cold]
    fn add(&mut self, id: &[u8]) -> Result<u32, NodeError> {
        let text = text_of(id)?;
        if self.len() >= Self::MOST {
            return Err(NodeError::TooMany);
        }
        let length = u32::try_from(id.len()).map_err(|_| NodeError::TooLong)?;
        let node = self.len() as u32;
        let word = short(id).unwrap_or(self.nodes.text_length() as u64);
        self.nodes.push(text);
        let nodes = &self.nodes;
        let rehash = |slot: &Slot| hash(nodes.bytes(slot.node as usize));
        self.table.insert_unique(hash(id), Slot { word, length, node }, rehash);
        Ok(node)
    }
}

/// Checks whether some text can be an id.
///
/// # Errors
/// When it is empty, is not UTF-8, or contains a line break.
pub fn check_id(id: &[u8]) -> Result<(), NodeError> {
    text_of(id).map(|_| ())
}

fn text_of(id: &[u8]) -> Result<&str, NodeError> {
    if id.is_empty() {
        return Err(NodeError::Empty);
    }
    let text = std::str::from_utf8(id).map_err(|_| NodeError::NotUtf8(lossy(id)))?;
    if memchr::memchr2(b'\n', b'\r', id).is_some() {
        return Err(NodeError::LineBreak(lossy(id)));
    }
    Ok(text)
}

/// Returns the id for a message: invalid UTF-8 is replaced, and long ids are shortened.
pub fn lossy(id: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(id);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

#[inline]
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

//! Blocks of whole lines, which threads parse side by side and whose edges are added in the order of the file.
//!
//! Invariant: a block gives what its rows give when they are read one by one, or nothing. It gives nothing when a row needs
//! more than that: a mistake, a quote, a relation or node that cannot be added. Such rows are left to `edge_list.rs`, which
//! reads them in order and knows what to say.

use super::columns::Columns;
use super::edge_list::Views;
use super::table::{split, split_blanks};
use super::weight::parse_weight;
use super::{Decimal, Delimiter};
use crate::network::{Found, Interner, NetworkBuilder};
use manyview_base::error::Result;

/// The number of edges whose nodes are looked up together; see `batch.rs`.
const TOGETHER: usize = 64;

/// How a file is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The number of rows that are read one by one before the first block, so that small files cost no threads.
    pub first: u64,
    /// The size of a block in bytes.
    pub size: usize,
    /// The number of blocks at a time.
    pub count: usize,
}

impl Pace {
    /// The pace for a number of threads.
    pub(super) fn new(threads: usize) -> Pace {
        // Two blocks per thread even out their times. The size hides the cost of a task and fits into caches.
        Pace { first: 1 << 13, size: 1 << 19, count: (2 * threads).clamp(4, 128) }
    }
}

/// What all blocks of a file need to know.
pub(super) struct Parser<'a> {
    pub columns: &'a Columns,
    pub delimiter: Delimiter,
    pub decimal: Decimal,
    /// Fields beyond this number are ignored.
    pub limit: usize,
    pub builder: &'a NetworkBuilder,
    pub views: &'a Views,
}

/// The edges of a block.
pub(super) struct Parsed {
    pub lines: u64,
    pub rows: usize,
    /// Source and target, alternating.
    ends: Vec<u32>,
    /// The places in `ends` of nodes that were not known, and their numbers in `new`.
    unknown: Vec<(usize, u32)>,
    new: Interner,
    /// The weights; none if the table has none.
    weights: Vec<f64>,
    /// The views; none if all edges belong to one.
    views: Vec<usize>,
}

/// Returns the number of lines of a block.
pub(super) fn count_lines(block: &[u8]) -> u64 {
    let breaks = memchr::memchr_iter(b'\n', block).count() as u64;
    breaks + u64::from(block.last().is_some_and(|&byte| byte != b'\n'))
}

impl Parser<'_> {
    /// Parses a block. `None` if its rows must be read in order.
    pub(super) fn parse(&self, block: &[u8]) -> Option<Parsed> {
        let quotes = matches!(self.delimiter, Delimiter::Comma | Delimiter::Semicolon);
        if memchr::memchr(0, block).is_some() || (quotes && memchr::memchr(b'"', block).is_some()) {
            return None;
        }
        let mut parsed = Parsed {
            lines: 0,
            rows: 0,
            ends: Vec::new(),
            unknown: Vec::new(),
            new: Interner::default(),
            weights: Vec::new(),
            views: Vec::new(),
        };
        let (mut ids, mut found) = (Vec::with_capacity(2 * TOGETHER), Vec::new());
        let (mut fields, mut rest) = (Vec::new(), block);
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            parsed.lines += 1;
            self.row(line.strip_suffix(b"\r").unwrap_or(line), &mut fields, &mut ids, &mut parsed)?;
            if ids.len() >= 2 * TOGETHER {
                self.look_up(&mut ids, &mut found, &mut parsed)?;
            }
        }
        self.look_up(&mut ids, &mut found, &mut parsed)?;
        parsed.rows = parsed.ends.len() / 2;
        Some(parsed)
    }

    /// Splits a line and appends its ends to `ids`. Blank lines have none.
    #[inline]
    fn row<'a>(
        &self,
        line: &'a [u8],
        fields: &mut Vec<(usize, usize)>,
        ids: &mut Vec<&'a [u8]>,
        parsed: &mut Parsed,
    ) -> Option<()> {
        fields.clear();
        match self.delimiter {
            Delimiter::Tab => split(line, b'\t', self.limit, fields),
            Delimiter::Space => split_blanks(line, self.limit, fields),
            Delimiter::Comma => split(line, b',', self.limit, fields),
            Delimiter::Semicolon => split(line, b';', self.limit, fields),
        }
        if matches!(fields[..], []) || matches!(fields[..], [(start, end)] if start == end) {
            return Some(());
        }
        if self.columns.most.is_some_and(|most| fields.len() > most) {
            return None;
        }
        let field = |column: usize| fields.get(column).map(|&(start, end)| &line[start..end]);
        let (source, target) = (field(self.columns.source)?, field(self.columns.target)?);
        if let Some(column) = self.columns.weight {
            parsed.weights.push(parse_weight(field(column)?, self.decimal)?);
        }
        if let Views::ByRelation { first, names, .. } = self.views {
            let name = field(self.columns.relation?)?;
            parsed.views.push(first + names.find(name)? as usize);
        }
        ids.extend([source, target]);
        Some(())
    }

    /// Replaces ids by numbers.
    fn look_up(&self, ids: &mut Vec<&[u8]>, found: &mut Vec<Found>, parsed: &mut Parsed) -> Option<()> {
        self.builder.find_nodes(ids.iter().copied(), found);
        for (id, found) in ids.iter().zip(found) {
            let node = match found.node {
                Some(node) => node,
                None if self.builder.has_fixed_nodes() => return None,
                None => {
                    let local = parsed.new.intern(id).ok()?;
                    parsed.unknown.push((parsed.ends.len(), local));
                    local
                }
            };
            parsed.ends.push(node);
        }
        ids.clear();
        Some(())
    }
}

impl Parsed {
    /// Adds the edges to the builder, and the nodes that it does not know yet. Returns false, and adds no edge, if a node
    /// cannot be added.
    pub(super) fn add_to(mut self, builder: &mut NetworkBuilder, views: &Views) -> Result<bool> {
        // Also those that an earlier block has added since.
        let numbers: Result<Vec<u32>, _> =
            self.new.nodes().iter().map(|id| builder.node(id.as_bytes())).collect();
        let Ok(numbers) = numbers else { return Ok(false) };
        for (place, local) in self.unknown {
            self.ends[place] = numbers[local as usize];
        }
        let view_of = |at: usize| match views {
            Views::One(view) => *view,
            Views::ByRelation { .. } => self.views[at],
        };
        for (at, ends) in self.ends.chunks_exact(2).enumerate() {
            let weight = self.weights.get(at).copied().unwrap_or(1.0);
            builder.add_edge(view_of(at), ends[0], ends[1], weight)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_with_and_without_a_last_break() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\n\nb", 3), ("\n", 1)] {
            assert_eq!(count_lines(text.as_bytes()), lines, "{text:?}");
        }
    }

    #[test]
    fn the_pace_grows_with_the_threads_up_to_a_limit() {
        let counts: Vec<usize> = [1, 2, 16, 4096].map(|threads| Pace::new(threads).count).to_vec();
        assert_eq!(counts, [4, 4, 32, 128]);
    }
}

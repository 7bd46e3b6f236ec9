//! Reads the rows of a table as edges into a network builder.
//!
//! The first rows are read one by one, the others in blocks by all threads (`block.rs`). Blocks that need more attention are read
//! one by one as well, so that every decision and every error is made in one place.
//!
//! Invariant: every row becomes one edge of one view, or an error with file and line. Nodes, views and edges are those of reading
//! row by row, for any number of threads.

use std::ops::ControlFlow;
use std::path::Path;

use rayon::prelude::*;

use super::batch::{Batch, Refused};
use super::block::{Pace, Parsed, Parser, count_lines};
use super::budget::{Budget, LINES_PER_CHECK};
use super::columns::{Columns, Format};
use super::lines::Lines;
use super::table::Rows;
use super::text::{BytesRead, Text};
use super::{Delimiter, Directed, ReadObserver, Reading};
use crate::io::Files;
use crate::network::{Duplicates, Interner, NetworkBuilder, NodeError, lossy};
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, option, option_value, switch};
use manyview_base::parallel::Pool;

/// The observer is called after this many rows: one or two megabytes, a few hundredths of a second.
const ROWS_PER_REPORT: u64 = LINES_PER_CHECK as u64;

/// The maximum number of views in a table. More values suggest that the relation column is a different one.
const MOST_VIEWS: usize = 1000;

/// What is common to all files of a network: where they are, and the progress for the observer.
pub(super) struct Progress<'a> {
    pub files: &'a dyn Files,
    pub pool: &'a Pool,
    pub pace: Pace,
    pub observer: &'a mut ReadObserver<'a>,
    pub taken: BytesRead,
    pub total: Option<u64>,
    pub edges: u64,
    pub budget: Budget,
}

impl Progress<'_> {
    pub(super) fn report(&mut self, path: &Path) -> Result<()> {
        let reading = Reading { path, bytes: self.taken.get(), total: self.total, edges: self.edges };
        match (self.observer)(&reading) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}

/// The views of the edges in a file.
pub(super) enum Views {
    /// All edges belong to this view.
    One(usize),
    /// Each edge belongs to the view in its relation column. A name with number i is view `first + i` of the builder.
    ByRelation { first: usize, names: Interner, directed: Directed, duplicates: Duplicates },
}

/// Reads a file into a builder and returns a note about how it was interpreted.
pub(super) fn read_edge_list(
    path: &Path,
    format: &Format,
    views: &mut Views,
    nodes: Option<&str>,
    builder: &mut NetworkBuilder,
    progress: &mut Progress<'_>,
) -> Result<Message> {
    let lines = Lines::new(Text::open(progress.files, path, &progress.taken)?)?;
    let file = lines.file().to_owned();
    let Some(mut rows) = Rows::new(lines, path, format.delimiter)? else {
        return Err(Error::parse(
            file,
            "no edges: the file is empty or has only comments; remove it or check its source",
        ));
    };
    let (columns, note) = understand(&mut rows, format)?;
    rows.settle(columns.most.map_or(columns.needed(), |most| most + 1));
    let mut table = Table { edges: Edges { rows, columns, nodes }, path, views, builder, progress, read: 0 };
    table.read()?;
    if table.read == 0 {
        return Err(Error::parse(
            file,
            format!(
                "no edges: the file has only a header (use {} to read it as an edge)",
                option_value("header", "no")
            ),
        ));
    }
    Ok(format!("{file}: {note}").into())
}

/// A table that is being read into a builder.
struct Table<'a, 'b> {
    edges: Edges<'a>,
    path: &'a Path,
    views: &'a mut Views,
    builder: &'a mut NetworkBuilder,
    progress: &'a mut Progress<'b>,
    /// The number of rows so far.
    read: u64,
}

impl Table<'_, '_> {
    fn read(&mut self) -> Result<()> {
        // Where rows need attention again and again, fewer blocks are tried.
        let (mut rows, mut stops) = (self.progress.pace.first, 0);
        while self.read_rows(rows)? {
            rows = match self.read_blocks()? {
                Blocks::All => u64::MAX,
                Blocks::Until { lines, passed } => {
                    stops = if passed { 1 } else { stops + 1 };
                    lines.max(1) << stops.min(20)
                }
            };
        }
        Ok(())
    }

    /// Reads up to this many rows one by one. Returns false at the end of the table.
    fn read_rows(&mut self, most: u64) -> Result<bool> {
        let mut batch = Batch::default();
        let mut unreported = 0;
        for _ in 0..most {
            let more = self.edges.read(&mut batch, self.builder, self.views);
            // On an error, earlier rows are added first, so that the first error in the file is reported.
            if !matches!(more, Ok(true)) || batch.is_full() {
                batch.add_to(self.builder, |refused| self.edges.bad_node(refused))?;
            }
            if !more? {
                self.report(unreported)?;
                return Ok(false);
            }
            self.read += 1;
            unreported += 1;
            if unreported == ROWS_PER_REPORT {
                self.report(std::mem::take(&mut unreported))?;
                self.check(LINES_PER_CHECK)?;
            }
        }
        batch.add_to(self.builder, |refused| self.edges.bad_node(refused))?;
        self.progress.edges += unreported;
        Ok(true)
    }

    /// Reads blocks until one needs attention or the text ends. While the pool parses blocks, the calling thread takes the
    /// next ones from the file.
    fn read_blocks(&mut self) -> Result<Blocks> {
        let (pool, Pace { size, count, .. }) = (self.progress.pool, self.progress.pace);
        let mut passed = false;
        let mut blocks = self.edges.rows.lines_mut().take_blocks(count, size);
        while !blocks.is_empty() {
            let Edges { rows, columns, .. } = &mut self.edges;
            let (delimiter, limit) = (rows.delimiter(), rows.limit());
            let parser = Parser { columns, delimiter, limit, builder: self.builder, views: self.views };
            let parse = || blocks.par_iter().map(|block| parser.parse(block)).collect::<Vec<_>>();
            let (parsed, next) = pool.beside(parse, || rows.lines_mut().take_blocks(count, size));
            let added = self.add(parsed)?;
            if added < blocks.len() {
                let lines = count_lines(&blocks[added]);
                self.edges.rows.lines_mut().give_back(blocks.into_iter().skip(added).chain(next));
                return Ok(Blocks::Until { lines, passed: passed || added > 0 });
            }
            passed = true;
            blocks = next;
        }
        Ok(Blocks::All)
    }

    /// Adds the edges of blocks up to the first that needs attention, and returns their number.
    fn add(&mut self, parsed: Vec<Option<Parsed>>) -> Result<usize> {
        let (mut blocks, mut edges) = (0, 0);
        for parsed in parsed {
            let Some(parsed) = parsed else { break };
            let (lines, rows) = (parsed.lines, parsed.rows as u64);
            self.check(parsed.rows)?;
            if !parsed.add_to(self.builder, self.views)? {
                break;
            }
            self.edges.rows.lines_mut().pass(lines);
            blocks += 1;
            edges += rows;
        }
        self.read += edges;
        self.report(edges)?;
        Ok(blocks)
    }

    fn report(&mut self, edges: u64) -> Result<()> {
        self.progress.edges += edges;
        self.progress.report(self.path)
    }

    /// Checks the memory for what has been read and for `edges` more. A small network is left to the estimate of the whole run,
    /// which can give better advice.
    fn check(&self, edges: usize) -> Result<()> {
        if self.builder.edges() + edges < LINES_PER_CHECK {
            return Ok(());
        }
        let lines = self.edges.rows.lines();
        self.progress.budget.check(self.builder, edges, || format!("{}:{}", lines.file(), lines.number()))
    }
}

/// How far blocks were read.
enum Blocks {
    /// To the end of the text, or of what can be cut into blocks.
    All,
    /// Up to a block of this many lines that needs attention; `passed` if others were read before.
    Until { lines: u64, passed: bool },
}

/// Determines the columns and moves to the first edge. Returns the columns and a note, to be made a message.
fn understand(rows: &mut Rows, format: &Format) -> Result<(Columns, String)> {
    rows.advance()?;
    let (first, number) = (rows.texts(), rows.lines().number());
    if first.len() < 2 {
        return Err(too_few(rows, 2));
    }
    let second = if rows.advance()? { Some(rows.texts()) } else { None };
    let placed = |error| match error {
        Error::Config(message) => Error::parse(format!("{}:{number}", rows.lines().file()), message),
        other => other,
    };
    let columns = Columns::choose(format, &first, second.as_deref()).map_err(placed)?;
    rows.restart();
    rows.advance()?;
    if first.len() < columns.needed() {
        return Err(too_few(rows, columns.needed()));
    }
    if !columns.header {
        rows.restart();
    }
    let note = columns.note(rows.delimiter(), format, &first);
    Ok((columns, note))
}

struct Edges<'a> {
    rows: Rows,
    columns: Columns,
    /// The name of the node file, if any.
    nodes: Option<&'a str>,
}

impl Edges<'_> {
    /// Adds the next row to the batch. Returns false at the end of the table.
    #[inline]
    fn read(&mut self, batch: &mut Batch, builder: &mut NetworkBuilder, views: &mut Views) -> Result<bool> {
        if !self.rows.advance()? {
            return Ok(false);
        }
        let source = self.field(self.columns.source)?;
        let target = self.field(self.columns.target)?;
        let weight = match self.columns.weight {
            None => 1.0,
            Some(column) => {
                let field = self.field(column)?;
                parse_weight(field).ok_or_else(|| self.bad_weight(field))?
            }
        };
        if self.columns.most.is_some_and(|most| self.rows.len() > most) {
            return Err(self.too_many());
        }
        let view = match views {
            Views::One(view) => *view,
            Views::ByRelation { .. } => self.view(builder, views)?,
        };
        batch.push(self.rows.lines().number(), view, source, target, weight);
        Ok(true)
    }

    #[inline]
    fn field(&self, column: usize) -> Result<&[u8]> {
        self.rows.field(column).ok_or_else(|| too_few(&self.rows, self.columns.needed()))
    }

    /// Returns the view named by the row and adds it if it is new.
    fn view(&self, builder: &mut NetworkBuilder, views: &mut Views) -> Result<usize> {
        let Views::ByRelation { first, names, directed, duplicates } = views else {
            unreachable!("called only for tables with a relation")
        };
        let name = self.field(self.columns.relation.expect("the table has a relation column"))?;
        let before = names.len();
        let number = names.intern(name).map_err(|error| self.bad_relation(error))? as usize;
        if names.len() > before {
            if names.len() > MOST_VIEWS {
                return Err(self.rows.lines().line_error(format!(
                    "more than {MOST_VIEWS} different relations; check the column given as {}",
                    option("relation")
                )));
            }
            let name = names.nodes().id(number);
            builder
                .add_view(name, directed.holds(name), *duplicates)
                .map_err(|error| self.rows.lines().line_error(error.to_string()))?;
        }
        Ok(*first + number)
    }

    #[cold]
    fn bad_node(&self, refused: Refused) -> Error {
        let (end, column) =
            if refused.is_source { ("source", self.columns.source) } else { ("target", self.columns.target) };
        let message = match (refused.error, self.nodes) {
            (NodeError::Empty, _) => {
                format!("the {end} is empty; expected a node id in column {}", column + 1)
            }
            (NodeError::Unknown(id), Some(file)) => format!(
                "node {id:?} is not in {file}; add it there, or omit the node file to take the nodes from the edges"
            ),
            (error, _) => error.to_string(),
        };
        Error::parse(format!("{}:{}", self.rows.lines().file(), refused.line), message)
    }

    #[cold]
    fn bad_relation(&self, error: NodeError) -> Error {
        self.rows.lines().line_error(match error {
            NodeError::Empty => "the relation is empty; every edge of the table needs a view".to_owned(),
            NodeError::NotUtf8(name) => {
                format!("relation {name:?} is not UTF-8; convert the text, for example with iconv -f latin1 -t utf-8")
            }
            NodeError::LineBreak(name) => format!("relation {name:?} contains a line break"),
            other => other.to_string(),
        })
    }

    #[cold]
    fn bad_weight(&self, field: &[u8]) -> Error {
        let (text, unweighted) = (lossy(field), switch("unweighted"));
        let message = match text.replacen(',', ".", 1).parse::<f64>() {
            _ if field.is_empty() => {
                format!("the weight is empty; expected a number (use {unweighted} to ignore weights)")
            }
            Ok(_) if text.contains(',') => {
                format!(
                    "weight {text:?} is not a number (use a decimal point: {})",
                    text.replacen(',', ".", 1)
                )
            }
            Ok(weight) if weight < 0.0 && weight.is_finite() => {
                format!("weight {text:?} is negative; weights must be at least 0")
            }
            Ok(_) => format!("weight {text:?} is not finite; weights must be finite numbers of at least 0"),
            Err(_) if self.columns.header => {
                format!("weight {text:?} is not a number (use {unweighted} to ignore weights)")
            }
            Err(_) => format!(
                "weight {text:?} is not a number (use {unweighted} to ignore weights, or {} to split the table by \
                 this column)",
                option_value("relation", self.columns.weight.map_or(3, |column| column + 1))
            ),
        };
        self.rows.lines().line_error(message)
    }

    #[cold]
    fn too_many(&self) -> Error {
        let most = self.columns.most.expect("only tables with a limit have too many fields");
        self.rows.lines().line_error(format!(
            "more fields than the {most} of the first line; give every line a weight, or none (use {} to ignore \
             further fields)",
            switch("unweighted")
        ))
    }
}

#[cold]
fn too_few(rows: &Rows, needed: usize) -> Error {
    let lines = rows.lines();
    let has = |byte| memchr::memchr(byte, lines.line()).is_some();
    let found = match rows.len() {
        1 => "one field".to_owned(),
        fields => format!("{fields} fields"),
    };
    let expected = match needed {
        2 => "source and target".to_owned(),
        _ => needed.to_string(),
    };
    let delimiter = rows.delimiter();
    // Only a line without the delimiter suggests a different one.
    let other = match delimiter {
        _ if rows.len() > 1 => None,
        Delimiter::Tab | Delimiter::Space if has(b',') => Some(Delimiter::Comma),
        Delimiter::Tab | Delimiter::Space if has(b';') => Some(Delimiter::Semicolon),
        Delimiter::Comma | Delimiter::Semicolon if has(b'\t') => Some(Delimiter::Tab),
        Delimiter::Comma if has(b';') => Some(Delimiter::Semicolon),
        Delimiter::Semicolon if has(b',') => Some(Delimiter::Comma),
        Delimiter::Space => None,
        _ if has(b' ') => Some(Delimiter::Space),
        _ => None,
    };
    let advice = other.map(|other| {
        format!(
            "; if they are separated by {}, use {}",
            other.plural(),
            option_value("delimiter", other.name())
        )
    });
    lines.line_error(format!(
        "found {found}, expected {expected} separated by {}{}",
        delimiter.plural(),
        advice.unwrap_or_default()
    ))
}

/// Parses a finite number of at least 0.
#[inline]
pub(super) fn parse_weight(field: &[u8]) -> Option<f64> {
    // Counts are the most frequent weights, and exact below 10^15.
    if field.len() <= 15 && !field.is_empty() && field.iter().all(u8::is_ascii_digit) {
        return Some(field.iter().fold(0u64, |sum, digit| 10 * sum + u64::from(digit - b'0')) as f64);
    }
    let weight: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    (0.0..f64::INFINITY).contains(&weight).then_some(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_finite_numbers_of_at_least_zero() {
        for (text, weight) in
            [("1", 1.0), ("0.5", 0.5), ("1e-3", 1e-3), ("007", 7.0), ("+2", 2.0), ("-0", -0.0)]
        {
            assert_eq!(parse_weight(text.as_bytes()), Some(weight), "{text}");
        }
        assert_eq!(parse_weight(b"999999999999999"), Some(999_999_999_999_999.0));
        assert_eq!(parse_weight(b"9007199254740993"), Some(9_007_199_254_740_992.0));
        for text in ["", "x", "0,5", "-1", "nan", "inf", "1e999", "1 2", "\u{661}"] {
            assert_eq!(parse_weight(text.as_bytes()), None, "{text}");
        }
    }
}

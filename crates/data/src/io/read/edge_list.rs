//! Reads the rows of a table as edges into a network builder.
//!
//! The first rows are read one by one, the others in blocks by all threads (`block.rs`). Blocks that need more attention are read
//! one by one as well, so that every decision and every error is made in one place.
//!
//! Invariant: every row becomes one edge of one view, or an error with file and line, or is skipped and counted if that was asked for;
//! of a skipped row nothing remains. Nodes, views and edges are those of reading row by row, for any number of threads.

use std::ops::ControlFlow;
use std::path::Path;

use rayon::prelude::*;

use super::batch::{Batch, Refused};
use super::block::{Pace, Parsed, Parser, count_lines};
use super::budget::{Budget, LINES_PER_CHECK};
use super::columns::{Columns, Format, Head, SAMPLE};
use super::lines::Lines;
use super::table::Rows;
use super::text::{BytesRead, Text};
use super::weight::{bad_weight, parse_weight};
use super::{Decimal, Delimiter, Directed, Header, OnError, ReadObserver, Reading};
use crate::io::Files;
use crate::network::{Duplicates, Interner, NetworkBuilder, NodeError, check_id, lossy};
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

/// Returns an error as a message, in which options keep their notation.
fn described(error: Error) -> Message {
    match error {
        Error::Parse { place, message } => message.prefixed(&format!("{place}: ")),
        other => other.to_string().into(),
    }
}

/// What is known of a file that was read.
pub(super) struct FileRead {
    /// How it was interpreted.
    pub note: Message,
    pub skipped: Skipped,
    /// The number of lines that are edges.
    pub rows: u64,
    /// The place and the nodes of the first row, if it may be a header that was not recognized.
    pub first: Option<FirstRow>,
}

/// A first row that was read as an edge.
pub(super) struct FirstRow {
    pub place: String,
    pub ends: [u32; 2],
}

/// Lines that could not be read.
#[derive(Default)]
pub(super) struct Skipped {
    pub lines: u64,
    /// What is wrong with the first, with its place.
    pub first: Option<Message>,
}

/// Reads a file into a builder.
pub(super) fn read_edge_list(
    path: &Path,
    format: &Format,
    views: &mut Views,
    nodes: Option<&str>,
    builder: &mut NetworkBuilder,
    progress: &mut Progress<'_>,
) -> Result<FileRead> {
    let lines = Lines::new(Text::open(progress.files, path, &progress.taken)?)?;
    let file = lines.file().to_owned();
    let Some(mut rows) = Rows::new(lines, path, format.delimiter)? else {
        return Err(Error::parse(
            file,
            "no edges: the file is empty or has only comments; remove it or check its source",
        ));
    };
    let Understood { columns, note, first } = understand(&mut rows, format)?;
    rows.settle(columns.most.map_or(columns.needed(), |most| most + 1));
    let edges = Edges { rows, columns, nodes, decimal: format.decimal, on_error: format.on_error };
    let mut table = Table { edges, path, views, builder, progress, read: 0, skipped: Skipped::default() };
    table.read()?;
    let (rows, skipped) = (table.read, table.skipped);
    if rows == 0 {
        return Err(Error::parse(
            file,
            match skipped.first {
                Some(first) => first
                    .prefixed(&format!("no edges: none of {} lines can be read; the first: ", skipped.lines)),
                None => Message::from(format!(
                    "no edges: the file has only a header (use {} to read it as an edge)",
                    option_value("header", "no")
                )),
            },
        ));
    }
    let first = first.and_then(|(line, ends)| {
        let ends = ends.map(|id| builder.find_node(id.as_bytes()));
        Some(FirstRow { place: format!("{file}:{line}"), ends: [ends[0]?, ends[1]?] })
    });
    let mut note = format!("{file}: {note}");
    if skipped.lines > 0 {
        let lines = if skipped.lines == 1 { "line" } else { "lines" };
        note += &format!("; skipped {} {lines} that cannot be read", skipped.lines);
    }
    Ok(FileRead { note: note.into(), skipped, rows, first })
}

/// A table that is being read into a builder.
struct Table<'a, 'b> {
    edges: Edges<'a>,
    path: &'a Path,
    views: &'a mut Views,
    builder: &'a mut NetworkBuilder,
    progress: &'a mut Progress<'b>,
    /// The number of rows so far, without skipped ones.
    read: u64,
    skipped: Skipped,
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
            let next = self.edges.read(&mut batch, self.builder, self.views);
            // On an error, earlier rows are added first, so that the first error in the file is reported.
            if !matches!(next, Ok(Next::Row)) || batch.is_full() {
                batch.add_to(self.builder, |refused| self.edges.bad_node(refused))?;
            }
            match next? {
                Next::Row => {}
                Next::Bad(error) => {
                    self.skipped.lines += 1;
                    self.skipped.first.get_or_insert_with(|| described(error));
                    continue;
                }
                Next::End => {
                    self.report(unreported)?;
                    return Ok(false);
                }
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
            let Edges { rows, columns, decimal, .. } = &mut self.edges;
            let (delimiter, limit) = (rows.delimiter(), rows.limit());
            let (builder, views) = (&*self.builder, &*self.views);
            let parser = Parser { columns, delimiter, decimal: *decimal, limit, builder, views };
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

/// How a table is read.
struct Understood {
    columns: Columns,
    /// To be made a message.
    note: String,
    /// The line and the ends of a first row that was read as an edge but looks like names.
    first: Option<(u64, [String; 2])>,
}

/// Determines the columns and moves to the first edge.
fn understand(rows: &mut Rows, format: &Format) -> Result<Understood> {
    rows.advance()?;
    let (first, number) = (rows.texts(), rows.lines().number());
    if first.len() < 2 {
        return Err(too_few(rows, 2));
    }
    let others = rows.look_ahead(SAMPLE);
    let head = Head { first: &first, others: &others };
    let placed = |error| match error {
        Error::Config(message) => Error::parse(format!("{}:{number}", rows.lines().file()), message),
        other => other,
    };
    let columns = Columns::choose(format, &head).map_err(placed)?;
    rows.restart();
    rows.advance()?;
    if first.len() < columns.needed() {
        return Err(too_few(rows, columns.needed()));
    }
    if !columns.header {
        rows.restart();
    }
    let note = columns.note(Some(rows.delimiter()), format, &head);
    let words = |text: &String| text.chars().all(|c| c.is_alphabetic() || c == '_' || c == ' ');
    let unsure = !columns.header && format.header == Header::Auto && others.len() > 2;
    let ends = [&first[columns.source], &first[columns.target]];
    let first = (unsure && ends.into_iter().all(words)).then(|| (number, ends.map(String::clone)));
    Ok(Understood { columns, note, first })
}

struct Edges<'a> {
    rows: Rows,
    columns: Columns,
    /// The name of the node file, if any.
    nodes: Option<&'a str>,
    decimal: Decimal,
    on_error: OnError,
}

/// What comes next in a table.
enum Next {
    /// A row, which was added to the batch.
    Row,
    /// A row that is to be skipped.
    Bad(Error),
    End,
}

impl Edges<'_> {
    /// Adds the next row to the batch.
    #[inline]
    fn read(&mut self, batch: &mut Batch, builder: &mut NetworkBuilder, views: &mut Views) -> Result<Next> {
        if !self.rows.advance()? {
            return Ok(Next::End);
        }
        let weight = match self.weight_of(builder) {
            Ok(weight) => weight,
            Err(error) if self.on_error == OnError::Skip => return Ok(Next::Bad(error)),
            Err(error) => return Err(error),
        };
        let view = match views {
            Views::One(view) => *view,
            Views::ByRelation { .. } => self.view(builder, views)?,
        };
        let (source, target) = (self.field(self.columns.source)?, self.field(self.columns.target)?);
        batch.push(self.rows.lines().number(), view, source, target, weight);
        Ok(Next::Row)
    }

    /// Returns the weight of the row. An error if the row has not all fields, or has a bad one and is to be skipped: nothing of it
    /// has been added so far.
    #[inline]
    fn weight_of(&self, builder: &NetworkBuilder) -> Result<f64> {
        self.field(self.columns.source)?;
        self.field(self.columns.target)?;
        let weight = match self.columns.weight {
            None => 1.0,
            Some(column) => {
                let field = self.field(column)?;
                parse_weight(field, self.decimal).ok_or_else(|| self.bad_weight(field))?
            }
        };
        if self.columns.most.is_some_and(|most| self.rows.len() > most) {
            return Err(self.too_many());
        }
        if self.on_error == OnError::Skip {
            self.check_texts(builder)?;
        }
        Ok(weight)
    }

    /// Checks the ids and the relation of the row.
    fn check_texts(&self, builder: &NetworkBuilder) -> Result<()> {
        for (is_source, column) in [(true, self.columns.source), (false, self.columns.target)] {
            let id = self.field(column)?;
            let checked = match () {
                () if builder.find_node(id).is_some() => Ok(()),
                () if builder.has_fixed_nodes() && !id.is_empty() => Err(NodeError::Unknown(lossy(id))),
                () => check_id(id),
            };
            let line = self.rows.lines().number();
            checked.map_err(|error| self.bad_node(Refused { line, is_source, error }))?;
        }
        let Some(column) = self.columns.relation else { return Ok(()) };
        check_id(self.field(column)?.trim_ascii()).map_err(|error| self.bad_relation(error))
    }

    #[cold]
    fn bad_weight(&self, field: &[u8]) -> Error {
        let column = self.columns.weight.map_or(3, |column| column + 1);
        self.rows.lines().line_error(bad_weight(
            field,
            self.decimal,
            (!self.columns.header).then_some(column),
        ))
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

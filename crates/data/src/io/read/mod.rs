//! Reading networks from edge tables.
//!
//! A network is given as one file per view; as one table with a column for the view; as a folder; or as a
//! `network.toml`. Files are text separated by tabs, commas, semicolons or blanks, plain or compressed with gzip or
//! zstd, and are read as streams. Nothing is printed. What the user should know is in [`ReadNetwork::notes`].
//!
//! Invariant: what cannot be interpreted is an error with file and line; what was inferred is reported in a note.

mod batch;
mod block;
mod budget;
mod columns;
mod edge_list;
mod fields;
mod foreign;
mod frame;
mod label_table;
mod labels;
mod lines;
mod manifest;
mod names;
mod nodes;
mod open;
mod plan;
mod table;
mod text;
mod view_source;
mod weight;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::network::{Duplicates, Network};
use manyview_base::message::{Message, Warning};
use manyview_base::named;

pub use frame::{TableColumns, table_columns};
pub use label_table::{LabelColumns, LabelSet, read_label_sets, read_label_sets_from};
pub use labels::{read_labels, read_labels_from};
pub use nodes::read_node_file_from;
pub use open::{read_network, read_network_from};
pub use view_source::ViewSource;

/// The source of a network. The path `-` is standard input.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Source {
    /// One file per view, with the names of the views.
    Views(Vec<ViewSource>),
    /// One table for all views; [`ReadOptions::relation`] is the column with the name of the view.
    Table(PathBuf),
    /// A folder, a `network.toml`, or files, whose names without extension are the names of the views. A single file
    /// is read as [`Source::Table`] if [`ReadOptions::relation`] is set.
    Paths(Vec<PathBuf>),
}

/// How to read tables. Settings in a `network.toml` take precedence over these options.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The source column, by name or by number from 1. By default one with a usual name, else the first.
    pub source: Option<String>,
    /// The target column. By default one with a usual name, else the second.
    pub target: Option<String>,
    /// The weight column. By default one with a usual name, or the third of a file without header.
    pub weight: Option<String>,
    /// The column with the name of the view of an edge.
    pub relation: Option<String>,
    /// The separator of fields. By default inferred from the name and the first line of the file.
    pub delimiter: Option<Delimiter>,
    /// Whether the first line is a header with the names of the columns.
    pub header: Header,
    /// Whether to ignore weights, so that every line counts 1.
    pub unweighted: bool,
    /// The decimal separator of weights.
    pub decimal: Decimal,
    /// What to do with lines that cannot be read.
    pub on_error: OnError,
    /// The directed views.
    pub directed: Directed,
    /// How to merge several edges between the same two nodes of a view.
    pub duplicates: Duplicates,
    /// A file with one node id per line, which fixes the nodes and their order.
    pub nodes: Option<PathBuf>,
    /// The memory in bytes that the process may use; if not given, what is available.
    pub max_memory: Option<u64>,
}

named! {
    /// The separator of the fields of a line.
    pub enum Delimiter {
        Tab = "tab", "tab";
        Comma = "comma", "comma; fields may be quoted";
        Semicolon = "semicolon", "semicolon; fields may be quoted";
        Space = "space", "any number of blanks and tabs";
    }
}

impl Delimiter {
    fn plural(self) -> &'static str {
        match self {
            Delimiter::Tab => "tabs",
            Delimiter::Comma => "commas",
            Delimiter::Semicolon => "semicolons",
            Delimiter::Space => "blanks",
        }
    }
}

named! {
    /// Whether the first line of a table is a header.
    pub enum Header {
        Auto = "auto", "inferred from the first two lines";
        Yes = "yes", "it is a header";
        No = "no", "it is an edge";
    }
}

named! {
    /// The decimal separator of weights.
    pub enum Decimal {
        Point = "point", "0.5";
        Comma = "comma", "0,5; points separate thousands";
    }
}

named! {
    /// What to do with lines that cannot be read.
    pub enum OnError {
        Stop = "stop", "an error with the line";
        Skip = "skip", "leave them out and count them";
    }
}

/// The directed views.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Directed {
    /// None of the views.
    #[default]
    No,
    /// All views.
    All,
    /// The views with these names, which must exist.
    Views(Vec<String>),
}

/// True, false or a list of names, as in Python.
impl Serialize for Directed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Directed::No => serializer.serialize_bool(false),
            Directed::All => serializer.serialize_bool(true),
            Directed::Views(names) => names.serialize(serializer),
        }
    }
}

impl Directed {
    fn holds(&self, view: &str) -> bool {
        match self {
            Directed::No => false,
            Directed::All => true,
            Directed::Views(names) => names.iter().any(|name| name == view),
        }
    }

    fn names(&self) -> &[String] {
        match self {
            Directed::Views(names) => names,
            _ => &[],
        }
    }
}

/// The progress of reading, passed to the observer every few megabytes and at the end of each file.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The file being read.
    pub path: &'a Path,
    /// The number of bytes read so far in all files, before decompression.
    pub bytes: u64,
    /// The size of all files in bytes, before decompression, if known.
    pub total: Option<u64>,
    /// The number of edges read so far.
    pub edges: u64,
}

/// A network and notes about how it was read.
#[derive(Clone, Debug)]
pub struct ReadNetwork {
    /// The network.
    pub network: Network,
    /// Sentences without full stop: how each file was interpreted, and what was dropped or merged.
    pub notes: Vec<Message>,
    /// What makes it likely that something else was meant.
    pub warnings: Vec<Warning>,
    /// The number of lines that were left out because they could not be read; see [`ReadOptions::on_error`].
    pub skipped: u64,
}

/// The observer of reading. `Break` stops it with [`Error::Interrupted`](manyview_base::error::Error::Interrupted).
pub type ReadObserver<'a> = dyn FnMut(&Reading<'_>) -> ControlFlow<()> + 'a;

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
mod foreign;
mod labels;
mod lines;
mod manifest;
mod nodes;
mod open;
mod plan;
mod table;
mod text;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use crate::network::{Duplicates, Network};
use manyview_base::error::Error;
use manyview_base::message::Message;
use manyview_base::named;

pub use labels::{read_labels, read_labels_from};
pub use nodes::read_node_file_from;
pub use open::{read_network, read_network_from};

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

/// A file and the name of its view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSource {
    /// The name of the view.
    pub name: String,
    /// The path of the file; `-` is standard input.
    pub path: PathBuf,
}

impl FromStr for ViewSource {
    type Err = Error;

    /// Parses `NAME=PATH`.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once('=') {
            Some((name, path)) if !name.trim().is_empty() && !path.is_empty() => {
                Ok(ViewSource { name: name.trim().to_owned(), path: path.into() })
            }
            _ => Err(Error::config(format!(
                "view {text:?} is not of the form NAME=PATH, such as calls=calls.tsv"
            ))),
        }
    }
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
}

/// The observer of reading. `Break` stops it with [`Error::Interrupted`].
pub type ReadObserver<'a> = dyn FnMut(&Reading<'_>) -> ControlFlow<()> + 'a;

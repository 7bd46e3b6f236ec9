//! Reading networks: edge tables in the forms in which people have them.
//!
//! A network is given as files, one for each view; as one table with a column that names the view; as a folder;
//! or as a `network.toml`. Files are text separated by tabs, commas, semicolons or blanks, plain or packed with
//! gzip or zstd, and are read as streams. Nothing is printed: what a person should know is in
//! [`ReadNetwork::notes`].
//!
//! Invariant: what cannot be understood is an error with file and line; nothing is guessed without a note.

mod batch;
mod columns;
mod edge_list;
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

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::network::{Duplicates, Network};
use manyview_base::error::Error;

pub use labels::read_labels;
pub use nodes::read_node_file;
pub use open::read_network;

/// Where a network is to be read from. The path `-` is standard input.
#[derive(Clone, Debug)]
pub enum Source {
    /// Files with names for the views they hold.
    Views(Vec<ViewSource>),
    /// One table for all views; [`ReadOptions::relation`] names the column that tells them apart.
    Table(PathBuf),
    /// A folder, a `network.toml`, or files that give their stems as names of views. A single file is read as
    /// [`Source::Table`] when there is a [`ReadOptions::relation`].
    Paths(Vec<PathBuf>),
}

/// A file and the name of the view it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSource {
    /// The view's name.
    pub name: String,
    /// The file; `-` is standard input.
    pub path: PathBuf,
}

impl FromStr for ViewSource {
    type Err = Error;

    /// Takes `NAME=PATH`.
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

/// How to read tables. A `network.toml` comes first: these options fill in what it does not say.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The column of sources, by name or number from 1; by default one with a usual name, else the first.
    pub source: Option<String>,
    /// The column of targets; by default one with a usual name, else the second.
    pub target: Option<String>,
    /// The column of weights; by default one with a usual name, or the third of a file without header.
    pub weight: Option<String>,
    /// The column that names the view of an edge.
    pub relation: Option<String>,
    /// What separates fields; by default it is told from the file's name and first line.
    pub delimiter: Option<Delimiter>,
    /// Whether the first line names the columns.
    pub header: Header,
    /// Ignore weights: every line counts 1.
    pub unweighted: bool,
    /// The views whose edges have directions.
    pub directed: Directed,
    /// What to do with several edges between the same two nodes of a view.
    pub duplicates: Duplicates,
    /// A file with one node id a line that fixes the nodes and their order.
    pub nodes: Option<PathBuf>,
}

/// What separates the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delimiter {
    /// A tab.
    Tab,
    /// A comma; fields may be quoted.
    Comma,
    /// A semicolon; fields may be quoted.
    Semicolon,
    /// Any number of blanks and tabs.
    Space,
}

impl Delimiter {
    fn separated(self) -> &'static str {
        match self {
            Delimiter::Tab => "tab-separated",
            Delimiter::Comma => "comma-separated",
            Delimiter::Semicolon => "semicolon-separated",
            Delimiter::Space => "space-separated",
        }
    }
}

/// Whether the first line of a table names its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Header {
    /// It is told from the first two lines.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is an edge like the others.
    No,
}

impl<'de> Deserialize<'de> for Header {
    /// Takes `true`, `false`, `"yes"`, `"no"` and `"auto"`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Header;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"auto\", \"yes\" or \"no\"")
            }
            fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Header, E> {
                Ok(if yes { Header::Yes } else { Header::No })
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Header, E> {
                match text {
                    "auto" => Ok(Header::Auto),
                    "yes" => Ok(Header::Yes),
                    "no" => Ok(Header::No),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The views whose edges have directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Directed {
    /// None of them.
    #[default]
    No,
    /// All of them.
    All,
    /// Those with these names, which must exist.
    Views(Vec<String>),
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

/// How far the reading is; given to the observer every few megabytes and at the end of each file.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The file being read.
    pub path: &'a Path,
    /// Bytes read so far, of all files, before unpacking.
    pub bytes: u64,
    /// Bytes of all files, before unpacking, if known.
    pub total: Option<u64>,
    /// Edges read so far.
    pub edges: u64,
}

/// A network, and what a person should know about how it was read.
#[derive(Clone, Debug)]
pub struct ReadNetwork {
    /// The network.
    pub network: Network,
    /// Sentences without full stop: how each file was understood, what was dropped or merged.
    pub notes: Vec<String>,
}

/// The observer of a reading: `Break` ends it with [`Error::Interrupted`].
pub type ReadObserver<'a> = dyn FnMut(&Reading<'_>) -> ControlFlow<()> + 'a;

//! How a network is given.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use manyview::Error;
use manyview::io::{Delimiter, Directed, Header, ReadOptions, Source, ViewSource};
use manyview::network::Duplicates;

use super::choice;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// A folder (each edge list in it is a view), a network.toml, edge lists (each a view), or, with --relation,
    /// one table for all views; `-` is standard input
    #[arg(value_name = "NETWORK")]
    pub(crate) network: Vec<PathBuf>,
    /// A view and its edge list: source, target and maybe a weight on each line, separated by tabs, commas or
    /// blanks; plain, .gz or .zst (repeatable)
    #[arg(long, value_name = "NAME=PATH")]
    pub(crate) view: Vec<String>,
    /// The column that names the view of an edge, by name or number
    #[arg(long, value_name = "COL")]
    pub(crate) relation: Option<String>,
    /// The column of sources [default: told from the header, else the first]
    #[arg(long, value_name = "COL")]
    pub(crate) source: Option<String>,
    /// The column of targets [default: told from the header, else the second]
    #[arg(long, value_name = "COL")]
    pub(crate) target: Option<String>,
    /// The column of weights [default: told from the header, else the third]
    #[arg(long, value_name = "COL")]
    pub(crate) weight: Option<String>,
    /// Ignore weights: every edge counts 1
    #[arg(long)]
    pub(crate) unweighted: bool,
    /// What separates fields [default: told from the file]
    #[arg(long, value_name = "NAME", value_parser = delimiters())]
    pub(crate) delimiter: Option<Delimiter>,
    /// Whether the first line names the columns [default: auto]
    #[arg(long, value_name = "WHEN", value_parser = headers())]
    pub(crate) header: Option<Header>,
    /// Keep the directions of this view's edges; `all` for every view (repeatable)
    #[arg(long, value_name = "VIEW")]
    pub(crate) directed: Vec<String>,
    /// Several edges between the same two nodes of a view [default: sum]
    #[arg(long, value_name = "HOW", value_parser = duplicates())]
    pub(crate) duplicates: Option<Duplicates>,
    /// A file with one node id a line: fixes the nodes and their order
    #[arg(long, value_name = "PATH")]
    pub(crate) nodes: Option<PathBuf>,
}

impl NetworkArgs {
    /// Where to read from.
    pub(crate) fn source(&self) -> Result<Source> {
        let usage = |sentence: &str| Error::config(sentence.to_owned());
        if self.view.is_empty() && self.network.is_empty() {
            bail!(usage(
                "no network given: name a folder, a network.toml or edge lists, or use --view NAME=PATH for each view"
            ));
        }
        if self.view.is_empty() {
            return Ok(Source::Paths(self.network.clone()));
        }
        if !self.network.is_empty() {
            bail!(usage("give the network either by --view NAME=PATH or as paths, not both"));
        }
        if self.relation.is_some() {
            bail!(usage("--relation splits one table into views; with --view each file is a view already"));
        }
        let views = self.view.iter().map(|text| text.parse()).collect::<Result<Vec<ViewSource>, Error>>()?;
        Ok(Source::Views(views))
    }

    /// Whether a part of it comes from standard input.
    pub(crate) fn uses_standard_input(&self) -> bool {
        let dash = |path: &PathBuf| path.as_os_str() == "-";
        self.network.iter().chain(&self.nodes).any(dash) || self.view.iter().any(|view| view.ends_with("=-"))
    }

    /// How to read it.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            source: self.source.clone(),
            target: self.target.clone(),
            weight: self.weight.clone(),
            relation: self.relation.clone(),
            delimiter: self.delimiter,
            header: self.header.unwrap_or_default(),
            unweighted: self.unweighted,
            directed: match self.directed.as_slice() {
                [] => Directed::No,
                names if names.iter().any(|name| name == "all") => Directed::All,
                names => Directed::Views(names.to_vec()),
            },
            duplicates: self.duplicates.unwrap_or_default(),
            nodes: self.nodes.clone(),
        }
    }
}

fn delimiters() -> impl clap::builder::TypedValueParser<Value = Delimiter> {
    choice([
        ("tab", "a tab", Delimiter::Tab),
        ("comma", "a comma; fields may be quoted", Delimiter::Comma),
        ("semicolon", "a semicolon; fields may be quoted", Delimiter::Semicolon),
        ("space", "any number of blanks and tabs", Delimiter::Space),
    ])
}

fn headers() -> impl clap::builder::TypedValueParser<Value = Header> {
    choice([
        ("auto", "told from the first two lines", Header::Auto),
        ("yes", "it does", Header::Yes),
        ("no", "it is an edge like the others", Header::No),
    ])
}

fn duplicates() -> impl clap::builder::TypedValueParser<Value = Duplicates> {
    choice([
        ("sum", "add their weights up", Duplicates::Sum),
        ("max", "keep the largest weight", Duplicates::Max),
    ])
}

//! The arguments that name a network and say how to read it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use manyview::Error;
use manyview::io::{Decimal, Delimiter, Directed, Header, OnError, ReadOptions, Source, ViewSource};
use manyview::network::Duplicates;

use super::named;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// Folder (one view per edge list), network.toml, edge lists (one view per file) or, with --relation, one table
    /// with all views; `-` is standard input
    #[arg(value_name = "NETWORK")]
    pub(crate) network: Vec<PathBuf>,
    /// View and its edge list (repeatable); columns may follow: calls=calls.csv:caller,callee
    ///
    /// A line has source, target and optional weight, separated by tabs, commas, semicolons or blanks; plain, .gz or .zst.
    /// Weights are the third column: calls=calls.csv:caller,callee,minutes.
    #[arg(long, value_name = "NAME=PATH[:COLS]")]
    pub(crate) view: Vec<String>,
    /// Column with the view of each edge, by name or number
    #[arg(long, value_name = "COL")]
    pub(crate) relation: Option<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// View whose edges are directed; `all` for every view (repeatable)
    #[arg(long, value_name = "VIEW")]
    pub(crate) directed: Vec<String>,
    /// File with one node id per line, which fixes the nodes and their order
    #[arg(long, value_name = "PATH")]
    pub(crate) nodes: Option<PathBuf>,
}

/// How the lines of edge lists are read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct ReadingArgs {
    /// Column of sources, by name or number [default: by usual names in the header; without header, the first]
    #[arg(long, value_name = "COL")]
    pub(crate) source: Option<String>,
    /// Column of targets [default: by usual names in the header; without header, the second]
    #[arg(long, value_name = "COL")]
    pub(crate) target: Option<String>,
    /// Column of weights [default: by usual names in the header; without header, the third]
    #[arg(long, value_name = "COL")]
    pub(crate) weight: Option<String>,
    /// Ignore weights: every line has weight 1
    #[arg(long)]
    pub(crate) unweighted: bool,
    /// Field delimiter [default: inferred from the file]
    #[arg(long, value_name = "NAME", value_parser = named::<Delimiter>())]
    pub(crate) delimiter: Option<Delimiter>,
    /// Decimal separator of weights; with comma, points separate thousands [default: point]
    #[arg(long, value_name = "NAME", value_parser = named::<Decimal>())]
    pub(crate) decimal: Option<Decimal>,
    /// What to do with lines that cannot be read; skipped lines are counted [default: stop]
    #[arg(long, value_name = "HOW", value_parser = named::<OnError>())]
    pub(crate) on_error: Option<OnError>,
    /// Whether the first line is a header [default: auto]
    #[arg(long, value_name = "WHEN", value_parser = named::<Header>())]
    pub(crate) header: Option<Header>,
    /// Weight of a pair that occurs several times in a view [default: sum]
    #[arg(long, value_name = "HOW", value_parser = named::<Duplicates>())]
    pub(crate) duplicates: Option<Duplicates>,
}

impl NetworkArgs {
    /// Returns the files to read.
    pub(crate) fn source(&self) -> Result<Source> {
        let usage = |message: &str| Error::config(message.to_owned());
        if self.view.is_empty() && self.network.is_empty() {
            bail!(usage(
                "no network given: name a folder, a network.toml or edge lists, or use --view NAME=PATH for each view"
            ));
        }
        if self.view.is_empty() {
            return Ok(Source::Paths(self.network.clone()));
        }
        if !self.network.is_empty() {
            bail!(usage("give the network either with --view NAME=PATH or as paths, not both"));
        }
        if self.relation.is_some() {
            bail!(usage("--relation splits one table into views and cannot be combined with --view"));
        }
        let views = self.view.iter().map(|text| text.parse()).collect::<Result<Vec<ViewSource>, Error>>()?;
        Ok(Source::Views(views))
    }

    /// Returns how to read the files.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            source: self.reading.source.clone(),
            target: self.reading.target.clone(),
            weight: self.reading.weight.clone(),
            relation: self.relation.clone(),
            delimiter: self.reading.delimiter,
            header: self.reading.header.unwrap_or_default(),
            unweighted: self.reading.unweighted,
            decimal: self.reading.decimal.unwrap_or_default(),
            on_error: self.reading.on_error.unwrap_or_default(),
            directed: match self.directed.as_slice() {
                [] => Directed::No,
                names if names.iter().any(|name| name == "all") => Directed::All,
                names => Directed::Views(names.to_vec()),
            },
            duplicates: self.reading.duplicates.unwrap_or_default(),
            nodes: self.nodes.clone(),
            max_memory: None,
        }
    }
}

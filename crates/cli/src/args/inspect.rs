//! Looking at networks and results: `views`, `report`, `explain`, `neighbors`.

use std::path::PathBuf;

use clap::Args;

use super::{NetworkArgs, settings, whole};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:  manyview views --view calls=calls.tsv --view mail=mail.csv.gz

Two views agree on a node when more than half of its neighbors in either view are its neighbors in both (a Jaccard
coefficient above 0.5); nodes without an edge in either do not count. The correlation is that of the two proximities
over all pairs of nodes.")]
pub(crate) struct ViewsArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// Look at the edges alone: no entries of proximity, no correlations
    #[arg(long)]
    pub(crate) no_proximity: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the result and errors, nothing else
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) proximity: settings::ProximitySettings,
    /// Threads [default: all cores]; does not change the result
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview report result
  manyview report result --labels labels.tsv -o result.html

Writes one page that needs nothing else: a map of the nodes with their neighbors, what each stage and view explained,
and the settings. It asks for nothing from outside, so it can be mailed and opened anywhere.")]
pub(crate) struct ReportArgs {
    /// The folder that manyview embed wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Labels to color the nodes by: on each line a node, a tab and its label (or several, with tabs)
    #[arg(long, value_name = "PATH")]
    pub(crate) labels: Option<PathBuf>,
    /// The page [default: DIR/report.html]
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an earlier page
    #[arg(long)]
    pub(crate) force: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Another number gives another map
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads [default: all cores]; does not change the page
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview explain result ann          where the vector of ann comes from
  manyview explain result ann bob      what makes ann and bob similar
  manyview explain result -- -x1       a node whose name begins with a hyphen")]
pub(crate) struct ExplainArgs {
    /// The folder that manyview embed wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// A node
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// Another node: explain their similarity
    #[arg(value_name = "NODE2")]
    pub(crate) other: Option<String>,
    /// How many parts to list
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole)]
    pub(crate) top: usize,
    /// Print JSON, with all parts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:  manyview neighbors result ann")]
pub(crate) struct NeighborsArgs {
    /// The folder that manyview embed wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// A node
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// How many neighbors
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) count: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Threads [default: all cores]; does not change the result
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

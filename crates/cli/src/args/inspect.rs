//! The arguments of the commands that describe networks and results: `views`, `report`, `explain`, `neighbors`.

use std::path::PathBuf;

use clap::Args;

use super::{LabelColumnArgs, NetworkArgs, settings, whole};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:  manyview views --view calls=calls.tsv --view mail=mail.csv.gz

Two views agree on a node if more than half of its neighbors in either view are its neighbors in both (a Jaccard \
coefficient above 0.5); nodes without an edge in either view are not counted. The correlation is between the two \
proximities of all pairs of distinct nodes.")]
pub(crate) struct ViewsArgs {
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) proximity: settings::ProximitySettings,
    /// Skip the proximities: no entries, no correlations
    #[arg(long, help_heading = "Proximity")]
    pub(crate) no_proximity: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the result and errors only
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview report result
  manyview report result --labels labels.tsv -o result.html

Writes a self-contained page that makes no requests: a map of the nodes with their neighbors, what each stage and view \
explains, and the settings.")]
pub(crate) struct ReportArgs {
    /// Result folder written by manyview embed
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Label file to color the nodes by: a node and its label per line, separated by a tab or comma; several labels in
    /// several columns or on several lines
    #[arg(long, value_name = "PATH")]
    pub(crate) labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: LabelColumnArgs,
    /// Output file [default: DIR/report.html]
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing page
    #[arg(long)]
    pub(crate) force: bool,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Nodes to show: all if there are no more, otherwise as many drawn at random [default: up to 50,000 all, otherwise
    /// 20,000]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) sample: Option<usize>,
    /// Random seed of the sample and of the map
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads; does not affect the page [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview explain result ann          where the vector of ann comes from
  manyview explain result ann bob      what makes ann and bob similar
  manyview explain result -- -x1       a node whose id begins with a hyphen")]
pub(crate) struct ExplainArgs {
    /// Result folder written by manyview embed
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Node
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// Second node, to explain the similarity of the two
    #[arg(value_name = "NODE2")]
    pub(crate) other: Option<String>,
    /// Number of parts to list
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole)]
    pub(crate) top: usize,
    /// Print JSON, with all parts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:  manyview neighbors result ann")]
pub(crate) struct NeighborsArgs {
    /// Result folder written by manyview embed
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Node
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// Number of neighbors to list
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) count: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

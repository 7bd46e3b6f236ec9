//! The arguments of the commands that describe networks and results: `views`, `report`, `explain`, `neighbors`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use manyview::worth::WorthSettings;
use manyview::{Method, Model, Result};

use super::model::ModelArgs;
use super::{LabelColumnArgs, NetworkArgs, named, settings, whole};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview views --view calls=calls.tsv --view mail=mail.csv.gz
  manyview views --view calls=calls.tsv --view mail=mail.csv.gz --alone --labels labels.tsv

Two views agree on a node if more than half of its neighbors in either view are its neighbors in both (a Jaccard \
coefficient above 0.5); nodes without an edge in either view are not counted. The correlation is between the two \
proximities of all pairs of distinct nodes.

With --alone, vectors are computed from all views, from each view alone, and from all views but one, and scored on the same \
splits: logistic regression, and k-means if nodes have one label. The contribution of a view is how far micro-F1 falls without \
it; views that repeat each other contribute little, although each may be good alone.")]
pub(crate) struct ViewsArgs {
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) proximity: settings::ProximitySettings,
    /// Skip the proximities: no entries, no correlations
    #[arg(long, help_heading = "Proximity", conflicts_with = "alone")]
    pub(crate) no_proximity: bool,
    #[command(flatten)]
    pub(crate) worth: WorthArgs,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the result and errors only
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "What each view is worth")]
pub(crate) struct WorthArgs {
    /// Score each view alone, all views together, and all but one; needs --labels
    #[arg(long, requires = "labels")]
    pub(crate) alone: bool,
    /// Label file: a node and its label or labels per line
    #[arg(long, value_name = "FILE", requires = "alone")]
    pub(crate) labels: Option<PathBuf>,
    /// Share of the labeled nodes used for training [default: 0.5]
    #[arg(long, value_name = "X", requires = "alone")]
    train: Option<f64>,
    /// Number of splits, and of runs of k-means [default: 5]
    #[arg(long, value_name = "N", value_parser = whole, requires = "alone")]
    repeats: Option<usize>,
    /// Method [default: mnmf]
    #[arg(long, value_name = "NAME", value_parser = named::<Method>(), requires = "alone")]
    method: Option<Method>,
    /// Method and settings: a TOML file, or the run.json of an earlier run
    #[arg(long, value_name = "FILE", requires = "alone")]
    settings: Option<PathBuf>,
    /// Number of columns of the vectors [default: 256]
    #[arg(long, value_name = "N", value_parser = whole, requires = "alone")]
    dim: Option<usize>,
    /// Random seed of the vectors and of the splits [default: 0]
    #[arg(long, value_name = "N", requires = "alone")]
    seed: Option<u64>,
}

impl ViewsArgs {
    /// The method that embeds the views for their scores.
    pub(crate) fn model(&self) -> Result<Model> {
        let WorthArgs { method, settings, dim, seed, .. } = &self.worth;
        let number = |name, value: Option<String>| value.map(|value| (name, value));
        let given = [
            number("dim", dim.map(|dim| dim.to_string())),
            number("seed", seed.map(|seed| seed.to_string())),
            number("threads", self.threads.map(|threads| threads.to_string())),
        ];
        let given = self.proximity.given().with(given.into_iter().flatten());
        ModelArgs::new(*method, settings.clone(), given).model()
    }

    /// How the views are scored.
    pub(crate) fn worth(&self) -> WorthSettings {
        let WorthArgs { train, repeats, seed, .. } = &self.worth;
        let defaults = WorthSettings::default();
        WorthSettings {
            train: train.unwrap_or(defaults.train),
            repeats: repeats.unwrap_or(defaults.repeats),
            seed: seed.unwrap_or(defaults.seed),
            ..defaults
        }
    }
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
    #[arg(short, long, value_name = "PATH", value_parser = super::output::file())]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing file that is not a page of manyview
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
#[command(after_help = "\
Examples:
  manyview neighbors result ann
  manyview neighbors result --nodes ids.txt -o neighbors.tsv
  manyview neighbors result --all --count 20 -o neighbors.tsv

Of one node, prints a cosine and an id per line; of several, a table with the columns node, neighbor and similarity.")]
#[command(group = ArgGroup::new("which").args(["node", "nodes", "all"]).required(true))]
#[command(override_usage = "manyview neighbors [OPTIONS] <DIR> <NODE|--nodes <FILE>|--all>")]
pub(crate) struct NeighborsArgs {
    /// Result folder written by manyview embed
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Node
    #[arg(value_name = "NODE")]
    pub(crate) node: Option<String>,
    /// File with one node id per line, instead of NODE
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// Every node, instead of NODE
    #[arg(long)]
    pub(crate) all: bool,
    /// Number of neighbors to list
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) count: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    /// Output file of several nodes [default: standard output]
    #[arg(short, long, value_name = "FILE", conflicts_with = "node", value_parser = super::output::file())]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Print the result and errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview cluster result --k 10 -o clusters.tsv
  manyview report result --labels clusters.tsv

k-means, the best of several starts. Writes a label file: a node and its cluster per line, separated by a tab; clusters are \
numbered from 0, the largest first. The same command gives the same bytes. To compare clusters with labels, use manyview \
evaluate cluster.")]
pub(crate) struct GroupArgs {
    /// Folder with embedding.npy and nodes.txt, such as the output of manyview embed
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Number of clusters
    #[arg(short, long, value_name = "N", value_parser = whole)]
    pub(crate) k: usize,
    /// Number of starts, of which the best is used
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) restarts: usize,
    /// Scale each vector to length 1
    #[arg(long)]
    pub(crate) l2norm: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE", value_parser = super::output::file())]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Print the result and errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

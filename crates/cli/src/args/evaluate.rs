//! The arguments of `manyview evaluate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use manyview::evaluate::metrics::Average;
use manyview::evaluate::{ClassifySettings, ClusterSettings, Cost, LinkScore, LinkSettings};

use super::{LabelColumnArgs, ModelArgs, NetworkArgs, named, whole};

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    #[command(subcommand)]
    pub(crate) task: EvaluateTask,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvaluateTask {
    /// Train a classifier on a share of the labeled nodes and test it on the rest
    Classify(ClassifyArgs),
    /// Cluster the vectors and compare the clusters with labels
    Cluster(ClusterArgs),
    /// Hide edges, embed the rest, and score the hidden edges against non-edges
    Links(Box<LinksArgs>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Logistic regression with an L2 penalty and an unpenalized intercept: softmax over the classes if nodes have one label, \
one classifier per label if some have several. Prints the mean and standard deviation over the repeats. With several \
labels per node, there are two decision rules: probability above one half and, marked `known`, as many labels as the \
node has. Splits depend on the seed and the node ids only, so all methods get the same splits.

Example:  manyview evaluate classify result --labels labels.tsv --c auto")]
pub(crate) struct ClassifyArgs {
    #[command(flatten)]
    pub(crate) input: VectorArgs,
    /// Shares of the labeled nodes used for training (comma-separated)
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "0.3,0.5,0.7")]
    pub(crate) train: Vec<f64>,
    /// Number of splits per share
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) repeats: usize,
    /// Weight C of the loss relative to the penalty; `auto`: selected from 0.01 to 100 by cross-validation on the
    /// training nodes, which is fair to methods whose vectors differ in scale
    #[arg(long, value_name = "X|auto", default_value = "1", value_parser = cost)]
    pub(crate) c: Cost,
    /// Maximum number of iterations per fit
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole)]
    pub(crate) max_iter: usize,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Write the predictions for the test nodes, one JSON object per line
    #[arg(long, value_name = "FILE", value_parser = super::output::file(), help_heading = "Output")]
    pub(crate) predictions: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
k-means on the labeled nodes; each repeat is the best of several restarts. NMI and AMI (adjusted for chance) are 1 if \
clusters and labels are the same; AMI is 0 on average if they are unrelated.

Example:  manyview evaluate cluster result --labels labels.tsv")]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    pub(crate) input: VectorArgs,
    /// Number of clusters [default: the number of labels]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) k: Option<usize>,
    /// Number of runs of k-means
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) repeats: usize,
    /// Number of starts per run, of which the best is used
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) restarts: usize,
    /// Maximum number of iterations per start
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole)]
    pub(crate) max_iter: usize,
    /// Average of the two entropies in the denominator of NMI and AMI
    #[arg(long, value_name = "HOW", default_value = "arithmetic", value_parser = named::<Average>())]
    pub(crate) average: Average,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Write the clusters of the nodes, tab-separated: node, label, cluster in each repeat
    #[arg(long, value_name = "FILE", value_parser = super::output::file(), help_heading = "Output")]
    pub(crate) assignments: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
No node loses its last edge in a view. Without --of, a hidden pair is hidden in every view that contains it. The number \
of non-edges is that of the hidden edges; they are drawn between nodes that have edges in the view.

Example:  manyview evaluate links folder-of-edge-lists --dim 128 --hide 0.3")]
pub(crate) struct LinksArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Measure")]
pub(crate) struct MeasureArgs {
    /// View whose edges are hidden; the other views stay complete [default: all views]
    #[arg(long, value_name = "VIEW")]
    pub(crate) of: Option<String>,
    /// Share of the edges to hide
    #[arg(long, value_name = "X", default_value_t = 0.2)]
    pub(crate) hide: f64,
    /// Number of times edges are hidden and the rest is embedded
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole)]
    pub(crate) repeats: usize,
    /// Score of a pair of nodes
    #[arg(long, value_name = "HOW", default_value = "cosine", value_parser = named::<LinkScore>())]
    pub(crate) score: LinkScore,
}

#[derive(Debug, Args)]
pub(crate) struct VectorArgs {
    /// Folder with embedding.npy and nodes.txt, such as the output of manyview embed
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Label file: a node and its label per line, separated by a tab or comma; several labels in several columns or
    /// on several lines
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: PathBuf,
    #[command(flatten)]
    pub(crate) columns: LabelColumnArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PrepareArgs {
    /// Scale each vector to length 1
    #[arg(long)]
    pub(crate) l2norm: bool,
    /// Scale each column to mean 0 and variance 1 (classify: measured on the training nodes)
    #[arg(long, alias = "standardise")]
    pub(crate) standardize: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PrintArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the result and errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl ClassifyArgs {
    /// Returns the settings.
    pub(crate) fn settings(&self) -> ClassifySettings {
        ClassifySettings {
            train: self.train.clone(),
            repeats: self.repeats,
            seed: self.run.seed,
            c: self.c,
            l2norm: self.prepare.l2norm,
            standardize: self.prepare.standardize,
            max_iter: self.max_iter,
            ..ClassifySettings::default()
        }
    }
}

impl ClusterArgs {
    /// Returns the settings.
    pub(crate) fn settings(&self) -> ClusterSettings {
        ClusterSettings {
            k: self.k,
            repeats: self.repeats,
            restarts: self.restarts,
            seed: self.run.seed,
            max_iter: self.max_iter,
            average: self.average,
            l2norm: self.prepare.l2norm,
            standardize: self.prepare.standardize,
        }
    }
}

impl LinksArgs {
    /// Returns the settings, with the seed of the model.
    pub(crate) fn settings(&self, seed: u64) -> LinkSettings {
        let MeasureArgs { of, hide, repeats, score } = &self.measure;
        LinkSettings { view: of.clone(), hide: *hide, repeats: *repeats, seed, score: *score }
    }
}

pub(super) fn cost(text: &str) -> Result<Cost, String> {
    text.parse().map_err(|_| "expected a number above 0, or auto".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn task(words: &[&str]) -> EvaluateTask {
        let cli = Cli::parse_from([&["manyview", "evaluate"], words].concat());
        let Command::Evaluate(args) = cli.command else { panic!("the command is evaluate") };
        args.task
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let EvaluateTask::Classify(args) = task(&["classify", "x", "--labels", "y"]) else { panic!() };
        assert_eq!(args.settings(), ClassifySettings::default());
        let EvaluateTask::Cluster(args) = task(&["cluster", "x", "--labels", "y"]) else { panic!() };
        assert_eq!(args.settings(), ClusterSettings::default());
        let EvaluateTask::Links(args) = task(&["links", "x"]) else { panic!() };
        assert_eq!(args.settings(args.model.model().unwrap().seed), LinkSettings::default());
    }
}

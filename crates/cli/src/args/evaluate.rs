//! `manyview evaluate`: what is to be measured, and how.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use manyview::evaluate::metrics::Average;
use manyview::evaluate::{ClassifySettings, ClusterSettings, Cost, LinkScore, LinkSettings};

use super::{ModelArgs, NetworkArgs, choice, whole};

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    #[command(subcommand)]
    pub(crate) task: EvaluateTask,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvaluateTask {
    /// Classify nodes by their vectors: train on a share of the labeled nodes, test on the others
    Classify(ClassifyArgs),
    /// Cluster nodes by their vectors and compare the clusters with labels
    Cluster(ClusterArgs),
    /// Hide edges, embed the rest, and see whether hidden edges score higher than pairs that are none
    Links(Box<LinksArgs>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Logistic regression with an L2 penalty and a free intercept: a softmax over the classes when nodes have one label, one
classifier for each label when some have several. Prints mean and standard deviation over the repeats. With several labels
there are two rules: by threshold (chance above one half) and, marked `known`, as many labels as the node truly has.
Splits depend on seed and node ids alone, so every method gets the same.

Example:  manyview evaluate classify result --labels labels.tsv --c auto")]
pub(crate) struct ClassifyArgs {
    #[command(flatten)]
    pub(crate) input: VectorArgs,
    /// Shares of the labeled nodes that train, comma-separated
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "0.3,0.5,0.7")]
    pub(crate) train: Vec<f64>,
    /// Splits for each share
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) repeats: usize,
    /// Weight C of the losses against the penalty; `auto` chooses from 0.01 to 100 by cross-validation within the
    /// training nodes, which is fair to methods whose vectors differ in scale
    #[arg(long, value_name = "X|auto", default_value = "1", value_parser = cost)]
    pub(crate) c: Cost,
    /// At most so many iterations a fit
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole)]
    pub(crate) max_iter: usize,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Write what was said of every tested node, one JSON object a line
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) predictions: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
k-means on the labeled nodes, each repeat the best of several restarts. NMI and AMI (adjusted for chance) are 1 when
clusters equal labels; AMI is 0 on average when they have nothing in common.

Example:  manyview evaluate cluster result --labels labels.tsv")]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    pub(crate) input: VectorArgs,
    /// Clusters [default: the number of labels]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) k: Option<usize>,
    /// Runs of k-means with restarts
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) repeats: usize,
    /// Starts of each, of which the best counts
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) restarts: usize,
    /// At most so many iterations a start
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole)]
    pub(crate) max_iter: usize,
    /// Average of the two entropies that the mutual information is divided by
    #[arg(long, value_name = "HOW", default_value = "arithmetic", value_parser = averages())]
    pub(crate) average: Average,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Write the cluster of every node, tab-separated: node, label, cluster in each repeat
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) assignments: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
No node loses its last edge in a view. When edges of all views are hidden, a pair is hidden in every view that has it.
As many non-edges are drawn as edges are hidden, between nodes that have edges in the view.

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
    /// Hide edges of this view only; the others stay whole [default: all views]
    #[arg(long, value_name = "VIEW")]
    pub(crate) of: Option<String>,
    /// Share of the edges that is hidden
    #[arg(long, value_name = "X", default_value_t = 0.2)]
    pub(crate) hide: f64,
    /// How often edges are hidden and the rest embedded
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole)]
    pub(crate) repeats: usize,
    /// Score of a pair of vectors
    #[arg(long, value_name = "HOW", default_value = "cosine", value_parser = scores())]
    pub(crate) score: LinkScore,
}

#[derive(Debug, Args)]
pub(crate) struct VectorArgs {
    /// Folder with embedding.npy and nodes.txt, as `manyview embed` writes them
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Labels: a node and its label on each line, separated by a tab or comma; several labels in several columns or
    /// on several lines
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PrepareArgs {
    /// Scale every vector to length 1 first
    #[arg(long)]
    pub(crate) l2norm: bool,
    /// Bring every column to mean 0 and variance 1 (over the training nodes when classifying)
    #[arg(long)]
    pub(crate) standardize: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// All random numbers follow from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads [default: all cores]; does not change the result
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PrintArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but the result and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl ClassifyArgs {
    /// What was asked for.
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
    /// What was asked for.
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
    /// What was asked for; the seed is that of the model.
    pub(crate) fn settings(&self, seed: u64) -> LinkSettings {
        let MeasureArgs { of, hide, repeats, score } = &self.measure;
        LinkSettings { view: of.clone(), hide: *hide, repeats: *repeats, seed, score: *score }
    }
}

fn cost(text: &str) -> Result<Cost, String> {
    text.parse().map_err(|_| "expected a number above 0, or auto".to_owned())
}

fn averages() -> impl clap::builder::TypedValueParser<Value = Average> {
    choice([
        ("arithmetic", "half their sum; scikit-learn's", Average::Arithmetic),
        ("geometric", "the root of their product", Average::Geometric),
        ("min", "the smaller", Average::Min),
        ("max", "the larger", Average::Max),
    ])
}

fn scores() -> impl clap::builder::TypedValueParser<Value = LinkScore> {
    choice([
        ("cosine", "the cosine of their angle", LinkScore::Cosine),
        ("dot", "their inner product", LinkScore::Dot),
    ])
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn task(words: &[&str]) -> EvaluateTask {
        let cli = Cli::parse_from([&["manyview", "evaluate"], words].concat());
        let Command::Evaluate(args) = cli.command else { panic!("evaluate was asked for") };
        args.task
    }

    #[test]
    fn nothing_typed_is_the_librarys_default() {
        let EvaluateTask::Classify(args) = task(&["classify", "x", "--labels", "y"]) else { panic!() };
        assert_eq!(args.settings(), ClassifySettings::default());
        let EvaluateTask::Cluster(args) = task(&["cluster", "x", "--labels", "y"]) else { panic!() };
        assert_eq!(args.settings(), ClusterSettings::default());
        let EvaluateTask::Links(args) = task(&["links", "x"]) else { panic!() };
        assert_eq!(args.settings(args.model.model().unwrap().seed), LinkSettings::default());
    }
}

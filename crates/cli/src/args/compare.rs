//! What is compared, and how it is measured.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use manyview::evaluate::Cost;
use manyview::{Method, Preset};

use super::{NetworkArgs, choice, whole};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each method embeds the network, and all are measured on the same splits. Methods of a single view run on every view; their
rows give the view that scores best on the tested nodes (a choice nobody could make in earnest, marked *) and the view
that scores best within the training nodes. Writes DIR/compare.json, .md, .tex and .html, and a folder for each embedding.

What is done is kept: after Ctrl-C or with more methods, the same command does what is missing. A method that fails gets a
row that says why.

Example:  manyview compare folder-of-edge-lists --labels labels.tsv -o comparison --methods mnmf,netmf,deepwalk --repeats 3")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// A file with a node and its label or labels on each line
    #[arg(long, value_name = "FILE", help_heading = "Measure")]
    pub(crate) labels: PathBuf,
    /// Folder for the result; one that holds a comparison is gone on with
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Methods, comma-separated [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Methods", value_parser = choice(Method::ALL.map(|it| (it.name(), it.help(), it))))]
    pub(crate) methods: Vec<Method>,
    /// Settings of all methods: ours, or the paper's, which takes hours
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Methods", value_parser = choice([Preset::Default, Preset::Paper].map(|it| (it.name(), it.help(), it))))]
    pub(crate) preset: Preset,
    /// Columns of each embedding
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = "Methods", value_parser = whole)]
    pub(crate) dim: usize,
    /// Metapaths of metapath2vec
    #[arg(long, value_name = "WHICH", default_value = "some", help_heading = "Methods")]
    pub(crate) metapaths: Metapaths,
    /// Also mnmf without its parts: no consensus, no unique stages, equal weights, one stage, order swapped
    #[arg(long, help_heading = "Methods")]
    pub(crate) ablations: bool,
    /// Also mnmf over ranges of these settings, comma-separated
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Methods")]
    pub(crate) sweep: Vec<Sweep>,
    /// Shares of the labeled nodes that train, comma-separated
    #[arg(
        long,
        value_name = "X,...",
        value_delimiter = ',',
        default_value = "0.3,0.5,0.7",
        help_heading = "Measure"
    )]
    pub(crate) train: Vec<f64>,
    /// Splits for each share, and runs of k-means
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole, help_heading = "Measure")]
    pub(crate) repeats: usize,
    /// Weights C of the classifier, each with a table of its own; auto is chosen within the training nodes
    #[arg(
        long,
        value_name = "X,...",
        value_delimiter = ',',
        default_value = "1,auto",
        help_heading = "Measure"
    )]
    pub(crate) c: Vec<Cost>,
    /// All random numbers follow from it
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Measure")]
    pub(crate) seed: u64,
    /// Threads [default: all cores]; does not change the result
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    /// Replace results in that folder that are not of a comparison of this network
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Leave out the maps of the nodes
    #[arg(long, help_heading = "Output")]
    pub(crate) no_pictures: bool,
    /// Print nothing but errors and the tables
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl CompareArgs {
    /// As typed, with what was typed twice taken once: each share is a column, each C a table.
    pub(crate) fn each_once(&self) -> Self {
        CompareArgs {
            train: each_once(&self.train),
            c: each_once(&self.c),
            sweep: each_once(&self.sweep),
            ..self.clone()
        }
    }
}

fn each_once<T: Copy + PartialEq>(values: &[T]) -> Vec<T> {
    let mut kept = Vec::new();
    for &value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metapaths {
    /// Every two views, and all in order
    Some,
    /// Every set of views in every order
    All,
}

/// A setting of MNMF to be varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sweep {
    /// Columns
    Dim,
    /// Exponent of the view weights, with shared consensus stages
    Gamma,
    /// Number of stages
    Stages,
    /// Number of consensus stages
    ConsensusStages,
}

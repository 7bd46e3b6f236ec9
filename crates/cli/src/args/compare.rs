//! The arguments of `manyview compare`. All defaults are those of [`CompareSettings`].

use std::path::PathBuf;

use clap::Args;
use manyview::compare::{CompareSettings, Metapaths, Swept};
use manyview::evaluate::Cost;
use manyview::{Method, Preset, Result};

use super::{LabelColumnArgs, NetworkArgs, named, named_except, whole};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each method embeds the network and is scored on the same splits. Single-view methods run on every view. One row \
has the view that is best on the test nodes, an oracle, not available in practice (marked *), and one the \
view that is best in cross-validation on the training nodes. A method that fails gets a row with the reason.\n\n\
Writes DIR/compare.json, .md, .tex and .html, and one folder per embedding. The same command continues an \
interrupted comparison, and with more methods it computes the missing ones only.\n\n\
Example:  manyview compare folder-of-edge-lists --labels labels.tsv -o comparison --methods mnmf,netmf,deepwalk --repeats 3")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// Label file: a node and its label or labels per line
    #[arg(long, value_name = "FILE", help_heading = "Scores")]
    pub(crate) labels: PathBuf,
    #[command(flatten)]
    pub(crate) columns: LabelColumnArgs,
    /// Output folder; a comparison in it is continued
    #[arg(short, long, value_name = "DIR", help_heading = "Output", value_parser = super::output::folder())]
    pub(crate) output: PathBuf,
    /// Methods (comma-separated) [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Methods", value_parser = named::<Method>())]
    methods: Vec<Method>,
    /// Settings of all methods; paper takes hours
    #[arg(long, value_name = "NAME", default_value = defaults().preset.name(), help_heading = "Methods", value_parser = named_except::<Preset>(&[Preset::Authors.name()]))]
    preset: Preset,
    /// Number of columns of each embedding
    #[arg(long, value_name = "N", default_value_t = defaults().dim, help_heading = "Methods", value_parser = whole)]
    dim: usize,
    /// Metapaths of metapath2vec
    #[arg(long, value_name = "WHICH", default_value = defaults().metapaths.name(), help_heading = "Methods", value_parser = named::<Metapaths>())]
    metapaths: Metapaths,
    /// Add mnmf without one of its parts: no consensus, no unique stages, equal weights, one stage, order swapped;
    /// those that change nothing are left out
    #[arg(long, help_heading = "Methods")]
    ablations: bool,
    /// Add mnmf over these settings (comma-separated, repeatable), with values or without: dim, gamma, stages,
    /// consensus-stages, window, negative, max-iter; dim=16,32 has values of your own
    #[arg(long, value_name = "NAME[=X,...]", help_heading = "Methods")]
    sweep: Vec<String>,
    /// Shares of the labeled nodes used for training (comma-separated)
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = joined(&defaults().train), help_heading = "Scores")]
    train: Vec<f64>,
    /// Number of splits per share, and of runs of k-means
    #[arg(long, value_name = "N", default_value_t = defaults().repeats, value_parser = whole, help_heading = "Scores")]
    repeats: usize,
    /// Weights C of the classifier, with one table each (comma-separated); auto: selected by cross-validation on the
    /// training nodes
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = joined(&defaults().c), help_heading = "Scores")]
    c: Vec<Cost>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = defaults().seed, help_heading = "Scores")]
    seed: u64,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    /// Replace results in the output folder that are not from a comparison of this network
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Do not draw maps of the nodes
    #[arg(long, help_heading = "Output")]
    pub(crate) no_pictures: bool,
    /// Print errors and the tables only
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl CompareArgs {
    pub(crate) fn settings(&self) -> Result<CompareSettings> {
        Ok(CompareSettings {
            methods: self.methods.clone(),
            preset: self.preset,
            dim: self.dim,
            metapaths: self.metapaths,
            ablations: self.ablations,
            sweep: Swept::parse(&self.sweep)?,
            train: self.train.clone(),
            repeats: self.repeats,
            c: self.c.clone(),
            seed: self.seed,
            threads: self.threads,
        })
    }
}

fn defaults() -> CompareSettings {
    CompareSettings::default()
}

pub(super) fn joined<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn without_options_the_settings_are_the_defaults_of_the_library() {
        let cli = Cli::parse_from(["manyview", "compare", "net", "--labels", "labels.tsv", "-o", "c"]);
        let Command::Compare(args) = cli.command else { panic!("expected compare") };
        assert_eq!(args.settings().unwrap(), CompareSettings::default());
    }
}

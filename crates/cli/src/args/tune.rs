//! The arguments of `manyview tune`. All defaults are those of [`TuneSettings`].

use std::path::PathBuf;

use clap::Args;
use manyview::Result;
use manyview::evaluate::Cost;
use manyview::tune::{Over, Search, TuneSettings};

use super::compare::joined;
use super::evaluate::cost;
use super::{LabelColumnArgs, ModelArgs, NetworkArgs, size, whole};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
With labels, some labeled nodes are for tuning: in each round, one half of them trains a classifier and the other half, \
--validation of all labeled nodes, validates it. The best settings of each search are then tested on the other labeled \
nodes, which the searches never see. Without labels, candidates are scored by hidden edges, which favors few, wide \
stages; labels of some nodes are better.\n\n\
Writes DIR/tune.html (tables and curves), DIR/tune.json (every candidate) and DIR/best.toml (the best settings). The same \
command continues an interrupted search; finished candidates are kept in DIR/candidates.\n\n\
Examples:
  manyview tune folder-of-edge-lists --labels labels.tsv -o tuned
  manyview tune folder-of-edge-lists --labels labels.tsv -o tuned --search all
  manyview tune folder-of-edge-lists --labels labels.tsv -o tuned --over stages,consensus-stages,window=3,5,10
  manyview tune folder-of-edge-lists --labels labels.tsv -o tuned --over stages=2..32 --dim 128 --search bayes
  manyview embed folder-of-edge-lists --settings tuned/best.toml -o result")]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// Label file: a node and its label or labels per line [default: score by hidden edges]
    #[arg(long, value_name = "FILE", help_heading = "Scores")]
    pub(crate) labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: LabelColumnArgs,
    /// Output folder; a search in it is continued
    #[arg(short, long, value_name = "DIR", help_heading = "Output", value_parser = super::output::folder())]
    pub(crate) output: PathBuf,
    /// How to search (comma-separated, repeatable): grid, all combinations; bayes, those that a Gaussian process
    /// expects to be better; early-stopping, one stage after the other until the score falls; all, side by side
    /// [default: grid]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Search", value_parser = ["grid", "bayes", "early-stopping", "all"])]
    search: Vec<String>,
    /// Settings to search over (comma-separated, repeatable), with values or without: stages, consensus-stages, dim,
    /// gamma, window, negative and joint have usual values; others need some, as in max-iter=50,200. 2..64 is 2, 4, 8,
    /// ... 64, and 25% a share of the stages. Early stopping searches over stages only [default: stages]
    #[arg(long, value_name = "NAME[=X,...]", help_heading = "Search")]
    over: Vec<String>,
    /// Number of candidates of a Bayesian search
    #[arg(long, value_name = "N", default_value_t = defaults().trials, value_parser = whole, help_heading = "Search")]
    trials: usize,
    /// End early stopping after N stages in a row that score lower than the stage before
    #[arg(long, value_name = "N", default_value_t = defaults().patience, value_parser = whole, help_heading = "Search")]
    patience: usize,
    /// Run all stages of all candidates; otherwise those that are clearly behind after half of their stages are cut off
    #[arg(long, help_heading = "Search")]
    no_cut: bool,
    /// Share of the labeled nodes that is validated on in each round; as many others are trained on
    #[arg(long, value_name = "X", default_value_t = defaults().validation, help_heading = "Scores")]
    validation: f64,
    /// Number of rounds of a validation
    #[arg(long, value_name = "N", default_value_t = defaults().validation_rounds, value_parser = whole, help_heading = "Scores")]
    validation_rounds: usize,
    /// Shares of the other labeled nodes used for training in the final table (comma-separated)
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = joined(&defaults().train), help_heading = "Scores")]
    train: Vec<f64>,
    /// Number of splits per share in the final table
    #[arg(long, value_name = "N", default_value_t = defaults().repeats, value_parser = whole, help_heading = "Scores")]
    repeats: usize,
    /// Weight C of the classifier; `auto`: selected by cross-validation on its training nodes
    #[arg(long, value_name = "X|auto", default_value_t = defaults().c, value_parser = cost, help_heading = "Scores")]
    c: Cost,
    /// Without labels: share of the edges to hide, one half for the scores, the other for the final table
    #[arg(long, value_name = "X", default_value_t = defaults().hide, help_heading = "Scores")]
    hide: f64,
    /// Maximum memory, such as 8G or 500M; candidates that need more fail [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = size::size, allow_hyphen_values = true)]
    pub(crate) max_memory: Option<u64>,
    #[command(flatten)]
    model: ModelArgs,
    /// Start over, and replace results in the output folder that are not of this network
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Print tune.json instead of the table
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print errors and the table only
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl TuneArgs {
    pub(crate) fn settings(&self) -> Result<TuneSettings> {
        Ok(TuneSettings {
            model: self.model.mnmf()?,
            searches: self.searches(),
            over: Over::parse(&self.over)?,
            validation: self.validation,
            validation_rounds: self.validation_rounds,
            train: self.train.clone(),
            repeats: self.repeats,
            c: self.c,
            hide: self.hide,
            trials: self.trials,
            patience: self.patience,
            cut: !self.no_cut,
            max_memory: self.max_memory,
        })
    }

    fn searches(&self) -> Vec<Search> {
        if self.search.is_empty() {
            return defaults().searches;
        }
        if self.search.iter().any(|name| name == "all") {
            return Search::ALL.to_vec();
        }
        self.search.iter().filter_map(|name| Search::from_name(name)).collect()
    }
}

fn defaults() -> TuneSettings {
    TuneSettings::default()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn settings(words: &str) -> TuneSettings {
        let words = format!("manyview tune net -o t {words}");
        let cli = Cli::parse_from(words.split_whitespace());
        let Command::Tune(args) = cli.command else { panic!("expected tune") };
        args.settings().unwrap()
    }

    #[test]
    fn without_options_the_settings_are_the_defaults_of_the_library() {
        assert_eq!(settings(""), TuneSettings::default());
    }

    #[test]
    fn searches_and_settings_of_mnmf_are_read() {
        assert_eq!(settings("--search all").searches, Search::ALL);
        assert_eq!(
            settings("--search early-stopping --search grid").searches,
            [Search::EarlyStopping, Search::Grid]
        );
        let found = settings("--over stages,window=3,5 --over joint --dim 32 --seed 4 --no-cut");
        assert_eq!(
            found.over.iter().map(|over| over.setting).collect::<Vec<_>>(),
            ["stages", "window", "joint"]
        );
        assert_eq!(
            (found.model.seed, found.model.to_json()["dim"].as_u64(), found.cut),
            (4, Some(32), false)
        );
    }
}

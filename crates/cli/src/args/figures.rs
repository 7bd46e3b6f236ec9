//! The arguments of `manyview figures`. All defaults are those of [`FigureSettings`].

use std::path::PathBuf;

use clap::Args;
use manyview::Result;
use manyview::evaluate::Cost;
use manyview::figures::{Figure, FigureSettings};

use super::evaluate::cost;
use super::{LabelColumnArgs, ModelArgs, NetworkArgs, named, size, whole};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The figures of the paper, for any network. Each varies one setting; the others are those given (--preset paper, --stages 16, \
--gamma 2, ...). Without --labels, figures that show scores are left out. Times are meaningful on an idle machine only.\n\n\
Writes DIR/figures.html (all figures with their values), DIR/figures.json (the values) and one SVG file per panel.\n\n\
Examples:
  manyview figures folder-of-edge-lists --labels labels.tsv -o figures
  manyview figures folder-of-edge-lists --labels labels.tsv -o figures --only stages,maps
  manyview figures folder-of-edge-lists -o figures --only weights --gamma 2 --preset paper")]
pub(crate) struct FiguresArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// Label file: a node and its label or labels per line [default: no scores]
    #[arg(long, value_name = "FILE", help_heading = "Scores")]
    pub(crate) labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: LabelColumnArgs,
    /// Output folder
    #[arg(short, long, value_name = "DIR", help_heading = "Output", value_parser = super::output::folder())]
    pub(crate) output: PathBuf,
    /// Figures (comma-separated) [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Figures", value_parser = named::<Figure>())]
    only: Vec<Figure>,
    /// Share of the labeled nodes used for training
    #[arg(long, value_name = "X", default_value_t = defaults().train, help_heading = "Scores")]
    train: f64,
    /// Number of splits
    #[arg(long, value_name = "N", default_value_t = defaults().repeats, value_parser = whole, help_heading = "Scores")]
    repeats: usize,
    /// Weight C of the classifier; `auto`: selected by cross-validation on its training nodes
    #[arg(long, value_name = "X|auto", default_value_t = defaults().c, value_parser = cost, help_heading = "Scores")]
    c: Cost,
    /// Maximum memory, such as 8G or 500M; exit with an error if a fit needs more [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = size::size, allow_hyphen_values = true)]
    pub(crate) max_memory: Option<u64>,
    #[command(flatten)]
    model: ModelArgs,
    /// Replace figures in the output folder
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Print figures.json instead of the tables
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print errors and the tables only
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl FiguresArgs {
    pub(crate) fn settings(&self) -> Result<FigureSettings> {
        Ok(FigureSettings {
            model: self.model.mnmf()?,
            figures: self.only.clone(),
            train: self.train,
            repeats: self.repeats,
            c: self.c,
            max_memory: self.max_memory,
        })
    }
}

fn defaults() -> FigureSettings {
    FigureSettings::default()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn without_options_the_settings_are_the_defaults_of_the_library() {
        let cli = Cli::parse_from(["manyview", "figures", "net", "-o", "f"]);
        let Command::Figures(args) = cli.command else { panic!("expected figures") };
        assert_eq!(args.settings().unwrap(), FigureSettings::default());
    }
}

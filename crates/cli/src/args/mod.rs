//! The arguments of all commands. Each struct converts to a type of the library. The options for settings are generated
//! from the library's declarations, so a default is defined in one place only: the library.

mod compare;
mod evaluate;
mod figures;
mod help;
mod inspect;
mod labels;
mod living;
mod model;
mod network;
mod output;
mod settings;
mod size;
mod tune;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use manyview::settings::{Kind, SettingValue};

pub(crate) use compare::CompareArgs;
pub(crate) use evaluate::{ClassifyArgs, ClusterArgs, EvaluateArgs, EvaluateTask, LinksArgs, VectorArgs};
pub(crate) use figures::FiguresArgs;
pub(crate) use inspect::{ExplainArgs, GroupArgs, NeighborsArgs, ReportArgs, ViewsArgs};
pub(crate) use labels::LabelColumnArgs;
pub(crate) use living::{AddViewArgs, FoldInArgs, TruncateArgs, UpdateArgs};
pub(crate) use model::ModelArgs;
pub(crate) use network::{NetworkArgs, ReadingArgs};
pub(crate) use tune::TuneArgs;

/// Compute one vector per node of a network with several kinds of edges
#[derive(Debug, Parser)]
#[command(
    name = "manyview",
    version,
    max_term_width = 110,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "\
First steps:  manyview demo
Your data:    manyview embed --view calls=calls.tsv --view mail=mail.csv -o result
Then:         manyview report result, and open result/report.html
In Python:    numpy.load(\"result/embedding.npy\"), one row per line of result/nodes.txt")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compute one vector per node
    Embed(Box<EmbedArgs>),
    /// Write the proximity matrix of each view, for scipy.sparse.load_npz
    Proximity(ProximityArgs),
    /// Describe the views of a network and how far they agree
    Views(ViewsArgs),
    /// Write a result as an HTML page: map of the nodes, stages, views and settings
    Report(ReportArgs),
    /// Show which stages and views a vector, or the similarity of two nodes, comes from
    Explain(ExplainArgs),
    /// List the nearest nodes of one, several or all nodes, by cosine
    Neighbors(NeighborsArgs),
    /// Group the nodes into clusters by their vectors, without labels
    Cluster(GroupArgs),
    /// Give vectors to new nodes by their edges to known ones, without a new run
    FoldIn(Box<FoldInArgs>),
    /// Change edges between nodes of a model, and compute only the vectors again that can feel it
    Update(Box<UpdateArgs>),
    /// Add a new kind of edge to a model: columns of its own, beside those that stay as they are
    AddView(Box<AddViewArgs>),
    /// Keep the first stages of a result: fewer columns without a new run
    Truncate(TruncateArgs),
    /// Score vectors by classification, clustering or link prediction
    Evaluate(Box<EvaluateArgs>),
    /// Compare methods on one network, scored on the same splits
    Compare(Box<CompareArgs>),
    /// Search for settings of mnmf that suit a network
    Tune(Box<TuneArgs>),
    /// Draw the figures of the paper for a network: scores over settings, view weights, maps, running time
    Figures(Box<FiguresArgs>),
    /// Generate a network with planted communities
    Generate(GenerateArgs),
    /// Embed the built-in digits network (2,000 handwritten digits, 6 views), score it and write a report
    Demo(Box<DemoArgs>),
    /// List the methods, or the settings of one method
    Methods(MethodsArgs),
    /// Print a shell completion script
    Completions(CompletionArgs),
}

#[derive(Debug, Args)]
#[command(after_help = EMBED_MORE, after_long_help = EMBED_EXAMPLES)]
pub(crate) struct EmbedArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) output: EmbedOutputArgs,
    /// Also write the vectors in these formats (comma-separated)
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', value_parser = named::<manyview::io::Format>(), help_heading = "Output")]
    pub(crate) format: Vec<manyview::io::Format>,
    /// Print the expected entries, memory, stages and time, and exit without writing anything
    #[arg(long, help_heading = "Output")]
    pub(crate) plan: bool,
    /// Maximum memory, such as 8G or 500M: what does not fit is sampled by fewer walks unless that is set; exit with an error if nothing
    /// fits [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = size::size, allow_hyphen_values = true)]
    pub(crate) max_memory: Option<u64>,
    /// Also write the model, DIR/model.bin: factors and network, with which `manyview fold-in` gives vectors to new nodes
    #[arg(long, help_heading = "Output")]
    pub(crate) save_model: bool,
    #[command(flatten)]
    pub(crate) checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Embed this view only
    #[arg(long, value_name = "NAME", help_heading = "Network")]
    pub(crate) view_only: Option<String>,
    /// Labels of training nodes, for mve with --attention yes
    #[arg(long, value_name = "FILE", help_heading = settings::OTHERS)]
    pub(crate) labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: LabelColumnArgs,
}

const EMBED_MORE: &str = "\
Example:  manyview embed --view calls=calls.tsv --view mail=mail.csv -o result
All options and examples: --help. Other methods: manyview methods";

const EMBED_EXAMPLES: &str = "\
Examples:
  manyview embed --view calls=calls.tsv --view mail=mail.csv.gz -o result
  manyview embed edges.csv --relation kind --source from --target to -o result
  manyview embed folder-of-edge-lists -o result --dim 128 --seed 7
  zcat edges.tsv.gz | manyview embed --view friends=- -o result
  manyview embed folder-of-edge-lists --plan
  manyview embed folder-of-edge-lists -o result --method deepwalk --view-only mail

Writes DIR/embedding.npy (nodes x dim, float32), DIR/nodes.txt (one id per line, in row order) and DIR/run.json \
(settings, stages, view weights, times). The same command gives the same vectors for any number of threads.

Settings of other methods: manyview methods NAME, or manyview embed --method NAME --help";

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CheckpointArgs {
    /// Continue an interrupted run from the finished stages in DIR/checkpoint; the result is the same
    #[arg(long, conflicts_with_all = ["force", "no_checkpoint"])]
    pub(crate) resume: bool,
    /// Keep the finished stages in DIR/checkpoint after the run
    #[arg(long, conflicts_with = "no_checkpoint")]
    pub(crate) keep_checkpoint: bool,
    /// Do not save finished stages during the run
    #[arg(long)]
    pub(crate) no_checkpoint: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProximityArgs {
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
    /// Random seed of sampled matrices
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) proximity: settings::ProximitySettings,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
An edge connects two random nodes with probability NOISE, otherwise two nodes of the same community: with probability \
CONSENSUS a community common to all views (labels.tsv), otherwise one of the view itself (labels_VIEW.tsv).")]
pub(crate) struct GenerateArgs {
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole)]
    pub(crate) nodes: usize,
    /// Number of views
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole)]
    pub(crate) views: usize,
    /// Number of communities, of all views together and of each view
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) communities: usize,
    /// Average degree: one value, or one per view (comma-separated)
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "10")]
    pub(crate) degree: Vec<f64>,
    /// Share of random edges: one value, or one per view (comma-separated)
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "0.1")]
    pub(crate) noise: Vec<f64>,
    /// Share of the other edges that follow the common communities
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    pub(crate) consensus: f64,
    /// Share of the nodes that are missing from each view
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) absent: f64,
    /// Skew of the degrees, from 0 (all similar) to 1 (a few hubs)
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) skew: f64,
    /// Random edge weights
    #[arg(long)]
    pub(crate) weighted: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Output folder; an existing result is overwritten
    #[arg(short, long, value_name = "DIR", default_value = "manyview-demo", value_parser = output::folder())]
    pub(crate) output: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:  manyview completions bash > ~/.local/share/bash-completion/completions/manyview")]
pub(crate) struct CompletionArgs {
    /// Shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:  manyview methods mve")]
pub(crate) struct MethodsArgs {
    /// Method whose settings to list
    #[arg(value_name = "NAME", value_parser = named::<manyview::Method>())]
    pub(crate) method: Option<manyview::Method>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct EmbedOutputArgs {
    /// Output folder, created if it does not exist; not needed with --plan
    #[arg(short, long, value_name = "DIR", required_unless_present = "plan", value_parser = output::folder())]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing result
    #[arg(long)]
    pub(crate) force: bool,
    /// Print errors only, and what --plan or --json print
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print what each stage found as well
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print one line of JSON for scripts instead of the summary
    #[arg(long, conflicts_with = "plan")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Output folder, created if it does not exist
    #[arg(short, long, value_name = "DIR", value_parser = output::folder())]
    pub(crate) output: PathBuf,
    /// Overwrite an existing result
    #[arg(long)]
    pub(crate) force: bool,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Cli {
    /// Parses the command line; prints a message and exits if it is invalid.
    pub(crate) fn read() -> Self {
        // `--gamma -1` is an invalid number, not an unknown option.
        fn numbers(command: clap::Command) -> clap::Command {
            let takes_number = |arg: Arg| {
                let takes_value = arg.get_action().takes_values() && !arg.is_positional();
                if takes_value { arg.allow_negative_numbers(true) } else { arg }
            };
            command.mut_args(takes_number).mut_subcommands(numbers)
        }
        let words: Vec<_> = std::env::args_os().collect();
        let command = help::shaped(numbers(Cli::command()), &words);
        let typed = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
        typed.unwrap_or_else(|error| {
            crate::backend::wait_unless_first();
            error.exit()
        })
    }
}

/// Parses a number of things; the standard library's message is "invalid digit found in string".
fn whole(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

/// Returns a parser for the names of a type that the library declares with `named!`, each with its help.
fn named<T: SettingValue + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    named_except(&[])
}

/// As [`named`], without some of the names.
fn named_except<T: SettingValue + Clone + Send + Sync + 'static>(
    hidden: &[&str],
) -> impl TypedValueParser<Value = T> {
    let Kind::Choice(choices) = T::kind() else { unreachable!("the type has names") };
    let shown = choices.iter().filter(|choice| !hidden.contains(&choice.name));
    PossibleValuesParser::new(shown.map(settings::possible))
        .map(|name| T::from_json(&name.into()).expect("only names of choices are possible"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn generate_has_the_librarys_defaults() {
        let cli = Cli::parse_from(["manyview", "generate", "-o", "x"]);
        let Command::Generate(args) = cli.command else { panic!("the command is generate") };
        assert_eq!(args.planted(), manyview::generate::Planted::default());
    }
}

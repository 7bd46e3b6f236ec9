//! The command line as typed. Each struct becomes a type of the library in one step, and options for settings are made
//! from the library's own declarations, so that a default is written in one place only: the library.

mod compare;
mod evaluate;
mod inspect;
mod model;
mod network;
mod settings;
mod size;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use compare::{CompareArgs, Metapaths, Sweep};
pub(crate) use evaluate::{ClassifyArgs, ClusterArgs, EvaluateArgs, EvaluateTask, LinksArgs, VectorArgs};
pub(crate) use inspect::{ExplainArgs, NeighborsArgs, ReportArgs, ViewsArgs};
pub(crate) use model::ModelArgs;
pub(crate) use network::NetworkArgs;

/// One vector per node from a network whose nodes are linked in several ways.
#[derive(Debug, Parser)]
#[command(
    name = "manyview",
    version,
    max_term_width = 110,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "\
Start with:   manyview demo
Your data:    manyview embed --view calls=calls.tsv --view mail=mail.csv -o result
Then:         manyview report result, and open result/report.html
In Python:    numpy.load(\"result/embedding.npy\"), one row for each line of result/nodes.txt")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Embed a network: edge tables in, one vector per node out
    Embed(Box<EmbedArgs>),
    /// Write each view's proximity matrix as a file that scipy.sparse.load_npz opens
    Proximity(ProximityArgs),
    /// Say what the views of a network are like, and how far they agree
    Views(ViewsArgs),
    /// Write a page to look at a result with: a map of the nodes, stages, views, settings
    Report(ReportArgs),
    /// Say which stages and views a vector, or the similarity of two nodes, comes from
    Explain(ExplainArgs),
    /// List the nodes nearest to one, by cosine
    Neighbors(NeighborsArgs),
    /// Measure how good vectors are: by classification, clustering or link prediction
    Evaluate(Box<EvaluateArgs>),
    /// Compare methods on one network: all embed it, all are measured on the same splits
    Compare(Box<CompareArgs>),
    /// Make a network with planted communities, for trials, tests and benchmarks
    Generate(GenerateArgs),
    /// Embed the built-in digits network: 2,000 handwritten digits, 6 views
    Demo(Box<DemoArgs>),
    /// List the methods, or the settings of one
    Methods(MethodsArgs),
    /// Print a completion script for a shell
    Completions(CompletionArgs),
}

#[derive(Debug, Args)]
#[command(after_help = EMBED_EXAMPLES)]
pub(crate) struct EmbedArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) output: EmbedOutputArgs,
    /// Write the vectors in these forms too (comma-separated)
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', value_parser = formats(), help_heading = "Output")]
    pub(crate) format: Vec<manyview::io::Format>,
    /// Print what would be done (stages, expected entries, memory and time) and end; nothing is written
    #[arg(long, help_heading = "Output")]
    pub(crate) plan: bool,
    /// Refuse before the work starts when it would take more memory, such as 8G or 500M [default: what this
    /// machine, or this container, has available]
    #[arg(long, value_name = "SIZE", value_parser = size::size, allow_hyphen_values = true)]
    pub(crate) max_memory: Option<u64>,
    #[command(flatten)]
    pub(crate) checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Embed this view alone
    #[arg(long, value_name = "NAME", help_heading = "Network")]
    pub(crate) view_only: Option<String>,
    /// Labels of training nodes, for mve with --attention yes
    #[arg(long, value_name = "FILE", help_heading = settings::OTHERS)]
    pub(crate) labels: Option<PathBuf>,
}

const EMBED_EXAMPLES: &str = "\
Examples:
  manyview embed --view calls=calls.tsv --view mail=mail.csv.gz -o result
  manyview embed edges.csv --relation kind --source from --target to -o result
  manyview embed folder-of-edge-lists -o result --dim 128 --seed 7
  zcat edges.tsv.gz | manyview embed --view friends=- -o result
  manyview embed folder-of-edge-lists --plan
  manyview embed folder-of-edge-lists -o result --method deepwalk --view-only mail

Writes DIR/embedding.npy (nodes x dim, float32), DIR/nodes.txt (one id a line, row order) and DIR/run.json
(settings, stages, view weights, timings). The same command gives the same bytes, for any number of threads.";

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CheckpointArgs {
    /// Go on with an interrupted run: its finished stages are in DIR/checkpoint; the result has the same bytes
    #[arg(long, conflicts_with_all = ["force", "no_checkpoint"])]
    pub(crate) resume: bool,
    /// Leave the finished stages in DIR/checkpoint when the run is done
    #[arg(long, conflicts_with = "no_checkpoint")]
    pub(crate) keep_checkpoint: bool,
    /// Do not keep finished stages while the run goes on
    #[arg(long)]
    pub(crate) no_checkpoint: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProximityArgs {
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) proximity: settings::ProximitySettings,
    /// Threads [default: all cores]; does not change the result
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each edge is random with probability NOISE; else both ends are of one community: with probability CONSENSUS of the
communities that all views share (labels.tsv), else of a partition of this view's own (labels_VIEW.tsv).")]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Nodes
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole)]
    pub(crate) nodes: usize,
    /// Views
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole)]
    pub(crate) views: usize,
    /// Communities of each partition
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole)]
    pub(crate) communities: usize,
    /// Average degree; one for all views, or one for each (comma-separated)
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "10")]
    pub(crate) degree: Vec<f64>,
    /// Share of random edges; one for all views, or one for each (comma-separated)
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "0.1")]
    pub(crate) noise: Vec<f64>,
    /// Share of the other edges that follow the communities common to all views
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    pub(crate) consensus: f64,
    /// Share of nodes missing from each view
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) absent: f64,
    /// How unequal the nodes' degrees are: 0 for alike, 1 for a few hubs
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) skew: f64,
    /// Give the edges random weights
    #[arg(long)]
    pub(crate) weighted: bool,
    /// All random numbers follow from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder for the result; an earlier result there is replaced
    #[arg(short, long, value_name = "DIR", default_value = "manyview-demo")]
    pub(crate) output: PathBuf,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:  manyview completions bash > ~/.local/share/bash-completion/completions/manyview")]
pub(crate) struct CompletionArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:  manyview methods mve")]
pub(crate) struct MethodsArgs {
    /// Show the settings of this method, with their defaults
    #[arg(value_name = "NAME", value_parser = methods())]
    pub(crate) method: Option<manyview::Method>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct EmbedOutputArgs {
    /// Folder for the result; made when it does not exist; not needed with --plan
    #[arg(short, long, value_name = "DIR", required_unless_present = "plan")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an earlier result in that folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Print nothing but errors (and the plan, with --plan)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Folder for the result; made when it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Replace an earlier result in that folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Cli {
    /// What was typed, or an exit with a word on what is wrong with it.
    pub(crate) fn read() -> Self {
        // `--gamma -1` is a wrong number and not an unknown option.
        fn numbers(command: clap::Command) -> clap::Command {
            let takes_number = |arg: Arg| {
                let takes_value = arg.get_action().takes_values() && !arg.is_positional();
                if takes_value { arg.allow_negative_numbers(true) } else { arg }
            };
            command.mut_args(takes_number).mut_subcommands(numbers)
        }
        // The demo runs MNMF; settings of other methods would only be refused.
        let unless_other = |arg: Arg| {
            let other = arg.get_id() == "method" || arg.get_help_heading() == Some(settings::OTHERS);
            arg.hide(other)
        };
        let command = numbers(Cli::command()).mut_subcommand("demo", |demo| demo.mut_args(unless_other));
        let typed = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
        typed.unwrap_or_else(|error| {
            crate::backend::wait_unless_first();
            error.exit()
        })
    }
}

/// A parser for numbers of things; the standard library's "invalid digit found in string" helps nobody.
fn whole(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

/// A parser for one of several names, each with its help.
fn choice<T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<_> = choices.into_iter().collect();
    let values = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).map(move |name| {
        let found = choices.iter().find(|choice| choice.0 == name);
        found.expect("only names of choices are possible").2.clone()
    })
}

fn methods() -> impl TypedValueParser<Value = manyview::Method> {
    choice(manyview::Method::ALL.map(|method| (method.name(), method.help(), method)))
}

fn formats() -> impl TypedValueParser<Value = manyview::io::Format> {
    use manyview::io::Format::{Csv, Tsv, Word2vec};
    choice([
        ("tsv", "tab-separated, with a header", Tsv),
        ("csv", "comma-separated, with a header", Csv),
        ("word2vec", "word2vec's text form, as gensim reads it", Word2vec),
    ])
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
        let Command::Generate(args) = cli.command else { panic!("generate was asked for") };
        assert_eq!(args.planted(), manyview::generate::Planted::default());
    }
}

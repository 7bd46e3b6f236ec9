//! The arguments of the commands that change a result without a new run.

use std::path::PathBuf;

use clap::Args;
use manyview::result::Cut;

use super::{NetworkArgs, OutputArgs, ReadingArgs, whole};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview embed --view calls=calls.tsv --view mail=mail.tsv --save-model -o result
  manyview fold-in result --view calls=new_calls.tsv -o with-new
  manyview fold-in result folder-of-new-edges -o new --only-new

Edges are between a new node and a known one, or between new nodes, in any of the views of the model. Writes DIR/embedding.npy and \
DIR/nodes.txt with all nodes, the new ones last (the others keep their vectors to the bit), and DIR/run.json.")]
pub(crate) struct FoldInArgs {
    /// Result folder with a model: of manyview embed --save-model, update or add-view
    #[arg(value_name = "MODEL")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write the new nodes only
    #[arg(long, help_heading = "Output")]
    pub(crate) only_new: bool,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview update result --view calls=today.tsv -o updated
  manyview update result --view calls=today.tsv --remove calls=gone.tsv -o updated
  manyview update result --remove mail=gone.tsv -o updated --tolerance 0.01

Edges are between nodes of the model. One that comes is added to one that is there; one that goes is removed whatever its weight. Writes a \
result with its model, which can be updated again; vectors of nodes that feel less than the tolerance keep their bytes.")]
pub(crate) struct UpdateArgs {
    /// Result folder with a model: of manyview embed --save-model, update or add-view
    #[arg(value_name = "MODEL")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// View and the list of its edges that go (repeatable)
    #[arg(long, value_name = "NAME=PATH", help_heading = "Network")]
    pub(crate) remove: Vec<String>,
    /// A vector is computed again if the walks from its node change by more than this, from 0 (all that can change) to 1
    #[arg(long, value_name = "X", default_value_t = manyview::living::TOLERANCE)]
    pub(crate) tolerance: f64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview add-view result sms=sms.tsv -o with-sms
  manyview add-view result follows=follows.csv:who,whom --directed --columns 32 -o with-follows

Edges are between nodes of the model. The consensus columns explain a part of the new view; what is left gets columns of its own after all \
others, which keep their bytes. Writes a result with its model, to which views can be added again.")]
pub(crate) struct AddViewArgs {
    /// Result folder with a model: of manyview embed --save-model, update or add-view
    #[arg(value_name = "MODEL")]
    pub(crate) folder: PathBuf,
    /// Name of the new view and its edge list; columns may follow: sms=sms.csv:from,to
    #[arg(value_name = "NAME=PATH[:COLS]")]
    pub(crate) view: String,
    /// Number of columns for the view [default: as many as a view of the fit has of its own, on average]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) columns: Option<usize>,
    /// The edges have directions
    #[arg(long, help_heading = "Network")]
    pub(crate) directed: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Number of threads; does not affect the result [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  manyview truncate result --stages 4 -o shorter      the first four stages
  manyview truncate result --dim 128 -o shorter       as many stages as have at most 128 columns

Stages are nested: the columns of the first stages are those of a run that ends there. Writes DIR/embedding.npy, DIR/nodes.txt and \
DIR/run.json, with the settings of that run.")]
pub(crate) struct TruncateArgs {
    /// Result folder written by manyview embed
    #[arg(value_name = "RESULT")]
    pub(crate) folder: PathBuf,
    /// Keep the first N stages, in the order in which they ran
    #[arg(long, value_name = "N", value_parser = whole, required_unless_present = "dim", conflicts_with = "dim")]
    stages: Option<usize>,
    /// Keep as many stages as have at most N columns
    #[arg(long, value_name = "N", value_parser = whole)]
    dim: Option<usize>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl TruncateArgs {
    /// Where the result is cut.
    pub(crate) fn cut(&self) -> Cut {
        match (self.stages, self.dim) {
            (Some(stages), _) => Cut::Stages(stages),
            (None, dim) => Cut::Dim(dim.expect("one of the two is required")),
        }
    }
}

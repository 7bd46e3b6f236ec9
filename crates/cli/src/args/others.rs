//! Settings of the methods other than MNMF. What is not typed comes from the method's preset; what the method does not
//! have is refused by name, so none of these needs to know whose it is.

use clap::Args;
use serde::Serialize;

use super::{number, whole};

pub(super) const HEADING: &str = "Settings of other methods (defaults: docs/methods.md)";

#[derive(Debug, Default, Args, Serialize)]
#[command(next_help_heading = HEADING)]
pub(crate) struct OtherArgs {
    /// Walks from each node (deepwalk, metapath2vec, mne, mve)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) walks: Option<usize>,
    /// Nodes of a walk (deepwalk, metapath2vec, mne, mve)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) length: Option<usize>,
    /// Passes over the data (deepwalk, metapath2vec, mne, mve, tucker)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) epochs: Option<usize>,
    /// Learning rate at the start (all that learn by small steps)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) rate: Option<f64>,
    /// Negative samples, a tree, or both: negative, hierarchical, both (deepwalk)
    #[arg(long, value_name = "NAME")]
    pub(crate) softmax: Option<String>,
    /// Keep frequent nodes less often, from this share of the walks on; 0 keeps all (deepwalk, metapath2vec, mne)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) subsample: Option<f64>,
    /// Draw the window anew at each place: yes or no (deepwalk)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) dynamic_window: Option<bool>,
    /// Walk along heavy edges more often: yes or no (deepwalk, metapath2vec)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) weighted: Option<bool>,
    /// Views to step through in turn, comma-separated [default: all] (metapath2vec)
    #[arg(long, value_name = "VIEW,...", value_delimiter = ',')]
    pub(crate) metapath: Option<Vec<String>>,
    /// Where the path has no next edge: stop, skip (metapath2vec)
    #[arg(long, value_name = "NAME")]
    pub(crate) dead_end: Option<String>,
    /// Passes over each view (mne)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) view_epochs: Option<usize>,
    /// Numbers that each node has in each view besides the common ones (mne)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) extra: Option<usize>,
    /// Weight of a view's own part in the result (mne)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) own_weight: Option<f64>,
    /// Learn the common and the views' own part at once: yes or no (mne)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) joint: Option<bool>,
    /// Edges to draw, in all [default: 2,500 for each node] (pte, mtne-c)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) samples: Option<usize>,
    /// One table of sources for all views or one each: shared, per-view (pte)
    #[arg(long, value_name = "NAME")]
    pub(crate) sources: Option<String>,
    /// First or second order: 1, 2 (mtne-c)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) order: Option<usize>,
    /// Shrinking of vectors (mtne-c, mve), fall of the learning rate from epoch to epoch (tucker)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) decay: Option<f64>,
    /// What to give out: all, common, mean (mtne-c)
    #[arg(long, value_name = "NAME")]
    pub(crate) give: Option<String>,
    /// Draw views in proportion to their edges: yes or no (mtne-c)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) by_edges: Option<bool>,
    /// Where pairs come from: walks, edges (mve)
    #[arg(long, value_name = "NAME")]
    pub(crate) pairs: Option<String>,
    /// Steps from an edge's start that make pairs (mve, pairs of edges)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) depth: Option<usize>,
    /// Pull of the common vector on each view's (mve)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) regularize: Option<f64>,
    /// Pull on views by their votes: yes or no (mve)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) by_votes: Option<bool>,
    /// Nodes to set pairs against, by their edges in all views or in one: pooled, view (mve)
    #[arg(long, value_name = "NAME")]
    pub(crate) noise: Option<String>,
    /// Weigh views by labels of some nodes, given with --labels: yes or no (mve)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) attention: Option<bool>,
    /// The same as --attention no (mve)
    #[arg(long, conflicts_with = "attention")]
    #[serde(skip)]
    pub(crate) no_attention: bool,
    /// So many labeled nodes at most (mve)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) labeled: Option<usize>,
    /// What votes are read from: mean, concat (mve)
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    /// How votes are judged: logistic, square (mve)
    #[arg(long, value_name = "NAME")]
    pub(crate) loss: Option<String>,
    /// Scale vectors to length 1: yes or no (mve)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) unit: Option<bool>,
    /// Rows in a step (tucker)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) batch: Option<usize>,
    /// Numbers that describe a view (tucker)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) relation_dim: Option<usize>,
    /// Three shares to drop: input, first and second hidden layer (tucker)
    #[arg(long, value_name = "X,X,X", value_delimiter = ',', value_parser = number)]
    pub(crate) dropout: Option<Vec<f64>>,
    /// Smoothing of labels (tucker)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) smoothing: Option<f64>,
    /// How labels are smoothed: code, epsilon (tucker)
    #[arg(long, value_name = "NAME")]
    pub(crate) smoothing_by: Option<String>,
    /// Learn reversed edges as views of their own: yes or no [default: of directed views] (tucker)
    #[arg(long, value_name = "YES", value_parser = switch)]
    pub(crate) reverse: Option<bool>,
    /// How the matrix is taken apart: svd, nmf (netmf)
    #[arg(long, value_name = "NAME")]
    pub(crate) factor: Option<String>,
    /// Rounds of the singular value decomposition (netmf, netmf-sum, netmf-concat)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) iterations: Option<usize>,
    /// Pull between each view and the consensus (multinmf)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) lambda: Option<f64>,
    /// Rounds over all views (multinmf)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) rounds: Option<usize>,
    /// Iterations in each view and round (multinmf)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) inner: Option<usize>,
    /// Trial starts (multinmf)
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) starts: Option<usize>,
    /// Least denominator, as in the published code [default: none] (multinmf)
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) guard: Option<f64>,
}

/// A parser of yes and no.
fn switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("expected yes or no"),
    }
}

//! Settings of MNMF that are a choice among names. A name is the same on the command line, in Python and in `run.json`.

use manyview_base::named;

/// The kind of consensus stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Consensus {
    /// One U, and a V and a weight per view.
    Shared,
    /// One U and one V for the sum of the residuals; views differ by a scale.
    #[default]
    Pooled,
}

named! { Consensus:
    Pooled = "pooled", "factorize the sum of the views, so that evidence adds up where each view is sparse";
    Shared = "shared", "one U for all views, and a V and a weight for each, as in the paper";
}

/// How the columns of a unique stage are divided among the views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Share {
    /// In proportion to the norm of the residual of each view.
    #[default]
    Residual,
    /// The same number for each view.
    Equal,
}

named! { Share:
    Residual = "residual", "in proportion to the norm of the residual of each view";
    Equal = "equal", "the same number for each view, as in the paper";
}

/// How views of different sizes are made comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Normalize {
    /// Errors are relative to the squared norm of each residual.
    #[default]
    Residual,
    /// Errors are not scaled.
    None,
    /// Each proximity matrix is divided by its largest entry.
    Max,
}

named! { Normalize:
    Residual = "residual", "measure the error of each view relative to its residual";
    None = "none", "do not scale errors, as in the paper, so that large views dominate";
    Max = "max", "divide each proximity matrix by its largest entry, as in the published code";
}

/// The scale of the columns of the embedding: a pair of factors is only defined up to a diagonal matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scale {
    /// The norm of a column of U is the root mean square of the norms of the rows of the V_k.
    #[default]
    Balanced,
    /// As the solver returns them.
    Raw,
}

named! { Scale:
    Balanced = "balanced", "each column has the norm of its counterpart in V, so that distances are meaningful";
    Raw = "raw", "U as the solver returns it, as in the paper";
}

/// How factors are initialized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Init {
    /// Random, scaled to the data.
    #[default]
    Scaled,
    /// Random below 0.02.
    Uniform,
    /// Each view is factorized separately from the same random numbers; U is the mean of the results.
    Nmf,
}

named! { Init:
    Scaled = "scaled", "random, scaled so that the initial product has the mean of the data";
    Uniform = "uniform", "uniform between 0 and 0.02, as in the paper";
    Nmf = "nmf", "factorize each view separately and average U, as in the published code";
}

/// How the columns are divided among the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnLayout {
    /// Each stage gets the same number, up to one.
    #[default]
    Even,
    /// Consensus stages get a quarter in total, unique stages the rest, each rounded down.
    Code,
}

named! { ColumnLayout:
    Even = "even", "the same number of columns for each stage, as in the paper";
    Code = "code", "a quarter of the columns for consensus stages, rounded down, as in the published code";
}

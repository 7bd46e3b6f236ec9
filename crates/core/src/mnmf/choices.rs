//! Settings that are a choice among names. A name is the same on the command line, in Python and in `run.json`.

use manyview_base::named;

/// Kind of consensus stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consensus {
    /// One U, a V and a weight per view.
    Shared,
    /// One U and one V for the sum of the residuals; views differ by a scale.
    #[default]
    Pooled,
}

named! { Consensus:
    Pooled = "pooled", "factorize the sum of the views: evidence adds up where each view is thin";
    Shared = "shared", "the paper's: one U for all views, a V and a weight for each";
}

/// How a unique stage's columns are shared out over the views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// In proportion to the norm of what is left of each view.
    #[default]
    Residual,
    /// The same number for each.
    Equal,
}

named! { Share:
    Residual = "residual", "in proportion to the norm of what is left of each view";
    Equal = "equal", "the paper's: the same number for each view";
}

/// How views of different size are made comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalize {
    /// Errors are relative to each view's squared norm.
    #[default]
    Residual,
    /// Errors as they are.
    None,
    /// Each proximity matrix is divided by its largest entry.
    Max,
}

named! { Normalize:
    Residual = "residual", "measure each view's error relative to what is left of it";
    None = "none", "the paper's: errors as they are, so that large views dominate";
    Max = "max", "the published code's: divide each proximity matrix by its largest entry";
}

/// Scale of the embedding's columns: a factor pair is only defined up to a diagonal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// The norm of U's column is the root mean square of the norms of the V_k's rows.
    #[default]
    Balanced,
    /// As the solver left them.
    Raw,
}

named! { Scale:
    Balanced = "balanced", "each column as long as its counterpart in V: distances mean something";
    Raw = "raw", "the paper's: U as the solver left it";
}

/// Where a stage starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Init {
    /// Random, of the size of the data.
    #[default]
    Scaled,
    /// Random below 0.02.
    Uniform,
    /// Each view factorized alone from the same random pattern; U is the mean of theirs.
    Nmf,
}

named! { Init:
    Scaled = "scaled", "random, of such a size that the start has the mean of the data";
    Uniform = "uniform", "the paper's: uniform between 0 and 0.02";
    Nmf = "nmf", "the published code's: factorize each view alone, average U";
}

/// How columns are shared out over the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnLayout {
    /// Each stage gets the same number, up to one.
    #[default]
    Even,
    /// Consensus stages get a quarter in all, unique stages the rest, each rounded down.
    Code,
}

named! { ColumnLayout:
    Even = "even", "the paper's: each stage the same number of columns";
    Code = "code", "the published code's: a quarter of the columns for consensus stages, rounded down";
}

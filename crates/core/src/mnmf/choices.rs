//! Settings of MNMF that are a choice among names. A name is the same on the command line, in Python and in `run.json`.

use manyview_base::named;

named! {
    /// The kind of consensus stage.
    pub enum Consensus {
        /// One U and one V for the sum of the residuals; views differ by a scale.
        Pooled = "pooled", "factorize the sum of the views, so that evidence adds up where each view is sparse";
        Shared = "shared", "one U for all views, and a V and a weight for each, as in the paper";
    }
}

named! {
    /// Whether walks may change views.
    pub enum Joint {
        On = "on", "also factorize the proximity of the union of all views, in which walks may change views at every step";
        Off = "off", "walks within each view only, as in the paper";
    }
}

named! {
    /// How the columns of a unique stage are divided among the views.
    pub enum Share {
        Residual = "residual", "in proportion to the norm of the residual of each view; where a stage has few columns, views take turns";
        Equal = "equal", "the same number for each view, as in the paper";
    }
}

named! {
    /// How views of different sizes are made comparable.
    pub enum Normalize {
        Residual = "residual", "measure the error of each view relative to its residual";
        None = "none", "do not scale errors, as in the paper, so that large views dominate";
        Max = "max", "divide each proximity matrix by its largest entry, as in the published code";
    }
}

named! {
    /// The scale of the columns of the embedding: a pair of factors is only defined up to a diagonal matrix.
    pub enum Scale {
        /// The norm of a column of U is the root mean square of the norms of the rows of the V_k.
        Balanced = "balanced", "each column has the norm of its counterpart in V, so that distances are meaningful";
        Raw = "raw", "U as the solver returns it, as in the paper";
    }
}

named! {
    /// What a stage subtracts from the residual of an undirected view. From that of a directed one, it subtracts `U V`.
    pub enum Subtract {
        /// `(U V + Vᵀ Uᵀ) / 2`. One process stores half of each matrix then, if all views are undirected.
        Symmetric = "symmetric", "the mean of U V and its transpose, so that half of each matrix is enough and memory halves";
        Plain = "plain", "U V, as in the paper";
    }
}

named! {
    /// How factors are initialized.
    pub enum Init {
        Scaled = "scaled", "random, scaled so that the initial product has the mean of the data";
        Uniform = "uniform", "uniform between 0 and 0.02, as in the paper";
        Svd = "svd", "from singular vectors, independent of the seed: lower residuals in a third more time; not with mu or several ranks";
        Nmf = "nmf", "factorize each view separately and average U, as in the published code";
    }
}

named! {
    /// The order of the stages.
    pub enum Order {
        /// What is specific to a view is coarse and has few columns; what is left in all views together is fine-grained, and
        /// needs many.
        UniqueFirst = "unique-first", "what is specific to each view, then what is left in all views together";
        ConsensusFirst = "consensus-first", "what the views have in common, then what is left in each, as in the paper";
    }
}

named! {
    /// How the columns are divided among the stages.
    pub enum ColumnLayout {
        Halves = "halves", "half of the columns for consensus stages, half for unique stages";
        Even = "even", "the same number of columns for each stage, as in the paper";
        Code = "code", "a quarter of the columns for consensus stages, rounded down, as in the published code";
    }
}

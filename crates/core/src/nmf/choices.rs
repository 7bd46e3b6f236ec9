//! How a factorization is updated and when it stops.

use manyview_base::named;

/// How factors are updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Multiplicative updates.
    Mu,
    /// Cyclic coordinate descent.
    #[default]
    Hals,
}

named! { Solver:
    Hals = "hals", "coordinate descent: 10 to 20 iterations for what mu reaches in 50 to 100";
    Mu = "mu", "the paper's multiplicative updates";
}

/// What counts as converged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopRule {
    /// The objective fell by less than `tol`, relative to itself, in one iteration.
    #[default]
    Decrease,
    /// What the published code does, and what it says is not what it means: the cost is looked at in iterations 1,
    /// 10, 20, ... and the stage ends once it has *not risen* at six looks in a row, whatever `tol` is. A run that
    /// behaves well ends after 60 iterations.
    SixLooks,
}

named! { StopRule:
    Decrease = "decrease", "an iteration lowers the objective by less than tol";
    SixLooks = "six-looks", "the published code's: 60 iterations unless the cost rises";
}

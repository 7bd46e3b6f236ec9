//! The solver of a factorization and its stopping rule.

use manyview_base::named;

/// The update rule of the factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Multiplicative updates.
    Mu,
    /// Cyclic coordinate descent.
    #[default]
    Hals,
}

named! { Solver:
    Hals = "hals", "coordinate descent; 10 to 20 iterations reach what mu reaches in 50 to 100";
    Mu = "mu", "the multiplicative updates of the paper";
}

/// The convergence criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopRule {
    /// One iteration decreased the objective by less than `tol`, relative to the objective.
    #[default]
    Decrease,
    /// The rule of the published code, which differs from its description: the cost is checked in iterations 1, 10, 20,
    /// ..., and the stage ends when it has *not increased* in six consecutive checks, independent of `tol`. A
    /// well-behaved run ends after 60 iterations.
    SixLooks,
}

named! { StopRule:
    Decrease = "decrease", "one iteration decreases the objective by less than tol";
    SixLooks = "six-looks", "the rule of the published code: 60 iterations unless the cost increases";
}

//! The solver of a factorization and its stopping rule.

use manyview_base::named;

named! {
    /// The update rule of the factors.
    pub enum Solver {
        Hals = "hals", "coordinate descent; needs 10 to 20 iterations where mu needs 50 to 100";
        Mu = "mu", "the multiplicative updates of the paper";
    }
}

named! {
    /// The convergence criterion.
    pub enum StopRule {
        Decrease = "decrease", "one iteration decreases the objective by less than tol";
        /// It differs from its description: the cost is checked in iterations 1, 10, 20, ..., and the stage ends when it has
        /// *not increased* in six consecutive checks, independent of `tol`.
        SixChecks = "six-checks" | "six-looks", "the rule of the published code: 60 iterations unless the cost increases";
    }
}

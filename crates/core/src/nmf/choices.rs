//! The solver of a factorization and its stopping rule.

use manyview_base::named;

named! {
    /// The update rule of the factors.
    pub enum Solver {
        Accelerated = "accelerated-hals", "coordinate descent with extrapolation, started on a sample of the rows";
        Hals = "hals", "plain coordinate descent";
        Mu = "mu", "the multiplicative updates of the paper";
    }
}

impl Solver {
    /// The relative decrease of the objective per iteration below which more iterations gain little.
    pub fn default_tol(self) -> f64 {
        match self {
            // An iteration does as much as several plain ones, so the same decrease is reached closer to the end.
            Solver::Accelerated => 5e-4,
            Solver::Hals | Solver::Mu => 1e-4,
        }
    }
}

named! {
    /// The convergence criterion.
    pub enum StopRule {
        Decrease = "decrease", "one iteration decreases the objective by less than tol";
        /// Where most of a matrix is noise, no iteration decreases the objective by much, and the first plateau would end the stage.
        Explained = "explained", "one iteration adds less than 2 tol to what is explained, as a share of it; the rule for sampled matrices";
        /// It differs from its description: the cost is checked in iterations 1, 10, 20, ..., and the stage ends when it has
        /// *not increased* in six consecutive checks, independent of `tol`.
        SixChecks = "six-checks" | "six-looks", "the rule of the published code: 60 iterations unless the cost increases";
    }
}

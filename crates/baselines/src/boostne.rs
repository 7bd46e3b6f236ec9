//! BoostNE and NMF-con: MNMF without consensus stages, on one view at a time.
//!
//! BoostNE factorizes `M` greedily, `R^1 = M`, `R^(l+1) = max(R^l - U^l V^l, 0)`, and concatenates the U^l: MNMF with
//! one view and no consensus stage. NMF-con factorizes every `M_k` once and concatenates the U_k, `dim` columns per
//! view: K times the columns of other methods. With one stage, BoostNE and NMF-con are the same.

use std::ops::ControlFlow;

use manyview_base::error::Result;
use manyview_base::settings;
use manyview_core::method::{Found, MemoryLike, Method, Progress, Task};
use manyview_core::mnmf::{Init, Mnmf, Scale, Subtract};
use manyview_core::nmf::Solver;
use manyview_core::preset::{Preset, largest_dim};
use manyview_core::proximity;

use crate::{default_or, each_view, proximity_matrices};

/// The share of the progress that is reported for the proximity.
const PROXIMITY: f64 = 0.3;

settings! {
    /// Settings of BoostNE.
    pub struct BoostNe {
        /// The number of columns per view.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of stages, among which the columns are divided.
        stages: usize = 8 => at_least(1.0).at_most(1024.0).hint("the usual choice is 8");
    } with {
        /// How matrices are factorized.
        nmf: Nmf = Nmf::default();
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

settings! {
    /// Settings of NMF-con.
    pub struct NmfCon {
        /// The number of columns per view.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
    } with {
        /// How matrices are factorized.
        nmf: Nmf = Nmf::default();
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

settings! {
    /// Settings of non-negative factorizations of single matrices, as in [`Mnmf`].
    #[derive(Copy)]
    pub struct Nmf {
        /// How factors are updated.
        solver: Solver = Solver::Accelerated;
        /// The maximum number of iterations per factorization.
        max_iter: usize = 200 => at_least(1.0).hint("the usual choice is 200");
        /// The tolerance: a factorization has converged when an iteration reduces the objective by less than this
        /// fraction.
        tol: Option<f64> = None => at_least(0.0).hint("the usual choice is 0.0005").absent("0.0005; 0.0001 for the solvers hals and mu");
        /// The scale of the columns of the embedding.
        scale: Scale = Scale::Balanced;
        /// How factors are initialized.
        init: Init = Init::Scaled => rare();
    }
}

impl Nmf {
    /// The settings that MNMF has in the preset `paper`.
    fn of_paper() -> Self {
        let Mnmf { solver, max_iter, tol, scale, init, .. } = Mnmf::preset(Preset::Paper);
        Nmf { solver, max_iter, tol, scale, init }
    }

    /// Embeds one view by MNMF without consensus stages.
    pub(crate) fn run_on_view(
        self,
        proximity: proximity::Settings,
        stages: usize,
        view: usize,
        task: &mut Task<'_, '_>,
    ) -> Result<Found> {
        let Nmf { solver, max_iter, tol, scale, init } = self;
        let (dim, seed, pool) = (task.dim, task.seed, task.pool);
        let base = Mnmf { dim, stages, consensus_stages: Some(0), proximity, ..Mnmf::default() };
        let base = Mnmf { subtract: subtract(stages), ..base };
        let mnmf = Mnmf { solver, max_iter, tol, scale, init, ..base };
        mnmf.check()?;
        let alone = task.network.only(view);
        let mut observer = |now: &Progress<'_>| {
            let reported = match now {
                Progress::Working { doing: "proximity", done, .. } => {
                    task.tell("proximity", PROXIMITY * done)
                }
                Progress::Working { done, .. } | Progress::Iteration { done, .. } => {
                    task.tell("factors", PROXIMITY + (1.0 - PROXIMITY) * done)
                }
                _ => Ok(()),
            };
            if reported.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let found = mnmf.run(&mut Task::new(&alone, dim, seed, pool, None, &mut observer))?;
        Ok(Found { vectors: found.vectors, warnings: found.warnings, ..Found::default() })
    }
}

/// BoostNE subtracts `U V`. What the only stage subtracts does not matter, and half of the matrix is enough.
fn subtract(stages: usize) -> Subtract {
    if stages > 1 { Subtract::Plain } else { Subtract::Symmetric }
}

impl Method for BoostNe {
    fn of_preset(preset: Preset) -> Option<Self> {
        let proximity = proximity_matrices::of_paper();
        default_or(BoostNe { nmf: Nmf::of_paper(), proximity, ..BoostNe::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        each_view(task, |view, task| self.nmf.run_on_view(self.proximity, self.stages, view, task))
    }

    fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        let like = proximity_matrices::memory_like(self.dim, self.proximity, views, true);
        Some(MemoryLike { mnmf: Mnmf { subtract: subtract(self.stages), ..like.mnmf }, ..like })
    }
}

impl Method for NmfCon {
    fn of_preset(preset: Preset) -> Option<Self> {
        let proximity = proximity_matrices::of_paper();
        default_or(NmfCon { nmf: Nmf::of_paper(), proximity, ..NmfCon::default() }, preset)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        each_view(task, |view, task| self.nmf.run_on_view(self.proximity, 1, view, task))
    }

    fn memory_like(&self, views: usize) -> Option<MemoryLike> {
        Some(proximity_matrices::memory_like(self.dim, self.proximity, views, true))
    }
}

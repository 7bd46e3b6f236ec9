//! The settings of MNMF ([`Mnmf`]), and the stages that follow from them once the number of views is known ([`Plan`]).

mod choices;
mod plan;

pub use choices::{ColumnLayout, Consensus, Init, Joint, Normalize, Order, Scale, Share, Subtract};
pub use plan::{Plan, Split, Stage, largest_remainder};

use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value};
use manyview_base::settings;
use manyview_base::settings::Settings;

use crate::nmf::{Solver, StopRule};
use crate::preset::{Preset, largest_dim};
use crate::proximity::{self, Keep};
use manyview_base::parallel::Pool;
use manyview_data::network::View;

settings! {
    /// Settings of MNMF: `Mnmf { dim: 128, ..Mnmf::default() }`.
    pub struct Mnmf {
        /// The number of columns of the embedding.
        dim: usize = 256 => at_least(1.0).at_most(largest_dim()).hint("the usual choice is 256");
        /// The number of stages, consensus and unique stages together.
        stages: usize = 5 => at_least(1.0).at_most(1024.0).hint("the usual choice is 5");
        /// The number of consensus stages.
        consensus_stages: Option<usize> = None => absent("a fifth of the stages, rounded up");
        /// The number of columns of each stage; also sets the number of stages and of columns.
        stage_dims: Option<Vec<usize>> = None => at_least(1.0).absent("by layout");
        /// Whether the stages are chosen by the data, by errors on pairs of nodes that are hidden: those of the default plan, or
        /// consensus stages only if the views repeat each other.
        auto: bool = false;
        /// The kind of consensus stage.
        consensus: Consensus = Consensus::Pooled;
        /// Whether walks may also change views: paths through several views bring nodes together that no single view does.
        joint: Joint = Joint::On;
        /// How the columns of a unique stage are divided among the views.
        share: Share = Share::Residual;
        /// The exponent of the view weights in shared consensus stages: near 1 the best-fitting view dominates, above 5
        /// it has little effect; below 1, poorly fitting views get more weight.
        gamma: f64 = 5.0 => above(0.0).hint("use 5, or a value near 0 such as 0.01 to weight all views equally");
        /// How views of different sizes are made comparable; `residual` affects shared consensus stages, `max` all stages.
        normalize: Normalize = Normalize::Residual => alias("normalise");
        /// How factors are updated.
        solver: Solver = Solver::Accelerated;
        /// The maximum number of iterations per stage.
        max_iter: usize = 200 => at_least(1.0).hint("the usual choice is 200");
        /// The tolerance: a stage has converged when an iteration reduces the objective by less than this
        /// fraction.
        tol: Option<f64> = None => at_least(0.0).hint("the usual choice is 0.0005").absent("0.0005; 0.0001 for the solvers hals and mu");
        /// The scale of the columns of the embedding.
        scale: Scale = Scale::Balanced;
        /// The order of the stages.
        order: Order = Order::UniqueFirst;
        /// How the columns are divided among the stages.
        layout: ColumnLayout = ColumnLayout::Halves;
        /// What a stage subtracts from the residuals of undirected views.
        subtract: Subtract = Subtract::Symmetric => rare();
        /// How factors are initialized.
        init: Init = Init::Scaled => rare();
        /// The solver of unique stages.
        unique_solver: Option<Solver> = None => absent("the same as solver").rare();
        /// The maximum number of iterations of a unique stage.
        unique_max_iter: Option<usize> = None => at_least(1.0).absent("the same as max_iter").rare();
        /// The convergence criterion of consensus stages.
        stop: StopRule = StopRule::Decrease => rare();
        /// Added to the denominators of `mu`, together with unscaled view weights, as in the published code.
        epsilon: f64 = 0.0 => at_least(0.0).rare();
    } with {
        /// How near two nodes are.
        proximity: proximity::Settings = proximity::Settings::default();
    }
}

impl Mnmf {
    /// The settings of a preset.
    pub fn preset(preset: Preset) -> Self {
        let proximity = proximity::Settings::default();
        match preset {
            Preset::Default => Mnmf::default(),
            Preset::Paper => Mnmf {
                stages: 8,
                layout: ColumnLayout::Even,
                order: Order::ConsensusFirst,
                consensus: Consensus::Shared,
                joint: Joint::Off,
                share: Share::Equal,
                normalize: Normalize::None,
                solver: Solver::Mu,
                init: Init::Uniform,
                scale: Scale::Raw,
                subtract: Subtract::Plain,
                proximity: proximity::Settings { negative: 5.0, ..proximity },
                ..Mnmf::default()
            },
            Preset::Authors => Mnmf {
                // Eight consensus and eight unique stages; the first take a quarter of the columns.
                stages: 16,
                consensus_stages: Some(8),
                layout: ColumnLayout::Code,
                order: Order::ConsensusFirst,
                gamma: 20.0,
                consensus: Consensus::Shared,
                joint: Joint::Off,
                share: Share::Equal,
                normalize: Normalize::Max,
                solver: Solver::Mu,
                unique_solver: Some(Solver::Hals),
                max_iter: 100,
                unique_max_iter: Some(50),
                stop: StopRule::SixChecks,
                init: Init::Nmf,
                epsilon: 1e-10,
                scale: Scale::Raw,
                subtract: Subtract::Plain,
                proximity: proximity::Settings {
                    window: 1,
                    isolated: proximity::Isolated::Loop,
                    ..proximity
                },
                ..Mnmf::default()
            },
        }
    }

    /// Settings that follow from those which were given over a preset or an earlier run, by name, and were not given
    /// themselves.
    pub(crate) fn complete(&mut self, before: &Self, given: &[&str]) {
        let follows = |name: &str, from: &str| given.contains(&from) && !given.contains(&name);
        if let Some(dims) = self.stage_dims.as_ref().filter(|_| given.contains(&"stage_dims")) {
            let (stages, dim) = (dims.len(), dims.iter().sum());
            if !given.contains(&"stages") {
                self.stages = stages;
            }
            if !given.contains(&"dim") {
                self.dim = dim;
            }
            if !given.contains(&"consensus_stages") {
                self.consensus_stages = None;
            }
        } else if follows("consensus_stages", "stages") && before.consensus_stages == Some(before.stages / 2)
        {
            // The published code has as many consensus stages as unique ones. Any other number was chosen by the user.
            self.consensus_stages = Some(self.stages / 2);
        }
        // Stages that are chosen by the data replace those of the preset.
        if self.auto && given.contains(&"auto") {
            if !given.contains(&"consensus_stages") {
                self.consensus_stages = None;
            }
            if !given.contains(&"stage_dims") {
                self.stage_dims = None;
            }
        }
        // A solver that is given is meant for all stages, also where the preset has another one for unique stages.
        if follows("unique_solver", "solver") {
            self.unique_solver = None;
        }
        if follows("unique_max_iter", "max_iter") {
            self.unique_max_iter = None;
        }
    }

    /// Checks everything that does not depend on the network.
    pub fn check(&self) -> Result<()> {
        self.check_limits()?;
        self.proximity.check()?;
        if self.init == Init::Svd && [self.solver, self.unique_solver()].contains(&Solver::Mu) {
            return Err(Error::config(format!(
                "{} does not work with {}, which cannot change zeros; use another {} or {}",
                option_value("init", Init::Svd.name()),
                option_value("solver", Solver::Mu.name()),
                option("init"),
                option("solver")
            )));
        }
        if self.auto && (self.stage_dims.is_some() || self.consensus_stages.is_some()) {
            let given = if self.stage_dims.is_some() { "stage_dims" } else { "consensus_stages" };
            return Err(Error::config(format!(
                "{} chooses the stages by itself, so {} cannot be given with it; leave one of them out",
                option("auto"),
                option(given)
            )));
        }
        match self.consensus_stages {
            Some(consensus) if consensus > self.stages => Err(Error::config(format!(
                "{} exceeds {}; use at most as many consensus stages as there are stages",
                option_value("consensus_stages", consensus),
                option_value("stages", self.stages)
            ))),
            _ => Ok(()),
        }
    }

    /// The same settings with everything that was left open filled in for this number of views.
    pub fn resolved(&self, views: usize) -> Mnmf {
        if self.auto {
            return Mnmf { tol: self.tol.or(Some(self.tol(self.solver))), ..self.clone() };
        }
        let dims = |plan: Plan| plan.stages.iter().map(|stage| stage.columns.len()).collect();
        Mnmf {
            consensus_stages: Some(self.resolved_consensus_stages()),
            stage_dims: self.plan(views).ok().map(dims),
            // One number cannot stand for two solvers that differ in theirs.
            tol: self.tol.or_else(|| {
                let [consensus, unique] = [self.solver, self.unique_solver()].map(|solver| self.tol(solver));
                (consensus == unique).then_some(consensus)
            }),
            unique_solver: Some(self.unique_solver()),
            unique_max_iter: Some(self.unique_max_iter()),
            ..self.clone()
        }
    }

    /// The tolerance of stages with this solver.
    pub fn tol(&self, solver: Solver) -> f64 {
        self.tol.unwrap_or(solver.default_tol())
    }

    /// The number of matrices that are factorized for this number of views: one for each, and one for their union.
    pub(crate) fn targets(&self, views: usize) -> usize {
        if self.joint == Joint::On && views > 1 { views + 1 } else { views }
    }

    /// The union of all views, if it is factorized as well.
    pub(crate) fn union_of_views(&self, views: &[View], pool: &Pool) -> Option<View> {
        if self.joint == Joint::On { proximity::union_of_views(views, pool) } else { None }
    }

    /// Whether the residual of a view stays symmetric.
    pub(crate) fn is_symmetric(&self, view: &View) -> bool {
        self.subtract == Subtract::Symmetric && !view.directed
    }

    /// The entries of the proximity matrices that one process keeps. Sums of matrices are only computed where all are stored
    /// in the same way.
    pub(crate) fn keep(&self, views: &[&View]) -> Keep {
        if views.iter().all(|view| self.is_symmetric(view)) { Keep::Upper } else { Keep::All }
    }

    /// The solver of unique stages.
    pub(crate) fn unique_solver(&self) -> Solver {
        self.unique_solver.unwrap_or(self.solver)
    }

    /// The maximum number of iterations of unique stages.
    pub(crate) fn unique_max_iter(&self) -> usize {
        self.unique_max_iter.unwrap_or(self.max_iter)
    }

    fn resolved_consensus_stages(&self) -> usize {
        self.consensus_stages.unwrap_or(self.stages.div_ceil(5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_setting_is_named() {
        let base = Mnmf::default;
        let near = proximity::Settings::default;
        let bad = [
            (Mnmf { dim: 0, ..base() }, "dim = 0: expected a whole number from 1"),
            (Mnmf { dim: usize::MAX, ..base() }, "dim = "),
            (Mnmf { stages: 0, ..base() }, "stages = 0"),
            (Mnmf { consensus_stages: Some(9), ..base() }, "consensus_stages = 9 exceeds stages = 5"),
            (Mnmf { gamma: 0.0, ..base() }, "gamma = 0: expected a number above 0"),
            (Mnmf { gamma: -1.0, ..base() }, "gamma = -1"),
            (Mnmf { gamma: f64::NAN, ..base() }, "gamma = NaN"),
            (Mnmf { proximity: proximity::Settings { window: 0, ..near() }, ..base() }, "window = 0"),
            (Mnmf { proximity: proximity::Settings { negative: 0.0, ..near() }, ..base() }, "negative = 0"),
            (Mnmf { max_iter: 0, ..base() }, "max_iter = 0"),
            (Mnmf { tol: Some(-1.0), ..base() }, "tol = -1"),
            (Mnmf { epsilon: f64::NAN, ..base() }, "epsilon = NaN"),
        ];
        for (config, words) in bad {
            let message = config.check().unwrap_err().to_string();
            assert!(message.starts_with(words), "{message}");
        }
    }

    #[test]
    fn presets_are_sound() {
        for preset in Preset::ALL {
            let config = Mnmf::preset(preset);
            config.check().unwrap();
            for views in 1..=6 {
                let plan = config.plan(views).unwrap();
                assert!(plan.dim <= 256 && plan.dim > 220, "{preset:?} with {views} views: {}", plan.dim);
            }
        }
    }
}

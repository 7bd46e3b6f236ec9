//! What the user says ([`Config`]), and what follows from it once the number of views is known ([`Plan`]).

mod choices;
mod plan;

pub use choices::{Consensus, Init, Isolated, Layout, Normalize, Preset, Scale, Share, Solver, StopRule};
pub use manyview_data::embedding::Kind;
pub use plan::largest_remainder;
pub use plan::{Plan, Split, Stage};

use serde::Serialize;

use crate::proximity;
use manyview_base::error::{Error, Result};
use manyview_base::parallel;

/// Numbers beyond these are slips of the keyboard, and would end in a panic or an exhausted machine.
const MOST_COLUMNS: usize = 1 << 20;
const MOST_STAGES: usize = 1 << 10;

/// Every setting of the method. A plain struct: `Config { dim: 128, ..Config::default() }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// Columns of the embedding.
    pub dim: usize,
    /// Stages in all, consensus and unique.
    pub stages: usize,
    /// How many of the stages are consensus stages; a quarter (rounded up) when not given.
    pub consensus_stages: Option<usize>,
    /// Columns of each stage, given by hand; evenly shared when not given. Must have `stages` numbers that sum to `dim`.
    pub stage_dims: Option<Vec<usize>>,
    /// How columns are shared out over the stages.
    pub layout: Layout,
    /// Unique stages before consensus stages (mode 1 of the published code).
    pub unique_first: bool,
    /// Exponent of the view weights in `shared` consensus stages, above 0.
    pub gamma: f64,
    /// Steps of a random walk that count as near: T of the proximity.
    pub window: usize,
    /// Negative samples, b of the proximity: pairs that meet less than b times as often as chance are dropped.
    pub negative: f64,
    /// What a node without edges in a view looks like there.
    pub isolated: Isolated,
    /// Kind of consensus stage.
    pub consensus: Consensus,
    /// How a unique stage's columns are shared out over the views.
    pub share: Share,
    /// How views of different size are made comparable.
    pub normalize: Normalize,
    /// How factors are updated.
    pub solver: Solver,
    /// How they are updated in unique stages; as everywhere when not given.
    pub unique_solver: Option<Solver>,
    /// At most so many iterations a stage.
    pub max_iter: usize,
    /// At most so many in a unique stage; as everywhere when not given.
    pub unique_max_iter: Option<usize>,
    /// A stage has converged when an iteration lowers the objective by less than this share of it.
    pub tol: f64,
    /// What counts as converged in consensus stages.
    pub stop: StopRule,
    /// Where stages start.
    pub init: Init,
    /// Added to denominators, with unscaled weights, as in the published code; 0 everywhere else.
    pub epsilon: f64,
    /// Scale of the embedding's columns.
    pub scale: Scale,
    /// All random numbers follow from it.
    pub seed: u64,
    /// Threads; all cores when not given. Does not change the result.
    pub threads: Option<usize>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            dim: 256,
            stages: 8,
            consensus_stages: None,
            stage_dims: None,
            layout: Layout::Even,
            unique_first: false,
            gamma: 5.0,
            window: 5,
            negative: 1.0,
            isolated: Isolated::Zero,
            consensus: Consensus::Pooled,
            share: Share::Residual,
            normalize: Normalize::Residual,
            solver: Solver::Hals,
            unique_solver: None,
            max_iter: 200,
            unique_max_iter: None,
            tol: 1e-4,
            stop: StopRule::Decrease,
            init: Init::Scaled,
            epsilon: 0.0,
            scale: Scale::Balanced,
            seed: 0,
            threads: None,
        }
    }
}

impl Config {
    /// The settings of a preset.
    pub fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Default => Config::default(),
            Preset::Paper => Config {
                negative: 5.0,
                consensus: Consensus::Shared,
                share: Share::Equal,
                normalize: Normalize::None,
                solver: Solver::Mu,
                init: Init::Uniform,
                scale: Scale::Raw,
                ..Config::default()
            },
            Preset::Authors => Config {
                // Eight consensus and eight unique stages; the first take a quarter of the columns.
                stages: 16,
                consensus_stages: Some(8),
                layout: Layout::Code,
                gamma: 20.0,
                window: 1,
                isolated: Isolated::Loop,
                consensus: Consensus::Shared,
                share: Share::Equal,
                normalize: Normalize::Max,
                solver: Solver::Mu,
                unique_solver: Some(Solver::Hals),
                max_iter: 100,
                unique_max_iter: Some(50),
                stop: StopRule::SixLooks,
                init: Init::Nmf,
                epsilon: 1e-10,
                scale: Scale::Raw,
                ..Config::default()
            },
        }
    }

    /// Checks what does not depend on the network.
    pub fn check(&self) -> Result<()> {
        let complain = |sentence: String| Err(Error::config(sentence));
        if self.dim == 0 {
            return complain(
                "dim = 0: the embedding needs at least one column; the usual choice is --dim 256".into(),
            );
        }
        if self.stages == 0 {
            return complain(
                "stages = 0: at least one stage is needed; the usual choice is --stages 8".into(),
            );
        }
        if self.dim > MOST_COLUMNS {
            let dim = self.dim;
            return complain(format!("dim = {dim} is more than anybody needs; use at most {MOST_COLUMNS}"));
        }
        if self.stages > MOST_STAGES {
            let stages = self.stages;
            return complain(format!(
                "stages = {stages} is more than anybody needs; use at most {MOST_STAGES}"
            ));
        }
        if let Some(consensus) = self.consensus_stages
            && consensus > self.stages
        {
            let stages = self.stages;
            return complain(format!(
                "consensus_stages = {consensus} is more than the {stages} stages there are"
            ));
        }
        if !(self.gamma > 0.0 && self.gamma.is_finite()) {
            let gamma = self.gamma;
            return complain(format!(
                "gamma = {gamma} is not above 0; use 5, or a value near 0 (0.01) to let all views count alike"
            ));
        }
        if self.window == 0 {
            return complain(
                "window = 0: at least one step of the walk must count; the usual choice is 5".into(),
            );
        }
        if !(self.negative > 0.0 && self.negative.is_finite()) {
            let negative = self.negative;
            return complain(format!("negative = {negative} is not above 0; the usual choices are 1 and 5"));
        }
        if self.max_iter == 0 || self.unique_max_iter == Some(0) {
            return complain("max_iter = 0: a stage needs at least one iteration".into());
        }
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            let tol = self.tol;
            return complain(format!("tol = {tol} is not a number from 0 on; the usual choice is 1e-4"));
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            let epsilon = self.epsilon;
            return complain(format!(
                "epsilon = {epsilon} is not a number from 0 on; it is 0 outside the published code"
            ));
        }
        parallel::check_threads(self.threads)
    }

    /// The same settings with everything that was left open filled in for so many views.
    pub fn resolved(&self, views: usize) -> Config {
        let dims = |plan: Plan| plan.stages.iter().map(|stage| stage.columns.len()).collect();
        Config {
            consensus_stages: Some(self.resolved_consensus_stages()),
            stage_dims: self.plan(views).ok().map(dims),
            unique_solver: Some(self.unique_solver.unwrap_or(self.solver)),
            unique_max_iter: Some(self.unique_max_iter.unwrap_or(self.max_iter)),
            ..self.clone()
        }
    }

    /// What the proximity follows from.
    pub fn proximity_settings(&self) -> proximity::Settings {
        proximity::Settings { window: self.window, negative: self.negative, isolated: self.isolated }
    }

    fn resolved_consensus_stages(&self) -> usize {
        self.consensus_stages.unwrap_or(self.stages.div_ceil(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_setting_is_named() {
        let base = Config::default;
        let bad = [
            (Config { dim: 0, ..base() }, "dim = 0"),
            (Config { stages: 0, ..base() }, "stages = 0"),
            (Config { consensus_stages: Some(9), ..base() }, "consensus_stages = 9"),
            (Config { gamma: 0.0, ..base() }, "gamma = 0"),
            (Config { gamma: -1.0, ..base() }, "gamma = -1"),
            (Config { gamma: f64::NAN, ..base() }, "gamma = NaN"),
            (Config { window: 0, ..base() }, "window = 0"),
            (Config { negative: 0.0, ..base() }, "negative = 0"),
            (Config { max_iter: 0, ..base() }, "max_iter = 0"),
            (Config { tol: -1.0, ..base() }, "tol = -1"),
            (Config { epsilon: f64::NAN, ..base() }, "epsilon = NaN"),
            (Config { threads: Some(0), ..base() }, "threads = 0"),
            (Config { threads: Some(100_000), ..base() }, "threads = 100000"),
        ];
        for (config, words) in bad {
            let message = config.check().unwrap_err().to_string();
            assert!(message.starts_with(words), "{message}");
        }
    }

    #[test]
    fn presets_are_sound() {
        for preset in Preset::ALL {
            let config = Config::preset(preset);
            config.check().unwrap();
            for views in 1..=6 {
                let plan = config.plan(views).unwrap();
                assert!(plan.dim <= 256 && plan.dim > 220, "{preset:?} with {views} views: {}", plan.dim);
            }
        }
    }
}

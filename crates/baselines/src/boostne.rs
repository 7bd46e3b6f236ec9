//! BoostNE and NMF-con: MNMF's own machinery on one view at a time.
//!
//! BoostNE explains `M` greedily, `R^1 = M`, `R^(l+1) = max(R^l - U^l V^l, 0)`, and puts the U^l side by side: MNMF
//! with one view and no consensus stage. NMF-con factorizes every `M_k` once and puts the U_k side by side, `dim`
//! columns for each view: K times the columns that others have. With one stage the two are the same.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{Found, Rival, Task, each_view};
use manyview_base::error::Result;
use manyview_core::comm::Local;
use manyview_core::config::{Config, Init, Preset, Scale, Solver};
use manyview_core::stages;

/// Settings of BoostNE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoostNe {
    /// Stages, `dim / stages` columns each.
    pub stages: usize,
    /// How the matrix is made and factorized.
    #[serde(flatten)]
    pub nmf: Nmf,
}

/// Settings of NMF-con.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NmfCon {
    /// How the matrices are made and factorized.
    #[serde(flatten)]
    pub nmf: Nmf,
}

/// What MNMF sets too; see [`Config`] for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "documented in Config")]
pub struct Nmf {
    pub window: usize,
    pub negative: f64,
    pub solver: Solver,
    pub max_iter: usize,
    pub tol: f64,
    pub scale: Scale,
    pub init: Init,
}

impl Nmf {
    pub(super) fn of(preset: Preset) -> Self {
        let Config { window, negative, solver, max_iter, tol, scale, init, .. } = Config::preset(preset);
        Nmf { window, negative, solver, max_iter, tol, scale, init }
    }

    /// MNMF without consensus stages.
    fn config(&self, dim: usize, stages: usize) -> Config {
        let Nmf { window, negative, solver, max_iter, tol, scale, init } = *self;
        let base = Config { dim, stages, consensus_stages: Some(0), ..Config::default() };
        Config { window, negative, solver, max_iter, tol, scale, init, ..base }
    }

    /// The stages of one view.
    pub(super) fn fit_view(&self, stages: usize, view: usize, task: &mut Task<'_, '_>) -> Result<Found> {
        let alone = task.network.only(view);
        let threads = Some(task.pool.threads());
        let config = Config { seed: task.seed, threads, ..self.config(task.dim, stages) };
        let fit = config.fit_with(&alone, &Local, &mut |now| {
            let told = match now {
                stages::Progress::Proximity { done, rows, .. } => {
                    task.tell("proximity", 0.3 * *done as f64 / (*rows).max(1) as f64)
                }
                stages::Progress::Iteration { done, .. } => task.tell("factors", 0.3 + 0.7 * done),
                stages::Progress::Finished(_) => Ok(()),
            };
            if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let warnings = fit.warnings;
        Ok(Found { vectors: fit.embedding.values().to_vec(), parts: Vec::new(), warnings })
    }
}

impl Default for BoostNe {
    fn default() -> Self {
        BoostNe { stages: 8, nmf: Nmf::of(Preset::Default) }
    }
}

impl Rival for BoostNe {
    fn paper() -> Self {
        BoostNe { stages: 8, nmf: Nmf::of(Preset::Paper) }
    }

    fn check(&self) -> Result<()> {
        self.nmf.config(256.max(self.stages), self.stages).check()
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        each_view(task, |view, task| self.nmf.fit_view(self.stages, view, task))
    }

    fn proximity(&self) -> Option<(usize, f64)> {
        Some((self.nmf.window, self.nmf.negative))
    }
}

impl Default for NmfCon {
    fn default() -> Self {
        NmfCon { nmf: Nmf::of(Preset::Default) }
    }
}

impl Rival for NmfCon {
    fn paper() -> Self {
        NmfCon { nmf: Nmf::of(Preset::Paper) }
    }

    fn check(&self) -> Result<()> {
        self.nmf.config(256, 1).check()
    }

    fn fit(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        each_view(task, |view, task| self.nmf.fit_view(1, view, task))
    }

    fn proximity(&self) -> Option<(usize, f64)> {
        Some((self.nmf.window, self.nmf.negative))
    }
}

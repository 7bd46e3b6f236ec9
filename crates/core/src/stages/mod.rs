//! The whole method: proximity of every view, then stage after stage what is left of it.
//!
//! ```text
//! R_k <- proximity of view k
//! for stage in plan:
//!     consensus: factorize all R_k together      unique: factorize each R_k alone
//!     R_k <- max(R_k - U V_k, 0)
//!     columns of U into the embedding
//! ```

mod consensus;
mod piece;
mod record;
mod split;
mod unique;

use std::ops::{ControlFlow, Range};
use std::time::Instant;

pub use piece::Piece;
pub use record::{Fit, OwnWork, Seconds, StageRecord, Stop, ViewRecord};

use crate::checkpoint::Checkpoints;
use crate::comm::{self, Comm, Local, Timed};
use crate::config::{Config, Init, Kind, Normalize, Plan, Stage, StopRule};
use crate::nmf::{self, Factors, Settings, Start, StartMeans, Target, random_start};
use crate::proximity;
use crate::residual::Residual;
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Tiles;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key};
use manyview_data::embedding::{Embedding, Part};
use manyview_data::network::Network;

/// Limit of the paper's start values.
const UNIFORM_LIMIT: f64 = 0.02;

/// What an observer hears while a fit runs.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Rows of a view's proximity matrix are done.
    Proximity {
        /// The view.
        view: &'a str,
        /// Which view, from 0.
        index: usize,
        /// Number of views.
        views: usize,
        /// Rows done.
        done: usize,
        /// Rows in all.
        rows: usize,
    },
    /// An iteration of a stage is done.
    Iteration {
        /// The stage, from 1.
        stage: usize,
        /// Number of stages.
        stages: usize,
        /// What it looks for.
        kind: Kind,
        /// The view, in a unique stage.
        view: Option<&'a str>,
        /// Iterations done.
        iteration: usize,
        /// Share of the stage's input that is not explained yet.
        error: f64,
        /// Share of all factorization that is done, by columns.
        done: f64,
    },
    /// A stage (in a unique stage, one view of it) is done.
    Finished(&'a StageRecord),
}

/// Hears of progress on the calling thread, several times a second, and may end the fit by breaking.
pub type Observer<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;

impl Config {
    /// Embeds a network.
    pub fn fit(&self, network: &Network) -> Result<Fit> {
        self.fit_with(network, &Local, &mut |_| ControlFlow::Continue(()))
    }

    /// Embeds a network on the ranks of `comm`, with somebody looking on.
    ///
    /// Every rank gives the same network and settings, and gets the whole result.
    pub fn fit_with<C: Comm>(&self, network: &Network, comm: &C, observer: &mut Observer<'_>) -> Result<Fit> {
        self.fit_from(network, comm, None, observer)
    }

    /// Embeds a network, keeping each finished stage as a checkpoint.
    ///
    /// Stages that the checkpoints have already are not computed again, and the result has the same bits as if they
    /// had been. Rank 0 writes; all ranks read, and their number may differ from that of the run before.
    pub fn fit_from<C: Comm>(
        &self,
        network: &Network,
        comm: &C,
        checkpoints: Option<&Checkpoints>,
        observer: &mut Observer<'_>,
    ) -> Result<Fit> {
        let plan = self.plan(network.views().len())?;
        let pool = Pool::new(self.threads)?;
        let comm = &Timed::new(comm);
        let began = Instant::now();
        let (rows, residuals) = all_residuals(self, network, &pool, comm, observer)?;
        let views = ViewRecord::of(network, &residuals);
        let mut own = OwnWork::begin(rows.len(), &residuals);
        let proximity_seconds = began.elapsed().as_secs_f64();
        own.proximity_took(proximity_seconds, comm.traffic());

        let began = Instant::now();
        let mut run = Run {
            config: self,
            plan: &plan,
            names: network.views().iter().map(|view| view.name.as_str()).collect(),
            residuals,
            pool: &pool,
            comm,
            rows,
            embedding: Embedding::zeros(network.nodes().clone(), plan.dim),
            stages: Vec::new(),
            warnings: Vec::new(),
            columns_done: 0,
            observer,
        };
        run.all_stages(checkpoints)?;
        let Run { embedding, stages, mut warnings, .. } = run;
        warnings.extend(record::convergence_warning(&stages, self));
        let seconds = Seconds { proximity: proximity_seconds, factorize: began.elapsed().as_secs_f64() };
        own.stages_took(seconds.factorize, comm.traffic());
        let (threads, ranks) = (pool.threads(), comm.size());
        Ok(Fit { embedding, views, stages, warnings, seconds, threads, ranks, own })
    }
}

/// This rank's rows, and those rows of the proximity matrix of every view.
fn all_residuals<C: Comm>(
    config: &Config,
    network: &Network,
    pool: &Pool,
    comm: &C,
    observer: &mut Observer<'_>,
) -> Result<(Range<usize>, Vec<Residual<f32>>)> {
    let settings =
        proximity::Settings { window: config.window, negative: config.negative, isolated: config.isolated };
    let nodes = network.nodes().len();
    let rows = split::own_rows(network, settings, pool, comm, observer)?;
    let mut residuals = Vec::new();
    for (index, view) in network.views().iter().enumerate() {
        let mut watch = |done| {
            let views = network.views().len();
            observer(&Progress::Proximity { view: &view.name, index, views, done, rows: rows.len() })
        };
        let found = proximity::row_blocks::<f32>(view, settings, rows.clone(), pool, &mut watch);
        let found = comm::agree(comm, found)?;
        let mut tiles = pool.run(|| Tiles::from_blocks(rows.len(), nodes, found.blocks));
        if config.normalize == Normalize::Max {
            let largest = comm::max(comm, tiles.max().into());
            if largest > 0.0 {
                tiles.scale((1.0 / largest) as f32);
            }
        }
        let residual = Residual::new(tiles, pool, comm);
        if residual.is_empty() {
            return Err(proximity::nothing_survives(view, settings, comm::max(comm, found.largest)));
        }
        residuals.push(residual);
    }
    Ok((rows, residuals))
}

/// The state of a fit between stages.
struct Run<'a, 'o, C> {
    config: &'a Config,
    plan: &'a Plan,
    names: Vec<&'a str>,
    residuals: Vec<Residual<f32>>,
    pool: &'a Pool,
    comm: &'a C,
    /// This rank's rows.
    rows: Range<usize>,
    embedding: Embedding,
    stages: Vec<StageRecord>,
    warnings: Vec<String>,
    columns_done: usize,
    observer: &'a mut Observer<'o>,
}

impl<C: Comm> Run<'_, '_, C> {
    fn all_stages(&mut self, checkpoints: Option<&Checkpoints>) -> Result<()> {
        let mut finished =
            checkpoints.map_or(Ok(Vec::new()), |kept| kept.read(&self.rows, self.comm))?.into_iter();
        for stage in &self.plan.stages {
            if self.residuals.iter().all(Residual::is_empty) {
                let (number, stages, zero) =
                    (stage.number, self.plan.stages.len(), self.plan.dim - self.columns_done);
                self.warnings.push(format!(
                    "the views are fully explained before stage {number} of {stages}; the last {zero} columns are zero \
                     (fewer stages or a smaller --dim would do)"
                ));
                break;
            }
            if let Some(pieces) = finished.next() {
                pieces.iter().try_for_each(|piece| self.apply(stage, piece))?;
                continue;
            }
            let pieces = match stage.kind {
                Kind::Consensus => self.consensus_stage(stage)?,
                Kind::Unique => self.unique_stage(stage)?,
            };
            if let Some(checkpoints) = checkpoints {
                checkpoints.write(stage.number, &pieces, self.embedding.rows(), self.comm)?;
            }
        }
        Ok(())
    }

    /// Views of which something is left.
    fn active(&self) -> Vec<usize> {
        (0..self.residuals.len()).filter(|&view| !self.residuals[view].is_empty()).collect()
    }

    fn settings(&self, kind: Kind) -> Settings {
        let config = self.config;
        let (solver, max_iter, stop) = match kind {
            Kind::Consensus => (config.solver, config.max_iter, config.stop),
            Kind::Unique => (
                config.unique_solver.unwrap_or(config.solver),
                config.unique_max_iter.unwrap_or(config.max_iter),
                StopRule::Decrease,
            ),
        };
        let epsilon = if kind == Kind::Consensus { config.epsilon } else { 0.0 };
        Settings { solver, gamma: config.gamma, max_iter, tol: config.tol, stop, epsilon }
    }

    /// Random start for the given views (all in one target when pooled), which have these means.
    fn start(&self, stage: &Stage, names: &[&str], width: usize, means: &[f64]) -> Start<f32> {
        let means = match self.config.init {
            Init::Uniform => StartMeans::below(UNIFORM_LIMIT, means.len()),
            Init::Scaled | Init::Nmf => StartMeans::fitting(means, width),
        };
        // The published code starts every stage and view from the same pattern.
        let same_everywhere = self.config.init == Init::Nmf;
        let number = if same_everywhere { 0 } else { stage.number as u64 };
        let name_key = |name: &&str| if same_everywhere { 0 } else { text_key(name) };
        let key = Key::new(self.config.seed).with(number);
        let own_u = if stage.kind == Kind::Unique { name_key(&names[0]) } else { 0 };
        let v_keys: Vec<Key> = names.iter().map(|name| key.with(1).with(name_key(name))).collect();
        let nodes = self.residuals[0].tiles.cols();
        random_start(&means, width, self.rows.clone(), nodes, key.with(0).with(own_u), &v_keys)
    }

    /// Factorizes what is left of the given views, with the observer looking on.
    fn solve(
        &mut self,
        stage: &Stage,
        views: &[usize],
        objective: Objective,
        start: Start<f32>,
        settings: &Settings,
    ) -> Result<Factors<f32>> {
        let view = (stage.kind == Kind::Unique).then(|| self.names[views[0]]);
        let (stages, width, dim) = (self.plan.stages.len(), start.u.width(), self.plan.dim);
        let (columns_done, observer) = (self.columns_done, &mut *self.observer);
        let mut watch = |now: nmf::Iteration<'_>| {
            let share = now.iteration as f64 / settings.max_iter as f64;
            observer(&Progress::Iteration {
                stage: stage.number,
                stages,
                kind: stage.kind,
                view,
                iteration: now.iteration,
                error: now.error,
                done: (columns_done as f64 + share * width as f64) / dim as f64,
            })
        };
        let left = views.iter().map(|&view| &self.residuals[view]);
        let targets: Vec<_> = match objective {
            Objective::Errors => left.map(|left| Target::new(&left.tiles, left.squared_norm)).collect(),
            Objective::RelativeErrors => {
                left.map(|left| Target::new(&left.tiles, left.squared_norm).relative()).collect()
            }
            Objective::ErrorOfSum { squared_norm } => {
                vec![Target::sum_of(left.map(|left| &left.tiles).collect(), squared_norm)]
            }
        };
        nmf::factorize(&targets, start, settings, self.pool, self.comm, &mut watch)
    }

    /// Takes a piece away from its views, puts its columns into the embedding, and takes note of it.
    fn apply(&mut self, stage: &Stage, piece: &Piece) -> Result<()> {
        let began = Instant::now();
        let names: Vec<String> = piece.views.iter().map(|&view| self.names[view].to_owned()).collect();
        let named = |numbers: Vec<f64>| names.iter().cloned().zip(numbers).collect();
        let entries = piece.views.iter().map(|&view| self.residuals[view].entries);
        let entries = names.iter().cloned().zip(entries).collect();
        for (at, (&view, &scale)) in piece.views.iter().zip(&piece.scales).enumerate() {
            // The views of a pooled stage share one V.
            let v_t = piece.v_t.get(at).unwrap_or(&piece.v_t[0]);
            self.residuals[view].subtract(&piece.u, v_t, scale, self.pool, self.comm);
        }
        self.put_columns(stage, piece);
        let left = piece.views.iter().map(|&view| self.residuals[view].share_left()).collect();
        let record = StageRecord {
            stage: stage.number,
            kind: stage.kind,
            consensus: piece.consensus,
            view: (stage.kind == Kind::Unique).then(|| names[0].clone()),
            columns: [piece.columns.start, piece.columns.end],
            iterations: piece.iterations,
            converged: piece.converged,
            seconds: piece.seconds + began.elapsed().as_secs_f64(),
            weights: named(piece.weights.clone()),
            residual: named(left),
            entries,
        };
        let ended = (self.observer)(&Progress::Finished(&record)).is_break();
        self.stages.push(record);
        // All ranks leave together or not at all.
        if comm::sum(self.comm, if ended { 1.0 } else { 0.0 }) > 0.0 {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Puts U into the embedding, in the scale asked for.
    fn put_columns(&mut self, stage: &Stage, piece: &Piece) {
        let mut u = piece.u.clone();
        u.scale_columns(&piece.column_scales);
        let mut whole = vec![0.0; self.embedding.rows() * u.stride()];
        self.comm.all_gather(u.padded(), &mut whole);
        let view = (stage.kind == Kind::Unique).then(|| self.names[piece.views[0]].to_owned());
        let part = Part { stage: stage.number, kind: stage.kind, view, columns: piece.columns.clone() };
        self.columns_done += part.columns.len();
        self.embedding.set(part, whole.chunks_exact(u.stride()).map(|row| row.iter().copied()));
    }
}

/// What is minimized over several views.
#[derive(Clone, Copy)]
enum Objective {
    /// Their weighted errors.
    Errors,
    /// Their weighted errors, each relative to the view's squared norm.
    RelativeErrors,
    /// The error of their sum, which has this squared norm.
    ErrorOfSum { squared_norm: f64 },
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::linalg::Csr;

    /// The stages of a network whose views are the given matrices.
    fn embed(config: &Config, views: &[(&'static str, Csr<f32>)]) -> Fit {
        let network = Network::from_edges(&[("x", &[("a", "b", 1.0)])]).unwrap();
        let (plan, pool) = (config.plan(views.len()).unwrap(), Pool::new(Some(1)).unwrap());
        let residual = |matrix: &Csr<f32>| Residual::new(Tiles::from_csr(matrix), &pool, &Local);
        let mut observer = |_: &Progress<'_>| ControlFlow::Continue(());
        let mut run = Run {
            config,
            plan: &plan,
            names: views.iter().map(|view| view.0).collect(),
            residuals: views.iter().map(|view| residual(&view.1)).collect(),
            pool: &pool,
            comm: &Local,
            rows: 0..2,
            embedding: Embedding::zeros(network.nodes().clone(), plan.dim),
            stages: Vec::new(),
            warnings: Vec::new(),
            columns_done: 0,
            observer: &mut observer,
        };
        run.all_stages(None).unwrap();
        let Run { embedding, stages, warnings, .. } = run;
        let seconds = Seconds { proximity: 0.0, factorize: 0.0 };
        Fit {
            embedding,
            views: Vec::new(),
            stages,
            warnings,
            seconds,
            threads: 1,
            ranks: 1,
            own: OwnWork::default(),
        }
    }

    #[test]
    fn a_view_of_which_nothing_is_left_changes_nothing() {
        let full = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0f32, 2.0, 0.5, 3.0]);
        let config = Config { dim: 12, stages: 3, max_iter: 5, ..Config::default() };
        let alone = embed(&config, &[("full", full.clone())]);
        let with_empty = embed(&config, &[("empty", Csr::empty(2, 2)), ("full", full)]);
        assert_eq!(alone.embedding, with_empty.embedding);
        assert!(with_empty.stages.iter().all(|record| !record.weights.contains_key("empty")));
    }
}

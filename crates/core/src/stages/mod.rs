//! The whole method: proximity of every view, then stage after stage what is left of it.
//!
//! ```text
//! R_k <- proximity of view k
//! for stage in plan:
//!     consensus: factorise all R_k together      unique: factorise each R_k alone
//!     R_k <- max(R_k - U V_k, 0)
//!     columns of U into the embedding
//! ```

mod consensus;
mod record;
mod split;
mod unique;

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

pub use record::{Fit, OwnWork, Seconds, StageRecord, Stop, ViewRecord};

use crate::comm::{self, Comm, Local, Timed};
use crate::config::{Config, Consensus, Init, Kind, Normalise, Plan, Scale, Stage, StopRule};
use crate::embedding::{Embedding, Part};
use crate::error::{Error, Result};
use crate::linalg::{Real, Tiles};
use crate::network::Network;
use crate::nmf::{self, Factors, Settings, Start, StartMeans, Target, random_start};
use crate::parallel::Pool;
use crate::proximity;
use crate::random::{Key, text_key};
use crate::residual::Residual;

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
        /// Share of all factorisation that is done, by columns.
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
        let plan = self.plan(network.views().len())?;
        let pool = Pool::new(self.threads)?;
        let comm = &Timed::new(comm);
        let began = Instant::now();
        let (rows, residuals) = all_residuals::<f32, _>(self, network, &pool, comm, observer)?;
        let views = ViewRecord::of(network, &residuals);
        let mut own = OwnWork::begin(rows.len(), &residuals);
        let proximity_seconds = began.elapsed().as_secs_f64();
        own.proximity_took(proximity_seconds, comm.traffic());

        let began = Instant::now();
        let embedding = Embedding::zeros(network.nodes().clone(), plan.dim);
        let names = network.views().iter().map(|view| view.name.as_str()).collect();
        let (columns_done, stages, warnings) = (0, Vec::new(), Vec::new());
        let mut run = Run {
            config: self,
            plan: &plan,
            names,
            residuals,
            pool: &pool,
            comm,
            rows,
            embedding,
            stages,
            warnings,
            columns_done,
            observer,
        };
        run.all_stages()?;
        let Run { embedding, stages, mut warnings, .. } = run;
        warnings.extend(record::convergence_warning(&stages, self));
        let seconds = Seconds { proximity: proximity_seconds, factorise: began.elapsed().as_secs_f64() };
        own.stages_took(seconds.factorise, comm.traffic());
        let (threads, ranks) = (pool.threads(), comm.size());
        Ok(Fit { embedding, views, stages, warnings, seconds, threads, ranks, own })
    }
}

/// This rank's rows, and those rows of the proximity matrix of every view.
fn all_residuals<T: Real, C: Comm>(
    config: &Config,
    network: &Network,
    pool: &Pool,
    comm: &C,
    observer: &mut Observer<'_>,
) -> Result<(Range<usize>, Vec<Residual<T>>)> {
    let settings =
        proximity::Settings { window: config.window, negative: config.negative, isolated: config.isolated };
    let nodes = network.nodes().len();
    let rows = split::own_rows::<T, C>(network, settings, pool, comm, observer)?;
    let mut residuals = Vec::new();
    for (index, view) in network.views().iter().enumerate() {
        let mut watch = |done| {
            let views = network.views().len();
            observer(&Progress::Proximity { view: &view.name, index, views, done, rows: rows.len() })
        };
        let found = proximity::row_blocks::<T>(view, settings, rows.clone(), pool, &mut watch);
        let found = comm::agree(comm, found)?;
        let mut tiles = pool.run(|| Tiles::from_blocks(rows.len(), nodes, found.blocks));
        if config.normalise == Normalise::Max {
            let largest = comm::max(comm, tiles.max().to_f64());
            if largest > 0.0 {
                tiles.scale(T::from_f64(1.0 / largest));
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
struct Run<'a, 'o, T, C> {
    config: &'a Config,
    plan: &'a Plan,
    names: Vec<&'a str>,
    residuals: Vec<Residual<T>>,
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

impl<T: Real, C: Comm> Run<'_, '_, T, C> {
    fn all_stages(&mut self) -> Result<()> {
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
            match stage.kind {
                Kind::Consensus => self.consensus_stage(stage)?,
                Kind::Unique => self.unique_stage(stage)?,
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
    fn start(&self, stage: &Stage, names: &[&str], width: usize, means: &[f64]) -> Start<T> {
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

    /// Factorises what is left of the given views, with the observer looking on.
    fn solve(
        &mut self,
        stage: &Stage,
        views: &[usize],
        objective: Objective,
        start: Start<T>,
        settings: &Settings,
    ) -> Result<Factors<T>> {
        let view = (stage.kind == Kind::Unique).then(|| self.names[views[0]]);
        let (stages, width, dim) = (self.plan.stages.len(), start.u.width(), self.plan.dim);
        let (columns_done, observer) = (self.columns_done, &mut *self.observer);
        let mut watch = |now: nmf::Iteration| {
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

    /// What is known of the given views before a stage changes them.
    fn before(&self, views: &[usize]) -> Before {
        let entries = views.iter().map(|&view| (self.names[view].to_owned(), self.residuals[view].entries));
        Before { began: Instant::now(), entries: entries.collect() }
    }

    /// Takes note of a stage and puts its U into the embedding, in the scale asked for.
    fn keep(&mut self, mut factors: Factors<T>, done: Done<'_>) -> Result<()> {
        let record = self.record(&factors, &done);
        factors.u.scale_columns(&column_scales(&factors, self.config.scale));
        let mut whole = vec![T::ZERO; self.embedding.rows() * factors.u.stride()];
        self.comm.all_gather(factors.u.padded(), &mut whole);
        let rows = whole.chunks_exact(factors.u.stride());
        let part =
            Part { stage: record.stage, kind: record.kind, view: record.view.clone(), columns: done.columns };
        self.columns_done += part.columns.len();
        self.embedding.set(part, rows.map(|row| row.iter().map(|x| x.to_f64() as f32)));
        let ended = (self.observer)(&Progress::Finished(&record)).is_break();
        self.stages.push(record);
        // All ranks leave together or not at all.
        if comm::sum(self.comm, if ended { 1.0 } else { 0.0 }) > 0.0 {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }

    fn record(&self, factors: &Factors<T>, done: &Done<'_>) -> StageRecord {
        let name = |&view: &usize| self.names[view].to_owned();
        let share_left = |view: &usize| (name(view), self.residuals[*view].share_left());
        StageRecord {
            stage: done.stage.number,
            kind: done.stage.kind,
            consensus: done.consensus,
            view: (done.stage.kind == Kind::Unique).then(|| name(&done.views[0])),
            columns: [done.columns.start, done.columns.end],
            iterations: factors.objective.len(),
            converged: factors.converged,
            seconds: done.before.began.elapsed().as_secs_f64(),
            weights: done.views.iter().map(name).zip(done.weights.iter().copied()).collect(),
            residual: done.views.iter().map(share_left).collect(),
            entries: done.before.entries.clone(),
        }
    }
}

/// What is minimised over several views.
#[derive(Clone, Copy)]
enum Objective {
    /// Their weighted errors.
    Errors,
    /// Their weighted errors, each relative to the view's squared norm.
    RelativeErrors,
    /// The error of their sum, which has this squared norm.
    ErrorOfSum { squared_norm: f64 },
}

/// Views before a stage.
struct Before {
    began: Instant,
    entries: BTreeMap<String, usize>,
}

/// A stage (in a unique stage, one view of it) whose factors are found and whose residuals are taken.
struct Done<'a> {
    stage: &'a Stage,
    views: &'a [usize],
    columns: Range<usize>,
    consensus: Option<Consensus>,
    weights: Vec<f64>,
    before: Before,
}

/// What each column of U is multiplied with. A column without a counterpart in any V says nothing and becomes 0.
fn column_scales<T>(factors: &Factors<T>, scale: Scale) -> Vec<f64> {
    let views = factors.v_norms.len() as f64;
    let of_column = |(column, &u_norm): (usize, &f64)| {
        let v_norm =
            (factors.v_norms.iter().map(|norms| norms[column] * norms[column]).sum::<f64>() / views).sqrt();
        match scale {
            _ if v_norm == 0.0 || u_norm == 0.0 => 0.0,
            Scale::Raw => 1.0,
            Scale::Balanced => (v_norm / u_norm).sqrt(),
        }
    };
    factors.u_norms.iter().enumerate().map(of_column).collect()
}

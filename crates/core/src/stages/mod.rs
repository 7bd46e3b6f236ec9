//! The method: the proximity of every view, then one stage after the other on its residual.
//!
//! ```text
//! R_k <- proximity of view k
//! for stage in plan:
//!     consensus: factorize all R_k together      unique: factorize each R_k alone
//!     R_k <- max(R_k - U V_k, 0)
//!     columns of U into the embedding
//! ```

mod auto;
mod consensus;
mod prepared;
mod row_split;
mod unique;
mod warnings;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::checkpoint::Checkpoints;
use crate::comm::{self, Comm, Local, Timed, Traffic};
use crate::method::{
    self, Capabilities, Fit, Found, MemoryLike, Method, Observer, Options, OwnWork, Progress, Seconds,
    StageRecord, StageWork, Task,
};
use crate::mnmf::{Consensus, Init, Mnmf, Normalize, Plan, Stage};
use crate::nmf::{self, Factors, Settings, Start, StartMeans, StopRule, Target, random_start};
use crate::piece::{FittedFactors, FittedPiece, Piece};
use crate::preset::Preset;
use crate::residual::Residual;
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Tiles;
use manyview_base::message::{Warning, option, option_value};
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key};
use manyview_data::embedding::{Embedding, Kind, Part};
use manyview_data::network::Network;
use warnings::ZeroColumns;

pub(crate) use prepared::{About, Prepared};

/// Limit of the paper's start values.
const UNIFORM_LIMIT: f64 = 0.02;

impl Mnmf {
    /// Embeds a network, with seed 0 on all cores.
    pub fn fit(&self, network: &Network) -> Result<Fit> {
        method::fit(self, "mnmf", network, &Options::default(), &mut |_| ControlFlow::Continue(()))
    }
}

impl Method for Mnmf {
    const CAPABILITIES: Capabilities = Capabilities::STAGED;

    fn of_preset(preset: Preset) -> Option<Self> {
        Some(Mnmf::preset(preset))
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn check(&self) -> Result<()> {
        Mnmf::check(self)
    }

    fn complete(&mut self, before: &Self, given: &[&str]) {
        Mnmf::complete(self, before, given);
    }

    fn resolved(&self, views: usize) -> Self {
        Mnmf::resolved(self, views)
    }

    fn memory_like(&self, _: usize) -> Option<MemoryLike> {
        Some(MemoryLike { mnmf: self.clone(), each_view: false })
    }

    fn run(&self, task: &mut Task<'_, '_>) -> Result<Found> {
        self.run_on(task, &Local, None)
    }

    /// Every rank passes the same network and settings, and gets the whole result.
    ///
    /// Stages that the checkpoints have are not computed again, and the result has the same bits as if they had been.
    /// Rank 0 writes; all ranks read, and their number may differ from that of the run before.
    fn run_on(
        &self,
        task: &mut Task<'_, '_>,
        comm: &dyn Comm,
        checkpoints: Option<&Checkpoints>,
    ) -> Result<Found> {
        let views = task.network.views().len();
        self.check()?;
        let plan = (!self.auto).then(|| self.plan(views)).transpose()?;
        if self.auto && checkpoints.is_some() {
            return Err(Error::config(format!(
                "{} does not support checkpoints, because its stages are not known before the run",
                option("auto")
            )));
        }
        if self.init == Init::Svd && comm.size() > 1 {
            let init = option_value("init", Init::Svd.name());
            return Err(Error::config(format!(
                "{init} needs one process; use another {} on several ranks",
                option("init")
            )));
        }
        let comm = &Timed::new(comm);
        let prepared = Prepared::new(self, task, comm)?;
        let Prepared { about, residuals } = prepared;
        let store = checkpoints.map(|kept| kept as &dyn StageStore);
        if let Some(plan) = plan {
            return run_plan(self, &plan, &about, residuals, task, comm, store);
        }
        let (settings, chosen) = auto::choose(self, &about, &residuals, task, comm)?;
        let found = run_plan(&settings, &settings.plan(views)?, &about, residuals, task, comm, store)?;
        Ok(Found { chosen: Some(chosen), ..found })
    }
}

/// Where finished stages come from, and where they go.
pub(crate) trait StageStore {
    /// The pieces of the first stages, as far as they are known; the rows of this rank.
    fn read(&self, rows: &Range<usize>, comm: &dyn Comm) -> Result<Vec<Vec<Piece>>>;

    /// Keeps a stage.
    fn write(&self, stage: usize, pieces: &[Piece], nodes: usize, comm: &dyn Comm) -> Result<()>;
}

impl StageStore for Checkpoints {
    fn read(&self, rows: &Range<usize>, comm: &dyn Comm) -> Result<Vec<Vec<Piece>>> {
        Checkpoints::read(self, rows, comm)
    }

    fn write(&self, stage: usize, pieces: &[Piece], nodes: usize, comm: &dyn Comm) -> Result<()> {
        Checkpoints::write(self, stage, pieces, nodes, comm)
    }
}

/// Runs the stages of a plan on proximity matrices.
pub(crate) fn run_plan(
    config: &Mnmf,
    plan: &Plan,
    about: &About,
    residuals: Vec<Residual<f32>>,
    task: &mut Task<'_, '_>,
    comm: &Timed<'_>,
    store: Option<&dyn StageStore>,
) -> Result<Found> {
    let (network, pool, seed) = (task.network, task.pool, task.seed);
    let (began, before) = (Instant::now(), comm.traffic());
    let mut run = Run {
        config,
        seed,
        plan,
        names: about.names(),
        views: about.views.len(),
        sampled: about.is_sampled(),
        unique_columns: vec![0; residuals.len()],
        residuals,
        pool,
        comm,
        rows: about.rows.clone(),
        embedding: Embedding::zeros(network.nodes().clone(), plan.dim),
        stages: Vec::new(),
        warnings: Vec::new(),
        zero_columns: Vec::new(),
        columns_done: 0,
        kept: task.keeps_factors.then(Vec::new),
        observer: task.observer(),
    };
    run.all_stages(store)?;
    let Run { embedding, stages: records, mut warnings, zero_columns, kept, .. } = run;
    warnings.extend(warnings::zero_columns(&zero_columns, config));
    warnings.extend(warnings::not_converged(&records, &zero_columns, config));
    let seconds = Seconds { proximity: about.seconds, factorize: began.elapsed().as_secs_f64(), total: 0.0 };
    let own = own_work(about, seconds, before, comm.traffic());
    let stages =
        Some(StageWork { records, views: about.views.clone(), joint: about.joint.clone(), seconds, own });
    let (vectors, parts) = embedding.into_vectors();
    let factors = kept.map(|pieces| FittedFactors { matrix_scales: about.matrix_scales.clone(), pieces });
    Ok(Found { vectors, parts, warnings, stages, chosen: None, factors })
}

fn own_work(about: &About, seconds: Seconds, before: Traffic, traffic: Traffic) -> OwnWork {
    OwnWork {
        rows: about.rows.len(),
        entries: about.own_entries,
        proximity: seconds.proximity - before.seconds,
        pass: seconds.factorize - (traffic.seconds - before.seconds),
        traffic,
    }
}

/// The state of a fit between stages.
struct Run<'a, 'o> {
    config: &'a Mnmf,
    seed: u64,
    plan: &'a Plan,
    /// The names of what is factorized: the views, and their union after them if it takes part.
    names: Vec<String>,
    /// The number of views without their union.
    views: usize,
    /// Whether the matrices are sampled.
    sampled: bool,
    residuals: Vec<Residual<f32>>,
    /// The columns of each of them alone, so far.
    unique_columns: Vec<usize>,
    pool: &'a Pool,
    comm: &'a dyn Comm,
    /// This rank's rows.
    rows: Range<usize>,
    embedding: Embedding,
    stages: Vec<StageRecord>,
    warnings: Vec<Warning>,
    zero_columns: Vec<ZeroColumns>,
    columns_done: usize,
    /// The pieces so far, if they are kept.
    kept: Option<Vec<FittedPiece>>,
    observer: &'a mut Observer<'o>,
}

impl Run<'_, '_> {
    fn all_stages(&mut self, store: Option<&dyn StageStore>) -> Result<()> {
        let mut finished = store.map_or(Ok(Vec::new()), |kept| kept.read(&self.rows, self.comm))?.into_iter();
        for stage in &self.plan.stages {
            if self.residuals.iter().all(Residual::is_empty) {
                self.warnings.push(warnings::fully_explained(self.plan, stage.number));
                break;
            }
            if let Some(pieces) = finished.next() {
                pieces.iter().try_for_each(|piece| self.apply(stage, piece))?;
                continue;
            }
            let pieces = match stage.kind {
                Kind::Consensus => self.consensus_stage(stage)?,
                Kind::Unique | Kind::Joint => self.unique_stage(stage)?,
            };
            if let Some(store) = store {
                store.write(stage.number, &pieces, self.embedding.rows(), self.comm)?;
            }
        }
        Ok(())
    }

    /// The views whose residual is not empty.
    fn active(&self) -> Vec<usize> {
        (0..self.residuals.len()).filter(|&view| !self.residuals[view].is_empty()).collect()
    }

    /// What a factorization of these views looks for in a stage.
    fn kind_of(&self, stage: &Stage, views: &[usize]) -> Kind {
        if stage.kind == Kind::Unique && views == [self.views] { Kind::Joint } else { stage.kind }
    }

    fn settings(&self, kind: Kind) -> Settings {
        let config = self.config;
        let (solver, max_iter, stop) = match kind {
            Kind::Consensus => (config.solver, config.max_iter, config.stop),
            Kind::Unique | Kind::Joint => {
                (config.unique_solver(), config.unique_max_iter(), StopRule::Decrease)
            }
        };
        // Sampled matrices are mostly noise.
        let stop = if self.sampled && stop == StopRule::Decrease { StopRule::Explained } else { stop };
        let epsilon = if kind == Kind::Consensus { config.epsilon } else { 0.0 };
        Settings { solver, gamma: config.gamma, max_iter, tol: config.tol(solver), stop, epsilon }
    }

    /// Initial factors for the given views, whose targets (one for all when pooled) have these names and means.
    fn start(
        &mut self,
        stage: &Stage,
        views: &[usize],
        names: &[&str],
        width: usize,
        means: &[f64],
    ) -> Result<Start<f32>> {
        let random = self.random_start(stage, names, width, means);
        if self.config.init == Init::Svd { self.singular_start(views, means, random) } else { Ok(random) }
    }

    /// A start from singular vectors, which the observer can end.
    fn singular_start(&mut self, views: &[usize], means: &[f64], random: Start<f32>) -> Result<Start<f32>> {
        let width = random.u.width();
        let parts: Vec<&Tiles<f32>> = views.iter().map(|&view| &self.residuals[view].tiles).collect();
        let (done, columns_done, dim) = (AtomicU64::new(0f64.to_bits()), self.columns_done, self.plan.dim);
        let work = |canceled: &AtomicBool| {
            nmf::singular_start(&parts, means, random, &|share| {
                done.store(share.to_bits(), Ordering::Relaxed);
                !canceled.load(Ordering::Relaxed)
            })
        };
        let observer = &mut *self.observer;
        let found = self.pool.run_watched(work, &mut || -> ControlFlow<()> {
            let share = f64::from_bits(done.load(Ordering::Relaxed)) * width as f64;
            let done = (columns_done as f64 + share) / dim as f64;
            observer(&Progress::Working { doing: "singular vectors", view: None, done })
        });
        found.ok_or(Error::Interrupted)
    }

    fn random_start(&self, stage: &Stage, names: &[&str], width: usize, means: &[f64]) -> Start<f32> {
        let means = match self.config.init {
            Init::Uniform => StartMeans::below(UNIFORM_LIMIT, means.len()),
            Init::Scaled | Init::Svd | Init::Nmf => StartMeans::fitting(means, width),
        };
        // The published code starts every stage and view from the same pattern.
        let same_everywhere = self.config.init == Init::Nmf;
        let number = if same_everywhere { 0 } else { stage.number as u64 };
        let name_key = |name: &&str| if same_everywhere { 0 } else { text_key(name) };
        let key = Key::new(self.seed).with(number);
        let own_u = if stage.kind == Kind::Unique { name_key(&names[0]) } else { 0 };
        let v_keys: Vec<Key> = names.iter().map(|name| key.with(1).with(name_key(name))).collect();
        let nodes = self.residuals[0].tiles.cols();
        random_start(&means, width, self.rows.clone(), nodes, key.with(0).with(own_u), &v_keys)
    }

    /// Factorizes the residuals of the given views; the observer receives the progress.
    fn solve(
        &mut self,
        stage: &Stage,
        views: &[usize],
        objective: Objective<'_>,
        start: Start<f32>,
        settings: &Settings,
    ) -> Result<Factors<f32>> {
        let kind = self.kind_of(stage, views);
        let view = (kind == Kind::Unique).then(|| self.names[views[0]].as_str());
        let (stages, width, dim) = (self.plan.stages.len(), start.u.width(), self.plan.dim);
        let (columns_done, observer) = (self.columns_done, &mut *self.observer);
        let mut watch = |now: nmf::Iteration<'_>| {
            let share = now.iteration as f64 / settings.max_iter as f64;
            observer(&Progress::Iteration {
                stage: stage.number,
                stages,
                kind,
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
            Objective::ErrorOfSum { sum, squared_norm } => vec![Target::new(sum, squared_norm)],
        };
        nmf::factorize_watched(&targets, start, settings, self.pool, self.comm, &mut watch)
    }

    /// Subtracts a piece from its views, writes its columns to the embedding, and records the stage.
    fn apply(&mut self, stage: &Stage, piece: &Piece) -> Result<()> {
        let began = Instant::now();
        let kind = self.kind_of(stage, &piece.views);
        let names: Vec<String> = piece.views.iter().map(|&view| self.names[view].clone()).collect();
        let named = |numbers: Vec<f64>| names.iter().cloned().zip(numbers).collect();
        let entries = piece.views.iter().map(|&view| self.residuals[view].entries);
        let entries = names.iter().cloned().zip(entries).collect();
        self.keep(stage, kind, piece);
        if stage.kind == Kind::Unique {
            self.unique_columns[piece.views[0]] += piece.columns.len();
        }
        for (at, (&view, &scale)) in piece.views.iter().zip(&piece.scales).enumerate() {
            // The views of a pooled stage share one V.
            let v_t = piece.v_t.get(at).unwrap_or(&piece.v_t[0]);
            self.residuals[view].subtract(&piece.u, v_t, scale, self.pool, self.comm);
        }
        self.put_columns(stage, piece);
        let left = piece.views.iter().map(|&view| self.residuals[view].share_left()).collect();
        let record = StageRecord {
            stage: stage.number,
            kind,
            consensus: piece.consensus,
            view: (kind == Kind::Unique).then(|| names[0].clone()),
            columns: [piece.columns.start, piece.columns.end],
            iterations: piece.iterations,
            converged: piece.converged,
            seconds: piece.seconds + began.elapsed().as_secs_f64(),
            weights: named(piece.weights.clone()),
            residual: named(left),
            entries,
        };
        self.zero_columns.extend(ZeroColumns::of(piece, stage.number, record.view.as_deref()));
        let ended = (self.observer)(&Progress::StageFinished(&record)).is_break();
        self.stages.push(record);
        // All ranks stop together.
        if comm::sum(self.comm, if ended { 1.0 } else { 0.0 }) > 0.0 {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Keeps a piece that is not subtracted yet, if pieces are kept.
    fn keep(&mut self, stage: &Stage, kind: Kind, piece: &Piece) {
        if self.kept.is_none() {
            return;
        }
        let shares = match piece.consensus {
            Some(Consensus::Shared) => {
                let unit = |&view: &usize| match self.config.normalize {
                    Normalize::Residual => self.residuals[view].squared_norm,
                    Normalize::None | Normalize::Max => 1.0,
                };
                let units: Vec<f64> = piece.views.iter().map(unit).collect();
                nmf::view_shares(&piece.weights, &units, &self.settings(kind))
            }
            Some(Consensus::Pooled) | None => vec![1.0; piece.views.len()],
        };
        let piece = piece.gathered(self.embedding.rows(), self.comm);
        let fitted = FittedPiece { stage: stage.number, piece, shares, explained: Vec::new() };
        self.kept.as_mut().expect("pieces are kept").push(fitted);
    }

    /// Writes U to the embedding, in the chosen scale.
    fn put_columns(&mut self, stage: &Stage, piece: &Piece) {
        let mut u = piece.u.clone();
        u.scale_columns(&piece.column_scales);
        let mut whole = vec![0.0; self.embedding.rows() * u.stride()];
        comm::all_gather(self.comm, u.padded(), &mut whole);
        let kind = self.kind_of(stage, &piece.views);
        let view = (kind == Kind::Unique).then(|| self.names[piece.views[0]].clone());
        let part = Part { stage: stage.number, kind, view, columns: piece.columns.clone() };
        self.columns_done += part.columns.len();
        self.embedding.set(part, whole.chunks_exact(u.stride()).map(|row| row.iter().copied()));
    }
}

/// The objective over several views.
#[derive(Clone, Copy)]
enum Objective<'a> {
    /// Their weighted errors.
    Errors,
    /// Their weighted errors, each relative to the view's squared norm.
    RelativeErrors,
    /// The error of their sum, which is this matrix with this squared norm.
    ErrorOfSum { sum: &'a Tiles<f32>, squared_norm: f64 },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mnmf::Order;
    use manyview_base::linalg::Csr;

    /// The stages of a network whose views are the given matrices.
    fn embed(
        config: &Mnmf,
        views: &[(&'static str, Csr<f32>)],
    ) -> (Embedding, Vec<StageRecord>, Vec<Warning>) {
        let network = Network::from_edges(&[("x", &[("a", "b", 1.0)])]).unwrap();
        let (plan, pool) = (config.plan(views.len()).unwrap(), Pool::new(Some(1)).unwrap());
        let residual = |matrix: &Csr<f32>| Residual::new(Tiles::from_csr(matrix), None, &pool, &Local);
        let mut observer = |_: &Progress<'_>| ControlFlow::Continue(());
        let mut run = Run {
            config,
            seed: 0,
            plan: &plan,
            names: views.iter().map(|view| view.0.to_owned()).collect(),
            views: views.len(),
            sampled: false,
            unique_columns: vec![0; views.len()],
            residuals: views.iter().map(|view| residual(&view.1)).collect(),
            pool: &pool,
            comm: &Local,
            rows: 0..2,
            embedding: Embedding::zeros(network.nodes().clone(), plan.dim),
            stages: Vec::new(),
            warnings: Vec::new(),
            zero_columns: Vec::new(),
            columns_done: 0,
            kept: None,
            observer: &mut observer,
        };
        run.all_stages(None).unwrap();
        (run.embedding, run.stages, run.warnings)
    }

    #[test]
    fn a_view_of_which_nothing_is_left_changes_nothing() {
        let full = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0f32, 2.0, 0.5, 3.0]);
        let config = Mnmf { dim: 12, stages: 3, max_iter: 5, ..Mnmf::default() };
        let alone = embed(&config, &[("full", full.clone())]);
        let with_empty = embed(&config, &[("empty", Csr::empty(2, 2)), ("full", full)]);
        assert_eq!(alone.0, with_empty.0);
        assert!(with_empty.1.iter().all(|record| !record.weights.contains_key("empty")));
    }

    /// One entry is explained exactly by one column, so nothing is left for the later stages.
    #[test]
    fn columns_named_as_zero_are_zero_in_both_orders() {
        let one = || Csr::new(2, vec![0, 1, 1], vec![1], vec![2.0f32]);
        for order in Order::ALL {
            let config = Mnmf { dim: 8, stages: 4, consensus_stages: Some(2), order, ..Mnmf::default() };
            let unique_first = order == Order::UniqueFirst;
            let (embedding, _, warnings) = embed(&config, &[("only", one())]);
            let told = warnings[0].message.to_string();
            let named = if unique_first { "columns 0-3 and 6-7 are zero" } else { "columns 2-7 are zero" };
            assert!(told.contains(named), "{told}");
            let zero = |col: usize| (0..2).all(|row| embedding.row(row)[col] == 0.0);
            let used = if unique_first { 4..6 } else { 0..2 };
            assert!((0..8).filter(|col| !used.contains(col)).all(zero));
            assert!(!used.clone().all(zero));
        }
    }
}

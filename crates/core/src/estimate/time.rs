//! How long a fit may take: a few iterations on some rows, extrapolated. Rough, since nobody knows how many
//! iterations a stage will need.

use std::ops::ControlFlow;
use std::time::Instant;

use super::Estimate;
use crate::comm::Local;
use crate::method::{Observer, Progress};
use crate::mnmf::Mnmf;
use crate::nmf::{self, Settings, StartMeans, Target, random_start};
use crate::nmf::{Solver, StopRule};
use crate::proximity;
use manyview_base::error::Result;
use manyview_base::linalg::{BLOCK_ROWS, Tiles};
use manyview_base::parallel::Pool;
use manyview_base::random::Key;
use manyview_data::embedding::Kind;
use manyview_data::network::Network;

/// Iterations of `hals` until one gains less than 1e-4, on the networks we know: 26 to 44 in consensus stages, 7 to
/// 58 in unique ones.
const TYPICAL_CONSENSUS: usize = 36;
const TYPICAL_UNIQUE: usize = 24;

/// `mu` takes so many times as many.
const MU_PER_HALS: usize = 4;

/// What a stage costs besides, in iterations: taking the factors away, and norms and scales of sums.
const BESIDES_CONSENSUS: f64 = 10.0;
const BESIDES_UNIQUE: f64 = 4.0;

/// Share of the entries that a stage leaves, on the same networks.
const LEFT_BY_CONSENSUS: f64 = 0.68;
const LEFT_BY_UNIQUE: f64 = 0.9;

/// Rows of each view on which an iteration is timed, twice: half of them, and all.
const TIMED_BLOCKS: usize = 4;
const TIMED_ITERATIONS: usize = 10;

/// How long a fit may take.
#[derive(Clone, Debug)]
pub struct ExpectedTime {
    /// Seconds for the proximity matrices.
    pub proximity: f64,
    /// The stages, in the order in which they run.
    pub stages: Vec<StageTime>,
}

/// How long a stage may take.
#[derive(Clone, Copy, Debug)]
pub struct StageTime {
    /// Iterations that are assumed.
    pub iterations: usize,
    /// Seconds.
    pub seconds: f64,
}

impl ExpectedTime {
    /// Seconds for everything but reading and writing.
    pub fn total(&self) -> f64 {
        self.proximity + self.stages.iter().map(|stage| stage.seconds).sum::<f64>()
    }
}

/// Time of an iteration over all views together, by how many entries they have.
#[derive(Clone, Copy)]
struct Line {
    fixed: f64,
    per_entry: f64,
}

impl Estimate {
    /// Guesses the time of [`Mnmf::fit`] from a few iterations on some rows, within about a second.
    pub fn time(
        &self,
        config: &Mnmf,
        network: &Network,
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<ExpectedTime> {
        let plan = config.plan(network.views().len())?;
        let rows = some_rows(config, network, pool, observer)?;
        let views = network.views().len();
        let mut lines: Vec<((usize, Solver), Line)> = Vec::new();
        let (mut entries, mut stages) = (self.entries(), Vec::new());
        for stage in &plan.stages {
            let unique = stage.kind == Kind::Unique;
            // A unique stage gives each view some of its columns, and goes over each view's V apart.
            let parts = if unique { views } else { 1 };
            let width = stage.columns.len().div_ceil(parts);
            let (solver, most) = match stage.kind {
                Kind::Consensus => (config.solver, config.max_iter),
                Kind::Unique => (config.unique_solver(), config.unique_max_iter()),
            };
            let line = match lines.iter().find(|(known, _)| *known == (width, solver)) {
                Some((_, line)) => *line,
                None => {
                    let line = time_iterations(&rows, width, solver, pool)?;
                    lines.push(((width, solver), line));
                    line
                }
            };
            let typical = if unique { TYPICAL_UNIQUE } else { TYPICAL_CONSENSUS };
            let slower = if solver == Solver::Mu { MU_PER_HALS } else { 1 };
            let iterations = (slower * typical).min(most);
            let once = parts as f64 * line.fixed + entries * line.per_entry;
            let besides = if unique { BESIDES_UNIQUE } else { BESIDES_CONSENSUS };
            stages.push(StageTime { iterations, seconds: (iterations as f64 + besides) * once });
            entries *= if unique { LEFT_BY_UNIQUE } else { LEFT_BY_CONSENSUS };
        }
        Ok(ExpectedTime { proximity: self.proximity_seconds(), stages })
    }
}

/// Rows from the middle of every view, in two sizes.
fn some_rows(
    config: &Mnmf,
    network: &Network,
    pool: &Pool,
    observer: &mut Observer<'_>,
) -> Result<[Vec<Tiles<f32>>; 2]> {
    let nodes = network.nodes().len();
    let length = (TIMED_BLOCKS * BLOCK_ROWS).min(nodes);
    let first = (nodes - length) / 2;
    let (mut half, mut whole) = (Vec::new(), Vec::new());
    for (index, view) in network.views().iter().enumerate() {
        let mut watch = |done: usize| {
            let done = (index as f64 + done as f64 / length.max(1) as f64) / network.views().len() as f64;
            observer(&Progress::Working { doing: "estimate", view: Some(&view.name), done })
        };
        let rows = first..first + length;
        let found = proximity::row_blocks(view, config.proximity, rows, pool, &mut watch)?;
        let some = found.blocks[..found.blocks.len().div_ceil(2)].to_vec();
        let in_tiles = |rows, blocks| pool.run(|| Tiles::from_blocks(rows, nodes, blocks));
        half.push(in_tiles(some.iter().map(|block| block.rows()).sum(), some));
        whole.push(in_tiles(length, found.blocks));
    }
    Ok([half, whole])
}

fn time_iterations(rows: &[Vec<Tiles<f32>>; 2], width: usize, solver: Solver, pool: &Pool) -> Result<Line> {
    let settings = Settings {
        solver,
        gamma: 1.0,
        max_iter: TIMED_ITERATIONS,
        tol: 0.0,
        stop: StopRule::Decrease,
        epsilon: 0.0,
    };
    let mut measured = Vec::new();
    for tiles in rows {
        let entries: usize = tiles.iter().map(Tiles::entries).sum();
        let squared_norm = pool.run(|| tiles.iter().map(Tiles::squared_norm).sum());
        let target = Target::sum_of(tiles.iter().collect(), squared_norm);
        let (key, nodes) = (Key::new(0), tiles[0].cols());
        let start =
            random_start(&StartMeans::below(0.02, 1), width, 0..tiles[0].rows(), nodes, key, &[key.with(1)]);
        let (mut last, mut fastest) = (Instant::now(), f64::INFINITY);
        nmf::factorize(&[target], start, &settings, pool, &Local, &mut |_| {
            fastest = fastest.min(last.elapsed().as_secs_f64());
            last = Instant::now();
            ControlFlow::Continue(())
        })?;
        measured.push((entries as f64, fastest));
    }
    let ((fewer, short), (more, long)) = (measured[0], measured[1]);
    // Small networks are timed whole, and noise must not make time run backwards.
    let slope = if more > fewer { (long - short).max(0.0) / (more - fewer) } else { 0.0 };
    let per_entry = slope.max(0.05 * long / more.max(1.0));
    Ok(Line { fixed: (long - more * per_entry).max(0.0), per_entry })
}

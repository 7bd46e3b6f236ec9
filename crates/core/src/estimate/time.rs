//! Estimates the time of a fit from a few iterations on some rows. The estimate is rough, since the number of iterations
//! of a stage is not known in advance.

use std::ops::ControlFlow;
use std::time::Instant;

use super::Estimate;
use crate::comm::Local;
use crate::method::{Observer, Progress};
use crate::mnmf::Mnmf;
use crate::nmf::{self, Settings, StartMeans, Target, random_start};
use crate::nmf::{Solver, StopRule};
use crate::proximity::{self, How, Keep, Proximity};
use manyview_base::error::Result;
use manyview_base::linalg::{BLOCK_ROWS, Tiles};
use manyview_base::parallel::Pool;
use manyview_base::random::Key;
use manyview_data::embedding::Kind;
use manyview_data::network::{Network, View};

/// The number of iterations of a solver with its default `tol` on our test networks, in consensus and unique stages.
fn typical_iterations(solver: Solver) -> [usize; 2] {
    match solver {
        // With the start on a sample of rows, which takes as long as about two iterations.
        Solver::Accelerated => [10, 8],
        Solver::Hals => [36, 24],
        Solver::Mu => [144, 96],
    }
}

/// The other costs of a stage, in iterations: subtracting the factors, and norms and scales of sums.
const BESIDES_CONSENSUS: f64 = 10.0;
const BESIDES_UNIQUE: f64 = 4.0;

/// The share of the entries that is left after a stage, on the same networks.
const LEFT_BY_CONSENSUS: f64 = 0.68;
const LEFT_BY_UNIQUE: f64 = 0.9;

/// Rows of each view on which an iteration is timed, twice: half of them, and all.
const TIMED_BLOCKS: usize = 4;
const TIMED_ITERATIONS: usize = 10;

/// The expected time of a fit.
#[derive(Clone, Debug)]
pub struct ExpectedTime {
    /// Seconds for the proximity matrices.
    pub proximity: f64,
    /// The stages, in the order in which they run.
    pub stages: Vec<StageTime>,
}

/// The expected time of a stage.
#[derive(Clone, Copy, Debug)]
pub struct StageTime {
    /// The assumed number of iterations.
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

/// The lines that were measured, by width and solver.
#[derive(Default)]
struct Lines(Vec<((usize, Solver), Line)>);

impl Lines {
    fn get(&mut self, width: usize, solver: Solver, measure: impl FnOnce() -> Result<Line>) -> Result<Line> {
        if let Some((_, line)) = self.0.iter().find(|(known, _)| *known == (width, solver)) {
            return Ok(*line);
        }
        let line = measure()?;
        self.0.push(((width, solver), line));
        Ok(line)
    }
}

impl Estimate {
    /// Estimates the time of [`Mnmf::fit`] from a few iterations on some rows; takes about a second.
    pub fn time(
        &self,
        config: &Mnmf,
        network: &Network,
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<ExpectedTime> {
        let plan = config.plan(network.views().len())?;
        let all_views: Vec<&View> = network.views().iter().chain(&self.union).collect();
        let rows = some_rows(config, self.proximity.how, &all_views, pool, observer)?;
        let views = all_views.len();
        let mut lines = Lines::default();
        let (mut entries, mut stages) = (self.entries(), Vec::new());
        for stage in &plan.stages {
            let unique = stage.kind == Kind::Unique;
            // A unique stage divides its columns among the views and processes each view separately.
            let parts = if unique { views } else { 1 };
            let width = stage.columns.len().div_ceil(parts);
            let (solver, most) = match stage.kind {
                Kind::Consensus => (config.solver, config.max_iter),
                Kind::Unique | Kind::Joint => (config.unique_solver(), config.unique_max_iter()),
            };
            let line = lines.get(width, solver, || time_iterations(&rows, width, solver, pool))?;
            let iterations = typical_iterations(solver)[usize::from(unique)].min(most);
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
    how: How,
    views: &[&View],
    pool: &Pool,
    observer: &mut Observer<'_>,
) -> Result<[Vec<Tiles<f32>>; 2]> {
    let nodes = views[0].adjacency.rows();
    let length = (TIMED_BLOCKS * BLOCK_ROWS).min(nodes);
    let first = (nodes - length) / 2;
    let (mut half, mut whole) = (Vec::new(), Vec::new());
    for (index, view) in views.iter().enumerate() {
        let mut watch = |done: usize| {
            let done = (index as f64 + done as f64 / length.max(1) as f64) / views.len() as f64;
            observer(&Progress::Working { doing: "estimate", view: Some(&view.name), done })
        };
        let rows = first..first + length;
        let found = match how {
            How::Exact => {
                let exact = Proximity::exact(config.proximity);
                proximity::row_blocks(view, exact, rows, Keep::All, pool, &mut watch)?
            }
            How::Sampled(walks) => {
                proximity::rows_from_their_nodes(view, config.proximity, walks, rows, pool)?
            }
        };
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
        let squared_norm = pool.run(|| tiles.iter().map(|tiles| tiles.sums()[1]).sum());
        let target = Target::sum_of(tiles.iter().collect(), squared_norm);
        let (key, nodes) = (Key::new(0), tiles[0].cols());
        let start =
            random_start(&StartMeans::below(0.02, 1), width, 0..tiles[0].rows(), nodes, key, &[key.with(1)]);
        let (mut last, mut fastest) = (Instant::now(), f64::INFINITY);
        nmf::factorize_watched(&[target], start, &settings, pool, &Local, &mut |_| {
            fastest = fastest.min(last.elapsed().as_secs_f64());
            last = Instant::now();
            ControlFlow::Continue(())
        })?;
        measured.push((entries as f64, fastest));
    }
    let ((fewer, short), (more, long)) = (measured[0], measured[1]);
    // Small networks are timed as a whole, and noise must not make the slope negative.
    let slope = if more > fewer { (long - short).max(0.0) / (more - fewer) } else { 0.0 };
    let per_entry = slope.max(0.05 * long / more.max(1.0));
    Ok(Line { fixed: (long - more * per_entry).max(0.0), per_entry })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_timed_for_each_width_and_solver() {
        let mut lines = Lines::default();
        let mut measured = Vec::new();
        for (width, solver) in
            [(8, Solver::Hals), (8, Solver::Mu), (8, Solver::Hals), (4, Solver::Mu), (8, Solver::Mu)]
        {
            let slope = width as f64 + if solver == Solver::Mu { 0.5 } else { 0.0 };
            let line = lines.get(width, solver, || {
                measured.push((width, solver));
                Ok(Line { fixed: 0.0, per_entry: slope })
            });
            assert_eq!(line.unwrap().per_entry, slope);
        }
        assert_eq!(measured, [(8, Solver::Hals), (8, Solver::Mu), (4, Solver::Mu)]);
    }
}

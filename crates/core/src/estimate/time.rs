//! Estimates the time of a fit from a few iterations on some rows. The estimate is rough, since the number of iterations
//! of a stage is not known in advance.

use std::ops::ControlFlow;
use std::time::Instant;

use super::Estimate;
use crate::comm::Local;
use crate::method::{Observer, Progress};
use crate::mnmf::{Mnmf, Split};
use crate::nmf::{self, Settings, StartMeans, Target, random_start};
use crate::nmf::{Solver, StopRule};
use crate::proximity::{self, How, Keep, Proximity};
use manyview_base::error::Result;
use manyview_base::linalg::{BLOCK_ROWS, Csr, Tiles};
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

/// After a stage of a sampled matrix: most entries are noise, which no stage explains.
const LEFT_OF_SAMPLED: f64 = 0.99;

/// Blocks of rows of each view on which an iteration is timed, twice: half of them, and all. Of sampled networks with more than
/// [`TIMED_COLS`] nodes, whose rows have few entries in that many columns, more are needed, and cost little.
const TIMED_BLOCKS: usize = 4;
const TIMED_BLOCKS_OF_LARGE: usize = 256;
const TIMED_COLS: usize = 1 << 16;
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

/// Time of an iteration over all views together: updates of the factors grow with the nodes, products with the entries.
#[derive(Clone, Copy)]
struct Line {
    /// For a node, in one of both factors.
    per_node: f64,
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
        let rows = self.some_rows(config, &all_views, pool, observer)?;
        let sampled = matches!(self.proximity.how, How::Sampled(_));
        let nodes = network.nodes().len() as f64;
        let views = all_views.len();
        let mut lines = Lines::default();
        let (mut entries, mut stages) = (self.entries(), Vec::new());
        for stage in &plan.stages {
            let unique = stage.kind == Kind::Unique;
            // A unique stage divides its columns among views and processes each of them separately.
            let parts = match &stage.split {
                _ if !unique => 1,
                Split::Residual(served) => *served,
                Split::Given(split) => split.len(),
            };
            let entries_of_parts = if unique { entries * parts as f64 / views as f64 } else { entries };
            let width = stage.columns.len().div_ceil(parts);
            let (solver, most) = match stage.kind {
                Kind::Consensus => (config.solver, config.max_iter),
                Kind::Unique | Kind::Joint => (config.unique_solver(), config.unique_max_iter()),
            };
            let line = lines.get(width, solver, || time_iterations(&rows, width, solver, pool))?;
            let iterations = typical_iterations(solver)[usize::from(unique)].min(most);
            let once = 2.0 * nodes * parts as f64 * line.per_node + entries_of_parts * line.per_entry;
            let besides = if unique { BESIDES_UNIQUE } else { BESIDES_CONSENSUS };
            stages.push(StageTime { iterations, seconds: (iterations as f64 + besides) * once });
            let left = match (sampled, unique) {
                (true, _) => LEFT_OF_SAMPLED,
                (false, true) => LEFT_BY_UNIQUE,
                (false, false) => LEFT_BY_CONSENSUS,
            };
            entries -= entries_of_parts * (1.0 - left);
        }
        Ok(ExpectedTime { proximity: self.proximity_seconds(), stages })
    }

    /// Rows from the middle of every view, in two sizes, with their first columns.
    ///
    /// A pass over all columns of these rows would miss the caches at every entry, where a pass over the whole matrix takes it in
    /// panels.
    fn some_rows(
        &self,
        config: &Mnmf,
        views: &[&View],
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<[Vec<Tiles<f32>>; 2]> {
        let nodes = views[0].adjacency.rows();
        let cols = nodes.min(TIMED_COLS);
        let sampled = matches!(self.proximity.how, How::Sampled(_));
        let blocks = if sampled && nodes > TIMED_COLS { TIMED_BLOCKS_OF_LARGE } else { TIMED_BLOCKS };
        let length = (blocks * BLOCK_ROWS).min(nodes);
        let first = (nodes - length) / 2;
        let (mut half, mut whole) = (Vec::new(), Vec::new());
        for (index, (view, expected)) in views.iter().zip(&self.views).enumerate() {
            let mut watch = |done: usize| {
                let done = (index as f64 + done as f64 / length.max(1) as f64) / views.len() as f64;
                observer(&Progress::Working { doing: "estimate", view: Some(&view.name), done })
            };
            let rows = first..first + length;
            let found = match self.proximity.how {
                How::Exact => {
                    let exact = Proximity::exact(config.proximity);
                    proximity::row_blocks(view, exact, rows, Keep::All, pool, &mut watch)?
                }
                How::Sampled(walks) => {
                    proximity::rows_from_their_nodes(view, config.proximity, walks, rows, pool)?
                }
            };
            let blocks: Vec<Csr<f32>> = found.blocks.iter().map(|block| first_columns(block, cols)).collect();
            let some = blocks[..blocks.len().div_ceil(2)].to_vec();
            let in_tiles = |rows, blocks| {
                pool.run(|| Tiles::part_of(nodes, expected.entries as usize, rows, cols, blocks))
            };
            half.push(in_tiles(some.iter().map(Csr::rows).sum(), some));
            whole.push(in_tiles(length, blocks));
        }
        Ok([half, whole])
    }
}

fn first_columns(block: &Csr<f32>, cols: usize) -> Csr<f32> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..block.rows() {
        let (all, of_all) = block.row(row);
        let some = all.partition_point(|&col| (col as usize) < cols);
        indices.extend(&all[..some]);
        values.extend(&of_all[..some]);
        indptr.push(indices.len());
    }
    Csr::new(cols, indptr, indices, values)
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
        measured.push(Measured {
            rows: tiles[0].rows() as f64,
            cols: nodes as f64,
            entries: entries as f64,
            seconds: fastest,
        });
    }
    Ok(Line::through(&measured[0], &measured[1]))
}

/// What an iteration on some rows took.
struct Measured {
    rows: f64,
    cols: f64,
    entries: f64,
    seconds: f64,
}

impl Line {
    /// The line through the times of fewer and of more rows with the same columns.
    ///
    /// With `t = a (rows + cols) + b entries`, the time at zero rows is `a cols`.
    fn through(fewer: &Measured, more: &Measured) -> Self {
        let (rows, time) = (more.rows - fewer.rows, more.seconds - fewer.seconds);
        // Small networks are timed as a whole, and noise must not make a slope negative.
        let at_zero = if rows > 0.0 { fewer.seconds - time.max(0.0) * fewer.rows / rows } else { 0.0 };
        let per_node =
            (at_zero / more.cols.max(1.0)).clamp(0.0, more.seconds / (more.rows + more.cols).max(1.0));
        let products = more.seconds - per_node * (more.rows + more.cols);
        Line { per_node, per_entry: products.max(0.05 * more.seconds) / more.entries.max(1.0) }
    }
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
                Ok(Line { per_node: 0.0, per_entry: slope })
            });
            assert_eq!(line.unwrap().per_entry, slope);
        }
        assert_eq!(measured, [(8, Solver::Hals), (8, Solver::Mu), (4, Solver::Mu)]);
    }

    #[test]
    fn a_line_goes_through_both_times() {
        let (per_node, per_entry) = (2e-9, 3e-10);
        let time = |rows: f64, entries: f64| {
            let seconds = per_node * (rows + 1000.0) + per_entry * entries;
            Measured { rows, cols: 1000.0, entries, seconds }
        };
        let line = Line::through(&time(50.0, 5000.0), &time(100.0, 10000.0));
        assert!((line.per_node / per_node - 1.0).abs() < 1e-9, "{}", line.per_node);
        assert!((line.per_entry / per_entry - 1.0).abs() < 1e-9, "{}", line.per_entry);
        // Noise: the shorter run took longer.
        let noisy = Line::through(&Measured { seconds: 2e-5, ..time(50.0, 5000.0) }, &time(100.0, 10000.0));
        assert!(noisy.per_node >= 0.0 && noisy.per_entry > 0.0);
    }
}

//! Estimates the time of a fit from a few iterations on some rows. The estimate is rough, since the number of iterations
//! of a stage is not known in advance.

use std::hint::black_box;
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
use manyview_base::linalg::products::{times, transposed_times};
use manyview_base::linalg::{BLOCK_ROWS, Csr, Dense, Real, Tiles};
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

/// Blocks of rows of each view on which an iteration is timed. Of sampled networks with more than
/// [`TIMED_COLS`] nodes, whose rows have few entries in that many columns, more are needed, and cost little.
const TIMED_BLOCKS: usize = 4;
const TIMED_BLOCKS_OF_LARGE: usize = 256;
const TIMED_COLS: usize = 1 << 16;
const TIMED_ITERATIONS: usize = 10;
const TIMED_PRODUCTS: usize = 5;

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

    /// Rows from the middle of every view, with their first columns.
    ///
    /// A pass over all columns of these rows would miss the caches at every entry, where a pass over the whole matrix takes it in
    /// panels.
    fn some_rows(
        &self,
        config: &Mnmf,
        views: &[&View],
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<Vec<Tiles<f32>>> {
        let nodes = views[0].adjacency.rows();
        let cols = nodes.min(TIMED_COLS);
        let sampled = matches!(self.proximity.how, How::Sampled(_));
        let blocks = if sampled && nodes > TIMED_COLS { TIMED_BLOCKS_OF_LARGE } else { TIMED_BLOCKS };
        let length = (blocks * BLOCK_ROWS).min(nodes);
        let first = (nodes - length) / 2;
        let mut tiles = Vec::new();
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
            tiles.push(pool.run(|| Tiles::part_of(nodes, expected.entries as usize, length, cols, blocks)));
        }
        Ok(tiles)
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

fn time_iterations(tiles: &[Tiles<f32>], width: usize, solver: Solver, pool: &Pool) -> Result<Line> {
    let settings = Settings {
        solver,
        gamma: 1.0,
        max_iter: TIMED_ITERATIONS,
        tol: 0.0,
        stop: StopRule::Decrease,
        epsilon: 0.0,
    };
    let squared_norm = pool.run(|| tiles.iter().map(|tiles| tiles.sums()[1]).sum());
    let target = Target::sum_of(tiles.iter().collect(), squared_norm);
    let (key, rows, cols) = (Key::new(0), tiles[0].rows(), tiles[0].cols());
    let start = random_start(&StartMeans::below(0.02, 1), width, 0..rows, cols, key, &[key.with(1)]);
    let (mut last, mut fastest) = (Instant::now(), f64::INFINITY);
    nmf::factorize_watched(&[target], start, &settings, pool, &Local, &mut |_| {
        fastest = fastest.min(last.elapsed().as_secs_f64());
        last = Instant::now();
        ControlFlow::Continue(())
    })?;
    let products = match solver {
        // Its factors are in f64.
        Solver::Mu => time_products::<f64>(tiles, width, pool),
        Solver::Accelerated | Solver::Hals => time_products::<f32>(tiles, width, pool),
    };
    let entries: usize = tiles.iter().map(Tiles::entries).sum();
    Ok(Line::of(fastest, products, entries, rows + cols))
}

/// Seconds for both products with these matrices, once and twice as many of them.
fn time_products<T: Real>(tiles: &[Tiles<f32>], width: usize, pool: &Pool) -> [f64; 2] {
    let (rows, cols) = (tiles[0].rows(), tiles[0].cols());
    let (u, v_t) = (ones::<T>(rows, width), ones::<T>(cols, width));
    let mut numerators = Dense::zeros(cols, width);
    [1, 2].map(|copies| {
        let parts: Vec<&Tiles<f32>> = (0..copies).flat_map(|_| tiles).collect();
        let mut once = || {
            let began = Instant::now();
            pool.run(|| {
                black_box(times(&parts, &v_t, &|| true));
                transposed_times(&parts, &u, &mut numerators, &|| true);
            });
            began.elapsed().as_secs_f64()
        };
        (0..TIMED_PRODUCTS).map(|_| once()).fold(f64::INFINITY, f64::min)
    })
}

fn ones<T: Real>(rows: usize, width: usize) -> Dense<T> {
    Dense::from_fn(rows, width, |_, _| T::from_f64(1.0))
}

impl Line {
    /// From the time of an iteration, and of its products with the matrices once and twice.
    ///
    /// What twice as many entries add is due to the entries alone: the rows of all factors are read and written once in both. In rows of
    /// a large sparse matrix, of which only some columns are timed, that is a small part of an iteration.
    fn of(iteration: f64, [once, twice]: [f64; 2], entries: usize, nodes: usize) -> Self {
        let entries = entries.max(1) as f64;
        // Noise must not make a slope negative.
        let per_entry = (twice - once).clamp(0.1 * once, once) / entries;
        Line { per_node: (iteration - per_entry * entries).max(0.0) / nodes.max(1) as f64, per_entry }
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
    fn an_iteration_is_divided_between_entries_and_nodes() {
        let (per_node, per_entry, fixed) = (2e-9, 3e-10, 1e-6);
        let products = |copies: f64| fixed + copies * per_entry * 5000.0;
        let iteration = per_node * 1100.0 + per_entry * 5000.0;
        let line = Line::of(iteration, [products(1.0), products(2.0)], 5000, 1100);
        assert!((line.per_node / per_node - 1.0).abs() < 1e-9, "{}", line.per_node);
        assert!((line.per_entry / per_entry - 1.0).abs() < 1e-9, "{}", line.per_entry);
        // Noise: the longer products took less time.
        let noisy = Line::of(iteration, [products(2.0), products(1.0)], 5000, 1100);
        assert!(noisy.per_node >= 0.0 && noisy.per_entry > 0.0);
    }
}

//! The peak number of bytes of each phase, as a sum over what is allocated in it.

use crate::mnmf::{Consensus, Init, Mnmf, Plan, Split, Stage};
use crate::nmf::{Solver, sampled_share};
use crate::proximity::{How, Keep, Settings, TOGETHER, goes_out, sampling_bytes};
use manyview_base::linalg::gram::CHUNK_ROWS;
use manyview_base::linalg::{BLOCK_ROWS, Dense, symmetric_panel_width, tile_bytes};
use manyview_data::embedding::Kind;
use manyview_data::network::{Network, View};

/// The memory of the program itself and of each of its threads (measured).
const PROCESS: f64 = 9e6;
const THREAD: f64 = 0.3e6;

/// Growing lists have spare capacity: a third of it, on average.
const GROWING: f64 = 1.5;

/// The overhead of the allocator: gaps between blocks, partly used pages (measured).
const GAPS: f64 = 1.06;

/// The share of the embedding and the factors that does not fit into the memory that the proximity phase freed, which is
/// fragmented (measured).
const NOT_REUSED: f64 = 0.7;

/// The entries of a sum of matrices, as a share of theirs together (measured: 0.16 to 0.44 before the last stage of the default
/// plan, which earlier stages have thinned out).
const SUMMED: f64 = 0.45;

/// The same of sampled matrices, whose patterns have little in common, and which stages hardly thin out, so that nothing makes room
/// for the sum (measured: 0.7 to 0.8 on planted networks of 10^5 and 10^6 nodes).
const SUMMED_SAMPLED: f64 = 0.8;

/// The stages on sampled matrices take up to so many times what is allocated in them: rows and tiles of all sizes come and go (measured:
/// 0.94 to 1.09, with 2 x 10^4 to 10^6 nodes).
const AROUND_SAMPLED: f64 = 1.12;

/// The peak memory of the process in each phase, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Until the network was read, as measured; `None` where the system does not report it.
    pub read: Option<u64>,
    /// The network, which is kept during the whole run.
    pub network: u64,
    /// Proximity matrices.
    pub proximity: u64,
    /// Stages.
    pub factorize: u64,
}

/// What the memory of a view's proximity matrix follows from.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub(super) entries: f64,
    /// The bytes of a number while it is computed.
    pub(super) number_bytes: usize,
}

/// The process that a fit runs in.
#[derive(Clone, Copy)]
pub(super) struct Process {
    pub(super) threads: usize,
    /// Its peak until the network was read.
    pub(super) read: Option<u64>,
    /// Whether the factors of all stages are kept until the end.
    pub(super) keeps_factors: bool,
}

impl Memory {
    /// The maximum over all phases.
    pub fn peak(&self) -> u64 {
        self.read.unwrap_or(0).max(self.network).max(self.proximity).max(self.factorize)
    }

    pub(super) fn of(
        config: &Mnmf,
        how: How,
        plan: &Plan,
        network: &Network,
        union: Option<&View>,
        matrices: &[Matrix],
        Process { threads, read, keeps_factors }: Process,
    ) -> Self {
        let all_views: Vec<&View> = network.views().iter().chain(union).collect();
        let (nodes, workers) = (network.nodes().len() as f64, threads as f64);
        let ids = network.nodes().iter().map(str::len).sum::<usize>() as f64 + 8.0 * nodes;
        let adjacency: f64 = network.views().iter().map(|view| csr_bytes(view, 8.0)).sum();
        let kept = PROCESS + workers * THREAD + ids + adjacency;

        let symmetric = config.keep(&all_views) == Keep::Upper;
        // The union is freed when its proximity is known.
        let while_walking = kept + union.map_or(0.0, |union| csr_bytes(union, 8.0));
        let (mut proximity, mut tiles) = (while_walking, 0.0);
        for (view, &Matrix { entries, number_bytes }) in all_views.iter().zip(matrices) {
            let number = number_bytes as f64;
            let rows = 8.0 * if symmetric { entries / 2.0 } else { entries } + 8.0 * nodes;
            let in_tiles = tile_bytes(network.nodes().len(), entries as usize, symmetric) as f64;
            let walking = rows
                + match how {
                    How::Exact => walk_bytes(view, number) + workers * scratch_bytes(nodes, entries, number),
                    How::Sampled(walks) => sampling_bytes(view, config.proximity, walks.per_node),
                };
            // Rows are freed block by block while they are converted to tiles.
            let cutting = rows.max(in_tiles) + workers * GROWING * block_bytes(nodes, entries);
            proximity = proximity.max(while_walking + tiles + walking.max(cutting));
            tiles += in_tiles;
        }
        let entries = |matrix: &Matrix| matrix.entries;
        let (all, largest) =
            (matrices.iter().map(entries).sum(), matrices.iter().map(entries).fold(0.0, f64::max));
        let views = all_views.len();
        let panel = |matrix: &Matrix| symmetric_panel_width(nodes as usize, matrix.entries as usize);
        let panels = matrices.iter().map(panel);
        let rows_together =
            if symmetric { panels.max().unwrap_or(0).min(nodes as usize) } else { BLOCK_ROWS };
        let sampled = matches!(how, How::Sampled(_));
        let in_turn = |stage: &Stage| matches!(stage.split, Split::Residual(served) if served < views);
        let takes_turns = plan.stages.iter().any(|stage| stage.kind == Kind::Unique && in_turn(stage));
        let of_stage = |stage: &Stage| {
            let pooled = stage.kind == Kind::Consensus && is_pooled(config, views);
            let factorized = match stage.kind {
                Kind::Consensus if pooled && sampled => SUMMED_SAMPLED * all,
                Kind::Consensus if pooled => SUMMED * all,
                Kind::Consensus => all,
                Kind::Unique | Kind::Joint => largest,
            };
            // After other stages, entries that they removed make room for the sum, if they were about all views.
            let first = stage.number == 1 || takes_turns;
            let summed = if pooled && (sampled || first) { factorized } else { 0.0 };
            factor_bytes(config, stage, nodes, views, rows_together, workers)
                + sample_bytes(config, stage, nodes, factorized, symmetric)
                + tile_bytes(network.nodes().len(), summed as usize, symmetric) as f64
        };
        let factors = plan.stages.iter().map(of_stage).fold(0.0, f64::max);
        let all_factors = if keeps_factors { kept_factor_bytes(config, plan, nodes, views) } else { 0.0 };
        let embedding = 4.0 * nodes * plan.dim as f64 + ids + all_factors;
        proximity = PROCESS + GAPS * (proximity - PROCESS);
        // Choosing stages needs copies without and with the hidden pairs: together one more of each matrix, and while one is
        // divided, another one of it.
        let copies = if config.auto { tiles + tiles * largest / f64::max(all, 1.0) } else { 0.0 };
        let stages = kept + tiles + copies + embedding + factors;
        let factorize = stages.max(proximity + NOT_REUSED * (embedding + factors));
        let factorize = if sampled { AROUND_SAMPLED * factorize } else { factorize };
        Memory { read, network: kept as u64, proximity: proximity as u64, factorize: factorize as u64 }
    }
}

/// A union of views with so many entries, and what random walks in it are made from: 8 bytes for each entry at least, for exact and for
/// sampled matrices.
pub(super) fn union_bytes(nodes: usize, entries: usize) -> u64 {
    (12 + 8) * entries as u64 + 8 * nodes as u64
}

fn csr_bytes(view: &View, value: f64) -> f64 {
    (4.0 + value) * view.adjacency.entries() as f64 + 8.0 * (view.adjacency.rows() + 1) as f64
}

/// The step matrix, also by columns where needed, and the degrees.
fn walk_bytes(view: &View, number: f64) -> f64 {
    let copies = if goes_out(&view.adjacency) { 2.0 } else { 1.0 };
    copies * csr_bytes(view, number) + 8.0 * view.adjacency.rows() as f64
}

/// What the walk in a view takes while rows are sampled, at most: with numbers of eight bytes and before rows are kept.
pub(super) fn walk_with_scratch(view: &View, threads: usize) -> u64 {
    let number = size_of::<f64>() as f64;
    let scratch = threads as f64 * scratch_bytes(view.adjacency.rows() as f64, 0.0, number);
    (walk_bytes(view, number) + scratch) as u64
}

/// What walks of a sampled matrix take before any is made, at least: their tables, degrees, and the order of the rows.
pub(super) fn sampling(view: &View) -> u64 {
    (sampling_bytes(view, Settings::default(), 0) + 3.0 * 8.0 * view.adjacency.rows() as f64) as u64
}

/// Twice sixteen dense rows, and lists of what was found in sixteen rows (pairs of an index and a number, which are aligned)
/// and in a block.
fn scratch_bytes(nodes: f64, entries: f64, number: f64) -> f64 {
    let (rows, per_row) = (TOGETHER as f64, entries / nodes.max(1.0));
    let block = (4.0 + number) * per_row * nodes.min(BLOCK_ROWS as f64);
    2.0 * rows * number * nodes + GROWING * (rows * 2.0 * number * per_row + block)
}

fn block_bytes(nodes: f64, entries: f64) -> f64 {
    8.0 * entries / nodes.max(1.0) * nodes.min(BLOCK_ROWS as f64)
}

/// Whether consensus stages factorize one sum.
fn is_pooled(config: &Mnmf, views: usize) -> bool {
    config.consensus == Consensus::Pooled && views > 1
}

/// U, every V and the numerators, what threads hold of them, and the Gram matrices; the buffer in which U is gathered is
/// allocated after the numerators are freed.
fn factor_bytes(
    config: &Mnmf,
    stage: &Stage,
    nodes: f64,
    views: usize,
    rows_together: usize,
    workers: f64,
) -> f64 {
    let pooled = is_pooled(config, views);
    let targets = match stage.kind {
        Kind::Consensus if !pooled => views,
        _ => 1,
    };
    let from_views = stage.kind == Kind::Consensus && config.init == Init::Nmf && !pooled;
    let starts = if from_views { targets + 2 } else { 0 };
    let width = Dense::<f32>::zeros(0, stage.columns.len()).stride() as f64;
    // The scales and what is subtracted are computed from both factors side by side.
    let scaling = if pooled { 4.0 * nodes * width * 8.0 + gram_bytes(nodes, 2.0 * width, 0.0) } else { 0.0 };
    let solver = solver(config, stage);
    // Multiplicative updates are in f64, beside the f32 factors that the stage begins and ends with.
    let (number, updated) = if solver == Solver::Mu { (12.0, 8.0) } else { (4.0, 4.0) };
    // Accelerated updates have three versions of U and two of every V.
    let copies = if solver == Solver::Accelerated { 4 + 2 * targets } else { 2 + targets };
    let factors = number * nodes * width * (copies + starts) as f64;
    // Two blocks of rows of products, and three times sixteen rows to update.
    let updating = workers * updated * width * (2 * rows_together + 48) as f64;
    (factors + updating + gram_bytes(nodes, width, targets as f64))
        .max(scaling)
        .max(singular_bytes(config, nodes, width))
}

/// U and every V of all stages, which a model is made of.
fn kept_factor_bytes(config: &Mnmf, plan: &Plan, nodes: f64, views: usize) -> f64 {
    let rows = |width: usize| 4.0 * nodes * Dense::<f32>::zeros(0, width).stride() as f64;
    let of_stage = |stage: &Stage| match stage.kind {
        Kind::Consensus if is_pooled(config, views) => 2.0 * rows(stage.columns.len()),
        Kind::Consensus => (1 + views) as f64 * rows(stage.columns.len()),
        // The columns are divided among the views, which have factors of their own.
        Kind::Unique | Kind::Joint => 2.0 * views as f64 * rows(stage.columns.len().div_ceil(views)),
    };
    plan.stages.iter().map(of_stage).sum()
}

/// Singular vectors to start from: blocks of at least 64 columns, and one more, for rows and columns, and the result.
fn singular_bytes(config: &Mnmf, nodes: f64, width: f64) -> f64 {
    let blocks = (width / 64.0).ceil() + 1.0;
    if config.init == Init::Svd { 8.0 * nodes * (64.0 * (blocks + 1.0) + 2.0 * width) } else { 0.0 }
}

fn solver(config: &Mnmf, stage: &Stage) -> Solver {
    match stage.kind {
        Kind::Consensus => config.solver,
        Kind::Unique | Kind::Joint => config.unique_solver(),
    }
}

/// The sample of rows on which a stage starts, of matrices with so many entries. Rows of symmetric matrices are put together
/// from rows and columns.
fn sample_bytes(config: &Mnmf, stage: &Stage, nodes: f64, entries: f64, symmetric: bool) -> f64 {
    let share = sampled_share(nodes as usize, stage.columns.len()).unwrap_or(0.0);
    let of_entry = if symmetric { 6.0 + GROWING * 4.0 } else { 6.0 };
    if solver(config, stage) == Solver::Accelerated { share * of_entry * entries } else { 0.0 }
}

/// The Gram matrices, which are quadratic in the width of a stage: those of U and every V in f64, two in f32 for the updates,
/// and, while one is computed, one for each chunk of rows, their sum and the result.
fn gram_bytes(nodes: f64, width: f64, targets: f64) -> f64 {
    let chunks = (nodes / CHUNK_ROWS as f64).ceil();
    8.0 * width * width * (targets + 1.0 + 1.0 + chunks + 2.0)
}

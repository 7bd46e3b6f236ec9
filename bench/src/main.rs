//! The measurements of manyview for `bench/run.sh`; prints one line of JSON per repeat.
//!
//! Files are read before the clock starts. Iterations are timed by the observer of `factorize`, so that they include
//! neither the conversion of the matrix to tiles nor the initialization; both are reported separately.

#![allow(clippy::print_stdout)]

mod matrix;
mod skipgram;
mod sparse;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};
use manyview::comm::Local;
use manyview::io::read_npy;
use manyview::linalg::{Csr, Dense, Tiles};
use manyview::nmf::{self, Start, Target};
use manyview::nmf::{Solver, StopRule};
use manyview::parallel::Pool;
use manyview::{Network, proximity};
use manyview_base::linalg::svd;
use manyview_core::residual;
use serde_json::json;

use matrix::{random_factor, read_npz, squared_norm, squared_norm_of_image, squared_norm_of_sum};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Iterations of one factorization from given initial factors
    Nmf(NmfArgs),
    /// A unique stage per view and both kinds of consensus stage: iterations and the remaining time
    Stages(StagesArgs),
    /// The proximity matrix of a network's first view
    Proximity(ProximityArgs),
    /// The leading singular values and vectors of a matrix
    Svd(SvdArgs),
    /// The passes over a large and sparse random matrix
    Sparse(sparse::SparseArgs),
    /// Walks and vectors of a network's first view, as computed by `deepwalk`
    SkipGram(skipgram::SkipGramArgs),
}

#[derive(Args)]
struct Common {
    #[arg(long, default_value_t = 1)]
    threads: usize,
    #[arg(long, default_value_t = 1)]
    repeats: usize,
}

#[derive(Args)]
struct Solving {
    #[command(flatten)]
    common: Common,
    /// accelerated-hals, hals or mu
    #[arg(long, default_value = "hals", value_parser = solver)]
    solver: Solver,
    #[arg(long, default_value_t = 20)]
    iterations: usize,
}

#[derive(Args)]
struct NmfArgs {
    /// A file written by `manyview proximity`
    matrix: PathBuf,
    /// The initial U, rows x width
    #[arg(long)]
    u: PathBuf,
    /// The initial V, transposed: columns x width
    #[arg(long)]
    v: PathBuf,
    /// Start from singular vectors instead; the time includes them
    #[arg(long)]
    singular: bool,
    #[command(flatten)]
    solving: Solving,
}

#[derive(Args)]
struct StagesArgs {
    /// One file per view
    matrices: Vec<PathBuf>,
    #[arg(long, default_value_t = 16)]
    width: usize,
    #[command(flatten)]
    solving: Solving,
}

#[derive(Args)]
struct ProximityArgs {
    /// A folder or an edge list
    network: PathBuf,
    #[arg(long, default_value_t = 5)]
    window: usize,
    #[arg(long, default_value_t = 1.0)]
    negative: f64,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct SvdArgs {
    /// A file written by `manyview proximity`
    matrix: PathBuf,
    #[arg(long, default_value_t = 256)]
    rank: usize,
    #[arg(long, default_value_t = 5)]
    iterations: usize,
    #[command(flatten)]
    common: Common,
}

fn solver(text: &str) -> Result<Solver, &'static str> {
    Solver::from_name(text).ok_or("expected accelerated-hals, hals or mu")
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Nmf(args) => run_nmf(&args),
        Command::Stages(args) => run_stages(&args),
        Command::Proximity(args) => run_proximity(&args),
        Command::Svd(args) => run_svd(&args),
        Command::Sparse(args) => sparse::run(&args),
        Command::SkipGram(args) => skipgram::run(&args),
    }
}

impl Solving {
    /// A negative tolerance, so that all iterations are made even if rounding increases the error.
    fn settings(&self) -> nmf::Settings {
        nmf::Settings {
            solver: self.solver,
            gamma: 5.0,
            max_iter: self.iterations,
            tol: f64::NEG_INFINITY,
            stop: StopRule::Decrease,
            epsilon: 0.0,
        }
    }
}

/// The times of one factorization.
struct Timed {
    /// The total.
    total: f64,
    /// From the end of one iteration to the end of the next; without the first, which includes the initialization.
    iterations: Vec<f64>,
    /// `||R - U V||^2 / ||R||^2` after each iteration, and the time since the start.
    errors: Vec<f64>,
    ends: Vec<f64>,
    factors: nmf::Factors<f32>,
}

fn factorize(
    targets: &[Target<f32>],
    start: Start<f32>,
    settings: &nmf::Settings,
    pool: &Pool,
) -> Result<Timed> {
    let (mut ends, mut errors) = (Vec::new(), Vec::new());
    let began = Instant::now();
    let factors = nmf::factorize_watched(targets, start, settings, pool, &Local, &mut |iteration| {
        ends.push(began.elapsed().as_secs_f64());
        errors.push(iteration.error);
        ControlFlow::Continue(())
    })?;
    let total = began.elapsed().as_secs_f64();
    let iterations = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Ok(Timed { total, iterations, errors, ends, factors })
}

fn seconds<R>(f: impl FnOnce() -> R) -> (R, f64) {
    let began = Instant::now();
    let result = f();
    (result, began.elapsed().as_secs_f64())
}

fn run_nmf(args: &NmfArgs) -> Result<()> {
    let matrix = read_npz(&args.matrix)?;
    let (u, v_t) = (read_factor(&args.u)?, read_factor(&args.v)?);
    ensure!(
        (u.rows(), v_t.rows()) == (matrix.rows(), matrix.cols()),
        "the initial factors do not fit the matrix"
    );
    let pool = Pool::new(Some(args.solving.common.threads))?;
    let norm = squared_norm(&matrix);
    for _ in 0..args.solving.common.repeats {
        let (tiles, cutting) = seconds(|| pool.run(|| Tiles::from_csr(&matrix)));
        let random = Start { u: u.clone(), v_t: vec![v_t.clone()] };
        let (start, starting) = seconds(|| {
            if !args.singular {
                return Some(random);
            }
            pool.run(|| nmf::singular_start(&[&tiles], &[1.0], random, &|_| true))
        });
        let start = start.context("the start was not canceled")?;
        let timed = factorize(&[Target::new(&tiles, norm)], start, &args.solving.settings(), &pool)?;
        println!(
            "{}",
            json!({"entries": matrix.entries(), "rows": matrix.rows(), "cutting": cutting + starting, "total": timed.total,
                   "iterations": timed.iterations, "ends": timed.ends, "errors": timed.errors})
        );
    }
    Ok(())
}

fn read_factor(path: &Path) -> Result<Dense<f32>> {
    let read = read_npy(path)?;
    Ok(Dense::from_fn(read.rows, read.dim, |row, col| read.values[row * read.dim + col]))
}

fn run_stages(args: &StagesArgs) -> Result<()> {
    let matrices: Vec<Csr<f32>> = args.matrices.iter().map(|path| read_npz(path)).collect::<Result<_>>()?;
    let first = matrices.first().context("there must be at least one matrix")?;
    ensure!(
        matrices.iter().all(|matrix| matrix.rows() == first.rows()),
        "all views must have the same nodes"
    );
    let (nodes, entries) = (first.rows(), matrices.iter().map(Csr::entries).sum::<usize>());
    let norms: Vec<f64> = matrices.iter().map(squared_norm).collect();
    let norm_of_sum = squared_norm_of_sum(&matrices);
    let tiles: Vec<Tiles<f32>> = matrices.iter().map(Tiles::from_csr).collect();
    drop(matrices);
    let pool = Pool::new(Some(args.solving.common.threads))?;
    let settings = args.solving.settings();
    let mean = norms.iter().sum::<f64>().sqrt() / nodes as f64;
    let size = (mean / args.width as f64).sqrt();
    let factor = |salt| random_factor(nodes, args.width, 2.0 * size, salt);
    let start = |views: usize| Start { u: factor(0), v_t: (1..=views).map(|k| factor(k as u64)).collect() };
    let report =
        |kind: &str, view: Option<usize>, entries: usize, timed: &Timed, scaling: f64, subtracting: f64| {
            println!(
                "{}",
                json!({"kind": kind, "view": view, "nodes": nodes, "entries": entries, "total": timed.total,
                   "iterations": timed.iterations, "scaling": scaling, "subtracting": subtracting,
                   "error": timed.errors.last(), "peak": manyview::memory::peak_resident_bytes()})
            );
        };
    let subtract = |tiles: &Tiles<f32>, timed: &Timed, k: usize, scale: f64| {
        let mut rest = tiles.clone();
        seconds(|| residual::subtract(&mut rest, &timed.factors.u, &timed.factors.v_t[k], scale, &pool)).1
    };
    for _ in 0..args.solving.common.repeats {
        for (view, (tiles, &norm)) in tiles.iter().zip(&norms).enumerate() {
            let timed = factorize(&[Target::new(tiles, norm)], start(1), &settings, &pool)?;
            let subtracting = subtract(tiles, &timed, 0, 1.0);
            report("unique", Some(view), tiles.entries(), &timed, 0.0, subtracting);
        }
        let targets: Vec<_> =
            tiles.iter().zip(&norms).map(|(tiles, &norm)| Target::new(tiles, norm).relative()).collect();
        let timed = factorize(&targets, start(tiles.len()), &settings, &pool)?;
        let subtracting = tiles.iter().enumerate().map(|(k, tiles)| subtract(tiles, &timed, k, 1.0)).sum();
        report("shared", None, entries, &timed, 0.0, subtracting);

        let sum = Target::sum_of(tiles.iter().collect(), norm_of_sum);
        let timed = factorize(&[sum], start(1), &settings, &pool)?;
        let (u, v_t) = (&timed.factors.u, &timed.factors.v_t[0]);
        let (mut scaling, mut subtracting) = (0.0, 0.0);
        for tiles in &tiles {
            let ([cross, square], took) = seconds(|| residual::products_on_pattern(tiles, u, v_t, &pool));
            scaling += took;
            subtracting += subtract(tiles, &timed, 0, cross / square);
        }
        report("pooled", None, entries, &timed, scaling, subtracting);
    }
    Ok(())
}

fn run_proximity(args: &ProximityArgs) -> Result<()> {
    let network = Network::open(&args.network)?;
    let view = network.views().first().context("the network has no views")?;
    let settings = proximity::Settings { window: args.window, negative: args.negative, ..Default::default() };
    let pool = Pool::new(Some(args.common.threads))?;
    for _ in 0..args.common.repeats {
        let (matrix, took) = seconds(|| {
            proximity::proximity_watched::<f32>(
                view,
                proximity::Proximity::exact(settings),
                &pool,
                &mut |_| ControlFlow::Continue(()),
            )
        });
        let matrix = matrix?;
        println!(
            "{}",
            json!({"nodes": matrix.rows(), "edges": view.adjacency.entries() / 2,
                              "entries": matrix.entries(), "seconds": took})
        );
    }
    Ok(())
}

fn run_svd(args: &SvdArgs) -> Result<()> {
    let matrix = read_npz(&args.matrix)?;
    let pool = Pool::new(Some(args.common.threads))?;
    let norm = squared_norm(&matrix);
    for _ in 0..args.common.repeats {
        let (found, took) = seconds(|| {
            pool.run(|| {
                let tiles = Tiles::from_csr(&matrix);
                svd::truncated(&[&tiles], args.rank, args.iterations, &|_| true)
            })
        });
        let left = found.context("interrupted")?.left;
        // The relative error of the projection on U, independent of the singular values.
        let error = 1.0 - squared_norm_of_image(&matrix, &left) / norm;
        println!("{}", json!({"entries": matrix.entries(), "seconds": took, "error": error}));
    }
    Ok(())
}

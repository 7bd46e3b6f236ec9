//! The passes over a random symmetric matrix of many nodes and few entries a row, which is stored by its upper triangle.
//!
//! Columns are uniform, so that no order of the nodes makes caches work better: a network with communities can only be faster.
//! Prints one line of JSON per width; the best of the repeats counts. Rates are millions of entries of the whole matrix a second and
//! core: by the wall clock, and by the time that the process spent on the cores, which other processes disturb less.

use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use manyview::linalg::{Csr, Dense, Tiles};
use manyview::parallel::Pool;
use manyview_base::linalg::BLOCK_ROWS;
use manyview_base::linalg::products::{times, transposed_times};
use manyview_base::linalg::sum::sum_of;
use manyview_base::random::{Key, unit_f64};
use manyview_core::residual;
use serde_json::json;

use super::Common;
use super::matrix::random_factor;

#[derive(Args)]
pub(crate) struct SparseArgs {
    #[arg(long, default_value_t = 1_000_000)]
    nodes: usize,
    /// Entries of a row, on average
    #[arg(long, default_value_t = 100)]
    entries: usize,
    #[arg(long, value_delimiter = ',', default_value = "4,8,32")]
    widths: Vec<usize>,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &SparseArgs) -> Result<()> {
    let (nodes, pool) = (args.nodes, Pool::new(Some(args.common.threads))?);
    let tiles = pool.run(|| random_symmetric(nodes, args.entries));
    let entries = tiles.entries();
    let timed = |pass: &mut (dyn FnMut() + Send)| -> Result<[f64; 2]> {
        let mut best = [f64::INFINITY; 2];
        for _ in 0..args.common.repeats {
            let (wall, cpu) = (Instant::now(), cpu_seconds()?);
            pool.run(&mut *pass);
            let took = [wall.elapsed().as_secs_f64() * args.common.threads as f64, cpu_seconds()? - cpu];
            best = [best[0].min(took[0]), best[1].min(took[1])];
        }
        Ok(best)
    };
    let rate = |seconds: [f64; 2]| seconds.map(|seconds| (entries as f64 / seconds / 1e6).round());
    for &width in &args.widths {
        let (u, v_t) = (random_factor(nodes, width, 0.1, 1), random_factor(nodes, width, 0.1, 2));
        let mut out = Dense::zeros(nodes, width);
        let products = timed(&mut || drop(times(&[&tiles], &v_t, &|| true)))?;
        let transposed = timed(&mut || transposed_times(&[&tiles], &u, &mut out, &|| true))?;
        let (mut left, scale) = (tiles.clone(), 1e-3 / width as f64);
        let began = Instant::now();
        residual::subtract(&mut left, &u, &v_t, scale, &pool);
        let subtracting = began.elapsed().as_secs_f64();
        println!(
            "{}",
            json!({"nodes": nodes, "entries": entries, "panel": tiles.panel(), "width": width, "threads": args.common.threads,
                   "products": rate(products), "transposed": rate(transposed),
                   "both": rate([(products[0] + transposed[0]) / 2.0, (products[1] + transposed[1]) / 2.0]),
                   "subtract": subtracting})
        );
    }
    let began = Instant::now();
    let sum = pool.run(|| sum_of(&[&tiles, &tiles]));
    let summing = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let sample = pool.run(|| sum.rows_at(&(0..nodes).step_by(10).collect::<Vec<_>>()));
    println!(
        "{}",
        json!({"sum_of_two": summing, "every_tenth_row": began.elapsed().as_secs_f64(), "of_them": sample.entries(),
               "peak": manyview::memory::peak_resident_bytes()})
    );
    Ok(())
}

/// The diagonal and what is above it of a matrix with so many entries a row.
fn random_symmetric(nodes: usize, of_row: usize) -> Tiles<f32> {
    use rayon::prelude::*;
    let block = |first: usize| {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in first..(first + BLOCK_ROWS).min(nodes) {
            let (above, key) = (nodes - row, Key::new(1).with(row as u64));
            let count = (of_row as f64 * above as f64 / nodes as f64).round() as usize;
            let column = |at: usize| row + (unit_f64(key.at(at, 0)) * above as f64) as usize;
            let mut columns: Vec<u32> = (0..count).map(|at| column(at) as u32).collect();
            columns.sort_unstable();
            columns.dedup();
            values.extend(columns.iter().map(|&col| 0.5 + (col % 7) as f32));
            indices.extend(columns);
            indptr.push(indices.len());
        }
        Csr::new(nodes, indptr, indices, values)
    };
    let firsts: Vec<usize> = (0..nodes).step_by(BLOCK_ROWS).collect();
    Tiles::symmetric(nodes, firsts.into_par_iter().map(block).collect())
}

/// The time that all threads of this process spent on the cores.
fn cpu_seconds() -> Result<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let stat = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += stat.split(' ').next().context("schedstat has three numbers")?.parse::<f64>()?;
    }
    Ok(nanoseconds * 1e-9)
}

//! The loops that take the time, one by one: `cargo bench -p manyview-core`.
//!
//! Names are kernel/width/entries; throughput is in entries (for factors: numbers) a second. One thread, f32, on
//! the proximity matrix of a planted network; all inputs follow from a fixed seed and are made outside the timer.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use manyview_base::linalg::{BLOCK_ROWS, Csr, Dense, Real, Tiles, gram, kernels};
use manyview_base::parallel::Pool;
use manyview_core::comm::Local;
use manyview_core::nmf::update::{Rule, update_rows};
use manyview_core::nmf::{self, Start, Target};
use manyview_core::nmf::{Solver, StopRule};
use manyview_core::proximity;
use manyview_core::residual;
use manyview_data::NetworkBuilder;
use manyview_data::generate::Planted;
use manyview_data::network::{Duplicates, Network, View};

/// Compiled widths, odd ones, and one that takes two windows.
const WIDTHS: [usize; 8] = [4, 8, 12, 16, 20, 28, 32, 64];
fn settings() -> proximity::Settings {
    proximity::Settings { window: 5, negative: 1.0, ..Default::default() }
}

fn network() -> Network {
    let planted = Planted {
        nodes: 2700,
        views: 1,
        communities: 22,
        degree: vec![12.0],
        skew: 0.4,
        ..Planted::default()
    };
    let made = planted.generate().unwrap();
    let mut builder = NetworkBuilder::with_nodes(made.nodes().iter()).unwrap();
    let view = builder.add_view("planted", false, Duplicates::Sum).unwrap();
    for &(source, target) in &made.views[0].edges {
        builder.add_edge(view, source, target, 1.0).unwrap();
    }
    builder.build().unwrap()
}

fn near(view: &View, pool: &Pool) -> Csr<f32> {
    proximity::proximity_watched(view, proximity::Proximity::exact(settings()), pool, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap()
}

/// Numbers in (0, 1) that look random and are the same on every call.
fn factor(rows: usize, width: usize, salt: u64) -> Dense<f32> {
    Dense::from_fn(rows, width, |row, col| {
        let mixed = ((row * 64 + col) as u64 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 40) as f32 + 0.5) / (1u64 << 24) as f32
    })
}

/// Adds `R Vᵀ` to `out`.
fn products<T: Real>(matrix: &Tiles<T>, v_t: &Dense<T>, out: &mut Dense<T>) {
    let together = matrix.blocks_together();
    let len = together * BLOCK_ROWS * out.stride();
    for (blocks, out) in matrix.blocks().chunks(together).zip(out.padded_mut().chunks_mut(len)) {
        kernels::add_products(blocks, matrix.panel(), v_t, out);
    }
}

/// Adds `(Uᵀ R)ᵀ` to `out`.
fn transposed_products<T: Real>(matrix: &Tiles<T>, u: &Dense<T>, out: &mut Dense<T>) {
    let len = matrix.panel() * out.stride();
    for (index, out) in out.padded_mut().chunks_mut(len).enumerate() {
        kernels::add_transposed_products(matrix, index, u, out);
    }
}

/// Updates all rows of a factor.
fn update_factor<T: Real>(rule: Rule, x: &mut Dense<T>, numerators: &Dense<T>, gram: &[T]) {
    let stride = x.stride();
    update_rows(rule, x.padded_mut(), numerators.padded(), stride, gram);
}

fn group<'a>(criterion: &'a mut Criterion, name: &str, elements: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(elements as u64));
    group
}

fn kernels(criterion: &mut Criterion) {
    let pool = Pool::new(Some(1)).unwrap();
    let network = network();
    let view = &network.views()[0];
    let tiles = Tiles::from_csr(&near(view, &pool));
    let (nodes, entries) = (tiles.rows(), tiles.entries());
    let size = format!("{:.1}M", entries as f64 / 1e6);

    group(criterion, "proximity", entries)
        .bench_function(format!("T5/{size}"), |bencher| bencher.iter(|| near(view, &pool)));
    for width in WIDTHS {
        let (u, v_t) = (factor(nodes, width, 1), factor(nodes, width, 1 << 32));
        let name = format!("w{width}/{size}");
        let mut out = Dense::zeros(nodes, width);
        group(criterion, "products", entries)
            .bench_function(&name, |bencher| bencher.iter(|| products(&tiles, black_box(&v_t), &mut out)));
        group(criterion, "transposed", entries).bench_function(&name, |bencher| {
            bencher.iter(|| transposed_products(&tiles, black_box(&u), &mut out))
        });
        // So small a scale leaves nearly all entries, as most stages do.
        let scale = 1e-3 / width as f64;
        group(criterion, "subtract", entries).bench_function(&name, |bencher| {
            let subtract = |mut tiles: Tiles<f32>| {
                residual::subtract(&mut tiles, &u, &v_t, scale, &pool);
                tiles
            };
            bencher.iter_batched(|| tiles.clone(), subtract, BatchSize::LargeInput)
        });
        group(criterion, "fit", entries).bench_function(&name, |bencher| {
            bencher.iter(|| residual::products_on_pattern(&tiles, black_box(&u), &v_t, &pool))
        });
        group(criterion, "gram", nodes * width)
            .bench_function(&name, |bencher| bencher.iter(|| gram::gram(black_box(&u))));
        let gram: Vec<f32> = gram::gram(&v_t).into_iter().map(|x| x as f32).collect();
        for (rule, update) in
            [(Rule::Multiply { epsilon: 0.0 }, "update-mu"), (Rule::Descend { sweeps: 1 }, "update-hals")]
        {
            let numerators = factor(nodes, width, 7);
            let mut x = u.clone();
            group(criterion, update, nodes * width).bench_function(&name, |bencher| {
                bencher.iter(|| update_factor(rule, black_box(&mut x), &numerators, &gram))
            });
        }
        group(criterion, "iteration", entries).bench_function(&name, |bencher| {
            let run = |start| iteration(&tiles, start, &pool);
            let start = || Start { u: u.clone(), v_t: vec![v_t.clone()] };
            bencher.iter_batched(start, run, BatchSize::LargeInput)
        });
    }
}

/// One iteration of `factorize`, with the Gram matrices of its start.
fn iteration(tiles: &Tiles<f32>, start: Start<f32>, pool: &Pool) -> nmf::Factors<f32> {
    let settings = nmf::Settings {
        solver: Solver::Hals,
        gamma: 1.0,
        max_iter: 1,
        tol: 0.0,
        stop: StopRule::Decrease,
        epsilon: 0.0,
    };
    let targets = [Target::new(tiles, 1.0)];
    nmf::factorize_watched(&targets, start, &settings, pool, &Local, &mut |_| ControlFlow::Continue(()))
        .unwrap()
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = kernels
}
criterion_main!(benches);

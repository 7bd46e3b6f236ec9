//! Several ranks give what one gives.

mod common;

use std::ops::ControlFlow;

use common::planted;
use manyview::comm::{Local, Threads};
use manyview::config::{Consensus, Init, Normalise, Preset};
use manyview::generate::Planted;
use manyview::{Config, Fit, Network};

fn network(nodes: usize) -> Network {
    let settings =
        Planted { nodes, views: 3, communities: 4, degree: vec![4.0], seed: 5, ..Planted::default() };
    planted(&settings, &[0, 1, 2])
}

fn fit_on(ranks: usize, config: &Config, network: &Network) -> Vec<Fit> {
    Threads::run(ranks, |comm| config.fit_with(network, comm, &mut |_| ControlFlow::Continue(())).unwrap())
}

fn assert_alike(one: &Fit, many: &Fit, tolerance: f64) {
    assert_eq!(one.stages.len(), many.stages.len());
    for (a, b) in one.stages.iter().zip(&many.stages) {
        assert_eq!(a.columns, b.columns);
        for (view, weight) in &a.weights {
            assert!(
                (weight - b.weights[view]).abs() < tolerance,
                "weight of {view}: {weight} {}",
                b.weights[view]
            );
        }
        for (view, residual) in &a.residual {
            assert!(
                (residual - b.residual[view]).abs() < tolerance,
                "{view}: {residual} {}",
                b.residual[view]
            );
        }
    }
    let scale = one.embedding.values().iter().copied().fold(0.0, f32::max);
    for (x, y) in one.embedding.values().iter().zip(many.embedding.values()) {
        assert!(f64::from((x - y).abs() / scale) < 10.0 * tolerance, "{x} {y}");
    }
}

#[test]
fn ranks_agree_with_one_process_and_with_each_other() {
    let network = network(400);
    for preset in Preset::ALL {
        let config = Config {
            dim: 24,
            stages: 3,
            consensus_stages: Some(1),
            max_iter: 6,
            unique_max_iter: None,
            // An exact number of iterations: a rounding error may not decide who stops first.
            tol: 0.0,
            threads: Some(1),
            ..Config::preset(preset)
        };
        let one = config.fit_with(&network, &Local, &mut |_| ControlFlow::Continue(())).unwrap();
        for ranks in [1, 2, 3, 5] {
            let fits = fit_on(ranks, &config, &network);
            for fit in &fits {
                assert_eq!(fit.embedding, fits[0].embedding, "every rank has the whole result");
                assert_eq!(fit.ranks, ranks);
                assert_alike(&one, fit, 1e-4);
            }
        }
    }
}

#[test]
fn more_ranks_than_rows_are_fine() {
    let network = network(6);
    let config = Config {
        dim: 6,
        stages: 2,
        max_iter: 3,
        tol: 0.0,
        window: 1,
        threads: Some(1),
        consensus: Consensus::Shared,
        normalise: Normalise::Max,
        init: Init::Scaled,
        ..Config::default()
    };
    let one = config.fit(&network).unwrap();
    for fit in fit_on(9, &config, &network) {
        assert_alike(&one, &fit, 1e-4);
    }
}

#[test]
fn one_rank_that_asks_for_an_end_ends_all() {
    let network = network(100);
    let config = Config { dim: 12, stages: 2, threads: Some(1), ..Config::default() };
    let results = Threads::run(3, |comm| {
        use manyview::comm::Comm;
        let impatient = comm.rank() == 1;
        config.fit_with(&network, comm, &mut |now| match now {
            manyview::stages::Progress::Iteration { iteration: 2, .. } if impatient => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    });
    assert!(results.iter().all(|result| matches!(result, Err(manyview::Error::Interrupted))));
}

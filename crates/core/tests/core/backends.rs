//! Several ranks give what one gives.

use std::ops::ControlFlow;

use crate::common::{fit_on_threads, fit_watched, planted};
use manyview_core::comm::Threads;
use manyview_core::method::Fit;
use manyview_core::mnmf::Mnmf;
use manyview_core::mnmf::{Consensus, Init, Normalize, Subtract};
use manyview_core::preset::Preset;
use manyview_data::Network;
use manyview_data::generate::Planted;

fn network(nodes: usize) -> Network {
    let settings =
        Planted { nodes, views: 3, communities: 4, degree: vec![4.0], seed: 5, ..Planted::default() };
    planted(&settings, &[0, 1, 2])
}

fn fit_on(ranks: usize, config: &Mnmf, network: &Network) -> Vec<Fit> {
    Threads::run(ranks, |comm| {
        fit_watched(config, network, comm, None, &mut |_| ControlFlow::Continue(())).unwrap()
    })
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
        let config = Mnmf {
            dim: 24,
            stages: 3,
            consensus_stages: Some(1),
            max_iter: 6,
            unique_max_iter: None,
            // An exact number of iterations: a rounding error may not decide who stops first.
            tol: Some(0.0),
            ..Mnmf::preset(preset)
        };
        let one = fit_on_threads(1, &config, &network);
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

/// Every rank makes all walks and keeps what belongs to its rows.
#[test]
fn ranks_sample_the_same_matrix() {
    use manyview_core::proximity;

    let network = network(400);
    let proximity = proximity::Settings { walks: Some(30), ..proximity::Settings::default() };
    let config = Mnmf {
        dim: 8,
        stages: 2,
        max_iter: 6,
        tol: Some(0.0),
        subtract: Subtract::Plain,
        proximity,
        ..Mnmf::default()
    };
    let one = fit_on_threads(1, &config, &network);
    for ranks in [2, 3, 4] {
        let fits = fit_on(ranks, &config, &network);
        for fit in &fits {
            for (a, b) in one.views.iter().chain(&one.joint).zip(fit.views.iter().chain(&fit.joint)) {
                let (told, here) = (a.sampled.unwrap(), b.sampled.unwrap());
                assert_eq!((a.entries, told.walks, told.seen_once), (b.entries, 30, here.seen_once));
                assert!((a.squared_norm / b.squared_norm - 1.0).abs() < 1e-6);
            }
            assert_alike(&one, fit, 1e-3);
        }
        // The work is shared by the visits that are expected.
        let mut entries: Vec<usize> = fits.iter().map(|fit| fit.own.entries).collect();
        entries.sort_unstable();
        assert!(entries[ranks - 1] < 2 * entries[0], "{entries:?}");
    }
}

#[test]
fn more_ranks_than_rows_are_fine() {
    let network = network(6);
    let config = Mnmf {
        dim: 6,
        stages: 2,
        max_iter: 3,
        tol: Some(0.0),
        proximity: manyview_core::proximity::Settings { window: 1, ..Default::default() },
        consensus: Consensus::Shared,
        normalize: Normalize::Max,
        init: Init::Scaled,
        ..Mnmf::default()
    };
    let one = config.fit(&network).unwrap();
    for fit in fit_on(9, &config, &network) {
        assert_alike(&one, &fit, 1e-4);
    }
}

#[test]
fn one_rank_that_asks_for_an_end_ends_all() {
    let network = network(100);
    let config = Mnmf { dim: 12, stages: 2, ..Mnmf::default() };
    let results = Threads::run(3, |comm| {
        use manyview_core::comm::Comm;
        let impatient = comm.rank() == 1;
        fit_watched(&config, &network, comm, None, &mut |now| match now {
            manyview_core::method::Progress::Iteration { iteration: 2, .. } if impatient => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        })
    });
    assert!(results.iter().all(|result| matches!(result, Err(manyview_base::error::Error::Interrupted))));
}

#[test]
fn one_rank_interrupted_in_its_proximity_ends_all() {
    let network = network(600);
    let config = Mnmf { dim: 12, stages: 2, ..Mnmf::default() };
    let results = Threads::run(3, |comm| {
        use manyview_core::comm::Comm;
        let impatient = comm.rank() == 2;
        fit_watched(&config, &network, comm, None, &mut |now| match now {
            manyview_core::method::Progress::Working { view: Some("view2"), .. } if impatient => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        })
    });
    assert!(results.iter().all(|result| matches!(result, Err(manyview_base::error::Error::Interrupted))));
}

/// A rank that read other files would otherwise give nonsense, or hang the rest.
#[test]
fn singular_vectors_on_several_ranks_are_refused() {
    let network = network(50);
    let config = Mnmf { dim: 6, stages: 2, init: Init::Svd, ..Mnmf::default() };
    let refused = Threads::run(2, |comm| {
        fit_watched(&config, &network, comm, None, &mut |_| ControlFlow::Continue(()))
    });
    for result in refused {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("init = svd needs one process"), "{text}");
    }
}

#[test]
fn ranks_with_different_networks_are_refused() {
    let networks = [network(100), network(101)];
    let config = Mnmf { dim: 12, stages: 2, ..Mnmf::default() };
    let results = Threads::run(3, |comm| {
        use manyview_core::comm::Comm;
        let network = &networks[usize::from(comm.rank() == 1)];
        fit_watched(&config, network, comm, None, &mut |_| ControlFlow::Continue(()))
    });
    for result in results {
        assert!(result.unwrap_err().to_string().contains("rank 1 has a different network"));
    }
}

#[test]
fn ranks_with_different_settings_are_refused() {
    let network = network(100);
    let config = Mnmf { dim: 12, stages: 2, ..Mnmf::default() };
    let other = Mnmf { max_iter: config.max_iter + 1, ..config.clone() };
    let results = Threads::run(3, |comm| {
        use manyview_core::comm::Comm;
        let config = if comm.rank() == 2 { &other } else { &config };
        fit_watched(config, &network, comm, None, &mut |_| ControlFlow::Continue(()))
    });
    for result in results {
        assert!(result.unwrap_err().to_string().contains("rank 2 has other settings than rank 0"));
    }
}

/// Only the sums of weights were compared: those that overflow look the same, and so do edges that are exchanged.
#[test]
fn ranks_whose_sums_of_weights_overflow_are_told_apart() {
    let edges = |weight: f64, last: &'static str| {
        [("a", "b", weight), ("b", "c", 1.5e308), ("c", "d", 1.5e308), ("d", last, 1.5e308)]
    };
    let network = |weight, last, name| Network::from_edges(&[(name, &edges(weight, last)[..])]).unwrap();
    let first = network(1.5e308, "a", "calls");
    let others =
        [network(1e308, "a", "calls"), network(1.5e308, "b", "calls"), network(1.5e308, "a", "mails")];
    let config = Mnmf { dim: 4, stages: 2, ..Mnmf::default() };
    for other in others {
        assert_eq!(other.nodes().len(), first.nodes().len());
        let results = Threads::run(3, |comm| {
            use manyview_core::comm::Comm;
            let network = if comm.rank() == 2 { &other } else { &first };
            fit_watched(&config, network, comm, None, &mut |_| ControlFlow::Continue(()))
        });
        for result in results {
            let words = "rank 2 has a different network (the nodes, the edges or their weights are not those of rank 0)";
            let error = result.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
    let results = Threads::run(3, |comm| {
        fit_watched(&config, &first, comm, None, &mut |_| ControlFlow::Continue(())).map(drop)
    });
    for result in results {
        result.unwrap();
    }
}

/// `U V` of a stage, which is what a factorization says; its factors alone are only known up to a scale.
#[test]
fn products_of_factors_agree_after_a_stage() {
    use manyview_base::linalg::{Csr, Dense, Tiles};
    use manyview_base::parallel::Pool;
    use manyview_core::comm::Comm;
    use manyview_core::nmf::{Settings, Start, Target, factorize_watched};
    use manyview_core::nmf::{Solver, StopRule};
    use manyview_core::proximity;

    let (network, width) = (network(300), 8);
    let pool = Pool::new(Some(1)).unwrap();
    let near = proximity::Settings { window: 5, negative: 1.0, ..Default::default() };
    let matrices: Vec<Csr<f32>> = network
        .views()
        .iter()
        .map(|view| {
            proximity::proximity_watched(view, proximity::Proximity::exact(near), &pool, &mut |_| {
                ControlFlow::Continue(())
            })
            .unwrap()
        })
        .collect();
    let number = |row: usize, col: usize| ((row * 31 + col * 17) % 97) as f32 / 97.0;
    for solver in Solver::ALL {
        let settings =
            Settings { solver, gamma: 5.0, max_iter: 30, tol: 0.0, stop: StopRule::Decrease, epsilon: 0.0 };
        let run = |bounds: &[usize]| {
            let ranks = Threads::run(bounds.len() - 1, |comm| {
                let (from, to) = (bounds[comm.rank()], bounds[comm.rank() + 1]);
                let tiles: Vec<Tiles<f32>> =
                    matrices.iter().map(|matrix| Tiles::from_csr(&some_rows(matrix, from, to))).collect();
                let norm = |matrix: &Csr<f32>| matrix.values().iter().map(|&x| f64::from(x * x)).sum();
                let targets: Vec<_> = tiles
                    .iter()
                    .zip(&matrices)
                    .map(|(tiles, matrix)| Target::new(tiles, norm(matrix)).relative())
                    .collect();
                let start = Start {
                    u: Dense::from_fn(to - from, width, |row, col| number(from + row, col)),
                    v_t: vec![Dense::from_fn(300, width, number); matrices.len()],
                };
                let pool = Pool::new(Some(1)).unwrap();
                factorize_watched(&targets, start, &settings, &pool, comm, &mut |_| ControlFlow::Continue(()))
                    .unwrap()
            });
            let u: Vec<Vec<f32>> = ranks
                .iter()
                .flat_map(|factors| (0..factors.u.rows()).map(|row| factors.u.row(row).to_vec()))
                .collect();
            products(&u, &ranks[0].v_t)
        };
        let one = run(&[0, 300]);
        for bounds in [&[0, 100, 300][..], &[0, 0, 129, 300], &[0, 75, 150, 225, 300]] {
            let many = run(bounds);
            let difference: f64 = one.iter().zip(&many).map(|(x, y)| (x - y) * (x - y)).sum();
            let norm: f64 = one.iter().map(|x| x * x).sum();
            assert!((difference / norm).sqrt() < 1e-3, "{solver:?} {bounds:?}");
        }
    }

    fn some_rows(matrix: &Csr<f32>, from: usize, to: usize) -> Csr<f32> {
        let at = matrix.indptr()[from]..matrix.indptr()[to];
        let indptr = matrix.indptr()[from..=to].iter().map(|start| start - at.start).collect();
        Csr::new(matrix.cols(), indptr, matrix.indices()[at.clone()].to_vec(), matrix.values()[at].to_vec())
    }

    fn products(u: &[Vec<f32>], v_t: &[Dense<f32>]) -> Vec<f64> {
        let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum::<f64>();
        let of_view = |v_t: &Dense<f32>| -> Vec<f64> {
            u.iter().flat_map(|row| (0..v_t.rows()).map(|col| dot(row, v_t.row(col)))).collect()
        };
        v_t.iter().flat_map(of_view).collect()
    }
}

/// Only matrices of undirected views are symmetric, and half of each is only stored where all are.
#[test]
fn a_directed_view_among_undirected_ones_agrees_on_ranks() {
    let undirected = network(300);
    let mut views = undirected.views().to_vec();
    views[1].directed = true;
    views[1].adjacency = views[1].adjacency.upper_triangle(0);
    let mixed = Network::new(undirected.nodes().clone(), views);
    for consensus in Consensus::ALL {
        let config = Mnmf { dim: 16, stages: 4, max_iter: 6, consensus, ..Mnmf::default() };
        let one = fit_on_threads(2, &config, &mixed);
        fit_on(3, &config, &mixed).iter().for_each(|many| assert_alike(&one, many, 1e-3));
    }
}

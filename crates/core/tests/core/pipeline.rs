//! Whole fits of small networks.

use std::ops::ControlFlow;

use crate::common::{fit_observed, fit_on_threads, planted};
use manyview_base::error::Error;
use manyview_base::message::WarningKind;
use manyview_base::settings::Settings;
use manyview_core::method::{self, Fit, Options, Progress, Stop};
use manyview_core::mnmf::Mnmf;
use manyview_core::mnmf::{Consensus, Init, Joint, Order, Scale, Share};
use manyview_core::nmf::Solver;
use manyview_core::preset::Preset;
use manyview_core::proximity;
use manyview_data::Network;
use manyview_data::digits;
use manyview_data::embedding::Kind;
use manyview_data::generate::Planted;

fn small() -> Planted {
    Planted {
        nodes: 150,
        views: 3,
        communities: 5,
        degree: vec![8.0],
        absent: 0.1,
        seed: 3,
        ..Planted::default()
    }
}

fn config() -> Mnmf {
    Mnmf { dim: 32, stages: 4, max_iter: 30, ..Mnmf::default() }
}

/// FNV-1a over the bits of the vectors.
fn fingerprint(fit: &Fit) -> u64 {
    let bytes = fit.embedding.values().iter().flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Users compare results across machines. Whoever changes these numbers changes every result, and must say so in
/// the CHANGELOG.
#[test]
fn the_bits_of_a_result_never_change() {
    let network = planted(&small(), &[0, 1, 2]);
    let found = [Preset::Default, Preset::Paper, Preset::Authors].map(|preset| {
        let settings =
            Mnmf { dim: 32, stages: 4, consensus_stages: Some(2), max_iter: 30, ..Mnmf::preset(preset) };
        fingerprint(&settings.fit(&network).unwrap())
    });
    assert_eq!(found, GOLDEN, "default, paper, authors: {found:#018x?}");
    // Stages that are wide enough for all views.
    let wide =
        fingerprint(&Mnmf { dim: 80, stages: 3, max_iter: 30, ..Mnmf::default() }.fit(&network).unwrap());
    assert_eq!(wide, WIDE_GOLDEN, "{wide:#018x}");
}

const GOLDEN: [u64; 3] = [0x488f_c6a9_1753_1a1a, 0x4e67_fa90_51a2_4063, 0x99c6_6a60_a5b3_72fd];
const WIDE_GOLDEN: u64 = 0x3173_ab2b_7f6d_c68f;

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let network = planted(&Planted { nodes: 700, ..small() }, &[0, 1, 2]);
    for consensus in Consensus::ALL {
        for walks in [None, Some(20)] {
            let proximity = proximity::Settings { walks, ..proximity::Settings::default() };
            let settings = Mnmf { consensus, proximity, ..config() };
            let one = fit_on_threads(1, &settings, &network);
            assert_eq!(one.views[0].sampled.is_some(), walks.is_some());
            for threads in [2, 3, 8] {
                let other = fit_on_threads(threads, &settings, &network);
                assert_eq!(other.embedding, one.embedding, "{threads} threads, {consensus:?}, {walks:?}");
            }
        }
    }
}

/// It does not depend on the seed, nor on threads.
#[test]
fn singular_vectors_give_one_start() {
    let network = planted(&small(), &[0, 1, 2]);
    let fit = |seed, threads| {
        let options = Options { seed, threads: Some(threads), ..Options::default() };
        let settings = Mnmf { init: Init::Svd, ..config() };
        method::fit(&settings, "mnmf", &network, &options, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let one = fit(1, 1);
    for (seed, threads) in [(2, 1), (1, 3)] {
        assert_eq!(fit(seed, threads).embedding, one.embedding);
    }
}

#[test]
fn every_combination_of_choices_works() {
    let network = planted(&small(), &[0, 1, 2]);
    for consensus in Consensus::ALL {
        for solver in Solver::ALL {
            for share in Share::ALL {
                let [unique, common] = [Order::UniqueFirst, Order::ConsensusFirst];
                for (init, order) in [
                    (Init::Scaled, common),
                    (Init::Uniform, unique),
                    (Init::Nmf, common),
                    (Init::Svd, unique),
                ] {
                    let settings = Mnmf { consensus, solver, share, init, order, ..config() };
                    if (solver, init) == (Solver::Mu, Init::Svd) {
                        let refused = settings.fit(&network).unwrap_err().to_string();
                        assert!(refused.contains("init = svd does not work with solver = mu"), "{refused}");
                        continue;
                    }
                    let fit = settings.fit(&network).unwrap();
                    check_records(&fit, &network, &settings);
                }
            }
        }
    }
}

fn check_records(fit: &Fit, network: &Network, settings: &Mnmf) {
    assert!(fit.embedding.values().iter().all(|x| x.is_finite() && *x >= 0.0));
    let mut covered = vec![false; settings.dim];
    let mut left: std::collections::BTreeMap<&str, f64> =
        network.views().iter().map(|view| (view.name.as_str(), 1.0)).collect();
    left.extend(fit.joint.as_ref().map(|joint| (joint.name.as_str(), 1.0)));
    for record in &fit.stages {
        let [from, to] = record.columns;
        for (column, covered) in covered.iter_mut().enumerate().take(to).skip(from) {
            assert!(!std::mem::replace(covered, true), "no column twice");
            let values = (0..fit.embedding.rows()).map(|row| fit.embedding.row(row)[column]);
            assert!(values.into_iter().any(|x| x > 0.0), "column {column} of {record:?}");
        }
        for (view, share) in &record.residual {
            let before = left.insert(view, *share).unwrap();
            assert!(
                *share <= before && *share >= 0.0,
                "a residual never grows: {view} {share} after {before}"
            );
        }
        let total: f64 = record.weights.values().sum();
        assert!((total - 1.0).abs() < 1e-9);
    }
    assert!(covered.iter().all(|&covered| covered), "all columns are used");
}

#[test]
fn planted_communities_are_found() {
    let network = planted(&Planted { noise: vec![0.05], consensus: 0.9, absent: 0.0, ..small() }, &[0, 1, 2]);
    let labels =
        Planted { noise: vec![0.05], consensus: 0.9, absent: 0.0, ..small() }.generate().unwrap().labels;
    let fit = config().fit(&network).unwrap();
    let cosine = |a: usize, b: usize| {
        let (x, y) = (fit.embedding.row(a), fit.embedding.row(b));
        let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum::<f64>();
        dot(x, y) / (dot(x, x) * dot(y, y)).sqrt()
    };
    let same_as_nearest = (0..labels.len()).filter(|&node| {
        let others = (0..labels.len()).filter(|&other| other != node);
        let nearest = others.max_by(|&a, &b| cosine(node, a).total_cmp(&cosine(node, b))).unwrap();
        labels[nearest] == labels[node]
    });
    assert!(same_as_nearest.count() as f64 > 0.9 * labels.len() as f64);
}

#[test]
fn the_order_of_views_does_not_matter() {
    let settings = Mnmf { max_iter: 4, tol: Some(0.0), consensus: Consensus::Shared, ..config() };
    let here = settings.fit(&planted(&small(), &[0, 1, 2])).unwrap();
    let there = settings.fit(&planted(&small(), &[2, 0, 1])).unwrap();
    let [here_all, there_all] =
        [&here, &there].map(|fit| fit.stages.iter().filter(|record| record.kind == Kind::Consensus));
    for (a, b) in here_all.zip(there_all) {
        for (view, weight) in &a.weights {
            assert!((weight - b.weights[view]).abs() < 1e-5, "{view}");
        }
    }
    let columns = 0..8;
    for row in 0..here.embedding.rows() {
        for (x, y) in
            here.embedding.row(row)[columns.clone()].iter().zip(&there.embedding.row(row)[columns.clone()])
        {
            assert!((x - y).abs() < 1e-3, "{x} {y}");
        }
    }
}

#[test]
fn one_view_alone_is_its_own_consensus() {
    let network = planted(&small(), &[1]);
    let fit = |consensus| {
        Mnmf { consensus, consensus_stages: Some(2), ..config() }.fit(&network).unwrap().embedding
    };
    assert_eq!(fit(Consensus::Pooled), fit(Consensus::Shared));
}

#[test]
fn balanced_and_raw_differ_by_a_factor_for_each_column() {
    let network = planted(&small(), &[0, 1, 2]);
    let fit = |scale| Mnmf { scale, ..config() }.fit(&network).unwrap().embedding;
    let (balanced, raw) = (fit(Scale::Balanced), fit(Scale::Raw));
    assert_ne!(balanced, raw);
    for column in 0..32 {
        let pairs = (0..raw.rows()).map(|row| (balanced.row(row)[column], raw.row(row)[column]));
        let factors: Vec<f32> =
            pairs.filter(|&(_, raw)| raw > 1e-3).map(|(balanced, raw)| balanced / raw).collect();
        assert!(factors.iter().all(|factor| (factor / factors[0] - 1.0).abs() < 1e-3), "column {column}");
    }
}

#[test]
fn what_is_fully_explained_ends_the_stages() {
    // Two cliques: after a few columns nothing is left.
    let mut edges = Vec::new();
    let names: Vec<String> = (0..10).map(|node| format!("n{node}")).collect();
    for a in 0..10 {
        for b in 0..a {
            if (a < 5) == (b < 5) {
                edges.push((names[a].as_str(), names[b].as_str(), 1.0));
            }
        }
    }
    let network = Network::from_edges(&[("cliques", &edges)]).unwrap();
    let fit = Mnmf { dim: 400, stages: 20, max_iter: 500, ..Mnmf::default() }.fit(&network).unwrap();
    assert!(
        fit.warnings.iter().any(|warning| warning.message.to_string().contains("fully explained")),
        "{:?}",
        fit.warnings
    );
    assert!(fit.stages.len() < 20);
    let last = fit.stages.last().unwrap().columns[1];
    assert!((0..10).all(|row| fit.embedding.row(row)[last..].iter().all(|&x| x == 0.0)));
}

#[test]
fn using_up_the_iterations_is_said_and_no_error() {
    let fit = Mnmf { max_iter: 2, ..config() }.fit(&planted(&small(), &[0, 1])).unwrap();
    assert_eq!(fit.stop(), Stop::MaxIter);
    assert!(fit.warnings.iter().any(|warning| warning.kind == WarningKind::NotConverged));
}

#[test]
fn observers_hear_of_everything_and_can_end_it() {
    let network = planted(&small(), &[0, 1, 2]);
    let (mut proximities, mut iterations, mut finished) = (0, 0, 0);
    let fit = fit_observed(&config(), &network, &mut |now| {
        match now {
            Progress::Working { doing: "proximity", done, .. } => {
                assert!((0.0..=1.0).contains(done));
                proximities += 1;
            }
            Progress::Iteration { done, .. } => {
                assert!((0.0..=1.0).contains(done));
                iterations += 1;
            }
            Progress::StageFinished(_) => finished += 1,
            _ => panic!("{now:?}"),
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(proximities >= 3);
    assert_eq!(iterations, fit.stages.iter().map(|record| record.iterations).sum::<usize>());
    assert_eq!(finished, fit.stages.len());
    for at in ["proximity", "iteration", "finished"] {
        let result = fit_observed(&config(), &network, &mut |now| match (at, now) {
            ("proximity", Progress::Working { .. }) => ControlFlow::Break(()),
            ("iteration", Progress::Iteration { .. }) => ControlFlow::Break(()),
            ("finished", Progress::StageFinished(_)) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert!(matches!(result, Err(Error::Interrupted)), "{at}");
    }
}

#[test]
fn an_empty_proximity_names_the_view() {
    let network = planted(&small(), &[0, 1]);
    let near = proximity::Settings { negative: 1e6, ..Default::default() };
    let error = Mnmf { proximity: near, ..config() }.fit(&network).unwrap_err();
    assert!(error.to_string().contains("view \"view1\""), "{error}");
}

#[test]
fn digits_keep_their_kind() {
    let fit = Mnmf { dim: 64, stages: 4, ..Mnmf::default() }.fit(&digits::network().unwrap()).unwrap();
    let labels = digits::labels();
    let right = (0..2000).step_by(10).filter(|&node| {
        let distance = |other: usize| {
            fit.embedding
                .row(node)
                .iter()
                .zip(fit.embedding.row(other))
                .map(|(x, y)| (x - y) * (x - y))
                .sum::<f32>()
        };
        let others = (0..2000).filter(|&other| other != node);
        let nearest = others.min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap();
        labels[nearest] == labels[node]
    });
    let right = right.count();
    assert!(right >= 190, "of 200 digits, the nearest of {right} show the same");
}

/// Chains whose edges are in two views by turns: no view connects more than two nodes.
fn chains() -> Network {
    let name = |node: usize| format!("n{node:03}");
    let names: Vec<(String, String)> = (0..120).map(|node| (name(node), name(node + 1))).collect();
    let edges = |turn: usize| -> Vec<(&str, &str, f64)> {
        let of_view = (0..120).filter(|node| node % 2 == turn && node % 10 != 9);
        of_view.map(|node| (names[node].0.as_str(), names[node].1.as_str(), 1.0)).collect()
    };
    Network::from_edges(&[("even", &edges(0)), ("odd", &edges(1))]).unwrap()
}

#[test]
fn pairs_of_nodes_that_only_paths_through_both_views_connect_have_columns_of_their_own() {
    let network = chains();
    let unique = Mnmf { dim: 65, consensus_stages: Some(0), ..Mnmf::default() };
    let fit = |joint: Joint| Mnmf { joint, ..unique.clone() }.fit(&network).unwrap();
    let pair = |fit: &Fit, one: &str, other: &str| {
        let node = |id: &str| fit.embedding.nodes().iter().position(|known| known == id).unwrap();
        fit.embedding.explain_pair(node(one), node(other))
    };
    let on = fit(Joint::On);
    // Three edges apart in one chain, and in different chains.
    let (near, far) = (pair(&on, "n022", "n025"), pair(&on, "n022", "n035"));
    assert!(near.total > 0.01 && near.joint > 0.9, "{near:?}");
    // Chains share columns, of which there are few.
    assert!(far.total < 0.1 * near.total, "{far:?}");
    assert_eq!(on.joint.as_ref().map(|joint| (joint.name.as_str(), joint.edges)), Some(("joint", 108)));
    let own: Vec<_> = on.stages.iter().filter(|record| record.kind == Kind::Joint).collect();
    assert!(!own.is_empty() && own.iter().all(|record| record.view.is_none()));
    assert!(own.iter().all(|record| record.residual.keys().eq(["joint"])), "{own:?}");
    assert!(on.embedding.parts().iter().any(|part| part.kind == Kind::Joint && part.view.is_none()));
    let off = fit(Joint::Off);
    assert!(pair(&off, "n022", "n025").total < 0.1 * near.total);
    assert!(off.joint.is_none() && off.stages.iter().all(|record| record.kind != Kind::Joint));
}

/// Where there is one column for each view, their union gets none, and the plan is as valid as without it.
#[test]
fn few_columns_go_to_the_views_first() {
    let network = planted(&small(), &[0, 1]);
    let fit = Mnmf { dim: 16, stages: 8, ..Mnmf::default() }.fit(&network).unwrap();
    assert_eq!(fit.embedding.dim(), 16);
    assert!(fit.stages.iter().all(|record| record.kind != Kind::Joint));
    let one = Mnmf { dim: 16, ..Mnmf::default() }.fit(&planted(&small(), &[1])).unwrap();
    assert!(one.joint.is_none(), "one view has no union");
}

/// A plan that was chosen is one that can be given, and gives the same bits.
#[test]
fn a_chosen_plan_can_be_given() {
    let network = planted(&small(), &[0, 1, 2]);
    let auto = Mnmf { auto: true, dim: 48, ..Mnmf::default() };
    let [one, three] = [1, 3].map(|threads| fit_on_threads(threads, &auto, &network));
    let chosen = one.chosen.as_ref().unwrap();
    assert_eq!((&one.embedding, Some(chosen)), (&three.embedding, three.chosen.as_ref()));
    assert_eq!((one.embedding.dim(), one.settings["auto"].as_bool()), (48, Some(true)));
    let mut given = Mnmf::default();
    for (name, value) in one.config.as_object().unwrap() {
        // Seed and threads are not settings of the method.
        given.set(name, value).unwrap();
    }
    assert!(!given.auto);
    assert_eq!(given.fit(&network).unwrap().embedding, one.embedding);
    assert!(chosen.separate < chosen.unique && (0.0..=1.0).contains(&chosen.agreement), "{chosen:?}");
    // Views that do not repeat each other have the default plan.
    assert!(chosen.agreement < 0.7 && chosen.unique_stages == 4, "{chosen:?}");
    let default = Mnmf { dim: 48, ..Mnmf::default() };
    assert_eq!(default.fit(&network).unwrap().embedding, one.embedding);
}

#[test]
fn views_that_repeat_each_other_get_all_columns_together() {
    let rings = |step: usize| -> Vec<(String, String, f64)> {
        let name = |node: usize| format!("n{:03}", node % 240);
        // Groups of twelve; `step` decides which nodes belong together.
        let pairs =
            (0..240).flat_map(|node| (1..5).map(move |next| (node, node / 12 * 12 + (node + next) % 12)));
        pairs.map(|(from, to)| (name(from * step), name(to * step), 1.0)).collect()
    };
    let agreement = |steps: [usize; 3]| {
        let edges = steps.map(rings);
        let views: Vec<Vec<(&str, &str, f64)>> = edges
            .iter()
            .map(|view| view.iter().map(|(a, b, w)| (a.as_str(), b.as_str(), *w)).collect())
            .collect();
        let network = Network::from_edges(&[("x", &views[0]), ("y", &views[1]), ("z", &views[2])]).unwrap();
        let fit = Mnmf { auto: true, dim: 64, joint: Joint::Off, ..Mnmf::default() }.fit(&network).unwrap();
        let columns = fit.stages.iter().filter(|stage| stage.kind == Kind::Consensus);
        let columns: usize = columns.map(|stage| stage.columns[1] - stage.columns[0]).sum();
        (fit.chosen.unwrap().agreement, columns)
    };
    let (same, of_same) = agreement([1, 1, 1]);
    let (other, of_other) = agreement([1, 7, 11]);
    assert!(same > 0.9 && of_same == 64, "{same} {of_same}");
    assert!(other < 0.4 && of_other == 32, "{other} {of_other}");
}

#[test]
fn a_plan_is_chosen_or_given() {
    let both = Mnmf { auto: true, consensus_stages: Some(1), ..Mnmf::default() };
    let told = both.check().unwrap_err().to_string();
    assert!(told.contains("consensus_stages cannot be given with it"), "{told}");
}

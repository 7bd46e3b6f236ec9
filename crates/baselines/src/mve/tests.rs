use std::ops::ControlFlow;

use super::*;
use crate::tests::network;
use manyview_base::parallel::Pool;
use manyview_core::method::Progress;
use manyview_data::Network;
use manyview_data::network::{Duplicates, NetworkBuilder};

fn quick(pairs: Pairs) -> Mve {
    Mve { pairs, walks: 4, length: 10, window: 3, epochs: 4, ..Mve::default() }
}

fn with_task<R>(network: &Network, labels: Option<&Labels>, run: impl FnOnce(&mut Task<'_, '_>) -> R) -> R {
    let pool = Pool::new(Some(2)).unwrap();
    let mut go_on = |_: &Progress<'_>| ControlFlow::Continue(());
    run(&mut Task::new(network, 6, 5, &pool, labels, &mut go_on))
}

/// Every third node has a label, by its number.
fn labels(network: &Network) -> Labels {
    let pairs = network.nodes().iter().enumerate().filter(|(row, _)| row % 3 == 0);
    Labels::from_pairs(network.nodes().iter(), pairs.map(|(row, id)| (id, format!("{}", row % 4)))).unwrap()
}

#[test]
fn one_view_votes_for_itself() {
    let network = network().only(2);
    let labels = labels(&network);
    for pairs in Pairs::ALL {
        with_task(&network, Some(&labels), |task| {
            let trained = quick(pairs).train(task, Some(&labels)).unwrap();
            assert!(trained.votes.iter().all(|votes| votes == &[1.0]));
            assert_eq!(trained.centers, trained.views[0].to_vec(|_| true));
            assert!(trained.centers.iter().any(|x| x.abs() > 1e-3));
        });
    }
}

#[test]
fn votes_add_up_to_one_and_make_the_common_vectors() {
    let network = network();
    let labels = labels(&network);
    with_task(&network, Some(&labels), |task| {
        let trained = quick(Pairs::Edges).train(task, Some(&labels)).unwrap();
        let even = |votes: &Vec<f64>| votes.iter().all(|vote| (vote - 1.0 / 3.0).abs() < 1e-9);
        assert!(!trained.votes.iter().all(even), "attention learned nothing");
        for (node, votes) in trained.votes.iter().enumerate() {
            assert!((votes.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let center = combined(votes, &trained.of(node));
            for (x, expected) in trained.centers[node * 6..][..6].iter().zip(center) {
                assert!((f64::from(*x) - expected).abs() < 1e-6);
            }
        }
    });
}

#[test]
fn without_attention_labels_are_not_read() {
    let network = network();
    let labels = labels(&network);
    let vectors = |attention: bool, labels: Option<&Labels>| {
        with_task(&network, labels, |task| Mve { attention, ..quick(Pairs::Edges) }.run(task).unwrap())
    };
    let plain = vectors(false, None);
    assert_eq!(plain.vectors, vectors(false, Some(&labels)).vectors);
    assert_ne!(plain.vectors, vectors(true, Some(&labels)).vectors);
    let untaught = vectors(true, None);
    assert_eq!(plain.vectors, untaught.vectors);
    let message = untaught.warnings[0].to_string();
    assert!(message.starts_with("attention learns from labels"), "{message}");
    assert!(plain.warnings.is_empty());
}

#[test]
fn at_most_labeled_nodes_are_learned_from() {
    let network = network();
    let labels = labels(&network);
    with_task(&network, Some(&labels), |task| {
        let examples = |labeled: usize| {
            let settings = Mve { labeled, ..quick(Pairs::Edges) };
            let views: Vec<&View> = task.network.views().iter().collect();
            settings.supervision(task, &views, &labels).unwrap().examples
        };
        let (few, all) = (examples(5), examples(200));
        assert_eq!((few.len(), all.len()), (5, 14));
        assert!(few.iter().all(|example| all.contains(example)));
        assert!(all.iter().all(|(node, own)| node % 3 == 0 && own == labels.of(*node)));
        let other = Labels::from_pairs(["x"], [("x", "y")]).unwrap();
        let message = quick(Pairs::Edges).supervision(task, &[], &other).err().unwrap().to_string();
        assert!(message.starts_with("the labels are for 1 nodes, but the network has 40"), "{message}");
    });
}

/// A strong pull leaves the views' vectors close to the common ones.
#[test]
fn a_strong_pull_makes_views_agree() {
    let network = network();
    let apart = |regularize: f64| -> f64 {
        with_task(&network, None, |task| {
            let settings = Mve { regularize, epochs: 40, ..quick(Pairs::Walks) };
            let trained = settings.train(task, None).unwrap();
            let from_center = |node: usize| {
                let center = &trained.centers[node * 6..][..6];
                let squares = |view: Vec<f64>| -> f64 {
                    view.iter().zip(center).map(|(x, &c)| (x - f64::from(c)).powi(2)).sum()
                };
                trained.of(node).into_iter().map(squares).sum::<f64>()
            };
            (0..40).map(from_center).sum()
        })
    };
    let (free, bound) = (apart(0.0), apart(30.0));
    assert!(bound < 0.1 * free, "{bound} and {free}");
}

#[test]
fn the_pull_goes_to_the_center_and_a_little_to_zero() {
    let mut x = [1.0, -2.0, 0.0];
    pull(&mut x, &[3.0, -2.0], 0.25, 1e-4);
    assert!(
        (x[0] - (1.5 - 1e-4)).abs() < 1e-6 && (x[1] - (-2.0 + 2e-4)).abs() < 1e-6 && x[2] == 0.0,
        "{x:?}"
    );
}

#[test]
fn the_order_of_views_changes_nothing_and_lengths_are_one() {
    let network = network();
    let turned = Network::new(network.nodes().clone(), network.views().iter().rev().cloned().collect());
    for pairs in Pairs::ALL {
        let vectors =
            |network: &Network| with_task(network, None, |task| quick(pairs).run(task).unwrap().vectors);
        let found = vectors(&network);
        assert_eq!(found, vectors(&turned));
        for vector in found.chunks_exact(6) {
            let length: f32 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-5, "{length}");
        }
    }
}

/// Each setting of the paper changes the vectors, and with all of them votes still add up to one.
#[test]
fn each_setting_of_the_paper_has_an_effect() {
    let network = network();
    let labels = labels(&network);
    let train = |settings: &Mve| {
        with_task(&network, Some(&labels), |task| settings.train(task, Some(&labels)).unwrap())
    };
    let program = || quick(Pairs::Edges);
    let plain = train(&program()).centers;
    let variants = [
        Mve { by_votes: true, ..program() },
        Mve { decay: 0.0, ..program() },
        Mve { noise: NoiseOf::View, ..program() },
        Mve { feature: Feature::Concat, ..program() },
        Mve { loss: Loss::Square, ..program() },
    ];
    for settings in &variants {
        assert!(train(settings).centers != plain, "{settings:?}");
    }
    let paper = Mve {
        by_votes: true,
        decay: 0.0,
        noise: NoiseOf::View,
        feature: Feature::Concat,
        loss: Loss::Square,
        ..program()
    };
    let sums = train(&paper).votes.into_iter().map(|votes| votes.iter().sum::<f64>());
    assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-12));
}

/// Two views without common nodes: with noise per view, the vectors of a view do not depend on the edges of the other;
/// with pooled noise they do, through the contexts.
#[test]
fn noise_of_a_view_leaves_other_nodes_alone() {
    let vectors = |noise: NoiseOf, step: usize| {
        let mut builder = NetworkBuilder::new();
        for (name, step) in [("a", 1), ("b", step)] {
            let view = builder.add_view(name, false, Duplicates::Sum).unwrap();
            for at in 0..20 {
                let ends = [at, (at + step) % 20].map(|node| format!("{name}{node:02}"));
                let [source, target] = ends.map(|id| builder.node(id.as_bytes()).unwrap());
                builder.add_edge(view, source, target, 1.0).unwrap();
            }
        }
        let settings = Mve { noise, regularize: 0.0, ..quick(Pairs::Edges) };
        with_task(&builder.build().unwrap(), None, |task| {
            let trained = settings.train(task, None).unwrap();
            (0..20).flat_map(|node| trained.views[0].row(node).to_vec()).collect::<Vec<f32>>()
        })
    };
    assert!(vectors(NoiseOf::View, 1).iter().any(|&x| x != 0.0));
    assert!(vectors(NoiseOf::View, 1) == vectors(NoiseOf::View, 3));
    assert!(vectors(NoiseOf::Pooled, 1) != vectors(NoiseOf::Pooled, 3));
}

#[test]
fn there_are_as_many_starts_as_walks_have_nodes() {
    let network = network();
    let settings = Mve { depth: 2, ..quick(Pairs::Edges) };
    let source = Source::new(&settings, &network.views()[0], Key::new(1));
    let corpus = source.corpus(40);
    let mut pairs = Vec::new();
    (0..corpus.blocks).for_each(|block| (corpus.fill)(block, &mut pairs));
    assert_eq!(pairs.len(), 40 * 4 * 10 * 2);
}

#[test]
fn each_bad_setting_is_named() {
    let base = Mve::default;
    let bad = [
        (Mve { walks: 0, ..base() }, "walks = 0"),
        (Mve { length: 1, ..base() }, "length = 1"),
        (Mve { window: 0, ..base() }, "window = 0"),
        (Mve { depth: 0, ..base() }, "depth = 0"),
        (Mve { negative: 0, ..base() }, "negative = 0"),
        (Mve { rate: -1.0, ..base() }, "rate = -1"),
        (Mve { epochs: 0, ..base() }, "epochs = 0"),
        (Mve { regularize: -0.1, ..base() }, "regularize = -0.1"),
        (Mve { regularize: 50.0, ..base() }, "regularize = 50"),
        (Mve { decay: -0.1, ..base() }, "decay = -0.1"),
        (Mve { decay: 1.0, ..base() }, "decay = 1"),
        (Mve { labeled: 0, ..base() }, "labeled = 0"),
    ];
    for (settings, words) in bad {
        let message = settings.check().unwrap_err().to_string();
        assert!(message.starts_with(words), "{message}");
    }
}

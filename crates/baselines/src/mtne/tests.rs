use std::ops::ControlFlow;

use super::*;
use crate::tests::network;
use manyview_base::parallel::Pool;
use manyview_core::method::Progress;
use manyview_data::Network;

fn with_task<R>(network: &Network, dim: usize, run: impl FnOnce(&mut Task<'_, '_>) -> R) -> R {
    let pool = Pool::new(Some(2)).unwrap();
    let mut go_on = |_: &Progress<'_>| ControlFlow::Continue(());
    run(&mut Task::new(network, dim, 5, &pool, None, &mut go_on))
}

fn quick(order: usize) -> MtneC {
    MtneC { samples: Some(20_000), order, decay: 0.0, ..MtneC::default() }
}

/// Returns the vectors of LINE on a view, from given initial vectors.
fn line(view: &View, key: Key, order: usize, mut vectors: Table, samples: usize) -> Vec<f32> {
    let noise = Noise::of_counts(vectors.parts(), &Weights::of(view).incoming);
    let negatives = Negatives { noise: &noise, count: 5, clash: Clash::Keep };
    let pool = Pool::new(Some(1)).unwrap();
    let training = Training { negatives, rate: line_rate(0.025), key: key.with(1), pool: &pool };
    let edges = Edges::new(view, key.with(0));
    let corpus = edges.corpus(samples, 1);
    let mut contexts = Table::zeros(vectors.parts().clone(), vectors.dim());
    let mut tables = match order {
        1 => Tables::One(&mut vectors),
        _ => Tables::Two { inputs: &mut vectors, outputs: &mut contexts },
    };
    train(&mut tables, &corpus, 0..corpus.blocks, &training, &|_, _, _| (), &mut |_| Ok(())).unwrap();
    vectors.to_vec(|_| true)
}

#[test]
fn one_view_is_line_in_as_many_columns() {
    let network = network().only(1);
    let view = &network.views()[0];
    for order in [1, 2] {
        with_task(&network, 9, |task| {
            let widths = Widths::split(9, 1).unwrap();
            assert_eq!(widths, Widths { common: 5, own: 4 });
            let found = quick(order).train(task, widths).unwrap();
            let (common, own) = (task.key("common"), task.view_key("own", &view.name));
            let start = Side::random(&Parts::one(40), widths, common, own).table;
            let alone = line(view, task.view_key("edges", &view.name), order, start, 20_000);
            assert_eq!(found[0].vectors.table.to_vec(|_| true), alone, "order {order}");
        });
    }
}

#[test]
fn without_common_columns_every_view_is_a_line_of_its_own() {
    let network = network();
    let widths = Widths { common: 0, own: 6 };
    for order in [1, 2] {
        with_task(&network, 6, |task| {
            let found = quick(order).train(task, widths).unwrap();
            for trained in found {
                let name = &trained.view.name;
                let start =
                    Side::random(&Parts::one(40), widths, task.key("common"), task.view_key("own", name))
                        .table;
                let alone =
                    line(trained.view, task.view_key("edges", name), order, start, 20_000usize.div_ceil(3));
                assert_eq!(trained.vectors.table.to_vec(|_| true), alone, "{name}, order {order}");
            }
        });
    }
}

/// One step of LINE in f64; returns the vectors of source and target. All negative samples are the target itself.
fn naive_step(source: &[f64], target: &[f64], negatives: usize, rate: f64) -> [Vec<f64>; 2] {
    let (mut error, mut target) = (vec![0.0; source.len()], target.to_vec());
    for label in std::iter::once(1.0).chain(std::iter::repeat_n(0.0, negatives)) {
        let score: f64 = source.iter().zip(&target).map(|(x, y)| x * y).sum();
        let step = rate * (label - 1.0 / (1.0 + (-score).exp()));
        error.iter_mut().zip(&target).for_each(|(error, y)| *error += step * y);
        target.iter_mut().zip(source).for_each(|(y, x)| *y += step * x);
    }
    [source.iter().zip(&error).map(|(x, error)| x + error).collect(), target]
}

/// One step in each of two views, one after the other: each moves its own columns and the common ones, and all views
/// end with the common columns of the last step.
#[test]
fn steps_move_own_columns_and_common_ones_of_all() {
    let network = Network::from_edges(&[("v", &[("a", "b", 1.0)]), ("w", &[("a", "b", 1.0)])]).unwrap();
    let widths = Widths { common: 2, own: 2 };
    let rate = 0.5;
    let settings = MtneC { samples: Some(2), negative: 1, rate, decay: 0.0, ..MtneC::default() };
    with_task(&network, 6, |task| {
        let views = by_name(task);
        let wide = |views: &[Trained<'_>]| -> Vec<Vec<f64>> {
            let table = |view: &Trained<'_>| view.vectors.table.to_vec(|_| true);
            views.iter().map(|view| table(view).into_iter().map(f64::from).collect()).collect()
        };
        let start = wide(&settings.start(task, &views, widths));
        let found = wide(&settings.train(task, widths).unwrap());
        // Either end is the source. Of two nodes, the negative sample is the source (skipped) or the target.
        let step = |both: &[f64], turned: bool, negatives: usize| {
            let (source, target) = if turned { (&both[4..], &both[..4]) } else { (&both[..4], &both[4..]) };
            let [source, target] = naive_step(source, target, negatives, rate);
            if turned { [target, source].concat() } else { [source, target].concat() }
        };
        let copy_common = |to: &[f64], from: &[f64]| [&from[..2], &to[2..4], &from[4..6], &to[6..]].concat();
        let ways = || [(false, 0), (false, 1), (true, 0), (true, 1)];
        let fits = ways().into_iter().any(|(turned, negatives)| {
            let first = step(&start[0], turned, negatives);
            ways().into_iter().any(|(turned, negatives)| {
                let second = step(&copy_common(&start[1], &first), turned, negatives);
                let expected = [copy_common(&first, &second), second].concat();
                expected.iter().zip(found.concat()).all(|(x, y)| (x - y).abs() < 1e-6)
            })
        });
        assert!(fits, "{start:?} became {found:?}");
        for view in 0..2 {
            let far = |at: usize| (start[view][at] - found[view][at]).abs() > 1e-3;
            assert!((0..8).any(far), "nothing moved in view {view}");
        }
    });
}

/// Views with the same edges differ only by their random numbers: their own columns are about equally long.
#[test]
fn equal_views_get_equal_shares() {
    let edges = network().views()[0].clone();
    let views = ["x", "y", "z"].map(|name| View { name: name.into(), ..edges.clone() });
    let network = Network::new(network().nodes().clone(), views.into());
    with_task(&network, 16, |task| {
        let found = MtneC { samples: Some(300_000), ..quick(1) }.run(task).unwrap();
        let length = |part: usize| -> f32 {
            let columns = found.parts[part].columns.clone();
            found.vectors.chunks_exact(16).flat_map(|row| row[columns.clone()].iter()).map(|x| x * x).sum()
        };
        let lengths = [1, 2, 3].map(length);
        let mean = lengths.iter().sum::<f32>() / 3.0;
        assert!(lengths.iter().all(|length| (length / mean - 1.0).abs() < 0.2), "{lengths:?}");
    });
}

/// The columns of each view do not depend on the order of views; only the order of columns does.
#[test]
fn turning_the_views_around_turns_their_columns_around() {
    let network = network();
    let turned = Network::new(network.nodes().clone(), network.views().iter().rev().cloned().collect());
    for order in [1, 2] {
        let vectors = |network: &Network| with_task(network, 13, |task| quick(order).run(task).unwrap());
        let (plain, other) = (vectors(&network), vectors(&turned));
        assert_eq!(plain.parts.len(), 4);
        assert_eq!(plain.parts[0].columns, 0..4);
        for node in 0..40 {
            let (row, mirrored) = (&plain.vectors[node * 13..][..13], &other.vectors[node * 13..][..13]);
            assert_eq!(row[..4], mirrored[..4]);
            for at in 0..3 {
                assert_eq!(row[4 + 3 * at..][..3], mirrored[4 + 3 * (2 - at)..][..3]);
            }
        }
        assert!(plain.parts[1].view.as_ref() == Some(&network.views()[0].name));
        assert!(other.parts[1].view.as_ref() == Some(&network.views()[2].name));
    }
}

#[test]
fn outputs_are_parts_of_the_same_vectors() {
    let network = network();
    let found =
        |columns| with_task(&network, 8, |task| MtneC { columns, ..quick(1) }.run(task).unwrap()).vectors;
    let (all, common, mean) = (found(Output::All), found(Output::Common), found(Output::Mean));
    for node in 0..40 {
        let row = &all[node * 8..][..8];
        assert_eq!(row[..2], common[node * 2..][..2]);
        assert_eq!(row[..2], mean[node * 4..][..2]);
        let has: Vec<usize> =
            (0..3).filter(|&view| !network.views()[view].adjacency.row(node).0.is_empty()).collect();
        for column in 0..2 {
            let sum: f32 = has.iter().map(|view| row[2 + 2 * view + column]).sum();
            assert!((mean[node * 4 + 2 + column] - sum / has.len() as f32).abs() < 1e-6);
        }
        for view in (0..3).filter(|view| !has.contains(view)) {
            assert_eq!(row[2 + 2 * view..][..2], [0.0; 2], "node {node} is not in view {view}");
        }
    }
}

#[test]
fn samples_are_the_same_for_all_or_go_by_edges() {
    let network = Network::from_edges(&[
        ("v", &[("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 1.0)]),
        ("w", &[("a", "b", 9.0)]),
    ])
    .unwrap();
    with_task(&network, 3, |task| {
        let views = by_name(task);
        let each = |samples, by_edges| MtneC { samples, by_edges, ..quick(1) }.samples_each(&views, 3);
        assert_eq!(each(Some(100), false), [50, 50]);
        assert_eq!(each(Some(100), true), [75, 25]);
        assert_eq!(each(None, false), [3750, 3750]);
    });
}

#[test]
fn decay_makes_vectors_shorter() {
    let network = network();
    let length = |decay: f64| -> f32 {
        with_task(&network, 8, |task| MtneC { decay, ..quick(1) }.run(task).unwrap())
            .vectors
            .iter()
            .map(|x| x * x)
            .sum()
    };
    assert!(length(1.0) < 0.9 * length(0.0));
}

#[test]
fn each_bad_setting_is_named() {
    let base = MtneC::default;
    let bad = [
        (MtneC { samples: Some(0), ..base() }, "samples = 0"),
        (MtneC { negative: 0, ..base() }, "negative = 0"),
        (MtneC { rate: 2.0, ..base() }, "rate = 2"),
        (MtneC { order: 3, ..base() }, "order = 3"),
        (MtneC { decay: -1.0, ..base() }, "decay = -1"),
        (MtneC { decay: 50.0, ..base() }, "decay = 50 exceeds 1 / rate, which is 40 with rate = 0.025"),
    ];
    for (settings, words) in bad {
        let message = settings.check().unwrap_err().to_string();
        assert!(message.starts_with(words), "{message}");
    }
    let message = Widths::split(3, 3).unwrap_err().to_string();
    assert!(message.starts_with("dim = 3 is too small for 3 views"), "{message}");
    assert_eq!(Widths::split(256, 2).unwrap(), Widths { common: 86, own: 85 });
    assert_eq!(Widths::split(256, 6).unwrap(), Widths { common: 40, own: 36 });
}

//! Tests of MNE against its definition.

use std::ops::ControlFlow;

use super::*;
use crate::tests::network;
use manyview_base::parallel::Pool;
use manyview_base::random::unit_f64;

/// Runs a function with a task on a network.
fn with_task<R>(network: &Network, run: impl FnOnce(&mut Task<'_, '_>) -> R) -> R {
    let pool = Pool::new(Some(2)).unwrap();
    run(&mut Task::new(network, 6, 1, &pool, None, &mut |_| ControlFlow::Continue(())))
}

fn small() -> Mne {
    Mne { walks: 3, epochs: 3, view_epochs: 2, extra: 3, ..Mne::default() }
}

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    (0..count).map(|at| unit_f64(Key::new(seed).at(at, 0)) as f32 - 0.5).collect()
}

fn square(extras: &Extras) -> f64 {
    extras.matrix.iter().map(|&x| f64::from(x).powi(2)).sum()
}

/// A base, extras with a matrix that is not zero, and outputs: three nodes, five columns, two extras.
fn state() -> (Table, Extras, Table) {
    let (mut base, mut outputs) = (Table::zeros(Parts::one(3), 5), Table::zeros(Parts::one(3), 5));
    for node in 0..3 {
        base.row_mut(node).copy_from_slice(&numbers(5, 10 + node as u64));
        outputs.row_mut(node).copy_from_slice(&numbers(5, 20 + node as u64));
    }
    let mut extras = Extras::new(3, 2, base.stride(), Key::new(1));
    let stride = base.stride();
    for (row, matrix) in extras.matrix.chunks_exact_mut(stride).enumerate() {
        matrix[..5].copy_from_slice(&numbers(5, 30 + row as u64));
    }
    extras.vectors = numbers(6, 40);
    extras.square = square(&extras);
    assert!(extras.square < 0.8, "steps are not to be divided");
    (base, extras, outputs)
}

/// The logarithm of the likelihood of (0, 1) with one negative, 2, in f64.
fn likelihood(base: &Table, extras: &Extras, outputs: &Table) -> f64 {
    let stride = base.stride();
    let vector = |col: usize| {
        let extra =
            |row: usize| f64::from(extras.matrix[row * stride + col]) * f64::from(extras.vectors[row]);
        f64::from(base.row(0)[col]) + extra(0) + extra(1)
    };
    let z = |node: usize| (0..5).map(|col| vector(col) * f64::from(outputs.row(node)[col])).sum::<f64>();
    -(-z(1)).exp().ln_1p() - z(2).exp().ln_1p()
}

#[test]
fn base_extras_and_matrix_follow_the_gradient() {
    let (rate, h) = (1e-3f32, 1e-2f32);
    let (start, old, outputs) = state();
    let (mut base, mut extras, mut new_outputs) = (start.clone(), old.clone(), outputs.clone());
    // Only node 2 is ever drawn.
    let noise = Alias::new(&[0.0, 0.0, 1.0]);
    let mut steps = Steps::new(&noise, 1, base.stride());
    let pair = [Pair { input: 0, output: 1 }];
    let mut stream = Stream::new(Key::new(5));
    steps.run(&mut Base::Learns(&mut base), &mut extras, &mut new_outputs, &pair, rate, &mut stream);
    let check = |what: &str, step: f32, slope: f64| {
        let step = f64::from(step) / f64::from(rate);
        assert!((step - slope).abs() < 2e-3, "{what}: {step} and {slope}");
    };
    let two_h = 2.0 * f64::from(h);
    for col in 0..5 {
        let [mut up, mut down] = [start.clone(), start.clone()];
        up.row_mut(0)[col] += h;
        down.row_mut(0)[col] -= h;
        let slope = (likelihood(&up, &old, &outputs) - likelihood(&down, &old, &outputs)) / two_h;
        check("base", base.row(0)[col] - start.row(0)[col], slope);
    }
    let moved = |change: &dyn Fn(&mut Extras, f32)| {
        let [mut up, mut down] = [old.clone(), old.clone()];
        change(&mut up, h);
        change(&mut down, -h);
        (likelihood(&start, &up, &outputs) - likelihood(&start, &down, &outputs)) / two_h
    };
    for row in 0..2 {
        let slope = moved(&|extras, h| extras.vectors[row] += h);
        check("extra", extras.vectors[row] - old.vectors[row], slope);
        for at in (0..5).map(|col| row * start.stride() + col) {
            check("matrix", extras.matrix[at] - old.matrix[at], moved(&|extras, h| extras.matrix[at] += h));
        }
    }
    assert_eq!(extras.vectors[2..], old.vectors[2..], "other nodes stay");
}

#[test]
fn a_matrix_stays_zero_without_extras() {
    let (base, mut extras, mut outputs) = state();
    let noise = Alias::new(&[1.0, 1.0, 1.0]);
    let mut steps = Steps::new(&noise, 2, base.stride());
    let pairs = [Pair { input: 0, output: 1 }; 50];
    let mut stream = Stream::new(Key::new(6));
    extras.matrix.fill(0.0);
    extras.vectors.fill(0.0);
    steps.run(&mut Base::Fixed(&base), &mut extras, &mut outputs, &pairs, 0.1, &mut stream);
    assert!(extras.matrix.iter().chain(&extras.vectors).all(|&x| x == 0.0));
}

/// The norm is updated without computing it again, and stays below its bound.
#[test]
fn a_matrix_stays_below_its_bound() {
    let (_, mut extras, _) = state();
    let error = [numbers(5, 50), vec![0.0; 11]].concat();
    for _ in 0..100 {
        extras.learn(0, &error);
        assert!((extras.square / square(&extras) - 1.0).abs() < 1e-5);
    }
    let grow = (998.0 / square(&extras).sqrt()) as f32;
    extras.matrix.iter_mut().for_each(|x| *x *= grow);
    extras.square = square(&extras);
    let error: Vec<f32> = error.iter().map(|x| 1e6 * x).collect();
    for _ in 0..100 {
        extras.learn(0, &error);
        assert!(square(&extras).sqrt() < 1000.01, "{}", square(&extras).sqrt());
    }
    assert!(square(&extras).sqrt() > 999.0);
}

/// A step moves the vector by no more than a few errors, however large extras and matrix are.
#[test]
fn steps_stay_as_short_as_those_of_skip_gram() {
    let (_, mut extras, _) = state();
    extras.matrix.iter_mut().chain(&mut extras.vectors).for_each(|x| *x *= 20.0);
    extras.square = square(&extras);
    let vector = |extras: &Extras| {
        let mut vector = vec![0.0; 16];
        extras.add_to(&mut vector, 0, 1.0);
        vector
    };
    let (before, error) = (vector(&extras), [numbers(5, 51), vec![0.0; 11]].concat());
    let error: Vec<f32> = error.iter().map(|x| 0.01 * x).collect();
    extras.learn(0, &error);
    let length = |x: &mut dyn Iterator<Item = f32>| x.map(|x| x * x).sum::<f32>().sqrt();
    let moved = length(&mut vector(&extras).iter().zip(&before).map(|(new, old)| new - old));
    let whole = length(&mut error.iter().copied());
    assert!(moved > 0.1 * whole && moved < 1.1 * whole, "{moved} of {whole}");
}

#[test]
fn a_weight_of_zero_leaves_the_base() {
    let network = network();
    with_task(&network, |task| {
        let key = task.key("mne");
        let base = small().base(task, key).unwrap();
        let none = Mne { own_weight: 0.0, ..small() };
        assert_eq!(none.run(task).unwrap().vectors, base);
        let untrained = Mne { view_epochs: 0, ..small() };
        assert_eq!(untrained.run(task).unwrap().vectors, base);
        assert_ne!(small().run(task).unwrap().vectors, base);
    });
}

/// With one view and no second phase, MNE is DeepWalk with the same settings and random numbers.
#[test]
fn the_base_of_one_view_is_deepwalk() {
    let network = network().only(0);
    with_task(&network, |task| {
        let key = task.key("mne");
        let mne = Mne { view_epochs: 0, ..small() };
        let view = std::iter::once(&network.views()[0]);
        let walks = Walks::new(view, false, DeadEnd::Stop, (mne.walks, mne.length), key.with(0));
        let skip_gram = mne.skip_gram(mne.epochs);
        let vectors = skip_gram.run(task, &walks, key.with(1), Clash::Redraw).unwrap();
        assert_eq!(mne.run(task).unwrap().vectors, vectors);
    });
}

#[test]
fn the_union_has_each_edge_once() {
    let network = Network::from_edges(&[
        ("one", &[("a", "b", 2.0), ("b", "c", 1.0)]),
        ("two", &[("a", "b", 5.0), ("a", "c", 1.0)]),
    ]);
    let union = union(&network.unwrap());
    assert_eq!(union.indices(), [1, 2, 0, 2, 0, 1]);
    assert!(union.values().iter().all(|&weight| weight == 1.0));
}

/// Nodes without edges in a view have no extras there; joint training has a different result.
#[test]
fn joint_training_learns_all_three() {
    let network = network();
    let (absent, present): (Vec<usize>, Vec<usize>) =
        (0..40).partition(|&node| network.views()[0].adjacency.row(node).0.is_empty());
    assert!(!absent.is_empty() && !present.is_empty());
    with_task(&network, |task| {
        let joint = Mne { joint: true, ..small() };
        let (base, extras) = joint.jointly(task, Key::new(1)).unwrap();
        let random = Table::random(Parts::one(40), 6, Key::new(1).with(1)).to_vec(|_| true);
        assert!(base.chunks(6).zip(random.chunks(6)).any(|(a, b)| a != b));
        let of = |node: usize| &extras[0].vectors[node * 3..][..3];
        assert!(absent.iter().all(|&node| of(node) == [0.0; 3]));
        assert!(present.iter().all(|&node| of(node) != [0.0; 3]));
        assert!(extras.iter().all(|extras| extras.matrix.iter().any(|&x| x != 0.0)));
        let found = joint.run(task).unwrap().vectors;
        assert!(found.iter().all(|x| x.is_finite()));
        assert_ne!(found, small().run(task).unwrap().vectors);
    });
}

#[test]
fn senseless_settings_are_refused_by_name() {
    for (settings, expected) in [
        (Mne { extra: 0, ..small() }, "extra = 0"),
        (Mne { own_weight: f64::INFINITY, ..small() }, "own_weight = inf"),
        (Mne { joint: true, view_epochs: 0, ..small() }, "view_epochs = 0"),
        (Mne { rate: -1.0, ..small() }, "rate = -1"),
        (Mne { negative: 0, ..small() }, "negative = 0"),
    ] {
        let message = settings.check().unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

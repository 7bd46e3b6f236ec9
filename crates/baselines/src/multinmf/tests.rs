use super::*;
use manyview_base::linalg::{Csr, Tiles};

const NODES: usize = 60;
const WIDTH: usize = 5;

fn settings(lambda: f64) -> MultiNmf {
    MultiNmf { lambda, rounds: 4, inner: 5, ..MultiNmf::default() }
}

fn matrices(seeds: &[u64]) -> Vec<Tiles<f64>> {
    seeds.iter().map(|&seed| Tiles::from_csr(&Csr::<f64>::random(NODES, NODES, 0.2, seed))).collect()
}

fn factors(seed: u64, size: f64) -> Factors {
    let key = Key::new(seed);
    let mut factors = Factors { u: random(key.with(0), NODES, WIDTH), v: random(key.with(1), NODES, WIDTH) };
    normalize(&mut factors);
    factors.v.scale_columns(&[size; WIDTH]);
    factors
}

fn with_work<R>(
    settings: &MultiNmf,
    matrices: &[Tiles<f64>],
    total: f64,
    f: impl FnOnce(&Work<'_, f64>) -> R,
) -> R {
    let (done, canceled) = (AtomicUsize::new(0), AtomicBool::new(false));
    let targets = matrices.iter().map(|matrix| Target::new(matrix, total)).collect();
    f(&Work { settings, targets, done: &done, canceled: &canceled })
}

fn total() -> f64 {
    (NODES * NODES) as f64
}

#[test]
fn objective_never_rises_within_a_view() {
    let consensus = random(Key::new(9), NODES, WIDTH);
    for lambda in [0.0, 0.01, 3.0] {
        with_work(&settings(lambda), &matrices(&[1]), total(), |work| {
            let (mut now, pull) = (factors(4, 1.0), work.pull(lambda, &consensus));
            let mut last = work.objective(0, &now, pull);
            for _ in 0..40 {
                work.improve(0, &mut now, pull, 1).unwrap();
                let next = work.objective(0, &now, pull);
                assert!(next <= last * (1.0 + 1e-12), "{next} after {last}, lambda {lambda}");
                last = next;
            }
            let sums = (0..WIDTH).map(|col| (0..NODES).map(|row| now.u.row(row)[col]).sum::<f64>());
            assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-12));
        });
    }
}

#[test]
fn normalizing_leaves_the_objective() {
    let consensus = random(Key::new(9), NODES, WIDTH);
    with_work(&settings(2.0), &matrices(&[1]), total(), |work| {
        let mut factors = factors(4, 1.0);
        factors.u.scale_columns(&[0.5, 2.0, 3.0, 1.0, 7.0]);
        let pull = work.pull(2.0, &consensus);
        let before = work.objective(0, &factors, pull);
        normalize(&mut factors);
        assert!((work.objective(0, &factors, pull) / before - 1.0).abs() < 1e-12);
    });
}

#[test]
fn terms_of_u_are_the_gradient_of_the_objective() {
    let consensus = random(Key::new(9), NODES, WIDTH);
    with_work(&settings(2.0), &matrices(&[1]), total(), |work| {
        let mut factors = factors(4, 1.0);
        // Sums other than one, so that Q has an effect.
        factors.u.scale_columns(&[30.0, 2.0, 40.0, 1.0, 7.0]);
        let pull = work.pull(2.0, &consensus);
        let terms = work.targets[0].u_terms(&factors, pull, &|| true);
        for (row, col) in [(0, 0), (7, 3), (31, 4), (59, 2)] {
            let fitted: f64 =
                factors.u.row(row).iter().enumerate().map(|(at, x)| x * terms.gram[at * WIDTH + col]).sum();
            let gradient = 2.0 * (fitted + terms.added[col] - terms.numerators.row(row)[col]);
            let shifted = |by: f64| {
                let mut factors = factors.clone();
                factors.u.row_mut(row)[col] += by;
                work.objective(0, &factors, pull)
            };
            let step = 1e-4;
            let difference = (shifted(step) - shifted(-step)) / (2.0 * step);
            assert!(
                (gradient - difference).abs() < 1e-5 * gradient.abs().max(1.0),
                "{gradient} {difference}"
            );
        }
    });
}

#[test]
fn equal_views_agree_with_their_consensus() {
    with_work(&settings(0.5), &matrices(&[1, 1]), total(), |work| {
        let (found, warning) = work.rounds(vec![factors(4, 1.0), factors(4, 1.0)]).unwrap();
        assert_eq!(mean(&found), found[0].v);
        assert_eq!(found[0], found[1]);
        assert_eq!(warning, None);
    });
}

#[test]
fn without_lambda_views_are_factorized_alone() {
    let both = with_work(&settings(0.0), &matrices(&[1, 2]), total(), |work| {
        work.rounds(vec![factors(4, 1.0), factors(5, 1.0)]).unwrap().0
    });
    for (view, (seed, start)) in [(1, 4), (2, 5)].into_iter().enumerate() {
        let alone = with_work(&settings(0.0), &matrices(&[seed]), total(), |work| {
            work.rounds(vec![factors(start, 1.0)]).unwrap().0
        });
        assert_eq!(both[view], alone[0]);
    }
}

/// X times c gives V times c and the same U, to the bit because c is a power of two.
#[test]
fn a_common_factor_changes_the_size_alone() {
    let solve = |size: f64| {
        with_work(&settings(0.1), &matrices(&[1, 2]), total() * size, |work| {
            work.rounds(vec![factors(4, size), factors(5, size)]).unwrap().0
        })
    };
    let (plain, large) = (solve(1.0), solve(1024.0));
    for (plain, large) in plain.iter().zip(&large) {
        assert_eq!(plain.u, large.u);
    }
    let mut scaled = mean(&plain);
    scaled.scale_columns(&[1024.0; WIDTH]);
    assert_eq!(scaled, mean(&large));
}

/// In each view, some nodes have no edges, which have edges in the others.
#[test]
fn nodes_that_a_view_lacks_live_on_in_the_next() {
    let lacking = |seed: u64, absent: std::ops::Range<usize>| {
        let all = Csr::<f64>::random(NODES, NODES, 0.2, seed);
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..NODES {
            if !absent.contains(&row) {
                indices.extend_from_slice(all.row(row).0);
                values.extend_from_slice(all.row(row).1);
            }
            starts.push(indices.len());
        }
        Tiles::from_csr(&Csr::new(NODES, starts, indices, values))
    };
    let matrices = [lacking(1, 0..20), lacking(2, 20..40), lacking(3, 40..60)];
    let keys = [1, 2, 3].map(Key::new);
    let lost = |guard: Option<f64>| {
        let settings = MultiNmf { guard, inner: 20, ..settings(0.01) };
        with_work(&settings, &matrices, total(), |work| {
            let found = work.start(&keys, WIDTH).unwrap();
            let lost = |view: usize, row: usize| found[view].v.row(row).iter().all(|&x| x == 0.0);
            let of_view = |view: usize| (0..NODES).filter(|&row| lost(view, row)).collect::<Vec<_>>();
            [0, 1, 2].map(of_view)
        })
    };
    let [own, all] = [lost(None), lost(Some(1e-300))];
    assert_eq!(own, [(0..20).collect::<Vec<_>>(), (20..40).collect(), (40..60).collect()]);
    assert!(all.iter().all(|lost| lost.len() == NODES), "as in the published program");
}

/// The published guard is larger than the denominators of small matrices; then nothing is fitted.
#[test]
fn the_guard_spoils_the_fit_of_small_matrices() {
    let left = |guard: Option<f64>| {
        let settings = MultiNmf { guard, ..settings(0.0) };
        with_work(&settings, &matrices(&[1]), 1e-8, |work| {
            let (mut found, none) = (factors(4, 1e-8 / total()), Dense::zeros(0, WIDTH));
            work.improve(0, &mut found, work.pull(0.0, &none), 20).unwrap();
            let empty = Factors { u: Dense::zeros(NODES, WIDTH), v: Dense::zeros(NODES, WIDTH) };
            work.objective(0, &found, work.pull(0.0, &none))
                / work.objective(0, &empty, work.pull(0.0, &none))
        })
    };
    let (without, with) = (left(None), left(Some(1e-10)));
    assert!(without < 0.85 && with > 0.99, "{without} and {with}");
}

#[test]
fn rounds_that_rise_again_and_again_end_it() {
    // The guard is so high that updates do not decrease the objective.
    let settings = MultiNmf { guard: Some(1e3), rounds: 50, ..settings(0.1) };
    with_work(&settings, &matrices(&[1, 2]), total(), |work| {
        let start = MultiNmf { guard: None, ..settings.clone() };
        let good = with_work(&start, &matrices(&[1, 2]), total(), |work| {
            work.rounds(vec![factors(4, 1.0), factors(5, 1.0)]).unwrap().0
        });
        let (found, warning) = work.rounds(good.clone()).unwrap();
        let message = warning.expect("the run ends early").to_string();
        assert!(message.contains("of 50 rounds: the objective increased 4 times in a row"), "{message}");
        assert_eq!(found, good);
    });
}

#[test]
fn several_starts_are_no_worse_than_one() {
    let error = |starts: usize| {
        let settings = MultiNmf { starts, inner: 20, ..settings(0.0) };
        with_work(&settings, &matrices(&[1]), total(), |work| {
            let found = work.factorize(0, Key::new(3), &random(Key::new(2), NODES, WIDTH), true).unwrap();
            let none = Dense::zeros(0, WIDTH);
            work.objective(0, &found, work.pull(0.0, &none))
        })
    };
    assert!(error(6) < error(1));
}

#[test]
fn senseless_settings_are_refused() {
    let (base, near) = (MultiNmf::default, proximity::Settings::default);
    for (settings, expected) in [
        (MultiNmf { lambda: -1.0, ..base() }, "lambda = -1: expected a number of at least 0"),
        (MultiNmf { inner: 0, ..base() }, "inner = 0"),
        (MultiNmf { starts: 0, ..base() }, "starts = 0"),
        (
            MultiNmf { rounds: 1 << 40, ..base() },
            "rounds = 1099511627776: expected a whole number of at most 1048576",
        ),
        (MultiNmf { guard: Some(0.0), ..base() }, "guard = 0: expected a number above 0"),
        (MultiNmf { proximity: proximity::Settings { window: 0, ..near() }, ..base() }, "window = 0"),
    ] {
        let error = settings.check().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

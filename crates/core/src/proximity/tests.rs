//! Exact proximity matrices.

use super::*;
use manyview_data::network::EdgeCounts;

fn view(nodes: usize, edges: &[(usize, usize, f64)], directed: bool) -> View {
    let arcs = edges.iter().flat_map(|&(source, target, weight)| {
        let back = (!directed).then_some((target, source, weight));
        [(source, target, weight)].into_iter().chain(back)
    });
    let adjacency = Csr::from_triplets(nodes, nodes, arcs);
    View { name: "v".into(), directed, adjacency, counts: EdgeCounts::default() }
}

fn settings(window: usize, negative: f64) -> Settings {
    Settings { window, negative, ..Settings::default() }
}

fn compute(view: &View, settings: Settings, threads: usize) -> Result<Csr<f64>> {
    proximity_watched(view, Proximity::exact(settings), &Pool::new(Some(threads))?, &mut |_| {
        ControlFlow::Continue(())
    })
}

/// X computed from dense powers.
fn naive(view: &View, window: usize, negative: f64) -> Vec<Vec<f64>> {
    let nodes = view.adjacency.rows();
    let mut dense = vec![vec![0.0; nodes]; nodes];
    for (row, dense) in dense.iter_mut().enumerate() {
        for (&col, &weight) in view.adjacency.row(row).0.iter().zip(view.adjacency.row(row).1) {
            dense[col as usize] = weight;
        }
    }
    let degrees: Vec<f64> = dense.iter().map(|row| row.iter().sum()).collect();
    let volume: f64 = degrees.iter().sum();
    let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
    let walk: Vec<Vec<f64>> =
        dense.iter().zip(&degrees).map(|(row, &d)| row.iter().map(|w| w * inverse(d)).collect()).collect();
    let mut power = walk.clone();
    let mut sum = walk.clone();
    for _ in 1..window {
        power = power
            .iter()
            .map(|row| (0..nodes).map(|j| (0..nodes).map(|k| row[k] * walk[k][j]).sum()).collect())
            .collect();
        for (sum, power) in sum.iter_mut().flatten().zip(power.iter().flatten()) {
            *sum += power;
        }
    }
    let factor = volume / (negative * window as f64);
    sum.iter().map(|row| row.iter().zip(&degrees).map(|(x, &d)| factor * x * inverse(d)).collect()).collect()
}

fn ring(nodes: usize) -> Vec<(usize, usize, f64)> {
    (0..nodes)
        .map(|node| (node, (node * 3 + 1) % nodes, 1.0 + (node % 4) as f64))
        .filter(|e| e.0 != e.1)
        .collect()
}

#[test]
fn matrix_is_the_dense_one() {
    for directed in [false, true] {
        let view = view(300, &ring(300), directed);
        for (window, negative) in [(1, 1.0), (2, 3.0), (5, 1.0), (5, 5.0)] {
            let ours = compute(&view, settings(window, negative), 2).unwrap();
            let naive = naive(&view, window, negative);
            let expected = naive.iter().flatten().filter(|&&x| x > 1.0 + 1e-12).count();
            assert_eq!(ours.entries(), expected);
            for (row, naive) in naive.iter().enumerate() {
                for (&col, &value) in ours.row(row).0.iter().zip(ours.row(row).1) {
                    assert!((value - naive[col as usize].ln()).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn complete_graph_has_its_closed_form() {
    let nodes = 20;
    let edges: Vec<_> = (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b, 1.0))).collect();
    let ours = compute(&view(nodes, &edges, false), settings(1, 1.0), 1).unwrap();
    assert_eq!(ours.entries(), nodes * (nodes - 1));
    let expected = (nodes as f64 / (nodes as f64 - 1.0)).ln();
    assert!(ours.values().iter().all(|value| (value - expected).abs() < 1e-14));
}

#[test]
fn two_nodes_say_nothing_and_the_error_says_so() {
    let message = compute(&view(2, &[(0, 1, 1.0)], false), settings(2, 1.0), 1).unwrap_err().to_string();
    assert!(message.contains("view \"v\"") && message.contains("window = 1 and negative = 1"), "{message}");
}

#[test]
fn advice_for_an_empty_matrix_works() {
    let view = view(60, &ring(60), false);
    let message = compute(&view, settings(5, 1000.0), 1).unwrap_err().to_string();
    let advised = message.rsplit("negative = ").next().unwrap().parse().unwrap();
    assert!(compute(&view, settings(5, advised), 1).unwrap().entries() > 0, "{message}");
}

/// `sum_ij d_i d_j X_ij = vol^2 / b`: rows of `P^t` sum to one.
#[test]
fn total_before_the_logarithm_is_known() {
    let view = view(90, &ring(90), false);
    let degrees: Vec<f64> = (0..90).map(|row| view.adjacency.row(row).1.iter().sum()).collect();
    let volume: f64 = degrees.iter().sum();
    // With such a small b, no reachable pair is removed.
    let (window, negative) = (3, 1e-9);
    let ours = compute(&view, settings(window, negative), 1).unwrap();
    let mut total = 0.0;
    for row in 0..90 {
        for (&col, &value) in ours.row(row).0.iter().zip(ours.row(row).1) {
            total += degrees[row] * degrees[col as usize] * value.exp();
        }
    }
    assert!((total / (volume * volume / negative) - 1.0).abs() < 1e-9);
}

#[test]
fn relabelling_nodes_permutes_the_matrix() {
    let (nodes, to) = (150, |node: usize| (node * 7 + 3) % 150);
    let edges = ring(nodes);
    let moved: Vec<_> = edges.iter().map(|&(a, b, w)| (to(a), to(b), w)).collect();
    let here = compute(&view(nodes, &edges, false), settings(4, 1.0), 2).unwrap();
    let there = compute(&view(nodes, &moved, false), settings(4, 1.0), 2).unwrap();
    assert_eq!(here.entries(), there.entries());
    for row in 0..nodes {
        for (&col, &value) in here.row(row).0.iter().zip(here.row(row).1) {
            let (cols, values) = there.row(to(row));
            let at = cols.binary_search(&(to(col as usize) as u32)).unwrap();
            assert!((values[at] - value).abs() < 1e-12);
        }
    }
}

#[test]
fn isolated_nodes_are_empty_or_loops() {
    let view = view(40, &ring(30), false);
    let zero = compute(&view, settings(5, 1.0), 1).unwrap();
    assert!((30..40).all(|row| zero.row(row).0.is_empty()));
    let looped = compute(&view, Settings { isolated: Isolated::Loop, ..settings(5, 1.0) }, 1).unwrap();
    let volume: f64 = view.adjacency.values().iter().sum();
    assert!((30..40).all(|row| looped.row(row) == (&[row as u32][..], &[volume.ln()][..])));
}

#[test]
fn weights_of_any_size_give_the_same_matrix() {
    let scaled = |factor: f64| {
        let edges: Vec<_> = ring(80).iter().map(|&(a, b, w)| (a, b, w * factor)).collect();
        let pool = Pool::new(Some(1)).unwrap();
        proximity_watched::<f32>(
            &view(80, &edges, false),
            Proximity::exact(settings(5, 1.0)),
            &pool,
            &mut |_| ControlFlow::Continue(()),
        )
    };
    let plain = scaled(1.0).unwrap();
    for factor in [2f64.powi(-200), 2f64.powi(200)] {
        assert_eq!(scaled(factor).unwrap(), plain);
    }
}

/// Defect 2 of the fault campaign: one step of a walk has a formula, which logarithms compute for all weights.
#[test]
fn no_entry_of_extreme_weights_is_lost() {
    type Weight = fn(usize) -> f64;
    let cases: [(Weight, f64); 5] = [
        (|edge| if edge % 2 == 0 { 1e150 } else { 1e-150 }, 1.0),
        (|edge| if edge == 0 { 1e39 } else { 1.0 }, 1.0),
        (|edge| 1.0 + edge as f64, 1e-39),
        (|_| 3e307, 1.0),
        (|edge| 10f64.powi(20 - edge as i32), 1e-5),
    ];
    for (weights, negative) in cases {
        let edges: Vec<_> = ring(40).iter().enumerate().map(|(at, &(a, b, _))| (a, b, weights(at))).collect();
        let view = view(40, &edges, false);
        let pool = Pool::new(Some(2)).unwrap();
        let ours = proximity::<f32>(&view, settings(1, negative), &pool).unwrap();
        let degree = |row: usize| view.adjacency.row(row).1.iter().map(|weight| weight / 1e10).sum::<f64>();
        let volume: f64 = (0..40).map(degree).sum();
        let mut expected = 0;
        for row in 0..40 {
            for (&col, weight) in view.adjacency.row(row).0.iter().zip(view.adjacency.row(row).1) {
                let value = volume.ln() + (weight / 1e10).ln()
                    - degree(row).ln()
                    - degree(col as usize).ln()
                    - negative.ln();
                let found = ours.row(row).0.iter().position(|&other| other == col);
                let found = found.map_or(0.0, |at| f64::from(ours.row(row).1[at]));
                assert!((found - value.max(0.0)).abs() < 1e-5 * value.abs().max(1.0), "{found}, not {value}");
                expected += usize::from(value > 1e-9);
            }
        }
        assert_eq!(ours.entries(), expected);
    }
}

#[test]
fn what_f64_cannot_hold_is_refused_in_a_sentence() {
    let extreme = view(5, &[(0, 1, 1e-155), (1, 2, 1e155), (2, 3, 1e155), (3, 4, 1.0)], false);
    let text = compute(&extreme, settings(5, 1.0), 1).unwrap_err().to_string();
    assert!(text.contains("from 1e-155 to 1e155, differ too much") && text.contains("remove"), "{text}");
    let text = compute(&view(60, &ring(60), false), settings(5, 1e-307), 1).unwrap_err().to_string();
    assert!(text.contains("negative") && text.contains("out of range"), "{text}");
}

/// Each row computed for itself, without twins.
fn without_twins(view: &View, settings: Settings, rows: &[usize]) -> (Csr<f32>, f64) {
    let degrees = Degrees::of(view);
    let walk = Walk::<f32>::new(view, &degrees, Rule::Window(settings));
    walk.block(rows, 0, &mut Scratch::new(walk.nodes()), &AtomicBool::new(false)).unwrap()
}

fn rows_of(view: &View, settings: Settings, rows: Range<usize>) -> (Csr<f32>, f64) {
    kept_rows(view, settings, rows, Keep::All)
}

fn kept_rows(view: &View, settings: Settings, rows: Range<usize>, keep: Keep) -> (Csr<f32>, f64) {
    let pool = Pool::new(Some(2)).unwrap();
    let found = row_blocks::<f32>(view, Proximity::exact(settings), rows, keep, &pool, &mut |_| {
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    (Csr::stack(view.adjacency.rows(), found.blocks), found.largest)
}

/// Dense and sparse views, with one weight and with many, with twins, and with nodes that have no edges.
#[test]
fn the_upper_triangle_has_the_bits_of_the_whole() {
    let nodes = 3 * BLOCK_ROWS + 9;
    let random = |density: f64, weighted: bool| -> Vec<(usize, usize, f64)> {
        let pattern = Csr::<f64>::random(nodes, nodes, density, 8);
        let arcs = (0..nodes).flat_map(|row| pattern.row(row).0.iter().map(move |&col| (row, col as usize)));
        let weight = |row: usize| if weighted { 0.5 + (row % 9) as f64 } else { 2.0 };
        arcs.filter(|(row, col)| row < col).map(|(row, col)| (row, col, weight(row))).collect()
    };
    let stars = (2..nodes).map(|leaf| (leaf % 2, leaf, 1.0)).collect();
    for edges in [random(0.01, true), random(0.3, true), random(0.01, false), random(0.3, false), stars] {
        let view = view(nodes + 3, &edges, false);
        for window in [1, 2, 5] {
            let settings = Settings { isolated: Isolated::Loop, ..settings(window, 1.0) };
            let [(whole, _), (upper, _)] =
                [Keep::All, Keep::Upper].map(|keep| kept_rows(&view, settings, 0..nodes + 3, keep));
            assert_eq!(upper, whole.upper_triangle(0));
            assert!(upper.entries() < whole.entries());
        }
    }
}

/// A star of a million leaves was not finished after 300 s. Some of these rows are in blocks with others, some hubs have few
/// leaves, and some leaves have weights of their own.
#[test]
fn rows_that_are_the_same_are_computed_once() {
    let nodes = 14 * BLOCK_ROWS + 8;
    let hub_of = |node: usize| match node {
        4..900 => 0,
        900..1000 => 1 + node % 2,
        _ => 3,
    };
    let mut edges: Vec<_> = ring(4).iter().map(|&(a, b, _)| (a, b, 1.0)).collect();
    edges.extend((4..nodes).map(|node| (hub_of(node), node, 1.0 + (node % 7) as f64 / 3.0)));
    // Those have a second neighbor.
    edges.extend([100, 101, 1200].map(|node| (node, node + 1, 1.0)));
    for directed in [false, true] {
        // From the leaves to the hubs.
        let edges: Vec<_> = edges.iter().map(|&(hub, leaf, weight)| (leaf, hub, weight)).collect();
        let view = view(nodes, &edges, directed);
        let whole = nodes.div_ceil(TOGETHER);
        let computed = computed_groups(&view);
        assert!(computed < whole / 10, "{computed} of {whole}");
        for rows in [0..nodes, 700..nodes - 5, 0..1] {
            let all: Vec<usize> = rows.clone().collect();
            assert_eq!(rows_of(&view, settings(5, 1.0), rows), without_twins(&view, settings(5, 1.0), &all));
        }
    }
}

/// Members of groups that are linked to each other and to the same others: rows are equal up to rounding, and the same for
/// any part of the rows.
#[test]
fn rows_of_nodes_that_can_be_exchanged_are_computed_once() {
    // Groups of 1 to 60 nodes, spread over all rows; some are linked with the next group.
    let group = |node: usize| node * 7 % 600 % 37;
    let linked = |one: usize, other: usize| {
        let (one, other) = (group(one), group(other));
        one == other || (one.abs_diff(other) == 1 && one.min(other) % 5 == 0)
    };
    let nodes = 600;
    let pairs = (0..nodes).flat_map(|one| (0..one).map(move |other| (one, other)));
    let edges: Vec<_> = pairs.filter(|&(one, other)| linked(one, other)).map(|(a, b)| (a, b, 2.0)).collect();
    let view = view(nodes + 3, &edges, false);
    assert!(computed_groups(&view) <= 37usize.div_ceil(TOGETHER) + 1);
    for settings in [
        settings(1, 1.0),
        settings(5, 1.0),
        settings(3, 7.0),
        Settings { isolated: Isolated::Loop, ..settings(2, 1.0) },
    ] {
        let all: Vec<usize> = (0..nodes + 3).collect();
        let (whole, largest) = rows_of(&view, settings, 0..nodes + 3);
        let (expected, expected_largest) = without_twins(&view, settings, &all);
        assert!((largest / expected_largest - 1.0).abs() < 1e-6);
        assert_eq!((whole.indptr(), whole.indices()), (expected.indptr(), expected.indices()));
        for (found, expected) in whole.values().iter().zip(expected.values()) {
            assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
        }
        let some = 130..590;
        let (part, _) = rows_of(&view, settings, some.clone());
        for row in some {
            assert_eq!(part.row(row - 130), whole.row(row));
        }
    }
}

#[test]
fn few_twins_change_nothing() {
    let groups = |edges: Vec<(usize, usize, f64)>| computed_groups(&view(4000, &edges, false));
    // Rows of hubs, and one for the leaves of each.
    let hubs = |hubs: usize| groups((hubs..4000).map(|node| (node % hubs, node, 1.0)).collect());
    assert_eq!([hubs(16), hubs(200)], [1 + 1, 13 + 8 + 5]);
    // Pairs of leaves are too few.
    assert_eq!(hubs(1500), 250);
    // A ring has none.
    assert_eq!(groups((0..4000).map(|node| (node, (node + 1) % 4000, 1.0)).collect()), 250);
}

#[test]
fn breaking_interrupts() {
    let view = view(4000, &ring(4000), false);
    let pool = Pool::new(Some(2)).unwrap();
    let result = proximity_watched::<f32>(&view, Proximity::exact(settings(5, 1.0)), &pool, &mut |_| {
        ControlFlow::Break(())
    });
    assert!(matches!(result, Err(Error::Interrupted)));
}

//! Sampled matrices: identities that hold exactly, estimates without bias, and the same bits whatever computes them.

use std::ops::{ControlFlow, Range};

use super::*;
use crate::proximity::{How, Isolated, Proximity, Source, row_blocks as rows_of};
use manyview_base::linalg::BLOCK_ROWS;
use manyview_data::network::EdgeCounts;

type Edge = (usize, usize, f64);

fn view(nodes: usize, edges: &[Edge], directed: bool) -> View {
    let arcs = edges.iter().flat_map(|&(source, target, weight)| {
        let back = (!directed).then_some((target, source, weight));
        [(source, target, weight)].into_iter().chain(back)
    });
    let adjacency = Csr::from_triplets(nodes, nodes, arcs);
    View { name: "v".into(), directed, adjacency, counts: EdgeCounts::default() }
}

/// A graph with hubs and leaves, whose weights differ if asked for.
fn graph(nodes: usize, weighted: bool) -> Vec<Edge> {
    let weight = |at: usize| if weighted { 0.5 + (at % 7) as f64 } else { 1.0 };
    let edge = |at: usize| (at % nodes, (at * at + 3 * at + 1) % nodes, weight(at));
    let mut edges: Vec<Edge> = (0..4 * nodes).map(edge).filter(|edge| edge.0 != edge.1).collect();
    edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1), edge.2));
    edges.sort_by_key(|edge| (edge.0, edge.1));
    edges.dedup_by_key(|edge| (edge.0, edge.1));
    edges
}

fn sampled(settings: Settings, walks: usize, seed: u64) -> Proximity {
    Proximity { settings, how: How::Sampled(Walks { per_node: walks, key: Key::new(seed) }) }
}

fn settings(window: usize, negative: f64) -> Settings {
    Settings { window, negative, ..Settings::default() }
}

fn rows(view: &View, proximity: Proximity, rows: Range<usize>, keep: Keep, threads: usize) -> Rows<f64> {
    let pool = Pool::new(Some(threads)).unwrap();
    rows_of(view, proximity, rows, keep, &pool, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// X of all pairs; with such a small b, none is dropped. `b X` is returned.
fn dense(view: &View, window: usize, walks: usize, seed: u64) -> Vec<Vec<f64>> {
    const SMALL: f64 = 1e-9;
    let nodes = view.adjacency.rows();
    let found = rows(view, sampled(settings(window, SMALL), walks, seed), 0..nodes, Keep::All, 2);
    let matrix = Csr::stack(nodes, found.blocks);
    let mut dense = vec![vec![0.0; nodes]; nodes];
    for (row, dense) in dense.iter_mut().enumerate() {
        let (cols, values) = matrix.row(row);
        cols.iter()
            .zip(values)
            .for_each(|(&col, value): (_, &f64)| dense[col as usize] = value.exp() * SMALL);
    }
    dense
}

/// X by dense powers.
fn exact(view: &View, window: usize) -> Vec<Vec<f64>> {
    let (nodes, degrees) = (view.adjacency.rows(), degrees(view));
    let volume: f64 = degrees.iter().sum();
    let step = |from: &[f64]| -> Vec<f64> {
        let mut to = vec![0.0; nodes];
        for (node, share) in from.iter().enumerate() {
            let (cols, weights) = view.adjacency.row(node);
            cols.iter()
                .zip(weights)
                .for_each(|(&col, weight)| to[col as usize] += share * weight / degrees[node]);
        }
        to
    };
    let of_row = |row: usize| {
        let (mut now, mut sum) = (vec![0.0; nodes], vec![0.0; nodes]);
        now[row] = 1.0;
        for _ in 0..window {
            now = step(&now);
            sum.iter_mut().zip(&now).for_each(|(sum, now)| *sum += now);
        }
        let x = |(sum, degree): (f64, &f64)| {
            if *degree > 0.0 { sum * volume / window as f64 / degree } else { 0.0 }
        };
        sum.into_iter().zip(&degrees).map(x).collect()
    };
    (0..nodes).map(of_row).collect()
}

fn degrees(view: &View) -> Vec<f64> {
    (0..view.adjacency.rows()).map(|row| view.adjacency.row(row).1.iter().sum()).collect()
}

fn near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-9
}

/// Of one direction: `sum_j d_j X_ij = vol` in each row, if no walk ends early.
#[test]
fn every_row_of_a_directed_view_has_the_sum_of_its_walks() {
    let edges: Vec<Edge> =
        (0..90).flat_map(|a| [(a, (a + 1) % 90, 1.0), (a, (7 * a + 2) % 90, 2.5)]).collect();
    let edges: Vec<Edge> = edges.into_iter().filter(|edge| edge.0 != edge.1).collect();
    let view = view(90, &edges, true);
    let (degrees, x) = (degrees(&view), dense(&view, 4, 13, 5));
    let volume: f64 = degrees.iter().sum();
    for row in &x {
        assert!(near(row.iter().zip(&degrees).map(|(x, d)| x * d).sum(), volume));
    }
}

/// Of both directions: `sum_ij (d_i + d_j) X_ij T W / vol` is twice the number of visits.
#[test]
fn both_directions_together_have_all_visits() {
    for weighted in [false, true] {
        let view = view(150, &graph(150, weighted), false);
        let (degrees, (window, walks)) = (degrees(&view), (3, 11));
        let volume: f64 = degrees.iter().sum();
        let x = dense(&view, window, walks, 2);
        let mut total = 0.0;
        for (row, x) in x.iter().enumerate() {
            total += x.iter().zip(&degrees).map(|(x, d)| (degrees[row] + d) * x).sum::<f64>();
        }
        let walking = degrees.iter().filter(|&&degree| degree > 0.0).count();
        assert!(near(total * (window * walks) as f64 / volume, 2.0 * (walking * walks * window) as f64));
    }
}

/// The mean over 200 seeds is the exact X, within four standard errors of each entry.
#[test]
fn estimates_have_no_bias() {
    let star: Vec<Edge> = (1..9).map(|leaf| (0, leaf, 1.0)).collect();
    let path: Vec<Edge> = (0..7).map(|node| (node, node + 1, 1.0)).collect();
    let apart = [(0, 1, 1.0), (1, 2, 3.0), (4, 5, 1.0), (5, 6, 0.5), (4, 6, 2.0)];
    let graphs = [
        ("weighted", view(14, &graph(14, true), false)),
        ("directed", view(12, &graph(12, true), true)),
        ("disconnected, with a node without edges", view(8, &apart, false)),
        ("a star", view(9, &star, false)),
        ("a path", view(8, &path, false)),
        ("two nodes", view(2, &[(0, 1, 2.0)], false)),
    ];
    const SEEDS: u64 = 200;
    for (name, view) in graphs {
        for (window, walks) in [(1, 1), (3, 2), (5, 7)] {
            let (exact, degrees) = (exact(&view, window), degrees(&view));
            let volume: f64 = degrees.iter().sum();
            let found: Vec<_> = (0..SEEDS).map(|seed| dense(&view, window, walks, seed)).collect();
            for (row, exact) in exact.iter().enumerate() {
                for (col, &exact) in exact.iter().enumerate() {
                    let values = found.iter().map(|x| x[row][col]);
                    let mean = values.clone().sum::<f64>() / SEEDS as f64;
                    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
                    // Of rare visits, the variance of what was seen says little: that of Poisson variables is the least. Both directions
                    // of a pair on the diagonal are the same walks.
                    let both = if view.directed { 0.0 } else { degrees[row] };
                    let unit =
                        volume / ((window * walks) as f64 * (degrees[col] + both).max(f64::MIN_POSITIVE));
                    let poisson = exact * unit * if row == col && !view.directed { 2.0 } else { 1.0 };
                    let error = (variance.max(poisson) / SEEDS as f64).sqrt();
                    assert!(
                        (mean - exact).abs() <= 4.0 * error,
                        "{name}, window {window}, {walks} walks, ({row}, {col}): {mean} +- {error}, exact {exact}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_error_falls_with_the_root_of_the_walks_and_is_what_is_reported() {
    let view = view(300, &graph(300, true), false);
    let exact = exact(&view, 5);
    let norm = |x: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..300)
            .flat_map(|row| (0..300).map(move |col| (row, col)))
            .map(|(row, col)| x(row, col).powi(2))
            .sum()
    };
    let mut errors = Vec::new();
    for walks in [20, 80, 320] {
        let found = dense(&view, 5, walks, 1);
        let error =
            (norm(&|row, col| found[row][col] - exact[row][col]) / norm(&|row, col| exact[row][col])).sqrt();
        let near = sampled(settings(5, 1.0), walks, 1);
        let told = rows(&view, near, 0..300, Keep::Upper, 1).noise.unwrap();
        let reported = told.relative_error().unwrap();
        assert!((reported / error - 1.0).abs() < 0.15, "{walks} walks: {reported} reported, {error}");
        assert!((0.0..1.0).contains(&told.seen_once()));
        errors.push(error);
    }
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1] - 2.0).abs() < 0.3, "{errors:?}");
    }
}

#[test]
fn neither_threads_nor_rows_change_a_bit() {
    const NODES: usize = 3 * BLOCK_ROWS + 5;
    for directed in [false, true] {
        let view = view(NODES, &graph(NODES, true), directed);
        let near = sampled(settings(5, 1.0), 9, 4);
        let whole = |threads| Csr::stack(NODES, rows(&view, near, 0..NODES, Keep::All, threads).blocks);
        let first = whole(1);
        for threads in [2, 3, 8] {
            assert_eq!(whole(threads), first);
        }
        for bounds in [[0, 1, 200, NODES], [0, 130, 131, NODES]] {
            let part = |pair: &[usize]| rows(&view, near, pair[0]..pair[1], Keep::All, 2).blocks;
            let parts = bounds.windows(2).flat_map(part).collect();
            assert_eq!(Csr::stack(NODES, parts), first);
        }
        if !directed {
            let upper = Csr::stack(NODES, rows(&view, near, 0..NODES, Keep::Upper, 2).blocks);
            assert_eq!(upper, first.upper_triangle(0));
        }
    }
}

#[test]
fn nodes_without_edges_are_empty_or_loops() {
    let view = view(5, &[(0, 1, 1.0), (1, 2, 1.0)], false);
    let looped = Settings { isolated: Isolated::Loop, ..settings(2, 1.0) };
    for (settings, entries) in [(settings(2, 1.0), 0), (looped, 1)] {
        let matrix = Csr::stack(5, rows(&view, sampled(settings, 4, 0), 0..5, Keep::All, 1).blocks);
        assert_eq!((matrix.row(3).0.len(), matrix.row(4).0.len()), (entries, entries));
        if entries > 0 {
            assert_eq!(matrix.row(4), (&[4][..], &[4.0f64.ln()][..]));
        }
    }
}

/// Also where f32 could not represent the numbers of the walk.
#[test]
fn weights_of_any_size_are_walked() {
    let at = |scale: f64| {
        let edges: Vec<Edge> =
            graph(40, true).into_iter().map(|(a, b, weight)| (a, b, scale * weight)).collect();
        let view = view(40, &edges, false);
        Csr::stack(40, rows(&view, sampled(settings(5, 1.0), 20, 3), 0..40, Keep::All, 2).blocks)
    };
    let usual = at(1.0);
    assert!(usual.entries() > 100);
    for scale in [2f64.powi(1000), 2f64.powi(-1000)] {
        assert_eq!(at(scale), usual);
    }
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let message = check(10, 2000, 20).unwrap_err().to_string();
    assert!(message.contains("walks = 2000 and window = 20") && message.contains("is 818"), "{message}");
    check(10, 818, 20).unwrap();
    assert!(check(10, 819, 20).is_err());
    assert!(check(MOST_NODES + 1, 1, 1).is_err());
}

/// Walks between two nodes come back in every second step, and nothing is random.
#[test]
fn the_largest_number_of_visits_is_counted() {
    let view = view(2, &[(0, 1, 1.0)], false);
    let (found, exact) = (dense(&view, 20, 818, 1), exact(&view, 20));
    for (found, exact) in found.iter().flatten().zip(exact.iter().flatten()) {
        assert!(near(*found, *exact), "{found} {exact}");
    }
}

#[test]
fn breaking_interrupts() {
    let view = view(200, &graph(200, false), false);
    let pool = Pool::new(Some(1)).unwrap();
    let mut go = |_: usize| ControlFlow::Break(());
    let result = rows_of::<f32>(&view, sampled(settings(5, 1.0), 50, 0), 0..200, Keep::All, &pool, &mut go);
    assert!(matches!(result, Err(Error::Interrupted)));
}

/// The decision follows from the settings and the size of the network.
#[test]
fn auto_is_exact_where_that_is_cheap() {
    let (small, pool) = (view(200, &graph(200, false), false), Pool::new(Some(1)).unwrap());
    let decide = |settings: Settings| Proximity::decide(settings, &[&small], 7, &pool).unwrap().how;
    assert_eq!(decide(settings(5, 1.0)), How::Exact);
    let walks = |how| match how {
        How::Sampled(walks) => walks.per_node,
        How::Exact => panic!("sampled"),
    };
    let of =
        |source, number| walks(decide(Settings { proximity: source, walks: number, ..settings(5, 1.0) }));
    // Three for each edge that a node has on average, and ten at least.
    let with_edges = degrees(&small).iter().filter(|&&degree| degree > 0.0).count();
    let usual = (3.0 * small.adjacency.entries() as f64 / with_edges as f64).ceil().max(10.0) as usize;
    assert_eq!(of(Source::Sampled, None), usual);
    assert_eq!((of(Source::Sampled, Some(3)), of(Source::Auto, Some(4))), (3, 4));
    let both = Settings { proximity: Source::Exact, walks: Some(3), ..settings(5, 1.0) };
    assert!(Proximity::decide(both, &[&small], 7, &pool).unwrap_err().to_string().contains("has no walks"));
}

/// Members of a group visit each other again and again; pairs of a network without groups are rarely seen twice.
#[test]
fn walks_end_where_more_do_not_pay() {
    const GROUP: usize = 12;
    let members = |group: usize| group * GROUP..(group + 1) * GROUP;
    let groups: Vec<Edge> = (0..40)
        .flat_map(|group| {
            members(group).flat_map(move |a| (a + 1..members(group).end).map(move |b| (a, b, 1.0)))
        })
        .collect();
    let groups = view(40 * GROUP, &groups, false);
    let spread = view(3000, &graph(3000, false), false);
    let pool = Pool::new(Some(2)).unwrap();
    let settings = Settings { proximity: Source::Sampled, ..settings(5, 1.0) };
    let usual = |views: &[&View]| match Proximity::decide(settings, views, 7, &pool).unwrap().how {
        How::Sampled(walks) => walks.per_node,
        How::Exact => panic!("sampled"),
    };
    assert!(are_enough(&groups, settings, 16) && !are_enough(&groups, settings, 8));
    assert_eq!(usual(&[&groups]), 33 / 2);
    assert!(!are_enough(&spread, settings, 50));
    // One view that needs them is enough for all to keep theirs.
    assert!(usual(&[&groups, &spread]) > 16);
}

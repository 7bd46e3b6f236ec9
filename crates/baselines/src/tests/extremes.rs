//! Defect 2 of the fault campaign: weights at the limits of f64, through every method.

use super::*;
use manyview_data::network::{Duplicates, NetworkBuilder};

/// Weights of the first view by the number of the edge; the second view is ordinary.
type Weights = fn(usize) -> f64;

const EXTREMES: [(&str, Weights); 9] = [
    ("all 3e307", |_| 3e307),
    ("all of the smallest number", |_| 5e-324),
    ("one of 1e39 among ones", |edge| if edge == 0 { 1e39 } else { 1.0 }),
    ("one of 1e-39 among ones", |edge| if edge == 0 { 1e-39 } else { 1.0 }),
    ("1e150 and 1e-150", |edge| if edge % 2 == 0 { 1e150 } else { 1e-150 }),
    ("one of 1e-150 among 1e150", |edge| if edge == 3 { 1e-150 } else { 1e150 }),
    ("a hundred orders of magnitude", |edge| 10f64.powi(edge as i32 * 4 - 50)),
    ("near the largest number", |edge| f64::MAX / (1 + edge) as f64),
    ("near the smallest number", |edge| 5e-324 * (1 + edge) as f64),
];

fn extreme(weights: Weights, directed: bool) -> Network {
    let ids: Vec<String> = (0..16).map(|node| format!("n{node}")).collect();
    let mut builder = NetworkBuilder::with_nodes(&ids).unwrap();
    // Some pairs are repeated, and the sum of two weights would not be one of those above.
    let first = builder.add_view("extreme", directed, Duplicates::Max).unwrap();
    let second = builder.add_view("ordinary", false, Duplicates::Sum).unwrap();
    for edge in 0..26u32 {
        // Two groups, so that there is something to find. Node 15 has no edge in the first view.
        let (group, at) = (edge % 2, edge / 2);
        let ends = [at % 7, (at * 3 + 1 + at / 7) % 7].map(|node| 2 * node + group);
        builder.add_edge(first, ends[0], ends[1], weights(edge as usize)).unwrap();
        builder.add_edge(second, (ends[0] + 1) % 16, (ends[1] + 1) % 16, f64::from(1 + edge % 3)).unwrap();
    }
    builder.build().unwrap()
}

fn methods_and_ours() -> Vec<Box<dyn AnyMethod>> {
    let mut all = methods();
    let ours = json!({"dim": 8, "stages": 2, "max_iter": 20});
    all.push(quick::<Mnmf>("mnmf", ours.clone()));
    let mut updates = ours;
    (updates["solver"], updates["isolated"]) = ("mu".into(), "loop".into());
    all.push(quick::<Mnmf>("mnmf with mu and loops", updates));
    all
}

#[test]
fn extreme_weights_give_finite_vectors_in_every_method() {
    for (title, weights) in EXTREMES {
        for directed in [false, true] {
            let network = extreme(weights, directed);
            for method in methods_and_ours() {
                let name = method.name();
                let found = method.fit_watched(&network, &mut |_| ControlFlow::Continue(()));
                let fit = found.unwrap_or_else(|error| panic!("{name}, {title}: {error}"));
                let values = fit.embedding.values();
                assert!(values.iter().all(|value| value.is_finite()), "{name}, {title}");
                assert!(values.iter().any(|&value| value != 0.0), "{name}, {title}");
            }
        }
    }
}

/// Only ratios matter, and powers of two keep all digits. The only exception is `isolated = loop`, whose diagonal is the
/// logarithm of the sum of all weights.
#[test]
fn weights_times_a_power_of_two_give_the_same_bits() {
    let plain: Weights = |edge| 1.0 + (edge % 7) as f64 / 3.0;
    let scaled: [Weights; 4] = [
        |edge| (1.0 + (edge % 7) as f64 / 3.0) * 2f64.powi(1020),
        |edge| (1.0 + (edge % 7) as f64 / 3.0) * 2f64.powi(410),
        |edge| (1.0 + (edge % 7) as f64 / 3.0) * 2f64.powi(-300),
        |edge| (1.0 + (edge % 7) as f64 / 3.0) * 2f64.powi(-1000),
    ];
    let plain = extreme(plain, false);
    for method in methods_and_ours().into_iter().filter(|method| !method.name().contains("loops")) {
        let expected = method.fit(&plain, 0, 1).embedding;
        for (at, &weights) in scaled.iter().enumerate() {
            let found = method.fit(&extreme(weights, false), 0, 1).embedding;
            assert!(found.values() == expected.values(), "{} with {at}", method.name());
        }
    }
}

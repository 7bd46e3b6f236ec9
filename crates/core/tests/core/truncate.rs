//! Results without their last stages.

use crate::common::planted;
use manyview_base::settings::Settings;
use manyview_core::method::Fit;
use manyview_core::mnmf::{Mnmf, Order};
use manyview_core::preset::Preset;
use manyview_core::result::{Cut, RunRecord, truncate};
use manyview_data::Network;
use manyview_data::generate::Planted;
use serde_json::Value;

fn network() -> Network {
    let planted_network =
        Planted { nodes: 150, views: 3, communities: 5, degree: vec![8.0], seed: 3, ..Planted::default() };
    planted(&planted_network, &[0, 1, 2])
}

fn run_json(fit: &Fit) -> Value {
    let mut text = Vec::new();
    RunRecord::new(fit, "the whole run").write_to(&mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The settings in a shortened `run.json` are those of a fit that ends there, and the vectors are those of that fit.
#[test]
fn the_first_stages_are_a_fit_that_ends_there() {
    let network = network();
    for preset in Preset::ALL {
        for order in Order::ALL {
            let config = Mnmf {
                // Wide enough for all views in each stage: a fit of fewer narrow ones has other turns.
                dim: 80,
                stages: 4,
                consensus_stages: Some(2),
                order,
                max_iter: 12,
                ..Mnmf::preset(preset)
            };
            let whole = config.fit(&network).unwrap();
            for stages in 1..=4 {
                let cut =
                    truncate(whole.embedding.values(), 150, &run_json(&whole), Cut::Stages(stages), "cut")
                        .unwrap();
                let mut shorter = Mnmf::default();
                let given = cut.run["config"].as_object().unwrap();
                for (name, value) in
                    given.iter().filter(|(name, _)| !["seed", "threads"].contains(&name.as_str()))
                {
                    assert!(shorter.set(name, value).unwrap(), "{name}");
                }
                let fitted = shorter.fit(&network).unwrap();
                assert_eq!(cut.dim, fitted.embedding.dim(), "{preset:?} {order:?} {stages}");
                let apart = cut.vectors.iter().zip(fitted.embedding.values()).map(|(a, b)| (a - b).abs());
                assert!(apart.fold(0.0, f32::max) < 1e-5, "{preset:?} {order:?} {stages}");
                let expected = run_json(&fitted);
                let columns = |run: &Value| -> Vec<Value> {
                    run["stages"].as_array().unwrap().iter().map(|stage| stage["columns"].clone()).collect()
                };
                assert_eq!(columns(&cut.run), columns(&expected));
                let scales = [&cut.run, &expected].map(|run| run["vector_scale"].as_f64().unwrap());
                assert!((scales[0] / scales[1] - 1.0).abs() < 1e-6, "{scales:?}");
            }
        }
    }
}

#[test]
fn a_number_of_columns_keeps_the_stages_that_fit() {
    let whole = Mnmf { dim: 32, stages: 4, max_iter: 5, ..Mnmf::default() }.fit(&network()).unwrap();
    let run = run_json(&whole);
    let cut = |cut| truncate(whole.embedding.values(), 150, &run, cut, "cut");
    // Three unique stages with 6, 5 and 5 columns, then the consensus stage with 16.
    for (dim, stages, kept) in
        [(6, 1, 6), (10, 1, 6), (11, 2, 11), (16, 3, 16), (31, 3, 16), (32, 4, 32), (99, 4, 32)]
    {
        let found = cut(Cut::Dim(dim)).unwrap();
        assert_eq!((found.stages, found.dim, found.of), (stages, kept, 4), "dim {dim}");
    }
    assert_eq!(cut(Cut::Stages(4)).unwrap().vectors.len(), 150 * 32);
    for (wrong, words) in [
        (Cut::Dim(5), "dim = 5: the first stage alone has 6 columns"),
        (
            Cut::Stages(0),
            "stages = 0: the result has 4 stages; give a number from 1 to 4 (their columns add up to 6, 11, 16, 32)",
        ),
        (Cut::Stages(5), "stages = 5"),
    ] {
        assert!(cut(wrong).unwrap_err().to_string().starts_with(words), "{wrong:?}");
    }
}

/// The second cut records the run that both come from.
#[test]
fn a_result_can_be_cut_again_but_not_one_without_stages() {
    let whole = Mnmf { dim: 32, stages: 4, max_iter: 5, ..Mnmf::default() }.fit(&network()).unwrap();
    let first =
        truncate(whole.embedding.values(), 150, &run_json(&whole), Cut::Stages(3), "first cut").unwrap();
    let second = truncate(&first.vectors, 150, &first.run, Cut::Stages(2), "second cut").unwrap();
    let direct = truncate(whole.embedding.values(), 150, &run_json(&whole), Cut::Stages(2), "cut").unwrap();
    assert_eq!(second.dim, direct.dim);
    assert!(second.vectors.iter().zip(&direct.vectors).all(|(a, b)| (a - b).abs() < 1e-5));
    assert_eq!(
        (&second.run["truncated"]["command"], &second.run["truncated"]["stages"]),
        (&"the whole run".into(), &4.into())
    );
    assert_eq!(second.run["command"], "second cut");
    let mut other = run_json(&whole);
    other.as_object_mut().unwrap().remove("stages");
    other["method"] = "netmf".into();
    let refused = truncate(whole.embedding.values(), 150, &other, Cut::Stages(1), "cut").unwrap_err();
    assert!(refused.to_string().starts_with("netmf has no stages"), "{refused}");
}

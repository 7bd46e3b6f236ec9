//! What holds for all methods.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use super::*;
use manyview_core::Config;
use manyview_data::generate::Planted;

/// Three views of forty nodes, one of which is in no edge of the first.
pub(super) fn network() -> Network {
    let planted = Planted { nodes: 40, views: 3, communities: 4, absent: 0.05, ..Planted::default() };
    planted.generate().unwrap().network().unwrap()
}

fn values(value: Value) -> Map<String, Value> {
    let Value::Object(values) = value else { panic!("an object") };
    values
}

/// Each method with small settings that make it quick.
fn models() -> Vec<Model> {
    let quick = |method: Method| match method {
        Method::NetMf | Method::NetMfSum | Method::NetMfConcat => json!({"dim": 8}),
        Method::MultiNmf => json!({"dim": 6, "rounds": 2, "inner": 3}),
        Method::BoostNe => json!({"dim": 8, "stages": 2, "max_iter": 10}),
        Method::DeepWalk => json!({"dim": 4, "walks": 2, "length": 6, "window": 2}),
        Method::Metapath2Vec => json!({"dim": 4, "walks": 2, "length": 6, "window": 2}),
        Method::Mne => json!({"dim": 4, "walks": 2, "epochs": 2, "view_epochs": 1, "extra": 2}),
        Method::NmfCon => json!({"dim": 4, "max_iter": 10}),
        Method::TuckEr => json!({"dim": 6, "epochs": 2, "relation_dim": 3, "batch": 32}),
        Method::Pte => json!({"dim": 6, "samples": 20_000}),
        Method::MtneC => json!({"dim": 8, "samples": 20_000}),
        Method::Mve => json!({"dim": 6, "walks": 2, "length": 10, "window": 3, "epochs": 3}),
        Method::Mnmf => unreachable!(),
    };
    let others = Method::ALL.into_iter().filter(|&method| method != Method::Mnmf);
    others.map(|method| Model::new(method, Preset::Default, &values(quick(method))).unwrap()).collect()
}

#[test]
fn names_and_settings_go_both_ways() {
    for model in models() {
        let method = model.method();
        assert_eq!(Method::from_name(method.name()), Some(method));
        let again = values(serde_json::to_value(&model).unwrap());
        assert_eq!(Model::new(method, Preset::Paper, &again).unwrap(), model);
        let paper = Model::new(method, Preset::Paper, &Map::new()).unwrap();
        paper.check().unwrap();
        let told = Model::new(method, Preset::Default, &values(json!({"color": 1}))).unwrap_err().to_string();
        assert!(
            told.starts_with(&format!("{} has no setting \"color\"; it has dim", method.name())),
            "{told}"
        );
        let told = Model::new(method, Preset::Default, &values(json!({"dim": "x"}))).unwrap_err().to_string();
        assert!(told.starts_with("dim = \"x\" is not a whole number"), "{told}");
        let told = Model::new(method, Preset::Authors, &Map::new()).unwrap_err().to_string();
        assert!(told.contains("has no preset \"authors\""), "{told}");
        let told = Model { dim: 0, ..model }.check().unwrap_err().to_string();
        assert!(told.starts_with("dim = 0"), "{told}");
    }
}

#[test]
fn vectors_are_finite_and_the_same_for_any_number_of_threads() {
    let network = network();
    for model in models() {
        let name = model.method().name();
        let one = Model { threads: Some(1), ..model.clone() }.fit(&network).unwrap();
        let three = Model { threads: Some(3), ..model.clone() }.fit(&network).unwrap();
        assert_eq!(one.embedding, three.embedding, "{name}");
        assert!(one.embedding.values().iter().all(|value| value.is_finite()), "{name}");
        assert!(one.embedding.values().iter().any(|&value| value != 0.0), "{name}");
        let columns: usize = one.embedding.parts().iter().map(|part| part.columns.len()).sum();
        assert_eq!(columns, one.embedding.dim(), "{name}");
        let other = Model { seed: 1, ..model.clone() }.fit(&network).unwrap();
        let seeded = !matches!(name, "netmf" | "netmf-sum" | "netmf-concat");
        assert_eq!(other.embedding != one.embedding, seeded, "{name}");
    }
}

#[test]
fn a_view_alone_gives_its_own_columns() {
    let network = network();
    for model in models().into_iter().filter(|model| model.method().group() == Group::Single) {
        let (name, all) = (model.method().name(), model.fit(&network).unwrap().embedding);
        assert_eq!(all.dim(), 3 * model.dim, "{name}");
        let second = model.fit(&network.only(1)).unwrap().embedding;
        for node in 0..all.rows() {
            assert_eq!(second.row(node), &all.row(node)[model.dim..2 * model.dim], "{name}");
        }
    }
}

#[test]
fn progress_rises_to_the_end_and_breaking_ends() {
    let network = network();
    for model in models() {
        let name = model.method().name();
        let mut heard = Vec::new();
        let outcome = model.fit_with(&network, None, &mut |now| {
            heard.push(now.done);
            ControlFlow::Continue(())
        });
        outcome.unwrap();
        assert!(heard.is_sorted() && !heard.is_empty(), "{name}: {heard:?}");
        assert!(heard[0] >= 0.0 && *heard.last().unwrap() <= 1.0, "{name}: {heard:?}");
        let ended = model.fit_with(&network, None, &mut |_| ControlFlow::Break(()));
        assert!(matches!(ended, Err(Error::Interrupted)), "{name}");
    }
}

#[test]
fn boostne_is_mnmf_of_one_view_without_consensus() {
    let network = network().only(0);
    let boosted =
        Model::new(Method::BoostNe, Preset::Default, &values(json!({"dim": 12, "stages": 3}))).unwrap();
    let ours = Config { dim: 12, stages: 3, consensus_stages: Some(0), ..Config::default() };
    let ours = ours.fit(&network).unwrap().embedding;
    assert_eq!(boosted.fit(&network).unwrap().embedding.values(), ours.values());
}

#[test]
fn nmf_con_is_boostne_with_one_stage() {
    let network = network();
    let settings = values(json!({"dim": 5}));
    let concatenated = Model::new(Method::NmfCon, Preset::Default, &settings).unwrap();
    let settings = values(json!({"dim": 5, "stages": 1}));
    let boosted = Model::new(Method::BoostNe, Preset::Default, &settings).unwrap();
    assert_eq!(concatenated.fit(&network).unwrap().embedding, boosted.fit(&network).unwrap().embedding);
}

#[test]
fn blocks_of_nmf_con_depend_on_their_view_alone() {
    let network = network();
    let model = Model::new(Method::NmfCon, Preset::Default, &values(json!({"dim": 5}))).unwrap();
    let all = model.fit(&network).unwrap().embedding;
    for (view, part) in all.parts().iter().enumerate() {
        let alone = model.fit(&network.only(view)).unwrap().embedding;
        assert!((0..all.rows()).all(|row| &all.row(row)[part.columns.clone()] == alone.row(row)));
    }
}

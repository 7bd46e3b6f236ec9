//! Tests that all methods have in common, and helpers for the tests of single methods.

mod extremes;

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::*;
use manyview_base::error::Error;
use manyview_core::method::{self, Fit, Method, Observer, Options, Progress};
use manyview_core::mnmf::{Mnmf, Subtract};
use manyview_data::generate::Planted;
use manyview_data::labels::Labels;
use manyview_data::network::Network;

/// Three views of forty nodes, one of which has no edge in the first.
pub(crate) fn network() -> Network {
    let planted = Planted { nodes: 40, views: 3, communities: 4, absent: 0.05, ..Planted::default() };
    planted.generate().unwrap().network().unwrap()
}

/// Embeds a network with seed 0.
pub(crate) fn try_fit<M: Method>(settings: &M, network: &Network) -> Result<Fit> {
    let options = Options { threads: Some(2), ..Options::default() };
    method::fit(settings, "test", network, &options, &mut |_| ControlFlow::Continue(()))
}

/// Embeds a network with seed 0.
pub(crate) fn fit<M: Method>(settings: &M, network: &Network) -> Fit {
    try_fit(settings, network).unwrap()
}

/// Embeds a network on a number of threads.
pub(crate) fn fit_on<M: Method>(settings: &M, network: &Network, seed: u64, threads: usize) -> Fit {
    let options = Options { seed, threads: Some(threads), ..Options::default() };
    method::fit(settings, "test", network, &options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Sets values by name.
fn set<M: Method>(mut settings: M, values: &Value) -> M {
    for (name, value) in values.as_object().unwrap() {
        assert!(settings.set(name, value).unwrap(), "{name} is not a setting");
    }
    settings
}

/// A method of any type, with small settings that make it fast.
trait AnyMethod {
    fn name(&self) -> &'static str;
    fn dim(&self) -> usize;
    fn fit(&self, network: &Network, seed: u64, threads: usize) -> Fit;
    fn fit_watched(&self, network: &Network, observer: &mut Observer<'_>) -> Result<Fit>;
    fn fingerprint(&self, preset: Preset, values: &Value, labels: &Labels, network: &Network) -> u64;
    fn check_settings(&self);
}

struct Quick<M> {
    name: &'static str,
    values: Value,
    settings: M,
}

fn quick<M: Method + 'static>(name: &'static str, values: Value) -> Box<dyn AnyMethod> {
    Box::new(Quick { name, settings: set(M::default(), &values), values })
}

fn methods() -> Vec<Box<dyn AnyMethod>> {
    vec![
        quick::<DeepWalk>("deepwalk", json!({"dim": 8, "walks": 2, "length": 6, "window": 2})),
        quick::<NetMf>("netmf", json!({"dim": 8, "negative": 1.5})),
        quick::<BoostNe>("boostne", json!({"dim": 8, "stages": 2, "max_iter": 10, "negative": 1.5})),
        quick::<Pte>("pte", json!({"dim": 8, "samples": 20_000})),
        quick::<Metapath2Vec>(
            "metapath2vec",
            json!({"dim": 8, "walks": 2, "length": 6, "window": 2, "epochs": 2}),
        ),
        quick::<NmfCon>("nmf-con", json!({"dim": 8, "max_iter": 10, "negative": 1.5})),
        quick::<Mne>("mne", json!({"dim": 8, "walks": 2, "epochs": 2, "view_epochs": 1, "extra": 2})),
        quick::<MultiNmf>(
            "multinmf",
            json!({"dim": 8, "rounds": 2, "inner": 3, "starts": 2, "negative": 1.5}),
        ),
        quick::<TuckEr>("tucker", json!({"dim": 8, "epochs": 2, "relation_dim": 3, "batch": 32})),
        quick::<MtneC>("mtne-c", json!({"dim": 8, "samples": 20_000})),
        quick::<Mve>("mve", json!({"dim": 8, "walks": 2, "length": 10, "window": 3, "epochs": 3})),
        quick::<NetMfSum>("netmf-sum", json!({"dim": 8, "negative": 1.5})),
        quick::<NetMfConcat>("netmf-concat", json!({"dim": 8, "negative": 1.5})),
    ]
}

impl<M: Method> AnyMethod for Quick<M> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dim(&self) -> usize {
        self.settings.dim()
    }

    fn fit(&self, network: &Network, seed: u64, threads: usize) -> Fit {
        fit_on(&self.settings, network, seed, threads)
    }

    fn fit_watched(&self, network: &Network, observer: &mut Observer<'_>) -> Result<Fit> {
        method::fit(&self.settings, self.name, network, &Options::default(), observer)
    }

    fn fingerprint(&self, preset: Preset, values: &Value, labels: &Labels, network: &Network) -> u64 {
        let settings = set(set(M::of_preset(preset).unwrap(), &self.values), values);
        let options = Options { labels: Some(labels), ..Options::default() };
        let go_on = &mut |_: &Progress<'_>| ControlFlow::Continue(());
        fingerprint(&method::fit(&settings, self.name, network, &options, go_on).unwrap())
    }

    fn check_settings(&self) {
        let name = self.name;
        let paper = M::of_preset(Preset::Paper).unwrap();
        paper.check().unwrap();
        assert_eq!(M::of_preset(Preset::Default), Some(M::default()), "{name}");
        assert_eq!(M::of_preset(Preset::Authors), None, "{name}");
        let list = self.settings.describe();
        assert_eq!((list[0].name, self.dim()), ("dim", 8), "{name}");
        let mut again = paper;
        for setting in &list {
            assert!(again.set(setting.name, &setting.default).unwrap(), "{name}: {}", setting.name);
        }
        assert_eq!(again, self.settings, "{name}");
        assert!(!again.set("color", &json!(1)).unwrap(), "{name}");
        let expected = "expected a whole number from 1 to 1048576; the usual choice is 256";
        for (value, text) in [(json!("x"), "x"), (json!(0), "0"), (json!(-1), "-1"), (json!(2.5), "2.5")] {
            let error = again.set("dim", &value).unwrap_err().to_string();
            assert_eq!(error, format!("dim = {text}: {expected}"), "{name}");
        }
    }
}

/// FNV-1a over the bits of the vectors.
fn fingerprint(fit: &Fit) -> u64 {
    let bytes = fit.embedding.values().iter().flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The fingerprints with the small settings of [`methods`] over the presets `default` and `paper`.
const GOLDEN: [(&str, [u64; 2]); 13] = [
    ("deepwalk", [0x6d75_ce4f_e8a1_1d46, 0x6d75_ce4f_e8a1_1d46]),
    ("netmf", [0xc81f_1fab_884f_050a, 0xc81f_1fab_884f_050a]),
    ("boostne", [0x6123_d94c_f623_d526, 0xda80_a937_ed26_ef36]),
    ("pte", [0x6962_d3c4_24ee_3c45, 0x6962_d3c4_24ee_3c45]),
    ("metapath2vec", [0x536f_d7e2_61a8_284f, 0x3177_7dd5_8c39_a7ce]),
    ("nmf-con", [0xb682_b66a_0631_e80b, 0x3dc1_fef3_bf36_298e]),
    ("mne", [0x1086_d81b_5ae2_06c3, 0x1086_d81b_5ae2_06c3]),
    ("multinmf", [0x6f17_70e7_6b32_9f51, 0x6f17_70e7_6b32_9f51]),
    ("tucker", [0x7b23_343f_7e33_fc5f, 0x115c_f619_ce56_0fa2]),
    ("mtne-c", [0x98ff_3477_04af_74f2, 0x98ff_3477_04af_74f2]),
    ("mve", [0x69b9_ef9a_3f56_ce27, 0x3a67_f8e0_ec86_19b7]),
    ("netmf-sum", [0x31d0_bc64_ff79_1afb, 0x31d0_bc64_ff79_1afb]),
    ("netmf-concat", [0xd293_1017_772f_5848, 0xd293_1017_772f_5848]),
];

/// Users compare results across machines. Whoever changes these numbers changes every result of a method, and must say
/// so in the CHANGELOG.
#[test]
fn the_bits_of_each_method_never_change() {
    let network = network();
    let pairs = network.nodes().iter().enumerate().filter(|(row, _)| row % 3 == 0);
    let pairs = pairs.map(|(row, id)| (id, format!("{}", row % 4)));
    let labels = Labels::from_pairs(network.nodes().iter(), pairs).unwrap();
    let all = methods();
    let found = all.iter().map(|method| {
        let found = [Preset::Default, Preset::Paper]
            .map(|preset| method.fingerprint(preset, &json!({}), &labels, &network));
        (method.name(), found)
    });
    let found: Vec<_> = found.collect();
    assert!(found == GOLDEN, "{found:#018x?}");
    for (name, values, expected) in [
        ("netmf", json!({"factor": "nmf"}), 0xc501_60b3_791e_0760),
        ("deepwalk", json!({"softmax": "both", "subsample": 0.01, "weighted": true}), 0xd7ac_ac18_ecd4_95d1),
        ("deepwalk", json!({"epochs": 2, "softmax": "hierarchical"}), 0x3ec8_fb6a_b384_d783),
        ("metapath2vec", json!({"dead_end": "skip", "metapath": ["view2", "view1"]}), 0x1ab7_cb54_976b_18f9),
        ("mne", json!({"joint": true}), 0xeebc_e449_151a_bf1a),
        ("multinmf", json!({"guard": 1e-10}), 0x69d7_88ff_2ea3_98d7),
        ("tucker", json!({"decay": 0.9, "reverse": true, "smoothing_by": "epsilon"}), 0xdfe9_e1f0_fbf9_03bd),
        ("pte", json!({"sources": "per-view"}), 0xf9ba_3038_d5ce_9a5d),
        ("mtne-c", json!({"by_edges": true, "columns": "mean", "order": 2}), 0xa1ec_74e2_878b_7fde),
        (
            "mve",
            json!({"pairs": "edges", "depth": 2, "noise": "view", "by_votes": true, "attention": true, "labeled": 10}),
            0x5e11_4b0e_018c_a574,
        ),
        ("mve", json!({"attention": true, "feature": "concat", "loss": "square"}), 0xca55_068c_f69f_df27),
    ] {
        let methods = methods();
        let method = methods.iter().find(|method| method.name() == name).unwrap();
        let found = method.fingerprint(Preset::Default, &values, &labels, &network);
        assert_eq!(found, expected, "{name} with {values}: {found:#018x}");
    }
}

#[test]
fn settings_are_read_and_written_by_name() {
    methods().iter().for_each(|method| method.check_settings());
}

#[test]
fn values_that_do_not_fit_are_refused() {
    fn check<M: Method>(name: &str, value: Value, expected: &str) {
        let error = M::default().set(name, &value).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    check::<NetMf>("dim", json!(null), "dim = null: expected a whole number");
    check::<NetMf>("factor", json!("foo"), "factor = foo: expected one of svd, nmf");
    check::<NetMf>("factor", json!(3), "factor = 3: expected one of svd, nmf");
    check::<NetMf>("negative", json!("x"), "negative = x: expected a number above 0");
    check::<DeepWalk>("walks", json!(1.5), "walks = 1.5: expected a whole number of at least 1");
    check::<DeepWalk>("weighted", json!(3), "weighted = 3: expected true or false");
    check::<DeepWalk>("softmax", json!("x"), "softmax = x: expected one of negative, hierarchical, both");
    check::<Metapath2Vec>("metapath", json!("a"), "metapath = a: expected a list of names");
    check::<Metapath2Vec>("metapath", json!([1]), "metapath = 1: expected a list of names");
    check::<TuckEr>("dropout", json!([0.1]), "dropout = 0.1: expected a list of 3 numbers");
    check::<TuckEr>("dropout", json!(0.1), "dropout = 0.1: expected a list of 3 numbers");
    check::<Pte>("samples", json!(0), "samples = 0: expected a whole number from 1 to 1125899906842624");
    check::<MtneC>("columns", json!("x"), "columns = x: expected one of all, common, mean");
}

#[test]
fn vectors_are_finite_and_the_same_for_any_number_of_threads() {
    let network = network();
    for method in methods() {
        let name = method.name();
        let one = method.fit(&network, 0, 1);
        let three = method.fit(&network, 0, 3);
        assert_eq!(one.embedding, three.embedding, "{name}");
        assert!(one.embedding.values().iter().all(|value| value.is_finite()), "{name}");
        assert!(one.embedding.values().iter().any(|&value| value != 0.0), "{name}");
        let columns: usize = one.embedding.parts().iter().map(|part| part.columns.len()).sum();
        assert_eq!(columns, one.embedding.dim(), "{name}");
        let other = method.fit(&network, 1, 2);
        let seeded = !matches!(name, "netmf" | "netmf-sum" | "netmf-concat");
        assert_eq!(other.embedding != one.embedding, seeded, "{name}");
    }
}

#[test]
fn a_view_alone_gives_its_own_columns() {
    let network = network();
    let single = ["deepwalk", "netmf", "boostne", "nmf-con"];
    for method in methods().into_iter().filter(|method| single.contains(&method.name())) {
        let (name, dim, all) = (method.name(), method.dim(), method.fit(&network, 0, 2).embedding);
        assert_eq!(all.dim(), 3 * dim, "{name}");
        let second = method.fit(&network.only(1), 0, 2).embedding;
        for node in 0..all.rows() {
            assert_eq!(second.row(node), &all.row(node)[dim..2 * dim], "{name}");
        }
    }
}

#[test]
fn progress_rises_to_the_end_and_breaking_ends() {
    let network = network();
    for method in methods() {
        let name = method.name();
        let mut heard = Vec::new();
        let fit = method.fit_watched(&network, &mut |now| {
            let Progress::Working { done, .. } = now else { panic!("{name} has no stages") };
            heard.push(*done);
            ControlFlow::Continue(())
        });
        fit.unwrap();
        assert!(heard.is_sorted() && !heard.is_empty(), "{name}: {heard:?}");
        assert!(heard[0] >= 0.0 && *heard.last().unwrap() <= 1.0, "{name}: {heard:?}");
        let ended = method.fit_watched(&network, &mut |_| ControlFlow::Break(()));
        assert!(matches!(ended, Err(Error::Interrupted)), "{name}");
    }
}

#[test]
fn boostne_is_mnmf_of_one_view_without_consensus() {
    let network = network().only(0);
    let boosted = BoostNe { dim: 12, stages: 3, ..BoostNe::default() };
    let plain = Mnmf { subtract: Subtract::Plain, ..Mnmf::default() };
    let ours = Mnmf { dim: 12, stages: 3, consensus_stages: Some(0), ..plain };
    assert_eq!(fit(&boosted, &network).embedding.values(), fit(&ours, &network).embedding.values());
}

#[test]
fn nmf_con_is_boostne_with_one_stage() {
    let network = network();
    let concatenated = fit(&NmfCon { dim: 5, ..NmfCon::default() }, &network);
    let boosted = fit(&BoostNe { dim: 5, stages: 1, ..BoostNe::default() }, &network);
    assert_eq!(concatenated.embedding, boosted.embedding);
}

#[test]
fn blocks_of_nmf_con_depend_on_their_view_alone() {
    let network = network();
    let settings = NmfCon { dim: 5, ..NmfCon::default() };
    let all = fit(&settings, &network).embedding;
    for (view, part) in all.parts().iter().enumerate() {
        let alone = fit(&settings, &network.only(view)).embedding;
        assert!((0..all.rows()).all(|row| &all.row(row)[part.columns.clone()] == alone.row(row)));
    }
}

#[test]
fn memory_follows_from_the_proximity() {
    let settings = NetMf { dim: 2, ..NetMf::default() };
    let like = settings.memory_like(3).unwrap();
    assert_eq!((like.mnmf.dim, like.mnmf.proximity, like.each_view), (3, settings.proximity, true));
    like.mnmf.check().unwrap();
    assert!(!NetMfSum::default().memory_like(3).unwrap().each_view);
    assert!(DeepWalk::default().memory_like(3).is_none());
}

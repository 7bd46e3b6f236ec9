//! Tests that all methods have in common, and helpers for the tests of single methods.

mod extremes;

use std::ops::{ControlFlow, Range};

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

/// Whether these columns of a fit are those of another one, but for the common factor that each of them has.
pub(crate) fn are_columns_of(whole: &Fit, columns: Range<usize>, other: &Fit) -> bool {
    let factor = (other.vector_scale / whole.vector_scale) as f32;
    let same = |(x, y): (&f32, &f32)| (x * factor - y).abs() <= 1e-6 * y.abs();
    let row = |row: usize| (&whole.embedding.row(row)[columns.clone()], other.embedding.row(row));
    (0..whole.embedding.rows()).map(row).all(|(ours, theirs)| ours.iter().zip(theirs).all(same))
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
        quick::<NetMfUnion>("netmf-union", json!({"dim": 8, "negative": 1.5})),
        quick::<Mashup>("mashup", json!({"dim": 8})),
        quick::<Mase>("mase", json!({"dim": 8})),
        quick::<Grassmann>("grassmann", json!({"dim": 8})),
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
const GOLDEN: [(&str, [u64; 2]); 17] = [
    ("deepwalk", [0xcf1f_4b7f_a033_799e, 0xcf1f_4b7f_a033_799e]),
    ("netmf", [0x2b8b_28ab_72db_0dcb, 0x2b8b_28ab_72db_0dcb]),
    ("boostne", [0xdef5_7377_6707_c03b, 0xa81b_2f28_847f_422e]),
    ("pte", [0x1d11_32a1_4c7e_baa2, 0x1d11_32a1_4c7e_baa2]),
    ("metapath2vec", [0x2f48_f2f5_dc58_eb3f, 0x6f63_6af0_bedf_3cac]),
    ("nmf-con", [0x184e_b6d9_8cac_ff60, 0x9ba0_ad05_58b0_3539]),
    ("mne", [0x7e27_bd9b_54dd_40b6, 0x7e27_bd9b_54dd_40b6]),
    ("multinmf", [0x3df0_5f57_0639_877b, 0x3df0_5f57_0639_877b]),
    ("tucker", [0xbf34_5679_ab81_366a, 0xf360_17af_9b0d_c2a5]),
    ("mtne-c", [0x3dba_613d_cb33_4450, 0x3dba_613d_cb33_4450]),
    ("mve", [0x50b7_2b4d_65bc_8a19, 0x21eb_04e5_bc24_0c1b]),
    ("netmf-sum", [0xef83_5da3_e673_517c, 0xef83_5da3_e673_517c]),
    ("netmf-concat", [0xbfea_1a6e_2076_be57, 0xbfea_1a6e_2076_be57]),
    ("netmf-union", [0x0f2f_893a_3991_38af, 0x0f2f_893a_3991_38af]),
    ("mashup", [0x2c92_52b0_e977_cfcd, 0x27f2_3878_f3ca_01bf]),
    ("mase", [0xf3c8_325f_2f04_e55a, 0x11d6_b9b8_723e_9d0b]),
    ("grassmann", [0x37a4_7875_102b_5d22, 0x3f61_c584_5874_fb03]),
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
        ("netmf", json!({"factor": "nmf"}), 0xc8eb_2993_f14f_c4a2),
        ("deepwalk", json!({"softmax": "both", "subsample": 0.01, "weighted": true}), 0xad6e_5338_7976_4e79),
        ("deepwalk", json!({"epochs": 2, "softmax": "hierarchical"}), 0x7e41_5a98_acba_c0bd),
        ("metapath2vec", json!({"dead_end": "skip", "metapath": ["view2", "view1"]}), 0xed04_a7e0_817d_701e),
        ("mne", json!({"joint": true}), 0xf711_adfd_11fb_f5f6),
        ("multinmf", json!({"guard": 1e-10}), 0x6b64_4072_9bac_2f38),
        ("tucker", json!({"decay": 0.9, "reverse": true, "smoothing_by": "epsilon"}), 0x2c7a_2445_c88c_0797),
        ("pte", json!({"sources": "per-view"}), 0xc2db_8b62_494f_64f8),
        ("mtne-c", json!({"by_edges": true, "columns": "mean", "order": 2}), 0x6e74_e387_8bd9_96f6),
        (
            "mve",
            json!({"pairs": "edges", "depth": 2, "noise": "view", "by_votes": true, "attention": true, "labeled": 10}),
            0x5ebf_eb1a_cce8_523e,
        ),
        ("mve", json!({"attention": true, "feature": "concat", "loss": "square"}), 0xe707_97f6_ddf1_447f),
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
        let seeded = !name.starts_with("netmf") && !matches!(name, "mashup" | "mase" | "grassmann");
        assert_eq!(other.embedding != one.embedding, seeded, "{name}");
    }
}

#[test]
fn a_view_alone_gives_its_own_columns() {
    let network = network();
    let single = ["deepwalk", "netmf", "boostne", "nmf-con"];
    for method in methods().into_iter().filter(|method| single.contains(&method.name())) {
        let (name, dim, all) = (method.name(), method.dim(), method.fit(&network, 0, 2));
        assert_eq!(all.embedding.dim(), 3 * dim, "{name}");
        let second = method.fit(&network.only(1), 0, 2);
        assert!(are_columns_of(&all, dim..2 * dim, &second), "{name}");
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
    let all = fit(&settings, &network);
    for (view, part) in all.embedding.parts().iter().enumerate() {
        let alone = fit(&settings, &network.only(view));
        assert!(are_columns_of(&all, part.columns.clone(), &alone));
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

//! Views that are added to a kept model.

use std::ops::ControlFlow;

use super::living::{build, cosine, edges, fitted, fold, network, pool, saved, small, update};
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_core::living::{AddedView, KeptModel, MODEL};
use manyview_core::method::{self, Options};
use manyview_core::mnmf::{Consensus, Joint, Mnmf, Normalize, Order};
use manyview_core::preset::Preset;
use manyview_core::result::{Cut, RunRecord, truncate};
use manyview_data::Network;
use manyview_data::network::Nodes;
use serde_json::{Value, json};

const COLUMNS: usize = 8;

fn add(model: &KeptModel, given: &Network, columns: usize) -> Result<AddedView> {
    model.add_view(given, columns, &pool(), &mut |_| ControlFlow::Continue(()))
}

/// The first two views of a network with three, and the third.
fn parts() -> (Network, Network) {
    let whole = network();
    (whole.without(2), whole.only(2))
}

fn bytes(model: &KeptModel) -> Vec<u8> {
    let mut bytes = Vec::new();
    model.write_to(&mut bytes).unwrap();
    bytes
}

fn run_json(fit: &method::Fit) -> Value {
    let mut text = Vec::new();
    RunRecord::new(fit, "manyview embed").write_to(&mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// All vectors as their own rows give them.
fn again(model: &KeptModel) -> Vec<Vec<f32>> {
    let nodes: Vec<usize> = (0..model.network().nodes().len()).collect();
    let all = model.solve_again(&nodes, &pool(), &mut |_| ControlFlow::Continue(())).unwrap();
    all.chunks_exact(model.dim()).map(<[f32]>::to_vec).collect()
}

/// What a row gives in the old columns does not depend on the new view, in all kinds of fits; in the new ones it is what was found.
#[test]
fn old_columns_keep_their_bytes_and_new_ones_follow_from_the_rows() {
    let (two, third) = parts();
    for preset in Preset::ALL {
        for (consensus, order) in
            Consensus::ALL.into_iter().flat_map(|kind| Order::ALL.map(|order| (kind, order)))
        {
            let settings = Mnmf {
                dim: 48,
                stages: 4,
                consensus_stages: Some(2),
                consensus,
                order,
                max_iter: 300,
                unique_max_iter: Some(3000),
                tol: Some(1e-7),
                ..Mnmf::preset(preset)
            };
            let (fit, model) = fitted(&settings, &two);
            let added = add(&model, &third, COLUMNS).unwrap();
            assert_eq!((added.columns(), added.model.dim()), (COLUMNS, 48 + COLUMNS));
            let what = format!("{preset:?} {consensus:?} {order:?}");
            let (before, after) = (again(&model), again(&added.model));
            for (before, after) in before.iter().zip(&after) {
                assert_eq!(before[..], after[..48], "{what}");
            }
            let mut cosines: Vec<f64> = added
                .vectors
                .chunks_exact(COLUMNS)
                .zip(&after)
                .map(|(found, again)| cosine(found, &again[48..]))
                .collect();
            cosines.sort_by(f64::total_cmp);
            assert!(cosines[cosines.len() / 2] > 0.999, "{what}: {:?}", &cosines[..5]);
            assert_eq!(fit.vector_scale, model_scale(&added.model), "{what}");
        }
    }
}

fn model_scale(model: &KeptModel) -> f64 {
    let file = bytes(model);
    let header = &file[25..];
    let length = u64::from_le_bytes(file[17..25].try_into().unwrap()) as usize;
    serde_json::from_slice::<Value>(&header[..length]).unwrap()["vector_scale"].as_f64().unwrap()
}

/// The consensus columns and N own ones explain as much as N columns of a fit of the view alone.
#[test]
fn new_columns_explain_the_view_as_well_as_a_unique_stage_of_a_fit() {
    let (two, third) = parts();
    for consensus in Consensus::ALL {
        let (_, model) = fitted(&Mnmf { consensus, ..small() }, &two);
        let added = add(&model, &third, COLUMNS).unwrap();
        let alone =
            Mnmf { dim: COLUMNS, stages: 1, consensus_stages: Some(0), joint: Joint::Off, ..Mnmf::default() };
        let alone =
            method::fit(&alone, "mnmf", &third, &Options::default(), &mut |_| ControlFlow::Continue(()))
                .unwrap();
        let left = alone.stages[0].residual[&third.views()[0].name];
        assert!(added.left() < left, "{consensus:?}: {} of the view, {left} alone", added.left());
        assert!(added.explained() > 0.1 && added.explained() < 1.0 - added.left(), "{}", added.explained());
        // In a fit of all three, the views share its columns; each has fewer.
        let (whole, _) = fitted(&Mnmf { consensus, ..small() }, &network());
        let name = &third.views()[0].name;
        let in_fit = whole.stages.iter().rev().find_map(|stage| stage.residual.get(name)).unwrap();
        assert!(added.left() < in_fit + 0.1, "{consensus:?}: {}, in a fit {in_fit}", added.left());
    }
}

#[test]
fn threads_change_no_bit() {
    let (two, third) = parts();
    let (_, model) = fitted(&small(), &two);
    let mut results = [1, 2, 3].map(|threads| {
        let pool = Pool::new(Some(threads)).unwrap();
        let added = model.add_view(&third, COLUMNS, &pool, &mut |_| ControlFlow::Continue(())).unwrap();
        (added.vectors.clone(), bytes(&added.model))
    });
    let first = results[0].clone();
    assert!(results.iter_mut().all(|result| *result == first));
}

/// A node with a twin: folded in with the edges of a known node, it gets nearly its vector, in the new columns too.
#[test]
fn new_nodes_are_folded_in_with_edges_of_the_new_view() {
    let (two, third) = parts();
    let (_, model) = fitted(&small(), &two);
    let added = add(&model, &third, COLUMNS).unwrap();
    let whole = network();
    let of_node = edges(&whole, |a, b| a == 7 || b == 7);
    let twin = |id: &'static str| -> Vec<_> {
        let rename = |end: &'_ str| if end == whole.nodes().id(7) { id } else { leaked(end) };
        of_node
            .iter()
            .map(|(name, edges)| {
                (*name, edges.iter().map(|(a, b, weight)| (rename(a), rename(b), *weight)).collect())
            })
            .collect()
    };
    let folded = fold(&added.model, &build(None, &twin("twin"), false));
    assert_eq!(folded.vectors.len(), 48 + COLUMNS);
    let known = &again(&added.model)[7];
    assert!(cosine(&folded.vectors, known) > 0.8, "{}", cosine(&folded.vectors, known));
    assert!(folded.vectors[48..].iter().any(|&x| x > 0.0));
    // Without edges in it, the old columns are as in the model without the view.
    let old_views = &twin("other")[..2];
    let (with, without) =
        (fold(&added.model, &build(None, old_views, false)), fold(&model, &build(None, old_views, false)));
    assert_eq!(with.vectors[..48], without.vectors[..]);
    assert!(with.vectors[48..].iter().all(|&x| x == 0.0));
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[test]
fn edges_of_the_new_view_can_be_updated() {
    let (two, third) = parts();
    let (_, model) = fitted(&small(), &two);
    let added = add(&model, &third, COLUMNS).unwrap().model;
    let view = &third.views()[0];
    let there = view.adjacency.row(0).0;
    let other = (1..150u32).find(|other| there.binary_search(other).is_err()).unwrap();
    let ids = [0, other as usize].map(|node| third.nodes().id(node));
    let edge = build(None, &[(view.name.as_str(), vec![(ids[0], ids[1], 1.0)])], false);
    let come = update(&added, Some(&edge), None).unwrap();
    assert!(come.rows.contains(&0) && come.rows.len() < 150, "{:?}", come.rows);
    let back = update(&come.model, None, Some(&edge)).unwrap();
    assert_eq!(back.model.network().fingerprint(), added.network().fingerprint());
    // And so can those of the views of the fit.
    let edge = build(None, &[(two.views()[0].name.as_str(), vec![(ids[0], ids[1], 1.0)])], false);
    assert!(!update(&added, Some(&edge), None).unwrap().rows.is_empty());
}

/// A second view is added to the first, the model comes back from its file, and the first stages are the model before.
#[test]
fn models_with_added_views_are_written_read_and_cut() {
    let (whole, settings) = (network(), Mnmf { normalize: Normalize::Max, ..small() });
    let two = whole.without(2);
    let (fit, model) = fitted(&settings, &two);
    let mut run = run_json(&fit);
    let before = run.clone();
    let first = add(&model, &whole.only(2), COLUMNS).unwrap();
    first.describe(run.as_object_mut().unwrap(), "first", &pool());
    let stranger = {
        let ids: Vec<&str> = two.nodes().iter().collect();
        let ring: Vec<_> = (0..ids.len()).map(|at| (ids[at], ids[(at + 7) % ids.len()], 1.0)).collect();
        build(Some(&ids), &[("ring", ring)], true)
    };
    let second = add(&first.model, &stranger, 5).unwrap();
    second.describe(run.as_object_mut().unwrap(), "second", &pool());
    let dim = 48 + COLUMNS + 5;
    assert_eq!(second.model.dim(), dim);
    assert_eq!(run["added_views"][1]["columns"], json!([48 + COLUMNS, dim]));
    assert_eq!(
        (&run["added_views"][1]["fit"], &run["command"]),
        (&json!("manyview embed"), &json!("second"))
    );
    assert_eq!(run["directed"], json!(["ring"]));
    let consensus = run["stages"].as_array().unwrap().iter().rfind(|stage| stage["kind"] == "consensus");
    assert_eq!(consensus.unwrap()["residual"]["ring"], json!(1.0 - second.explained()));
    // From its file.
    let folder = tempfile::tempdir().unwrap();
    saved(&fit, &two, folder.path());
    let mut file = Vec::new();
    let record = second.model.write_to(&mut file).unwrap();
    run["model"] = serde_json::to_value(record).unwrap();
    std::fs::write(folder.path().join(MODEL), &file).unwrap();
    std::fs::write(folder.path().join("run.json"), run.to_string()).unwrap();
    let opened = KeptModel::open(folder.path()).unwrap();
    assert_eq!(again(&opened), again(&second.model));
    assert_eq!(bytes(&opened), file);
    // Without the second view, and without both.
    let ones = vec![1.0; 150 * dim];
    for (stages, views) in [(5, 3), (4, 2)] {
        let cut = truncate(&ones, 150, &run, Cut::Stages(stages), "cut").unwrap();
        let shorter = opened.first_stages(stages, &cut.columns, 1.0, &cut.run["config"]).unwrap();
        assert_eq!(shorter.network().views().len(), views);
        assert_eq!(cut.run["network"]["views"].as_array().unwrap().len(), views);
        assert_eq!(cut.run["config"]["stage_dims"], before["config"]["stage_dims"], "those of the fit");
        let expected = if views == 3 { &first.model } else { &model };
        assert_eq!(again(&shorter), again(expected), "{views} views");
        assert_eq!(cut.run.get("added_views").is_some(), views == 3);
        assert!(cut.run.get("directed").is_none(), "{}", cut.run["directed"]);
        assert!(!cut.run["stages"].to_string().contains("ring"));
    }
}

#[test]
fn views_that_cannot_be_added_are_refused() {
    let (two, third) = parts();
    let (_, model) = fitted(&Mnmf { max_iter: 3, ..small() }, &two);
    let refused = |given: &Network, columns| add(&model, given, columns).err().unwrap().to_string();
    let told = refused(&two.only(0), COLUMNS);
    assert!(
        told.starts_with("the model already has a view \"view1\" (it has view1, view2, joint)"),
        "{told}"
    );
    let [a, b] = [0, 1].map(|node| two.nodes().id(node));
    let told = refused(&build(None, &[("joint", vec![(a, b, 1.0)])], false), COLUMNS);
    assert!(told.starts_with("the model already has a view \"joint\""), "{told}");
    let told = refused(&build(None, &[("sms", vec![(a, "x", 1.0), ("y", b, 1.0)])], false), COLUMNS);
    assert!(told.starts_with("the model does not have these nodes: \"x\", \"y\"; add-view is for"), "{told}");
    assert!(told.contains("fold-in"), "{told}");
    let told = refused(&two, COLUMNS);
    assert!(told.contains("one view is added at a time, and 2 were given"), "{told}");
    let told = refused(&Network::new(Nodes::from_iter([a]), Vec::new()), COLUMNS);
    assert!(told.contains("and 0 were given"), "{told}");
    for columns in [0, 1 << 20] {
        let told = refused(&third, columns);
        assert!(told.starts_with(&format!("columns = {columns}: expected a whole number from 1")), "{told}");
    }
    let ended = model.add_view(&third, COLUMNS, &pool(), &mut |_| ControlFlow::Break(()));
    assert!(matches!(ended.err(), Some(manyview_base::error::Error::Interrupted)));
}

/// Half of 48 columns are unique: with two views, 12 for each.
#[test]
fn a_new_view_gets_as_many_columns_as_others_have() {
    let (two, _) = parts();
    let settings = Mnmf { joint: Joint::Off, ..small() };
    assert_eq!(fitted(&settings, &two).1.usual_columns(), 12);
    let consensus_only = Mnmf { stages: 1, consensus_stages: Some(1), ..settings };
    assert_eq!(fitted(&consensus_only, &two).1.usual_columns(), 24);
}

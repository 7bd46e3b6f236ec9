//! Models that live: folding in, updates, and the file of a model.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::common::planted;
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_core::estimate::Terms;
use manyview_core::living::{Additions, Folded, KeptModel, MODEL, TOLERANCE, Updated, write_model};
use manyview_core::method::{self, Fit, Options};
use manyview_core::mnmf::{Consensus, Mnmf, Order};
use manyview_core::preset::Preset;
use manyview_core::result::{Cut, ResultFolder, RunRecord, truncate};
use manyview_data::Network;
use manyview_data::generate::Planted;
use manyview_data::network::{Duplicates, NetworkBuilder, Nodes, View};

const NODES: usize = 150;

/// A view: its name, and its edges with weights.
pub(crate) type Edges<'n> = (&'n str, Vec<(&'n str, &'n str, f64)>);

pub(crate) fn network() -> Network {
    let made =
        Planted { nodes: NODES, views: 3, communities: 5, degree: vec![8.0], seed: 3, ..Planted::default() };
    planted(&made, &[0, 1, 2])
}

pub(crate) fn pool() -> Pool {
    Pool::new(Some(2)).unwrap()
}

pub(crate) fn fitted(settings: &Mnmf, network: &Network) -> (Fit, KeptModel) {
    let options = Options { keep_factors: true, threads: Some(2), ..Options::default() };
    let fit = method::fit(settings, "mnmf", network, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let model = KeptModel::of_fit(&fit, network.clone()).unwrap();
    (fit, model)
}

pub(crate) fn small() -> Mnmf {
    Mnmf { dim: 48, stages: 4, consensus_stages: Some(2), ..Mnmf::default() }
}

pub(crate) fn fold(model: &KeptModel, given: &Network) -> Folded {
    let additions = Additions::new(model, given).unwrap();
    model.fold_in(&additions, &pool(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// The edges of a network whose ends pass a test, with ids.
pub(crate) fn edges<'n>(network: &'n Network, wanted: impl Fn(usize, usize) -> bool) -> Vec<Edges<'n>> {
    let of_view = |view: &'n View| {
        let mut found = Vec::new();
        for row in 0..view.adjacency.rows() {
            let (cols, weights) = view.adjacency.row(row);
            for (&col, &weight) in cols.iter().zip(weights) {
                let (col, once) = (col as usize, view.directed || row < col as usize);
                if once && wanted(row, col) {
                    found.push((network.nodes().id(row), network.nodes().id(col), weight));
                }
            }
        }
        (view.name.as_str(), found)
    };
    network.views().iter().map(of_view).collect()
}

/// A network of these edges; with `nodes`, of these nodes.
pub(crate) fn build(nodes: Option<&[&str]>, views: &[Edges<'_>], directed: bool) -> Network {
    let mut builder =
        nodes.map_or_else(NetworkBuilder::new, |nodes| NetworkBuilder::with_nodes(nodes).unwrap());
    for (name, edges) in views.iter().filter(|(_, edges)| !edges.is_empty()) {
        let view = builder.add_view(name, directed, Duplicates::Sum).unwrap();
        for (from, to, weight) in edges {
            let [from, to] = [from, to].map(|id| builder.node(id.as_bytes()).unwrap());
            builder.add_edge(view, from, to, *weight).unwrap();
        }
    }
    builder.build().unwrap()
}

/// A network without some of its nodes, and their edges to the rest and among themselves.
fn without(network: &Network, out: impl Fn(usize) -> bool) -> (Network, Network) {
    let kept: Vec<&str> =
        (0..network.nodes().len()).filter(|&node| !out(node)).map(|node| network.nodes().id(node)).collect();
    let directed = network.views()[0].directed;
    let rest = build(Some(&kept), &edges(network, |a, b| !out(a) && !out(b)), directed);
    (rest, build(None, &edges(network, |a, b| out(a) || out(b)), directed))
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { f64::from(u8::from(a == b)) }
}

/// The cosines of the fitted vectors and those that their own rows give, ascending.
fn cosines(fit: &Fit, model: &KeptModel) -> Vec<f64> {
    let nodes: Vec<usize> = (0..fit.embedding.rows()).collect();
    let again = model.solve_again(&nodes, &pool(), &mut |_| ControlFlow::Continue(())).unwrap();
    let rows = again.chunks_exact(fit.embedding.dim());
    let mut cosines: Vec<f64> =
        rows.enumerate().map(|(row, again)| cosine(again, fit.embedding.row(row))).collect();
    cosines.sort_by(f64::total_cmp);
    cosines
}

/// A fit ends when an iteration gains little, so its U is near the minimum for its V and not there. The nearer, the later it ends.
#[test]
fn a_node_of_the_fit_gets_its_fitted_vector_within_the_tolerance_of_the_solver() {
    let network = network();
    for preset in Preset::ALL {
        for consensus in Consensus::ALL {
            for order in Order::ALL {
                let settings = Mnmf {
                    dim: 48,
                    stages: 4,
                    consensus_stages: Some(2),
                    consensus,
                    order,
                    ..Mnmf::preset(preset)
                };
                let usual = Mnmf { max_iter: 200, unique_max_iter: Some(200), ..settings.clone() };
                let exact = Mnmf { max_iter: 3000, unique_max_iter: Some(3000), tol: Some(1e-7), ..settings };
                for (settings, worst, median) in [(usual, 0.95, 0.998), (exact, 0.98, 0.9999)] {
                    let (fit, model) = fitted(&settings, &network);
                    let found = cosines(&fit, &model);
                    let (least, middle) = (found[0], found[NODES / 2]);
                    assert!(
                        least > worst && middle > median,
                        "{preset:?} {consensus:?} {order:?}: {least}, {middle}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_node_that_is_taken_out_comes_back_near_its_vector() {
    let network = network();
    let (whole, _) = fitted(&small(), &network);
    let out = |node: usize| node % 10 == 3;
    let (rest, given) = without(&network, out);
    let (_, model) = fitted(&small(), &rest);
    let folded = fold(&model, &given);
    assert_eq!((folded.nodes.len(), folded.zero.len()), (15, 0));
    // Two fits have other columns, so what is compared is who is near: the nearest nodes among those of the smaller fit.
    let truth = |node: usize| whole.embedding.row(node);
    let row_of = |id: &str| network.nodes().find(id).unwrap();
    let all: Vec<usize> = rest.nodes().iter().map(row_of).collect();
    let (rest_fit, _) = fitted(&small(), &rest);
    let mut shared = 0;
    for at in 0..folded.nodes.len() {
        let vector = &folded.vectors[at * 48..][..48];
        let node = row_of(folded.nodes.id(at));
        let nearest = |score: &dyn Fn(usize) -> f64| {
            let mut order: Vec<usize> = (0..all.len()).collect();
            order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
            order.truncate(20);
            order
        };
        let ours = nearest(&|other| cosine(vector, rest_fit.embedding.row(other)));
        let theirs = nearest(&|other| cosine(truth(node), truth(all[other])));
        shared += ours.iter().filter(|other| theirs.contains(other)).count();
    }
    let share = shared as f64 / (20 * folded.nodes.len()) as f64;
    assert!(share > 0.6, "{share}; by chance 0.15");
}

/// Sixteen rows share the steps of a walk, and components are in any order; none of this is in the result.
#[test]
fn vectors_do_not_depend_on_the_order_or_on_who_else_is_folded_in() {
    let network = network();
    let out = |node: usize| node % 4 == 1;
    let (rest, _) = without(&network, out);
    let (_, model) = fitted(&small(), &rest);
    // Without edges among the new nodes, each is alone.
    let given = build(None, &edges(&network, |a, b| out(a) != out(b)), false);
    let together = fold(&model, &given);
    assert!(together.nodes.len() > 30);
    let mut turned = edges(&network, |a, b| out(a) != out(b));
    turned.iter_mut().for_each(|(_, edges)| {
        edges.reverse();
        edges.iter_mut().for_each(|edge| *edge = (edge.1, edge.0, edge.2));
    });
    let backwards = fold(&model, &build(None, &turned, false));
    let one_thread =
        model.fold_in(&Additions::new(&model, &given).unwrap(), &Pool::new(Some(1)).unwrap(), &mut |_| {
            ControlFlow::Continue(())
        });
    let one_thread = one_thread.unwrap();
    assert_eq!((one_thread.vectors, one_thread.left), (together.vectors.clone(), together.left));
    for at in 0..together.nodes.len() {
        let id = together.nodes.id(at);
        let node = network.nodes().find(id).unwrap();
        let alone = fold(
            &model,
            &build(None, &edges(&network, |a, b| out(a) != out(b) && [a, b].contains(&node)), false),
        );
        assert_eq!((alone.nodes.len(), alone.nodes.id(0)), (1, id));
        assert_eq!(alone.vectors, together.vectors[at * 48..][..48], "{id}");
        let other = backwards.nodes.find(id).unwrap();
        assert_eq!(backwards.vectors[other * 48..][..48], together.vectors[at * 48..][..48], "{id}");
    }
}

#[test]
fn new_nodes_may_hang_on_each_other_and_those_without_a_path_are_zero() {
    let network = network();
    let (_, model) = fitted(&small(), &network);
    let first = network.nodes().id(0);
    let views = [("view1", vec![(first, "x", 1.0), ("x", "y", 1.0), ("lost", "alone", 1.0)])];
    let names: Vec<&str> = network.views().iter().map(|view| view.name.as_str()).collect();
    let views = views.map(|(_, edges)| (names[0], edges));
    let folded = fold(&model, &build(None, &views, false));
    let ids: Vec<&str> = folded.nodes.iter().collect();
    assert_eq!(ids, ["x", "y", "lost", "alone"]);
    assert_eq!(folded.zero, [2, 3]);
    assert!(folded.vectors[48..96].iter().any(|&x| x > 0.0), "y is two steps away");
    assert!(folded.left > 0.0 && folded.left < 1.0, "{}", folded.left);
}

#[test]
fn edges_that_cannot_be_folded_in_are_refused() {
    let network = network();
    let (_, model) = fitted(&small(), &network);
    let name = network.views()[0].name.clone();
    let refused = |view: &str, edges: Vec<(&str, &str, f64)>, directed: bool| {
        Additions::new(&model, &build(None, &[(view, edges)], directed)).unwrap_err().to_string()
    };
    let [first, second] = [0, 1].map(|node| network.nodes().id(node));
    let told = refused("mails", vec![(first, "x", 1.0)], false);
    assert!(told.starts_with("unknown view \"mails\"; the views are"), "{told}");
    let told = refused(&name, vec![(first, "x", 1.0)], true);
    assert!(told.contains("is undirected in the model and directed here"), "{told}");
    let told = refused(&name, vec![(first, "x", 1.0), (first, second, 1.0)], false);
    let expected = format!(
        "the model already has both ends of some edges: {first:?} and {second:?}; fold-in is for new nodes"
    );
    assert!(told.starts_with(&expected), "{told}");
    let nodes_only = Network::new(Nodes::from_iter([first, second]), Vec::new());
    let told = Additions::new(&model, &nodes_only).unwrap_err().to_string();
    assert!(told.contains("nothing to fold in"), "{told}");
}

pub(crate) fn saved(fit: &Fit, network: &Network, folder: &Path) {
    let mut output = ResultFolder::create(folder, &[], true).unwrap();
    output.write_vectors(&fit.embedding, &pool()).unwrap();
    let mut model = None;
    output
        .write_extra(MODEL, |writer| {
            model = Some(write_model(fit, network, writer)?);
            Ok(())
        })
        .unwrap();
    let mut record = RunRecord::new(fit, "test");
    record.model = model;
    output.write_record(&record).unwrap();
    output.commit().unwrap();
}

#[test]
fn a_model_comes_back_from_its_file() {
    let network = network();
    for preset in Preset::ALL {
        let settings =
            Mnmf { dim: 48, stages: 4, consensus_stages: Some(2), max_iter: 20, ..Mnmf::preset(preset) };
        let (rest, given) = without(&network, |node| node % 10 == 3);
        let (fit, model) = fitted(&settings, &rest);
        let folder = tempfile::tempdir().unwrap();
        saved(&fit, &rest, folder.path());
        let opened = KeptModel::open(folder.path()).unwrap();
        assert_eq!(opened.network().fingerprint(), rest.fingerprint());
        assert_eq!(fold(&opened, &given).vectors, fold(&model, &given).vectors, "{preset:?}");
        let mut again = Vec::new();
        opened.write_to(&mut again).unwrap();
        assert_eq!(again, fs::read(folder.path().join(MODEL)).unwrap());
    }
}

/// A model without its last stages gives the first columns of the vectors, in the length of the shortened result.
#[test]
fn a_shortened_model_gives_shortened_vectors() {
    let network = network();
    let (rest, given) = without(&network, |node| node % 10 == 3);
    let (fit, model) = fitted(&small(), &rest);
    let mut text = Vec::new();
    RunRecord::new(&fit, "test").write_to(&mut text).unwrap();
    let run = serde_json::from_slice(&text).unwrap();
    let cut = truncate(fit.embedding.values(), rest.nodes().len(), &run, Cut::Stages(3), "cut").unwrap();
    let shorter = model.first_stages(3, &cut.columns, cut.factor, &cut.run["config"]).unwrap();
    let (whole, part) = (fold(&model, &given), fold(&shorter, &given));
    for (whole, part) in whole.vectors.chunks_exact(48).zip(part.vectors.chunks_exact(cut.dim)) {
        for (&column, &x) in cut.columns.iter().zip(part) {
            assert!((f64::from(whole[column]) * cut.factor - f64::from(x)).abs() < 1e-5);
        }
    }
}

#[test]
fn damaged_and_foreign_models_are_told_apart() {
    let network = network();
    let (fit, _) = fitted(&Mnmf { max_iter: 3, ..small() }, &network);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let refused = || KeptModel::open(path).err().expect("it is refused").to_string();
    assert!(refused().contains("is not a result folder: run.json is missing"));
    saved(&fit, &network, path);
    let whole = fs::read(path.join(MODEL)).unwrap();
    let with = |bytes: &[u8]| {
        fs::write(path.join(MODEL), bytes).unwrap();
        refused()
    };
    for at in [0, 20, 30, 500, whole.len() / 2, whole.len() - 2] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        let told = with(&bytes);
        assert!(told.contains("model.bin") && !told.contains("panic"), "byte {at}: {told}");
    }
    for length in [0, 3, 16, 24, 100, whole.len() / 2, whole.len() - 1] {
        let told = with(&whole[..length]);
        assert!(told.contains("is damaged") || told.contains("cannot be read"), "{length} bytes: {told}");
    }
    let next = [b"manyview model 2\n".as_slice(), &whole[17..]].concat();
    assert!(with(&next).contains("has format 2, this version of manyview reads format 1"));
    assert!(with(b"something else entirely").contains("is not a model of manyview"));
    // The model of another run, undamaged.
    let (other, _) = fitted(&Mnmf { max_iter: 4, ..small() }, &network);
    let mut bytes = Vec::new();
    write_model(&other, &network, &mut bytes).unwrap();
    assert!(with(&bytes).contains("model.bin is not the one that run.json names"));
    fs::write(path.join(MODEL), &whole).unwrap();
    KeptModel::open(path).unwrap();
    let ids = fs::read_to_string(path.join("nodes.txt")).unwrap();
    fs::write(path.join("nodes.txt"), ids.replacen("7\n", "seven\n", 1)).unwrap();
    assert!(refused().contains("nodes.txt does not have the nodes of model.bin"));
    fs::write(path.join("nodes.txt"), ids + "more\n").unwrap();
    assert!(refused().contains("nodes.txt does not have the nodes of model.bin"));
    fs::remove_file(path.join(MODEL)).unwrap();
    assert!(refused().contains("model.bin"));
    fit.save(path.join("without")).unwrap();
    let told = KeptModel::open(&path.join("without")).err().unwrap().to_string();
    assert!(told.contains("has no model; run manyview embed again with save_model"), "{told}");
}

pub(crate) fn update(model: &KeptModel, come: Option<&Network>, go: Option<&Network>) -> Result<Updated> {
    model.update(come, go, Duplicates::Sum, TOLERANCE, &pool(), &mut |_| ControlFlow::Continue(()))
}

/// An edge of two nodes that have none in the first view.
fn new_edge(network: &Network) -> Network {
    let view = &network.views()[0];
    let there = view.adjacency.row(0).0;
    let other = (1..NODES as u32).find(|other| there.binary_search(other).is_err()).unwrap();
    let ids = [0, other as usize].map(|node| network.nodes().id(node));
    build(None, &[(view.name.as_str(), vec![(ids[0], ids[1], 1.0)])], false)
}

#[test]
fn an_update_without_changes_changes_nothing() {
    let network = network();
    let (_, model) = fitted(&small(), &network);
    let updated = update(&model, None, None).unwrap();
    assert!(updated.rows.is_empty() && updated.vectors.is_empty());
    assert_eq!((updated.edges, updated.drift(), updated.advice()), ([0, 0], 1.0, None));
    let bytes = [&model, &updated.model].map(|model| {
        let mut bytes = Vec::new();
        model.write_to(&mut bytes).unwrap();
        bytes
    });
    assert_eq!(bytes[0], bytes[1]);
}

/// The changed rows are those that the changed network has, and going back gives the vectors of the fit again, up to its solver.
#[test]
fn an_edge_that_comes_and_goes_leaves_the_vectors_where_they_were() {
    let network = network();
    let settings = Mnmf { max_iter: 3000, tol: Some(1e-7), ..small() };
    let (fit, model) = fitted(&settings, &network);
    let edge = new_edge(&network);
    let there = update(&model, Some(&edge), None).unwrap();
    let ends: Vec<usize> = edge.nodes().iter().map(|id| network.nodes().find(id).unwrap()).collect();
    assert_eq!(there.edges, [1, 0]);
    assert!(ends.iter().all(|end| there.rows.contains(end)) && there.rows.len() < NODES, "{:?}", there.rows);
    let moved = |updated: &Updated| -> f64 {
        let rows = updated.rows.iter().zip(updated.vectors.chunks_exact(48));
        rows.map(|(&row, vector)| 1.0 - cosine(vector, fit.embedding.row(row))).fold(0.0, f64::max)
    };
    assert!(moved(&there) > 0.001, "{}", moved(&there));
    assert!(there.drift() > 0.8 && there.drift() < 1.5, "{}", there.drift());
    let back = update(&there.model, None, Some(&edge)).unwrap();
    assert_eq!(back.edges, [0, 1]);
    assert_eq!(back.model.network().fingerprint(), network.fingerprint());
    assert!(ends.iter().all(|end| back.rows.contains(end)));
    // Rows that felt little kept their bytes on the way, so those near them do not come back to the last digit.
    assert!(moved(&back) < 0.3 * moved(&there), "{}", moved(&back));
}

#[test]
fn updates_that_do_not_fit_the_model_are_refused() {
    let network = network();
    let (_, model) = fitted(&Mnmf { max_iter: 3, ..small() }, &network);
    let edge = new_edge(&network);
    let refused =
        |come: Option<&Network>, go: Option<&Network>| update(&model, come, go).err().unwrap().to_string();
    let told = refused(None, Some(&edge));
    assert!(told.contains("that could be removed"), "{told}");
    let name = network.views()[0].name.as_str();
    let stranger = build(None, &[(name, vec![(network.nodes().id(0), "x", 1.0)])], false);
    let told = refused(Some(&stranger), None);
    assert!(told.starts_with("the model does not have these nodes: \"x\"; update is for edges"), "{told}");
    let told = refused(None, Some(&network.only(0)));
    assert!(told.contains("would have no edges left"), "{told}");
    let foreign = build(None, &[("mails", vec![("0", "1", 1.0)])], false);
    assert!(update(&model, Some(&foreign), None).is_err());
}

/// What the estimate adds for a model is what its factors take.
#[test]
fn kept_factors_are_part_of_the_estimate() {
    let (network, pool) = (network(), pool());
    for consensus in Consensus::ALL {
        for preset in Preset::ALL {
            let settings = Mnmf { dim: 96, max_iter: 3, consensus, ..Mnmf::preset(preset) };
            let peak = |keeps_factors: bool| {
                let found = settings.estimate_with(
                    Terms { keeps_factors, ..Terms::default() },
                    &network,
                    &pool,
                    &mut |_| ControlFlow::Continue(()),
                );
                found.unwrap().memory.factorize
            };
            let (fit, _) = fitted(&settings, &network);
            let pieces = fit.factors.unwrap().pieces.clone();
            let numbers =
                pieces.iter().flat_map(|fitted| std::iter::once(&fitted.piece.u).chain(&fitted.piece.v_t));
            let bytes = 4 * numbers.map(|factor| factor.padded().len()).sum::<usize>();
            let ratio = (peak(true) - peak(false)) as f64 / bytes as f64;
            // Up to a third of it fits into memory that the proximity has freed.
            assert!(ratio > 0.6 && ratio < 1.4, "{preset:?} {consensus:?}: {ratio} of {bytes} bytes");
        }
    }
}

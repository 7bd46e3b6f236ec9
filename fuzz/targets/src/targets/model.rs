//! Kept models: `model.bin`, and the files that it must belong to.
//!
//! The seeds are models of small fits, one of them with a view that was added later. Mutators repair lengths, the checksum, and what
//! `run.json` says of it, which would otherwise refuse nearly everything. A model that is accepted gives a vector to a new node, and comes back when
//! it is written and read again.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

use manyview::io::{Files, Memory};
use manyview::living::{Additions, KeptModel, MODEL};
use manyview::mnmf::Consensus;
use manyview::network::{Duplicates, Network, NetworkBuilder};
use manyview::parallel::Pool;
use manyview::{FitOptions, Mnmf, Model};
use serde_json::{Value, json};

use super::result::change_file;
use crate::container::{join, split};
use crate::mutate::{Words, change_bytes, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "model", made, mutate, run };

const WORDS: Words = Words {
    words: &[
        "config",
        "fingerprint",
        "nodes",
        "dim",
        "pieces",
        "stage",
        "shares",
        "explained",
        "views",
        "fitted_views",
        "matrix_scales",
        "consensus",
        "pooled",
        "shared",
        "joint",
        "off",
        "max",
        "true",
        "false",
        "null",
        "\u{1b}",
    ],
    lines: &[],
    rough: 12,
};

/// The bytes before the header: the name of the format and the length.
const BEFORE: usize = 17 + 8;

fn seeds() -> &'static [Vec<u8>] {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let pool = Pool::new(Some(1)).expect("one thread");
        let network = network(&[("calls", false, &CALLS), ("mails", true, &MAILS)]);
        let fits = Consensus::ALL.map(|consensus| {
            let settings = Mnmf { dim: 9, stages: 3, max_iter: 3, consensus, ..Mnmf::default() };
            let model = Model { threads: Some(1), ..Model::from(settings) };
            let options = FitOptions { keep_factors: true, ..FitOptions::default() };
            let fit = model.fit_with(&network, &options, &mut |_| ControlFlow::Continue(()));
            let fit = fit.expect("a small run");
            KeptModel::of_fit(&fit, network.clone()).expect("it kept its factors")
        });
        let more = self::network(&[("visits", false, &MAILS)]);
        let added = fits[0].add_view(&more, 2, &pool, &mut |_| ControlFlow::Continue(())).expect("a view");
        fits.iter().chain([&added.model]).map(files_of).collect()
    })
}

const CALLS: [&str; 6] = ["ab", "bc", "cd", "da", "de", "ea"];
const MAILS: [&str; 6] = ["ac", "cd", "db", "be", "ed", "ba"];

fn network(views: &[(&str, bool, &[&str])]) -> Network {
    let mut builder = NetworkBuilder::new();
    for (name, directed, edges) in views {
        let view = builder.add_view(name, *directed, Duplicates::Sum).expect("a new view");
        for (at, edge) in edges.iter().enumerate() {
            let [source, target] = [0, 1].map(|end| &edge.as_bytes()[end..=end]);
            let [source, target] = [source, target].map(|id| builder.node(id).expect("a valid id"));
            builder.add_edge(view, source, target, 1.0 + at as f64).expect("a valid edge");
        }
    }
    builder.build().expect("a valid network")
}

/// The files of a model.
fn files_of(model: &KeptModel) -> Vec<u8> {
    let mut bytes = Vec::new();
    let record = model.write_to(&mut bytes).expect("to memory");
    let run = json!({"method": "mnmf", "model": record}).to_string();
    let ids: String = model.network().nodes().iter().map(|id| format!("{id}\n")).collect();
    join(&[("run.json", run.into_bytes()), ("nodes.txt", ids.into_bytes()), (MODEL, bytes)])
}

fn made() -> Vec<Vec<u8>> {
    seeds().to_vec()
}

fn mutate(input: &mut Vec<u8>, _: &[Vec<u8>], random: &mut Random) {
    let mut files = split(input);
    if files.len() < 3 || random.one_in(8) {
        files = split(&seeds()[random.below(seeds().len())]);
    }
    let at = if random.one_in(12) { random.below(files.len()) } else { files.len() - 1 };
    let (name, content) = &mut files[at];
    match random.below(30) {
        0 => _ = files.remove(at),
        1 => change_bytes(content, random),
        _ if name == MODEL => {
            if let Some(sum) = change_model(content, random) {
                name_model(&mut files, sum);
            }
        }
        _ => change_file(&name.clone(), content, random),
    }
    *input = join(&files);
}

/// Changes the header or the numbers, and repairs the length and the checksum, which it returns.
fn change_model(file: &mut Vec<u8>, random: &mut Random) -> Option<u32> {
    let length = u64::from_le_bytes(file.get(17..BEFORE)?.try_into().ok()?);
    let end = usize::try_from(length).ok()?.checked_add(BEFORE)?;
    if end.checked_add(5)? > file.len() {
        return None;
    }
    if !random.one_in(3) {
        let at = end + random.below(file.len() - 4 - end);
        file[at] = random.byte();
    } else {
        let mut header = file[BEFORE..end].to_vec();
        change_text(&mut header, &[], &WORDS, random);
        file[17..BEFORE].copy_from_slice(&(header.len() as u64).to_le_bytes());
        file.splice(BEFORE..end, header);
    }
    if random.one_in(16) {
        file.truncate(file.len() - 1 - random.below(8.min(file.len() - 1)));
    }
    let content = file.len().checked_sub(4).filter(|_| !random.one_in(30))?;
    let sum = crc32fast::hash(&file[..content]);
    file[content..].copy_from_slice(&sum.to_le_bytes());
    Some(sum)
}

/// Writes a checksum to `run.json`.
fn name_model(files: &mut [(String, Vec<u8>)], sum: u32) {
    let Some((_, run)) = files.iter_mut().find(|(name, _)| name == "run.json") else { return };
    let Ok(mut record) = serde_json::from_slice::<Value>(run) else { return };
    if let Some(model) = record.get_mut("model").and_then(Value::as_object_mut) {
        model.insert("checksum".into(), json!(format!("{sum:08x}")));
        *run = record.to_string().into_bytes();
    }
}

fn bytes_of(model: &KeptModel) -> Vec<u8> {
    let mut bytes = Vec::new();
    model.write_to(&mut bytes).expect("to memory");
    bytes
}

fn run(input: &[u8], pool: &Pool) -> Outcome {
    let folder = Path::new("model");
    let parts = split(input);
    let files = Memory::new(parts.iter().map(|(name, content)| (folder.join(name), content.clone())));
    let read = |files: &dyn Files| KeptModel::open_from(files, folder);
    let model = match check::read_twice(input, &files, read, |model| format!("{:?}", bytes_of(model))) {
        Ok(model) => model,
        Err(error) => return check::refusal(&error),
    };
    check::nodes(model.network().nodes());
    for view in model.network().views() {
        assert!(view.adjacency.values().iter().all(|&weight| weight.is_finite() && weight > 0.0));
        assert!((0..view.adjacency.rows()).all(|row| !view.adjacency.row(row).0.contains(&(row as u32))));
    }
    let again =
        Memory::new(split(&files_of(&model)).into_iter().map(|(name, content)| (folder.join(name), content)));
    let again = KeptModel::open_from(&again, folder).unwrap_or_else(|error| panic!("it comes back: {error}"));
    assert_eq!(bytes_of(&again), bytes_of(&model), "it comes back");
    // Long walks take long.
    let has_usual_window = |(name, content): &(String, Vec<u8>)| {
        name == MODEL && content.windows(12).any(|text| text == b"\"window\":10,")
    };
    if check::every(4, input) && parts.iter().any(has_usual_window) {
        fold_in(&model, pool);
    }
    Outcome::Parsed
}

/// A new node with an edge to a known one in the first view.
fn fold_in(model: &KeptModel, pool: &Pool) {
    let view = &model.network().views()[0];
    let mut builder = NetworkBuilder::new();
    let new = builder.add_view(&view.name, view.directed, Duplicates::Sum).expect("a name that was accepted");
    let [known, node] = [model.network().nodes().id(0), "a new node"].map(|id| builder.node(id.as_bytes()));
    builder.add_edge(new, known.expect("an id"), node.expect("an id"), 1.0).expect("an edge");
    let given = builder.build().expect("a network");
    let folded = Additions::new(model, &given)
        .and_then(|additions| model.fold_in(&additions, pool, &mut |_| ControlFlow::Continue(())));
    match folded {
        Ok(folded) => assert_eq!(folded.vectors.len(), model.dim() * folded.nodes.len()),
        Err(error) => _ = check::refusal(&error),
    }
}

//! Runs that are interrupted and resumed.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::common::{fit_watched, planted};
use manyview_base::error::Error;
use manyview_core::checkpoint::{Checkpoints, Identity};
use manyview_core::comm::{Comm, Local, Threads};
use manyview_core::method::{Fit, Progress, StageRecord};
use manyview_core::mnmf::{Consensus, Mnmf, Order};
use manyview_core::preset::Preset;
use manyview_core::proximity;
use manyview_data::Network;
use manyview_data::generate::Planted;

fn network() -> Network {
    let settings =
        Planted { nodes: 300, views: 3, communities: 5, degree: vec![6.0], seed: 9, ..Planted::default() };
    planted(&settings, &[0, 1, 2])
}

fn config() -> Mnmf {
    Mnmf { dim: 40, stages: 5, max_iter: 12, ..Mnmf::default() }
}

fn sampled(walks: usize) -> proximity::Settings {
    proximity::Settings { walks: Some(walks), ..proximity::Settings::default() }
}

/// Runs until `stages` stages are finished and kept.
fn break_off(config: &Mnmf, network: &Network, folder: &Path, stages: usize) {
    let checkpoints = Checkpoints::begin(folder, Identity::of(config, 0, network), 0).unwrap();
    let result = fit_watched(config, network, &Local, Some(&checkpoints), &mut |now| match now {
        Progress::Iteration { stage, .. } if *stage == stages + 1 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(result, Err(Error::Interrupted)));
    assert_eq!(Checkpoints::count(folder), stages);
}

fn resume(config: &Mnmf, network: &Network, folder: &Path) -> (Fit, usize) {
    let (checkpoints, found) = Checkpoints::resume(folder, Identity::of(config, 0, network)).unwrap();
    let fit =
        fit_watched(config, network, &Local, Some(&checkpoints), &mut |_| ControlFlow::Continue(())).unwrap();
    (fit, found.stages)
}

/// All of a fit but its times.
fn assert_same(a: &Fit, b: &Fit) {
    assert_eq!(a.embedding, b.embedding);
    assert_eq!(a.warnings, b.warnings);
    assert_eq!(a.stages.len(), b.stages.len());
    for (a, b) in a.stages.iter().zip(&b.stages) {
        let told = |record: &StageRecord| {
            let record = StageRecord { seconds: 0.0, ..record.clone() };
            serde_json::to_string(&record).unwrap()
        };
        assert_eq!(told(a), told(b));
    }
}

#[test]
fn a_run_taken_up_anywhere_ends_with_the_same_bits() {
    let network = network();
    let variants = [
        config(),
        Mnmf { consensus: Consensus::Shared, order: Order::ConsensusFirst, ..config() },
        Mnmf { dim: 40, stages: 4, consensus_stages: Some(2), max_iter: 12, ..Mnmf::preset(Preset::Authors) },
        Mnmf { proximity: sampled(20), ..config() },
    ];
    for config in variants {
        let whole = config.fit(&network).unwrap();
        for stages in 0..config.stages {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().join("checkpoint");
            break_off(&config, &network, &folder, stages);
            // The whole fit had other threads than the parts.
            let (fit, taken) = resume(&config, &network, &folder);
            assert_eq!(taken, stages);
            assert_same(&fit, &whole);
        }
    }
}

#[test]
fn damage_costs_only_the_stages_from_there_on() {
    let (network, config) = (network(), config());
    let whole = config.fit(&network).unwrap();
    type Harm = fn(&mut Vec<u8>);
    let harms: [(&str, Harm); 5] = [
        ("one bit", |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        }),
        ("the end cut off", |bytes| bytes.truncate(bytes.len() - 9)),
        ("nothing left", Vec::clear),
        ("a wrong length of the header", |bytes| bytes[20] = 255),
        ("another layout", |bytes| bytes[15] = b'9'),
    ];
    for (what, harm) in harms {
        let folder = tempfile::tempdir().unwrap();
        break_off(&config, &network, folder.path(), 4);
        let path = folder.path().join("0003.stage");
        let mut bytes = fs::read(&path).unwrap();
        harm(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let (_, found) = Checkpoints::resume(folder.path(), Identity::of(&config, 0, &network)).unwrap();
        assert_eq!(found.stages, 2, "{what}");
        assert!(found.damaged.unwrap().contains("0003.stage"), "{what}");
        let (fit, _) = resume(&config, &network, folder.path());
        assert_same(&fit, &whole);
    }
}

#[test]
fn a_missing_stage_ends_those_that_count() {
    let (network, config) = (network(), config());
    let folder = tempfile::tempdir().unwrap();
    break_off(&config, &network, folder.path(), 4);
    fs::remove_file(folder.path().join("0002.stage")).unwrap();
    let (fit, taken) = resume(&config, &network, folder.path());
    assert_eq!(taken, 1);
    assert_same(&fit, &config.fit(&network).unwrap());
}

#[test]
fn checkpoints_of_another_run_are_refused_with_the_difference() {
    let (network, config) = (network(), config());
    let folder = tempfile::tempdir().unwrap();
    break_off(&config, &network, folder.path(), 2);
    let error = Checkpoints::resume(folder.path(), Identity::of(&config, 1, &network)).unwrap_err();
    assert!(error.to_string().contains("seed was 0 and is now 1"), "{error}");
}

#[test]
fn beginning_and_removing_leave_nothing_of_ours() {
    let (network, config) = (network(), config());
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("checkpoint");
    break_off(&config, &network, &inner, 2);
    fs::write(inner.join("notes.txt"), "mine").unwrap();
    let checkpoints = Checkpoints::begin(&inner, Identity::of(&config, 0, &network), 0).unwrap();
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 1);
    fs::remove_file(inner.join("notes.txt")).unwrap();
    checkpoints.remove().unwrap();
    assert!(!inner.exists());
    checkpoints.remove().unwrap();
}

/// Defect 5: a stage under the number of another one was accepted, and gave another embedding.
#[test]
fn a_checkpoint_of_another_stage_is_not_accepted() {
    let network = network();
    let named = |stage: usize| format!("{stage:04}.stage");
    let variants = [config(), Mnmf { order: Order::ConsensusFirst, ..config() }];
    for config in variants {
        let whole = config.fit(&network).unwrap();
        for (from, to) in [(1, 2), (2, 1), (4, 2), (3, 4), (1, 5)] {
            let folder = tempfile::tempdir().unwrap();
            break_off(&config, &network, folder.path(), 4);
            fs::copy(folder.path().join(named(from)), folder.path().join(named(to))).unwrap();
            let (_, found) = Checkpoints::resume(folder.path(), Identity::of(&config, 0, &network)).unwrap();
            assert_eq!(found.stages, to - 1, "{from} as {to}");
            let words = found.damaged.unwrap();
            let expected =
                format!("{}: is stage {from} under another name; the stage is computed again", named(to));
            assert!(words.ends_with(&expected), "{words}");
            assert_same(&resume(&config, &network, folder.path()).0, &whole);
        }
    }
}

/// Defect 5: stages of two runs with the same settings were mixed. They may differ, for example in the number of ranks.
#[test]
fn a_stage_that_was_computed_after_another_one_is_not_accepted() {
    let (network, config) = (network(), config());
    let [first, second] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    break_off(&config, &network, first.path(), 3);
    break_off(&config, &network, second.path(), 3);
    fs::copy(second.path().join("0002.stage"), first.path().join("0002.stage")).unwrap();
    let (_, found) = Checkpoints::resume(first.path(), Identity::of(&config, 0, &network)).unwrap();
    assert_eq!(found.stages, 1);
    assert!(found.damaged.unwrap().contains("0002.stage: was computed after another stage"));
    assert_same(&resume(&config, &network, first.path()).0, &config.fit(&network).unwrap());
}

/// Defect 5: files of the earlier format have no number and no chain.
#[test]
fn a_stage_of_an_older_format_is_computed_again_with_a_word() {
    let (network, config) = (network(), config());
    let folder = tempfile::tempdir().unwrap();
    break_off(&config, &network, folder.path(), 2);
    let path = folder.path().join("0001.stage");
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len() - 4;
    bytes[15] = b'1';
    let sum = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let (_, found) = Checkpoints::resume(folder.path(), Identity::of(&config, 0, &network)).unwrap();
    let words = found.damaged.unwrap();
    assert!(words.contains("it has format 1, this version of manyview reads format 2"), "{words}");
    assert_eq!(found.stages, 0);
}

/// A file with other sizes, whose length and checksum fit them, was accepted: missing rows of U were zero, others were dropped.
#[test]
fn a_checkpoint_with_another_number_of_nodes_is_not_accepted() {
    let (network, config) = (network(), config());
    let whole = config.fit(&network).unwrap();
    for nodes in [1, 299, 301] {
        let folder = tempfile::tempdir().unwrap();
        break_off(&config, &network, folder.path(), 3);
        let path = folder.path().join("0002.stage");
        fs::write(&path, with_nodes(&fs::read(&path).unwrap(), nodes)).unwrap();
        let (_, found) = Checkpoints::resume(folder.path(), Identity::of(&config, 0, &network)).unwrap();
        let words = found.damaged.unwrap();
        let expected =
            format!("0002.stage: has {nodes} nodes, and the network has 300; the stage is computed again");
        assert!(words.ends_with(&expected), "{words}");
        assert_eq!(found.stages, 1);
        assert_same(&resume(&config, &network, folder.path()).0, &whole);
    }
}

/// A stage file in which all factors have this many rows, with a valid length and checksum.
fn with_nodes(file: &[u8], nodes: usize) -> Vec<u8> {
    let begin = 17 + 8;
    let length = u64::from_le_bytes(file[17..begin].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&file[begin..begin + length]).unwrap();
    let mut numbers = &file[begin + length..file.len() - 4];
    let mut content = Vec::new();
    for piece in header["pieces"].as_array_mut().unwrap() {
        let count = |name: &str| piece[name].as_u64().unwrap() as usize;
        let width = (piece["columns"]["end"].as_u64().unwrap() - piece["columns"]["start"].as_u64().unwrap())
            as usize;
        let (rows, factors) = (count("u_rows"), 1 + count("vs"));
        let kept = 8 * (1 + 2 * piece["views"].as_array().unwrap().len() + width);
        content.extend_from_slice(&numbers[..kept]);
        numbers = &numbers[kept..];
        for _ in 0..factors {
            let mut factor = numbers[..4 * rows * width].to_vec();
            factor.resize(4 * nodes * width, 0);
            content.append(&mut factor);
            numbers = &numbers[4 * rows * width..];
        }
        (piece["u_rows"], piece["v_rows"]) = (nodes.into(), nodes.into());
    }
    assert!(numbers.is_empty(), "all numbers were read");
    let header = serde_json::to_vec(&header).unwrap();
    let mut forged = [&file[..17], &(header.len() as u64).to_le_bytes(), &header, &content].concat();
    let sum = crc32fast::hash(&forged);
    forged.extend_from_slice(&sum.to_le_bytes());
    forged
}

/// Defect 4: any `*.tmp` and `*.stage` was deleted.
#[test]
fn files_that_are_not_ours_are_not_deleted() {
    let (network, config) = (network(), config());
    let folder = tempfile::tempdir().unwrap();
    break_off(&config, &network, folder.path(), 2);
    let theirs = ["1.stage", "draft.tmp", "first.stage", "notes.txt"];
    for name in theirs.iter().chain(&[".manyview-1-0.tmp"]) {
        fs::write(folder.path().join(name), "mine").unwrap();
    }
    Checkpoints::begin(folder.path(), Identity::of(&config, 0, &network), 0).unwrap();
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, theirs);
}

/// Defect 4: files were deleted through a symbolic link.
#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    use std::os::unix::fs::symlink;
    let (network, config) = (network(), config());
    let place = tempfile::tempdir().unwrap();
    let [real, linked, inside] = ["real", "linked", "inside"].map(|name| place.path().join(name));
    break_off(&config, &network, &real, 2);
    symlink(&real, &linked).unwrap();
    fs::create_dir(&inside).unwrap();
    symlink(real.join("0002.stage"), inside.join("0003.stage")).unwrap();
    let before = [1, 2].map(|stage| fs::read(real.join(format!("000{stage}.stage"))).unwrap());
    for (folder, name) in [(&linked, "linked"), (&inside, "0003.stage")] {
        let identity = Identity::of(&config, 0, &network);
        let begun = Checkpoints::begin(folder, identity.clone(), 0).map(drop);
        let resumed = Checkpoints::resume(folder, identity).map(drop);
        for error in [begun, resumed].map(Result::unwrap_err) {
            let words =
                format!("{name} is a symbolic link, which is neither followed nor removed; remove it");
            assert!(error.to_string().contains(&words), "{error}");
        }
    }
    assert_eq!(before, [1, 2].map(|stage| fs::read(real.join(format!("000{stage}.stage"))).unwrap()));
    assert!(fs::symlink_metadata(inside.join("0003.stage")).unwrap().is_symlink());
}

#[test]
fn another_number_of_ranks_can_go_on() {
    let network = network();
    let config = Mnmf { tol: Some(0.0), order: Order::ConsensusFirst, ..config() };
    let whole = config.fit(&network).unwrap();
    let folder = tempfile::tempdir().unwrap();
    break_off(&config, &network, folder.path(), 3);
    let (checkpoints, _) = Checkpoints::resume(folder.path(), Identity::of(&config, 0, &network)).unwrap();
    let fits = Threads::run(3, |comm| {
        fit_watched(&config, &network, comm, Some(&checkpoints), &mut |_| ControlFlow::Continue(())).unwrap()
    });
    let scale = whole.embedding.values().iter().copied().fold(0.0, f32::max);
    for fit in &fits {
        assert_eq!(fit.embedding, fits[0].embedding);
        let taken_over =
            whole.stages.iter().filter(|record| record.stage <= 3).map(|record| record.columns[1]);
        let taken_over = taken_over.max().unwrap();
        for row in 0..300 {
            let (here, there) = (fit.embedding.row(row), whole.embedding.row(row));
            // The same but for the factor that all vectors have in common, which depends on the later stages too.
            let factor = (whole.vector_scale / fit.vector_scale) as f32;
            for (x, y) in here[..taken_over].iter().zip(&there[..taken_over]) {
                assert!((x * factor - y).abs() <= 1e-6 * y.abs(), "{x} {y}");
            }
            assert!(here.iter().zip(there).all(|(x, y)| (x - y).abs() / scale < 1e-3));
        }
    }
    // What three ranks kept, one can read.
    assert_eq!(Checkpoints::count(folder.path()), 5);
    let (fit, taken) = resume(&config, &network, folder.path());
    assert_eq!((taken, &fit.embedding), (5, &fits[0].embedding));
}

/// A rank that cannot read a file finds fewer stages than the others.
#[test]
fn ranks_that_find_different_stages_use_those_of_all() {
    let network = network();
    let config = Mnmf { tol: Some(0.0), ..config() };
    let folders = [4, 2].map(|stages| {
        let folder = tempfile::tempdir().unwrap();
        break_off(&config, &network, folder.path(), stages);
        folder
    });
    let found = folders
        .each_ref()
        .map(|folder| Checkpoints::resume(folder.path(), Identity::of(&config, 0, &network)).unwrap().0);
    let fits = Threads::run(2, |comm| {
        let checkpoints = Some(&found[comm.rank()]);
        fit_watched(&config, &network, comm, checkpoints, &mut |_| ControlFlow::Continue(())).unwrap()
    });
    assert_eq!(fits[0].embedding, fits[1].embedding);
    assert_eq!(fits[0].stages.len(), config.fit(&network).unwrap().stages.len());
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let (network, config) = (network(), config());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let inner = file.join("checkpoint");
    let result = Checkpoints::begin(&inner, Identity::of(&config, 0, &network), 0).and_then(|checkpoints| {
        fit_watched(&config, &network, &Local, Some(&checkpoints), &mut |_| ControlFlow::Continue(()))
    });
    assert!(matches!(result, Err(Error::Io { .. })), "{result:?}");
}

//! Checkpoints: the stage files of an interrupted run.
//!
//! A stage is used only by the run that wrote it, so the seeds are those of a small run that is made at the start. Mutators
//! repair the length of the header and the checksum, which would otherwise refuse nearly everything.

use std::fmt::Write;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use manyview::checkpoint::{Checkpoints, Found, Identity, Piece};
use manyview::comm::Local;
use manyview::io::{Files, Memory};
use manyview::network::{Duplicates, Network, NetworkBuilder};
use manyview::parallel::Pool;
use manyview::{FitOptions, Mnmf, Model};

use crate::container::{join, split};
use crate::mutate::{Words, change_bytes, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "checkpoint", made, mutate, run };

const WORDS: Words = Words {
    words: &[
        "views",
        "columns",
        "consensus",
        "shared",
        "pooled",
        "null",
        "true",
        "false",
        "start",
        "end",
        "u_rows",
    ],
    lines: &[],
    rough: 12,
};

/// The bytes before the header: the name of the format and the length.
const BEFORE: usize = 17 + 8;

/// The run that the checkpoints belong to.
struct Fixture {
    network: Network,
    identity: Identity,
    stages: Vec<(String, Vec<u8>)>,
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let network = network();
        let settings = Mnmf { dim: 9, stages: 3, max_iter: 3, ..Mnmf::default() };
        let identity = Identity::of(&settings, 0, &network);
        let folder = tempfile::tempdir().expect("a folder for the checkpoints of a small run");
        let folder = folder.path().join("checkpoint");
        let checkpoints = Checkpoints::begin(&folder, identity.clone(), 0).expect("an empty folder");
        let model = Model { threads: Some(1), ..Model::from(settings) };
        let options = FitOptions { checkpoints: Some(&checkpoints), ..FitOptions::default() };
        model.fit_with(&network, &options, &mut |_| ControlFlow::Continue(())).expect("a small run");
        let stages = (1..=Checkpoints::count(&folder)).map(|stage| format!("{stage:04}.stage"));
        let read = |name: String| (name.clone(), fs::read(folder.join(name)).expect("a stage of the run"));
        Fixture { network, identity, stages: stages.map(read).collect() }
    })
}

fn network() -> Network {
    let mut builder = NetworkBuilder::new();
    for (name, edges) in [("calls", ["ab", "bc", "cd", "da"]), ("mails", ["ac", "cd", "db", "be"])] {
        let view = builder.add_view(name, false, Duplicates::Sum).expect("a new view");
        for edge in edges {
            let [source, target] = [0, 1].map(|at| &edge.as_bytes()[at..=at]);
            let source = builder.node(source).expect("a valid id");
            let target = builder.node(target).expect("a valid id");
            builder.add_edge(view, source, target, 1.0).expect("a valid edge");
        }
    }
    builder.build().expect("a valid network")
}

fn made() -> Vec<Vec<u8>> {
    let stages = &fixture().stages;
    assert!(!stages.is_empty(), "the run has checkpoints");
    (1..=stages.len()).map(|count| join(&stages[..count])).collect()
}

fn mutate(input: &mut Vec<u8>, _: &[Vec<u8>], random: &mut Random) {
    let mut files = split(input);
    if files.is_empty() {
        *input = join(&fixture().stages);
        return;
    }
    let at = random.below(files.len());
    match random.below(20) {
        0 => _ = files.remove(at),
        1 => files[at].0 = format!("{:04}.stage", random.below(5)),
        2 => change_bytes(&mut files[at].1, random),
        _ => change_stage(&mut files[at].1, random),
    }
    *input = join(&files);
}

/// Changes the header or the numbers, and repairs the length and the checksum.
fn change_stage(file: &mut Vec<u8>, random: &mut Random) {
    let length = file.get(17..BEFORE).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
    let Some(end) = usize::try_from(length).ok().and_then(|length| length.checked_add(BEFORE)) else {
        return;
    };
    if end > file.len().saturating_sub(4) {
        return;
    }
    if random.one_in(2) {
        let at = (end + random.below(file.len() - 4 - end)).min(file.len() - 5);
        file[at] = random.byte();
    } else {
        let mut header = file[BEFORE..end].to_vec();
        // The identity comes first and must be that of the run, so mostly what follows it is changed.
        let pieces = header.windows(9).position(|bytes| bytes == b"\"pieces\":").unwrap_or(0);
        let mut tail = header.split_off(if random.one_in(16) { 0 } else { pieces });
        change_text(&mut tail, &[], &WORDS, random);
        header.append(&mut tail);
        file[17..BEFORE].copy_from_slice(&(header.len() as u64).to_le_bytes());
        file.splice(BEFORE..end, header);
    }
    if random.one_in(16) {
        file.truncate(file.len() - 1 - random.below(8.min(file.len() - 1)));
    }
    if let Some(content) = file.len().checked_sub(4)
        && !random.one_in(30)
    {
        let sum = crc32fast::hash(&file[..content]).to_le_bytes();
        file[content..].copy_from_slice(&sum);
    }
}

/// By rows, because where the rows of a factor begin in memory is not part of it.
fn described((found, stages): &(Found, Vec<Vec<Piece>>)) -> String {
    let mut text = format!("{found:?}");
    for piece in stages.iter().flatten() {
        let Piece {
            views, consensus, columns, scales, weights, column_scales, iterations, converged, ..
        } = piece;
        let numbers = (scales, weights, column_scales, iterations, converged);
        write!(text, " {views:?} {consensus:?} {columns:?} {numbers:?}").expect("to memory");
        for factor in std::iter::once(&piece.u).chain(&piece.v_t) {
            for row in 0..factor.rows() {
                write!(text, " {:?}", factor.row(row)).expect("to memory");
            }
        }
    }
    text
}

fn run(input: &[u8], _: &Pool) -> Outcome {
    let Fixture { network, identity, .. } = fixture();
    let folder = PathBuf::from("checkpoint");
    let files = Memory::new(split(input).into_iter().map(|(name, content)| (folder.join(name), content)));
    let rows = 0..network.nodes().len();
    let read = |files: &dyn Files| {
        let (checkpoints, found) =
            Checkpoints::resume_from(files, Path::new("checkpoint"), identity.clone())?;
        let stages = checkpoints.read_from(files, &rows, &Local)?;
        Ok((found, stages))
    };
    let (found, stages) = match check::read_twice(input, &files, read, described) {
        Ok(read) => read,
        Err(error) => return check::refusal(&error),
    };
    if let Some(damage) = &found.damaged {
        check::plain(damage);
        assert!(damage.contains(".stage: "), "no file: {damage}");
    }
    assert_eq!(stages.len(), found.stages);
    for piece in stages.iter().flatten() {
        let width = piece.columns.len();
        assert_eq!((piece.u.rows(), piece.u.width()), (rows.len(), width), "U has a row per node");
        assert_eq!(piece.column_scales.len(), width);
        assert_eq!((piece.scales.len(), piece.weights.len()), (piece.views.len(), piece.views.len()));
        // Those of the network, and their union.
        assert!(!piece.views.is_empty() && piece.views.iter().all(|&view| view <= network.views().len()));
        assert!(!piece.v_t.is_empty() && piece.v_t.len() <= piece.views.len());
        assert!(
            piece.v_t.iter().all(|v| (v.rows(), v.width()) == (rows.len(), width)),
            "V has a column per node"
        );
        assert!(
            piece.columns.start <= piece.columns.end && piece.columns.end <= 9,
            "columns of the embedding"
        );
    }
    if found.stages > 0 { Outcome::Parsed } else { Outcome::Refused }
}

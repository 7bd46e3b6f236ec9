//! What must hold after every execution, whatever the input.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

use manyview::error::{Error, Result};
use manyview::io::{Files, Memory, ReadNetwork, ReadOptions, Source, ViewSource, read_network_from};
use manyview::message::Notation;
use manyview::network::{Network, Nodes};
use manyview::parallel::Pool;

use crate::Outcome;
use crate::files::InPieces;

/// Checks a refusal: it is a sentence, on one line, and says in which of the files the problem is.
pub(crate) fn refusal(error: &Error) -> Outcome {
    for notation in [Notation::Plain, Notation::CommandLine, Notation::Python] {
        let text = error.in_notation(notation);
        assert!(text.len() > 8, "the refusal is hardly a sentence: {text:?}");
        plain(&text);
    }
    match error {
        Error::Parse { place, .. } => assert!(!place.is_empty(), "no place: {error}"),
        Error::Io { path, .. } => assert!(!path.as_os_str().is_empty(), "no path: {error}"),
        Error::Config(_) | Error::Network(_) => {}
        other => panic!("a reader does not fail with {other:?}"),
    }
    Outcome::Refused
}

/// Checks that a text can be shown in a terminal: control characters of a file must not reach it.
pub(crate) fn plain(text: &str) {
    let control = text.chars().find(|c| c.is_control());
    assert!(control.is_none(), "a message contains a control character: {text:?}");
}

/// Some inputs get further checks, which would take too long for all. Which ones depends on the input only.
pub(crate) fn every(times: u64, input: &[u8]) -> bool {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 20).is_multiple_of(times)
}

/// Reads with `read`; for some inputs again, from files that arrive in pieces, and compares what `describe` says.
pub(crate) fn read_twice<T>(
    input: &[u8],
    files: &Memory,
    read: impl Fn(&dyn Files) -> Result<T>,
    describe: impl Fn(&T) -> String,
) -> Result<T> {
    let found = read(files);
    if every(16, input) {
        let describe = |found: &Result<T>| match found {
            Ok(found) => describe(found),
            // Of two problems, that of a packed file is found earlier or later.
            Err(error) if is_packing(error) => "refused".to_owned(),
            Err(error) => format!("refused: {error}"),
        };
        let again = read(&InPieces { files, piece: 1 + input.len() % 7 });
        let (mut one, mut other) = (describe(&found), describe(&again));
        if [&one, &other].iter().any(|text| *text == "refused") {
            [&mut one, &mut other]
                .into_iter()
                .filter(|text| text.starts_with("refused"))
                .for_each(|text| text.truncate(7));
        }
        assert_eq!(one, other, "what is read depends on the sizes of reads");
    }
    found
}

fn is_packing(error: &Error) -> bool {
    let text = error.to_string();
    text.contains(" data is damaged (") || text.contains(" data ends early; ")
}

/// Checks node ids: at least one byte, no line break, none twice.
pub(crate) fn nodes(nodes: &Nodes) {
    let mut ids: Vec<&str> = nodes.iter().collect();
    assert!(!ids.is_empty(), "no nodes");
    for id in &ids {
        assert!(!id.is_empty() && !id.contains(['\n', '\r']), "bad node id {id:?}");
    }
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "a node id twice: {ids:?}");
}

/// Reads a network from files in memory and checks it.
pub(crate) fn network(
    input: &[u8],
    files: &Memory,
    source: &Source,
    options: &ReadOptions,
    pool: &Pool,
) -> Outcome {
    let read = |files: &dyn Files| {
        read_network_from(files, source, options, pool, &mut |_| ControlFlow::Continue(()))
    };
    match read_twice(input, files, read, described) {
        Err(error) => refusal(&error),
        Ok(read) => {
            sound(&read);
            if every(8, input) {
                comes_back(&read.network, pool);
            }
            Outcome::Parsed
        }
    }
}

fn described(read: &ReadNetwork) -> String {
    format!("{:?} {:?} {:?}", read.network.nodes(), read.network.views(), read.notes)
}

/// The invariant of a network: weights are finite and above zero, diagonals are empty, undirected views are symmetric.
fn sound(read: &ReadNetwork) {
    let network = &read.network;
    assert!(network.nodes().len() >= 2 && !network.views().is_empty());
    nodes(network.nodes());
    read.notes.iter().for_each(|note| plain(&note.to_string()));
    for (at, view) in network.views().iter().enumerate() {
        let others = &network.views()[..at];
        assert!(!view.name.trim().is_empty() && others.iter().all(|other| other.name != view.name));
        let matrix = &view.adjacency;
        assert!(matrix.entries() > 0, "view {:?} has no edges", view.name);
        for row in 0..matrix.rows() {
            let (cols, values) = matrix.row(row);
            assert!(cols.windows(2).all(|pair| pair[0] < pair[1]), "columns are ascending");
            for (&col, &weight) in cols.iter().zip(values) {
                assert!(weight > 0.0 && weight.is_finite(), "weight {weight} in view {:?}", view.name);
                assert!(col as usize != row, "a loop at {:?}", network.nodes().id(row));
                if !view.directed {
                    let (back, weights) = matrix.row(col as usize);
                    let twin = back.binary_search(&(row as u32)).map(|at| weights[at]);
                    assert_eq!(twin, Ok(weight), "view {:?} is not symmetric", view.name);
                }
            }
        }
        let counts = view.counts;
        let dropped = counts.zero_weights + counts.self_loops + counts.duplicates;
        assert_eq!(counts.given, dropped + view.edges(), "every line is an edge, dropped or merged");
    }
}

/// Writes a network as quoted CSV and reads it again.
fn comes_back(network: &Network, pool: &Pool) {
    let mut files = Memory::default();
    let (mut views, mut directed) = (Vec::new(), Vec::new());
    for (at, view) in network.views().iter().enumerate() {
        let mut text = String::from("source,target,weight\n");
        for (source, target, weight) in edges(network, at) {
            let quoted = |id: &str| id.replace('"', "\"\"");
            writeln!(text, "\"{}\",\"{}\",{weight:?}", quoted(&source), quoted(&target)).expect("to memory");
        }
        let path = Path::new("again").join(format!("{at}.csv"));
        files.add(path.clone(), text.into_bytes());
        let name = format!("view {at}");
        directed.extend(view.directed.then(|| name.clone()));
        views.push(ViewSource { name, path });
    }
    let options = ReadOptions { directed: manyview::io::Directed::Views(directed), ..ReadOptions::default() };
    let source = Source::Views(views);
    let read = read_network_from(&files, &source, &options, pool, &mut |_| ControlFlow::Continue(()));
    let again = read.expect("what was written can be read").network;
    for at in 0..network.views().len() {
        let [mut before, mut after] = [edges(network, at), edges(&again, at)];
        before.sort_by(|one, other| one.partial_cmp(other).expect("weights are numbers"));
        after.sort_by(|one, other| one.partial_cmp(other).expect("weights are numbers"));
        assert_eq!(before, after, "the edges of view {at} come back");
    }
}

/// The edges of a view, an undirected one once, with its smaller id first.
fn edges(network: &Network, view: usize) -> Vec<(String, String, f64)> {
    let (nodes, view) = (network.nodes(), &network.views()[view]);
    let mut found = Vec::new();
    for row in 0..nodes.len() {
        let (cols, values) = view.adjacency.row(row);
        for (&col, &weight) in cols.iter().zip(values) {
            let (source, target) = (nodes.id(row), nodes.id(col as usize));
            if view.directed || source < target {
                found.push((source.to_owned(), target.to_owned(), weight));
            }
        }
    }
    found
}

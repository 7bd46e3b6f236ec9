//! Whole files, as people have them, through the front door: what is read, and what is said when it cannot be.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use manyview::io::{Delimiter, Directed, Header, ReadNetwork, ReadOptions, Source, ViewSource, read_network};
use manyview::network::Duplicates;
use manyview::{Error, Network, Result};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder with files, gone at the end of the test.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Folder {
        let folder = Folder(TempDir::new().unwrap());
        for (name, bytes) in files {
            fs::write(folder.path(name), bytes).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, names: &[&str], options: &ReadOptions) -> Result<ReadNetwork> {
        let source = Source::Paths(names.iter().map(|name| self.path(name)).collect());
        read_network(&source, options, &mut |_| ControlFlow::Continue(()))
    }

    /// The message without the folder's name.
    fn failure(&self, names: &[&str], options: &ReadOptions) -> String {
        let error = self.read(names, options).expect_err("the input is bad").to_string();
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn read(name: &str, bytes: &[u8]) -> ReadNetwork {
    Folder::new(&[(name, bytes)]).read(&[name], &ReadOptions::default()).unwrap()
}

fn failure(name: &str, bytes: &[u8]) -> String {
    Folder::new(&[(name, bytes)]).failure(&[name], &ReadOptions::default())
}

fn failure_with(options: &ReadOptions, name: &str, bytes: &[u8]) -> String {
    Folder::new(&[(name, bytes)]).failure(&[name], options)
}

/// The edges of a view as text, `a-b:1.5`; undirected ones once.
fn edges(network: &Network, view: usize) -> Vec<String> {
    let (nodes, view) = (network.nodes(), &network.views()[view]);
    let mut found = Vec::new();
    for row in 0..nodes.len() {
        let (cols, values) = view.adjacency.row(row);
        for (&col, value) in cols.iter().zip(values) {
            if view.directed || row < col as usize {
                found.push(format!("{}-{}:{value}", nodes.id(row), nodes.id(col as usize)));
            }
        }
    }
    found
}

fn nodes(network: &Network) -> Vec<&str> {
    network.nodes().iter().collect()
}

fn view_names(network: &Network) -> Vec<&str> {
    network.views().iter().map(|view| view.name.as_str()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

// Files of one view.

#[test]
fn ids_are_any_text() {
    let bytes = "007\t7\nnaïve 猫\t#rust\n New York \t007\n".as_bytes();
    let network = read("calls.tsv", bytes).network;
    assert_eq!(nodes(&network), ["007", "7", "naïve 猫", "#rust", "New York"]);
    assert_eq!(edges(&network, 0), ["007-7:1", "007-New York:1", "naïve 猫-#rust:1"]);
}

#[test]
fn every_delimiter_gives_the_same_network() {
    let expected = ["a-b:0.5", "b-c:2"];
    for (name, bytes) in [
        ("calls.tsv", "a\tb\t0.5\nb\tc\t2\n"),
        ("calls.tsv", "a\tb\t0.5\r\nb\tc\t2"),
        ("calls.tsv", "\u{feff}a\tb\t0.5\n\n\nb\tc\t2\n"),
        ("calls.tsv", "# made by hand\n% konect\n#\na\tb\t0.5\nb\tc\t2\n"),
        ("calls.csv", "a,b,0.5\nb,c,2\n"),
        ("calls.csv", "source;target;weight\na;b;0.5\nb;c;2\n"),
        ("calls.csv", "\"a\", \"b\", \"0.5\"\r\n\"b\",c,2\r\n"),
        ("calls.txt", "a b 0.5\n  b   c  2 \n"),
        ("calls.txt", "a\tb\t0.5\nb\tc\t2\n"),
        ("calls.txt", "a,b,0.5\nb,c,2\n"),
        ("calls", "a;b;0.5\nb;c;2\n"),
        ("calls.csv", "weight,to,from,note\n0.5,b,a,\"x, \"\"y\"\"\nz\"\n2,c,b,\n"),
    ] {
        assert_eq!(edges(&read(name, bytes.as_bytes()).network, 0), expected, "{name}: {bytes}");
    }
}

#[test]
fn quoted_ids_may_hold_commas_and_blanks() {
    let network = read("calls.csv", b"\"Doe, Jane\", New York \n\" x \",\"say \"\"hi\"\"\"\n").network;
    assert_eq!(nodes(&network), ["Doe, Jane", "New York", " x ", "say \"hi\""]);
}

#[test]
fn packed_files_are_known_by_their_bytes() {
    let plain = b"a\tb\t0.5\nb\tc\t2\n";
    let members = [gzip(&plain[..8]), gzip(&plain[8..])].concat();
    let zstd = zstd::encode_all(&plain[..], 3).unwrap();
    for (name, bytes) in [
        ("calls.tsv.gz", gzip(plain)),
        ("calls.tsv.gz", members),
        ("calls.tsv.zst", zstd.clone()),
        ("calls.tsv", gzip(plain)),
        ("calls.tsv.gz", zstd),
        ("calls.tsv.gz", plain.to_vec()),
    ] {
        let network = read(name, &bytes).network;
        assert_eq!(edges(&network, 0), ["a-b:0.5", "b-c:2"], "{name}");
        assert_eq!(view_names(&network), ["calls"]);
    }
}

#[test]
fn truncated_files_are_called_so() {
    let plain: Vec<u8> =
        (0..5000u32).flat_map(|at| format!("a{}\tb{at}\n", at * 7919 % 5000).into_bytes()).collect();
    let packed = gzip(&plain);
    let expected = "calls.tsv.gz: the gzip data end early; the file is truncated, fetch it again";
    assert_eq!(failure("calls.tsv.gz", &packed[..packed.len() / 2]), expected);
    let packed = zstd::encode_all(&plain[..], 3).unwrap();
    let expected = "calls.tsv.zst: the zstd data end early; the file is truncated, fetch it again";
    assert_eq!(failure("calls.tsv.zst", &packed[..packed.len() / 2]), expected);
}

#[test]
fn a_pair_listed_both_ways_counts_twice() {
    let once = read("calls.tsv", b"a\tb\t1\nb\tc\t2\n").network;
    let both = read("calls.tsv", b"a\tb\t1\nb\ta\t1\nb\tc\t2\nc\tb\t2\n").network;
    let adjacency = &once.views()[0].adjacency;
    let doubled = adjacency.with_values(adjacency.values().iter().map(|weight| 2.0 * weight).collect());
    assert_eq!(both.views()[0].adjacency, doubled);
    assert_eq!(both.views()[0].counts.duplicates, 2);
    let options = ReadOptions { duplicates: Duplicates::Max, ..ReadOptions::default() };
    let folder = Folder::new(&[("calls.tsv", b"a\tb\t1\nb\ta\t1\nb\tc\t2\nc\tb\t2\n")]);
    let largest = folder.read(&["calls.tsv"], &options).unwrap();
    assert_eq!(largest.network.views()[0].adjacency, once.views()[0].adjacency);
    assert!(
        largest.notes[1].contains("2 lines repeat a pair; the largest weight is kept"),
        "{:?}",
        largest.notes
    );
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut text = String::new();
    for at in 0..60_000u32 {
        let source = at.wrapping_mul(2_654_435_761) >> 24;
        text += &format!("n{source}\tn{}\t{}\n", (source + 1 + at % 200) % 256, 1.0 / f64::from(at % 89 + 1));
    }
    let folder = Folder::new(&[("calls.tsv", text.as_bytes())]);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| folder.read(&["calls.tsv"], &ReadOptions::default()).unwrap().network)
    };
    let one = with(1);
    for threads in [2, 8] {
        let other = with(threads);
        assert_eq!(other.nodes(), one.nodes());
        assert_eq!(other.views()[0].adjacency, one.views()[0].adjacency);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_file_gives_the_edges_that_a_map_of_pairs_gives(
        lines in prop::collection::vec(("[ab0 é]{1,2}", "[ab0 é]{1,2}", 0u8..4), 1..200),
        directed: bool,
    ) {
        let mut text = "x\ty\t1\n".to_owned();
        let mut expected = BTreeMap::from([(("x".to_owned(), "y".to_owned()), 1.0)]);
        for (source, target, weight) in lines {
            // Blanks around ids are not part of them, and ids of blanks only are refused: not the matter here.
            let (source, target) = (format!("n{}", source.trim()), format!("n{}", target.trim()));
            let weight = f64::from(weight) / 3.0;
            text += &format!("{source}\t {target} \t{weight}\n");
            if source != target && weight > 0.0 {
                let swap = !directed && source > target;
                let pair = if swap { (target, source) } else { (source, target) };
                *expected.entry(pair).or_insert(0.0) += weight;
            }
        }
        let folder = Folder::new(&[("calls.tsv", text.as_bytes())]);
        let directed = if directed { Directed::All } else { Directed::No };
        let options = ReadOptions { directed, ..ReadOptions::default() };
        let network = folder.read(&["calls.tsv"], &options).unwrap().network;
        let mut found = BTreeMap::new();
        let (nodes, view) = (network.nodes(), &network.views()[0]);
        for row in 0..nodes.len() {
            let (cols, values) = view.adjacency.row(row);
            for (&col, &value) in cols.iter().zip(values) {
                let (source, target) = (nodes.id(row).to_owned(), nodes.id(col as usize).to_owned());
                if view.directed || source < target {
                    found.insert((source, target), value);
                }
            }
        }
        prop_assert_eq!(found, expected);
    }
}

// Columns.

#[test]
fn notes_say_how_a_file_was_understood() {
    let folder =
        Folder::new(&[("calls.tsv", b"source\ttarget\tweight\na\ta\t1\na\tb\t0\nb\tc\t1\nc\tb\t1\n")]);
    let notes = folder.read(&["calls.tsv"], &ReadOptions::default()).unwrap().notes;
    let file = folder.path("calls.tsv").display().to_string();
    assert_eq!(
        notes,
        [
            format!("{file}: tab-separated, header (source, target, weight)"),
            "view calls: 1 self-loop dropped".into(),
            "view calls: 1 edge of weight zero dropped".into(),
            "view calls: 1 line repeats a pair; weights are added up (--duplicates max keeps the largest)"
                .into(),
        ]
    );
    let read = read("calls.csv", b"from,to,year\na,b,1999\n");
    assert_eq!(edges(&read.network, 0), ["a-b:1"]);
    assert!(
        read.notes[0].ends_with("column \"year\" is ignored (--weight year uses it as weights)"),
        "{:?}",
        read.notes
    );
}

#[test]
fn columns_can_be_named() {
    let bytes = b"year,author,paper\n1999,ann,p1\n2001,bob,p1\n";
    let folder = Folder::new(&[("wrote.csv", bytes)]);
    let mut options = ReadOptions { source: some("author"), target: some("3"), ..ReadOptions::default() };
    let network = folder.read(&["wrote.csv"], &options).unwrap().network;
    assert_eq!(edges(&network, 0), ["ann-p1:1", "p1-bob:1"]);
    options.weight = some("Year");
    let network = folder.read(&["wrote.csv"], &options).unwrap().network;
    assert_eq!(edges(&network, 0), ["ann-p1:1999", "p1-bob:2001"]);
    options.source = some("auther");
    let text = folder.failure(&["wrote.csv"], &options);
    assert_eq!(text, "wrote.csv:1: no column \"auther\"; the columns are year, author, paper");
}

#[test]
fn headers_and_delimiters_can_be_told() {
    let options = ReadOptions { header: Header::No, ..ReadOptions::default() };
    let folder = Folder::new(&[("words.tsv", b"from\tto\nto\tbe\n"), ("spaced.tsv", b"a b\nb c\n")]);
    let network = folder.read(&["words.tsv"], &options).unwrap().network;
    assert_eq!(nodes(&network), ["from", "to", "be"]);
    let options = ReadOptions { header: Header::Yes, delimiter: Some(Delimiter::Space), ..options };
    let network = folder.read(&["spaced.tsv"], &options).unwrap().network;
    assert_eq!(nodes(&network), ["b", "c"]);
}

#[test]
fn weights_can_be_ignored() {
    let options = ReadOptions { unweighted: true, ..ReadOptions::default() };
    let folder = Folder::new(&[("calls.tsv", b"a\tb\tx\nb\tc\n")]);
    let network = folder.read(&["calls.tsv"], &options).unwrap().network;
    assert_eq!(edges(&network, 0), ["a-b:1", "b-c:1"]);
}

// Lines that cannot be understood.

#[test]
fn bad_lines_get_a_sentence() {
    for (name, bytes, expected) in [
        (
            "calls.tsv",
            &b"a\tb\t1\na\tc\t0,5\n"[..],
            "calls.tsv:2: weight \"0,5\" is not a number (use a point: 0.5)",
        ),
        ("calls.csv", b"a;b;0,5\n", "calls.csv:1: weight \"0,5\" is not a number (use a point: 0.5)"),
        (
            "calls.tsv",
            b"# x\n\na\tb\t-1\n",
            "calls.tsv:3: weight \"-1\" is negative; weights must be at least 0",
        ),
        (
            "calls.tsv",
            b"a\tb\tNaN\n",
            "calls.tsv:1: weight \"NaN\" is not finite; weights must be finite numbers of at least 0",
        ),
        (
            "calls.tsv",
            b"a\tb\t1\na\tb\t-inf\n",
            "calls.tsv:2: weight \"-inf\" is not finite; weights must be finite numbers of at least 0",
        ),
        (
            "calls.tsv",
            b"a\tb\tfriend\n",
            "calls.tsv:1: weight \"friend\" is not a number (--unweighted ignores weights; --relation 3 splits the table by this column)",
        ),
        (
            "calls.csv",
            b"source,target,weight\na,b,heavy\n",
            "calls.csv:2: weight \"heavy\" is not a number (--unweighted ignores weights)",
        ),
        (
            "calls.tsv",
            b"a\tb\t\n",
            "calls.tsv:1: the weight is empty; expected a number (--unweighted ignores weights)",
        ),
        (
            "calls.tsv",
            b"a b\nb c\n",
            "calls.tsv:1: one field where source and target are expected, separated by tabs; if blanks separate them, say --delimiter space",
        ),
        (
            "calls.tsv",
            b"a\tb\nb,c\n",
            "calls.tsv:2: one field where source and target are expected, separated by tabs; if commas separate them, say --delimiter comma",
        ),
        (
            "calls.csv",
            b"a\tb\n",
            "calls.csv:1: one field where source and target are expected, separated by commas; if tabs separate them, say --delimiter tab",
        ),
        ("calls.tsv", b"a\tb\t1\nb\tc\n", "calls.tsv:2: 2 fields where 3 are expected, separated by tabs"),
        (
            "calls.tsv",
            b"a\tb\nb\tc\t0.5\n",
            "calls.tsv:2: more fields than the 2 of the first line; give every line a weight, or none (--unweighted ignores further fields)",
        ),
        ("calls.tsv", b"a\tb\n\tc\n", "calls.tsv:2: the source is empty; expected a node id in column 1"),
        ("calls.csv", b"a,b\nc, \n", "calls.csv:2: the target is empty; expected a node id in column 2"),
        (
            "calls.csv",
            b"a,b\n\"x\ny\",b\n",
            "calls.csv:2: node id \"x\\ny\" contains a line break; nodes.txt holds one id a line",
        ),
        (
            "calls.csv",
            b"a,b\nc,\"d\ne,f\n",
            "calls.csv:2: a quote opens in this line and is never closed; close it, or double quotes that are meant as such (\"\")",
        ),
        (
            "calls.tsv",
            b"a\tb\nc\tcaf\xe9\n",
            "calls.tsv:2: node id \"caf\u{fffd}\" is not UTF-8; convert the text, for example with iconv -f latin1 -t utf-8",
        ),
    ] {
        assert_eq!(failure(name, bytes), expected);
    }
}

#[test]
fn the_first_bad_line_is_the_one_reported() {
    for later in ["a\tb\tx\n", "a\n", "\tb\t1\n"] {
        let bytes = format!("a\tb\t1\na\t\t1\na\tb\t1\n{later}");
        assert!(failure("calls.tsv", bytes.as_bytes()).starts_with("calls.tsv:2: the target is empty"));
    }
    assert!(failure("calls.csv", b"a,b\n,c\na,\"d\n").starts_with("calls.csv:2: the source is empty"));
}

#[test]
fn bad_files_get_a_sentence() {
    for (name, bytes, expected) in [
        (
            "calls.tsv",
            &b""[..],
            "calls.tsv: no edges: the file is empty or has comments only; leave it out or check where it comes from",
        ),
        (
            "calls.tsv",
            b"# nothing\n\n",
            "calls.tsv: no edges: the file is empty or has comments only; leave it out or check where it comes from",
        ),
        (
            "calls.tsv",
            b"source\ttarget\n",
            "calls.tsv: no edges: the file has nothing but a header (--header no reads it as an edge)",
        ),
        (
            "calls.tsv",
            b"\xff\xfea\0\t\0b\0",
            "calls.tsv: is UTF-16; convert it, for example with iconv -f utf-16 -t utf-8",
        ),
        (
            "calls.tsv",
            b"a\tb\nc\td\0\n",
            "calls.tsv: holds zero bytes and is not text; expected lines of edges in UTF-8 (iconv -f utf-16le -t utf-8 converts UTF-16)",
        ),
        (
            "calls.tsv",
            b"a\ta\n",
            "the network has 1 node, and an edge needs two; check that source and target are the right columns",
        ),
        (
            "calls.tsv",
            b"a\ta\t1\na\tb\t0\n",
            "view \"calls\" has no edges: of 2 given, 1 were dropped as zero weights and 1 as self-loops; leave it out or check its columns",
        ),
    ] {
        assert_eq!(failure(name, bytes), expected);
    }
    let folder = Folder::new(&[]);
    assert_eq!(
        folder.failure(&["none.tsv"], &ReadOptions::default()),
        "none.tsv: no such file or folder; check the path"
    );
    fs::create_dir(folder.path("calls.tsv")).unwrap();
    let source = Source::Views(vec![ViewSource { name: "calls".into(), path: folder.path("calls.tsv") }]);
    let error =
        read_network(&source, &ReadOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(error.to_string().ends_with("is a folder where a file is expected"), "{error}");
}

// The forms of a network.

#[test]
fn a_table_is_split_by_its_relation() {
    let options = ReadOptions {
        relation: some("kind"),
        directed: Directed::Views(vec!["mails".into()]),
        ..ReadOptions::default()
    };
    let bytes = b"source,target,kind,weight\na,b,mails,1\nb,c,calls,2\nb,a,mails,3\n";
    let folder = Folder::new(&[("edges.csv", bytes), ("bare.txt", b"a b calls 2\nb c mails 1\n")]);
    let network = folder.read(&["edges.csv"], &options).unwrap().network;
    assert_eq!(view_names(&network), ["mails", "calls"]);
    assert_eq!(edges(&network, 0), ["a-b:1", "b-a:3"]);
    assert_eq!(edges(&network, 1), ["b-c:2"]);

    let by_number = ReadOptions { relation: some("3"), ..ReadOptions::default() };
    let network = folder.read(&["bare.txt"], &by_number).unwrap().network;
    assert_eq!(
        (view_names(&network), edges(&network, 0)),
        (vec!["calls", "mails"], vec!["a-b:2".to_owned()])
    );

    let wrong = ReadOptions { directed: Directed::Views(vec!["visits".into()]), ..options.clone() };
    assert_eq!(
        folder.failure(&["edges.csv"], &wrong),
        "--directed visits: there is no such view; the views are mails, calls"
    );
    let text = failure_with(&options, "edges.csv", b"source,target,kind\na,b,x\na,b,\n");
    assert_eq!(text, "edges.csv:3: the relation is empty; every edge of the table needs a view");
    let text = folder.failure(&["edges.csv"], &ReadOptions::default());
    assert!(
        text.contains("pass --relation kind to split the table into views, or --view NAME=PATH"),
        "{text}"
    );
    let text = folder.failure(&["edges.csv", "bare.txt"], &options);
    assert!(text.contains("give it with a single file"), "{text}");
}

#[test]
fn a_column_of_too_many_relations_is_doubted() {
    let options = ReadOptions { relation: some("3"), ..ReadOptions::default() };
    let bytes: Vec<u8> = (0..2000).flat_map(|at| format!("a b r{at}\n").into_bytes()).collect();
    assert!(failure_with(&options, "edges.txt", &bytes).starts_with("edges.txt:1001: more than 1000"));
}

#[test]
fn a_folder_is_a_network() {
    let folder = Folder::new(&[
        ("mails.csv", b"b,c\n"),
        ("calls.tsv.gz", &gzip(b"a\tb\n")),
        ("calls-2.txt", b"c d\n"),
        ("labels.tsv", b"a\t1\n"),
        ("labels_2.tsv", b"a\t1\n"),
        ("nodes_old.txt", b"zzz\n"),
        (".hidden.tsv", b"x\ty\n"),
        ("SOURCE.md", b"from somewhere"),
        ("README", b"read me"),
        ("plot.png", b"\x89PNG"),
    ]);
    let read = folder.read(&[""], &ReadOptions::default()).unwrap();
    assert_eq!(view_names(&read.network), ["calls", "calls-2", "mails"]);
    assert_eq!(nodes(&read.network), ["a", "b", "c", "d"]);
    assert!(read.notes[0].ends_with("1 other file ignored"), "{:?}", read.notes);
    assert_eq!(Network::open(folder.0.path()).unwrap().nodes(), read.network.nodes());

    fs::write(folder.path("nodes.txt"), "d\nc\nb\na\ne\n").unwrap();
    let read = folder.read(&[""], &ReadOptions::default()).unwrap();
    assert_eq!(nodes(&read.network), ["d", "c", "b", "a", "e"]);
    assert_eq!(read.network.views()[0].isolated(), 3);

    fs::write(folder.path("mails.tsv"), "b\tc\n").unwrap();
    let text = folder.failure(&[""], &ReadOptions::default());
    assert!(text.starts_with("two views are called \"mails\": mails.csv and mails.tsv"), "{text}");
}

#[test]
fn a_folder_without_views_is_an_error() {
    let folder = Folder::new(&[("labels.tsv", b"a\t1\n"), ("notes.md", b"")]);
    let error = Network::open(folder.0.path()).unwrap_err().to_string();
    assert!(error.contains("the folder holds no views"), "{error}");
}

#[test]
fn several_files_are_views_named_by_their_stems() {
    let folder = Folder::new(&[("mails.csv", b"b,c\n"), ("calls.v1.tsv", b"a\tb\n"), ("network.toml", b"")]);
    let options = ReadOptions { directed: Directed::All, ..ReadOptions::default() };
    let network = folder.read(&["mails.csv", "calls.v1.tsv"], &options).unwrap().network;
    assert_eq!(view_names(&network), ["mails", "calls.v1"]);
    assert!(network.views().iter().all(|view| view.directed));
    let wrong = ReadOptions { directed: Directed::Views(vec!["call".into()]), ..ReadOptions::default() };
    let text = folder.failure(&["mails.csv", "calls.v1.tsv"], &wrong);
    assert_eq!(text, "--directed call: there is no such view; the views are mails, calls.v1");
    let text = folder.failure(&["mails.csv", "network.toml"], &ReadOptions::default());
    assert!(text.contains("a manifest is a whole network"), "{text}");
    let text = folder.failure(&["mails.csv", ""], &ReadOptions::default());
    assert!(text.contains("a folder is a whole network"), "{text}");
    assert!(folder.failure(&[], &ReadOptions::default()).contains("no network given"));
}

#[test]
fn a_manifest_says_it_all() {
    let manifest = br#"
nodes = "nodes.txt"

[[view]]
name = "calls"
path = "c.txt"
directed = true
delimiter = "semicolon"
header = true
source = 2
target = "callee"
weight = "minutes"

[[view]]
path = "mails.tsv"
unweighted = true
duplicates = "max"
"#;
    let folder = Folder::new(&[
        ("network.toml", manifest),
        ("nodes.txt", b"c\nb\na\n"),
        ("c.txt", b"minutes;caller;callee\n5;a;b\n"),
        ("mails.tsv", b"a\tc\t9\nc\ta\t9\n"),
        ("other.tsv", b"x\ty\n"),
    ]);
    for path in [folder.path("network.toml"), folder.path("")] {
        let network = Network::open(path).unwrap();
        assert_eq!(nodes(&network), ["c", "b", "a"]);
        assert_eq!(view_names(&network), ["calls", "mails"]);
        assert_eq!(edges(&network, 0), ["a-b:5"]);
        assert_eq!(edges(&network, 1), ["c-a:1"]);
    }
    let options = ReadOptions { weight: some("3"), ..ReadOptions::default() };
    let network = folder.read(&["network.toml"], &options).unwrap().network;
    assert_eq!(edges(&network, 1), ["c-a:1"], "the manifest's word stands");
}

#[test]
fn a_manifest_may_describe_a_table() {
    let manifest = b"[table]\npath = \"edges.csv\"\nrelation = \"kind\"\ndirected = [\"mails\"]\n";
    let folder = Folder::new(&[
        ("network.toml", manifest),
        ("edges.csv", b"source,target,kind\na,b,calls\nb,a,mails\n"),
        ("wrong.toml", b"[table]\npath = \"edges.csv\"\nrelation = \"kind\"\ndirected = [\"mail\"]\n"),
    ]);
    let network = Network::open(folder.path("network.toml")).unwrap();
    assert_eq!((edges(&network, 0), edges(&network, 1)), (vec!["a-b:1".into()], vec!["b-a:1".into()]));
    let text = folder.failure(&["wrong.toml"], &ReadOptions::default());
    assert!(text.contains("there is no such view; the views are calls, mails"), "{text}");
}

#[test]
fn bad_manifests_get_a_sentence() {
    for (manifest, expected) in [
        ("[[view]]\npath = \"a.tsv\"\npth = 1\n", "network.toml:3: unknown field `pth`"),
        ("node = \"x\"\n", "network.toml:1: unknown field `node`"),
        ("[[view]]\nname = \"a\"\n", "network.toml:1: missing field `path`"),
        ("\n[[view]\n", "network.toml:2: "),
        ("[[view]]\npath = \"a.tsv\"\nduplicates = \"mean\"\n", "network.toml:3: unknown variant `mean`"),
        ("[[view]]\npath = \"a.tsv\"\nheader = \"maybe\"\n", "network.toml:3: invalid value"),
        ("nodes = \"nodes.txt\"\n", "network.toml: no views; add a [[view]]"),
        ("[table]\npath = \"a\"\n", "network.toml: [table] needs relation"),
        ("[[view]]\npath = \"a\"\n[table]\npath = \"a\"\n", "network.toml: has both [[view]] and [table]"),
        ("[[view]]\npath = \"a.tsv\"\n[[view]]\npath = \"a.csv\"\n", "two views are called \"a\""),
        ("[[view]]\npath = \"none.tsv\"\n", "none.tsv: no such file or folder"),
    ] {
        let text = failure("network.toml", manifest.as_bytes());
        assert!(text.starts_with(expected), "{text}\nfor {manifest}");
    }
}

#[test]
fn views_can_be_given_by_name_and_path() {
    assert_eq!(
        "calls=x=y.tsv".parse::<ViewSource>().unwrap(),
        ViewSource { name: "calls".into(), path: "x=y.tsv".into() }
    );
    for text in ["calls.tsv", "=calls.tsv", "calls="] {
        assert!(text.parse::<ViewSource>().is_err(), "{text}");
    }
    let read = |source| read_network(&source, &ReadOptions::default(), &mut |_| ControlFlow::Continue(()));
    let twice = Source::Views(vec!["a=-".parse().unwrap(), "b=-".parse().unwrap()]);
    assert!(read(twice).unwrap_err().to_string().starts_with("standard input (-) can be read once only"));
    let error = read(Source::Table("edges.csv".into())).unwrap_err().to_string();
    assert!(error.contains("needs --relation COL"), "{error}");
}

// The node file.

#[test]
fn a_node_file_fixes_nodes_and_order() {
    let folder = Folder::new(&[
        ("calls.tsv", b"a\tb\nb\tc\n"),
        ("all.txt", b"d\r\nc\n\nb\n a \n"),
        ("table.tsv", b"id\tname\nc\tCy\nb\tBob\na\tAnn\n"),
        ("few.txt", b"a\nb\n"),
        ("twice.txt", b"a\n\nb\na\n"),
        ("empty.txt", b"\n"),
    ]);
    let with = |name: &str| ReadOptions { nodes: Some(folder.path(name)), ..ReadOptions::default() };
    let read = folder.read(&["calls.tsv"], &with("all.txt")).unwrap();
    assert_eq!(nodes(&read.network), ["d", "c", "b", "a"]);
    assert!(read.notes[0].ends_with("all.txt: 4 nodes, which fix the rows"), "{:?}", read.notes);
    assert_eq!(nodes(&folder.read(&["calls.tsv"], &with("table.tsv")).unwrap().network), ["c", "b", "a"]);
    for (name, expected) in [
        (
            "few.txt",
            "calls.tsv:2: node \"c\" is not in few.txt; add it there, or leave the node file out to take the nodes from the edges",
        ),
        ("twice.txt", "twice.txt:4: node \"a\" is also in line 1; give each node once"),
        ("empty.txt", "empty.txt: no nodes: expected one id a line"),
    ] {
        assert_eq!(folder.failure(&["calls.tsv"], &with(name)), expected);
    }
}

// Progress, and the end of it.

#[test]
fn the_observer_sees_the_reading_and_may_end_it() {
    let bytes: Vec<u8> = (0..200_000).flat_map(|at| format!("{at}\t{}\n", at + 1).into_bytes()).collect();
    let folder = Folder::new(&[("calls.tsv", &bytes), ("mails.tsv", b"0\t1\n")]);
    let source = Source::Paths(vec![folder.path("calls.tsv"), folder.path("mails.tsv")]);
    let mut seen = Vec::new();
    read_network(&source, &ReadOptions::default(), &mut |reading| {
        seen.push((reading.path.to_owned(), reading.bytes, reading.total, reading.edges));
        ControlFlow::Continue(())
    })
    .unwrap();
    let total = bytes.len() as u64 + 4;
    assert!(seen.len() > 3);
    assert!(seen.is_sorted_by_key(|&(_, bytes, _, edges)| (bytes, edges)));
    assert_eq!(seen.last().unwrap(), &(folder.path("mails.tsv"), total, Some(total), 200_001));
    let error = read_network(&source, &ReadOptions::default(), &mut |_| ControlFlow::Break(())).unwrap_err();
    assert!(matches!(error, Error::Interrupted));
}

/// Not a test by itself: `standard_input_is_a_file` runs it in a process of its own, with something to read.
#[test]
fn child_that_reads_standard_input() {
    if std::env::var_os("MANYVIEW_TEST_CHILD").is_none() {
        return;
    }
    let source = Source::Views(vec!["calls=-".parse().unwrap()]);
    let mut total = Some(0);
    let read = read_network(&source, &ReadOptions::default(), &mut |reading| {
        total = reading.total;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(edges(&read.network, 0), ["a-b:0.5"]);
    assert_eq!(read.notes, ["standard input: space-separated, no header, weights in column 3"]);
    assert_eq!(total, None);
}

#[test]
fn standard_input_is_a_file() {
    for bytes in [b"a b 0.5\n".to_vec(), gzip(b"a b 0.5\n")] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_reads_standard_input"])
            .env("MANYVIEW_TEST_CHILD", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

//! Kinds of networks: tables, folders, manifests, node files, standard input.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use manyview_base::error::Error;
use manyview_data::Network;
use manyview_data::io::{Directed, ReadOptions, Reading, Source, ViewSource, read_network};

use super::support::{Folder, edges, failure, failure_with, gzip, nodes, pool, some, view_names};

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
        "directed = visits: unknown view; the views are mails, calls"
    );
    let text = failure_with(&options, "edges.csv", b"source,target,kind\na,b,x\na,b,\n");
    assert_eq!(text, "edges.csv:3: the relation is empty; every edge of the table needs a view");
    let text = folder.failure(&["edges.csv"], &ReadOptions::default());
    assert!(
        text.contains("use relation = kind to split the table into views, or view = NAME=PATH"),
        "{text}"
    );
    let text = folder.failure(&["edges.csv", "bare.txt"], &options);
    assert!(text.contains("use it with a single file"), "{text}");
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
    assert!(read.notes[0].to_string().ends_with("ignored 1 other file"), "{:?}", read.notes);
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
    assert!(error.contains("the folder has no views"), "{error}");
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
    assert_eq!(text, "directed = call: unknown view; the views are mails, calls.v1");
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
    assert_eq!(edges(&network, 1), ["c-a:1"], "the manifest takes precedence");
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
    assert!(text.contains("unknown view; the views are calls, mails"), "{text}");
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
    let read =
        |source| read_network(&source, &ReadOptions::default(), &pool(1), &mut |_| ControlFlow::Continue(()));
    let twice = Source::Views(vec!["a=-".parse().unwrap(), "b=-".parse().unwrap()]);
    assert!(read(twice).unwrap_err().to_string().starts_with("standard input (-) can be read only once"));
    let error = read(Source::Table("edges.csv".into())).unwrap_err().to_string();
    assert!(error.contains("needs relation = COL"), "{error}");
}

// Node files.

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
    assert!(read.notes[0].to_string().ends_with("all.txt: 4 nodes in this order"), "{:?}", read.notes);
    assert_eq!(nodes(&folder.read(&["calls.tsv"], &with("table.tsv")).unwrap().network), ["c", "b", "a"]);
    for (name, expected) in [
        (
            "few.txt",
            "calls.tsv:2: node \"c\" is not in few.txt; add it there, or omit the node file to take the nodes from the edges",
        ),
        ("twice.txt", "twice.txt:4: node \"a\" is already in line 1; list each node once"),
        ("empty.txt", "empty.txt: no nodes: expected one id per line"),
    ] {
        assert_eq!(folder.failure(&["calls.tsv"], &with(name)), expected);
    }
}

// Progress and interruption.

#[test]
fn the_observer_sees_the_reading_and_may_end_it() {
    let bytes: Vec<u8> = (0..200_000).flat_map(|at| format!("{at}\t{}\n", at + 1).into_bytes()).collect();
    let folder = Folder::new(&[("calls.tsv", &bytes), ("mails.tsv", b"0\t1\n")]);
    let source = Source::Paths(vec![folder.path("calls.tsv"), folder.path("mails.tsv")]);
    let mut seen = Vec::new();
    read_network(&source, &ReadOptions::default(), &pool(2), &mut |reading| {
        seen.push((reading.path.to_owned(), reading.bytes, reading.total, reading.edges));
        ControlFlow::Continue(())
    })
    .unwrap();
    let total = bytes.len() as u64 + 4;
    assert!(seen.len() > 3);
    assert!(seen.is_sorted_by_key(|&(_, bytes, _, edges)| (bytes, edges)));
    assert_eq!(seen.last().unwrap(), &(folder.path("mails.tsv"), total, Some(total), 200_001));
    let stop = &mut |_: &Reading<'_>| ControlFlow::Break(());
    let error = read_network(&source, &ReadOptions::default(), &pool(2), stop).unwrap_err();
    assert!(matches!(error, Error::Interrupted));
}

/// Not a test itself: `standard_input_is_a_file` runs it in a process of its own, with input.
#[test]
fn child_that_reads_standard_input() {
    if std::env::var_os("MANYVIEW_TEST_CHILD").is_none() {
        return;
    }
    let source = Source::Views(vec!["calls=-".parse().unwrap()]);
    let mut total = Some(0);
    let read = read_network(&source, &ReadOptions::default(), &pool(1), &mut |reading| {
        total = reading.total;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(edges(&read.network, 0), ["a-b:0.5"]);
    assert_eq!(read.notes, ["standard input: space-separated, no header, weights in column 3".into()]);
    assert_eq!(total, None);
}

#[test]
fn standard_input_is_a_file() {
    for bytes in [b"a b 0.5\n".to_vec(), gzip(b"a b 0.5\n")] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "networks::child_that_reads_standard_input"])
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

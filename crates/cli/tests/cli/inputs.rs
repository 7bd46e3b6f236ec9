//! Bad network files: a message with place, reason and advice, and no files left behind.

use std::fs;
use std::io::Write;

use super::support::{CALLS, Place, SMALL};

/// Embeds a file with this content, which must fail.
#[track_caller]
fn bad_file(content: impl AsRef<[u8]>, words: &[&str]) {
    let place = Place::new();
    place.write("x.tsv", content);
    place.fails("embed x.tsv -o result", 1, words);
    place.fails("proximity x.tsv -o deep/er/result", 1, words);
}

#[test]
fn files_that_do_not_exist() {
    let place = Place::with_views();
    let run =
        place.fails("embed none.tsv -o result", 1, &["none.tsv: no such file or folder; check the path"]);
    assert_eq!(run.err.lines().count(), 1, "one message: {}", run.err);
    place.fails("embed --view calls=none.tsv -o deep/er/result", 1, &["none.tsv", "check the path"]);
    place.fails("embed calls.tsv --nodes none.txt -o result", 1, &["none.txt", "check the path"]);
    place.fails("embed none.toml -o result", 1, &["none.toml", "check the path"]);
    fs::create_dir(place.path("folder")).unwrap();
    place.fails("embed --view calls=folder -o result", 1, &["folder: is a folder where a file is expected"]);
    place.fails("embed folder -o result", 1, &["folder: the folder has no views", "calls.tsv"]);
}

#[test]
fn files_without_edges() {
    bad_file("", &["x.tsv: no edges", "empty", "remove it"]);
    bad_file("# only words\n\n", &["x.tsv: no edges", "only comments", "remove it"]);
    bad_file("source\ttarget\n", &["x.tsv: no edges", "header", "--header no"]);
    let place = Place::with_views();
    place.write("mails.tsv", "");
    place.fails("embed calls.tsv mails.tsv -o result", 1, &["mails.tsv: no edges"]);
    place.write("mails.tsv", "ann\tbob\t0\nbob\tbob\t1\n");
    let words =
        ["view \"mails\" has no edges", "all 2 were dropped (weight zero: 1, self-loops: 1)", "remove it"];
    place.fails("embed calls.tsv mails.tsv -o result", 1, &words);
}

#[test]
fn lines_that_are_not_edges() {
    bad_file("a\tb\nc\n", &["x.tsv:2: found one field, expected source and target separated by tabs"]);
    bad_file("a,b\nb,c\n", &["x.tsv:1: found one field", "use --delimiter comma"]);
    bad_file("a\tb\nb\t\n", &["x.tsv:2: the target is empty", "column 2"]);
    bad_file("a\tb\nb\tc\t1\n", &["x.tsv:2: more fields than the 2 of the first line", "--unweighted"]);
    let place = Place::new();
    place.write("x.csv", "a,b\n\"b,c\n");
    place.fails("embed x.csv -o result", 1, &["x.csv:2: a quote opens in this line and is never closed"]);
}

#[test]
fn invalid_weights() {
    for (weight, words) in [
        ("heavy", "weight \"heavy\" is not a number (use --unweighted to ignore weights"),
        ("NaN", "weight \"NaN\" is not finite; weights must be finite numbers of at least 0"),
        ("inf", "weight \"inf\" is not finite"),
        ("1e400", "weight \"1e400\" is not finite"),
        ("-1", "weight \"-1\" is negative; weights must be at least 0"),
        ("0,5", "weight \"0,5\" is not a number: use --decimal comma for decimal commas"),
        (
            "",
            "the weight is empty; expected a number (use --unweighted to ignore weights, or --on-error skip",
        ),
    ] {
        bad_file(format!("a\tb\t1\nb\tc\t{weight}\n"), &["x.tsv:2: ", words]);
    }
}

#[test]
fn dropped_and_merged_edges_are_counted() {
    let place = Place::new();
    place.write("x.tsv", "a\tb\t1\nb\tc\t0\nc\ta\t2\nd\te\t1\ne\te\t4\nf\tf\t1\na\tc\t3\nc\ta\t1\ne\tf\t1\n");
    let run = place.done(&format!("embed x.tsv -o result {SMALL}"));
    for words in [
        "view x: dropped 1 edge of weight zero",
        "view x: dropped 2 self-loops",
        "view x: 2 lines repeat a pair; weights are added (use --duplicates max to keep the largest)",
        "6 nodes, 1 view: x (4 edges)",
    ] {
        assert!(run.err.contains(words), "no {words:?} in\n{}", run.err);
    }
    let most = place.done(&format!("embed x.tsv -o most --duplicates max {SMALL}"));
    assert!(
        most.err.contains("the largest weight is kept (use --duplicates sum to add them)"),
        "{}",
        most.err
    );
    assert!(place.read("most/embedding.npy") != place.read("result/embedding.npy"));
    place.write("merged/x.tsv", "a\tb\t1\nc\ta\t3\nd\te\t1\ne\tf\t1\n");
    place.write("nodes.txt", place.text("result/nodes.txt"));
    let merged = place.embedded(&format!("merged --nodes nodes.txt {SMALL}"));
    assert!(merged.0 == place.read("most/embedding.npy"), "the largest weight alone");
}

#[test]
fn networks_with_self_loops_only() {
    bad_file("a\ta\nb\tb\n", &["view \"x\" has no edges", "self-loops: 2", "check its columns"]);
    bad_file("a\ta\n", &["the network has 1 node, but an edge needs two", "columns"]);
    let place = Place::new();
    place.write("x.tsv", "a\ta\n");
    place.write("nodes.txt", "a\n");
    place.fails("embed x.tsv --nodes nodes.txt -o result", 1, &["the network has 1 node"]);
}

#[test]
fn packed_files_that_are_cut_short() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(CALLS.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let zstd = zstd::encode_all(CALLS.as_bytes(), 3).unwrap();
    for (packed, name) in [(gzip, "gzip"), (zstd, "zstd")] {
        let end = packed.len() - 12;
        bad_file(&packed[..end], &["x.tsv: ", name, "the file is truncated, download it again"]);
    }
}

#[test]
fn text_that_is_not_utf8() {
    bad_file(
        b"a\tb\nb\tc\nk\xf6ln\tb\n",
        &["x.tsv:3: ", "is not UTF-8; convert the text", "iconv -f latin1 -t utf-8"],
    );
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    bad_file(utf16("\u{feff}a\tb\n"), &["x.tsv: is UTF-16; convert it", "iconv -f utf-16 -t utf-8"]);
    bad_file(utf16("a\tb\n"), &["x.tsv:1: the line contains a zero byte", "iconv"]);
    bad_file(b"PK\x03\x04\x14\0\0\0\0\0\0", &["x.tsv: is a zip archive or a workbook", "CSV"]);
}

#[test]
fn views_of_one_name() {
    let place = Place::with_views();
    let words = ["two views are called \"a\": calls.tsv and mails.tsv; rename one"];
    place.fails("embed --view a=calls.tsv --view a=mails.tsv -o result", 2, &words);
    place.write("folder/a.tsv", CALLS);
    place.write("folder/a.csv", CALLS.replace('\t', ","));
    place.fails("embed folder -o result", 2, &["two views are called \"a\"", "a.csv", "a.tsv"]);
}

#[test]
fn relations_that_cannot_be_found() {
    let place = Place::with_views();
    place.write("table.csv", "from,to,kind\na,b,x\nb,c,y\n");
    let words = ["table.csv:1: there is no column \"nope\"; the columns are from, to, kind"];
    place.fails("embed table.csv --relation nope -o result", 1, &words);
    place.fails(
        "embed table.csv --relation 4 -o result",
        1,
        &["table.csv:1: there is no column 4; columns are numbered from 1 to 3"],
    );
    place.fails("embed table.csv -o result", 1, &["table.csv:1: column \"kind\"", "use --relation kind"]);
    place.fails("embed calls.tsv mails.tsv --relation 3 -o result", 2, &["--relation", "a single file"]);
    place.fails("embed --view a=table.csv --relation kind -o result", 2, &["--relation", "--view"]);
    place.write("table.csv", "from,to,kind\na,b,x\nb,c,\n");
    place.fails("embed table.csv --relation kind -o result", 1, &["table.csv:3: the relation is empty"]);
}

#[test]
fn nodes_that_the_node_file_lacks() {
    let place = Place::with_views();
    place.write("nodes.txt", "ann\nbob\ncat\n");
    let words = ["calls.tsv:4: node \"dan\" is not in nodes.txt; add it there, or omit the node file"];
    place.fails("embed calls.tsv --nodes nodes.txt -o result", 1, &words);
    place.write("nodes.txt", "ann\nbob\nann\n");
    let words = ["nodes.txt:3: node \"ann\" is already in line 1; list each node once"];
    place.fails("embed calls.tsv --nodes nodes.txt -o result", 1, &words);
    place.write("nodes.txt", "");
    place.fails(
        "embed calls.tsv --nodes nodes.txt -o result",
        1,
        &["nodes.txt: no nodes", "one id per line"],
    );
}

#[test]
fn manifests_that_are_wrong() {
    let place = Place::with_views();
    for (text, words) in [
        (
            "[[view]]\npath = \"calls.tsv\"\ncolor = 1\n",
            "network.toml:3: unknown field `color`, expected one of",
        ),
        ("[[view\n", "network.toml:1: "),
        ("", "network.toml: no views; add a [[view]]"),
        ("[[view]]\npath = \"none.tsv\"\n", "none.tsv: no such file or folder"),
        ("[table]\npath = \"calls.tsv\"\n", "network.toml: [table] needs relation"),
    ] {
        place.write("network.toml", text);
        place.fails("embed network.toml -o result", 1, &[words]);
    }
}

#[test]
fn standard_input_that_is_empty_or_given_twice() {
    let place = Place::new();
    let line = "embed --view a=- -o result";
    place.feed(line, "").failed(line, 1, &["standard input: no edges"]);
    place.feed(line, "a\tb\nc\n").failed(line, 1, &["standard input:2: found one field"]);
    let line = "embed --view a=- --view b=- -o result";
    place.feed(line, CALLS).failed(line, 2, &["standard input (-) can be read only once"]);
    assert!(place.names(".").is_empty());
}

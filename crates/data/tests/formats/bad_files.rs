//! Messages for lines and files that cannot be read.

use std::fs;
use std::ops::ControlFlow;

use manyview_data::io::{ReadOptions, Reading, Source, ViewSource, read_network};

use super::support::{Folder, failure, pool};

#[test]
fn bad_lines_get_a_sentence() {
    for (name, bytes, expected) in [
        (
            "calls.tsv",
            &b"a\tb\t1\na\tc\t0,5\n"[..],
            "calls.tsv:2: weight \"0,5\" is not a number: use decimal = comma for decimal commas",
        ),
        (
            "calls.csv",
            b"a;b;0,5\n",
            "calls.csv:1: weight \"0,5\" is not a number: use decimal = comma for decimal commas",
        ),
        (
            "calls.tsv",
            b"a\tb\t1,234,567\n",
            "calls.tsv:1: weight \"1,234,567\" is not a number: remove the thousands separators",
        ),
        (
            "calls.csv",
            b"call_id,day,person,friend\n1,2024-01-31,ann,bob\n",
            "calls.csv:1: cannot tell which columns are the ends of an edge: the columns have no usual names; the columns are call_id, day, person, friend; choose with source = COL and target = COL (and weight = COL, if there are weights); if this line is an edge, use header = no",
        ),
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
            "calls.tsv:1: weight \"friend\" is not a number (use unweighted to ignore weights, or relation = 3 to split the table by this column)",
        ),
        (
            "calls.csv",
            b"source,target,weight\na,b,heavy\n",
            "calls.csv:2: weight \"heavy\" is not a number (use unweighted to ignore weights)",
        ),
        (
            "calls.tsv",
            b"a\tb\t\n",
            "calls.tsv:1: the weight is empty; expected a number (use unweighted to ignore weights, or on_error = skip to leave out such lines)",
        ),
        (
            "calls.tsv",
            b"a b\nb c\n",
            "calls.tsv:1: found one field, expected source and target separated by tabs; if they are separated by blanks, use delimiter = space",
        ),
        (
            "calls.tsv",
            b"a\tb\nb,c\n",
            "calls.tsv:2: found one field, expected source and target separated by tabs; if they are separated by commas, use delimiter = comma",
        ),
        (
            "calls.csv",
            b"a\tb\n",
            "calls.csv:1: found one field, expected source and target separated by commas; if they are separated by tabs, use delimiter = tab",
        ),
        ("calls.tsv", b"a\tb\t1\nb\tc\n", "calls.tsv:2: found 2 fields, expected 3 separated by tabs"),
        (
            "calls.tsv",
            b"a\tb\nb\tc\t0.5\n",
            "calls.tsv:2: more fields than the 2 of the first line; give every line a weight, or none (use unweighted to ignore further fields)",
        ),
        ("calls.tsv", b"a\tb\n\tc\n", "calls.tsv:2: the source is empty; expected a node id in column 1"),
        ("calls.csv", b"a,b\nc, \n", "calls.csv:2: the target is empty; expected a node id in column 2"),
        (
            "calls.csv",
            b"a,b\n\"x\ny\",b\n",
            "calls.csv:2: node id \"x\\ny\" contains a line break, but nodes.txt has one id per line",
        ),
        (
            "calls.csv",
            b"a,b\nc,\"d\ne,f\n",
            "calls.csv:2: a quote opens in this line and is never closed; close it, or double it (\"\") if it is part of the text",
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
            "calls.tsv: no edges: the file is empty or has only comments; remove it or check its source",
        ),
        (
            "calls.tsv",
            b"# nothing\n\n",
            "calls.tsv: no edges: the file is empty or has only comments; remove it or check its source",
        ),
        (
            "calls.tsv",
            b"source\ttarget\n",
            "calls.tsv: no edges: the file has only a header (use header = no to read it as an edge)",
        ),
        (
            "calls.tsv",
            b"\xff\xfea\0\t\0b\0",
            "calls.tsv: is UTF-16; convert it, for example with iconv -f utf-16 -t utf-8",
        ),
        (
            "calls.tsv",
            b"a\tb\nc\td\0\n",
            "calls.tsv:2: the line contains a zero byte, so the file is not UTF-8 text (convert UTF-16, for example with iconv -f utf-16le -t utf-8)",
        ),
        (
            "calls.tsv",
            b"a\ta\n",
            "the network has 1 node, but an edge needs two; check the source and target columns",
        ),
        (
            "calls.tsv",
            b"a\ta\t1\na\tb\t0\n",
            "view \"calls\" has no edges: all 2 were dropped (weight zero: 1, self-loops: 1); remove it or check its columns",
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
    let observer = &mut |_: &Reading<'_>| ControlFlow::Continue(());
    let error = read_network(&source, &ReadOptions::default(), &pool(1), observer).unwrap_err();
    assert!(error.to_string().ends_with("is a folder where a file is expected"), "{error}");
}

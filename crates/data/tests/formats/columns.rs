//! The interpretation of columns.

use manyview_data::io::{Delimiter, Header, ReadOptions};

use super::support::{Folder, edges, nodes, read, some};

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

//! The interpretation of columns.

use manyview_base::message::Notation;
use manyview_data::io::{Delimiter, Header, ReadOptions};

use super::support::{Folder, edges, nodes, read, some};

#[test]
fn notes_say_how_a_file_was_understood() {
    let folder =
        Folder::new(&[("calls.tsv", b"source\ttarget\tweight\na\ta\t1\na\tb\t0\nb\tc\t1\nc\tb\t1\n")]);
    let notes = folder.read(&["calls.tsv"], &ReadOptions::default()).unwrap().notes;
    let notes: Vec<String> = notes.iter().map(|note| note.in_notation(Notation::CommandLine)).collect();
    let file = folder.path("calls.tsv").display().to_string();
    assert_eq!(
        notes,
        [
            format!("{file}: tab-separated, header (source, target, weight)"),
            "view calls: dropped 1 self-loop".into(),
            "view calls: dropped 1 edge of weight zero".into(),
            "view calls: 1 line repeats a pair; weights are added (use --duplicates max to keep the largest)"
                .into(),
        ]
    );
    let read = read("calls.csv", b"from,to,minutes\na,b,17\n");
    assert_eq!(edges(&read.network, 0), ["a-b:1"]);
    assert!(
        read.notes[0].to_string().ends_with("is ignored (use weight = minutes to read weights from it)"),
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
    assert_eq!(text, "wrote.csv:1: there is no column \"auther\"; the columns are year, author, paper");
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

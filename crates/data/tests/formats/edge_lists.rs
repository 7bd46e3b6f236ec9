//! Files of one view: ids, delimiters, compression, pairs, threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use manyview_data::io::{Directed, ReadOptions, Reading, Source, read_network};
use manyview_data::network::Duplicates;
use proptest::prelude::*;

use super::support::{Folder, edges, failure, gzip, nodes, pool, read, view_names};

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
    let expected = "calls.tsv.gz: the gzip data ends early; the file is truncated, download it again";
    assert_eq!(failure("calls.tsv.gz", &packed[..packed.len() / 2]), expected);
    let packed = zstd::encode_all(&plain[..], 3).unwrap();
    let expected = "calls.tsv.zst: the zstd data ends early; the file is truncated, download it again";
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
        largest.notes[1].to_string().contains("2 lines repeat a pair; the largest weight is kept"),
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
    let source = Source::Paths(vec![folder.path("calls.tsv")]);
    let with = |threads| {
        let observer = &mut |_: &Reading<'_>| ControlFlow::Continue(());
        read_network(&source, &ReadOptions::default(), &pool(threads), observer).unwrap().network
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
            // Blanks around ids are trimmed, and ids of blanks only are refused, which is not tested here.
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

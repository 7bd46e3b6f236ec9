//! The forms of a network, and that the result is the same for all of them and for any number of threads.

use std::io::Write;

use super::support::{CALLS, MAILS, Place, Run, SMALL};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// `CALLS` with every line in another format.
fn rewritten(line: impl Fn(&str, &str) -> String) -> String {
    let ends = CALLS.lines().map(|line| line.split_once('\t').unwrap());
    ends.map(|(source, target)| line(source, target) + "\n").collect()
}

/// Checks that a network gives the same result as `calls.tsv`.
#[track_caller]
fn same_as_plain(place: &Place, line: &str) {
    let plain = place.embedded(&format!("--view calls=calls.tsv {SMALL}"));
    assert!(place.embedded(&format!("{line} {SMALL}")) == plain, "{line}");
}

#[test]
fn four_forms_of_one_network_give_the_same_bytes() {
    let place = Place::with_views();
    let views = place.embedded(&format!("--view calls=calls.tsv --view mails=mails.tsv {SMALL}"));
    assert_eq!(views.1, "ann\nbob\ncat\ndan\neve\nfay\n");

    place.write("folder/mails.tsv", MAILS);
    place.write("folder/calls.tsv", CALLS);
    place.write("folder/labels.tsv", "ann\t1\n");
    assert!(place.embedded(&format!("folder {SMALL}")) == views, "folder");

    let rows = |view: &str, text: &str| -> String {
        text.lines().map(|line| format!("{view},{}\n", line.replace('\t', ","))).collect()
    };
    let table = format!("kind,from,to\n{}{}", rows("calls", CALLS), rows("mails", MAILS));
    place.write("table.csv", table);
    assert!(place.embedded(&format!("table.csv --relation kind {SMALL}")) == views, "table");

    place.write(
        "network.toml",
        "[[view]]\npath = \"calls.tsv\"\n\n[[view]]\nname = \"mails\"\npath = \"mails.tsv\"\n",
    );
    assert!(place.embedded(&format!("network.toml {SMALL}")) == views, "manifest");
    assert!(place.embedded(&format!("calls.tsv mails.tsv {SMALL}")) == views, "paths");
}

#[test]
fn packed_files_are_read_like_plain_ones() {
    let place = Place::with_views();
    place.write("packed/calls.tsv.gz", gzip(CALLS));
    same_as_plain(&place, "packed");
    place.write("calls.tsv.zst", zstd::encode_all(CALLS.as_bytes(), 3).unwrap());
    same_as_plain(&place, "calls.tsv.zst");
    place.write("unlabeled", gzip(CALLS));
    same_as_plain(&place, "--view calls=unlabeled");
}

#[test]
fn standard_input_is_read_like_a_file() {
    let place = Place::with_views();
    let Run { code, err, .. } = place.feed(&format!("embed --view calls=- -q -o result {SMALL}"), CALLS);
    assert_eq!(code, 0, "{err}");
    let plain = place.embedded(&format!("--view calls=calls.tsv {SMALL}"));
    assert!((place.read("result/embedding.npy"), place.text("result/nodes.txt")) == plain);
}

#[test]
fn other_ways_to_write_a_table_mean_the_same() {
    let place = Place::with_views();
    place.write("commas.csv", CALLS.replace('\t', ","));
    same_as_plain(&place, "--view calls=commas.csv");
    let quotes = rewritten(|source, target| format!("\"{source}\",\"{target}\""));
    place.write(
        "quotes.csv",
        format!(
            "\"source\",\"target\"
{quotes}"
        ),
    );
    same_as_plain(&place, "--view calls=quotes.csv");
    place.write("windows.tsv", format!("\u{feff}{}", CALLS.replace('\n', "\r\n")));
    same_as_plain(&place, "--view calls=windows.tsv");
    place.write("blanks.txt", CALLS.replace('\t', "   "));
    same_as_plain(&place, "--view calls=blanks.txt");
    place.write("no-end.tsv", CALLS.trim_end());
    same_as_plain(&place, "--view calls=no-end.tsv");
}

#[test]
fn ids_are_any_text_and_kept_as_they_are() {
    let place = Place::new();
    place.write("x.tsv", "New York\tköln\nköln\t007\n007\t7\n7\tNew York\n東京\tNew York\n");
    let (_, nodes) = place.embedded(&format!("x.tsv {SMALL}"));
    assert_eq!(nodes, "New York\nköln\n007\n7\n東京\n");
    place.write("x.csv", "from,to\n\"Doe, J.\",\"say \"\"hi\"\"\"\n\"Doe, J.\",b\n");
    let (_, nodes) = place.embedded(&format!("x.csv {SMALL}"));
    assert_eq!(nodes, "Doe, J.\nsay \"hi\"\nb\n");
}

#[test]
fn a_node_file_fixes_the_rows() {
    let place = Place::with_views();
    place.write("order.txt", "fay\nalone\neve\ndan\ncat\nbob\nann\n");
    let run = place.done(&format!("embed calls.tsv --nodes order.txt -o result {SMALL}"));
    assert!(run.err.contains("order.txt: 7 nodes in this order"), "{}", run.err);
    assert_eq!(place.text("result/nodes.txt"), place.text("order.txt"));
    let matrix = manyview::io::read_npy(&place.path("result/embedding.npy")).unwrap();
    assert_eq!((matrix.rows, matrix.dim), (7, 16));
    let row = |row: usize| &matrix.values[row * 16..(row + 1) * 16];
    assert!(row(1).iter().all(|&x| x == 0.0), "a node without edges has a zero vector");
    assert!(row(0).iter().any(|&x| x > 0.0));
    // The nodes.txt of a result is a node file.
    let again = place.embedded(&format!("calls.tsv --nodes result/nodes.txt {SMALL}"));
    assert!(again == (place.read("result/embedding.npy"), place.text("result/nodes.txt")));
}

#[test]
fn directions_are_kept_where_asked_for() {
    let place = Place::with_views();
    // A ring, so that walks along arcs do not end.
    place.write("mails.tsv", "ann\teve\neve\tcat\ncat\tbob\nbob\tfay\nfay\tdan\ndan\tann\n");
    let both = "--view calls=calls.tsv --view mails=mails.tsv";
    let results = ["", "--directed calls", "--directed mails", "--directed calls --directed mails"]
        .map(|directed| place.embedded(&format!("{both} {directed} {SMALL}")).0);
    for (at, one) in results.iter().enumerate() {
        assert!(results[..at].iter().all(|other| other != one), "number {at} equals an earlier one");
    }
    assert!(place.embedded(&format!("{both} --directed all {SMALL}")).0 == results[3]);
    let run = place.done(&format!("embed {both} --directed mails -o result {SMALL}"));
    assert!(run.err.contains("calls (7 edges), mails (6 arcs)"), "{}", run.err);
}

#[test]
fn weights_matter_unless_ignored() {
    let place = Place::with_views();
    place.write("weighted.tsv", rewritten(|a, b| format!("{a}	{b}	{}", if b == "bob" { 9 } else { 1 })));
    let plain = place.embedded(&format!("calls.tsv {SMALL}"));
    assert!(place.embedded(&format!("--view calls=weighted.tsv {SMALL}")) != plain);
    assert!(place.embedded(&format!("--view calls=weighted.tsv --unweighted {SMALL}")) == plain);
}

#[test]
fn threads_and_repetition_change_no_byte() {
    let place = Place::new();
    // Several blocks of rows, so that threads share the work.
    place.done("generate --nodes 700 --views 3 --degree 6 -q -o net");
    for preset in ["default", "paper", "authors"] {
        let line = format!("net --preset {preset} --negative 1 --dim 64 --stages 4 --max-iter 30");
        let first = place.embedded(&format!("{line} --threads 1"));
        for threads in [1, 2, 3, 8] {
            assert!(
                place.embedded(&format!("{line} --threads {threads}")) == first,
                "{preset}, {threads} threads"
            );
        }
        let other = place.embedded(&format!("{line} --seed 1"));
        assert!(other.0 != first.0 && other.1 == first.1, "{preset}: another seed, other vectors");
    }
}

#[test]
fn the_demo_gives_the_same_result_as_its_files() {
    let place = Place::new();
    let digits = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits");
    let run = place.done("demo -o demo");
    assert!(run.err.contains("Robert Duin"), "the credit is shown: {}", run.err);
    assert!(
        run.out.contains("mnmf wrote 2,000 nodes x 256 columns to demo/embedding.npy in "),
        "{}",
        run.out
    );
    let table = run.out.rsplit("\nview ").next().unwrap();
    let scores = table.lines().skip(1).take_while(|line| !line.starts_with('('));
    let scores: Vec<f64> = scores
        .map(|line| line.rsplit_once(" ±").unwrap().0.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(scores.len(), 7, "all views and each of six alone: {}", run.out);
    assert!(scores[0] > 0.97 && scores[0] > scores[1], "{}", run.out);
    assert!(scores[1..].is_sorted_by(|a, b| a >= b), "the best alone comes first: {}", run.out);
    assert!(run.out.ends_with("open demo/report.html in a browser\n"), "{}", run.out);
    assert!(place.text("demo/report.html").starts_with("<!doctype html>"));
    let folder = place.embedded(digits);
    assert!((place.read("demo/embedding.npy"), place.text("demo/nodes.txt")) == folder);
}

//! `manyview views`.

use super::support::{CALLS, Place};

#[test]
fn views_are_described_as_text() {
    let place = Place::with_views();
    place.write("again.tsv", CALLS);
    let run = place.done("views calls.tsv mails.tsv again.tsv --negative 1");
    assert!(run.out.starts_with("6 nodes, 3 views\n"), "{}", run.out);
    let line = run.out.lines().find(|line| line.starts_with("calls ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..6], ["calls", "7", "0", "2", "2.3", "3"]);
    for words in [
        "calls and mails agree on 0% of the nodes; their proximities correlate at -",
        "calls and again agree on 100% of the nodes; their proximities correlate at 1.00",
    ] {
        assert!(run.out.contains(words), "no {words:?} in\n{}", run.out);
    }
}

#[test]
fn json_has_the_same_values_and_proximity_can_be_skipped() {
    let place = Place::with_views();
    let run = place.done("views calls.tsv mails.tsv --negative 1 --json --quiet");
    assert_eq!(run.err, "");
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["views"][1]["edges"], 4);
    assert_eq!(found["views"][1]["degree"]["most"], 2);
    assert_eq!(found["overlap"][0]["share"], 0.0);
    assert!(found["views"][0]["entries"].as_u64().unwrap() > 0);
    assert!(found["correlation"][0]["correlation"].is_f64());
    let run = place.done("views calls.tsv mails.tsv --json --no-proximity");
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert!(found["views"][0]["entries"].is_null());
    assert_eq!(found["correlation"].as_array().unwrap().len(), 0);
    assert!(!place.done("views calls.tsv mails.tsv --no-proximity").out.contains("correlate"));
}

#[test]
fn embed_records_the_overlap() {
    let place = Place::with_views();
    place.write("again.tsv", CALLS);
    place.done("embed calls.tsv again.tsv mails.tsv --dim 16 --stages 2 -q -o result");
    let overlap = &place.json("result/run.json")["network"]["overlap"];
    assert_eq!(overlap[0], serde_json::json!({ "a": "calls", "b": "again", "nodes": 6, "share": 1.0 }));
    assert_eq!(overlap.as_array().unwrap().len(), 3);
}

#[test]
fn a_view_without_entries_is_not_an_error() {
    let place = Place::with_views();
    let run = place.done("views calls.tsv mails.tsv --negative 1000");
    assert!(
        run.out.contains("no correlation, because all proximities of one of them are equal"),
        "{}",
        run.out
    );
}

#[test]
fn bad_input_gets_a_message() {
    let place = Place::with_views();
    place.fails("views", 2, &["no network given"]);
    place.fails("views none.tsv", 1, &["none.tsv", "no such file"]);
    place.fails("views calls.tsv --window 0", 2, &["window"]);
}

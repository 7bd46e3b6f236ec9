//! `manyview explain` and `manyview neighbors`.

use super::report::finished;
use super::support::{Place, SMALL};

#[test]
fn a_vector_is_split_by_view_and_stage() {
    let place = finished();
    let run = place.done("explain result ann");
    assert!(run.out.starts_with("ann: squared norm "), "{}", run.out);
    for words in [
        "share of the vector",
        "consensus",
        "joint",
        "calls",
        "mails",
        "largest parts",
        "stage 2, columns 0-7",
    ] {
        assert!(run.out.contains(words), "no {words:?} in\n{}", run.out);
    }
    let found: serde_json::Value =
        serde_json::from_str(&place.done("explain result ann --json").out).unwrap();
    assert_eq!(found["nodes"], serde_json::json!(["ann"]));
    let shares = found["parts"].as_array().unwrap().iter().map(|part| part["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    let views = found["views"].as_array().unwrap().iter().map(|view| view["share"].as_f64().unwrap());
    let others = found["consensus"].as_f64().unwrap() + found["joint"].as_f64().unwrap();
    assert!((views.sum::<f64>() + others - 1.0).abs() < 1e-9);
}

#[test]
fn a_similarity_is_split_likewise_and_is_that_of_neighbors() {
    let place = finished();
    let found: serde_json::Value =
        serde_json::from_str(&place.done("explain result ann bob --json").out).unwrap();
    let near: serde_json::Value =
        serde_json::from_str(&place.done("neighbors result ann --json").out).unwrap();
    let bob = near["neighbors"].as_array().unwrap().iter().find(|other| other["node"] == "bob").unwrap();
    let difference = bob["similarity"].as_f64().unwrap() - found["total"].as_f64().unwrap();
    assert!(difference.abs() < 1e-5, "{difference}");
    assert!(place.done("explain result ann bob").out.starts_with("ann and bob: cosine "));
    assert!(place.done("explain result ann ann").out.starts_with("ann and ann: cosine 1.0000"));
}

#[test]
fn neighbors_are_sorted_nearest_first() {
    let place = finished();
    let run = place.done("neighbors result ann -c 3");
    let numbers: Vec<f64> =
        run.out.lines().map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect();
    assert_eq!(numbers.len(), 3);
    assert!(numbers.is_sorted_by(|a, b| a >= b) && numbers[0] <= 1.0);
    assert!(!run.out.contains("\tann\n"));
}

#[test]
fn unknown_nodes_get_similar_names() {
    let place = finished();
    place.fails("explain result Ann", 2, &["unknown node \"Ann\"; did you mean \"ann\"?"]);
    place.fails("explain result ann bobb", 2, &["unknown node \"bobb\"; did you mean \"bob\"?"]);
    place.fails("neighbors result xyzzy", 2, &["unknown node \"xyzzy\"; nodes.txt lists all nodes"]);
    place.fails("neighbors nowhere ann", 1, &["nowhere is not a result folder: run.json is missing"]);
}

#[test]
fn zero_vectors_and_raw_scales_get_a_note() {
    let place = Place::with_views();
    place.write("nodes.txt", "ann\nbob\ncat\ndan\neve\nfay\nzed\n");
    place.done(&format!("embed calls.tsv mails.tsv --nodes nodes.txt {SMALL} --scale raw -q -o result"));
    let run = place.done("explain result zed");
    assert!(run.out.contains("squared norm 0.0000; the vector is zero"), "{}", run.out);
    assert!(run.err.contains("the scale \"raw\"") && run.err.contains("--scale balanced"), "{}", run.err);
    let run = place.done("neighbors result zed");
    assert_eq!((run.out.as_str(), run.err.contains("is zero")), ("", true));
    assert!(place.done("explain result ann zed").out.contains("no nonzero column in common"));
    place.done("report result -q");
}

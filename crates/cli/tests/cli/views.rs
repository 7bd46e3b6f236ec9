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

/// Two views of the same communities, and one of noise; `labels.tsv` has the communities.
fn planted() -> Place {
    let place = Place::new();
    place.done("generate --nodes 90 --views 3 --communities 3 --consensus 1 --noise 0.05,0.05,1 -o net -q");
    place
}

const ALONE: &str = "views net --alone --labels net/labels.tsv --dim 16 --repeats 2";

#[test]
fn each_view_is_scored_alone_and_left_out() {
    let place = planted();
    let run = place.done(ALONE);
    let lines: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0].join(" "), "view micro-F1 alone NMI alone micro-F1 without contribution");
    assert_eq!((lines[1][..2].join(" ").as_str(), lines[4][0]), ("all views", "view3"), "{}", run.out);
    assert!(
        run.out.contains("trained on 50% of the labeled nodes, 2 splits;\n NMI: k-means with 3 clusters")
    );
    for words in
        ["embedding and scoring 1 of 7: all views\n", "4 of 7: view3 alone\n", "7 of 7: without view3\n"]
    {
        assert!(run.err.contains(words), "no {words:?} in\n{}", run.err);
    }
    let json = |line: &str| -> serde_json::Value {
        let run = place.done(&format!("{ALONE} --json -q {line}"));
        assert_eq!(run.err, "");
        serde_json::from_str(&run.out).unwrap()
    };
    let found = json("");
    assert_eq!(
        (&found["method"], &found["labels"], &found["labeled"]),
        (&"mnmf".into(), &3.into(), &90.into())
    );
    let views = found["views"].as_array().unwrap();
    let mean = |scores: &serde_json::Value| scores["micro_f1"]["mean"].as_f64().unwrap();
    for view in views {
        let fall = mean(&found["all"]) - mean(&view["without"]);
        assert_eq!(view["contribution"].as_f64().unwrap(), fall);
    }
    assert!(mean(&views[2]["alone"]) + 0.2 < mean(&views[0]["alone"]), "{found}");
    // Settings of the proximity and of the method reach the fits.
    assert_eq!(json("--method netmf-sum --window 2")["method"], "netmf-sum");
    assert_ne!(json("--window 1")["views"], found["views"]);
}

#[test]
fn options_of_scores_need_alone_and_labels() {
    let place = planted();
    place.fails("views net --alone", 2, &["required", "--labels <FILE>"]);
    place.fails("views net --labels net/labels.tsv", 2, &["required", "--alone"]);
    place.fails("views net --repeats 3", 2, &["required", "--alone"]);
    place.fails(&format!("{ALONE} --no-proximity"), 2, &["cannot be used with"]);
    place.fails(&format!("{ALONE} --train 2"), 2, &["--train 2 must be a fraction between 0 and 1"]);
    place.fails(&format!("{ALONE} --method tucker --window 3"), 2, &["--window: tucker has no such setting"]);
    place.write("one.tsv", "n1\tx\nn2\tx\n");
    place.fails("views net --alone --labels one.tsv", 1, &["scores need at least two classes"]);
}

//! `manyview evaluate`: scores of good input, and the messages for bad input.

use serde_json::Value;

use super::support::Place;

/// The bytes of an array of 32-bit floats in NumPy's format.
fn npy_of(rows: usize, dim: usize, value: impl Fn(usize, usize) -> f32) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    for row in 0..rows {
        for column in 0..dim {
            bytes.extend(value(row, column).to_le_bytes());
        }
    }
    bytes
}

/// Sixty nodes around three corners, as vectors in `v` and labels in `labels.tsv`.
fn corners() -> Place {
    let place = Place::new();
    let near = |row: usize, column: usize| {
        let noise = ((row * 7 + column * 13) % 11) as f32 / 20.0;
        noise + if row % 3 == column { 3.0 } else { 0.0 }
    };
    place.write("v/embedding.npy", npy_of(60, 3, near));
    place.write("v/nodes.txt", (0..60).map(|node| format!("n{node}\n")).collect::<String>());
    place.write("labels.tsv", labels(0..60, 3));
    place
}

fn labels(nodes: std::ops::Range<usize>, classes: usize) -> String {
    nodes.map(|node| format!("n{node}\tclass {}\n", node % classes)).collect()
}

fn json(place: &Place, line: &str) -> Value {
    serde_json::from_str(&place.done(&format!("evaluate {line} --json -q")).out).unwrap()
}

/// Removes the fields that differ between runs.
fn lasting(mut record: Value) -> Value {
    for key in ["seconds", "threads", "command"] {
        record.as_object_mut().unwrap().remove(key);
    }
    record
}

#[test]
fn classify_prints_a_table_or_json() {
    let place = corners();
    let run = place.done("evaluate classify v --labels labels.tsv");
    let lines: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["train", "nodes", "micro-F1", "macro-F1"]);
    assert_eq!(lines[1], ["0.3", "18", "1.0000", "+-", "0.0000", "1.0000", "+-", "0.0000"]);
    assert_eq!(lines.len(), 4);
    assert!(run.err.contains("60 nodes x 3 columns, 3 labels"), "{}", run.err);

    let found = json(&place, "classify v --labels labels.tsv --train 0.5 --repeats 4 --seed 3");
    assert_eq!((&found["task"], &found["multi_label"]), (&"classify".into(), &false.into()));
    assert_eq!(found["shares"][0]["runs"].as_array().unwrap().len(), 4);
    assert_eq!(found["shares"][0]["micro_f1"]["mean"], 1.0);
    assert_eq!(found["classes"][2], serde_json::json!({ "label": "class 2", "nodes": 20 }));
    assert_eq!(found["settings"]["c"], 1.0);
    assert!(found["command"].as_str().unwrap().starts_with("manyview evaluate classify v"));
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let place = corners();
    for line in
        ["classify v --labels labels.tsv --c auto --standardize", "cluster v --labels labels.tsv --l2norm"]
    {
        let one = lasting(json(&place, &format!("{line} --threads 1")));
        assert_eq!(lasting(json(&place, &format!("{line} --threads 3"))), one, "{line}");
    }
    place.done("generate --nodes 200 --views 2 -q -o net");
    let line = "links net --dim 16 --stages 2 --repeats 1";
    let one = lasting(json(&place, &format!("{line} --threads 1")));
    assert_eq!(lasting(json(&place, &format!("{line} --threads 3"))), one);
    assert_ne!(lasting(json(&place, &format!("{line} --seed 5")))["views"], one["views"]);
}

#[test]
fn predictions_and_assignments_are_written_on_request() {
    let place = corners();
    place.done("evaluate classify v --labels labels.tsv --train 0.5 --repeats 2 --predictions said.jsonl -q");
    let said: Vec<Value> =
        place.text("said.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), 2 * 30);
    assert!(said.iter().all(|line| line["labels"] == line["predicted"]));
    place.done("evaluate cluster v --labels labels.tsv --repeats 2 --assignments found.tsv -q");
    let found = place.text("found.tsv");
    assert_eq!(found.lines().count(), 60);
    assert!(found.starts_with("n0\tclass 0\t"));
    assert!(found.lines().all(|line| line.split('\t').count() == 4));
}

#[test]
fn several_labels_per_node_are_detected() {
    let place = corners();
    let several: String = (0..60).map(|node| format!("n{node}\ta{}\tb{}\n", node % 3, node % 2)).collect();
    place.write("several.tsv", several);
    let run = place.done("evaluate classify v --labels several.tsv");
    assert!(run.err.contains("5 labels, several per node"), "{}", run.err);
    assert!(run.out.lines().next().unwrap().ends_with("known micro-F1    known macro-F1"), "{}", run.out);
    let lines: String =
        (0..60).map(|node| format!("n{node},a{}\nn{node},b{}\n", node % 3, node % 2)).collect();
    place.write("lines.csv", format!("node,label\n{lines}"));
    let [columns, lines] = ["several.tsv", "lines.csv"]
        .map(|file| json(&place, &format!("classify v --labels {file} --repeats 2"))["shares"].clone());
    assert_eq!(columns, lines);
    place.fails("evaluate cluster v --labels several.tsv", 1, &["60 nodes have several labels"]);
}

#[test]
fn clusters_agree_with_corners() {
    let place = corners();
    let run = place.done("evaluate cluster v --labels labels.tsv");
    let lines: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["clusters", "nodes", "NMI", "AMI", "inertia"]);
    assert_eq!(&lines[1][..5], ["3", "60", "1.0000", "+-", "0.0000"]);
    let found =
        json(&place, "cluster v --labels labels.tsv --k 5 --average geometric --repeats 2 --restarts 3");
    assert_eq!((&found["k"], &found["settings"]["average"]), (&5.into(), &"geometric".into()));
}

#[test]
fn links_are_found_in_each_view() {
    let place = Place::new();
    place.done("generate --nodes 300 --views 2 --communities 5 --noise 0 --consensus 1 -q -o net");
    let run = place.done("evaluate links net --dim 16 --stages 2 --repeats 2");
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(
        lines[0].starts_with("view ") && lines[1].starts_with("view1 ") && lines[2].starts_with("view2 ")
    );
    let found = json(&place, "links net --of view2 --hide 0.3 --score dot --dim 16 --stages 2 --repeats 1");
    assert_eq!(found["views"].as_array().unwrap().len(), 1);
    assert_eq!(found["views"][0]["view"], "view2");
    assert!(found["views"][0]["auc"]["mean"].as_f64().unwrap() > 0.7, "{found}");
    assert_eq!(place.names("."), ["net"]);
}

#[test]
fn labels_of_others_and_nodes_without_are_counted() {
    let place = corners();
    place.write("labels.tsv", labels(10..90, 3));
    let run = place.done("evaluate classify v --labels labels.tsv --repeats 1");
    assert!(run.err.contains("excluded 10 nodes without a label from the scores"), "{}", run.err);
    assert!(run.err.contains("labels.tsv: ignored 30 ids that are not in the embedding"), "{}", run.err);
    let found = json(&place, "classify v --labels labels.tsv --repeats 1");
    assert_eq!((&found["labeled"], &found["unknown"]), (&50.into(), &30.into()));
    assert_eq!(found["shares"][0]["micro_f1"]["std"], Value::Null);
}

#[test]
fn a_class_of_one_node_is_said() {
    let place = corners();
    place.write("labels.tsv", labels(0..59, 2) + "n59\trare\n");
    let run = place.done("evaluate classify v --labels labels.tsv --repeats 1");
    assert!(
        run.err.contains("note: class \"rare\" has one node, which is always used for training"),
        "{}",
        run.err
    );
}

#[test]
fn bad_labels_get_a_message() {
    let place = corners();
    let classify = "evaluate classify v --labels bad.tsv --predictions said.jsonl";
    place.fails(classify, 1, &["bad.tsv: no such file"]);
    place.write("bad.tsv", labels(0..60, 1));
    place.fails(classify, 1, &["all 60 labeled nodes have the label \"class 0\"", "two classes"]);
    let cluster = "evaluate cluster v --labels bad.tsv";
    for k in ["", " --k 2"] {
        let words = ["all 60 labeled nodes have the label \"class 0\"", "two classes"];
        place.fails(&format!("{cluster}{k}"), 1, &words);
    }
    place.write("bad.tsv", labels(100..160, 2));
    place.fails(classify, 1, &["bad.tsv: none of the 60 ids with labels is a node of the network"]);
    place.write("bad.tsv", "n0\tx\nn1\n");
    place.fails(classify, 1, &["bad.tsv:2: node \"n1\" has no label"]);
    place.write("bad.tsv", "");
    place.fails(classify, 1, &["bad.tsv: no labels: expected a node and a label per line"]);
    place.write("bad.tsv", (0..60).map(|node| format!("n{node}\tc{node}\n")).collect::<String>());
    place.fails(classify, 2, &["without a training node"]);
}

#[test]
fn bad_vectors_get_a_message() {
    let place = corners();
    let classify = "evaluate classify v --labels labels.tsv --predictions said.jsonl";
    let cluster = "evaluate cluster v --labels labels.tsv --assignments found.tsv";
    for line in [classify, cluster] {
        place.write("v/embedding.npy", npy_of(60, 3, |row, _| if row == 7 { f32::NAN } else { 1.0 }));
        place.fails(line, 1, &["the vector in row 7 has NaN in column 0"]);
        place.write("v/embedding.npy", npy_of(59, 3, |_, _| 1.0));
        place.fails(
            line,
            1,
            &["v: embedding.npy has 59 rows and nodes.txt has 60 ids; write both files again"],
        );
        place.write("v/embedding.npy", "1 2 3\n");
        place.fails(line, 1, &["v/embedding.npy: is not an .npy file"]);
        place.write("v/embedding.npy", npy_of(60, 3, |_, _| 1.0));
    }
    place.fails("evaluate classify none --labels labels.tsv", 1, &["none/nodes.txt: no such file"]);
    std::fs::remove_file(place.path("v/nodes.txt")).unwrap();
    place.fails(classify, 1, &["v/nodes.txt: no such file"]);
}

#[test]
fn invalid_settings_get_a_message() {
    let place = corners();
    for (options, words) in [
        ("--train 0", "--train 0 must be a fraction between 0 and 1"),
        ("--train 0.5,1.2", "--train 1.2 must be a fraction"),
        ("--train -0.5", "--train -0.5 must be a fraction"),
        ("--train 0.03", "leaves some of the 3 classes without a training node; use 0.05 or more"),
        ("--train 0.999", "leaves no test nodes"),
        ("--repeats 0", "--repeats 0 must be at least 1"),
        ("--c 0", "expected a number above 0, or auto"),
        ("--c many", "expected a number above 0, or auto"),
        ("--max-iter 0", "--max-iter 0 must be at least 1"),
        ("--threads 0", "--threads 0 must be at least 1"),
    ] {
        let line = format!("evaluate classify v --labels labels.tsv --predictions said.jsonl {options}");
        place.fails(&line, 2, &[words]);
    }
    for (options, words) in [
        ("--k 61", "--k 61 exceeds the number of nodes; use at most 60"),
        ("--k 0", "--k 0 must be at least 1"),
        ("--restarts 0", "--restarts 0 must be at least 1"),
        ("--repeats 0", "--repeats 0 must be at least 1"),
        ("--average both", "possible values"),
    ] {
        place.fails(
            &format!("evaluate cluster v --labels labels.tsv --assignments f {options}"),
            2,
            &[words],
        );
    }
    place.write("net.tsv", super::support::CALLS);
    for (options, words) in [
        ("--hide 0", "--hide 0 must be a fraction"),
        ("--hide 1.5", "--hide 1.5 must be a fraction"),
        ("--of mails", "unknown view \"mails\"; the views are net"),
        ("--repeats 0", "--repeats 0 must be at least 1"),
        ("--score best", "possible values"),
    ] {
        place.fails(&format!("evaluate links net.tsv {options}"), 2, &[words]);
    }
    place.write("path.tsv", "a\tb\nc\td\n");
    place.fails("evaluate links path.tsv --hide 0.5", 1, &["no edge of \"path\" can be hidden"]);
    place.fails("evaluate classify v", 2, &["--labels"]);
    place.fails("evaluate links", 2, &["no network given"]);
    let missing = "evaluate classify v --labels labels.tsv --predictions no/where.jsonl";
    place.fails(missing, 1, &["no: no such folder; create it first"]);
}

#[test]
fn a_fit_that_does_not_converge_is_a_note() {
    let place = corners();
    let run = place.done("evaluate classify v --labels labels.tsv --max-iter 1 --c 100");
    assert!(run.err.contains("fits did not converge within --max-iter 1"), "{}", run.err);
}

#[test]
fn inputs_are_not_overwritten() {
    let place = Place::new();
    place.done("generate --nodes 60 --views 2 --communities 4 -q -o net");
    place.done("embed net -o z --dim 8 --stages 2 -q");
    for words in [
        "classify z --labels net/labels.tsv --predictions net/labels.tsv",
        "classify z --labels net/labels.tsv --predictions z/embedding.npy",
        "cluster z --labels net/labels.tsv --assignments net/../net/labels.tsv",
        "cluster z --labels net/labels.tsv --assignments z/nodes.txt",
    ] {
        let before = [place.read("net/labels.tsv"), place.read("z/embedding.npy"), place.read("z/nodes.txt")];
        place.fails(&format!("evaluate {words}"), 1, &["this file is an input and is not overwritten"]);
        let after = [place.read("net/labels.tsv"), place.read("z/embedding.npy"), place.read("z/nodes.txt")];
        assert!(before == after, "{words}");
    }
    for _ in 0..2 {
        place.done("evaluate cluster z --labels net/labels.tsv --repeats 1 --assignments own.tsv -q");
    }
}

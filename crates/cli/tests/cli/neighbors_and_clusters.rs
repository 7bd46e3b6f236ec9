//! `manyview neighbors` of several nodes, and `manyview cluster`.

use super::report::finished;

#[test]
fn neighbors_of_several_nodes_are_a_table() {
    let place = finished();
    let one = place.done("neighbors result ann --count 2");
    let lines: Vec<(&str, &str)> = one.out.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert_eq!(lines.len(), 2);
    place.write("ids.txt", "fay\nann\n");
    let run = place.done("neighbors result --nodes ids.txt --count 2 -q");
    assert_eq!(run.err, "");
    let rows: Vec<Vec<&str>> = run.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["node", "neighbor", "similarity"]);
    assert_eq!((rows.len(), rows[1][0], rows[3][0]), (5, "fay", "ann"), "in the order of the file");
    for (row, (similarity, neighbor)) in rows[3..].iter().zip(lines) {
        assert_eq!(row[1..], [neighbor, similarity], "as for the node alone");
    }
    place.done("neighbors result --all -o near.tsv --threads 1 -q");
    place.done("neighbors result --all -o again.tsv --threads 3 -q");
    let all = place.text("near.tsv");
    assert_eq!(all, place.text("again.tsv"));
    assert!(all.lines().any(|line| line.starts_with("eve\t")), "{all}");
    let json = place.done("neighbors result --all --json -q").out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let node = &json.as_array().unwrap()[1];
    assert_eq!((json.as_array().unwrap().len(), &node["node"]), (6, &"bob".into()));
    assert!(node["neighbors"][0]["similarity"].as_f64().unwrap() > 0.0);
}

#[test]
fn neighbors_of_nothing_and_of_unknown_nodes_are_refused() {
    let place = finished();
    place.fails("neighbors result", 2, &["required", "<NODE|--nodes <FILE>|--all>"]);
    place.fails("neighbors result ann --all", 2, &["cannot be used with"]);
    place.fails("neighbors result ann -o near.tsv", 2, &["cannot be used with"]);
    place.fails("neighbors result --all -o -", 2, &["cannot be written to standard output"]);
    place.write("ids.txt", "ann\nanne\n");
    place.fails("neighbors result --nodes ids.txt -o near.tsv", 2, &["\"anne\"", "ann"]);
    place.fails("neighbors result --nodes none.txt", 1, &["none.txt: no such file"]);
    place.write("near.tsv", "mine");
    place.fails("neighbors result --all -o near.tsv", 2, &["near.tsv already exists", "--force"]);
    place.done("neighbors result --all -o near.tsv --force");
}

#[test]
fn clusters_are_a_label_file_with_the_largest_first() {
    let place = finished();
    let run = place.done("cluster result --k 2 -o clusters.tsv --threads 1");
    assert_eq!(run.out, "");
    assert!(run.err.starts_with("6 nodes in 2 clusters of "), "{}", run.err);
    let text = place.text("clusters.tsv");
    let rows: Vec<(&str, &str)> = text.lines().map(|line| line.split_once('\t').unwrap()).collect();
    let ids: Vec<&str> = rows.iter().map(|row| row.0).collect();
    assert_eq!(ids, ["ann", "bob", "cat", "dan", "eve", "fay"]);
    let size = |cluster: &str| rows.iter().filter(|row| row.1 == cluster).count();
    assert!(size("0") >= size("1") && size("0") + size("1") == 6, "{text}");
    assert_eq!(place.done("cluster result -k 2 --threads 3 -q").out, text, "to standard output");
    let other = place.done("cluster result -k 3 --l2norm -q").out;
    assert!(other.contains("\t2\n"), "{other}");
    // They color a report.
    let run = place.done("report result --labels clusters.tsv");
    assert!(run.err.contains("clusters.tsv: 2 labels\n") && !run.err.contains("ignored"), "{}", run.err);
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    let place = finished();
    place.fails("cluster result", 2, &["--k <N>"]);
    place.fails("cluster result --k 0", 2, &["--k 0"]);
    place.fails("cluster result --k 7", 2, &["--k 7 exceeds the number of nodes"]);
    place.fails("cluster result --k 2 --force", 2, &["--output <FILE>"]);
    place.fails("cluster result --k 2 -o -", 2, &["cannot be written to standard output"]);
    place.fails("cluster nowhere --k 2 -o clusters.tsv", 1, &["nowhere"]);
    place.write("clusters.tsv", "mine");
    place.fails("cluster result --k 2 -o clusters.tsv", 2, &["clusters.tsv already exists", "--force"]);
}

//! Ids with tabs, quotes and blanks at the ends: every command finds the labels of all nodes.

use serde_json::Value;

use super::support::Place;

const NODES: usize = 24;

/// Each kind of id that a careless reader would cut, trim or unquote.
fn id(node: usize) -> String {
    match node % 4 {
        0 => format!("a\tb{node}"),
        1 => format!(" x{node} "),
        2 => format!("say \"hi\" {node}"),
        _ => format!("\"q{node}\""),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A label per node, with ids in one form.
fn labels(separator: char, form: impl Fn(&str) -> String) -> String {
    (0..NODES).map(|node| format!("{}{separator}class {}\n", form(&id(node)), node * 2 / NODES)).collect()
}

/// Two rings as two classes, in `net.csv`, embedded in `z`.
fn rings() -> Place {
    let place = Place::new();
    let half = NODES / 2;
    let edges = (0..NODES).flat_map(|node| {
        let other = move |step: usize| node / half * half + (node + step) % half;
        [1, 2, 3].map(|step| format!("{},{}\n", quoted(&id(node)), quoted(&id(other(step)))))
    });
    place.write("net.csv", edges.collect::<String>());
    place.done("embed net.csv -o z --dim 8 --stages 2 -q");
    place
}

#[test]
fn ids_with_tabs_blanks_or_quotes_get_their_labels_in_every_command() {
    let place = rings();
    let ids = place.text("z/nodes.txt");
    let mut found: Vec<&str> = ids.lines().collect();
    let mut expected: Vec<String> = (0..NODES).map(id).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    place.write("labels.tsv", labels('\t', quoted));
    place.write("labels.csv", labels(',', quoted));
    for file in ["labels.tsv", "labels.csv"] {
        for line in [
            "evaluate classify z --train 0.5 --repeats 1",
            "evaluate cluster z --repeats 1",
            "report z --force",
            "compare net.csv -o c --methods netmf --dim 4 --repeats 1 --c 1 --no-pictures --force",
        ] {
            let run = place.done(&format!("{line} --labels {file}"));
            for word in ["ignored", "excluded", "without a label", "unknown"] {
                assert!(!run.err.contains(word), "{line} --labels {file}\n{}", run.err);
            }
        }
        for task in ["classify z --train 0.5", "cluster z"] {
            let run = place.done(&format!("evaluate {task} --repeats 1 --labels {file} --json -q"));
            let found: Value = serde_json::from_str(&run.out).unwrap();
            assert_eq!((&found["labeled"], &found["unknown"]), (&NODES.into(), &0.into()), "{task}, {file}");
        }
        let page = place.text("z/report.html");
        let of = page.split("\"of\":[").nth(1).unwrap().split("]]").next().unwrap();
        assert_eq!(of.matches('[').count(), NODES, "{file}");
        assert!(!of.contains("[]"), "{file}: a node has no label in the page: {of}");
    }
}

#[test]
fn assignments_quote_ids_that_need_it() {
    let place = rings();
    place.write("labels.csv", labels(',', quoted));
    place.done("evaluate cluster z --labels labels.csv --repeats 1 --assignments found.tsv -q");
    let found = place.text("found.tsv");
    for node in 0..NODES {
        let id = id(node);
        let id = if id.contains(['\t', '"']) { quoted(&id) } else { id };
        assert_eq!(
            found.lines().filter(|line| line.starts_with(&format!("{id}\tclass "))).count(),
            1,
            "{id}"
        );
    }
}

/// A tab-separated file may have ids as they are, where they contain no tab.
#[test]
fn ids_that_are_not_quoted_keep_their_blanks_and_quotes() {
    let place = rings();
    place.write("plain.tsv", labels('\t', |id| if id.contains('\t') { quoted(id) } else { id.to_owned() }));
    let run = place.done("evaluate cluster z --repeats 1 --labels plain.tsv --json -q");
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&found["labeled"], &found["unknown"]), (&NODES.into(), &0.into()));
}

/// Padded label files were always read; exact ids must not end that.
#[test]
fn blanks_around_an_id_are_ignored_if_it_is_a_node_without_them() {
    let place = Place::with_views();
    place.done("embed calls.tsv -o z --dim 8 --stages 2 -q");
    place.write("padded.tsv", "ann \tred\n bob\tred\ncat\tblue \n dan \tblue\neve\tblue\n\"fay\"\tred\n");
    let run = place.done("evaluate cluster z --repeats 1 --labels padded.tsv --json -q");
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&found["labeled"], &found["unknown"]), (&6.into(), &0.into()));
    assert_eq!(found["classes"].as_array().unwrap().len(), 2);
}

//! `manyview generate`: planted networks.

use super::support::Place;

const LINE: &str = "generate --nodes 60 --views 2 --communities 4 --degree 6,3 --weighted";

#[test]
fn the_folder_has_all_files() {
    let place = Place::new();
    let run = place.done(&format!("{LINE} -o net"));
    let files = [
        "README.md",
        "labels.tsv",
        "labels_view1.tsv",
        "labels_view2.tsv",
        "nodes.txt",
        "view1.tsv",
        "view2.tsv",
    ];
    assert_eq!(place.names("net"), files);
    assert!(run.out.contains("60 nodes, 2 views, 270 edges in net"), "{}", run.out);
    // Nodes x degree / 2.
    for (view, edges) in [("view1", 180), ("view2", 90)] {
        let text = place.text(&format!("net/{view}.tsv"));
        assert_eq!(text.lines().count(), edges);
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            assert!(fields.len() == 3 && fields[2].parse::<f32>().unwrap() > 0.0, "{line}");
        }
    }
    let labels = place.text("net/labels.tsv");
    let labels: Vec<(&str, &str)> = labels.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert_eq!((labels.len(), labels[0].0, labels[59].0), (60, "n0", "n59"));
    for community in ["0", "1", "2", "3"] {
        assert_eq!(labels.iter().filter(|label| label.1 == community).count(), 15);
    }
}

#[test]
fn one_seed_one_network() {
    let place = Place::new();
    for (name, seed) in [("a", 1), ("b", 1), ("c", 2)] {
        place.done(&format!("{LINE} --seed {seed} -q -o {name}"));
    }
    for file in place.names("a") {
        assert!(place.read(&format!("a/{file}")) == place.read(&format!("b/{file}")), "{file}");
    }
    assert!(place.read("a/view1.tsv") != place.read("c/view1.tsv"));
}

#[test]
fn the_command_it_suggests_works() {
    let place = Place::new();
    let run = place.done("generate --nodes 60 --degree 6 -o net/");
    let suggestion = run.out.lines().find_map(|line| line.strip_prefix("try: manyview ")).unwrap();
    assert_eq!(suggestion, "embed net/ -o net-embedding");
    // 256 columns in 8 stages, for 60 nodes.
    let run = place.done(suggestion);
    assert!(run.err.contains("60 nodes, 3 views: view1 (180 edges)"), "{}", run.err);
    assert_eq!(place.text("net-embedding/nodes.txt"), place.text("net/nodes.txt"));
}

#[test]
fn an_earlier_network_is_kept_unless_forced() {
    let place = Place::new();
    place.done(&format!("{LINE} -q -o net"));
    place.fails(&format!("{LINE} -o net"), 2, &["net/view1.tsv already exists", "--force"]);
    place.done(&format!("{LINE} --seed 3 --force -o net"));
    let words = ["view2.tsv belongs to another network", "remove it or choose another folder"];
    place.fails("generate --nodes 60 --views 1 --degree 6 --force -o net", 2, &words);
}

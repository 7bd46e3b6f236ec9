//! Other methods: the same input, output files, errors and manners.

use super::support::Place;

/// Quick settings of each method.
const QUICK: [(&str, &str); 13] = [
    ("boostne", "--dim 4 --stages 2"),
    ("nmf-con", "--dim 4"),
    ("netmf", "--dim 4"),
    ("netmf-sum", "--dim 4"),
    ("netmf-concat", "--dim 6"),
    ("multinmf", "--dim 4 --rounds 2 --inner 2 --starts 1"),
    ("deepwalk", "--dim 4 --walks 2 --length 8 --window 2"),
    ("metapath2vec", "--dim 4 --walks 2 --length 8 --window 2"),
    ("mne", "--dim 4 --walks 2 --length 8 --epochs 2 --view-epochs 2 --extra 2"),
    ("pte", "--dim 4 --samples 2000"),
    ("mtne-c", "--dim 12 --samples 2000"),
    ("mve", "--dim 4 --walks 2 --length 8 --window 2 --epochs 2"),
    ("tucker", "--dim 4 --epochs 2 --relation-dim 2"),
];

fn planted() -> Place {
    let place = Place::new();
    place.done("generate --nodes 60 --views 2 --communities 4 -q -o net");
    place
}

#[test]
fn every_method_writes_what_mnmf_writes() {
    let place = planted();
    for (method, settings) in QUICK {
        let run = place.done(&format!("embed net --method {method} {settings} -o {method} --format tsv"));
        assert!(run.out.contains(&format!("{method}: 60 nodes x ")), "{}", run.out);
        let record = place.json(&format!("{method}/run.json"));
        assert_eq!(record["method"], method);
        assert_eq!(record["network"]["views"].as_array().unwrap().len(), 2);
        let ends =
            record["parts"].as_array().unwrap().iter().map(|part| part["columns"][1].as_u64().unwrap());
        let header = place.text(&format!("{method}/embedding.tsv"));
        let columns = header.lines().next().unwrap().split('\t').count() as u64 - 1;
        assert_eq!(ends.max(), Some(columns), "{method}");
        place.done(&format!("embed net --method {method} {settings} -o again -q --force --threads 1"));
        assert_eq!(
            place.read(&format!("{method}/embedding.npy")),
            place.read("again/embedding.npy"),
            "{method}"
        );
    }
    place.done("explain netmf n3");
    place.done("report netmf");
    place.done("evaluate classify netmf --labels net/labels.tsv --repeats 1");
}

#[test]
fn one_view_of_many() {
    let place = planted();
    place.done("embed net --method netmf --dim 4 -o all -q");
    place.done("embed net --method netmf --dim 4 -o one -q --view-only view2");
    let parts = &place.json("all/run.json")["parts"];
    assert_eq!((parts[1]["view"].as_str(), parts[1]["columns"][0].as_u64()), (Some("view2"), Some(4)));
    assert_eq!(place.json("one/run.json")["network"]["views"].as_array().unwrap().len(), 1);
    place.done("embed net --dim 8 --stages 2 -o ours -q --view-only view1");
    place.fails("embed net --view-only view9 -o x", 2, &["no view \"view9\"; the views are view1, view2"]);
}

#[test]
fn what_a_method_does_not_have_is_refused() {
    let place = planted();
    for (words, said) in [
        ("--method netmf --walks 3", "netmf has no setting \"walks\"; it has dim"),
        ("--walks 3", "mnmf has no setting \"walks\""),
        ("--method netmf --preset authors", "netmf has no preset \"authors\""),
        ("--method netmf --plan", "--plan works with mnmf alone"),
        ("--method netmf --resume", "--resume works with mnmf alone"),
        ("--method netmf --labels net/labels.tsv", "netmf as set learns from no labels"),
        ("--labels net/labels.tsv", "mnmf learns from no labels"),
        ("--method mve --attention yes", "needs labels of training nodes"),
        ("--method deepwalk --walks 0", "walks = 0"),
        ("--method deepwalk --rate=-1", "rate = -1"),
        ("--method tucker --dropout 0.5", "dropout"),
        ("--method metapath2vec --metapath nothing", "nothing"),
        ("--method nothing", "[possible values: mnmf"),
    ] {
        place.fails(&format!("embed net -o x {words}"), 2, &[said]);
        assert!(!place.path("x").exists(), "{words}");
    }
}

#[test]
fn hidden_links_are_found_by_any_method() {
    let place = planted();
    let run = place.done("evaluate links net --method netmf-sum --dim 8 --repeats 1");
    assert!(run.out.contains("view1") && run.out.contains("AUC"), "{}", run.out);
    place.fails("demo --method netmf -o x", 2, &["this command runs mnmf alone"]);
}

#[test]
fn labels_steer_mve() {
    let place = planted();
    let settings = "--method mve --dim 4 --walks 2 --length 8 --window 2 --epochs 2 -q";
    place.done(&format!("embed net {settings} -o plain"));
    place.done(&format!("embed net {settings} -o steered --attention yes --labels net/labels.tsv"));
    assert_ne!(place.read("plain/embedding.npy"), place.read("steered/embedding.npy"));
    place.write("more.tsv", format!("{}nobody\t1\n", place.text("net/labels.tsv")));
    let loud = settings.replace(" -q", "");
    let run = place.done(&format!("embed net {loud} -o more --attention yes --labels more.tsv"));
    assert!(run.err.contains("more.tsv: 1 id is no node of the network and left out"), "{}", run.err);
    assert_eq!(place.read("more/embedding.npy"), place.read("steered/embedding.npy"));
}

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
        ("--method netmf --weighted no", "netmf has no setting \"weighted\""),
        ("--weighted no", "mnmf has no setting \"weighted\""),
        ("--method deepwalk --rate nan", "expected a number"),
        ("--gamma inf", "expected a number"),
        ("--method tucker --dropout 0.1,nan,0.1", "expected a number"),
        ("--method deepwalk --max-memory 1G", "the memory of deepwalk is not known beforehand"),
        ("--method mve --attention yes --no-attention", "cannot be used with"),
        ("--method tucker --dim 4 --relation-dim 2 --epochs 2 --rate 1e30", "tucker ran beyond all numbers"),
        ("--method metapath2vec --metapath nothing", "nothing"),
        ("--method nothing", "[possible values: mnmf"),
    ] {
        place.fails(&format!("embed net -o x {words}"), 2, &[said]);
        assert!(!place.path("x").exists(), "{words}");
    }
}

#[test]
fn what_is_switched_off_is_off() {
    let place = planted();
    place.done("embed net --method deepwalk --dim 4 --walks 2 --length 8 --dynamic-window no -q -o fixed");
    assert_eq!(place.json("fixed/run.json")["config"]["dynamic_window"], false);
    let mve = "--method mve --preset paper --dim 4 --walks 2 --length 8 --epochs 2 -q --force -o mve";
    for unsupervised in ["--attention no", "--no-attention"] {
        place.done(&format!("embed net {mve} {unsupervised}"));
        assert_eq!(place.json("mve/run.json")["config"]["attention"], false);
    }
}

#[test]
fn a_reconstruction_and_empty_vectors_are_told() {
    let place = planted();
    let run = place.done("embed net --method mtne-c --dim 12 --samples 2000 -o mtne");
    assert!(run.err.contains("mtne-c is a reconstruction"), "{}", run.err);
    let warnings = &place.json("mtne/run.json")["warnings"];
    assert!(warnings[0].as_str().unwrap().starts_with("mtne-c is a reconstruction"), "{warnings}");
    let run = place.done("embed net --method multinmf --dim 4 --rounds 1 --inner 2 --guard 1e300 -o none");
    assert!(run.err.contains("all vectors of multinmf are zero"), "{}", run.err);
}

#[test]
fn similarities_of_signed_vectors_have_signs() {
    let place = planted();
    place.done("embed net --method netmf --dim 4 -o signed -q");
    let all = place.done("neighbors signed n1 -c 100 --json");
    let found: serde_json::Value = serde_json::from_str(&all.out).unwrap();
    let near = found["neighbors"].as_array().unwrap();
    assert_eq!(near.len(), 59, "{found}");
    let last = near.last().unwrap();
    assert!(last["similarity"].as_f64().unwrap() < 0.0, "{last}");
    let other = last["node"].as_str().unwrap();
    let pair = place.done(&format!("explain signed n1 {other} --json"));
    let pair: serde_json::Value = serde_json::from_str(&pair.out).unwrap();
    assert!((pair["total"].as_f64().unwrap() - last["similarity"].as_f64().unwrap()).abs() < 1e-6);
    let shares = pair["parts"].as_array().unwrap().iter().map(|part| part["share"].as_f64().unwrap());
    assert!((shares.map(f64::abs).sum::<f64>() - 1.0).abs() < 1e-9, "{pair}");
    let text = place.done(&format!("explain signed n1 {other}")).out;
    assert!(text.contains("cosine -0.") && text.lines().all(|line| line.len() < 120), "{text}");
    place.done("embed net --method netmf-sum --dim 4 -o sum -q");
    assert!(place.done("explain sum n1").out.contains("nothing to tell apart"));
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

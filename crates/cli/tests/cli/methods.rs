//! Other methods: the same input, output files and errors as mnmf.

use super::support::Place;

/// Fast settings for each method.
const QUICK: [(&str, &str); 17] = [
    ("boostne", "--dim 4 --stages 2"),
    ("nmf-con", "--dim 4"),
    ("netmf", "--dim 4"),
    ("netmf-sum", "--dim 4"),
    ("netmf-concat", "--dim 6"),
    ("netmf-union", "--dim 4"),
    ("mashup", "--dim 4"),
    ("mase", "--dim 4"),
    ("grassmann", "--dim 4"),
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
        assert!(run.out.contains(&format!("{method} wrote 60 nodes x ")), "{}", run.out);
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
    place.fails(
        "embed net --view-only view9 -o x",
        2,
        &["unknown view \"view9\"; the views are view1, view2"],
    );
}

#[test]
fn settings_of_other_methods_are_rejected() {
    let place = planted();
    for (words, said) in [
        ("--method netmf --epochs 3", "--epochs: netmf has no such setting; it belongs to deepwalk, "),
        ("--epochs 3", "--epochs: mnmf has no such setting; it belongs to deepwalk, "),
        ("--method netmf --preset authors", "netmf has no preset \"authors\"; use default or paper"),
        ("--method deepwalk --plan", "--plan: the memory and time of deepwalk are not known in advance"),
        ("--method netmf --resume", "netmf does not support checkpoints"),
        ("--method netmf --keep-checkpoint", "netmf does not support checkpoints"),
        (
            "--method netmf --labels net/labels.tsv",
            "--labels: netmf does not use labels with these settings; remove it",
        ),
        ("--labels net/labels.tsv", "--labels: mnmf does not use labels with these settings; remove it"),
        (
            "--method mve --attention yes",
            "mve with --attention needs labels of training nodes: give --labels",
        ),
        ("--method deepwalk --walks 0", "--walks 0: expected a whole number of at least 1"),
        ("--method deepwalk --rate=-1", "--rate -1: expected a number above 0"),
        ("--method tucker --dropout 0.5", "--dropout 0.5: expected a list of 3 numbers"),
        ("--method netmf --weighted no", "--weighted: netmf has no such setting"),
        ("--weighted no", "--weighted: mnmf has no such setting"),
        ("--method deepwalk --rate nan", "--rate nan: expected a number above 0"),
        ("--gamma inf", "--gamma inf: expected a number above 0"),
        ("--method tucker --dropout 0.1,nan,0.1", "expected a list of 3 numbers"),
        ("--method deepwalk --max-memory 1G", "--max-memory: the memory of deepwalk is not known in advance"),
        ("--method mve --attention yes --no-attention", "cannot be used with"),
        ("--method tucker --dim 4 --relation-dim 2 --epochs 2 --rate 1e30", "try a lower --rate"),
        ("--method metapath2vec --metapath nothing", "--metapath names \"nothing\", which is not a view"),
        ("--method nothing", "[possible values: mnmf"),
    ] {
        place.fails(&format!("embed net -o x {words}"), 2, &[said]);
        assert!(!place.path("x").exists(), "{words}");
    }
}

#[test]
fn switches_can_be_turned_off() {
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
fn reconstructions_and_zero_vectors_get_a_warning() {
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
    assert!(place.done("explain sum n1").out.contains("all columns come from all views together"));
}

#[test]
fn hidden_links_are_found_by_any_method() {
    let place = planted();
    let run = place.done("evaluate links net --method netmf-sum --dim 8 --repeats 1");
    assert!(run.out.contains("view1") && run.out.contains("AUC"), "{}", run.out);
    place.fails("demo --method netmf -o x", 2, &["this command runs mnmf only, not netmf"]);
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
    assert!(run.err.contains("more.tsv: ignored 1 id that is not in the network"), "{}", run.err);
    assert_eq!(place.read("more/embedding.npy"), place.read("steered/embedding.npy"));
}

#[test]
fn methods_are_listed_with_their_settings() {
    let place = Place::new();
    let list = place.done("methods").out;
    for (method, _) in QUICK {
        assert!(list.lines().any(|line| line.starts_with(method)), "no {method} in\n{list}");
    }
    let one = place.done("methods mve").out;
    for words in ["mve: ", "--regularize  [default: 0.05]", "presets:\n  default: as listed above\n  paper: "]
    {
        assert!(one.contains(words), "no {words:?} in\n{one}");
    }
    let found: serde_json::Value = serde_json::from_str(&place.done("methods mnmf --json").out).unwrap();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["name"]), (1, &"mnmf".into()));
    let settings = found[0]["settings"].as_array().unwrap();
    assert_eq!((&settings[0]["name"], &settings[0]["default"]), (&"dim".into(), &256.into()));
    let solver = settings.iter().find(|setting| setting["name"] == "solver").unwrap();
    assert_eq!(solver["choices"].as_array().unwrap().len(), 3);
    assert_eq!(found[0]["presets"]["paper"]["negative"], 5.0);
    place.fails("methods nothing", 2, &["possible values"]);
}

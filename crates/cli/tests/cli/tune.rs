//! `manyview tune`.

use std::fs;

use super::support::{Place, npy};

fn planted() -> Place {
    let place = Place::new();
    place.done("generate --nodes 120 --views 2 --communities 3 --noise 0.3 -q -o net");
    place
}

const LINE: &str =
    "tune net --labels net/labels.tsv -o t --dim 16 --stages 4 --validation-rounds 3 --repeats 2 --trials 5";

#[test]
fn all_searches_side_by_side() {
    let place = planted();
    let run = place.done(&format!("{LINE} --search all --over stages,consensus-stages"));
    for words in [
        "baseline",
        "grid search",
        "Bayesian search",
        "early stopping",
        "validation",
        "train 0.3",
        "train 0.7",
        "24 labeled nodes",
        "the other 96 labeled nodes",
        "best validation score",
        "t/best.toml",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    assert!(run.err.contains("grid search 1 of ") && run.err.contains("; best "), "{}", run.err);
    let record = place.json("t/tune.json");
    let searches: Vec<&str> = record["searches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|search| search["search"].as_str().unwrap())
        .collect();
    assert_eq!(searches, ["baseline", "grid", "bayes", "early-stopping"]);
    assert_eq!(record["searches"][2]["candidates"].as_array().unwrap().len(), 5);
    assert_eq!(record["searches"][1]["test"].as_array().unwrap().len(), 3);
    let first = &record["candidates"][0];
    assert_eq!((first["ending"].as_str(), first["settings"]["dim"].as_u64()), (Some("whole"), Some(16)));
    let stages = first["stages"].as_array().unwrap();
    assert_eq!(stages.last().unwrap()["score"], first["score"]);
    assert!(stages[0]["error"].as_f64() > stages[1]["error"].as_f64());
    let page = place.text("t/tune.html");
    assert!(
        page.matches("<script").count() == 2
            && page.contains("Bayesian search")
            && page.contains("mean approximation error")
    );
    assert_eq!(page.matches("<svg").count(), 4);
}

#[test]
fn the_best_settings_are_those_that_embed_takes() {
    let place = planted();
    place.done(&format!("{LINE} --over stages=2,4 --over negative=1,5 -q"));
    let best = place.json("t/tune.json")["best"].clone();
    place.done("embed net --settings t/best.toml -o e -q");
    let run = place.json("e/run.json");
    for name in ["dim", "stages", "negative", "window", "joint", "solver", "seed"] {
        let found = &run["settings"][name];
        let found = if found.is_null() { &run["settings"]["proximity"][name] } else { found };
        assert_eq!(*found, best["settings"][name], "{name}");
    }
    assert!(npy(&place.read("e/embedding.npy")).0.contains("(120, 16)"));
}

#[test]
fn what_is_done_is_not_done_again() {
    let place = planted();
    let line = format!("{LINE} --over stages=2,4,8 --search grid,early-stopping");
    place.done(&line);
    let scores = |place: &Place| {
        let record = place.json("t/tune.json");
        (record["candidates"].clone(), record["searches"].clone())
    };
    let first = scores(&place);
    let kept = fs::read_dir(place.path("t/candidates")).unwrap().count();
    let again = place.done(&line);
    assert_eq!(
        again.err.matches("; best").count(),
        again.err.matches(", reused; best").count(),
        "{}",
        again.err
    );
    assert_eq!(scores(&place), first);
    // One more value is one more candidate.
    let more = place.done(&line.replace("2,4,8", "1,2,4,8"));
    assert_eq!(more.err.matches("grid search").count(), 4, "{}", more.err);
    assert_eq!(
        more.err.matches("; best").count(),
        more.err.matches(", reused; best").count() + 1,
        "{}",
        more.err
    );
    assert_eq!(fs::read_dir(place.path("t/candidates")).unwrap().count(), kept + 1);
    // Another network.
    place.done("generate --nodes 120 --views 2 --communities 3 --seed 5 -q -o net --force");
    let words = "already exists and is not from tuning on this network; pass --force to overwrite";
    place.fails(&line, 2, &["t/tune.json", words]);
    let forced = place.done(&format!("{line} --force"));
    assert_eq!(forced.err.matches("reused").count(), 1, "of the same run: {}", forced.err);
}

#[test]
fn without_labels_the_output_says_what_the_score_prefers() {
    let place = planted();
    let run = place.done("tune net -o t --dim 16 --stages 4 --over stages=2,4");
    assert!(
        run.out.contains("AUCs of hidden edges") && run.out.contains("favors plans of few, wide stages"),
        "{}",
        run.out
    );
    let record = place.json("t/tune.json");
    assert_eq!(record["protocol"]["score"], "AUC of hidden edges");
    assert!(record["searches"][1]["test"][0]["score"]["mean"].is_f64());
}

#[test]
fn json_instead_of_the_table() {
    let place = planted();
    let run = place.done(&format!("{LINE} --over stages=2,4 --json -q"));
    assert_eq!(run.err, "");
    let printed: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(printed, place.json("t/tune.json"));
}

#[test]
fn what_is_wrong_is_said() {
    let place = planted();
    let fails = |more: &str, words: &[&str]| drop(place.fails(&format!("{LINE} {more}"), 2, words));
    fails(
        "--over stagess",
        &["--over stagess: there is no such setting of mnmf", "stages, consensus-stages, dim"],
    );
    fails("--over stages=4", &["nothing to search", "--dim 16"]);
    fails("--over gamma", &["gamma has no effect with --consensus pooled; add --consensus shared"]);
    fails("--validation 0.6", &["--validation 0.6 must be a fraction between 0 and 0.5"]);
    fails("--search random", &["invalid value 'random'", "early-stopping"]);
    place.fails("tune net -o t --method netmf", 2, &["runs mnmf only"]);
    place.fails(
        &format!("{LINE} --validation 0.02"),
        1,
        &["too few labeled nodes: --validation 0.02 of 120 gives 2"],
    );
    assert!(!place.path("t").exists(), "nothing is left");
}

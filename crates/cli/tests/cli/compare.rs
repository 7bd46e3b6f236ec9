//! Methods side by side.

use std::fs;

use super::support::Place;

fn planted() -> Place {
    let place = Place::new();
    place.done("generate --nodes 80 --views 2 --communities 3 -q -o net");
    place
}

const LINE: &str =
    "compare net --labels net/labels.tsv -o c --methods mnmf,netmf,netmf-sum --dim 16 --repeats 2 --c 1";

#[test]
fn tables_in_every_form() {
    let place = planted();
    let run = place.done(LINE);
    for words in [
        "netmf, best view *",
        "netmf, chosen view",
        "netmf-sum",
        "mnmf",
        "gain of mnmf",
        "NMI",
        "micro-F1 0.3",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let record = place.json("c/compare.json");
    assert_eq!(record["methods"].as_array().unwrap().len(), 3);
    assert_eq!(record["methods"][0]["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(record["tables"][0]["columns"][0], "micro-F1 0.3");
    assert!(place.text("c/compare.md").contains("| netmf, best view \\* |"));
    assert!(place.text("c/compare.tex").contains("netmf, best view$^*$ &"));
    let page = place.text("c/compare.html");
    assert_eq!(page.matches("class=\"nodes p").count(), 3 * 3, "three maps of three colours");
    for job in ["netmf-view1", "netmf-view2", "netmf-sum", "mnmf"] {
        assert!(place.path(&format!("c/{job}/embedding.npy")).exists(), "{job}");
    }
}

#[test]
fn scores_are_those_of_evaluate() {
    let place = planted();
    place.done(LINE);
    place.done("embed net --dim 16 -o m -q");
    assert_eq!(place.read("m/embedding.npy"), place.read("c/mnmf/embedding.npy"));
    let run = place.done("evaluate classify m --labels net/labels.tsv --repeats 2 --json -q");
    let direct: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let line = &place.json("c/compare.json")["tables"][0]["lines"][3];
    assert_eq!(line["name"], "mnmf");
    assert_eq!(line["cells"][0]["mean"], direct["shares"][0]["micro_f1"]["mean"]);
    assert_eq!(line["cells"][5]["std"], direct["shares"][2]["macro_f1"]["std"]);
}

#[test]
fn what_is_done_is_not_done_again_and_what_changed_is() {
    let place = planted();
    place.done(LINE);
    let (kept, page) = (place.path("c/mnmf/embedding.npy"), place.text("c/compare.json"));
    let written = fs::metadata(&kept).unwrap().modified().unwrap();
    let again = place.done(LINE);
    assert_eq!(again.err.matches("done before").count(), 4, "{}", again.err);
    assert!(place.text("c/compare.json") == page, "the same file");
    // Other measurements of the same vectors.
    let measured = place.done(&LINE.replace("--repeats 2", "--repeats 3"));
    assert_eq!(measured.err.matches("embedded before, measuring").count(), 4, "{}", measured.err);
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), written);
    // A damaged file, and another network.
    fs::write(place.path("c/netmf-sum/made.json"), "{").unwrap();
    let mended = place.done(&LINE.replace("--repeats 2", "--repeats 3"));
    assert_eq!(mended.err.matches("done before").count(), 3, "{}", mended.err);
    place.done("generate --nodes 80 --views 2 --communities 3 --seed 5 -q -o net --force");
    let other = place.done(LINE);
    assert!(!other.err.contains("before"), "{}", other.err);
}

#[test]
fn a_method_that_fails_stops_no_other() {
    let place = Place::new();
    place.done("generate --nodes 60 --views 3 --communities 2 -q -o net");
    // Two columns cannot be shared out over three views.
    let line = "compare net --labels net/labels.tsv -o c --dim 2 --repeats 1 --c 1 --no-pictures --quiet";
    let run = place.done(&format!("{line} --methods netmf-concat,netmf-sum"));
    assert!(run.out.contains("failed: ") && run.out.contains("1 method failed"), "{}", run.out);
    let methods = place.json("c/compare.json")["methods"].clone();
    let of = |name: &str| {
        methods.as_array().unwrap().iter().find(|method| method["name"] == name).unwrap().clone()
    };
    assert_eq!(of("netmf-concat")["failures"].as_array().unwrap().len(), 1);
    assert_eq!(of("netmf-sum")["candidates"].as_array().unwrap().len(), 1);
}

#[test]
fn mnmf_without_its_parts_and_over_ranges() {
    let place = planted();
    let run = place.done(
        "compare net --labels net/labels.tsv -o c --methods mnmf --dim 16 --repeats 1 --c 1 --ablations --sweep stages,gamma",
    );
    for words in
        ["no consensus", "no unique", "one stage", "order swapped", "equal weights", "mnmf over gamma"]
    {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let page = place.text("c/compare.html");
    assert!(page.matches("class=\"curve c0\"").count() >= 2, "a curve for each sweep");
}

#[test]
fn bad_input_gets_a_sentence() {
    let place = planted();
    place.write("one.tsv", (0..80).map(|node| format!("n{node}\tx\n")).collect::<String>());
    for (line, code, words) in [
        ("compare net --labels nothing.tsv -o c", 1, "no such file"),
        ("compare net --labels net/labels.tsv -o c --repeats 0", 2, "repeats = 0"),
        ("compare net --labels net/labels.tsv -o c --train 2", 2, "train = 2"),
        ("compare net --labels net/labels.tsv -o c --dim 0", 2, "dim = 0"),
        ("compare net --labels net/labels.tsv -o c --methods x", 2, "possible values"),
        ("compare net --labels net/labels.tsv -o c --c 0", 2, "neither a number above 0 nor auto"),
        ("compare net --labels one.tsv -o c --methods netmf-sum", 1, "two classes or more"),
        ("compare net --labels net/labels.tsv", 2, "--output"),
    ] {
        place.fails(line, code, &[words]);
        assert!(!place.path("c/compare.json").exists(), "{line}");
    }
}

//! `manyview add-view`.

use super::support::{Place, npy};

const SMS: &str = "ann\tbob\nbob\tcat\ncat\tann\ndan\teve\n";

fn place() -> Place {
    let place = Place::with_views();
    place.write("sms.tsv", SMS);
    place.done("embed --view calls=calls.tsv --view mails=mails.tsv --negative 1 --dim 20 --stages 3 -q --save-model -o model");
    place
}

fn rows(place: &Place, folder: &str, dim: usize) -> Vec<Vec<u8>> {
    let bytes = place.read(&format!("{folder}/embedding.npy"));
    npy(&bytes).1.chunks(4 * dim).map(<[u8]>::to_vec).collect()
}

#[test]
fn a_view_gets_columns_of_its_own_and_the_others_keep_their_bytes() {
    let place = place();
    let run = place.done("add-view model sms=sms.tsv --columns 2 -o wide");
    assert!(run.err.contains("the consensus columns explain "), "{}", run.err);
    assert!(run.err.contains(" % of sms, 2 columns of its own another "), "{}", run.err);
    assert!(
        run.err.contains("note: 1 node has no edge in sms; the new columns are zero there"),
        "{}",
        run.err
    );
    assert!(run.err.contains("6 nodes x 22 columns in wide/embedding.npy"), "{}", run.err);
    assert!(run.err.ends_with("\nnext: manyview report wide\n"), "{}", run.err);
    let (before, after) = (rows(&place, "model", 20), rows(&place, "wide", 22));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before[..], after[..80]);
    }
    assert!(after.iter().any(|row| row[80..].iter().any(|&byte| byte != 0)));
    let (fit, record) = (place.json("model/run.json"), place.json("wide/run.json"));
    let added = &record["added_views"][0];
    assert_eq!((&added["view"], &added["columns"]), (&"sms".into(), &serde_json::json!([20, 22])));
    assert_eq!(added["fit"], fit["command"]);
    assert_eq!((&record["vector_scale"], &record["config"]), (&fit["vector_scale"], &fit["config"]));
    assert_eq!(record["network"]["views"][2]["edges"], 4);
    assert_eq!(record["inputs"].as_array().unwrap().len(), 3);
    assert!(record["stages"].as_array().unwrap().iter().any(|stage| stage["view"] == "sms"));
    place.done("report wide -q");
    let told = place.done("explain wide ann");
    assert!(told.out.contains("sms"), "{}", told.out);
}

#[test]
fn the_result_can_be_changed_again() {
    let place = place();
    place.done("add-view model sms=sms.tsv --columns 2 -q -o wide");
    // The same bytes on one thread, the model included.
    place.done("add-view model sms=sms.tsv --columns 2 -q -o again --threads 1");
    for name in ["embedding.npy", "model.bin"] {
        assert_eq!(place.read(&format!("wide/{name}")), place.read(&format!("again/{name}")), "{name}");
    }
    place.write("gus.tsv", "gus\tann\ngus\tbob\n");
    place.done("fold-in wide --view sms=gus.tsv --view calls=gus.tsv -q -o gus");
    assert_eq!(rows(&place, "gus", 22)[..6], rows(&place, "wide", 22));
    place.write("new.tsv", "ann\tfay\n");
    place.done("update wide --view sms=new.tsv -q -o later");
    let record = place.json("later/run.json");
    assert_eq!(record["network"]["views"][2]["edges"], 5);
    assert_eq!(record["updated"]["fit"], place.json("model/run.json")["command"]);
    // A directed view after an undirected one, and the stages before both.
    place.write("visits.tsv", "ann\tbob\nbob\tcat\ncat\tann\ndan\teve\neve\tfay\nfay\tdan\n");
    place.done("add-view later visits=visits.tsv --directed --columns 1 -q -o wider");
    assert_eq!(place.json("wider/run.json")["directed"], serde_json::json!(["visits"]));
    assert_eq!(place.json("wider/run.json")["added_views"].as_array().unwrap().len(), 2);
    place.done("fold-in wider --view visits=gus.tsv -q -o gus2");
    place.done("truncate wider --stages 3 -q -o narrow");
    let narrow = place.json("narrow/run.json");
    assert_eq!(narrow["network"]["fingerprint"], place.json("model/run.json")["network"]["fingerprint"]);
    assert!(narrow.get("added_views").is_none() && narrow.get("directed").is_none());
    place.fails(
        "fold-in narrow --view sms=gus.tsv -o out",
        2,
        &["unknown view \"sms\"; the views are calls, mails"],
    );
    // Its settings are those of the fit.
    let views = "--view calls=calls.tsv --view mails=mails.tsv";
    place.done(&format!("embed {views} --settings wider/run.json -q -o repeated"));
    assert_eq!(rows(&place, "repeated", 20), rows(&place, "model", 20));
}

#[test]
fn what_cannot_be_added_is_refused_with_nothing_written() {
    let place = place();
    let cases: [(&str, i32, &[&str]); 8] = [
        ("add-view model calls=sms.tsv -o out", 2, &["already has a view \"calls\"", "update to change"]),
        ("add-view model joint=sms.tsv -o out", 2, &["already has a view \"joint\""]),
        ("add-view model sms.tsv -o out", 2, &["has no name for the view; write NAME=PATH", "sms=sms.tsv"]),
        ("add-view model sms=none.tsv -o out", 1, &["none.tsv"]),
        ("add-view model sms=unknown.tsv -o out", 2, &["does not have these nodes: \"gus\"", "fold-in"]),
        ("add-view model sms=empty.tsv -o out", 1, &["empty.tsv"]),
        ("add-view model sms=sms.tsv --columns 2000000 -o out", 2, &["--columns 2000000: expected a whole"]),
        ("add-view nothing sms=sms.tsv -o out", 1, &["is not a result folder"]),
    ];
    place.write("unknown.tsv", "ann\tgus\n");
    place.write("empty.tsv", "");
    for (line, code, words) in cases {
        place.fails(line, code, words);
        assert!(!place.path("out").exists(), "{line}");
    }
    place.done("embed --view calls=calls.tsv --negative 1 --dim 5 -q -o plain");
    place.fails("add-view plain sms=sms.tsv -o out", 2, &["has no model"]);
    let mut bytes = place.read("model/model.bin");
    bytes[400] ^= 1;
    place.write("model/model.bin", &bytes);
    place.fails("add-view model sms=sms.tsv -o out", 1, &["model.bin", "fit again with --save-model"]);
    assert!(!place.path("out").exists());
}

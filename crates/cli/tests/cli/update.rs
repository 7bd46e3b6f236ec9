//! `manyview update`.

use super::support::{Place, npy};

const VIEWS: &str = "--view calls=calls.tsv --view mails=mails.tsv";

fn place() -> Place {
    let place = Place::with_views();
    place.write("new.tsv", "bob\tfay\n");
    place.done(&format!("embed {VIEWS} --negative 1 --dim 20 --stages 3 -q --save-model -o model"));
    place
}

fn rows(place: &Place, folder: &str) -> Vec<Vec<u8>> {
    let bytes = place.read(&format!("{folder}/embedding.npy"));
    npy(&bytes).1.chunks(4 * 20).map(<[u8]>::to_vec).collect()
}

#[test]
fn edges_come_and_go_and_the_result_can_be_updated_again() {
    let place = place();
    let run = place.done("update model --view calls=new.tsv -o there");
    assert!(run.err.contains("1 edge came and 0 edges went: computed"), "{}", run.err);
    assert!(run.err.contains("moved (1 - cosine): median"), "{}", run.err);
    let record = place.json("there/run.json");
    assert_eq!(
        (&record["updated"]["edges_added"], &record["updated"]["edges_removed"]),
        (&1.into(), &0.into())
    );
    assert_eq!(record["network"]["views"][0]["edges"], 8);
    assert_ne!(rows(&place, "there"), rows(&place, "model"));
    place.done("update there --remove calls=new.tsv -o back -q --threads 1");
    let fit = place.json("model/run.json");
    assert_eq!(place.json("back/run.json")["network"]["fingerprint"], fit["network"]["fingerprint"]);
    assert_eq!(place.json("back/run.json")["updated"]["fit"], fit["command"]);
    // A model that was updated folds in like one that was fitted.
    place.write("gus.tsv", "gus\tann\ngus\tbob\n");
    place.done("fold-in there --view calls=gus.tsv -q -o gus");
    place.done("report there -q");
}

#[test]
fn vectors_that_feel_less_than_the_tolerance_keep_their_bytes() {
    let place = place();
    let run = place.done("update model --view calls=new.tsv --tolerance 1 -o same");
    let (before, after) = (rows(&place, "model"), rows(&place, "same"));
    let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    let told = run.err.lines().find(|line| line.contains("computed")).unwrap();
    assert!(told.contains(&format!("computed {moved} of 6 vectors again")), "{moved}: {told}");
    assert!(moved < 6);
}

#[test]
fn what_does_not_fit_is_refused_with_nothing_written() {
    let place = place();
    place.fails("update model -o out", 2, &["no change given", "--view NAME=PATH", "--remove NAME=PATH"]);
    place.fails(
        "update model --view calls=new.tsv --tolerance 2 -o out",
        2,
        &["--tolerance: expected a number from 0 to 1"],
    );
    place.fails(
        "update model --remove calls=new.tsv -o out",
        2,
        &["view \"calls\" has no edge between \"bob\" and \"fay\""],
    );
    place.fails("update model --remove calls=calls.tsv -o out", 2, &["would have no edges left"]);
    place.write("gus.tsv", "gus\tann\n");
    place.fails(
        "update model --view calls=gus.tsv -o out",
        2,
        &["the model does not have these nodes: \"gus\"", "fold-in gives vectors"],
    );
    place.fails("update model --view sms=new.tsv -o out", 2, &["unknown view \"sms\""]);
    place.done(&format!("embed {VIEWS} --negative 1 --dim 20 --stages 3 -q -o plain"));
    place.fails("update plain --view calls=new.tsv -o out", 2, &["has no model"]);
}

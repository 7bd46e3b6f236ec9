//! `manyview embed --save-model` and `manyview fold-in`.

use super::support::{Place, npy};

const EMBED: &str = "embed --view calls=calls.tsv --view mails=mails.tsv --negative 1 --dim 20 --stages 3 -q";
const NEW: &str = "gus\tann\ngus\tbob\nhal\tgus\nhal\teve\n";

fn place() -> Place {
    let place = Place::with_views();
    place.write("new.tsv", NEW);
    place.done(&format!("{EMBED} --save-model -o model"));
    place
}

fn rows(place: &Place, folder: &str) -> Vec<Vec<u8>> {
    let bytes = place.read(&format!("{folder}/embedding.npy"));
    npy(&bytes).1.chunks(4 * 20).map(<[u8]>::to_vec).collect()
}

#[test]
fn new_nodes_get_vectors_and_the_others_keep_theirs() {
    let place = place();
    let run = place.done("fold-in model --view calls=new.tsv -o with-new");
    assert!(run.err.contains("folded in 2 new nodes in"), "{}", run.err);
    assert!(run.err.contains("8 nodes x 20 columns in with-new/embedding.npy"), "{}", run.err);
    let (before, after) = (rows(&place, "model"), rows(&place, "with-new"));
    assert_eq!((before.len(), after.len()), (6, 8));
    assert_eq!(before, after[..6]);
    assert!(after[6..].iter().all(|row| row.iter().any(|&byte| byte != 0)));
    assert_eq!(place.text("with-new/nodes.txt"), place.text("model/nodes.txt") + "gus\nhal\n");
    let record = place.json("with-new/run.json");
    assert_eq!(record["network"]["nodes"], 8);
    assert_eq!(record["folded_in"]["nodes"], 2);
    assert_eq!(record["folded_in"]["first_row"], 6);
    assert_eq!(record["folded_in"]["edges"]["calls"], 4);
    // It is opened and shown like any other result, and is not a model itself.
    place.done("neighbors with-new gus");
    place.done("report with-new -q");
    place.fails("fold-in with-new --view calls=new.tsv -o again", 2, &["has no model"]);
    place.done("fold-in model --view calls=new.tsv -o new --only-new -q --threads 1");
    assert_eq!(rows(&place, "new"), after[6..]);
    assert_eq!(place.text("new/nodes.txt"), "gus\nhal\n");
}

#[test]
fn a_kept_model_changes_no_byte_of_the_vectors() {
    let place = place();
    place.done(&format!("{EMBED} -o plain"));
    assert_eq!(place.read("plain/embedding.npy"), place.read("model/embedding.npy"));
    assert_eq!(place.names("model"), ["embedding.npy", "model.bin", "nodes.txt", "run.json"]);
    let (record, length) = (place.json("model/run.json"), place.read("model/model.bin").len());
    assert_eq!((&record["model"]["file"], &record["model"]["bytes"]), (&"model.bin".into(), &length.into()));
    assert!(place.json("plain/run.json").get("model").is_none());
    let plan = place.done("embed --view calls=calls.tsv --view mails=mails.tsv --negative 1 --dim 20 --stages 3 --save-model --plan");
    assert!(plan.out.contains("model   model.bin will have about"), "{}", plan.out);
    // An existing model is a result like the vectors.
    place.write("other/model.bin", "mine");
    place.fails(&format!("{EMBED} --save-model -o other"), 2, &["model.bin", "--force"]);
}

#[test]
fn nodes_without_a_path_to_the_model_are_counted() {
    let place = place();
    place.write("lost.tsv", "gus\tann\nlost\talone\n");
    let run = place.done("fold-in model --view mails=lost.tsv -o out");
    assert!(run.err.contains("warning: 2 new nodes have zero vectors, the first is \"lost\""), "{}", run.err);
    assert_eq!(place.json("out/run.json")["folded_in"]["zero"], 2);
}

#[test]
fn what_cannot_be_folded_in_is_refused_with_nothing_written() {
    let place = place();
    place.fails(
        "fold-in model --view sms=new.tsv -o out",
        2,
        &["unknown view \"sms\"; the views are calls, mails"],
    );
    place.write("known.tsv", "gus\tann\nann\tfay\n");
    place.fails(
        "fold-in model --view calls=known.tsv -o out",
        2,
        &["the model already has both ends of some edges: \"ann\" and \"fay\"", "fold-in is for new nodes"],
    );
    place.fails(
        "fold-in model --view calls=new.tsv --directed calls -o out",
        2,
        &["undirected in the model and directed here"],
    );
    place.fails("fold-in model -o out", 2, &["no network given"]);
    place.fails("fold-in nothing --view calls=new.tsv -o out", 1, &["is not a result folder"]);
    place.done(&format!("{EMBED} -o plain"));
    place.fails(
        "fold-in plain --view calls=new.tsv -o out",
        2,
        &["has no model; run manyview embed again with --save-model"],
    );
    place.done("embed --view calls=calls.tsv --method netmf --dim 4 -q -o netmf");
    place.fails("fold-in netmf --view calls=new.tsv -o out", 2, &["only mnmf has one"]);
    place.fails(
        "embed --view calls=calls.tsv --method netmf --dim 4 -o out --save-model",
        2,
        &["--save-model: netmf has no factors to keep"],
    );
    let mut bytes = place.read("model/model.bin");
    let late = bytes.len() - 20;
    bytes[late] ^= 1;
    place.write("model/model.bin", &bytes);
    place.fails(
        "fold-in model --view calls=new.tsv -o out",
        1,
        &["model/model.bin", "is damaged (checksum mismatch)"],
    );
}

/// Directions are those of the fit, without saying so again; and a shortened result has a shortened model.
#[test]
fn directed_views_and_shortened_models_fold_in_too() {
    let place = place();
    place.done("embed --view calls=calls.tsv --view mails=mails.tsv --directed calls --negative 1 --dim 20 --stages 3 --save-model -q -o directed");
    place.done("fold-in directed --view calls=new.tsv -o out -q");
    assert_eq!(rows(&place, "out").len(), 8);
    place.done("truncate model --stages 2 -o shorter -q");
    place.done("fold-in shorter --view calls=new.tsv -o short -q");
    let bytes = place.read("short/embedding.npy");
    assert!(npy(&bytes).0.contains("'shape': (8, 10)"));
}

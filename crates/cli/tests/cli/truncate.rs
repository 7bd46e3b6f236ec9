//! `manyview truncate`.

use super::support::{Place, npy};

const EMBED: &str = "embed --view calls=calls.tsv --view mails=mails.tsv --negative 1 --dim 20 --stages 3 -q";

#[test]
fn a_prefix_of_the_stages_is_a_result() {
    let place = Place::with_views();
    place.done(&format!("{EMBED} -o whole"));
    let run = place.done("truncate whole --stages 2 -o shorter");
    assert_eq!(run.err, "stages 1 to 2 of 3: 6 nodes x 10 columns in shorter/embedding.npy\n");
    let bytes = place.read("shorter/embedding.npy");
    assert!(npy(&bytes).0.contains("'shape': (6, 10)"));
    assert_eq!(place.text("shorter/nodes.txt"), place.text("whole/nodes.txt"));
    let record = place.json("shorter/run.json");
    assert_eq!(record["command"], "manyview truncate whole --stages 2 -o shorter");
    assert_eq!(record["config"]["stage_dims"], serde_json::json!([5, 5]));
    assert_eq!(record["truncated"]["stages"], 3);
    // It is opened, explained and shown like any other.
    place.done("explain shorter ann");
    place.done("report shorter -q");
    // Its settings are those of a run that ends there, with the same vectors up to rounding.
    place.done("embed --view calls=calls.tsv --view mails=mails.tsv --settings shorter/run.json -q -o again");
    let numbers = |name: &str| -> Vec<f32> {
        let bytes = place.read(name);
        npy(&bytes).1.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let (cut, fitted) = (numbers("shorter/embedding.npy"), numbers("again/embedding.npy"));
    assert!(cut.len() == fitted.len() && cut.iter().zip(&fitted).all(|(a, b)| (a - b).abs() < 1e-5));
}

#[test]
fn a_number_of_columns_picks_the_stages() {
    let place = Place::with_views();
    place.done(&format!("{EMBED} -o whole"));
    let run = place.done("truncate whole --dim 12 -o shorter");
    assert!(run.err.starts_with("stages 1 to 2 of 3"), "{}", run.err);
    place.fails("truncate whole --dim 4 -o none", 2, &["--dim 4: the first stage alone has 5 columns"]);
    place.fails("truncate whole --stages 4 -o none", 2, &["--stages 4: the result has 3 stages"]);
    place.fails("truncate whole -o none", 2, &["--stages"]);
    place.fails("truncate whole --stages 1 --dim 5 -o none", 2, &["cannot be used with"]);
    place.fails("truncate whole --stages 1 -o shorter", 2, &["--force"]);
    place.fails("truncate nothing --stages 1 -o none", 1, &["is not a result folder"]);
    place.done("truncate whole --stages 1 -o shorter --force -q");
}

#[test]
fn methods_without_stages_cannot_be_cut() {
    let place = Place::with_views();
    place.done("embed --view calls=calls.tsv --method netmf --dim 4 -q -o whole");
    place.fails("truncate whole --stages 1 -o none", 2, &["netmf has no stages", "only results of mnmf"]);
}

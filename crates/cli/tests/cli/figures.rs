//! `manyview figures`.

use super::support::Place;

fn planted() -> Place {
    let place = Place::new();
    place.done("generate --nodes 120 --views 2 --communities 3 --noise 0.3 -q -o net");
    place
}

const LINE: &str = "figures net --labels net/labels.tsv -o f --dim 32 --stages 4 --repeats 2";

#[test]
fn all_figures_are_drawn_with_their_values() {
    let place = planted();
    let run = place.done(LINE);
    for words in [
        "F1 over the number of stages, percent",
        "mean approximation error",
        "view weights in shared consensus stages, gamma 5",
        "no consensus",
        "running time",
        "open f/figures.html",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    assert!(run.err.contains("figure 8 of 8: time"), "{}", run.err);
    let record = place.json("f/figures.json");
    let figures: Vec<&str> =
        record["figures"].as_array().unwrap().iter().map(|one| one["figure"].as_str().unwrap()).collect();
    assert_eq!(
        figures,
        ["stages", "weights", "maps", "ablation", "dim", "gamma", "consensus-stages", "time"]
    );
    let stages = &record["figures"][0]["panels"][0];
    assert_eq!(
        stages["ticks"].as_array().unwrap().len(),
        stages["curves"][0]["values"].as_array().unwrap().len()
    );
    assert_eq!(record["settings"]["dim"].as_u64(), Some(32));
    let page = place.text("f/figures.html");
    assert!(page.matches("<script").count() == 2 && page.contains("view weights in shared"));
    assert_eq!(page.matches("\"places\":\"").count(), 3, "a map after 2, 4 and 8 stages");
    assert_eq!(page.matches("<svg").count(), 8);
    for name in ["stages", "stages-error", "weights", "map-8", "ablation", "time"] {
        let text = place.text(&format!("f/{name}.svg"));
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"), "{name}");
    }
    place.fails(LINE, 2, &["f/", "already exists", "--force"]);
    place.done(&format!("{LINE} --force --only weights --gamma 2 --json -q"));
}

#[test]
fn without_labels_only_figures_of_scores_are_missing() {
    let place = planted();
    let run = place.done("figures net -o f --dim 32 --only weights,stages");
    assert!(run.out.contains("mean approximation error") && !run.out.contains("F1"), "{}", run.out);
    place.fails("figures net -o g --only dim", 2, &["figure dim", "--labels"]);
    place.fails("figures net -o g --only nothing", 2, &["nothing", "consensus-stages"]);
    place.fails("figures net -o g --auto", 2, &["--auto"]);
    place.fails("figures net -o g --method netmf", 2, &["mnmf only"]);
}

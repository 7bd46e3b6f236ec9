//! Sampled proximity: what decides on it, what is recorded, and what is refused.

use super::support::{Place, SMALL};

fn generated(nodes: usize, degree: usize) -> Place {
    let place = Place::new();
    place.done(&format!("generate --nodes {nodes} --views 2 --degree {degree} -o net --quiet"));
    place
}

#[test]
fn every_method_of_proximity_can_sample_it() {
    let place = generated(200, 6);
    for method in
        ["mnmf", "netmf", "netmf-sum", "netmf-concat", "netmf-union", "boostne", "nmf-con", "multinmf"]
    {
        let run = |options: &str| place.embedded(&format!("net --method {method} --dim 16 {options}")).0;
        let sampled = run("--walks 6 --threads 1");
        assert_eq!(run("--walks 6 --proximity sampled --threads 3"), sampled, "{method}");
        assert_ne!(run("--walks 6 --seed 1"), sampled, "{method}");
        assert_ne!(run("--proximity exact"), sampled, "{method}");
    }
}

#[test]
fn the_noise_of_each_view_is_recorded() {
    let place = generated(200, 6);
    place.done(&format!("embed net -o result --walks 20 {SMALL}"));
    let run = place.json("result/run.json");
    assert_eq!((&run["config"]["walks"], &run["settings"]["proximity"]), (&20.into(), &"auto".into()));
    let union = std::iter::once(&run["network"]["joint"]);
    for view in run["network"]["views"].as_array().unwrap().iter().chain(union) {
        let sampled = &view["sampled"];
        assert_eq!(sampled["walks"], 20);
        for share in ["relative_error", "seen_once"] {
            assert!((0.01..1.0).contains(&sampled[share].as_f64().unwrap()), "{view}");
        }
    }
    place.done(&format!("embed net -o exact {SMALL}"));
    assert!(place.json("exact/run.json")["network"]["views"][0].get("sampled").is_none());
}

#[test]
fn what_does_not_fit_is_sampled_unless_it_must_be_exact() {
    let place = generated(6000, 30);
    let run = place.done("embed net -o result --dim 8 --stages 2 --max-iter 2 --max-memory 75M");
    assert!(run.err.contains("would not fit into memory"), "{}", run.err);
    let config = &place.json("result/run.json")["config"];
    assert_eq!(config["proximity"], "sampled");
    place.fails(
        "embed net -o other --dim 8 --stages 2 --max-memory 75M --proximity exact",
        1,
        &["that --max-memory allows", "--proximity sampled"],
    );
    place.fails(
        "embed net -o other --dim 8 --stages 2 --max-memory 75M --walks 300",
        1,
        &["that --max-memory allows", "use --walks "],
    );
}

#[test]
fn numbers_of_walks_that_make_no_sense_are_refused() {
    let place = generated(50, 4);
    for (options, words) in [
        ("--walks 0", "expected a whole number from 1 to 2000"),
        ("--walks 1000000", "expected a whole number from 1 to 2000"),
        ("--walks many", "expected a whole number from 1 to 2000"),
        ("--walks 5 --proximity exact", "leave --walks out"),
        ("--walks 2000 --window 20", "the largest number of walks with this window is 818"),
        ("--proximity most", "exact"),
    ] {
        let run = place.run(&format!("embed net -o result {options}"));
        assert!(run.code != 0 && run.err.contains(words), "{options}: {}", run.err);
        assert!(!place.path("result/embedding.npy").exists());
    }
}

#[test]
fn a_plan_says_how_many_walks() {
    let run = generated(300, 6).done("embed net --plan --walks 12 --dim 16");
    assert!(run.out.contains("sampled by 12 walks from each node"), "{}", run.out);
}

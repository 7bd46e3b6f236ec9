//! Invalid settings, and that the advice in their messages works.

use super::support::{Place, SMALL};

/// Returns the first number after these words.
fn number_after(text: &str, words: &str) -> String {
    let rest = text.split(words).nth(1).unwrap_or_else(|| panic!("no {words:?} in\n{text}")).trim_start();
    rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap().trim_end_matches('.').to_owned()
}

#[test]
fn too_few_columns_get_the_smallest_number_that_works() {
    let place = Place::with_views();
    for preset in ["default", "paper", "authors"] {
        let line = format!("embed calls.tsv mails.tsv --preset {preset} --negative 0.1 --stages 4 -o result");
        let words = ["--dim 5 is too small for 4 stages and 2 views", "use --dim "];
        let run = place.fails(&format!("{line} --dim 5"), 2, &words);
        let smallest: usize = number_after(&run.err, "use --dim ").parse().unwrap();
        place.fails(&format!("{line} --dim {}", smallest - 1), 2, &["too small"]);
        place.done(&format!("{line} --dim {smallest} --force"));
        std::fs::remove_dir_all(place.path("result")).unwrap();
    }
    place.fails("embed calls.tsv --dim 3 -o result", 2, &["--dim 3 is too small for 5 stages and 1 view: "]);
}

#[test]
fn numbers_out_of_range() {
    let place = Place::with_views();
    for (setting, words) in [
        ("--dim 0", "--dim 0: expected a whole number from 1 to 1048576; the usual choice is 256"),
        ("--stages 0", "--stages 0: expected a whole number from 1 to 1024; the usual choice is 5"),
        ("--gamma 0", "--gamma 0: expected a number above 0; use 5"),
        ("--gamma -1", "--gamma -1: expected a number above 0; use 5"),
        ("--gamma nan", "--gamma nan: expected a number above 0; use 5"),
        ("--window 0", "--window 0: expected a whole number of at least 1; the usual choice is 5"),
        ("--negative 0", "--negative 0: expected a number above 0; the usual choices are 1 and 5"),
        ("--negative -2", "--negative -2: expected a number above 0"),
        ("--threads 0", "--threads 0: expected a whole number from 1 to 4096"),
        ("--max-iter 0", "--max-iter 0: expected a whole number of at least 1"),
        ("--tol -1", "--tol -1: expected a number of at least 0; the usual choice is 0.0005"),
        ("--epsilon -1", "--epsilon -1: expected a number of at least 0"),
        ("--consensus-stages 9", "--consensus-stages 9 exceeds --stages 5"),
        ("--stage-dims 4,4 --dim 9", "the sum of --stage-dims is 8, which is not --dim 9; leave --dim out"),
        ("--stage-dims 4,0", "--stage-dims 4,0: expected a list of whole numbers of at least 1"),
        ("--dim -5", "--dim -5: expected a whole number from 1"),
        ("--dim 2.5", "--dim 2.5: expected a whole number from 1"),
        ("--seed -1", "--seed -1: expected a whole number"),
    ] {
        place.fails(&format!("embed calls.tsv -o result {setting}"), 2, &[words]);
    }
    place.fails("proximity calls.tsv -o result --window 0", 2, &["--window 0: expected a whole number"]);
    place.fails("proximity calls.tsv -o result --threads 0", 2, &["--threads 0 must be at least 1"]);
}

/// These once caused a panic, an allocation of terabytes, or 100,000 threads.
#[test]
fn numbers_that_are_far_too_large() {
    let place = Place::with_views();
    for (setting, words) in [
        (
            "--dim 18446744073709551615",
            "--dim 18446744073709551615: expected a whole number from 1 to 1048576",
        ),
        ("--dim 99999999999", "--dim 99999999999: expected a whole number from 1 to 1048576"),
        ("--stages 99999999999", "--stages 99999999999: expected a whole number from 1 to 1024"),
        ("--threads 100000", "--threads 100000: expected a whole number from 1 to 4096"),
    ] {
        place.fails(&format!("embed calls.tsv --negative 1 -o result {setting}"), 2, &[words]);
    }
    place.fails("generate --views 100000000 -o result", 2, &["--views 100000000 must be between 1 and 1000"]);
}

#[test]
fn a_view_without_entries_gets_advice_that_works() {
    let place = Place::with_views();
    let words = [
        "view \"calls\" has an empty proximity matrix with --window 5 and --negative 5",
        "times as often as expected by chance",
    ];
    for command in ["embed calls.tsv --dim 16 --stages 2", "proximity calls.tsv"] {
        let run = place.fails(&format!("{command} --negative 5 -o result"), 1, &words);
        let negative = number_after(&run.err, "for example --negative");
        place.done(&format!("{command} --negative {negative} -o result"));
        std::fs::remove_dir_all(place.path("result")).unwrap();
    }
}

/// The advice was once a window of 1, with which this view has no entries either.
#[test]
fn a_directed_view_whose_walks_all_end() {
    let place = Place::new();
    place.write("x.tsv", "a\tx\na\ty\nb\tz\nc\tz\n");
    let words = [
        "view \"x\" has an empty proximity matrix",
        "walks along its directed edges end too early; read the view as undirected",
    ];
    for window in [5, 1] {
        place.fails(&format!("embed x.tsv --directed x --window {window} -o result {SMALL}"), 1, &words);
        place.embedded(&format!("x.tsv --window {window} {SMALL}"));
    }
}

#[test]
fn invalid_commands() {
    let place = Place::with_views();
    for (line, words) in [
        ("embd", "a similar subcommand exists: 'embed'"),
        ("embed calls.tsv", "--output <DIR>"),
        (
            "embed -o result",
            "no network given: name a folder, a network.toml or edge lists, or use --view NAME=PATH",
        ),
        ("embed calls.tsv -o result --dimm 4", "a similar argument exists: '--dim'"),
        ("embed calls.tsv -o result --preset best", "possible values: default, paper, authors"),
        ("embed calls.tsv -o result --format xlsx", "possible values: tsv, csv, word2vec"),
        ("embed calls.tsv -o result --duplicates min", "possible values: sum, max"),
        (
            "embed --view calls.tsv -o result",
            "view \"calls.tsv\" is not of the form NAME=PATH, such as calls=calls.tsv",
        ),
        ("embed --view =calls.tsv -o result", "is not of the form NAME=PATH"),
        ("embed --view calls= -o result", "is not of the form NAME=PATH"),
        (
            "embed --view a=calls.tsv mails.tsv -o result",
            "either with --view NAME=PATH or as paths, not both",
        ),
        ("embed calls.tsv --directed mail -o result", "--directed mail: unknown view; the views are calls"),
        ("embed calls.tsv . -o result", ".: a folder is a whole network"),
        ("generate --nodes 5 -o result", "--communities 10 must be between 1 and 5"),
        (
            "generate --degree 1,2 -o result",
            "--degree has 2 values for 3 views; give one value for all views or one per view",
        ),
        ("generate --noise 2 -o result", "--noise 2 must be between 0 and 1"),
        ("generate --nodes 20 --degree 20 -o result", "--degree 20 is too high for view1"),
    ] {
        place.fails(line, 2, &[words]);
    }
}

#[test]
fn ids_that_a_format_cannot_represent_are_rejected_early() {
    let place = Place::new();
    place.write("x.tsv", "New York\tb\nb\tc\n");
    let words =
        ["the word2vec format cannot represent node \"New York\": it contains white space; use --format csv"];
    place.fails(&format!("embed x.tsv -o result --format word2vec {SMALL}"), 2, &words);
    place.done(&format!("embed x.tsv -o result --format csv {SMALL}"));
}

#[test]
fn options_override_the_settings_file_and_the_file_its_preset() {
    let place = Place::with_views();
    place.write("s.toml", "preset = \"paper\"\ndim = 16\nstages = 2\nnegative = 1.0\n");
    place.done("embed calls.tsv --settings s.toml -q -o a");
    let config = place.json("a/run.json")["config"].clone();
    assert_eq!((&config["dim"], &config["negative"]), (&16.into(), &1.0.into()));
    assert_eq!((&config["consensus"], &config["scale"]), (&"shared".into(), &"raw".into()));
    place.done("embed calls.tsv --settings s.toml --dim 8 --seed 3 -q -o b");
    let config = place.json("b/run.json")["config"].clone();
    assert_eq!((&config["dim"], &config["seed"], &config["scale"]), (&8.into(), &3.into(), &"raw".into()));
    // The run.json of a result repeats the run.
    let again = place.embedded("calls.tsv --settings b/run.json");
    assert!(again.0 == place.read("b/embedding.npy"));
    place.write("s.toml", "color = 1\n");
    place.fails("embed calls.tsv --settings s.toml -o c", 2, &["mnmf has no setting \"color\""]);
    place.write("s.toml", "dim = \n");
    place.fails("embed calls.tsv --settings s.toml -o c", 1, &["s.toml:1: not a settings file"]);
    place.fails("embed calls.tsv --settings none.toml -o c", 1, &["none.toml: no such file"]);
}

/// A run.json has all settings. They once all counted as typed: these lines were refused, or had no effect.
#[test]
fn options_override_what_an_earlier_run_derived() {
    let place = Place::with_views();
    place.done("embed calls.tsv mails.tsv --preset authors --negative 0.1 --dim 64 -q -o authors");
    let again = "embed calls.tsv mails.tsv --settings authors/run.json -q";
    place.done(&format!("{again} --stages 6 -o six"));
    assert_eq!(place.json("six/run.json")["config"]["consensus_stages"], 3);
    place.done(&format!("{again} --stage-dims 8,4 -o dims"));
    let config = place.json("dims/run.json")["config"].clone();
    assert_eq!((&config["dim"], &config["stages"]), (&12.into(), &2.into()));
    place.done(&format!("{again} --solver mu -o mu"));
    assert_eq!(place.json("mu/run.json")["config"]["unique_solver"], "mu");
    place.fails(&format!("{again} --stage-dims 8,4 --dim 9 -o no"), 2, &["is not --dim 9; leave --dim out"]);
}

/// What was chosen is said, is in run.json, and can be repeated without choosing again.
#[test]
fn stages_chosen_by_the_data() {
    let place = Place::new();
    place.done("generate --nodes 300 --views 3 -q -o net");
    let run = place.done("embed net --auto --dim 32 -o chosen");
    assert!(run.err.contains("plan: the views agree to "), "{}", run.err);
    let found = place.json("chosen/run.json");
    let chosen = &found["chosen_plan"];
    assert_eq!(
        (found["settings"]["auto"].as_bool(), found["config"]["auto"].as_bool()),
        (Some(true), Some(false))
    );
    let dims: Vec<u64> =
        found["config"]["stage_dims"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
    assert_eq!(dims.iter().sum::<u64>(), 32);
    let consensus = found["config"]["consensus_stages"].as_u64().unwrap();
    assert_eq!(dims.len() as u64, chosen["unique_stages"].as_u64().unwrap() + consensus);
    let of_consensus: u64 = dims.iter().rev().take(consensus as usize).sum();
    assert_eq!(Some(of_consensus), chosen["consensus_columns"].as_u64());
    let dims = dims.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    place.done(&format!("embed net --stage-dims {dims} --consensus-stages {consensus} -q -o given"));
    assert!(place.read("chosen/embedding.npy") == place.read("given/embedding.npy"));
    place.fails("embed net --auto --resume -o other", 2, &["--auto does not support checkpoints"]);
    place.fails("embed net --auto --stage-dims 4,4 -o other", 2, &["--stage-dims cannot be given with it"]);
    let plan = place.done("embed net --auto --plan");
    assert!(plan.out.contains("an upper limit: the stages are chosen"), "{}", plan.out);
}

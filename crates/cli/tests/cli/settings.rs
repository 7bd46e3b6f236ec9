//! Settings that cannot work, and advice that does.

use super::support::{Place, SMALL};

/// The first number after these words.
fn number_after(text: &str, words: &str) -> String {
    let rest = text.split(words).nth(1).unwrap_or_else(|| panic!("no {words:?} in\n{text}")).trim_start();
    rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap().trim_end_matches('.').to_owned()
}

#[test]
fn too_few_columns_and_the_fewest_that_work() {
    let place = Place::with_views();
    for preset in ["default", "paper", "authors"] {
        let line = format!("embed calls.tsv mails.tsv --preset {preset} --negative 0.1 --stages 4 -o result");
        let run =
            place.fails(&format!("{line} --dim 5"), 2, &["dim = 5 is too small for 4 stages of 2 views"]);
        let smallest: usize = number_after(&run.err, "the smallest dim that works is").parse().unwrap();
        place.fails(&format!("{line} --dim {}", smallest - 1), 2, &["too small"]);
        place.done(&format!("{line} --dim {smallest} --force"));
        std::fs::remove_dir_all(place.path("result")).unwrap();
    }
    place.fails("embed calls.tsv --dim 3 -o result", 2, &["dim = 3 is too small for 8 stages of 1 view:"]);
}

#[test]
fn numbers_out_of_range() {
    let place = Place::with_views();
    for (setting, words) in [
        ("--dim 0", "dim = 0: the embedding needs at least one column; the usual choice is --dim 256"),
        ("--stages 0", "stages = 0: at least one stage is needed; the usual choice is --stages 8"),
        ("--gamma 0", "gamma = 0 is not above 0; use 5"),
        ("--gamma -1", "gamma = -1 is not above 0; use 5"),
        ("--gamma nan", "invalid value 'nan' for '--gamma <X>': expected a number"),
        ("--window 0", "window = 0: at least one step of the walk must count; the usual choice is 5"),
        ("--negative 0", "negative = 0 is not above 0; the usual choices are 1 and 5"),
        ("--negative -2", "negative = -2 is not above 0"),
        ("--threads 0", "--threads 0 must be at least 1; leave it out to use all cores"),
        ("--max-iter 0", "max_iter = 0: a stage needs at least one iteration"),
        ("--tol -1", "tol = -1 is not a number from 0 on; the usual choice is 1e-4"),
        ("--epsilon -1", "epsilon = -1 is not a number from 0 on; it is 0 outside the published code"),
        ("--consensus-stages 9", "consensus_stages = 9 is more than the 8 stages there are"),
        ("--stage-dims 4,4 --dim 9", "stage_dims sum to 8, but dim = 9; make them agree"),
        ("--stage-dims 4,0", "stage 2 has 0 columns and needs at least 1"),
        ("--dim -5", "invalid value '-5' for '--dim <N>': expected a whole number"),
        ("--dim 2.5", "invalid value '2.5' for '--dim <N>': expected a whole number"),
        ("--seed -1", "invalid value '-1' for '--seed <N>'"),
    ] {
        place.fails(&format!("embed calls.tsv -o result {setting}"), 2, &[words]);
    }
    let words = ["window = 0: at least one step"];
    place.fails("proximity calls.tsv -o result --window 0", 2, &words);
    place.fails("proximity calls.tsv -o result --threads 0", 2, &["--threads 0 must be at least 1"]);
}

/// These once ended in a panic, in an allocation of terabytes, or in 100,000 threads.
#[test]
fn numbers_that_no_machine_can_serve() {
    let place = Place::with_views();
    for (setting, words) in [
        ("--dim 18446744073709551615", "dim = 18446744073709551615 is more than anybody needs; use at most"),
        ("--dim 99999999999", "dim = 99999999999 is more than anybody needs"),
        ("--stages 99999999999", "stages = 99999999999 is more than anybody needs; use at most 1024"),
        ("--threads 100000", "--threads 100000 exceeds the maximum of 4096; leave it out"),
    ] {
        place.fails(&format!("embed calls.tsv --negative 1 -o result {setting}"), 2, &[words]);
    }
    place.fails(
        "generate --views 100000000 -o result",
        2,
        &["views = 100000000 is out of range; use 1 to 1000"],
    );
}

#[test]
fn a_view_that_says_nothing_and_advice_that_helps() {
    let place = Place::with_views();
    let words = ["view \"calls\" says nothing with --window 5 --negative 5", "times as often as chance"];
    for command in ["embed calls.tsv --dim 16 --stages 2", "proximity calls.tsv"] {
        let run = place.fails(&format!("{command} --negative 5 -o result"), 1, &words);
        let negative = number_after(&run.err, "for example --negative");
        place.done(&format!("{command} --negative {negative} -o result"));
        std::fs::remove_dir_all(place.path("result")).unwrap();
    }
}

/// The advice was once a window of 1, with which this view is as empty.
#[test]
fn a_directed_view_whose_walks_all_end() {
    let place = Place::new();
    place.write("x.tsv", "a\tx\na\ty\nb\tz\nc\tz\n");
    let words = [
        "view \"x\" says nothing",
        "walks along its arcs come to an end too soon; read it without directions",
    ];
    for window in [5, 1] {
        place.fails(&format!("embed x.tsv --directed x --window {window} -o result {SMALL}"), 1, &words);
        place.embedded(&format!("x.tsv --window {window} {SMALL}"));
    }
}

#[test]
fn commands_that_make_no_sense() {
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
        ("embed --view a=calls.tsv mails.tsv -o result", "either by --view NAME=PATH or as paths, not both"),
        (
            "embed calls.tsv --directed mail -o result",
            "--directed mail: there is no such view; the views are calls",
        ),
        ("embed calls.tsv . -o result", ".: a folder is a whole network"),
        ("generate --nodes 5 -o result", "communities = 10 is out of range; use 1 to 5"),
        (
            "generate --degree 1,2 -o result",
            "degree has 2 values for 3 views; give one for all or one for each",
        ),
        ("generate --noise 2 -o result", "noise = 2 is not a share; use 0 to 1"),
        ("generate --nodes 20 --degree 20 -o result", "degree = 20 is too high for view1"),
    ] {
        place.fails(line, 2, &[words]);
    }
}

#[test]
fn ids_that_a_format_cannot_hold_are_refused_before_the_work() {
    let place = Place::new();
    place.write("x.tsv", "New York\tb\nb\tc\n");
    let words =
        ["the word2vec format cannot hold node \"New York\": it has white space in it; use --format csv"];
    place.fails(&format!("embed x.tsv -o result --format word2vec {SMALL}"), 2, &words);
    place.done(&format!("embed x.tsv -o result --format csv {SMALL}"));
}

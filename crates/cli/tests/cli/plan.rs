//! The expected memory and time of a run: `--plan` and `--max-memory`.

use super::support::{Place, SMALL};

/// Returns the word after these words.
fn word_after<'a>(text: &'a str, words: &str) -> &'a str {
    let rest = text.split(words).nth(1).unwrap_or_else(|| panic!("no {words:?} in\n{text}"));
    rest.split_whitespace().next().unwrap().trim_end_matches(',')
}

#[test]
fn a_plan_is_printed_and_nothing_is_written() {
    let place = Place::with_views();
    for output in ["", "-o result"] {
        let run = place
            .done(&format!("embed calls.tsv mails.tsv --plan {output} --share equal --dim 16 --stages 4"));
        for words in [
            "6 nodes, 2 views",
            "expected entries",
            "calls",
            "mails",
            "consensus        0-7",
            "all views together",
            "unique         14-15",
            "calls 1, mails 1, joint 1",
            "memory  peak ",
            "time    about ",
            "rough",
            "Nothing was written",
        ] {
            assert!(run.out.contains(words), "no {words:?} in\n{}", run.out);
        }
        assert_eq!(place.names("."), ["calls.tsv", "mails.tsv"]);
    }
    let run = place.done(&format!("embed calls.tsv --plan {SMALL}"));
    assert!(run.out.contains("by the residual of each view"), "{}", run.out);
}

/// The entries of such a small network are counted exactly.
#[test]
fn a_plan_has_the_entries_that_the_run_has() {
    let place = Place::with_views();
    place.done(&format!("embed calls.tsv mails.tsv -o result {SMALL}"));
    let run = place.json("result/run.json");
    let plan = place.done(&format!("embed calls.tsv mails.tsv --plan -q {SMALL}"));
    assert_eq!(plan.err, "");
    for view in run["network"]["views"].as_array().unwrap() {
        let name = view["name"].as_str().unwrap();
        let line = plan.out.lines().find(|line| line.starts_with(name)).unwrap();
        let entries = line.split_whitespace().nth(2).unwrap();
        assert_eq!(entries, view["entries"].to_string(), "{line}");
    }
}

#[test]
fn a_plan_shows_that_a_run_would_fail() {
    let run = Place::with_views().done(&format!("embed calls.tsv --plan --max-memory 1M {SMALL}"));
    assert!(run.out.contains("This run would fail: ") && run.out.contains("use --max-memory"), "{}", run.out);
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_in_run_json_is_near_what_was_used() {
    let place = Place::new();
    place.done("generate --nodes 2500 --views 2 --skew 1 -q -o net");
    let run = place.done("embed net --dim 32 --stages 4 --max-iter 3 --threads 2 -o result");
    assert!(run.err.contains("expecting about "), "{}", run.err);
    let run = place.json("result/run.json");
    let (memory, peak) = (&run["memory"], run["peak_memory_bytes"].as_u64().unwrap());
    let phases = ["read", "proximity", "factorize"].map(|phase| memory["phases"][phase].as_u64().unwrap());
    assert!(phases.is_sorted() && phases[0] > 0 && phases[2] <= peak, "{memory}");
    let ratio = memory["estimated_bytes"].as_u64().unwrap() as f64 / peak as f64;
    assert!(ratio > 0.7 && ratio < 1.4, "{memory}, peak {peak}");
}

#[test]
fn runs_beyond_the_limit_fail_with_advice_that_works() {
    let place = Place::new();
    place.done("generate --nodes 2500 --views 2 --communities 25 -q -o net");
    let line = "embed net --proximity exact --dim 32 --stages 4 --max-iter 3 --threads 2 -o result";
    let words = ["entries", "1 MB that --max-memory allows"];
    let run = place.fails(&format!("{line} --max-memory 1M"), 1, &words);
    let enough = word_after(&run.err, "use --max-memory ").to_owned();
    place.done(&format!("{line} --max-memory {enough}"));
    let expected = place.json("result/run.json")["memory"]["estimated_bytes"].as_u64().unwrap();
    std::fs::remove_dir_all(place.path("result")).unwrap();

    let limited = format!("{line} --max-memory {}B", expected * 3 / 4);
    let run = place.fails(&limited, 1, &["that --max-memory allows; use --proximity sampled, or --negative"]);
    for way in ["--negative", "--window"] {
        let value = word_after(&run.err, &format!("{way} ")).to_owned();
        place.done(&format!("{limited} {way} {value} --force"));
    }
    let mut tiny = place.command("embed net -o other --max-memory 1M -q");
    assert_eq!(tiny.output().unwrap().stdout, b"");
}

/// A limit that is too small for the least names what that needs, which works.
#[test]
fn too_little_memory_for_one_walk_names_what_it_needs() {
    let place = Place::new();
    place.done("generate --nodes 1500 --views 2 --degree 8 -q -o net");
    let line = "embed net --proximity sampled --dim 16 --max-iter 3 --threads 2 -o result";
    let run =
        place.fails(&format!("{line} --max-memory 1M"), 1, &["which is enough for one walk from each node"]);
    let least = word_after(&run.err, ", or --max-memory ").trim_end_matches(',').to_owned();
    place.done(&format!("{line} --max-memory {least}"));
    let walks = place.json("result/run.json")["network"]["views"][0]["sampled"]["walks"].as_u64().unwrap();
    place.done(&format!("{line} --force"));
    let usual = place.json("result/run.json")["network"]["views"][0]["sampled"]["walks"].as_u64().unwrap();
    assert!(walks >= 1 && walks < usual, "{walks} of {usual}");
}

#[test]
fn invalid_sizes() {
    let place = Place::with_views();
    for (size, words) in [
        ("much", "expected a number and a unit, such as 8G, 500M or 2GiB"),
        ("8", "the unit is missing; use 8G or 8M"),
        ("-1G", "expected a number and a unit"),
        ("0G", "the size must be at least 1 byte"),
    ] {
        place.fails(&format!("embed calls.tsv -o result --max-memory {size}"), 2, &[words]);
    }
}

#[test]
fn plans_and_limits_work_for_all_methods_with_proximity_matrices() {
    let place = Place::with_views();
    for method in ["netmf", "netmf-sum", "netmf-concat", "netmf-union", "boostne", "nmf-con", "multinmf"] {
        let line = format!("embed calls.tsv mails.tsv --method {method} --dim 4");
        let stages = if method == "boostne" { " --stages 2" } else { "" };
        let run = place.done(&format!("{line}{stages} --plan"));
        for words in ["6 nodes, 2 views", "expected entries", "mails", "memory  peak ", "Nothing was written"]
        {
            assert!(run.out.contains(words), "{method}: no {words:?} in\n{}", run.out);
        }
        assert!(run.out.contains("\ncalls ") && run.out.contains("\nall "), "{}", run.out);
        let one_at_a_time = run.out.contains(&format!("{method} processes one view at a time"));
        assert_eq!(one_at_a_time, ["netmf", "boostne", "nmf-con"].contains(&method), "{}", run.out);
        assert!(!run.out.contains("stage "), "{}", run.out);
        let run = place.fails(&format!("{line}{stages} --max-memory 1M -o x"), 1, &["--max-memory allows"]);
        let enough = word_after(&run.err, "use --max-memory ").to_owned();
        place.done(&format!("{line}{stages} --max-memory {enough} -o {method} -q"));
    }
}

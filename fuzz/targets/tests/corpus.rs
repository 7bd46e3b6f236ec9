//! Replays the corpus, which has every input that ever failed, and checks that the mutators keep enough inputs valid.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use manyview::parallel::Pool;
use manyview_fuzz::runner::{Plan, input, seeds};
use manyview_fuzz::{Outcome, TARGETS, Target};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn plan(threads: usize, executions: u64) -> Plan {
    Plan {
        targets: TARGETS.iter().collect(),
        seed: 7,
        from: 0,
        executions: Some(executions),
        time: Duration::from_secs(600),
        threads,
        corpus: corpus(),
        failures: Path::new(env!("CARGO_TARGET_TMPDIR")).join("failures"),
        memory: None,
    }
}

#[test]
fn every_input_of_the_corpus_is_handled() {
    let pool = Pool::new(Some(1)).unwrap();
    let mut bytes = 0;
    for entry in fs::read_dir(corpus()).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let target = Target::named(&name).unwrap_or_else(|| panic!("no target for the folder {name}"));
        for file in fs::read_dir(&folder).unwrap() {
            let input = fs::read(file.unwrap().path()).unwrap();
            bytes += input.len();
            pool.run(|| (target.run)(&input, &pool));
        }
    }
    assert!(bytes < 200_000, "the corpus has {bytes} bytes; minimize it");
}

/// Names of inputs say what they are: those that were found by fuzzing begin with `found_`, and all others are valid.
#[test]
fn seeds_are_valid() {
    let pool = Pool::new(Some(1)).unwrap();
    for target in TARGETS {
        for made in (target.made)() {
            assert_eq!(pool.run(|| (target.run)(&made, &pool)), Outcome::Parsed, "{}", target.name);
        }
        let folder = corpus().join(target.name);
        for file in fs::read_dir(&folder).into_iter().flatten() {
            let path = file.unwrap().path();
            if !path.file_name().unwrap().to_str().unwrap().starts_with("found_") {
                let input = fs::read(&path).unwrap();
                assert_eq!(pool.run(|| (target.run)(&input, &pool)), Outcome::Parsed, "{}", path.display());
            }
        }
    }
}

#[test]
fn a_third_of_the_inputs_is_valid() {
    for tally in plan(2, 2000).run().unwrap() {
        assert!(tally.failure.is_none(), "{tally:?}");
        assert_eq!(tally.executions, 2000, "{}", tally.name);
        assert!(3 * tally.parsed >= tally.executions, "{}: only {} of 2000 parse", tally.name, tally.parsed);
    }
}

#[test]
fn inputs_follow_from_the_seed() {
    for target in TARGETS {
        let seeds = seeds(target, &corpus()).unwrap();
        let inputs = |seed: u64| (0..50).map(|at| input(target, &seeds, seed, at)).collect::<Vec<_>>();
        assert_eq!(inputs(1), inputs(1), "{}", target.name);
        assert_ne!(inputs(1), inputs(2), "{}", target.name);
    }
    let parsed =
        |threads| plan(threads, 300).run().unwrap().iter().map(|tally| tally.parsed).collect::<Vec<_>>();
    assert_eq!(parsed(1), parsed(3), "the number of threads does not matter");
}

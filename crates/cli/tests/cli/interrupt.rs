//! Ctrl-C at any time: a message, exit code 130, and no unfinished files.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::support::Place;

/// How many times longer than promised a loaded machine may take.
const LOAD: u32 = 25;
/// The timeout for reaching the point of the interruption.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// Distinguishes a process that ends from one that hangs, from what the program promises: `PATIENCE`. A run that ignored
/// Ctrl-C would end later, or with another exit code.
fn ends_within() -> Duration {
    let source = include_str!("../../src/interrupt.rs");
    let promise = source.split("const PATIENCE: Duration = Duration::from_millis(").nth(1).unwrap();
    let millis = promise.split(')').next().unwrap().parse().unwrap();
    LOAD * Duration::from_millis(millis)
}

struct Running {
    child: Child,
    lines: BufReader<std::process::ChildStderr>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // A failed test must not leave a running process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(place: &Place, line: &str) -> Running {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("manyview"));
    command.current_dir(place.path(".")).args(line.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap());
    Running { child, lines }
}

impl Running {
    /// Reads its output up to a line that starts with these words.
    fn wait_for(&mut self, words: &str) {
        let mut line = String::new();
        while !line.starts_with(words) {
            line.clear();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended before {words:?}");
        }
    }

    /// Sends SIGINT; nothing must be left behind.
    fn interrupt(self) {
        let rest = self.interrupted();
        assert!(rest.ends_with("interrupted: nothing was written\n"), "{rest:?}");
    }

    /// Sends SIGINT, and returns the output from then on.
    fn interrupted(mut self) -> String {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let code = self.ended_within(ends_within()).expect("the process still runs after Ctrl-C").code();
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        assert_eq!(code, Some(130), "{rest}");
        rest
    }

    fn ended_within(&mut self, time: Duration) -> Option<std::process::ExitStatus> {
        let mut ended = None;
        wait_until(time, || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        ended
    }
}

fn wait_until(time: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + time;
    while !done() {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn during_proximity() {
    let place = Place::new();
    place.done("generate --nodes 20000 --views 1 --degree 20 -q -o net");
    for command in ["embed", "proximity"] {
        let mut running = start(&place, &format!("{command} net --window 50 -o deep/result"));
        running.wait_for("computing proximities");
        running.interrupt();
        assert_eq!(place.names("."), ["net"], "{command}");
    }
}

#[test]
fn during_stages() {
    let place = Place::new();
    place.done("generate --nodes 2000 --views 2 -q -o net");
    place.done("embed net --negative 1 --dim 16 --stages 2 -q -o earlier");
    let earlier = place.read("earlier/embedding.npy");
    let endless = "--negative 1 --dim 64 --stages 8 --max-iter 100000000 --unique-max-iter 5 --tol 0";
    for output in ["deep/result", "earlier --force"] {
        let mut running =
            start(&place, &format!("embed net {endless} --verbose --no-checkpoint -o {output}"));
        // Printed when a later unique stage has begun; the consensus stages never end.
        running.wait_for("stage 1 (unique)");
        running.interrupt();
    }
    assert_eq!(place.names("."), ["earlier", "net"]);
    assert_eq!(place.names("earlier"), ["embedding.npy", "nodes.txt", "run.json"]);
    assert!(place.read("earlier/embedding.npy") == earlier);
}

#[test]
fn during_an_evaluation() {
    let place = Place::new();
    place.done("generate --nodes 2000 --views 1 --communities 40 -q -o net");
    place.done("embed net --dim 128 --stages 4 --max-iter 5 -q -o result");
    for task in ["classify --c auto --repeats 1000", "cluster --restarts 1000 --repeats 1000"] {
        let line = format!("evaluate {task} result --labels net/labels.tsv");
        let mut running = start(&place, &line);
        running.wait_for("2,000 nodes x 128 columns");
        running.interrupt();
    }
    let mut running = start(&place, "evaluate links net --repeats 1000");
    running.wait_for("embedding without hidden edges");
    running.interrupt();
    assert_eq!(place.names("."), ["net", "result"]);
}

#[test]
fn finished_stages_are_kept_and_taken_up() {
    let place = Place::new();
    place.done("generate --nodes 1500 --views 2 -q -o net");
    let settings = "net --dim 64 --stages 8 --max-iter 300 --tol 0";
    place.done(&format!("embed {settings} -q -o whole"));
    let mut running = start(&place, &format!("embed {settings} --verbose -o result"));
    running.wait_for("stage 1 (unique)");
    let rest = running.interrupted();
    assert!(
        rest.contains("saved in result/checkpoint; to continue, run the same command with --resume"),
        "{rest}"
    );
    assert_eq!(place.names("result"), ["checkpoint"]);
    let words = ["result/checkpoint contains", "use --resume to continue it, or --force to start over"];
    place.fails(&format!("embed {settings} -o result"), 2, &words);
    let words = ["is from another run: --seed was 0 and is now 3"];
    place.fails(&format!("embed {settings} --seed 3 --resume -o result"), 2, &words);
    let run = place.done(&format!("embed {settings} --resume --keep-checkpoint -o result"));
    assert!(run.err.contains("loaded ") && run.err.contains(" from result/checkpoint"), "{}", run.err);
    assert!(place.read("result/embedding.npy") == place.read("whole/embedding.npy"));
    assert_eq!(place.names("result"), ["checkpoint", "embedding.npy", "nodes.txt", "run.json"]);
    assert_eq!(place.names("result/checkpoint").len(), 8);
}

/// The results named in the message exist; before the first result, there is nothing.
#[test]
fn during_a_comparison() {
    let place = Place::new();
    place.done("generate --nodes 1000 --views 1 --communities 3 -q -o net");
    let line = "compare net --labels net/labels.tsv -o deep/c --preset paper --dim 16 --repeats 1 --c 1 --no-pictures";
    let mut running = start(&place, &format!("{line} --methods mve"));
    running.wait_for("mve, no labels (1 of 2)");
    running.interrupt();
    assert_eq!(place.names("."), ["net"]);
    let mut running = start(&place, &format!("{line} --methods netmf,mve"));
    running.wait_for("mve, no labels (2 of 3)");
    let rest = running.interrupted();
    assert!(
        rest.contains("finished results are saved in deep/c; to continue, run the same command"),
        "{rest}"
    );
    assert_eq!(place.names("deep/c"), ["netmf-view1"]);
}

/// Finished candidates are kept, and the same command continues with them.
#[test]
fn during_a_search() {
    let place = Place::new();
    place.done("generate --nodes 2000 --views 3 --communities 8 -q -o net");
    let line = "tune net --labels net/labels.tsv -o t --over stages,consensus-stages --validation-rounds 3 --repeats 1";
    let mut running = start(&place, line);
    running.wait_for("baseline 1 of 1");
    let rest = running.interrupted();
    assert!(rest.contains("finished candidates are kept in t; to continue, run the same command"), "{rest}");
    assert_eq!(place.names("t"), ["candidates"]);
    let mut again = start(&place, line);
    again.wait_for("baseline 1 of 1: settings as given: ");
    again.interrupted();
}

/// Killed without cleaning up, at twenty times spread over the run; each run is resumed and has the same result.
#[test]
fn killed_at_any_moment_nothing_finished_is_lost() {
    let place = Place::new();
    place.done("generate --nodes 600 --views 2 -q -o net");
    let settings = "net --dim 48 --stages 6 --max-iter 80 --tol 0";
    let began = Instant::now();
    place.done(&format!("embed {settings} -q -o whole"));
    let time = began.elapsed();
    let mut taken_up = 0;
    for moment in 0..20 {
        // A golden-ratio sequence: evenly spread, in no particular order.
        let share = (f64::from(moment) * 0.618_033_988_75).fract();
        let mut running = start(&place, &format!("embed {settings} --verbose -o result"));
        running.ended_within(time.mul_f64(share));
        let _ = running.child.kill();
        running.child.wait().unwrap();
        drop(running);
        // Its file comes last.
        if place.path("result/run.json").exists() {
            // It ended before it was killed.
            assert!(place.read("result/embedding.npy") == place.read("whole/embedding.npy"));
        } else {
            let run = place.done(&format!("embed {settings} --resume -o result"));
            taken_up += usize::from(run.err.contains("loaded "));
            assert!(
                place.read("result/embedding.npy") == place.read("whole/embedding.npy"),
                "moment {moment}"
            );
            assert!(place.read("result/nodes.txt") == place.read("whole/nodes.txt"));
            assert!(!place.path("result/checkpoint").exists());
        }
        std::fs::remove_dir_all(place.path("result")).unwrap();
    }
    assert!(taken_up >= 3, "only {taken_up} of 20 had a finished stage");
}

/// Killed between two renames: `embedding.npy` without `run.json`. `--resume` asked for `--force`.
#[test]
fn killed_while_the_files_are_renamed_the_result_is_completed() {
    let place = Place::new();
    place.done("generate --nodes 200 --views 2 -q -o net");
    let line = "embed net --dim 24 --stages 3 --format tsv -o result";
    let names = ["checkpoint", "embedding.npy", "embedding.tsv", "nodes.txt", "run.json"];
    place.done(&format!("{line} --keep-checkpoint -q"));
    assert_eq!(place.names("result"), names);
    let files = &names[1..4];
    let whole: Vec<Vec<u8>> = files.iter().map(|name| place.read(&format!("result/{name}"))).collect();
    let same =
        || files.iter().zip(&whole).all(|(name, whole)| place.read(&format!("result/{name}")) == *whole);
    let remove = |name: &str| std::fs::remove_file(place.path(&format!("result/{name}"))).unwrap();

    // A whole result is not replaced.
    place.fails(&format!("{line} --resume"), 2, &["already exists; pass --force to overwrite it"]);
    // The more is missing, the earlier it was killed.
    for missing in [&names[4..], &names[2..], &names[1..]] {
        for name in missing {
            remove(name);
        }
        // Without --resume it asks what to do.
        let words = if missing.len() == 4 { "use --resume to continue it" } else { "already exists" };
        place.fails(line, 2, &[words]);
        let run = place.done(&format!("{line} --resume --keep-checkpoint"));
        assert!(run.err.contains("loaded 3 finished stages from result/checkpoint"), "{}", run.err);
        assert_eq!(place.names("result"), names);
        assert!(same());
    }

    // A file that is not of this run is not ours to replace.
    remove("run.json");
    std::fs::write(place.path("result/nodes.txt"), "precious\n").unwrap();
    let words = ["result/nodes.txt already exists and is not of the run that is resumed; pass --force"];
    place.fails(&format!("{line} --resume"), 2, &words);
    assert_eq!(place.read("result/nodes.txt"), b"precious\n");
    assert_eq!(place.names("result"), &names[..4]);
    place.done(&format!("{line} --force"));
    assert_eq!(place.names("result"), &names[1..], "the checkpoint goes when run.json is there");
    assert!(same());

    // Without a checkpoint nothing tells whose the file is.
    remove("run.json");
    place.fails(&format!("{line} --resume"), 2, &["embedding.npy already exists; pass --force"]);
}

/// The work cannot be interrupted while it waits for standard input; the process ends nevertheless, without unfinished
/// files.
#[test]
fn while_waiting_for_standard_input() {
    let place = Place::new();
    let running = start(&place, "embed --view x=- -o deep/result");
    assert!(wait_until(STARTS_WITHIN, || place.path("deep/result").exists()));
    running.interrupt();
    assert!(place.names(".").is_empty());
}

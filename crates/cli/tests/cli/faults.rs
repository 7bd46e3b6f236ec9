//! Defects that a fault campaign found; `tests/faults/campaign.py` is the campaign.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::support::{Place, SMALL};

/// A run that holds its folder until it is killed: it waits for standard input.
struct Waiting(Child);

impl Waiting {
    fn start(place: &Place, line: &str, lock: &str) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("manyview"));
        command.current_dir(place.path(".")).args(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let waiting = Waiting(command.spawn().unwrap());
        let deadline = Instant::now() + Duration::from_secs(60);
        while !place.path(lock).exists() {
            assert!(Instant::now() < deadline, "{line}: no lock");
            thread::sleep(Duration::from_millis(5));
        }
        waiting
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Defect 6: both succeeded, and one result was lost.
#[test]
fn two_runs_into_one_folder() {
    let place = Place::with_views();
    let line = format!("embed calls.tsv {SMALL} -q -o deep/result");
    let lock = "deep/result/.manyview.lock";
    let first = Waiting::start(&place, "embed --view x=- -o deep/result", lock);
    for second in [line.clone(), format!("{line} --force"), "generate -o deep/result".to_owned()] {
        let words =
            ["deep/result: another run of manyview is writing to this folder", "choose another folder"];
        place.fails(&second, 1, &words);
    }
    // Other folders are free, also those inside it.
    place.done(&format!("embed calls.tsv {SMALL} -q -o deep/result/other"));
    drop(first);
    // Killed, it leaves its file behind, but no lock.
    assert!(place.path(lock).exists());
    place.done(&line);
    assert_eq!(place.names("deep/result"), ["embedding.npy", "nodes.txt", "other", "run.json"]);
}

/// Defect 6, for the report files of comparisons.
#[test]
fn a_comparison_into_the_folder_of_another_run() {
    let place = Place::with_views();
    place.write("labels.tsv", "ann\tx\nbob\tx\ncat\tx\ndan\ty\neve\ty\nfay\ty\n");
    let line =
        "compare calls.tsv mails.tsv --labels labels.tsv --methods netmf --dim 4 --repeats 1 --c 1 -o c";
    let first = Waiting::start(&place, "proximity --view x=- -o c", "c/.manyview.lock");
    place.fails(line, 1, &["c: another run of manyview is writing to this folder"]);
    drop(first);
}

/// Defect 4: files were deleted through a symbolic link.
#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_checkpoints() {
    let place = Place::with_views();
    place.write("elsewhere/0001.stage", "precious");
    place.write("elsewhere/draft.tmp", "precious");
    fs::create_dir(place.path("result")).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("result/checkpoint")).unwrap();
    let line = format!("embed calls.tsv {SMALL} -q -o result");
    for how in ["", " --force", " --resume"] {
        let words = ["result/checkpoint is a symbolic link", "remove it, or use --no-checkpoint"];
        place.fails(&format!("{line}{how}"), 2, &words);
    }
    place.done(&format!("{line} --no-checkpoint --force"));
    assert_eq!(place.names("elsewhere"), ["0001.stage", "draft.tmp"]);
}

/// Defect 7: the result was complete, but its checkpoints stayed.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_printed() {
    let place = Place::with_views();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("manyview"));
    command
        .current_dir(place.path("."))
        .args(format!("embed calls.tsv -o result {SMALL}").split_whitespace());
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    let words = "error: cannot write to standard output: no space left on the disk; free some space or choose another \
                 location; the result in result is complete";
    assert!(err.contains(words), "{err}");
    assert_eq!(place.names("result"), ["embedding.npy", "nodes.txt", "run.json"]);
    place.done("explain result ann");
}

/// Found by the campaign: the first line to a full standard error ended the process with a panic.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_cannot_be_written() {
    let place = Place::with_views();
    for (line, code) in
        [(format!("embed calls.tsv -o result {SMALL}"), 0), ("embed nowhere -o x".to_owned(), 1)]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("manyview"));
        command.current_dir(place.path(".")).args(line.split_whitespace());
        let status = command.stdout(Stdio::null()).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(code), "{line}");
    }
    assert_eq!(place.names("result"), ["embedding.npy", "nodes.txt", "run.json"]);
}

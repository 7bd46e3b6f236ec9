//! The examples run and print what they promise. `cargo test` has compiled them next to this test.

use std::path::PathBuf;
use std::process::Command;

fn run(name: &str, arguments: &[&str]) -> String {
    let test = std::env::current_exe().unwrap();
    let folder: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    let output = Command::new(folder.join(name)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn embed() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    let printed = run("embed", &[result.to_str().unwrap()]);
    assert!(printed.starts_with("2000 nodes x 64 columns"), "{printed}");
    assert!(printed.contains("stage 4, all views: columns 0..32"), "{printed}");
    assert!(result.join("embedding.npy").is_file());
}

#[test]
fn from_edges() {
    let printed = run("from_edges", &[]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    for line in lines {
        let (_, nearest) = line.split_once("nearest to ann: ").unwrap();
        assert!(nearest.contains("bob") && nearest.contains("cat"), "{printed}");
    }
}

#[test]
fn evaluate() {
    let printed = run("evaluate", &[]);
    let score: f64 = printed.strip_prefix("micro-F1 ").unwrap()[..5].parse().unwrap();
    assert!(score > 0.8, "{printed}");
}

#[test]
fn progress() {
    let printed = run("progress", &[]);
    assert!(printed.starts_with("stage 1 (unique): "), "{printed}");
    assert!(printed.ends_with("ended by the observer\n"), "{printed}");
}

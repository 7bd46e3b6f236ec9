//! A temporary folder to run the program in.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// Settings for networks of a dozen nodes.
pub(crate) const SMALL: &str = "--negative 1 --dim 16 --stages 2";

/// Two triangles joined by an edge, and other edges between the same nodes.
pub(crate) const CALLS: &str = "ann\tbob\nbob\tcat\ncat\tann\ndan\teve\neve\tfay\nfay\tdan\nann\tdan\n";
pub(crate) const MAILS: &str = "ann\teve\neve\tcat\ncat\tfay\nbob\tdan\n";

/// A folder that is removed after the test.
pub(crate) struct Place {
    folder: TempDir,
}

/// The exit code and output of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    /// Writes the two views above, as `calls.tsv` and `mails.tsv`.
    pub(crate) fn with_views() -> Self {
        let place = Place::new();
        place.write("calls.tsv", CALLS);
        place.write("mails.tsv", MAILS);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// The names in a folder, sorted, including hidden ones.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::cargo_bin("manyview").unwrap();
        command.current_dir(self.folder.path()).args(line.split_whitespace());
        command
    }

    /// Runs `manyview` with the words of a line.
    pub(crate) fn run(&self, line: &str) -> Run {
        run(&mut self.command(line))
    }

    /// Runs `manyview` with text on standard input.
    pub(crate) fn feed(&self, line: &str, input: &str) -> Run {
        run(self.command(line).write_stdin(input))
    }

    /// Runs a command that must succeed.
    pub(crate) fn done(&self, line: &str) -> Run {
        let run = self.run(line);
        assert_eq!(run.code, 0, "manyview {line}\n{}", run.err);
        run
    }

    /// Runs a command that must fail with this code and these words, and leave no files behind.
    pub(crate) fn fails(&self, line: &str, code: i32, words: &[&str]) -> Run {
        let before = self.everything();
        let run = self.run(line);
        run.failed(line, code, words);
        assert_eq!(self.everything(), before, "manyview {line}");
        run
    }

    /// Embeds a network; returns the bytes of the vectors and the ids.
    pub(crate) fn embedded(&self, line: &str) -> (Vec<u8>, String) {
        let result = TempDir::new_in(self.folder.path()).unwrap();
        let folder = result.path().file_name().unwrap().to_str().unwrap();
        self.done(&format!("embed {line} -q -o {folder}"));
        (self.read(&format!("{folder}/embedding.npy")), self.text(&format!("{folder}/nodes.txt")))
    }

    fn everything(&self) -> Vec<PathBuf> {
        let (mut found, mut next) = (Vec::new(), vec![self.folder.path().to_owned()]);
        while let Some(folder) = next.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    next.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }
}

impl Run {
    /// Checks that it failed with a message, not with a panic or the bare message of the system.
    #[track_caller]
    pub(crate) fn failed(&self, line: &str, code: i32, words: &[&str]) {
        let Run { code: found, err, .. } = self;
        assert_eq!(*found, code, "manyview {line}\n{err}");
        assert!(err.contains("error: "), "manyview {line}\n{err}");
        for word in words {
            assert!(err.contains(word), "manyview {line}\nno {word:?} in\n{err}");
        }
        for foreign in ["panicked", "os error", "Err("] {
            assert!(!err.contains(foreign), "manyview {line}\n{err}");
        }
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn run(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code().expect("no signal ended it"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The header of an array in NumPy's format, and the bytes of its numbers.
pub(crate) fn npy(bytes: &[u8]) -> (&str, &[u8]) {
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"), "version 1 of the format");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, numbers) = bytes[10..].split_at(length);
    (std::str::from_utf8(header).unwrap(), numbers)
}

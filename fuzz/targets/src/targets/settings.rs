//! Settings files: TOML, and the `run.json` of an earlier run. The first byte of an input chooses.

use std::path::Path;

use manyview::io::{Files, Memory};
use manyview::parallel::Pool;
use manyview::{Model, read_settings_from};
use serde_json::Map;

use super::none_made;
use crate::mutate::{Words, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "settings", made: none_made, mutate, run };

const WORDS: Words = Words {
    words: &[
        "method", "preset", "dim", "stages", "max_iter", "tol", "seed", "threads", "gamma", "scale",
        "solver", "window", "negative", "mnmf", "netmf", "paper", "authors", "default", "hals", "mu", "raw",
        "balanced", "true", "false", "null", "deepwalk", "pte", "shared", "pooled", "settings", "config",
        "\u{1b}",
    ],
    lines: &[
        "method = \"netmf\"",
        "preset = \"paper\"",
        "dim = 16",
        "max_iter = 5",
        "seed = 7",
        "gamma = 2.5",
        "threads = 2",
        "[settings]",
        "x = { y = [1, 2] }",
        "# comment",
        "solver = \"mu\"",
        "dim = nan",
        "seed = 1979-05-27",
        "\"method\": \"mnmf\",",
        "tol = 1e-7",
        "a.b.c = 1",
        "\"dim\": 8,",
    ],
    rough: 12,
};

fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    if input.is_empty() || random.one_in(32) {
        input.clone_from(&others[random.below(others.len())]);
    }
    if input.is_empty() {
        input.push(b't');
    }
    let mut text = input.split_off(1);
    // A line of another file is of the same language only by chance.
    change_text(&mut text, &[], &WORDS, random);
    input.append(&mut text);
}

fn run(input: &[u8], _: &Pool) -> Outcome {
    let path = Path::new(if input.first() == Some(&b'j') { "run.json" } else { "settings.toml" });
    let files = Memory::new([(path, &input[input.len().min(1)..])]);
    let read = |files: &dyn Files| read_settings_from(files, path);
    let file = match check::read_twice(input, &files, read, |file| format!("{file:?}")) {
        Ok(file) => file,
        Err(error) => return check::refusal(&error),
    };
    // The file was read; whether its settings make a model is another question, and takes longer.
    if check::every(4, input) {
        match file.model(None, None, &Map::new()) {
            Err(error) => _ = check::refusal(&error),
            Ok(model) => usable(&model),
        }
    }
    Outcome::Parsed
}

/// Settings that were accepted come back, and are checked with a sentence.
fn usable(model: &Model) {
    if let Err(error) = model.check() {
        _ = check::refusal(&error);
    }
    let written = model.to_json();
    let again = Model::with_settings(model.method(), manyview::Preset::default(), &written);
    let again = again.unwrap_or_else(|error| panic!("settings that are written are refused: {error}"));
    assert_eq!(again.to_json(), written);
}

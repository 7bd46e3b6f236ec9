//! Result folders: `run.json`, `nodes.txt` and `embedding.npy`, which must belong together.

use std::path::Path;

use manyview::io::{Files, Memory};
use manyview::parallel::Pool;
use manyview::result::SavedResult;

use super::npy::array;
use crate::container::{join, split};
use crate::mutate::{Words, change_bytes, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "result", made, mutate, run };

const WORDS: Words = Words {
    words: &[
        "version",
        "command",
        "method",
        "config",
        "settings",
        "network",
        "nodes",
        "views",
        "name",
        "edges",
        "columns",
        "view",
        "stage",
        "kind",
        "consensus",
        "unique",
        "shared",
        "pooled",
        "true",
        "false",
        "null",
        "seconds",
        "threads",
        "calls",
        "mails",
        "\u{1b}",
        "__proto__",
        "dim",
    ],
    lines: &["", "{", "}", "\"threads\": 1,", "[]"],
    rough: 12,
};

fn made() -> Vec<Vec<u8>> {
    let mut random = Random::new(0);
    (0..8).map(|_| made_up(&mut random)).collect()
}

/// Three files that belong together, of 1 to 4 nodes and up to 5 columns.
fn made_up(random: &mut Random) -> Vec<u8> {
    let (nodes, dim) = (1 + random.below(4), random.below(6));
    let middle = random.below(dim + 1);
    let parts = if random.one_in(2) {
        format!(
            r#""parts": [{{"view": null, "columns": [0, {middle}]}}, {{"view": "calls", "columns": [{middle}, {dim}]}}]"#
        )
    } else {
        let stage = |number: usize, kind: &str, consensus: &str, view: &str, from: usize, to: usize| {
            format!(
                r#"{{"stage": {number}, "kind": "{kind}", "consensus": {consensus}, "view": {view}, "columns": [{from}, {to}], "iterations": 5, "converged": true, "seconds": 0.1, "weights": {{"calls": 1.0}}, "residual": {{"calls": 0.5}}, "entries": {{"calls": 9}}}}"#
            )
        };
        format!(
            "\"stages\": [{}, {}]",
            stage(1, "consensus", "\"shared\"", "null", 0, middle),
            stage(2, "unique", "null", "\"calls\"", middle, dim)
        )
    };
    let run = format!(
        r#"{{"version": "0.1.0", "command": "manyview embed x", "method": "mnmf",
"config": {{"dim": {dim}, "scale": "raw", "threads": null}},
"network": {{"nodes": {nodes}, "fingerprint": "00ff", "views": [{{"name": "calls", "edges": 3, "isolated": 0, "entries": 4, "squared_norm": 2.5}}], "overlap": []}},
{parts}, "warnings": ["a warning"],
"seconds": {{"read": 0, "fit": 2, "write": 0.5, "total": 3}}, "threads": 1, "ranks": 1, "peak_memory_bytes": 1000}}"#
    );
    let ids: String = (0..nodes).map(|node| format!("id {node}\n")).collect();
    let files = [
        ("run.json", run.into_bytes()),
        ("nodes.txt", ids.into_bytes()),
        ("embedding.npy", array(nodes, dim)),
    ];
    join(&files)
}

fn mutate(input: &mut Vec<u8>, _: &[Vec<u8>], random: &mut Random) {
    let mut files = split(input);
    if files.is_empty() || random.one_in(4) {
        *input = made_up(random);
        return;
    }
    let at = random.below(files.len());
    if random.one_in(30) {
        files.remove(at);
    } else {
        let (name, content) = &mut files[at];
        change_file(name, content, random);
    }
    *input = join(&files);
}

/// Changes one of the three files.
pub(super) fn change_file(name: &str, content: &mut Vec<u8>, random: &mut Random) {
    match name {
        "embedding.npy" if random.one_in(4) => change_bytes(content, random),
        "embedding.npy" => change_numbers(content, random),
        "nodes.txt" if !random.one_in(4) => {
            // A different id, and still as many.
            let byte = b"abcdef\"#,\t;= "[random.below(13)];
            content.insert(random.below(content.len().max(1)).min(content.len()), byte);
        }
        _ => change_text(content, &[], &WORDS, random),
    }
}

/// Changes the numbers of an array, which are at the end.
pub(super) fn change_numbers(content: &mut [u8], random: &mut Random) {
    let numbers = content.len().saturating_sub(128);
    if numbers > 0 {
        let at = content.len() - 1 - random.below(numbers);
        content[at] = random.byte();
    }
}

fn described(result: &SavedResult) -> String {
    let bits: Vec<u32> = result.embedding.values().iter().map(|value| value.to_bits()).collect();
    format!("{:?} {:?} {bits:?} {:?}", result.embedding.nodes(), result.embedding.parts(), result.run)
}

fn run(input: &[u8], _: &Pool) -> Outcome {
    let folder = Path::new("result");
    let files = Memory::new(split(input).into_iter().map(|(name, content)| (folder.join(name), content)));
    let read = |files: &dyn Files| SavedResult::open_from(files, folder);
    let result = match check::read_twice(input, &files, read, described) {
        Ok(result) => result,
        Err(error) => return check::refusal(&error),
    };
    let SavedResult { embedding, run } = &result;
    check::nodes(embedding.nodes());
    assert_eq!(embedding.values().len(), embedding.rows() * embedding.dim());
    assert_eq!((embedding.nodes().len(), run.network.nodes), (embedding.rows(), embedding.rows()));
    assert!(embedding.values().iter().all(|value| value.is_finite()), "every number is finite");
    for part in embedding.parts() {
        assert!(part.columns.start <= part.columns.end && part.columns.end <= embedding.dim());
        let known = |name: &String| run.network.views.iter().any(|view| view.name == *name);
        assert!(part.view.as_ref().is_none_or(known), "a part of an unknown view");
    }
    if let Some(note) = run.scale_note() {
        check::plain(&note.to_string());
    }
    Outcome::Parsed
}

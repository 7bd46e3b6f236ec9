//! Node files, as users write them.

use std::path::Path;

use manyview::io::{Files, Memory, read_node_file_from};
use manyview::parallel::Pool;

use super::none_made;
use crate::mutate::{Words, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "nodes", made: none_made, mutate, run };

const WORDS: Words = Words {
    words: &[
        "a",
        "b",
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
        "c6",
        "id",
        "node",
        "name",
        "\u{e9}",
        "x y",
        "#1",
        "longer-than-8",
        "longer-than-9",
        "a\tb",
        "\"q\"",
    ],
    lines: &["fresh", "id\tname", "x\ty", "", "  ", "1", "another id"],
    rough: 4,
};

fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    if random.one_in(2) {
        // An id that no other line has.
        let line = format!("n{:x}\n", random.below(1 << 20));
        let at = input.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        input.splice(at..at, line.bytes());
    } else {
        change_text(input, others, &WORDS, random);
    }
}

fn run(input: &[u8], _: &Pool) -> Outcome {
    let path = Path::new("nodes.txt");
    let files = Memory::new([(path, input)]);
    let read = |files: &dyn Files| read_node_file_from(files, path);
    let nodes = match check::read_twice(input, &files, read, |nodes| format!("{nodes:?}")) {
        Ok(nodes) => nodes,
        Err(error) => return check::refusal(&error),
    };
    check::nodes(&nodes);
    // A byte order mark at the beginning of a file is no part of an id, so an id that begins with one cannot come first.
    if check::every(8, input) && !nodes.id(0).starts_with('\u{feff}') {
        let text: String = nodes.iter().map(|id| format!("{id}\n")).collect();
        let again = read_node_file_from(&Memory::new([(path, text.into_bytes())]), path);
        assert!(again.expect("what was written can be read").iter().eq(nodes.iter()));
    }
    Outcome::Parsed
}

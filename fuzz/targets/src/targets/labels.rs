//! Label files. The first byte of an input chooses the name of the file.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use manyview::io::{Memory, read_labels_from};
use manyview::labels::Labels;
use manyview::parallel::Pool;

use super::none_made;
use crate::mutate::{Words, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "labels", made: none_made, mutate, run };

/// The nodes of the network; ids that contain quotes and blanks are read in several ways.
const IDS: [&str; 6] = ["a", "b", " c ", "\"d\"", "ann", "e f"];

const WORDS: Words = Words {
    words: &[
        "a",
        "b",
        "c",
        " c ",
        "\"d\"",
        "ann",
        "x",
        "y",
        "node",
        "label",
        "class",
        "\"x, y\"",
        "\"a\tb\"",
        "\"x\"\"y\"",
        "\"",
        "\u{e9}",
        "\u{1b}[31m",
        "#",
        "%",
    ],
    lines: &[
        "a\tx",
        "b,y",
        "a x y",
        "node\tlabel",
        "# comment",
        "\"d\"\tx",
        " c \tz",
        "a\t\"x\ty\"",
        "e f\t",
    ],
    rough: 6,
};

fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    if input.is_empty() || random.one_in(16) {
        input.truncate(0);
        input.extend_from_slice(&others[random.below(others.len())]);
        if let Some(first) = input.first_mut() {
            *first = b'a' + random.below(4) as u8;
        }
        return;
    }
    let mut text = input.split_off(1);
    change_text(&mut text, others, &WORDS, random);
    input.append(&mut text);
}

fn run(input: &[u8], _: &Pool) -> Outcome {
    let names = ["labels.tsv", "labels.csv", "labels.txt", "labels"];
    let name = input.first().map_or(0, |byte| usize::from(byte.wrapping_sub(b'a')) % names.len());
    let path = Path::new(names[name]);
    let files = Memory::new([(path, &input[input.len().min(1)..])]);
    let is_node = |id: &str| IDS.contains(&id);
    let read = |files: &dyn manyview::io::Files| read_labels_from(files, path, is_node);
    let pairs = match check::read_twice(input, &files, read, |pairs| format!("{pairs:?}")) {
        Ok(pairs) => pairs,
        Err(error) => return check::refusal(&error),
    };
    assert!(!pairs.is_empty());
    assert!(pairs.iter().all(|(node, label)| !node.is_empty() && !label.is_empty()), "{pairs:?}");
    let known: BTreeSet<_> = pairs.iter().filter(|(node, _)| is_node(node)).collect();
    match Labels::from_pairs(IDS, pairs.iter().map(|(node, label)| (node, label))) {
        Err(error) => {
            assert!(known.is_empty(), "labels of nodes are lost: {error}");
            _ = check::refusal(&error);
        }
        Ok(labels) => {
            let mut found = BTreeSet::new();
            for (row, id) in IDS.iter().enumerate() {
                let of_row = labels.of(row);
                assert!(of_row.windows(2).all(|pair| pair[0] < pair[1]), "labels are ascending");
                found.extend(of_row.iter().map(|&label| (*id, labels.names()[label as usize].as_str())));
            }
            let known: BTreeSet<(&str, &str)> =
                known.iter().map(|(node, label)| (node.as_str(), label.as_str())).collect();
            assert_eq!(found, known, "every label of a node is kept");
        }
    }
    if check::every(8, input) {
        comes_back(&pairs);
    }
    Outcome::Parsed
}

/// Writes the pairs as quoted CSV and reads them again.
fn comes_back(pairs: &[(String, String)]) {
    let mut text = String::from("node,label\n");
    for (node, label) in pairs {
        let quoted = |text: &str| text.replace('"', "\"\"");
        writeln!(text, "\"{}\",\"{}\"", quoted(node), quoted(label)).expect("to memory");
    }
    let files = Memory::new([("again.csv", text.into_bytes())]);
    let again = read_labels_from(&files, Path::new("again.csv"), |_| true);
    assert_eq!(again.expect("what was written can be read"), pairs);
}

//! Edge tables: text that is separated in any way, with all options.
//!
//! The first byte of an input chooses the name of the file and the second the options; the rest is the file.

use std::path::PathBuf;

use manyview::io::{Delimiter, Directed, Header, Memory, ReadOptions, Source};
use manyview::network::Duplicates;
use manyview::parallel::Pool;

use super::none_made;
use crate::mutate::{Words, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "edges", made: none_made, mutate, run };

pub(super) const WORDS: Words = Words {
    words: &[
        "a",
        "b",
        "c",
        "ann",
        "bob",
        "source",
        "target",
        "weight",
        "from",
        "to",
        "relation",
        "type",
        "1",
        "nan",
        "inf",
        "#rust",
        "%",
        "\"a,b\"",
        "\"x\"\"y\"",
        "\"",
        "\u{e9}t\u{e9}",
        "\u{1b}[31m",
        "a b",
        "ann\tbob",
        "-",
        "\u{fdd0}max_iter\u{fdd3}",
        "__proto__",
        "\u{202e}x",
        "' '",
        "=1+1",
    ],
    lines: &[
        "a\tb\t1",
        "a,b,1",
        "a;b;1",
        "a b 1",
        "source\ttarget\tweight",
        "source,target,weight",
        "# comment",
        "% comment",
        "",
        "a\ta\t1",
        "a\tb\t0",
        "\"a\nb\",c,1",
        "b\ta\t1",
        "x\ty\t0.5\tz",
        "a;b;0,5",
    ],
    rough: 6,
};

fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    change_after_options(input, random, |text, random| change_text(text, others, &WORDS, random));
}

/// Rarely changes the first two bytes, which choose name and options, and otherwise what follows them.
pub(super) fn change_after_options(
    input: &mut Vec<u8>,
    random: &mut Random,
    change: impl FnOnce(&mut Vec<u8>, &mut Random),
) {
    if input.len() < 2 {
        input.resize(2, b'a');
    }
    if random.one_in(16) {
        // Letters, so that inputs stay legible.
        input[random.below(2)] = b'a' + random.below(26) as u8;
        return;
    }
    let mut text = input.split_off(2);
    change(&mut text, random);
    input.append(&mut text);
}

fn run(input: &[u8], pool: &Pool) -> Outcome {
    let (name, options, text) = chosen(input);
    let path = PathBuf::from(name);
    let files = Memory::new([(path.clone(), text)]);
    check::network(input, &files, &Source::Paths(vec![path]), &options, pool)
}

/// The name, options and content that an input stands for.
pub(super) fn chosen(input: &[u8]) -> (&'static str, ReadOptions, &[u8]) {
    let [name, options] =
        [0, 1].map(|at| usize::from(input.get(at).map_or(0, |byte| byte.wrapping_sub(b'a'))));
    let names = ["calls.tsv", "calls.csv", "calls.txt", "calls", "calls.TSV.gz", "calls.csv.zst"];
    let default = ReadOptions::default();
    let some = |text: &str| Some(text.to_owned());
    let options = match options % 26 {
        0..10 => default,
        10 => ReadOptions { header: Header::Yes, ..default },
        11 => ReadOptions { header: Header::No, ..default },
        12 => ReadOptions { unweighted: true, ..default },
        13 => ReadOptions { directed: Directed::All, ..default },
        14 => ReadOptions { duplicates: Duplicates::Max, ..default },
        15 => ReadOptions { relation: some("3"), ..default },
        16 => ReadOptions { relation: some("relation"), ..default },
        17 => ReadOptions { relation: some("3"), directed: Directed::Views(vec!["a".into()]), ..default },
        18 => ReadOptions { source: some("2"), target: some("1"), ..default },
        19 => ReadOptions { source: some("from"), ..default },
        20 => ReadOptions { weight: some("weight"), ..default },
        21 => ReadOptions { delimiter: Some(Delimiter::Space), ..default },
        22 => ReadOptions { delimiter: Some(Delimiter::Comma), header: Header::No, ..default },
        23 => ReadOptions { delimiter: Some(Delimiter::Semicolon), ..default },
        24 => ReadOptions { delimiter: Some(Delimiter::Tab), directed: Directed::All, ..default },
        _ => ReadOptions { weight: some("3"), relation: some("4"), header: Header::No, ..default },
    };
    (names[name % names.len()], options, &input[input.len().min(2)..])
}

//! `network.toml`, next to files that it may name.

use std::path::PathBuf;

use manyview::io::{Memory, ReadOptions, Source};
use manyview::parallel::Pool;

use super::none_made;
use crate::mutate::{Words, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "manifest", made: none_made, mutate, run };

pub(super) const WORDS: Words = Words {
    words: &[
        "calls.tsv",
        "mails.csv",
        "table.csv",
        "nodes.txt",
        "calls",
        "mails",
        "true",
        "false",
        "sum",
        "max",
        "tab",
        "comma",
        "semicolon",
        "space",
        "yes",
        "no",
        "auto",
        "source",
        "target",
        "weight",
        "relation",
        "from",
        "to",
        "path",
        "name",
        "directed",
        "missing.tsv",
        "-",
        "../x",
        "\u{1b}[31m",
    ],
    lines: &[
        "[[view]]",
        "[table]",
        "path = \"calls.tsv\"",
        "name = \"calls\"",
        "directed = true",
        "unweighted = true",
        "duplicates = \"max\"",
        "delimiter = \"tab\"",
        "header = \"yes\"",
        "header = false",
        "source = 1",
        "target = \"to\"",
        "weight = 3",
        "nodes = \"nodes.txt\"",
        "relation = \"relation\"",
        "directed = [\"a\"]",
        "# comment",
        "[[view]]\npath = \"mails.csv\"",
    ],
    rough: 8,
};

const FILES: &[(&str, &str)] = &[
    ("net/calls.tsv", "a\tb\t1\nb\tc\t2\nc\td\t0.5\n"),
    ("net/mails.csv", "from,to,weight,relation\na,b,1,x\nb,c,2,y\na,d,3,x\n"),
    ("net/table.csv", "source,target,relation,weight\na,b,x,1\nb,c,y,2\nd,a,x,3\n"),
    ("net/nodes.txt", "a\nb\nc\nd\n"),
];

fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    if random.one_in(2) {
        *input = made_up(random).into_bytes();
    } else {
        change_text(input, others, &WORDS, random);
    }
}

/// A manifest with some of the options, mostly one that can be used.
fn made_up(random: &mut Random) -> String {
    let mut lines = Vec::new();
    let mut maybe = |random: &mut Random, line: &str| {
        if random.one_in(4) {
            lines.push(line.to_owned());
        }
    };
    maybe(random, "nodes = \"nodes.txt\"");
    let table = random.one_in(4);
    let views: &[&str] = match random.below(4) {
        _ if table => &["table.csv"],
        0 => &["calls.tsv", "mails.csv"],
        1 => &["mails.csv", "table.csv", "calls.tsv"],
        _ => &["calls.tsv"],
    };
    let mut text = lines.join("\n");
    for path in views {
        let section = if table { "[table]\nrelation = \"relation\"" } else { "[[view]]" };
        let mut lines = vec![section.to_owned(), format!("path = \"{path}\"")];
        let mut maybe = |random: &mut Random, key: &str, values: &[&str]| {
            if random.one_in(5) {
                lines.push(format!("{key} = {}", random.pick(values)));
            }
        };
        maybe(random, "directed", if table { &["[]", "[\"x\"]"] } else { &["true", "false"] });
        maybe(random, "unweighted", &["true", "false"]);
        maybe(random, "duplicates", &["\"sum\"", "\"max\"", "\"min\""]);
        maybe(random, "header", &["true", "\"auto\"", "\"yes\"", "false"]);
        maybe(random, "source", &["1", "\"1\"", "\"source\"", "2"]);
        if !table {
            maybe(random, "name", &["\"a\"", "\"b c\"", "''", "'\u{e9}'"]);
        }
        text += &format!("\n{}\n", lines.join("\n"));
    }
    text
}

fn run(input: &[u8], pool: &Pool) -> Outcome {
    let mut files = Memory::new(FILES.iter().map(|(path, text)| (*path, text.as_bytes())));
    files.add("net/network.toml", input);
    let source = Source::Paths(vec![PathBuf::from("net")]);
    check::network(input, &files, &source, &ReadOptions::default(), pool)
}

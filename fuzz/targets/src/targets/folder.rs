//! Folders: several views, a node file, a `network.toml`, and files that are none of these.

use std::path::{Path, PathBuf};

use manyview::io::{Memory, ReadOptions, Source};
use manyview::parallel::Pool;

use super::{edges, manifest, none_made};
use crate::container::{join, split};
use crate::mutate::change_text;
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "folder", made: none_made, mutate, run };

const NAMES: &[&str] = &[
    "calls.tsv",
    "mails.csv",
    "visits.txt",
    "nodes.txt",
    "nodes.tsv",
    "labels.tsv",
    "network.toml",
    "README.md",
    "x.bin",
    ".hidden",
    "calls.csv",
    "a\u{1b}b.tsv",
    "calls.tsv.gz",
];

fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let mut files = split(input);
    if files.is_empty() || random.one_in(8) {
        match random.below(4) {
            0 if files.len() > 1 => _ = files.remove(random.below(files.len())),
            1 if !files.is_empty() => {
                let at = random.below(files.len());
                files[at].0 = random.pick(NAMES).to_owned();
            }
            2 if !files.is_empty() => {
                let copy = files[random.below(files.len())].1.clone();
                files.push((random.pick(NAMES).to_owned(), copy));
            }
            _ => {
                let mut more = split(&others[random.below(others.len())]);
                if !more.is_empty() {
                    files.push(more.swap_remove(random.below(more.len())));
                }
            }
        }
    } else {
        let at = random.below(files.len());
        let (name, content) = &mut files[at];
        let words = if name == "network.toml" { &manifest::WORDS } else { &edges::WORDS };
        change_text(content, &[], words, random);
    }
    *input = join(&files);
}

fn run(input: &[u8], pool: &Pool) -> Outcome {
    let folder = Path::new("net");
    let mut files = Memory::default();
    for (name, content) in split(input) {
        // A name is one of a file in this folder.
        let name = if name.is_empty() || name.contains(['/', '\0']) || name.starts_with("..") {
            "odd.tsv"
        } else {
            &name
        };
        files.add(folder.join(name), content);
    }
    let source = Source::Paths(vec![PathBuf::from(folder)]);
    check::network(input, &files, &source, &ReadOptions::default(), pool)
}

//! Packed edge tables: gzip, zstd, several members, damage.
//!
//! The input is that of `edges`, with a packed file. A mutator cannot change a packed text without damaging it, so most new
//! inputs are made from a text of the corpus of plain ones, which is packed anew.

use std::path::PathBuf;

use manyview::io::{Memory, Source};
use manyview::parallel::Pool;

use super::edges::{WORDS, change_after_options, chosen};
use crate::mutate::{change_bytes, change_text};
use crate::packing::{pack, pack_validly};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "packed", made, mutate, run };

const TEXTS: &[&[u8]] = &[
    b"a\tb\t1\nb\tc\t2\nc\ta\t0.5\n",
    b"source,target,weight\nann,bob,1\n\"bob, jr\",ann,2\n",
    b"# comment\na b\nb c\n",
    b"from;to;w\na;b;1\n",
];

fn made() -> Vec<Vec<u8>> {
    let all = TEXTS.iter().flat_map(|text| pack_validly(text));
    all.map(|packed| [b"ca", &packed[..]].concat()).collect()
}

fn mutate(input: &mut Vec<u8>, _: &[Vec<u8>], random: &mut Random) {
    change_after_options(input, random, |file, random| {
        if random.one_in(4) {
            return change_bytes(file, random);
        }
        let mut text = random.pick(TEXTS).to_vec();
        for _ in 0..random.below(3) {
            change_text(&mut text, &[], &WORDS, random);
        }
        *file = pack(&text, random);
    });
}

fn run(input: &[u8], pool: &Pool) -> Outcome {
    let (name, options, file) = chosen(input);
    let path = PathBuf::from(name);
    let files = Memory::new([(path.clone(), file)]);
    check::network(input, &files, &Source::Paths(vec![path]), &options, pool)
}

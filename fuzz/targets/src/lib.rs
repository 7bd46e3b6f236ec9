//! Fuzz targets for every reader, with mutators that keep a good part of the inputs valid.
//!
//! A target is a pair of functions: [`Target::mutate`] changes an input with knowledge of its format, and [`Target::run`]
//! reads it. Reading checks more than that there is no panic: what was read keeps the invariants of its type, is the same
//! when the file arrives in small pieces, and comes back when it is written and read again; a refusal is a sentence that
//! says where. A broken invariant is a panic, so the same functions serve `cargo fuzz` and the [`runner`].
//!
//! Invariant: both functions depend on their arguments only, so that an execution is determined by the seed and its number.

mod check;
pub mod container;
mod files;
pub mod mutate;
mod packing;
pub mod random;
pub mod runner;
mod targets;

use manyview::parallel::Pool;

pub use targets::TARGETS;

use random::Random;

/// Longer inputs are cut. Most are far shorter; what is special about long ones are buffers of 4 KB.
pub const LONGEST: usize = 1 << 14;

/// A reader with its inputs.
pub struct Target {
    /// Its name, and that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Inputs that are made by the program itself, because a stored one would be of an older version.
    pub made: fn() -> Vec<Vec<u8>>,
    /// Changes an input. The others may lend parts.
    pub mutate: fn(&mut Vec<u8>, &[Vec<u8>], &mut Random),
    /// Reads an input and panics if an invariant is broken. The caller is a thread of the pool.
    pub run: fn(&[u8], &Pool) -> Outcome,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The input was read.
    Parsed,
    /// The input was refused with a sentence.
    Refused,
}

impl Target {
    /// Returns the target with this name.
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Makes the input of an execution: one of the seeds, changed.
    pub fn input(&self, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
        let mut input = seeds[random.below(seeds.len())].clone();
        // Mostly one change, rarely many: each may make the input invalid, and the rest is then not reached.
        let mut changes = 1;
        while changes < 16 && random.one_in(3) {
            changes += 1;
        }
        for _ in 0..changes {
            (self.mutate)(&mut input, seeds, random);
        }
        input.truncate(LONGEST);
        input
    }
}

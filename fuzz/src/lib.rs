//! What the wrappers for libFuzzer have in common.

use std::sync::OnceLock;

use libfuzzer_sys::Corpus;
use manyview::parallel::Pool;
use manyview_fuzz::random::Random;
use manyview_fuzz::{Outcome, Target};

/// Reads an input. A broken invariant is a panic.
pub fn run(target: &'static str, input: &[u8]) -> Corpus {
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(|| Pool::new(Some(1)).expect("a thread"));
    match pool.run(|| (named(target).run)(input, pool)) {
        // Both are worth keeping: most of the code of a reader is about what it refuses.
        Outcome::Parsed | Outcome::Refused => Corpus::Keep,
    }
}

/// Changes an input in place and returns its new length. The mutator is that of the target, or the one of libFuzzer.
pub fn mutate(target: &'static str, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut random = Random::new(seed.into());
    if random.one_in(4) {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let mut input = data[..size].to_vec();
    let before = [input.clone()];
    (named(target).mutate)(&mut input, &before, &mut random);
    input.truncate(most);
    data[..input.len()].copy_from_slice(&input);
    input.len()
}

fn named(target: &str) -> &'static Target {
    Target::named(target).expect("the wrapper is called as its target")
}

/// The program of a target.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|input: &[u8]| -> libfuzzer_sys::Corpus { $crate::run($name, input) });
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate($name, data, size, max_size, seed)
        });
    };
}

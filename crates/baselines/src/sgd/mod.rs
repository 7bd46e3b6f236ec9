//! Stochastic gradient descent on pairs: what the methods that sample walks or edges have in common.
//!
//! A pair (i, j) says that j was seen beside i. With input vectors x, output vectors y, and b draws v from a noise law,
//! it is a step up the gradient of
//!
//! ```text
//! log s(x_i y_j) + sum_v log s(-x_i y_v),   s(z) = 1 / (1 + e^-z)
//! ```
//!
//! - [`Table`]: vectors, one row for each item; [`Parts`]: which rows lie together;
//! - [`Noise`]: where negatives come from; [`Tree`]: Huffman's tree, for the hierarchical softmax;
//! - [`Corpus`]: pairs, made block by block, in any order, and never all at once;
//! - [`train()`]: all steps, on all threads, with the same bits for any number of them; [`train_in_order`]: pair after pair;
//! - `update`: one step.
//!
//! Invariant: a result follows from the corpus, the tables at the start, and the key. Every sum has one order, and no
//! product is fused with a sum, so the machine's vectors change no bit either.

mod episode;
mod noise;
mod order;
mod parts;
mod sigmoid;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod train;
mod tree;
mod update;

pub(crate) use noise::{Noise, damped};
pub(crate) use order::train_in_order;
pub(crate) use parts::Parts;
pub(crate) use steps::{Clash, Negatives};
pub(crate) use table::Table;
pub(crate) use train::{Tables, Training, train};
pub(crate) use tree::Tree;
pub(crate) use update::{Target, product, update, update_outputs};

/// An item and what was seen beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) input: u32,
    pub(crate) output: u32,
}

/// What is done after each pair, with the input, its new padded vector, and the rate. A pointer, and not a parameter of the
/// type: the loops around it are long, and would be compiled anew for every method.
pub(crate) type After<'a> = dyn Fn(usize, &mut [f32], f32) + Sync + 'a;

/// What fills blocks, for the same reason.
pub(crate) type Fill<'a> = &'a (dyn Fn(usize, &mut Vec<Pair>) + Sync + 'a);

/// Pairs in blocks. Any thread may ask for any block at any time, so a block follows from its number alone.
pub(crate) struct Corpus<F> {
    /// Blocks in all, those of further epochs included.
    pub(crate) blocks: usize,
    /// Pairs that a block has on average, or nearly: it decides how many are trained together.
    pub(crate) block_pairs: f64,
    /// Appends the pairs of a block.
    pub(crate) fill: F,
}

impl<F: Fn(usize, &mut Vec<Pair>) + Sync> Corpus<F> {
    /// The same corpus, whatever fills it.
    fn erased(&self) -> Corpus<Fill<'_>> {
        Corpus { blocks: self.blocks, block_pairs: self.block_pairs, fill: &self.fill }
    }
}

/// The size of steps, which falls linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) first: f64,
    pub(crate) last: f64,
}

impl Rate {
    /// The usual floor: a fixed small step, as in word2vec.
    pub(crate) fn falling_from(first: f64) -> Self {
        Rate { first, last: first.min(1e-4) }
    }

    /// After a share of all steps.
    pub(crate) fn at(self, done: f64) -> f32 {
        (self.first + (self.last - self.first) * done.clamp(0.0, 1.0)) as f32
    }
}

//! Stochastic gradient descent on pairs, shared by the methods that sample walks or edges.
//!
//! A pair (i, j) means that j was seen next to i. With input vectors x, output vectors y, and b draws v from a noise
//! distribution, a step follows the gradient of
//!
//! ```text
//! log s(x_i y_j) + sum_v log s(-x_i y_v),   s(z) = 1 / (1 + e^-z)
//! ```
//!
//! - [`Table`]: vectors, one row per item; [`Parts`]: the partition of the rows;
//! - [`Noise`]: the distribution of negatives; [`Tree`]: Huffman's tree, for the hierarchical softmax;
//! - [`Corpus`]: pairs, created block by block in any order, and never all together;
//! - [`train()`]: all steps on all threads, bitwise identical for any number of threads; [`train_in_order`]: pair after
//!   pair;
//! - `update`: one step.
//!
//! Invariant: the result depends on the corpus, the initial tables and the key only. Every sum has a fixed order, and
//! products are not fused with sums, so the vector width of the machine does not affect it.

mod episode;
mod noise;
mod parts;
mod sequential;
mod sigmoid;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod train;
mod tree;
mod update;

pub(crate) use noise::{Noise, damped};
pub(crate) use parts::Parts;
pub(crate) use sequential::train_in_order;
pub(crate) use steps::{Clash, Negatives};
pub(crate) use table::Table;
pub(crate) use train::{Tables, Training, train};
pub(crate) use tree::Tree;
pub(crate) use update::{Target, product, update, update_outputs};

/// An item and an item seen next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) input: u32,
    pub(crate) output: u32,
}

/// Called after each pair with the input, its new padded vector, and the rate. A pointer instead of a type parameter:
/// the loops around it are long and would be compiled for every method.
pub(crate) type After<'a> = dyn Fn(usize, &mut [f32], f32) + Sync + 'a;

/// Fills blocks; a pointer for the same reason.
pub(crate) type Fill<'a> = &'a (dyn Fn(usize, &mut Vec<Pair>) + Sync + 'a);

/// Pairs in blocks. Any thread may request any block at any time, so a block depends on its number only.
pub(crate) struct Corpus<F> {
    /// Total number of blocks, over all epochs.
    pub(crate) blocks: usize,
    /// Approximate mean number of pairs per block; determines how many pairs are trained together.
    pub(crate) block_pairs: f64,
    /// Appends the pairs of a block.
    pub(crate) fill: F,
}

impl<F: Fn(usize, &mut Vec<Pair>) + Sync> Corpus<F> {
    /// The same corpus with the type of `fill` erased.
    fn erased(&self) -> Corpus<Fill<'_>> {
        Corpus { blocks: self.blocks, block_pairs: self.block_pairs, fill: &self.fill }
    }
}

/// The learning rate, which decreases linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) first: f64,
    pub(crate) last: f64,
}

impl Rate {
    /// With the usual lower bound: a fixed small rate, as in word2vec.
    pub(crate) fn falling_from(first: f64) -> Self {
        Rate { first, last: first.min(1e-4) }
    }

    /// The rate after a fraction of all steps.
    pub(crate) fn at(self, done: f64) -> f32 {
        (self.first + (self.last - self.first) * done.clamp(0.0, 1.0)) as f32
    }
}

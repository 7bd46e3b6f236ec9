//! The sequential algorithm: pair after pair in the order of the corpus, on one thread. Only the creation of pairs uses
//! all threads.
//!
//! For small networks, and for the hierarchical softmax: the root of its tree is on every path, so steps cannot be
//! separated by their outputs.

use std::ops::Range;

use rayon::prelude::*;

use super::steps::{Rows, Steps};
use super::train::episode_blocks;
use super::{After, Corpus, Fill, Pair, Table, Tables, Training, Tree, update};
use manyview_base::error::Result;
use manyview_base::linalg::kernels::vectorized;

/// Number of pairs created in advance.
const AHEAD: f64 = 65_536.0;

/// Trains on some blocks of a corpus, as [`train`](super::train()) does, with tables of one part.
///
/// With a tree, each pair first makes a step of the hierarchical softmax on a separate table, followed by the step of
/// the negatives; with 0 negatives, only the former.
pub(crate) fn train_in_order<F: Fn(usize, &mut Vec<Pair>) + Sync>(
    tables: &mut Tables<'_>,
    tree: Option<(&Tree, &mut Table)>,
    corpus: &Corpus<F>,
    blocks: Range<usize>,
    training: &Training<'_>,
    after: &After<'_>,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    in_order(tables, tree, &corpus.erased(), blocks, training, after, watch)
}

fn in_order(
    tables: &mut Tables<'_>,
    mut tree: Option<(&Tree, &mut Table)>,
    corpus: &Corpus<Fill<'_>>,
    blocks: Range<usize>,
    training: &Training<'_>,
    after: &After<'_>,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let at_once = episode_blocks(corpus, AHEAD);
    let mut made: Vec<Vec<Pair>> = Vec::new();
    for first in blocks.clone().step_by(at_once) {
        let episode = first..(first + at_once).min(blocks.end);
        made.resize_with(episode.len(), Vec::new);
        let fill = |(at, pairs): (usize, &mut Vec<Pair>)| {
            pairs.clear();
            (corpus.fill)(first + at, pairs);
        };
        training.pool.run(|| made.par_iter_mut().enumerate().for_each(fill));
        for (block, pairs) in episode.zip(&made) {
            let done = block as f64 / corpus.blocks as f64;
            watch(done)?;
            let walk = InOrder { training, rate: training.rate.at(done), block, after };
            walk.run(tables, tree.as_mut().map(|(tree, table)| (*tree, &mut **table)), pairs);
        }
    }
    watch(blocks.end as f64 / corpus.blocks as f64)
}

/// The training of one block.
struct InOrder<'a> {
    training: &'a Training<'a>,
    rate: f32,
    block: usize,
    after: &'a After<'a>,
}

impl InOrder<'_> {
    fn run(&self, tables: &mut Tables<'_>, mut tree: Option<(&Tree, &mut Table)>, pairs: &[Pair]) {
        let (stride, mut rows) = match tables {
            Tables::Two { inputs, outputs } => {
                (inputs.stride(), Rows::Apart(inputs.padded_mut(), outputs.padded_mut()))
            }
            Tables::One(table) => (table.stride(), Rows::Same(table.padded_mut())),
        };
        let key = self.training.key.with(self.block as u64);
        let mut steps = Steps::new(stride, self.training.negatives, 0, key);
        vectorized(
            #[inline(always)]
            || {
                for pairs in pairs.chunk_by(|a, b| a.input == b.input) {
                    let input = pairs[0].input as usize;
                    let own = rows.own(input);
                    steps.x.copy_from_slice(&rows.inputs()[input * stride..][..stride]);
                    for pair in pairs {
                        if let Some((tree, table)) = &mut tree {
                            let way = tree.way(pair.output as usize);
                            update(&mut steps.x, table.padded_mut(), way, self.rate, &mut steps.error);
                        }
                        if steps.each > 0 {
                            steps.step(rows.outputs(), Some(pair.output), steps.each, own, self.rate);
                        }
                        (self.after)(input, &mut steps.x, self.rate);
                    }
                    rows.inputs()[input * stride..][..stride].copy_from_slice(&steps.x);
                }
            },
        );
    }
}

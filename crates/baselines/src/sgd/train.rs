//! All steps over a corpus, on all threads, bitwise identical for any number of threads.
//!
//! Inputs and outputs are partitioned into P parts; P depends on their number. Pairs are created in episodes, whose
//! size does not depend on the number of threads either, and sorted into P x P buckets. In round r, the P buckets (p, p
//! xor r) share neither inputs nor outputs, so they are processed in parallel, each sequentially. The negatives of a
//! bucket are from its own part of the outputs; [`episode`](super::episode) explains why all draws together still
//! follow the noise distribution.
//!
//! This is skip-gram with negative sampling in another order, with one difference: the b negatives of a pair are spread
//! over all pairs (and rounds) of the same input. Their distribution is the same. With one part, it is the plain
//! algorithm, pair after pair.

use std::ops::Range;

use rayon::prelude::*;

use super::episode::{PairBlock, Sorted};
use super::sequential::train_in_order;
use super::steps::{Negatives, Rows, Steps};
use super::table::PartRows;
use super::{After, Corpus, Fill, Pair, Parts, Rate, Table};
use manyview_base::error::Result;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::parallel::Pool;
use manyview_base::random::Key;

/// Mean number of pairs per input in an episode. More would be faster, since a loaded input vector would be used for
/// more steps, but then it would have moved far before the next part of the outputs is processed (see the commits for
/// figures).
const PAIRS_OF_INPUT: usize = 32;

/// Maximum number of pairs per episode, so that progress is reported often enough.
const MOST_PAIRS: f64 = 4_194_304.0;

/// Minimum number of episodes of a corpus with enough pairs, because the rate decreases from round to round.
const LEAST_EPISODES: f64 = 32.0;

/// The tables to train.
pub(crate) enum Tables<'a> {
    /// Input vectors against output vectors. Both have the same number of parts.
    Two {
        /// Vectors of the items that others are seen from.
        inputs: &'a mut Table,
        /// Vectors of the items that are seen.
        outputs: &'a mut Table,
    },
    /// Each vector against others of the same table, and never against itself.
    One(&'a mut Table),
}

/// The settings of the training.
#[derive(Clone, Copy)]
pub(crate) struct Training<'a> {
    pub(crate) negatives: Negatives<'a>,
    pub(crate) rate: Rate,
    /// Random numbers of this corpus; another corpus on the same tables needs another key.
    pub(crate) key: Key,
    pub(crate) pool: &'a Pool,
}

/// Trains on some blocks of a corpus; the rate is that of these blocks among all.
///
/// `after` is called for each pair with the input, its new padded vector, and the rate. `watch` is called on the
/// calling thread with the fraction of all blocks that is done.
pub(crate) fn train<F: Fn(usize, &mut Vec<Pair>) + Sync>(
    tables: &mut Tables<'_>,
    corpus: &Corpus<F>,
    blocks: Range<usize>,
    training: &Training<'_>,
    after: &After<'_>,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    train_any(tables, &corpus.erased(), blocks, training, after, watch)
}

fn train_any(
    tables: &mut Tables<'_>,
    corpus: &Corpus<Fill<'_>>,
    blocks: Range<usize>,
    training: &Training<'_>,
    after: &After<'_>,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let (inputs, outputs) = tables.shapes();
    assert_eq!(inputs.count(), outputs.count(), "inputs and outputs must have the same number of parts");
    if inputs.count() == 1 {
        return train_in_order(tables, None, corpus, blocks, training, after, watch);
    }
    let wanted = (PAIRS_OF_INPUT * inputs.items()) as f64;
    let at_once = episode_blocks(corpus, wanted);
    let mut room = Room::default();
    for first in blocks.clone().step_by(at_once) {
        let episode = first..(first + at_once).min(blocks.end);
        room.fill(tables, corpus, episode.clone(), training);
        let rounds = room.pair_blocks.len();
        for round in 0..rounds {
            let done = episode.start as f64 + episode.len() as f64 * round as f64 / rounds as f64;
            watch(done / corpus.blocks as f64)?;
            let rate = training.rate.at(done / corpus.blocks as f64);
            let key = training.key.with(1).with(episode.start as u64).with(round as u64);
            let work = Work { pair_blocks: &room.pair_blocks, training, rate, key, after };
            training.pool.run(|| work.round(tables, round));
        }
    }
    watch(blocks.end as f64 / corpus.blocks as f64)
}

/// The number of blocks that make an episode of about this many pairs, if the corpus is long enough.
pub(super) fn episode_blocks<F>(corpus: &Corpus<F>, pairs: f64) -> usize {
    let all = corpus.blocks as f64 * corpus.block_pairs;
    let pairs = pairs.min(all / LEAST_EPISODES).min(MOST_PAIRS);
    ((pairs / corpus.block_pairs.max(1.0)) as usize).max(1)
}

impl Tables<'_> {
    /// The parts of inputs and of outputs.
    fn shapes(&self) -> (&Parts, &Parts) {
        match self {
            Tables::Two { inputs, outputs } => (inputs.parts(), outputs.parts()),
            Tables::One(table) => (table.parts(), table.parts()),
        }
    }
}

/// Memory reused by all episodes.
#[derive(Default)]
struct Room {
    blocks: Vec<Sorted>,
    pair_blocks: Vec<PairBlock>,
}

impl Room {
    /// Creates and sorts the pairs of an episode.
    fn fill<F>(
        &mut self,
        tables: &Tables<'_>,
        corpus: &Corpus<F>,
        episode: Range<usize>,
        training: &Training<'_>,
    ) where
        F: Fn(usize, &mut Vec<Pair>) + Sync,
    {
        let (inputs, outputs) = tables.shapes();
        let Negatives { noise, count, .. } = training.negatives;
        self.blocks.resize_with(episode.len(), Default::default);
        self.pair_blocks.resize_with(inputs.count(), Default::default);
        let key = training.key.with(0).with(episode.start as u64);
        training.pool.run(|| {
            self.blocks.par_iter_mut().enumerate().for_each(|(at, block)| {
                block.make(|pairs| (corpus.fill)(episode.start + at, pairs), inputs, outputs);
            });
            let blocks = &self.blocks;
            self.pair_blocks.par_iter_mut().enumerate().for_each(|(part, pair_block)| {
                pair_block.collect(part, blocks, inputs, outputs);
                pair_block.deal(part, noise, count, key);
            });
        });
    }
}

/// The data shared by all buckets of a round.
struct Work<'a> {
    pair_blocks: &'a [PairBlock],
    training: &'a Training<'a>,
    rate: f32,
    key: Key,
    after: &'a After<'a>,
}

impl Work<'_> {
    /// Processes all buckets (p, p xor round).
    fn round(&self, tables: &mut Tables<'_>, round: usize) {
        match tables {
            Tables::Two { inputs, outputs } => self.round_of_two(inputs, outputs, round),
            Tables::One(table) => self.round_of_one(table, round),
        }
    }

    fn round_of_two(&self, inputs: &mut Table, outputs: &mut Table, round: usize) {
        let stride = inputs.stride();
        let ((parts, mut inputs), (_, mut outputs)) = (inputs.by_part(), outputs.by_part());
        let buckets: Vec<(usize, Rows<'_>)> = (0..parts.count())
            .map(|part| (part, Rows::Apart(take(&mut inputs, part), take(&mut outputs, part ^ round))))
            .collect();
        buckets.into_par_iter().for_each(|(part, mut rows)| {
            self.bucket(parts, stride, &mut rows, part, part ^ round);
        });
    }

    /// Parts p and q are processed twice: the inputs of p with the outputs of q, then vice versa.
    fn round_of_one(&self, table: &mut Table, round: usize) {
        let stride = table.stride();
        let (parts, mut rows) = table.by_part();
        if round == 0 {
            let buckets: Vec<(usize, &mut [f32])> =
                (0..parts.count()).map(|part| (part, take(&mut rows, part))).collect();
            buckets.into_par_iter().for_each(|(part, rows)| {
                self.bucket(parts, stride, &mut Rows::Same(rows), part, part);
            });
            return;
        }
        let meetings: Vec<(usize, &mut [f32], &mut [f32])> = (0..parts.count())
            .filter(|&part| part < part ^ round)
            .map(|part| (part, take(&mut rows, part), take(&mut rows, part ^ round)))
            .collect();
        meetings.into_par_iter().for_each(|(part, rows, others)| {
            let other = part ^ round;
            self.bucket(parts, stride, &mut Rows::Apart(rows, others), part, other);
            self.bucket(parts, stride, &mut Rows::Apart(others, rows), other, part);
        });
    }

    /// All steps of the inputs of one part with the outputs of one part.
    fn bucket(&self, parts: &Parts, stride: usize, rows: &mut Rows<'_>, part: usize, out_part: usize) {
        let mut steps = Steps::new(stride, self.training.negatives, out_part, self.key.with(part as u64));
        let pair_block = &self.pair_blocks[part];
        vectorized(
            #[inline(always)]
            || {
                for place in 0..pair_block.length() {
                    let (seen, drawn) = pair_block.work(out_part, place);
                    if seen.is_empty() && drawn == 0 {
                        continue;
                    }
                    let item = parts.item_at(part * pair_block.length() + place);
                    let own = rows.own(place);
                    steps.x.copy_from_slice(&rows.inputs()[place * stride..][..stride]);
                    steps.of_input(rows.outputs(), seen, drawn, own, self.rate, |x| {
                        (self.after)(item, x, self.rate);
                    });
                    rows.inputs()[place * stride..][..stride].copy_from_slice(&steps.x);
                }
            },
        );
    }
}

/// Takes the rows of a part to work on them.
fn take<'a>(rows: &mut [PartRows<'a>], part: usize) -> &'a mut [f32] {
    rows[part].take().expect("each part occurs once per round")
}

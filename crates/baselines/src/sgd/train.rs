//! All steps over a corpus, on all threads, with the same bits for any number of them.
//!
//! Inputs and outputs are split into P parts; P follows from their number. Pairs are made in episodes of a size that does
//! not depend on threads either, and sorted into P x P buckets. In round r, the P buckets (p, p xor r) share neither
//! inputs nor outputs, so they are worked on at the same time, each from front to back. Negatives of a bucket come from
//! its own part of the outputs; [`episode`](super::episode) says why all draws together still follow the noise law.
//!
//! So this is skip-gram with negative sampling in another order, and with one difference: the b negatives of a pair are
//! spread over all pairs (and rounds) of the same input. Their law is the same. With one part, it is the plain
//! algorithm, pair after pair.

use std::ops::Range;

use rayon::prelude::*;

use super::episode::{Sheaf, Sorted};
use super::order::train_in_order;
use super::steps::{Negatives, Rows, Steps};
use super::table::Taken;
use super::{After, Corpus, Fill, Pair, Parts, Rate, Table};
use manyview_base::error::Result;
use manyview_base::linalg::kernels::vectorized;
use manyview_base::parallel::Pool;
use manyview_base::random::Key;

/// Pairs of an episode for each input, on average. More would be faster, since an input's vector, once at hand, would
/// serve more steps; but then it has moved far when the next part of the outputs comes (see the commits for figures).
const PAIRS_OF_INPUT: usize = 32;

/// Pairs that an episode has at most: somebody who waits for progress would wait too long.
const MOST_PAIRS: f64 = 4_194_304.0;

/// Episodes that a corpus has at least, if it has enough pairs: the rate falls from round to round.
const LEAST_EPISODES: f64 = 32.0;

/// What is trained.
pub(crate) enum Tables<'a> {
    /// Input vectors against output vectors. Both have the same number of parts.
    Two {
        /// Vectors of what is looked from.
        inputs: &'a mut Table,
        /// Vectors of what is seen.
        outputs: &'a mut Table,
    },
    /// Each vector against others of the same table, and never against itself.
    One(&'a mut Table),
}

/// How it is trained.
#[derive(Clone, Copy)]
pub(crate) struct Training<'a> {
    pub(crate) negatives: Negatives<'a>,
    pub(crate) rate: Rate,
    /// Random numbers of this corpus; another corpus on the same tables needs another.
    pub(crate) key: Key,
    pub(crate) pool: &'a Pool,
}

/// Trains on some blocks of a corpus; the rate is that of these blocks among all.
///
/// `after` is called for each pair with the input, its new padded vector, and the rate. `watch` hears of the share of all blocks that
/// is done, from the calling thread.
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
    assert_eq!(inputs.count(), outputs.count(), "inputs and outputs have the same number of parts");
    if inputs.count() == 1 {
        return train_in_order(tables, None, corpus, blocks, training, after, watch);
    }
    let wanted = (PAIRS_OF_INPUT * inputs.items()) as f64;
    let at_once = episode_blocks(corpus, wanted);
    let mut room = Room::default();
    for first in blocks.clone().step_by(at_once) {
        let episode = first..(first + at_once).min(blocks.end);
        room.fill(tables, corpus, episode.clone(), training);
        let rounds = room.sheaves.len();
        for round in 0..rounds {
            let done = episode.start as f64 + episode.len() as f64 * round as f64 / rounds as f64;
            watch(done / corpus.blocks as f64)?;
            let rate = training.rate.at(done / corpus.blocks as f64);
            let key = training.key.with(1).with(episode.start as u64).with(round as u64);
            let work = Work { sheaves: &room.sheaves, training, rate, key, after };
            training.pool.run(|| work.round(tables, round));
        }
    }
    watch(blocks.end as f64 / corpus.blocks as f64)
}

/// Blocks that make an episode of about so many pairs, if a corpus is not too short for that.
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

/// Memory that all episodes use.
#[derive(Default)]
struct Room {
    blocks: Vec<Sorted>,
    sheaves: Vec<Sheaf>,
}

impl Room {
    /// Makes and sorts the pairs of an episode.
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
        self.sheaves.resize_with(inputs.count(), Default::default);
        let key = training.key.with(0).with(episode.start as u64);
        training.pool.run(|| {
            self.blocks.par_iter_mut().enumerate().for_each(|(at, block)| {
                block.make(|pairs| (corpus.fill)(episode.start + at, pairs), inputs, outputs);
            });
            let blocks = &self.blocks;
            self.sheaves.par_iter_mut().enumerate().for_each(|(part, sheaf)| {
                sheaf.collect(part, blocks, inputs, outputs);
                sheaf.deal(part, noise, count, key);
            });
        });
    }
}

/// What all buckets of a round have in common.
struct Work<'a> {
    sheaves: &'a [Sheaf],
    training: &'a Training<'a>,
    rate: f32,
    key: Key,
    after: &'a After<'a>,
}

impl Work<'_> {
    /// All buckets (p, p xor round).
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

    /// Parts p and q meet twice: the inputs of p with the outputs of q, then the other way round.
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
        let sheaf = &self.sheaves[part];
        vectorized(
            #[inline(always)]
            || {
                for place in 0..sheaf.length() {
                    let (seen, drawn) = sheaf.work(out_part, place);
                    if seen.is_empty() && drawn == 0 {
                        continue;
                    }
                    let item = parts.item_at(part * sheaf.length() + place);
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
fn take<'a>(rows: &mut [Taken<'a>], part: usize) -> &'a mut [f32] {
    rows[part].take().expect("each part comes once in a round")
}

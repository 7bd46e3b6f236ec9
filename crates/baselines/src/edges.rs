//! What PTE, MTNE-C and MVE share: edges of views as training pairs, and turns of views.
//!
//! Edges are drawn in proportion to their weights; an undirected edge is used in both directions. The original programs
//! change the view with every edge. Here each turn of a view trains on many edges, so that threads can share the work.
//! A turn has at most 1/32 of the samples of a view.
//!
//! Invariant: the edges of a block follow from the key of the view and the number of the block. Methods take the views
//! in the order of their names, so the order in which views are given does not affect the result.

use std::ops::Range;

use manyview_base::linalg::{Csr, safe_scale};
use manyview_base::random::{Key, Stream};
use manyview_base::sampling::Alias;
use manyview_core::method::Task;
use manyview_data::network::View;

use crate::sgd::{Corpus, Pair, Rate};
use crate::walks::Steps;

/// The number of sampled edges in a block.
const BLOCK: usize = 1024;

/// The number of pairs in a turn of a large view: enough for all threads.
const TURN: usize = 1 << 18;

/// The minimum number of turns.
const LEAST_TURNS: usize = 32;

/// The default number of edges to train on, per node. Of 1,000, 2,500, 5,000 and 10,000 this one has the best scores on
/// networks of 71 to 11,185 nodes. The usual 300 million for all networks turn the vectors of small networks into
/// noise.
const SAMPLES_PER_NODE: usize = 2500;

/// The largest number of samples that is accepted.
pub(super) const MOST_SAMPLES: f64 = (1u64 << 50) as f64;

/// Returns the number of edges to train on.
pub(super) fn samples_of(given: Option<usize>, nodes: usize) -> usize {
    given.unwrap_or(SAMPLES_PER_NODE * nodes)
}

/// Returns the learning rate of LINE: it decreases to 1/10,000 of its initial value.
pub(super) fn line_rate(first: f64) -> Rate {
    Rate { first, last: first * 1e-4 }
}

/// Returns the views in the order of their names, with their indices in the network.
pub(super) fn by_name<'a>(task: &Task<'a, '_>) -> Vec<(usize, &'a View)> {
    let mut views: Vec<(usize, &View)> = task.network.views().iter().enumerate().collect();
    views.sort_by(|a, b| a.1.name.cmp(&b.1.name));
    views
}

/// The total weights of each node's outgoing and incoming edges in a view; they are the same if it is undirected. Extreme
/// weights are scaled: only ratios matter.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    pub(super) outgoing: Vec<f64>,
    pub(super) incoming: Vec<f64>,
}

impl Weights {
    pub(super) fn of(view: &View) -> Self {
        let (mut outgoing, mut incoming) =
            (vec![0.0; view.adjacency.rows()], vec![0.0; view.adjacency.rows()]);
        let scale = safe_scale(view.adjacency.values());
        for (node, outgoing) in outgoing.iter_mut().enumerate() {
            let (others, values) = view.adjacency.row(node);
            for (&other, &weight) in others.iter().zip(values) {
                *outgoing += weight * scale;
                incoming[other as usize] += weight * scale;
            }
        }
        Weights { outgoing, incoming }
    }
}

/// Adds the weights of a view to `sums`, scaled so that all views count the same.
pub(super) fn add_shares(sums: &mut [f64], weights: &[f64]) {
    let total: f64 = weights.iter().sum();
    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight / total);
}

/// The edges of a view, to be drawn by weight; in both directions if the view is undirected.
pub(super) struct Edges<'a> {
    adjacency: &'a Csr<f64>,
    table: Alias,
    sources: Vec<u32>,
    key: Key,
}

impl<'a> Edges<'a> {
    pub(super) fn new(view: &'a View, key: Key) -> Self {
        let adjacency = &view.adjacency;
        let from = |node: usize| std::iter::repeat_n(node as u32, adjacency.row(node).0.len());
        let sources = (0..adjacency.rows()).flat_map(from).collect();
        Edges { adjacency, table: Alias::new(adjacency.values()), sources, key }
    }

    /// Returns the pairs of `starts` walks of `depth` steps: the first node with each later one. The first step of a
    /// walk is an edge that is drawn by weight.
    pub(super) fn corpus(
        &self,
        starts: usize,
        depth: usize,
    ) -> Corpus<impl Fn(usize, &mut Vec<Pair>) + Sync + '_> {
        let steps = (depth > 1).then(|| Steps::new(self.adjacency, true));
        let fill = move |block: usize, pairs: &mut Vec<Pair>| {
            let mut stream = Stream::new(self.key.with(block as u64));
            for _ in block * BLOCK..starts.min((block + 1) * BLOCK) {
                let edge = self.table.draw(&mut stream);
                let (input, mut output) = (self.sources[edge], self.adjacency.indices()[edge]);
                pairs.push(Pair { input, output });
                for _ in 1..depth {
                    let Some(next) = steps.as_ref().and_then(|steps| steps.next(output, &mut stream)) else {
                        break;
                    };
                    output = next;
                    pairs.push(Pair { input, output });
                }
            }
        };
        Corpus { blocks: starts.div_ceil(BLOCK), block_pairs: (BLOCK * depth) as f64, fill }
    }
}

/// The blocks of several views, divided into turns: each turn has the same share of the blocks of every view.
pub(super) struct Turns {
    /// The number of blocks of each view.
    blocks: Vec<usize>,
    turns: usize,
}

impl Turns {
    /// Returns turns for views with these numbers of blocks; the number of turns is a multiple of `epochs`.
    pub(super) fn new(blocks: Vec<usize>, block_pairs: f64, epochs: usize) -> Self {
        let most = blocks.iter().copied().max().unwrap_or(0);
        let wanted = ((most as f64 * block_pairs / TURN as f64) as usize).max(LEAST_TURNS);
        Turns { blocks, turns: wanted.min(most.max(1)).div_ceil(epochs).max(1) * epochs }
    }

    /// Returns the turns of an epoch.
    pub(super) fn of_epoch(&self, epoch: usize, epochs: usize) -> Range<usize> {
        epoch * self.turns / epochs..(epoch + 1) * self.turns / epochs
    }

    /// Returns all turns.
    pub(super) fn all(&self) -> Range<usize> {
        0..self.turns
    }

    /// Returns the blocks of a view in a turn.
    pub(super) fn blocks(&self, view: usize, turn: usize) -> Range<usize> {
        let upto = |turn: usize| (self.blocks[view] as u128 * turn as u128 / self.turns as u128) as usize;
        upto(turn)..upto(turn + 1)
    }

    /// Returns the share of all blocks that is done when, in a turn, a view has done the share `own` of its blocks.
    pub(super) fn done(&self, view: usize, turn: usize, own: f64) -> f64 {
        let started = |(at, &blocks): (usize, &usize)| match at.cmp(&view) {
            std::cmp::Ordering::Less => self.blocks(at, turn).end as f64,
            std::cmp::Ordering::Equal => own * blocks as f64,
            std::cmp::Ordering::Greater => self.blocks(at, turn).start as f64,
        };
        let done: f64 = self.blocks.iter().enumerate().map(started).sum();
        done / self.blocks.iter().sum::<usize>().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::network;

    fn all_pairs<F: Fn(usize, &mut Vec<Pair>) + Sync>(corpus: &Corpus<F>) -> Vec<Pair> {
        let mut pairs = Vec::new();
        (0..corpus.blocks).for_each(|block| (corpus.fill)(block, &mut pairs));
        pairs
    }

    #[test]
    fn edges_come_by_weight_and_in_the_number_asked_for() {
        let network = manyview_data::Network::from_edges(&[(
            "v",
            &[("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 5.0)],
        )])
        .unwrap();
        let edges = Edges::new(&network.views()[0], Key::new(1));
        let pairs = all_pairs(&edges.corpus(50_001, 1));
        assert_eq!(pairs.len(), 50_001);
        for (input, row) in [(0, [0.0, 1.0, 5.0]), (1, [1.0, 0.0, 2.0]), (2, [5.0, 2.0, 0.0])] {
            for (output, weight) in row.into_iter().enumerate() {
                let count = pairs.iter().filter(|pair| (pair.input, pair.output as usize) == (input, output));
                let (count, expected) = (count.count() as f64, weight / 16.0 * 50_001.0);
                assert!((count - expected).abs() <= 5.0 * expected.sqrt(), "{input} {output}: {count}");
            }
        }
    }

    #[test]
    fn deeper_walks_follow_edges_by_weight() {
        let network = manyview_data::Network::from_edges(&[(
            "v",
            &[("a", "b", 1.0), ("b", "c", 3.0), ("c", "d", 1.0)],
        )])
        .unwrap();
        let edges = Edges::new(&network.views()[0], Key::new(2));
        let pairs = all_pairs(&edges.corpus(40_000, 2));
        assert_eq!(pairs.len(), 80_000);
        let second: Vec<u32> = pairs
            .chunks_exact(2)
            .filter(|two| two[0] == Pair { input: 0, output: 1 })
            .map(|two| two[1].output)
            .collect();
        let back = second.iter().filter(|&&node| node == 0).count() as f64;
        let expected = second.len() as f64 / 4.0;
        assert!(second.iter().all(|&node| node == 0 || node == 2));
        assert!((back - expected).abs() < 5.0 * expected.sqrt(), "{back} of {}", second.len());
    }

    #[test]
    fn turns_cover_all_blocks_once_and_shares_rise() {
        for (blocks, epochs) in [(vec![100, 37, 1], 1), (vec![7, 7], 3), (vec![1], 4), (vec![5000, 20], 20)] {
            let turns = Turns::new(blocks.clone(), 1024.0, epochs);
            let mut last = 0.0;
            let mut ends = vec![0; blocks.len()];
            for epoch in 0..epochs {
                for turn in turns.of_epoch(epoch, epochs) {
                    for view in 0..blocks.len() {
                        let range = turns.blocks(view, turn);
                        assert_eq!(range.start, ends[view]);
                        ends[view] = range.end;
                        for at in [range.start, range.end] {
                            let done = turns.done(view, turn, at as f64 / blocks[view] as f64);
                            assert!(done >= last - 1e-12 && done <= 1.0 + 1e-12, "{done} after {last}");
                            last = done;
                        }
                    }
                }
            }
            assert_eq!(ends, blocks);
            assert!((last - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn weights_are_sums_of_both_sides() {
        let network = network();
        let Weights { outgoing, incoming } = Weights::of(&network.views()[0]);
        assert_eq!(outgoing, incoming, "the view is undirected");
        let total: f64 = network.views()[0].adjacency.values().iter().sum();
        assert!((outgoing.iter().sum::<f64>() - total).abs() < 1e-9);
    }
}

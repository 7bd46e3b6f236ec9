//! Sorts the pairs of an episode by the part of their input, then by the part of their output, then by input.
//!
//! Negatives are also distributed here. An input with m pairs in the episode gets b m negatives. The number from each
//! part of the outputs is drawn by the parts' shares. So a task that processes a pair of parts needs no other part, and
//! all draws together still follow the noise distribution.
//!
//! Invariant: pairs of one input and one part of outputs stay in the order of their blocks.

use super::{Noise, Pair, Parts};
use manyview_base::random::{Key, Stream};

/// The pairs of one block as positions, sorted by the part of their input.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// The pairs in the order of their creation.
    made: Vec<Pair>,
    pairs: Vec<Pair>,
    starts: Vec<usize>,
}

impl Sorted {
    /// Creates and sorts the pairs of a block. They replace the previous ones, whose memory is reused.
    pub(super) fn make(&mut self, fill: impl FnOnce(&mut Vec<Pair>), inputs: &Parts, outputs: &Parts) {
        let mut pairs = std::mem::take(&mut self.made);
        pairs.clear();
        fill(&mut pairs);
        self.sort(&pairs, inputs, outputs);
        self.made = pairs;
    }

    fn sort(&mut self, pairs: &[Pair], inputs: &Parts, outputs: &Parts) {
        let length = inputs.length();
        let part = |pair: &Pair| inputs.position(pair.input as usize) / length;
        self.starts.clear();
        self.starts.resize(inputs.count() + 1, 0);
        for pair in pairs {
            self.starts[part(pair) + 1] += 1;
        }
        add_up(&mut self.starts);
        let mut next = self.starts.clone();
        self.pairs.resize(pairs.len(), Pair { input: 0, output: 0 });
        for pair in pairs {
            let place = &mut next[part(pair)];
            let (input, output) = (pair.input as usize, pair.output as usize);
            self.pairs[*place] =
                Pair { input: inputs.position(input) as u32, output: outputs.position(output) as u32 };
            *place += 1;
        }
    }

    fn of_part(&self, part: usize) -> &[Pair] {
        &self.pairs[self.starts[part]..self.starts[part + 1]]
    }
}

/// Converts counts, each stored one place further, to start positions.
fn add_up(counts: &mut [usize]) {
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
}

/// The work of one part of the inputs in an episode.
#[derive(Debug, Default)]
pub(super) struct PairBlock {
    /// Number of inputs of the part.
    length: usize,
    /// The start of the outputs of `part of outputs * length + input`.
    starts: Vec<usize>,
    /// Places of the outputs within their parts.
    outputs: Vec<u32>,
    /// The number of negatives of each input from each part, in the same order as `starts`.
    negatives: Vec<u32>,
}

impl PairBlock {
    /// Collects the pairs of a part; replaces the previous ones.
    pub(super) fn collect(&mut self, part: usize, blocks: &[Sorted], inputs: &Parts, outputs: &Parts) {
        let (length, out_length) = (inputs.length(), outputs.length());
        let first = (part * length) as u32;
        let split = |pair: &Pair| {
            let out_part = pair.output as usize / out_length;
            (out_part * length + (pair.input - first) as usize, pair.output as usize - out_part * out_length)
        };
        self.length = length;
        self.starts.clear();
        self.starts.resize(outputs.count() * length + 1, 0);
        let pairs = || blocks.iter().flat_map(|block| block.of_part(part));
        for pair in pairs() {
            self.starts[split(pair).0 + 1] += 1;
        }
        add_up(&mut self.starts);
        let mut next = self.starts.clone();
        self.outputs.resize(*next.last().expect("starts include the end"), 0);
        for pair in pairs() {
            let (list, place) = split(pair);
            self.outputs[next[list]] = place as u32;
            next[list] += 1;
        }
    }

    /// Draws `each` negatives per pair. The draws of an input depend only on the key and its position.
    pub(super) fn deal(&mut self, part: usize, noise: &Noise, each: usize, key: Key) {
        let (length, parts) = (self.length, (self.starts.len() - 1) / self.length);
        self.negatives.clear();
        self.negatives.resize(parts * length, 0);
        for place in 0..length {
            let lists = (0..parts).map(|part| part * length + place);
            let pairs: usize = lists.map(|list| self.starts[list + 1] - self.starts[list]).sum();
            if pairs > 0 {
                let mut stream = Stream::new(key.with((part * length + place) as u64));
                for _ in 0..pairs * each {
                    self.negatives[noise.draw_part(&mut stream) * length + place] += 1;
                }
            }
        }
    }

    /// Number of inputs.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The outputs seen with an input in a part of the outputs, and the number of its negatives there.
    #[inline(always)]
    pub(super) fn work(&self, out_part: usize, place: usize) -> (&[u32], usize) {
        let list = out_part * self.length + place;
        (&self.outputs[self.starts[list]..self.starts[list + 1]], self.negatives[list] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_comes_once_and_negatives_follow_the_law() {
        let (items, count) = (100usize, 4);
        let weights: Vec<f64> = (0..items).map(|item| 1.0 + (item % 9) as f64).collect();
        let parts = Parts::balanced(&weights, count);
        let noise = Noise::new(&parts, &weights);
        let mut stream = Stream::new(Key::new(1));
        let mut node = || stream.below(items as u64) as u32;
        let blocks: Vec<Vec<Pair>> =
            (0..7).map(|_| (0..5000).map(|_| Pair { input: node(), output: node() }).collect()).collect();
        let sort = |pairs: &Vec<Pair>| {
            let mut sorted = Sorted::default();
            sorted.make(|made| made.extend_from_slice(pairs), &parts, &parts);
            sorted
        };
        let sorted: Vec<Sorted> = blocks.iter().map(sort).collect();
        let mut found = Vec::new();
        let mut negatives = vec![0.0; count];
        for part in 0..count {
            let mut pair_block = PairBlock::default();
            pair_block.collect(part, &sorted, &parts, &parts);
            pair_block.deal(part, &noise, 5, Key::new(3));
            for (out_part, negatives) in negatives.iter_mut().enumerate() {
                for place in 0..pair_block.length() {
                    let (outputs, drawn) = pair_block.work(out_part, place);
                    *negatives += drawn as f64;
                    let input = parts.item_at(part * parts.length() + place) as u32;
                    let item = |&at: &u32| parts.item_at(out_part * parts.length() + at as usize) as u32;
                    found.extend(outputs.iter().map(|at| (input, item(at))));
                }
            }
        }
        let mut given: Vec<(u32, u32)> =
            blocks.iter().flatten().map(|pair| (pair.input, pair.output)).collect();
        given.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, given);
        let total: f64 = negatives.iter().sum();
        assert_eq!(total, 5.0 * 35_000.0);
        for (part, drawn) in negatives.iter().enumerate() {
            let expected = noise.share(part) * total;
            assert!((drawn - expected).abs() < 5.0 * expected.sqrt(), "part {part}: {drawn} of {expected}");
        }
    }
}

//! Skip-gram on walks: which nodes of a walk form pairs, and the vectors that are trained on these pairs.
//!
//! A node forms pairs with the nodes at most w steps before and after it. With a dynamic window, w is drawn from 1 to T
//! for every position of every walk, so a pair t steps apart is kept with probability `(T - t + 1) / T`; otherwise w =
//! T.

use manyview_base::error::{Error, Result};
use manyview_base::message::option_value;
use manyview_base::random::{Key, Stream, unit_f64};
use manyview_base::{named, settings};
use manyview_core::method::Task;

use crate::sgd::{
    Clash, Corpus, Negatives, Noise, Pair, Parts, Rate, Table, Tables, Training, Tree, train, train_in_order,
};
use crate::walks::Walks;

/// The approximate number of pairs in a block.
const BLOCK_PAIRS: f64 = 4096.0;

/// The share of the time that counting the nodes takes.
const COUNTING: f64 = 0.02;

named! {
    /// What the pairs of a walk are trained with.
    pub enum Softmax {
        Negative = "negative", "negative sampling: each pair against a few random nodes";
        Hierarchical = "hierarchical", "the hierarchical softmax, along a Huffman tree; on one thread";
        Both = "both", "both for each pair, as in the published code of DeepWalk; on one thread";
    }
}

settings! {
    /// Settings of walks and of the training on them.
    pub struct SkipGram {
        /// The number of walks from each node.
        walks: usize = 10 => at_least(1.0).hint("the papers use 80");
        /// The number of nodes of a walk.
        length: usize = 40 => at_least(2.0).hint("the papers use 40");
        /// The largest number of steps between two nodes of a walk that form a pair.
        window: usize = 10 => at_least(1.0).hint("the papers use 10");
        /// Whether the window of each position in a walk is drawn at random, from 1 to `window`.
        dynamic_window: bool = true;
        /// The number of negative samples per pair.
        negative: usize = 5 => hint("the usual choice is 5");
        /// The number of epochs: how often all walks are trained on.
        epochs: usize = 1 => at_least(1.0).hint("1 is usual where there are many walks");
        /// The initial learning rate; it decreases linearly to 0.0001.
        rate: f64 = 0.025 => above(0.0).at_most(1.0).hint("the usual choice is 0.025");
        /// What pairs are trained with.
        softmax: Softmax = Softmax::Negative;
        /// The subsampling threshold: nodes that make up a larger share of all walks are dropped at random, as in
        /// word2vec. 0 keeps all nodes.
        subsample: f64 = 0.0 => at_least(0.0).below(1.0).hint("use 0 to keep all nodes, or a value such as 0.001");
        /// Whether walks choose edges in proportion to their weights.
        weighted: bool = false;
    }
}

impl SkipGram {
    /// Checks the rules between settings.
    pub(crate) fn check(&self) -> Result<()> {
        if self.negative == 0 && self.softmax != Softmax::Hierarchical {
            return Err(Error::config(format!(
                "{} needs {}; the usual choice is 5",
                option_value("negative", 0),
                option_value("softmax", Softmax::Hierarchical.name())
            )));
        }
        Ok(())
    }

    /// Trains vectors of nodes on walks. Nodes in no walk have zero vectors.
    pub(crate) fn run(
        &self,
        task: &mut Task<'_, '_>,
        walks: &Walks<'_>,
        key: Key,
        clash: Clash,
    ) -> Result<Vec<f32>> {
        let (pool, dim) = (task.pool, task.dim);
        let counts = walks.counts(pool, &mut |share| task.tell("walks", COUNTING * share))?;
        let weights: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let alone = self.softmax != Softmax::Negative;
        let parts = if alone { Parts::one(weights.len()) } else { Parts::of(&weights) };
        let noise = Noise::of_counts(&parts, &weights);
        let mut inputs = Table::random(parts.clone(), dim, key.with(0));
        let corpus = self.corpus(walks, &counts, key.with(1));
        let count = if self.softmax == Softmax::Hierarchical { 0 } else { self.negative };
        let negatives = Negatives { noise: &noise, count, clash };
        let training = Training { negatives, rate: Rate::falling_from(self.rate), key: key.with(2), pool };
        let mut watch = |share: f64| task.tell("vectors", COUNTING + (1.0 - COUNTING) * share);
        let mut outputs = Table::zeros(if count > 0 { parts } else { Parts::one(0) }, dim);
        let mut tables = Tables::Two { inputs: &mut inputs, outputs: &mut outputs };
        let (blocks, nothing) = (0..corpus.blocks, |_: usize, _: &mut [f32], _: f32| ());
        if alone {
            let tree = Tree::new(&counts);
            let mut inner = Table::zeros(Parts::one(tree.inner()), dim);
            let tree = Some((&tree, &mut inner));
            train_in_order(&mut tables, tree, &corpus, blocks, &training, &nothing, &mut watch)?;
        } else {
            train(&mut tables, &corpus, blocks, &training, &nothing, &mut watch)?;
        }
        Ok(inputs.to_vec(|node| counts[node] > 0))
    }

    /// Returns the pairs of all epochs. Each epoch has the same walks; windows are drawn again.
    pub(crate) fn corpus<'a>(
        &'a self,
        walks: &'a Walks<'_>,
        counts: &[u64],
        key: Key,
    ) -> Corpus<impl Fn(usize, &mut Vec<Pair>) + Sync + 'a> {
        let kept = (self.subsample > 0.0).then(|| kept(counts, self.subsample));
        let together = ((BLOCK_PAIRS / self.walk_pairs()) as usize).clamp(1, walks.count());
        let epoch_blocks = walks.count().div_ceil(together);
        let fill = move |block: usize, pairs: &mut Vec<Pair>| {
            let (epoch, block) = (block / epoch_blocks, block % epoch_blocks);
            let key = key.with(epoch as u64);
            let mut nodes = Vec::with_capacity(walks.length());
            for number in block * together..((block + 1) * together).min(walks.count()) {
                walks.walk(number, &mut nodes);
                let mut stream = Stream::new(key.with(number as u64));
                if let Some(kept) = &kept {
                    nodes.retain(|&node| unit_f64(stream.next_u64()) < kept[node as usize]);
                }
                self.pairs(&nodes, &mut stream, pairs);
            }
        };
        Corpus { blocks: epoch_blocks * self.epochs, block_pairs: self.walk_pairs() * together as f64, fill }
    }

    /// Appends the pairs of a walk.
    fn pairs(&self, nodes: &[u32], stream: &mut Stream, pairs: &mut Vec<Pair>) {
        for (place, &input) in nodes.iter().enumerate() {
            let window =
                if self.dynamic_window { 1 + stream.below(self.window as u64) as usize } else { self.window };
            let end = (place + window + 1).min(nodes.len());
            let before = &nodes[place.saturating_sub(window)..place];
            let seen = before.iter().chain(&nodes[place + 1..end]);
            pairs.extend(seen.map(|&output| Pair { input, output }));
        }
    }

    /// Returns the average number of pairs of a walk of full length.
    fn walk_pairs(&self) -> f64 {
        let (length, window) = (self.length as f64, self.window as f64);
        let chance = |t: f64| if self.dynamic_window { (window - t + 1.0) / window } else { 1.0 };
        (1..=self.window.min(self.length - 1)).map(|t| 2.0 * (length - t as f64) * chance(t as f64)).sum()
    }
}

/// Returns, for each node, the probability that a position in a walk is kept: `sqrt(s / f) + s / f`, where f is the
/// node's share of all positions.
fn kept(counts: &[u64], subsample: f64) -> Vec<f64> {
    let total = counts.iter().sum::<u64>() as f64;
    let chance = |&count: &u64| {
        let ratio = subsample * total / count as f64;
        ratio.sqrt() + ratio
    };
    counts.iter().map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeepWalk;
    use crate::walks::DeadEnd;
    use manyview_base::parallel::Pool;
    use manyview_core::method::Method;
    use manyview_data::generate::Planted;

    fn settings() -> SkipGram {
        SkipGram { walks: 1, window: 4, ..SkipGram::default() }
    }

    /// Counts the pairs that are t steps apart in many walks of distinct nodes.
    fn distances(settings: &SkipGram, length: u32, walks: usize) -> Vec<f64> {
        let nodes: Vec<u32> = (0..length).collect();
        let (mut found, mut pairs) = (vec![0.0; settings.window + 1], Vec::new());
        for walk in 0..walks {
            settings.pairs(&nodes, &mut Stream::new(Key::new(walk as u64)), &mut pairs);
        }
        pairs.iter().for_each(|pair| found[pair.input.abs_diff(pair.output) as usize] += 1.0);
        found
    }

    #[test]
    fn a_drawn_window_keeps_near_pairs_more_often() {
        let (length, walks) = (30, 4000);
        for dynamic_window in [true, false] {
            let settings = SkipGram { dynamic_window, length: 30, ..settings() };
            let found = distances(&settings, length, walks);
            assert_eq!(found[0], 0.0);
            let mut mean = 0.0;
            for (t, found) in found.iter().enumerate().skip(1) {
                let whole = (2 * (length as usize - t) * walks) as f64;
                let chance = if dynamic_window { (4 - t + 1) as f64 / 4.0 } else { 1.0 };
                let error = (chance * (1.0 - chance) / whole).sqrt();
                // The pairs of one position depend on one draw, so the error is up to twice that of independent draws.
                assert!((found / whole - chance).abs() <= 10.0 * error, "{t}: {}", found / whole);
                mean += chance * whole / walks as f64;
            }
            assert!((settings.walk_pairs() - mean).abs() < 1e-9);
        }
        assert_eq!(distances(&settings(), 1, 10), [0.0; 5]);
        assert_eq!(distances(&settings(), 0, 10), [0.0; 5]);
    }

    #[test]
    fn frequent_nodes_are_left_out_by_their_share() {
        let kept = kept(&[900, 100, 0], 0.01);
        let chance = |share: f64| (0.01f64 / share).sqrt() + 0.01 / share;
        assert!((kept[0] - chance(0.9)).abs() < 1e-12 && (kept[1] - chance(0.1)).abs() < 1e-12);
        assert!(kept[0] < kept[1] && kept[1] < 1.0 && kept[2] > 1.0);
    }

    #[test]
    fn an_epoch_has_the_same_walks_and_other_windows() {
        let planted = Planted { nodes: 30, views: 1, communities: 3, ..Planted::default() };
        let network = planted.generate().unwrap().network().unwrap();
        let settings = SkipGram { walks: 3, epochs: 2, subsample: 1e-2, ..settings() };
        let views = network.views().iter();
        let walks = Walks::new(views, false, DeadEnd::Stop, (3, 40), Key::new(1));
        let pool = Pool::new(Some(1)).unwrap();
        let counts = walks.counts(&pool, &mut |_| Ok(())).unwrap();
        let corpus = settings.corpus(&walks, &counts, Key::new(2));
        let epoch = |which: usize| {
            let (mut pairs, blocks) = (Vec::new(), corpus.blocks / 2);
            (which * blocks..(which + 1) * blocks).for_each(|block| (corpus.fill)(block, &mut pairs));
            pairs
        };
        let (first, second) = (epoch(0), epoch(1));
        assert!(first != second && !first.is_empty());
        assert!(first.len().abs_diff(second.len()) < first.len() / 5);
        let all = SkipGram { subsample: 0.0, dynamic_window: false, ..settings.clone() };
        let corpus = all.corpus(&walks, &counts, Key::new(2));
        let mut pairs = Vec::new();
        (0..corpus.blocks).for_each(|block| (corpus.fill)(block, &mut pairs));
        assert!((pairs.len() as f64 / (corpus.blocks as f64 * corpus.block_pairs) - 1.0).abs() < 0.1);
        assert!(first.len() < pairs.len() / 2);
    }

    /// With enough columns and noise in proportion to counts, products converge to the logarithm of DeepWalk's matrix,
    /// `X = vol / (b T) (P + ... + P^T) D^-1`.
    #[test]
    fn products_go_to_the_logarithm_of_the_deepwalk_matrix() {
        let (window, negative, nodes) = (3, 2, 12);
        let planted = Planted { nodes, views: 1, communities: 3, ..Planted::default() };
        let network = planted.generate().unwrap().network().unwrap();
        let adjacency = &network.views()[0].adjacency;
        let skip_gram = SkipGram {
            walks: 2000,
            length: 40,
            window,
            dynamic_window: false,
            negative,
            ..SkipGram::default()
        };
        let one = std::iter::once(adjacency);
        let walks = Walks::on(one, true, DeadEnd::Stop, (skip_gram.walks, skip_gram.length), Key::new(1));
        let pool = Pool::new(Some(2)).unwrap();
        let counts = walks.counts(&pool, &mut |_| Ok(())).unwrap();
        let corpus = skip_gram.corpus(&walks, &counts, Key::new(2));
        let (parts, weights) =
            (Parts::one(nodes), counts.iter().map(|&count| count as f64).collect::<Vec<f64>>());
        let noise = Noise::new(&parts, &weights);
        let (mut inputs, mut outputs) =
            (Table::random(parts.clone(), 16, Key::new(3)), Table::zeros(parts, 16));
        let negatives = Negatives { noise: &noise, count: negative, clash: Clash::Keep };
        let rate = Rate { first: 0.05, last: 1e-4 };
        let training = Training { negatives, rate, key: Key::new(4), pool: &pool };
        let mut tables = Tables::Two { inputs: &mut inputs, outputs: &mut outputs };
        let blocks = 0..corpus.blocks;
        train(&mut tables, &corpus, blocks, &training, &|_, _, _| (), &mut |_| Ok(())).unwrap();

        let degrees: Vec<f64> = (0..nodes).map(|node| adjacency.row(node).1.iter().sum()).collect();
        let volume: f64 = degrees.iter().sum();
        let mut pairs = Vec::new();
        for i in 0..nodes {
            let (mut reached, mut sum) = (vec![0.0; nodes], vec![0.0; nodes]);
            reached[i] = 1.0;
            for _ in 0..window {
                let mut next = vec![0.0; nodes];
                for node in 0..nodes {
                    let (cols, values) = adjacency.row(node);
                    for (&col, weight) in cols.iter().zip(values) {
                        next[col as usize] += reached[node] * weight / degrees[node];
                    }
                }
                reached = next;
                sum.iter_mut().zip(&reached).for_each(|(sum, x)| *sum += x);
            }
            for j in 0..nodes {
                let x = volume / (negative * window) as f64 * sum[j] / degrees[j];
                let found: f32 = inputs.row(i).iter().zip(outputs.row(j)).map(|(x, y)| x * y).sum();
                // The products of pairs that never occur decrease without bound.
                if x > 0.02 {
                    pairs.push((x.ln(), f64::from(found)));
                }
            }
        }
        assert!(pairs.len() > nodes * nodes / 2, "{} pairs", pairs.len());
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let product =
            |a: fn(&(f64, f64), f64, f64) -> f64| pairs.iter().map(|pair| a(pair, x, y)).sum::<f64>();
        let correlation = product(|pair, x, y| (pair.0 - x) * (pair.1 - y))
            / (product(|pair, x, _| (pair.0 - x).powi(2)) * product(|pair, _, y| (pair.1 - y).powi(2)))
                .sqrt();
        assert!(correlation > 0.95 && (x - y).abs() < 0.2, "correlation {correlation}, means {x} and {y}");
    }

    #[test]
    fn senseless_settings_are_refused_by_name() {
        let base = SkipGram::default;
        let check = |skip_gram| DeepWalk { skip_gram, ..DeepWalk::default() }.check();
        for (settings, expected) in [
            (SkipGram { walks: 0, ..base() }, "walks = 0"),
            (SkipGram { length: 1, ..base() }, "length = 1"),
            (SkipGram { window: 0, ..base() }, "window = 0"),
            (SkipGram { epochs: 0, ..base() }, "epochs = 0"),
            (SkipGram { negative: 0, ..base() }, "negative = 0"),
            (SkipGram { rate: f64::NAN, ..base() }, "rate = NaN"),
            (SkipGram { rate: 0.0, ..base() }, "rate = 0"),
            (SkipGram { subsample: 1.0, ..base() }, "subsample = 1"),
        ] {
            let message = check(settings).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message}");
        }
        check(SkipGram { negative: 0, softmax: Softmax::Hierarchical, ..base() }).unwrap();
    }
}

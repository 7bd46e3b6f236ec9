//! Draws the distinct edges of one view.
//!
//! Invariant: the set of pairs grows until it has exactly the wanted size. Candidates are drawn in rounds of chunks,
//! each chunk with its own random numbers, and known pairs are dropped. Sets have no order, so neither threads nor
//! sorting can change the result. If the communities of a partition have too few pairs, random pairs are added. If
//! those are not found within the limit on rounds, the rest is drawn from the list of all free pairs.

use rayon::prelude::*;

use manyview_base::random::{Key, Stream};
use manyview_base::sampling::Alias;

/// The number of candidates drawn with one stream.
const CHUNK: usize = 1 << 15;

/// The number of rounds before a source of pairs counts as exhausted. A sparse view needs two or three.
const ROUNDS: u64 = 32;

/// The properties of a view.
pub(super) struct Plan<'a> {
    /// The nodes of the view, in ascending order.
    pub(super) present: Vec<u32>,
    /// The relative probability of each node of the network.
    pub(super) activity: &'a [f64],
    /// The partitions (a label for each node of the network), and the number of edges within the communities of each.
    pub(super) partitions: [(&'a [u32], usize); 2],
    /// The number of edges with random ends.
    pub(super) random: usize,
}

/// Draws the edges. There must be at least as many pairs of present nodes as wanted edges.
pub(super) fn draw_edges(plan: &Plan, key: Key) -> Vec<(u32, u32)> {
    let everyone = Crowd::new(plan.present.clone(), |node| plan.activity[node as usize]);
    let mut pairs = Pairs::default();
    let mut missing = plan.random;
    for (source, (labels, wanted)) in (0..).zip(plan.partitions) {
        if wanted > 0 && everyone.is_some() {
            let communities = communities(plan, labels);
            missing += pairs.fill(wanted, key.with(source), |stream| {
                let first = everyone.as_ref()?.draw(stream);
                let community = communities[labels[first as usize] as usize].as_ref();
                Some((first, community.expect("a node is in its community").draw(stream)))
            });
        } else {
            missing += wanted;
        }
    }
    missing = pairs.fill(missing, key.with(2), |stream| {
        let everyone = everyone.as_ref()?;
        Some((everyone.draw(stream), everyone.draw(stream)))
    });
    // If a few nodes have nearly all the activity, their pairs are exhausted first, and pairs of the other nodes are
    // needed.
    missing = pairs.fill(missing, key.with(3), |stream| {
        let mut draw = || plan.present[stream.below(plan.present.len() as u64) as usize];
        Some((draw(), draw()))
    });
    pairs.fill_from_rest(missing, key.with(4), &plan.present);
    pairs.sorted.into_iter().map(|pair| ((pair >> 32) as u32, pair as u32)).collect()
}

/// Nodes to draw from, with probabilities proportional to their activity.
struct Crowd {
    members: Vec<u32>,
    table: Alias,
}

impl Crowd {
    fn new(members: Vec<u32>, activity: impl Fn(u32) -> f64) -> Option<Self> {
        let weights: Vec<f64> = members.iter().map(|&node| activity(node)).collect();
        (!members.is_empty()).then(|| Crowd { members, table: Alias::new(&weights) })
    }

    fn draw(&self, stream: &mut Stream) -> u32 {
        self.members[self.table.draw(stream)]
    }
}

/// Returns the present members of each community, or `None` if all are absent.
fn communities(plan: &Plan, labels: &[u32]) -> Vec<Option<Crowd>> {
    let count = labels.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members = vec![Vec::new(); count];
    for &node in &plan.present {
        members[labels[node as usize] as usize].push(node);
    }
    members.into_par_iter().map(|nodes| Crowd::new(nodes, |node| plan.activity[node as usize])).collect()
}

/// A set of unordered pairs, each stored as one number with the lower node in the high half.
#[derive(Default)]
struct Pairs {
    sorted: Vec<u64>,
}

fn pair_of((a, b): (u32, u32)) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

impl Pairs {
    /// Adds up to `wanted` new pairs and returns how many are missing after the last round.
    fn fill(
        &mut self,
        wanted: usize,
        key: Key,
        draw: impl Fn(&mut Stream) -> Option<(u32, u32)> + Sync,
    ) -> usize {
        let mut missing = wanted;
        for round in 0..ROUNDS {
            if missing == 0 {
                break;
            }
            let found = self.add(candidates(missing, key.with(round), &draw));
            missing -= found;
            // Few new pairs mean that nearly all pairs are taken, so further rounds are not worthwhile.
            if missing >= 64 && found < missing / 64 {
                break;
            }
        }
        missing
    }

    /// Adds the new pairs and returns their number.
    fn add(&mut self, mut pairs: Vec<u64>) -> usize {
        pairs.par_sort_unstable();
        pairs.dedup();
        pairs.retain(|pair| self.sorted.binary_search(pair).is_err());
        let added = pairs.len();
        if added > 0 {
            self.sorted = merge(&self.sorted, &pairs);
        }
        added
    }

    /// Adds `wanted` of the free pairs. Called only if most are taken, when listing the others is cheap.
    fn fill_from_rest(&mut self, wanted: usize, key: Key, present: &[u32]) {
        if wanted == 0 {
            return;
        }
        let mut taken = self.sorted.iter().copied().peekable();
        let mut rest = Vec::new();
        for (index, &a) in present.iter().enumerate() {
            for &b in &present[index + 1..] {
                let pair = pair_of((a, b));
                if taken.next_if_eq(&pair).is_none() {
                    rest.push(pair);
                }
            }
        }
        assert!(rest.len() >= wanted, "{wanted} more edges wanted and {} pairs left", rest.len());
        Stream::new(key).shuffle(&mut rest);
        rest.truncate(wanted);
        self.add(rest);
    }
}

/// Returns up to `count` pairs of two different nodes in any order, possibly with duplicates.
fn candidates(
    count: usize,
    key: Key,
    draw: &(impl Fn(&mut Stream) -> Option<(u32, u32)> + Sync),
) -> Vec<u64> {
    (0..count.div_ceil(CHUNK))
        .into_par_iter()
        .flat_map_iter(|chunk| {
            let mut stream = Stream::new(key.with(chunk as u64));
            let size = CHUNK.min(count - chunk * CHUNK);
            (0..size).filter_map(move |_| draw(&mut stream)).filter(|(a, b)| a != b).map(pair_of)
        })
        .collect()
}

fn merge(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut left = left.iter().copied().peekable();
    for &pair in right {
        while let Some(before) = left.next_if(|&before| before < pair) {
            merged.push(before);
        }
        merged.push(pair);
    }
    merged.extend(left);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_pairs_count() {
        let mut pairs = Pairs::default();
        assert_eq!(pairs.add(vec![5, 3, 5, 9]), 3);
        assert_eq!(pairs.add(vec![9, 4, 3, 12, 0]), 3);
        assert_eq!(pairs.add(Vec::new()), 0);
        assert_eq!(pairs.sorted, [0, 3, 4, 5, 9, 12]);
    }

    #[test]
    fn an_exhausted_source_tells_what_is_missing() {
        let mut pairs = Pairs::default();
        let missing = pairs.fill(1000, Key::new(1), |stream| Some((stream.below(5) as u32, 7)));
        assert_eq!((missing, pairs.sorted.len()), (995, 5));
        assert_eq!(pairs.fill(10, Key::new(1), |_| Some((2, 2))), 10, "loops are not pairs");
        assert_eq!(pairs.fill(10, Key::new(1), |_| None), 10);
    }

    #[test]
    fn the_rest_is_drawn_from_pairs_that_are_free() {
        let present = [1, 4, 6, 9];
        let mut pairs = Pairs::default();
        pairs.add(vec![pair_of((4, 1)), pair_of((6, 9))]);
        pairs.fill_from_rest(3, Key::new(2), &present);
        assert_eq!(pairs.sorted.len(), 5);
        pairs.fill_from_rest(1, Key::new(2), &present);
        assert_eq!(pairs.sorted.len(), 6);
        assert!(pairs.sorted.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

//! Draws the distinct edges of one view.
//!
//! Invariant: the set of pairs grows until it has exactly the number wanted. Candidates come in rounds of
//! chunks, each chunk with random numbers of its own, and pairs met before are dropped; sets have no order, so
//! neither threads nor sorting can change the result. What a partition cannot give (its communities have too
//! few pairs), random pairs do; what those do not give in time, the list of all free pairs does.

use rayon::prelude::*;

use manyview_base::random::{Key, Stream};
use manyview_base::sampling::Alias;

/// Candidates drawn with one stream.
const CHUNK: usize = 1 << 15;

/// Rounds before a source of pairs counts as exhausted; a sparse view needs two or three.
const ROUNDS: u64 = 32;

/// What is wanted of a view.
pub(super) struct Plan<'a> {
    /// Nodes of the view, in ascending order.
    pub(super) present: Vec<u32>,
    /// How often each node of the network is drawn, relative to others.
    pub(super) activity: &'a [f64],
    /// Partitions (a label for each node of the network) and how many edges shall follow each.
    pub(super) partitions: [(&'a [u32], usize); 2],
    /// How many edges shall have random ends.
    pub(super) random: usize,
}

/// Draws the edges; there must be as many pairs of present nodes as edges wanted.
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
    // Where a few nodes do nearly everything their pairs run out first, and the others must step in.
    missing = pairs.fill(missing, key.with(3), |stream| {
        let mut draw = || plan.present[stream.below(plan.present.len() as u64) as usize];
        Some((draw(), draw()))
    });
    pairs.fill_from_rest(missing, key.with(4), &plan.present);
    pairs.sorted.into_iter().map(|pair| ((pair >> 32) as u32, pair as u32)).collect()
}

/// Nodes to draw from, according to their activity.
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

/// The present members of each community; `None` where all are absent.
fn communities(plan: &Plan, labels: &[u32]) -> Vec<Option<Crowd>> {
    let count = labels.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members = vec![Vec::new(); count];
    for &node in &plan.present {
        members[labels[node as usize] as usize].push(node);
    }
    members.into_par_iter().map(|nodes| Crowd::new(nodes, |node| plan.activity[node as usize])).collect()
}

/// A set of unordered pairs, each as one number with the lower node in the high half.
#[derive(Default)]
struct Pairs {
    sorted: Vec<u64>,
}

fn pair_of((a, b): (u32, u32)) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

impl Pairs {
    /// Adds up to `wanted` new pairs and tells how many are missing after the last round.
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
            // Nearly nothing new means that nearly all pairs are taken; the other rounds would be in vain.
            if missing >= 64 && found < missing / 64 {
                break;
            }
        }
        missing
    }

    /// Adds the pairs that are new and tells how many they were.
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

    /// Adds `wanted` of the pairs not taken yet. Only reached when most are: listing them all is cheap then.
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

/// At most `count` pairs of two different nodes, in any order, some perhaps twice.
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
        assert_eq!(pairs.fill(10, Key::new(1), |_| Some((2, 2))), 10, "loops are no pairs");
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

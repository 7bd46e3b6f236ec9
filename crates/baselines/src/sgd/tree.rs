//! Huffman's tree, for the hierarchical softmax: an item is a leaf, and its probability is that of the path to it.
//!
//! ```text
//! P(j | i) = product over inner nodes t on the path to j of s(x_i y_t) or 1 - s(x_i y_t)
//! ```
//!
//! Frequent items are near the root, so the mean path length is minimal. The probabilities of all leaves sum to 1. The
//! outputs are the inner nodes, one fewer than items.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Target;

/// The path to each item.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    starts: Vec<usize>,
    targets: Vec<Target>,
}

impl Tree {
    /// The tree for these counts, in time `n log n`. Equal counts are merged in the order of the items.
    pub(crate) fn new(counts: &[u64]) -> Self {
        let items = counts.len();
        let whole = (2 * items).saturating_sub(1);
        let (mut parents, mut turns) = (vec![0u32; whole], vec![0.0f32; whole]);
        let mut heap: BinaryHeap<Reverse<(u64, usize)>> =
            counts.iter().enumerate().map(|(item, &count)| Reverse((count, item))).collect();
        for inner in items..whole {
            let mut lightest = || heap.pop().expect("at least two trees are left").0;
            let (less, more) = (lightest(), lightest());
            (parents[less.1], parents[more.1]) = (inner as u32, inner as u32);
            turns[less.1] = 1.0;
            heap.push(Reverse((less.0 + more.0, inner)));
        }
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for item in 0..items {
            let first = targets.len();
            let mut node = item;
            while node + 1 < whole {
                let parent = parents[node] as usize;
                targets.push(Target { row: (parent - items) as u32, label: turns[node] });
                node = parent;
            }
            targets[first..].reverse();
            starts.push(targets.len());
        }
        Tree { starts, targets }
    }

    /// The number of inner nodes, which are the rows of the output table.
    pub(crate) fn inner(&self) -> usize {
        (self.starts.len() - 1).saturating_sub(1)
    }

    /// The inner nodes on the path to an item, from the root, and the direction taken at each.
    pub(crate) fn way(&self, item: usize) -> &[Target] {
        &self.targets[self.starts[item]..self.starts[item + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, unit_f64};

    #[test]
    fn chances_of_all_leaves_add_up_to_one() {
        for items in [1, 2, 3, 10, 257] {
            let counts: Vec<u64> = (0..items).map(|item| item * item % 101).collect();
            let tree = Tree::new(&counts);
            assert_eq!(tree.inner() as u64, items - 1);
            let answers: Vec<f64> = (0..items as usize).map(|at| unit_f64(Key::new(1).at(at, 0))).collect();
            let chance = |item: usize| -> f64 {
                let of = |target: &Target| {
                    let answer = answers[target.row as usize];
                    if target.label == 1.0 { answer } else { 1.0 - answer }
                };
                tree.way(item).iter().map(of).product()
            };
            let total: f64 = (0..items as usize).map(chance).sum();
            assert!((total - 1.0).abs() < 1e-12, "{items} items: {total}");
        }
    }

    #[test]
    fn frequent_items_are_near_the_root() {
        let tree = Tree::new(&[1, 1, 2, 4, 8, 16]);
        let lengths: Vec<usize> = (0..6).map(|item| tree.way(item).len()).collect();
        assert_eq!(lengths, [5, 5, 4, 3, 2, 1]);
        assert!((0..6).all(|item| tree.way(item)[0].row == 4), "the root is created last");
    }
}

//! Partitions items into parts of equal size and nearly equal weight, so that threads can work on different parts.
//!
//! Invariant: an item has one position, `part * length + place`; parts depend on the weights only. With one part,
//! positions are the items' numbers.

/// Minimum number of items per part; with fewer, most of the time would be spent on sorting pairs.
const SMALLEST: usize = 512;

/// Maximum number of parts. More parts allow more threads, but leave fewer pairs per input and part.
const MOST: usize = 16;

/// The partition of the items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The position of each item.
    positions: Vec<u32>,
    /// The item at each position; `u32::MAX` if the last place of a part is empty.
    items: Vec<u32>,
    count: usize,
}

impl Parts {
    /// All items in one part.
    pub(crate) fn one(items: usize) -> Self {
        let same: Vec<u32> = (0..items as u32).collect();
        Parts { positions: same.clone(), items: same, count: 1 }
    }

    /// As many parts as the number of items allows: a power of two, 1 below 1024 items and at most 16.
    pub(crate) fn of(weights: &[f64]) -> Self {
        let most = (weights.len() / SMALLEST).clamp(1, MOST);
        Self::balanced(weights, 1 << most.ilog2())
    }

    /// Assigns items in order of decreasing weight: in every round each part gets one item, the lightest part the
    /// heaviest.
    ///
    /// # Panics
    /// If the number of parts is not a power of two.
    pub(crate) fn balanced(weights: &[f64], count: usize) -> Self {
        assert!(count.is_power_of_two(), "the number of parts must be a power of two, got {count}");
        assert!(
            u32::try_from(weights.len() + count).is_ok(),
            "at most 2^32 items are supported, got {}",
            weights.len()
        );
        if count == 1 {
            return Self::one(weights.len());
        }
        let mut order: Vec<u32> = (0..weights.len() as u32).collect();
        // Stable, so that items of equal weight stay in order.
        order.sort_by(|&a, &b| weights[b as usize].total_cmp(&weights[a as usize]));
        let length = weights.len().div_ceil(count);
        let (mut positions, mut items) = (vec![0; weights.len()], vec![u32::MAX; length * count]);
        let mut totals = vec![0.0f64; count];
        let mut parts: Vec<usize> = (0..count).collect();
        for (place, round) in order.chunks(count).enumerate() {
            parts.sort_by(|&a, &b| totals[a].total_cmp(&totals[b]).then(a.cmp(&b)));
            for (&item, &part) in round.iter().zip(&parts) {
                totals[part] += weights[item as usize];
                positions[item as usize] = (part * length + place) as u32;
                items[part * length + place] = item;
            }
        }
        Parts { positions, items, count }
    }

    /// The number of parts.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The number of items.
    pub(crate) fn items(&self) -> usize {
        self.positions.len()
    }

    /// The number of places per part, including empty ones.
    pub(crate) fn length(&self) -> usize {
        self.items.len() / self.count
    }

    /// The number of places of all parts.
    pub(crate) fn positions(&self) -> usize {
        self.items.len()
    }

    /// The position of an item.
    #[inline(always)]
    pub(crate) fn position(&self, item: usize) -> usize {
        self.positions[item] as usize
    }

    /// The item at a position.
    #[inline(always)]
    pub(super) fn item_at(&self, position: usize) -> usize {
        self.items[position] as usize
    }

    /// One value per position, by the item there; `empty` if there is none.
    pub(super) fn by_position<T: Copy>(&self, values: &[T], empty: T) -> Vec<T> {
        self.items.iter().map(|&item| values.get(item as usize).copied().unwrap_or(empty)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_one_place_and_parts_weigh_the_same() {
        for (items, count) in [(1000, 4), (1001, 4), (999, 8), (5, 4), (3, 4)] {
            let weights: Vec<f64> = (0..items).map(|item| 100.0 / (1.0 + item as f64)).collect();
            let parts = Parts::balanced(&weights, count);
            assert_eq!((parts.count(), parts.items()), (count, items));
            for item in 0..items {
                assert_eq!(parts.item_at(parts.position(item)), item);
            }
            let spread = parts.by_position(&weights, 0.0);
            let totals: Vec<f64> = spread.chunks(parts.length()).map(|part| part.iter().sum()).collect();
            let (low, high) = totals.iter().fold((f64::MAX, 0.0f64), |(l, h), &t| (l.min(t), h.max(t)));
            // No rule can do better than the heaviest single item allows.
            assert!(high - low <= weights[0], "{totals:?}");
        }
    }

    #[test]
    fn their_number_follows_from_the_number_of_items() {
        let count = |items: usize| Parts::of(&vec![1.0; items]).count();
        assert_eq!([1, 1023, 1024, 2000, 5000, 100_000].map(count), [1, 1, 2, 2, 8, 16]);
    }
}

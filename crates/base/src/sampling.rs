//! Weighted sampling in constant time per draw.
//!
//! Alias tables (Walker, Vose): the weights are cut into as many slots of equal size as there are items, and each
//! slot is shared by at most two items. A draw picks a slot and one of its two items.
//!
//! Invariant: slot `i` belongs to item `i` below its threshold and to its alias above it. An item of weight 0 owns no
//! part of a slot.

use crate::linalg::safe_scale;
use crate::random::Stream;

/// An alias table over the items `0..len`.
#[derive(Clone, Debug)]
pub struct Alias {
    slots: Vec<Slot>,
}

/// Both fields are in one struct, because a draw over a million items misses the cache once per array.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The share of the item in its own slot, as a fraction of 2^64.
    threshold: u64,
    /// The item that owns the rest.
    alias: u32,
}

impl Alias {
    /// Creates a table for these weights, in linear time.
    ///
    /// # Panics
    /// When a weight is negative or not finite, or all are zero.
    pub fn new(weights: &[f64]) -> Self {
        assert!(u32::try_from(weights.len()).is_ok(), "at most 2^32 items, got {}", weights.len());
        assert!(weights.iter().all(|&weight| weight >= 0.0), "weights must be at least 0");
        // Only ratios matter, and the sum of the largest numbers would be infinite.
        let scale = safe_scale(weights);
        let total: f64 = weights.iter().map(|weight| weight * scale).sum();
        assert!(
            total > 0.0 && total.is_finite(),
            "the sum of the weights must be finite and above 0, got {total}"
        );
        let mut shares: Vec<f64> =
            weights.iter().map(|weight| weight * scale / total * weights.len() as f64).collect();
        let mut slots: Vec<Slot> =
            (0..weights.len() as u32).map(|item| Slot { threshold: u64::MAX, alias: item }).collect();
        let (mut poor, mut rich): (Vec<u32>, Vec<u32>) =
            (0..weights.len() as u32).partition(|&item| shares[item as usize] < 1.0);
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            let share = shares[taker as usize];
            slots[taker as usize] = Slot { threshold: fraction(share), alias: giver };
            shares[giver as usize] -= 1.0 - share;
            if shares[giver as usize] < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        // Due to rounding, items whose share differs from 1 only in the last digits may remain. They keep their whole
        // slot. An item of weight 0 must not, should rounding ever leave one.
        let heaviest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]));
        for item in poor.into_iter().filter(|&item| weights[item as usize] == 0.0) {
            let alias = heaviest.expect("some weight is above 0") as u32;
            slots[item as usize] = Slot { threshold: 0, alias };
        }
        Alias { slots }
    }

    /// Draws an item with a probability proportional to its weight.
    pub fn draw(&self, stream: &mut Stream) -> usize {
        // One random number is used twice: the high half of the product is the slot, the low half the position in it.
        // The probabilities of the slots differ by less than len / 2^64, which is not measurable.
        let product = u128::from(stream.next_u64()) * self.slots.len() as u128;
        let item = (product >> 64) as usize;
        let slot = self.slots[item];
        if (product as u64) < slot.threshold { item } else { slot.alias as usize }
    }
}

/// Returns a share below 1 as a fraction of 2^64.
fn fraction(share: f64) -> u64 {
    (share.max(0.0) * 2.0f64.powi(64)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    fn counts(weights: &[f64], draws: usize) -> Vec<f64> {
        let (table, mut stream) = (Alias::new(weights), Stream::new(Key::new(1)));
        let mut counts = vec![0.0; weights.len()];
        for _ in 0..draws {
            counts[table.draw(&mut stream)] += 1.0;
        }
        counts
    }

    #[test]
    fn items_come_in_proportion_to_their_weights() {
        let weights: Vec<f64> = (1..=100).map(|rank| 1.0 / f64::from(rank)).collect();
        let total: f64 = weights.iter().sum();
        let draws = 200_000;
        let chi_square: f64 = counts(&weights, draws)
            .iter()
            .zip(&weights)
            .map(|(count, weight)| (count - weight / total * draws as f64, weight / total * draws as f64))
            .map(|(difference, expected)| difference * difference / expected)
            .sum();
        assert!(chi_square < 148.2, "99.9% of fair draws stay below 148.2 with 99 degrees: {chi_square}");
    }

    #[test]
    fn the_table_holds_exactly_the_weights() {
        for weights in [vec![1.0], vec![3.0, 1.0], vec![0.0, 1e-9, 5.0, 0.0, 2.0, 2.0, 1e3]] {
            let table = Alias::new(&weights);
            let mut owned = vec![0.0; weights.len()];
            for (item, slot) in table.slots.iter().enumerate() {
                let own = slot.threshold as f64 / 2.0f64.powi(64);
                owned[item] += own;
                owned[slot.alias as usize] += 1.0 - own;
            }
            let total: f64 = weights.iter().sum();
            for (owned, weight) in owned.iter().zip(&weights) {
                assert!((owned / weights.len() as f64 - weight / total).abs() < 1e-15, "{owned} of {weight}");
            }
        }
    }

    #[test]
    fn equal_weights_come_equally_often_in_a_million_draws() {
        let counts = counts(&[0.3; 50], 1_000_000);
        let chi_square: f64 = counts.iter().map(|count| (count - 2e4).powi(2) / 2e4).sum();
        assert!(chi_square < 85.4, "99.9% of fair draws stay below 85.4 with 49 degrees: {chi_square}");
    }

    #[test]
    fn a_single_weight_takes_all_draws() {
        assert_eq!(counts(&[0.0, 0.0, 1e-300, 0.0], 1000), [0.0, 0.0, 1000.0, 0.0]);
        assert_eq!(counts(&[7.0], 1000), [1000.0]);
    }

    /// Defect 2 of the fault campaign.
    #[test]
    fn the_largest_and_smallest_weights_are_drawn_like_others() {
        let plain = counts(&[1.0, 2.0, 1.0], 4000);
        for scale in [2f64.powi(1021), 2f64.powi(-1074)] {
            assert_eq!(counts(&[scale, 2.0 * scale, scale], 4000), plain, "{scale}");
        }
    }

    #[test]
    fn items_of_weight_zero_never_come() {
        let counts = counts(&[0.0, 0.1, 0.0, 0.3, 0.0], 20_000);
        assert_eq!([counts[0], counts[2], counts[4]], [0.0; 3]);
        assert!(counts[1] > 0.0);
    }

    #[test]
    #[should_panic(expected = "the sum of the weights must be finite and above 0")]
    fn nothing_to_draw_from_is_a_broken_contract() {
        let _ = Alias::new(&[]);
    }
}

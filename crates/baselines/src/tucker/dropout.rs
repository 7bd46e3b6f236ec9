//! Dropout: numbers are set to zero at random, and the others made larger, so that the mean stays.
//!
//! Invariant: what is dropped follows from a key and the place in the row; the way back draws the same again, and
//! nothing has to be kept.

use manyview_base::linalg::Real;
use manyview_base::random::Key;

/// Chances are whole multiples of 1 / 2^16: four of them are drawn with one random number.
const LEVELS: f64 = 65_536.0;

/// A chance of being dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropout<T> {
    /// Numbers below it are dropped.
    threshold: u64,
    /// What the others are multiplied by.
    scale: T,
}

impl<T: Real> Dropout<T> {
    /// Nothing, when the chance is zero.
    pub(super) fn new(chance: f64) -> Option<Self> {
        let threshold = (chance * LEVELS).round().min(LEVELS - 1.0);
        let scale = T::from_f64(LEVELS / (LEVELS - threshold));
        (threshold > 0.0).then_some(Dropout { threshold: threshold as u64, scale })
    }

    /// Room for the random numbers of a row.
    pub(super) fn room(dim: usize) -> Vec<u64> {
        vec![0; dim.div_ceil(4)]
    }

    /// What each number of a row is multiplied by: zero or the scale.
    #[inline(always)]
    pub(super) fn fill(&self, key: Key, words: &mut [u64], factors: &mut [T]) {
        // Number i and those a quarter of the row further on share a word: each loop then runs on vectors.
        let quarter = words.len();
        for (at, word) in (0u64..).zip(words.iter_mut()) {
            *word = key.with(at).bits();
        }
        for (part, factors) in factors.chunks_mut(quarter).enumerate() {
            for (factor, word) in factors.iter_mut().zip(words.iter()) {
                let kept = (word >> (16 * part)) & 0xffff >= self.threshold;
                *factor = if kept { self.scale } else { T::ZERO };
            }
        }
    }

    /// The factors of a whole batch, row after row.
    pub(super) fn rows(dropout: Option<Self>, key: Key, rows: usize, dim: usize) -> Vec<T> {
        let mut factors = vec![T::ONE; rows * dim];
        if let Some(dropout) = dropout {
            let mut words = Self::room(dim);
            for (row, factors) in factors.chunks_exact_mut(dim).enumerate() {
                dropout.fill(key.with(row as u64), &mut words, factors);
            }
        }
        factors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_and_the_mean_are_right() {
        for chance in [0.0, 0.1, 0.5, 0.9] {
            let factors = Dropout::<f64>::rows(Dropout::new(chance), Key::new(1), 400, 101);
            let dropped = factors.iter().filter(|&&factor| factor == 0.0).count() as f64;
            let count = factors.len() as f64;
            let error = (chance * (1.0 - chance) / count).sqrt();
            assert!((dropped / count - chance).abs() <= 4.0 * error + 1e-5, "{dropped} for {chance}");
            let mean = factors.iter().sum::<f64>() / count;
            assert!((mean - 1.0).abs() <= 4.0 * error / (1.0 - chance) + 1e-5, "{mean}");
        }
    }

    /// Neighbors, and the four that share a random number.
    #[test]
    fn places_are_independent() {
        let (rows, dim) = (4000, 8);
        let factors = Dropout::<f64>::rows(Dropout::new(0.5), Key::new(2), rows, dim);
        for (a, b) in [(0, 1), (0, 2), (0, 4), (0, 6), (1, 7)] {
            let both = factors.chunks_exact(dim).filter(|row| row[a] == 0.0 && row[b] == 0.0).count() as f64;
            assert!(
                (both / rows as f64 - 0.25).abs() < 5.0 * (0.1875 / rows as f64).sqrt(),
                "{a} {b}: {both}"
            );
        }
    }
}

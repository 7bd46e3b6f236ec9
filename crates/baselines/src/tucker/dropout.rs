//! Dropout: numbers are set to zero at random, and the others are scaled up, so that the mean does not change.
//!
//! Invariant: what is dropped follows from a key and the position in the row. The backward pass draws the same numbers
//! again, and nothing is stored.

use manyview_base::linalg::Real;
use manyview_base::random::Key;

/// Probabilities are multiples of 1 / 2^16, so one random number of 64 bits gives four draws.
const LEVELS: f64 = 65_536.0;

/// A probability of being dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropout<T> {
    /// Draws below this are dropped.
    threshold: u64,
    /// The factor of the others.
    scale: T,
}

impl<T: Real> Dropout<T> {
    /// Returns the dropout of a probability; `None` if it is zero.
    pub(super) fn new(chance: f64) -> Option<Self> {
        let threshold = (chance * LEVELS).round().min(LEVELS - 1.0);
        let scale = T::from_f64(LEVELS / (LEVELS - threshold));
        (threshold > 0.0).then_some(Dropout { threshold: threshold as u64, scale })
    }

    /// Returns a buffer for the random numbers of a row.
    pub(super) fn room(dim: usize) -> Vec<u64> {
        vec![0; dim.div_ceil(4)]
    }

    /// Writes the factor of each number of a row: zero or the scale.
    #[inline(always)]
    pub(super) fn fill(&self, key: Key, words: &mut [u64], factors: &mut [T]) {
        // Positions a quarter of the row apart share a random number, so that the inner loop can be vectorized.
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

    /// Returns the factors of a whole batch, row after row.
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

    /// Tests neighbors, and the four positions that share a random number.
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

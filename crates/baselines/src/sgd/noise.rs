//! The distribution of negatives, sampled exactly in two steps: a part by its weight, then an item within the part.

use super::Parts;
use manyview_base::random::Stream;
use manyview_base::sampling::Alias;

/// Draws items with probabilities proportional to weights.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    /// The distribution of the parts.
    parts: Alias,
    /// The probability of each part.
    shares: Vec<f64>,
    /// The distribution of places within each part; `None` for a part that is never drawn.
    places: Vec<Option<Alias>>,
}

impl Noise {
    /// Creates the distribution from one weight per item.
    ///
    /// # Panics
    /// If a weight is negative or not finite, or all are zero.
    pub(crate) fn new(parts: &Parts, weights: &[f64]) -> Self {
        assert_eq!(parts.items(), weights.len(), "there must be one weight per item");
        let spread = parts.by_position(weights, 0.0);
        let by_part = || spread.chunks(parts.length());
        let totals: Vec<f64> = by_part().map(|part| part.iter().sum()).collect();
        let whole: f64 = totals.iter().sum();
        let places = by_part().zip(&totals).map(|(part, &total)| (total > 0.0).then(|| Alias::new(part)));
        let (places, shares) = (places.collect(), totals.iter().map(|total| total / whole).collect());
        Noise { parts: Alias::new(&totals), shares, places }
    }

    /// The usual distribution, see [`damped`].
    pub(crate) fn of_counts(parts: &Parts, counts: &[f64]) -> Self {
        let weights: Vec<f64> = counts.iter().map(|&count| damped(count)).collect();
        Self::new(parts, &weights)
    }

    #[inline(always)]
    pub(super) fn draw_part(&self, stream: &mut Stream) -> usize {
        self.parts.draw(stream)
    }

    /// The probability of a part.
    pub(super) fn share(&self, part: usize) -> f64 {
        self.shares[part]
    }

    /// The distribution of places within a part; `None` if the part is never drawn.
    pub(super) fn places(&self, part: usize) -> Option<&Alias> {
        self.places[part].as_ref()
    }
}

/// A count to the power of 3/4. Computed by square roots, which are identical on every machine, unlike `powf`.
pub(crate) fn damped(count: f64) -> f64 {
    let root = count.sqrt();
    root * root.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::Key;

    #[test]
    fn both_steps_together_draw_from_the_whole_law() {
        let weights: Vec<f64> = (0..60).map(|item| f64::from(item % 5)).collect();
        let parts = Parts::balanced(&weights, 4);
        let (noise, mut stream) = (Noise::new(&parts, &weights), Stream::new(Key::new(2)));
        let mut counts = vec![0.0f64; 60];
        let draws = 300_000;
        for _ in 0..draws {
            let part = noise.draw_part(&mut stream);
            let place = noise.places(part).unwrap().draw(&mut stream);
            counts[parts.item_at(part * parts.length() + place)] += 1.0;
        }
        let total: f64 = weights.iter().sum();
        let mut chi_square = 0.0;
        for (count, weight) in counts.iter().zip(&weights) {
            let expected = weight / total * f64::from(draws);
            if expected == 0.0 {
                assert_eq!(*count, 0.0);
            } else {
                chi_square += (count - expected).powi(2) / expected;
            }
        }
        assert!(
            chi_square < 82.7,
            "99.9% of fair samples are below 82.7 with 47 degrees of freedom: {chi_square}"
        );
        assert!(((0..4).map(|part| noise.share(part)).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

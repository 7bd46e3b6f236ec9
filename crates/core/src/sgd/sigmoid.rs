//! The logistic function for several numbers at once, exact to a few units in the last place.
//!
//! `e^z = 2^k e^r` with `k` the nearest whole number to `z / ln 2` and `r` what is left, at most `ln 2 / 2`; the
//! Taylor polynomial of degree 7 is then wrong by less than 1e-8. No table and no cut-off: a table that ends at 6, as in
//! word2vec, gives no gradient at all to pairs beyond.

use std::f32::consts::LOG2_E;

/// ln 2 in two parts: the product of the first with a whole number below 2^9 is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// Added to a number below 2^22, this rounds it to a whole one, which then stands in the last bits of the sum.
const ROUNDER: f32 = 12_582_912.0;

/// The exponent of 1.
const ONE: u32 = 127 << 23;

/// `1 / (1 + e^-z)` of each.
#[inline(always)]
pub(super) fn sigmoid<const N: usize>(z: [f32; N]) -> [f32; N] {
    let mut found = z;
    // A plain loop: closures over arrays are not always inlined, and then know nothing of wide vectors.
    for x in &mut found {
        // Beyond 87 the exponent of e^-z would not fit; s is 0 or 1 to f32 long before.
        let away = (-*x).clamp(-87.0, 87.0);
        let rounded = away * LOG2_E + ROUNDER;
        let whole = rounded - ROUNDER;
        let r = (away - whole * LN_2_HIGH) - whole * LN_2_LOW;
        let tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)));
        let exponential = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * tail)));
        let power = f32::from_bits((rounded.to_bits() << 23).wrapping_add(ONE));
        *x = 1.0 / (1.0 + exponential * power);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logistic_function_everywhere() {
        for step in -100_000..=100_000 {
            let z = step as f32 / 1000.0;
            let exact = 1.0 / (1.0 + (-f64::from(z)).exp());
            let [found, other] = sigmoid([z, 0.0]).map(f64::from);
            assert!((found / exact - 1.0).abs() < 4e-7 || exact < 2e-38, "{z}: {found} and {exact}");
            assert_eq!(other, 0.5);
        }
    }

    #[test]
    fn it_saturates_without_overflow() {
        let [low, high, lowest, highest] = sigmoid([-1e30, 1e30, f32::MIN, f32::MAX]);
        assert!(low > 0.0 && low < 1e-37 && lowest == low);
        assert_eq!([high, highest], [1.0; 2]);
    }
}

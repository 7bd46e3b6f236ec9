//! The logistic function for several numbers, accurate to a few units in the last place.
//!
//! Without a table or cutoff: a table that ends at 6, as in word2vec, gives no gradient to pairs beyond it.

use manyview_base::linalg::Real;

/// `1 / (1 + e^-z)` of each number.
#[inline(always)]
pub(super) fn sigmoid<const N: usize>(z: [f32; N]) -> [f32; N] {
    let mut found = z;
    // A plain loop: closures over arrays are not always inlined, and are then compiled without wide vectors.
    for x in &mut found {
        // Beyond 87 the result would not be a normal number. `Real::exp` is written in full because `f32::exp` differs
        // between machines.
        *x = 1.0 / (1.0 + Real::exp((-*x).clamp(-87.0, 87.0)));
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

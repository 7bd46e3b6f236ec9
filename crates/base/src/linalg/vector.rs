//! Two loops over vectors of any length, for code that has no kernel of its own.
//!
//! Both are to be inlined into a `vectorized` closure where speed counts. Sums have eight lanes that are added in a fixed
//! order at the end, and there is no FMA: the width of the machine's vectors changes no bit.

use super::Real;

/// Numbers that a loop takes at once.
const LANES: usize = 8;

/// The inner product.
#[inline(always)]
pub fn product<T: Real>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::ZERO; LANES];
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        let (old, a, b) = (sums, *a, *b);
        sums = std::array::from_fn(|lane| old[lane] + a[lane] * b[lane]);
    }
    let rest: T = a_rest.iter().zip(b_rest).map(|(&a, &b)| a * b).sum();
    total(sums) + rest
}

/// The sum of eight lanes, in the order of a tree.
#[inline(always)]
pub fn total<T: Real>(lanes: [T; LANES]) -> T {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// `sum += factor x`.
#[inline(always)]
pub fn add_multiple<T: Real>(sum: &mut [T], factor: T, x: &[T]) {
    for (sum, &x) in sum.iter_mut().zip(x) {
        *sum += factor * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels::vectorized;
    use crate::random::{Key, unit_f64};

    #[test]
    fn loops_are_the_naive_ones_and_width_changes_no_bit() {
        for length in [0, 1, 7, 8, 9, 64, 67] {
            let numbers = |seed: u64| -> Vec<f64> {
                (0..length).map(|at| unit_f64(Key::new(seed).at(at, 0)) - 0.5).collect()
            };
            let (a, b) = (numbers(1), numbers(2));
            let naive: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((product(&a, &b) - naive).abs() < 1e-14);
            let mut sum = a.clone();
            vectorized(
                #[inline(always)]
                || add_multiple(&mut sum, 3.0, &b),
            );
            assert!(sum.iter().zip(&a).zip(&b).all(|((sum, a), b)| *sum == a + 3.0 * b));
            let wide = vectorized(
                #[inline(always)]
                || product(&a, &b),
            );
            assert_eq!(wide.to_bits(), product(&a, &b).to_bits());
        }
    }
}

//! Loops over vectors of any length, for code without a kernel of its own.
//!
//! Inline them into a `vectorized` closure where speed matters. Sums have eight lanes that are added in a fixed order
//! at the end, and there is no FMA, so the vector width of the machine changes no bit.

use super::Real;

/// The number of lanes of a loop.
const LANES: usize = 8;

/// Returns the inner product.
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

/// Returns the sum and the sum of the squares, in f64.
#[inline(always)]
pub fn sum_and_squares<T: Real>(x: &[T]) -> [f64; 2] {
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            let x = chunk[lane].to_f64();
            sums[lane] += x;
            squares[lane] += x * x;
        }
    }
    for (lane, x) in rest.iter().enumerate() {
        sums[lane] += x.to_f64();
        squares[lane] += x.to_f64() * x.to_f64();
    }
    [total(sums), total(squares)]
}

/// Returns the sum of eight lanes, added in the order of a tree.
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

/// Scales a vector to length 1 in f64. A zero vector stays zero.
pub fn scale_to_unit_length(x: &mut [f32]) {
    let length = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if length > 0.0 {
        x.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels::vectorized;
    use crate::random::{Key, unit_f64};

    #[test]
    fn vectors_get_length_one_and_zeros_stay() {
        let mut x = [3.0, 0.0, -4.0];
        scale_to_unit_length(&mut x);
        assert_eq!(x, [0.6, 0.0, -0.8]);
        let mut zero = [0.0; 3];
        scale_to_unit_length(&mut zero);
        assert_eq!(zero, [0.0; 3]);
    }

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

//! The length of the vectors of a fit.
//!
//! A factorization fixes the directions of its vectors and the ratios of their lengths; the overall length is a by-product of
//! the units of its input. A classifier with a fixed penalty (logistic regression with `C = 1`) depends on it: too short vectors
//! are shrunk to nothing, too long ones are hardly penalized. So all methods return vectors of the same root mean square
//! length, over the nodes that have a vector.

/// The root mean square length of the vectors of every fit.
///
/// With it, `C = 1` is close to the best C on most of the networks in `docs/results/defaults.md`.
pub const LENGTH: f64 = 4.0;

/// Multiplies all vectors by one factor, and returns it: 1 if all of them are zero.
///
/// Zero vectors are not counted, so nodes without edges do not make the others longer.
pub(crate) fn scale_to_length(vectors: &mut [f32], columns: usize) -> f64 {
    let squared = |row: &[f32]| row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
    let (mut sum, mut rows) = (0.0, 0usize);
    for length in vectors.chunks_exact(columns.max(1)).map(squared).filter(|&length| length > 0.0) {
        sum += length;
        rows += 1;
    }
    if rows == 0 {
        return 1.0;
    }
    let factor = LENGTH / (sum / rows as f64).sqrt();
    // In f64: the factor of very short vectors can exceed what f32 represents.
    vectors.iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_mean_square_length_is_fixed_and_directions_stay() {
        for unit in [1e-30, 1e-3, 1.0, 1e15] {
            let mut vectors = [3.0 * unit, 0.0, 0.0, 4.0 * unit, 0.0, 0.0];
            let factor = scale_to_length(&mut vectors, 2);
            let root = (25.0f64 / 2.0).sqrt();
            for (found, expected) in vectors.iter().zip([3.0, 0.0, 0.0, 4.0, 0.0, 0.0]) {
                assert!((f64::from(*found) - LENGTH * expected / root).abs() < 1e-6, "{vectors:?}");
            }
            assert!((factor * f64::from(unit) * root / LENGTH - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn vectors_of_zeros_stay() {
        let mut vectors = [0.0f32; 6];
        assert_eq!((scale_to_length(&mut vectors, 3), vectors), (1.0, [0.0; 6]));
        assert_eq!(scale_to_length(&mut [], 0), 1.0);
    }
}

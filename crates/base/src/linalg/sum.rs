//! The squared norm of a sum of matrices, without forming the sum.

use rayon::prelude::*;

use super::{Real, Tiles};

/// Returns `||R_1 + R_2 + ...||^2` for matrices of one shape.
pub fn squared_norm_of_sum<T: Real>(parts: &[&Tiles<T>]) -> f64 {
    let [first, rest @ ..] = parts else { return 0.0 };
    assert!(rest.iter().all(|part| (part.rows(), part.cols()) == (first.rows(), first.cols())), "one shape");
    let scratch = || (vec![T::ZERO; first.cols()], Vec::new());
    let of_block = |(sums, touched): &mut (Vec<T>, Vec<u32>), block: usize| {
        let mut total = 0.0;
        for row in 0..first.blocks()[block].rows() {
            for part in parts {
                for panel in 0..part.panels() {
                    let (cols, values) = part.blocks()[block].run(panel, row);
                    for (&col, &value) in cols.iter().zip(values) {
                        let at = panel * part.panel() + usize::from(col);
                        // Entries are above zero, so a sum of zero means that nothing was added yet.
                        if sums[at] == T::ZERO {
                            touched.push(at as u32);
                        }
                        sums[at] += value;
                    }
                }
            }
            for at in touched.drain(..) {
                let sum = std::mem::take(&mut sums[at as usize]).to_f64();
                total += sum * sum;
            }
        }
        total
    };
    let totals: Vec<f64> = (0..first.blocks().len()).into_par_iter().map_init(scratch, of_block).collect();
    totals.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Csr;

    #[test]
    fn norm_of_a_sum_is_the_naive_one() {
        let matrices = [(0.3, 1), (0.01, 2), (0.1, 3)]
            .map(|(density, seed)| Csr::<f64>::random(140, 600, density, seed));
        let tiles = matrices.each_ref().map(Tiles::from_csr);
        let mut dense = vec![0.0; 140 * 600];
        for matrix in &matrices {
            for row in 0..140 {
                for (&col, value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
                    dense[row * 600 + col as usize] += value;
                }
            }
        }
        let naive: f64 = dense.iter().map(|x| x * x).sum();
        let ours = squared_norm_of_sum(&tiles.each_ref());
        assert!((ours / naive - 1.0).abs() < 1e-12);
        assert_eq!(squared_norm_of_sum::<f64>(&[]), 0.0);
    }
}

//! Sums over blocks, and the squared norm of a sum of matrices, without forming the sum.

use rayon::prelude::*;

use super::{Real, Tiles};

/// Adds the sums of blocks.
pub fn add_in_order<const N: usize>(sums: &[[f64; N]]) -> [f64; N] {
    // Folds from 0, because the empty sum of f64 is -0.
    sums.iter().fold([0.0; N], |total, part| std::array::from_fn(|at| total[at] + part[at]))
}

/// Returns `||R_1 + R_2 + ...||^2` for matrices of one shape.
///
/// Adding `x` to a sum `s` adds `x (2 s + x)` to its square, so the squares need no pass of their own.
pub fn squared_norm_of_sum<T: Real>(parts: &[&Tiles<T>]) -> f64 {
    let [first, rest @ ..] = parts else { return 0.0 };
    assert!(rest.iter().all(|part| (part.rows(), part.cols()) == (first.rows(), first.cols())), "one shape");
    if rest.is_empty() {
        return first.sums()[1];
    }
    let halves = first.diagonal().is_some();
    assert!(rest.iter().all(|part| part.diagonal().is_some() == halves), "one way of storing");
    let of_block = |sums: &mut Vec<T>, block: usize| {
        // Four totals, because additions to one would wait for each other.
        let mut totals = [0.0; 4];
        for row in 0..first.blocks()[block].rows() {
            for part in parts {
                for (panel, sums) in panels_of(sums, part, block) {
                    let (cols, values) = part.blocks()[block].run(panel, row);
                    for (at, (&col, &value)) in cols.iter().zip(values).enumerate() {
                        let sum = &mut sums[usize::from(col)];
                        let (before, added) = (sum.to_f64(), value.to_f64());
                        totals[at % 4] += added * (2.0 * before + added);
                        *sum += value;
                    }
                }
            }
            // Only what was touched: rows of large networks have few entries.
            for part in parts {
                for (panel, sums) in panels_of(sums, part, block) {
                    let (cols, _) = part.blocks()[block].run(panel, row);
                    cols.iter().for_each(|&col| sums[usize::from(col)] = T::ZERO);
                }
            }
        }
        (totals[0] + totals[1]) + (totals[2] + totals[3])
    };
    let scratch = || vec![T::ZERO; first.cols()];
    let totals: Vec<f64> = (0..first.blocks().len()).into_par_iter().map_init(scratch, of_block).collect();
    let total: f64 = totals.iter().sum();
    if !halves {
        return total;
    }
    let diagonals = parts.iter().filter_map(|part| part.diagonal());
    let mut sums = vec![0.0; first.cols()];
    diagonals.flat_map(|diagonal| diagonal.iter().enumerate()).for_each(|(at, x)| sums[at] += x.to_f64());
    2.0 * total + sums.iter().map(|sum| sum * sum).sum::<f64>()
}

/// The sums of the panels in which a block of a matrix may have entries.
fn panels_of<'a, T: Real>(
    sums: &'a mut [T],
    part: &Tiles<T>,
    block: usize,
) -> impl Iterator<Item = (usize, &'a mut [T])> {
    sums.chunks_mut(part.panel()).enumerate().skip(part.blocks()[block].first_panel())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Csr;
    use crate::linalg::tiles::{random_symmetric, symmetric};

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

    #[test]
    fn norm_of_a_sum_of_halves_is_that_of_the_wholes() {
        let matrices = [(0.3, 1), (0.01, 2)].map(|(density, seed)| random_symmetric(600, density, seed));
        let (halves, wholes) = (matrices.each_ref().map(symmetric), matrices.each_ref().map(Tiles::from_csr));
        let [ours, expected] = [&halves, &wholes].map(|tiles| squared_norm_of_sum(&tiles.each_ref()));
        assert!((ours / expected - 1.0).abs() < 1e-12);
    }
}

//! Sums over blocks, sums of matrices, and the squared norm of such a sum without forming it.

use rayon::prelude::*;

use super::{BLOCK_ROWS, Csr, Real, Tiles};

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

/// Returns `R_1 + R_2 + ...` as one matrix, for matrices of one shape that are stored in one way.
///
/// Patterns of residuals overlap, so it has fewer entries than its parts together, and a product with it takes less time.
pub fn sum_of<T: Real>(parts: &[&Tiles<T>]) -> Tiles<T> {
    let first = parts[0];
    assert!(parts.iter().all(|part| (part.rows(), part.cols()) == (first.rows(), first.cols())), "one shape");
    let halves = first.diagonal().is_some();
    assert!(parts.iter().all(|part| part.diagonal().is_some() == halves), "one way of storing");
    // The sums of a row, a bit for each column that has an entry, and one for each word of such bits that is not zero: of a large
    // matrix, nearly all are.
    let words = first.cols().div_ceil(64);
    let scratch = || (vec![T::ZERO; first.cols()], vec![0u64; words], vec![0u64; words.div_ceil(64)]);
    let of_block = |(sums, touched, filled): &mut (Vec<T>, Vec<u64>, Vec<u64>), block: usize| {
        let sorted: Vec<Option<Csr<T>>> = parts.iter().map(|part| part.sorted_rows(block)).collect();
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..first.blocks()[block].rows() {
            let mut add = |col: usize, value: T| {
                sums[col] += value;
                touched[col / 64] |= 1 << (col % 64);
                filled[col / 64 / 64] |= 1 << (col / 64 % 64);
            };
            for (part, sorted) in parts.iter().zip(&sorted) {
                let at = block * BLOCK_ROWS + row;
                if let Some(&value) =
                    part.diagonal().map(|diagonal| &diagonal[at]).filter(|&&value| value > T::ZERO)
                {
                    add(at, value);
                }
                if let Some(sorted) = sorted {
                    let (cols, values) = sorted.row(row);
                    cols.iter().zip(values).for_each(|(&col, &value)| add(col as usize, value));
                    continue;
                }
                let stored = &part.blocks()[block];
                for panel in stored.first_panel()..part.panels() {
                    let (cols, run) = stored.run(panel, row);
                    let from = panel * part.panel();
                    cols.iter().zip(run).for_each(|(&col, &value)| add(from + usize::from(col), value));
                }
            }
            for (group, words) in filled.iter_mut().enumerate() {
                while *words != 0 {
                    let word = 64 * group + words.trailing_zeros() as usize;
                    *words &= *words - 1;
                    let bits = &mut touched[word];
                    while *bits != 0 {
                        let col = 64 * word + bits.trailing_zeros() as usize;
                        *bits &= *bits - 1;
                        indices.push(col as u32);
                        values.push(std::mem::replace(&mut sums[col], T::ZERO));
                    }
                }
            }
            indptr.push(indices.len());
        }
        Csr::new(first.cols(), indptr, indices, values)
    };
    let blocks = (0..first.blocks().len()).into_par_iter().map_init(scratch, of_block).collect();
    if halves {
        Tiles::symmetric(first.rows(), blocks)
    } else {
        Tiles::from_blocks(first.rows(), first.cols(), blocks)
    }
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
    use crate::linalg::tiles::{in_pairs, random_symmetric, symmetric, symmetric_in_pairs};

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

    /// Also with rows and matrices without entries, and columns around a word of bits.
    #[test]
    fn the_sum_has_the_entries_of_its_parts() {
        for cols in [1, 63, 64, 65, 600, 4096, 4200] {
            let matrices = [(0.3, 1), (0.0, 2), (0.02, 3)]
                .map(|(density, seed)| Csr::<f64>::random(140, cols, density, seed));
            let sum = sum_of(&matrices.each_ref().map(Tiles::from_csr).each_ref()).to_csr();
            assert_same(&sum, &matrices, 140);
            let pairs = matrices.each_ref().map(|matrix| in_pairs(matrix, 128));
            assert_eq!(sum_of(&pairs.each_ref()).to_csr(), sum);
            let [ours, expected] = [&pairs, &matrices.each_ref().map(Tiles::from_csr)]
                .map(|parts| squared_norm_of_sum(&parts.each_ref()));
            assert!((ours - expected).abs() <= 1e-12 * expected);
        }
        for sparse in [0.01, 0.0005] {
            let matrices =
                [(0.3, 1), (sparse, 2)].map(|(density, seed)| random_symmetric(600, density, seed));
            let sum = sum_of(&matrices.each_ref().map(symmetric).each_ref());
            assert!(sum.diagonal().is_some());
            assert_same(&sum.to_csr(), &matrices, 600);
            // One part in pairs, one in runs; then both in pairs.
            for runs in [true, false] {
                let [first, second] = &matrices;
                let second = if runs { symmetric(second) } else { symmetric_in_pairs(second, 256) };
                let pairs = sum_of(&[&symmetric_in_pairs(first, 128), &second]);
                assert_eq!(pairs.to_csr(), sum.to_csr());
            }
        }
    }

    fn assert_same(sum: &Csr<f64>, parts: &[Csr<f64>], rows: usize) {
        assert_eq!(sum.rows(), rows);
        let mut expected = std::collections::BTreeMap::new();
        for part in parts {
            for row in 0..rows {
                for (&col, &value) in part.row(row).0.iter().zip(part.row(row).1) {
                    *expected.entry((row, col)).or_insert(0.0) += value;
                }
            }
        }
        let entries = |row: usize| {
            let (cols, values) = sum.row(row);
            cols.iter().zip(values).map(move |(&col, &value)| ((row, col), value)).collect::<Vec<_>>()
        };
        let found: Vec<_> = (0..rows).flat_map(entries).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}

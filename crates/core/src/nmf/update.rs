//! The update of a factor from its numerators and a small Gram matrix. It does not use the matrix itself.
//!
//! For rows `x` of U with `b = R Vᵀ` and `G = V Vᵀ` (for V the same with U): `mu` multiplies by the quotient, `x <- x *
//! b / (x G)`; `hals` minimizes over one column after the other, `x_t <- max(x_t - (x G - b)_t / G_tt, 0)`.
//!
//! Rows are independent, so sixteen rows are transposed and updated together: the additions run along the columns of
//! `G`, and no sum across a vector is needed.

use manyview_base::linalg::Real;
use manyview_base::linalg::kernels::{add_multiple, vectorized};

/// Number of rows updated together.
const TOGETHER: usize = 16;

/// The update rule of a factor.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// One multiplicative update, with a number that is added to the denominators; only the published code does this.
    Multiply {
        /// The number.
        epsilon: f64,
    },
    /// Coordinate descent over all columns, this many times.
    Descend {
        /// The number of sweeps.
        sweeps: usize,
    },
}

/// Updates the padded rows `x` given their numerators (same shape) and the Gram matrix (`width x width`).
pub fn update_rows<T: Real>(rule: Rule, x: &mut [T], numerators: &[T], stride: usize, gram: &[T]) {
    match rule {
        Rule::Multiply { epsilon } => {
            let added = vec![T::from_f64(epsilon); gram.len().isqrt()];
            multiply_rows(x, numerators, stride, gram, &added, T::ZERO);
        }
        Rule::Descend { sweeps } => {
            update_together(
                x,
                numerators,
                stride,
                gram,
                #[inline(always)]
                |columns, targets, _| {
                    // Not `for_each`, which is not inlined and so compiled for the baseline.
                    for _ in 0..sweeps {
                        descend(columns, targets, gram);
                    }
                },
            );
        }
    }
}

/// Multiplies the padded rows by `numerators / max(x G + added, least)`; `added` has one number per column.
pub fn multiply_rows<T: Real>(
    x: &mut [T],
    numerators: &[T],
    stride: usize,
    gram: &[T],
    added: &[T],
    least: T,
) {
    update_together(
        x,
        numerators,
        stride,
        gram,
        #[inline(always)]
        |columns, targets, spare| multiply(columns, targets, gram, added, least, spare),
    );
}

/// Calls `update` for each group of sixteen rows with their columns, the columns of their numerators, and scratch
/// columns.
#[inline(always)]
fn update_together<T: Real>(
    x: &mut [T],
    numerators: &[T],
    stride: usize,
    gram: &[T],
    update: impl Fn(&mut [[T; TOGETHER]], &[[T; TOGETHER]], &mut [[T; TOGETHER]]),
) {
    let width = gram.len().isqrt();
    assert_eq!(width * width, gram.len(), "the Gram matrix must be square");
    vectorized(
        #[inline(always)]
        || {
            let mut columns = vec![[T::ZERO; TOGETHER]; width];
            let mut targets = columns.clone();
            let mut spare = columns.clone();
            for (x, numerators) in x.chunks_mut(TOGETHER * stride).zip(numerators.chunks(TOGETHER * stride)) {
                turn(x, stride, &mut columns);
                turn(numerators, stride, &mut targets);
                update(&mut columns, &targets, &mut spare);
                turn_back(&columns, stride, x);
            }
        },
    );
}

/// Transposes rows to columns; the missing rows of a last, shorter group are not changed and not transposed back.
#[inline(always)]
fn turn<T: Real>(rows: &[T], stride: usize, columns: &mut [[T; TOGETHER]]) {
    for (lane, row) in rows.chunks_exact(stride).enumerate() {
        for (column, &x) in columns.iter_mut().zip(row) {
            column[lane] = x;
        }
    }
}

#[inline(always)]
fn turn_back<T: Real>(columns: &[[T; TOGETHER]], stride: usize, rows: &mut [T]) {
    for (lane, row) in rows.chunks_exact_mut(stride).enumerate() {
        for (x, column) in row.iter_mut().zip(columns) {
            *x = column[lane];
        }
    }
}

#[inline(always)]
fn multiply<T: Real>(
    columns: &mut [[T; TOGETHER]],
    targets: &[[T; TOGETHER]],
    gram: &[T],
    added: &[T],
    least: T,
    updated: &mut [[T; TOGETHER]],
) {
    let rows_of_gram = gram.chunks_exact(columns.len().max(1));
    for (at, (gram, &added)) in rows_of_gram.zip(added).enumerate() {
        // By value, as in `add_multiple`: if the lanes could overlap with the result, they would be processed one at a
        // time.
        let (denominators, old, target) = (combine(gram, columns), columns[at], targets[at]);
        updated[at] = std::array::from_fn(|lane| {
            let denominator = denominators[lane] + added;
            let denominator = if denominator > least { denominator } else { least };
            // In this order nothing overflows: the denominator of a number that fades out is as small as the number, and
            // one infinity in U would make all of V zero.
            let new = old[lane] * target[lane] / denominator;
            // 0 / 0 is 0: a node without entries in this stage gets a zero row.
            if denominator > T::ZERO { new } else { T::ZERO }
        });
    }
    columns.copy_from_slice(updated);
}

#[inline(always)]
fn descend<T: Real>(columns: &mut [[T; TOGETHER]], targets: &[[T; TOGETHER]], gram: &[T]) {
    let width = columns.len();
    for (at, gram) in gram.chunks_exact(width.max(1)).enumerate() {
        let curvature = gram[at];
        // A column without curvature does not contribute to the product; it is skipped until the other factor changes.
        if curvature > T::ZERO {
            let gradient = combine(gram, columns);
            for lane in 0..TOGETHER {
                let moved = columns[at][lane] - (gradient[lane] - targets[at][lane]) / curvature;
                columns[at][lane] = if moved > T::ZERO { moved } else { T::ZERO };
            }
        }
    }
}

/// `sum_s gram[s] * columns[s]`, in four independent chains.
#[inline(always)]
fn combine<T: Real>(gram: &[T], columns: &[[T; TOGETHER]]) -> [T; TOGETHER] {
    // Four variables instead of an array of four: otherwise the compiler would vectorize across them.
    let [mut first, mut second, mut third, mut fourth] = [[T::ZERO; TOGETHER]; 4];
    let ((fours, gram_rest), (column_fours, column_rest)) = (gram.as_chunks::<4>(), columns.as_chunks::<4>());
    for (gram, columns) in fours.iter().zip(column_fours) {
        add_multiple(&mut first, gram[0], &columns[0]);
        add_multiple(&mut second, gram[1], &columns[1]);
        add_multiple(&mut third, gram[2], &columns[2]);
        add_multiple(&mut fourth, gram[3], &columns[3]);
    }
    for (&gram, column) in gram_rest.iter().zip(column_rest) {
        add_multiple(&mut first, gram, column);
    }
    std::array::from_fn(|lane| (first[lane] + third[lane]) + (second[lane] + fourth[lane]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::linalg::Dense;

    /// The updates as in textbooks.
    fn naive(rule: Rule, x: &[f64], b: &[f64], gram: &[f64]) -> Vec<f64> {
        let width = x.len();
        let mut new = x.to_vec();
        let product = |x: &[f64], t: usize| (0..width).map(|s| x[s] * gram[t * width + s]).sum::<f64>();
        match rule {
            Rule::Multiply { .. } => {
                for t in 0..width {
                    let denominator = product(x, t);
                    new[t] = if denominator > 0.0 { x[t] * b[t] / denominator } else { 0.0 };
                }
            }
            Rule::Descend { sweeps } => {
                for t in (0..sweeps).flat_map(|_| 0..width).filter(|&t| gram[t * width + t] > 0.0) {
                    new[t] = (new[t] - (product(&new, t) - b[t]) / gram[t * width + t]).max(0.0);
                }
            }
        }
        new
    }

    #[test]
    fn all_rules_are_the_naive_ones() {
        for rule in
            [Rule::Multiply { epsilon: 0.0 }, Rule::Descend { sweeps: 1 }, Rule::Descend { sweeps: 3 }]
        {
            for (rows, width) in [(0, 2), (1, 1), (15, 3), (16, 4), (17, 9), (40, 33)] {
                let fill = |salt: usize| {
                    move |row: usize, col: usize| ((row * 13 + col * 7 + salt) % 23) as f64 / 11.0
                };
                let (mut x, b) = (Dense::from_fn(rows, width, fill(1)), Dense::from_fn(rows, width, fill(9)));
                let v = Dense::from_fn(50, width, |row, col| if col == 2 { 0.0 } else { fill(4)(row, col) });
                let gram = manyview_base::linalg::gram::gram(&v);
                let expected: Vec<_> =
                    (0..rows).map(|row| naive(rule, x.row(row), b.row(row), &gram)).collect();
                let stride = x.stride();
                update_rows(rule, x.padded_mut(), b.padded(), stride, &gram);
                for (row, expected) in expected.iter().enumerate() {
                    for (x, expected) in x.row(row).iter().zip(expected) {
                        assert!(
                            (x - expected).abs() <= 1e-12 * (1.0 + expected),
                            "{rule:?} {rows} x {width}"
                        );
                    }
                }
            }
        }
    }

    /// A denominator is as small as the numbers it comes from; its reciprocal is beyond f64.
    #[test]
    fn numbers_that_fade_out_do_not_become_infinite() {
        for x in [1e-300, 1e-310, 5e-324] {
            let (mut factor, b) =
                (Dense::from_fn(3, 2, |_, col| [x, 0.0][col]), Dense::from_fn(3, 2, |_, _| 7.0));
            let stride = factor.stride();
            let gram = [0.75, 0.5, 0.5, 2.0];
            update_rows(Rule::Multiply { epsilon: 0.0 }, factor.padded_mut(), b.padded(), stride, &gram);
            for row in 0..3 {
                let [first, second] = [factor.row(row)[0], factor.row(row)[1]];
                // Rounding to a multiple of the smallest number may double a denominator or halve it.
                assert!(first > 0.4 * 7.0 / 0.75 && first < 2.1 * 7.0 / 0.75, "{x}: {first}");
                assert_eq!(second, 0.0);
            }
        }
    }
}

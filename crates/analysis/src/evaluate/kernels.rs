//! Products of dense rows in f64: the inner loops of logistic regression and k-means.
//!
//! Rows of 32-bit floats are converted to f64 four at a time, once for all classes. Each sum has eight lanes that are
//! added in a fixed order at the end, and products and sums are rounded separately (no FMA). So the vector width of the
//! machine affects the speed but not the result.
//!
//! Invariant: rows are padded with zeros to a multiple of [`LANES`].

use super::Vectors;
use manyview_base::linalg::vector::total;

/// Numbers processed together: one vector of AVX-512, two of AVX2.
pub(super) const LANES: usize = 8;

/// Rows converted together.
pub(super) const GROUP: usize = 4;

/// Maximum number of blocks of rows.
const MOST_BLOCKS: usize = 64;

/// The number of rows per block. It depends on the data only, so that block sums are the same for any number of
/// threads.
pub(super) fn block_rows(rows: usize) -> usize {
    // Small enough for many threads, and large enough that a block's own sums do not cost more than its rows.
    rows.div_ceil(MOST_BLOCKS).max(256).next_multiple_of(GROUP)
}

/// The length of a padded row.
pub(super) fn stride(dim: usize) -> usize {
    dim.next_multiple_of(LANES)
}

/// Writes up to four rows as f64 to `wide`; missing rows and padding are set to zero.
#[inline(always)]
pub(super) fn widen_group(vectors: &Vectors<'_>, rows: &[u32], wide: &mut [f64]) {
    let stride = wide.len() / GROUP;
    for (place, wide) in wide.chunks_exact_mut(stride).enumerate() {
        match rows.get(place) {
            Some(&row) => widen(vectors.row(row as usize), wide),
            None => wide.fill(0.0),
        }
    }
}

/// Writes a row as f64; the padding of `wide` is unchanged.
#[inline(always)]
pub(super) fn widen(row: &[f32], wide: &mut [f64]) {
    for (wide, &x) in wide.iter_mut().zip(row) {
        *wide = f64::from(x);
    }
}

#[inline(always)]
fn chunks(x: &[f64]) -> &[[f64; LANES]] {
    x.as_chunks().0
}

#[inline(always)]
fn add_products(sums: &mut [f64; LANES], a: &[f64; LANES], b: &[f64; LANES]) {
    let (old, a, b) = (*sums, *a, *b);
    *sums = std::array::from_fn(|lane| old[lane] + a[lane] * b[lane]);
}

#[inline(always)]
fn add_squares(sums: &mut [f64; LANES], a: &[f64; LANES], b: &[f64; LANES]) {
    let (old, a, b) = (*sums, *a, *b);
    *sums = std::array::from_fn(|lane| old[lane] + (a[lane] - b[lane]) * (a[lane] - b[lane]));
}

/// Sums of four rows, not yet added up over the lanes.
pub(super) type Lanes = [[f64; LANES]; GROUP];

/// Adds up the lanes.
///
/// This must not be in the same loop that fills the lanes: there the compiler would vectorize across the four rows
/// instead of along them, and spend its time on shuffles.
#[inline(always)]
pub(super) fn totals(lanes: &Lanes) -> [f64; GROUP] {
    lanes.map(total)
}

/// Defines sums over the columns of each of four rows and `x`.
macro_rules! four_sums {
    ($name:ident, $add:ident, $what:literal) => {
        #[doc = $what]
        #[inline(always)]
        pub(super) fn $name(four: &[f64], x: &[f64], lanes: &mut Lanes) {
            let stride = x.len();
            // Four variables instead of an array of four, for the same reason.
            let [mut first, mut second, mut third, mut fourth] = [[0.0; LANES]; GROUP];
            let (a, rest) = four.split_at(stride);
            let (b, rest) = rest.split_at(stride);
            let (c, d) = rest.split_at(stride);
            let rows = chunks(a).iter().zip(chunks(b)).zip(chunks(c)).zip(chunks(d));
            for ((((a, b), c), d), x) in rows.zip(chunks(x)) {
                $add(&mut first, a, x);
                $add(&mut second, b, x);
                $add(&mut third, c, x);
                $add(&mut fourth, d, x);
            }
            *lanes = [first, second, third, fourth];
        }
    };
}

four_sums!(
    four_products,
    add_products,
    "Inner products of four rows with `x`, not yet added up over the lanes."
);
four_sums!(
    four_distances,
    add_squares,
    "Squared distances of four rows from `x`, not yet added up over the lanes."
);

/// `sum += factors[0] row_0 + ... + factors[3] row_3`.
#[inline(always)]
pub(super) fn add_four(sum: &mut [f64], four: &[f64], factors: [f64; GROUP]) {
    let stride = sum.len();
    let (a, rest) = four.split_at(stride);
    let (b, rest) = rest.split_at(stride);
    let (c, d) = rest.split_at(stride);
    // Not in chunks: the compiler would gather one number of each chunk from eight places.
    for ((((sum, a), b), c), d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *sum += (factors[0] * a + factors[1] * b) + (factors[2] * c + factors[3] * d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::linalg::kernels::vectorized;
    use manyview_base::linalg::vector::product;
    use manyview_base::random::{Key, unit_f64};

    fn numbers(seed: u64, count: usize) -> Vec<f64> {
        (0..count).map(|at| unit_f64(Key::new(seed).at(at, 0)) - 0.5).collect()
    }

    #[test]
    fn kernels_equal_plain_loops_for_odd_sizes() {
        for dim in [1, 7, 8, 9, 40] {
            let stride = stride(dim);
            let values: Vec<f32> = numbers(1, 3 * dim).iter().map(|&x| x as f32).collect();
            let vectors = Vectors::new(&values, 3, dim).unwrap();
            let mut wide = vec![f64::NAN; GROUP * stride];
            wide.chunks_exact_mut(stride).for_each(|row| row[dim..].fill(0.0));
            widen_group(&vectors, &[2, 0, 1], &mut wide);
            let mut x = numbers(2, dim);
            x.resize(stride, 0.0);
            let [mut products, mut distances] = [[[0.0; LANES]; GROUP]; 2];
            four_products(&wide, &x, &mut products);
            four_distances(&wide, &x, &mut distances);
            let (products, distances) = (totals(&products), totals(&distances));
            for (place, row) in [2, 0, 1].into_iter().enumerate() {
                let pairs = || vectors.row(row).iter().map(|&a| f64::from(a)).zip(&x);
                let product_: f64 = pairs().map(|(a, b)| a * b).sum();
                let distance: f64 = pairs().map(|(a, b)| (a - b) * (a - b)).sum();
                assert!((products[place] - product_).abs() < 1e-14);
                assert!((distances[place] - distance).abs() < 1e-14);
                assert!((product(&wide[place * stride..][..dim], &x[..dim]) - product_).abs() < 1e-14);
            }
            assert_eq!(products[3], 0.0);
            let mut sum = x.clone();
            add_four(&mut sum, &wide, [2.0, -1.0, 0.5, 9.0]);
            for (at, sum) in sum.iter().enumerate().take(dim) {
                let row = |row: usize| f64::from(vectors.row(row)[at]);
                let expected = x[at] + 2.0 * row(2) - row(0) + 0.5 * row(1);
                assert!((sum - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn wide_vectors_change_no_bit() {
        let (four, x) = (numbers(3, 4 * 64), numbers(4, 64));
        let mut lanes = [[[0.0; LANES]; GROUP]; 2];
        let rest = vectorized(
            #[inline(always)]
            || {
                four_products(&four, &x, &mut lanes[0]);
                four_distances(&four, &x, &mut lanes[1]);
                product(&four[..63], &x[..63])
            },
        );
        let wide = (lanes, rest);
        four_products(&four, &x, &mut lanes[0]);
        four_distances(&four, &x, &mut lanes[1]);
        let plain = (lanes, product(&four[..63], &x[..63]));
        assert_eq!(wide, plain);
    }
}

//! Products of dense matrices, `C = A B` or `C += A B`, for factors too wide for the kernels of a stage.
//!
//! C is cut into blocks, and each block is computed by one thread. Within a block, slices of A and B are copied into
//! the order in which the innermost loop reads them. That loop adds eight rows of B, each times a factor, to a row of
//! C. (A tile of C in registers would need fewer loads, but in safe Rust the compiler splits such a tile into
//! scalars.)
//!
//! Invariant: an element of C is a sum over the inner dimension in ascending order, eight products at a time. It does
//! not depend on threads, blocks or vector width (there is no FMA).

use std::ops::Range;

use rayon::prelude::*;

use super::Real;
use super::kernels::vectorized;

/// The number of rows of B that are read together. Each number of C is loaded and stored once per this many products.
const GROUP: usize = 8;

/// The length of a slice of the inner dimension.
const DEPTH: usize = 256;

/// The maximum size of a block of C. One row and a group of rows of B fill half of the first-level cache.
const BLOCK_ROWS: usize = 128;
const BLOCK_COLS: usize = 512;

/// C is cut further until there are this many blocks, or until they have the smallest size.
const BLOCKS: usize = 16;
const SMALLEST_ROWS: usize = 32;
const SMALLEST_COLS: usize = 128;

/// A matrix to be read, either as stored or transposed.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T> {
    values: &'a [T],
    rows: usize,
    cols: usize,
    row_step: usize,
    col_step: usize,
}

impl<'a, T: Real> Operand<'a, T> {
    /// Creates an operand with rows of `cols` consecutive numbers.
    pub fn new(values: &'a [T], cols: usize) -> Self {
        assert!(cols > 0 && values.len().is_multiple_of(cols), "{} numbers in rows of {cols}", values.len());
        Operand { values, rows: values.len() / cols, cols, row_step: cols, col_step: 1 }
    }

    /// Returns the transpose without moving numbers.
    pub fn transposed(self) -> Self {
        let Operand { values, rows, cols, row_step, col_step } = self;
        Operand { values, rows: cols, cols: rows, row_step: col_step, col_step: row_step }
    }

    #[inline(always)]
    fn at(&self, row: usize, col: usize) -> T {
        self.values[row * self.row_step + col * self.col_step]
    }

    /// Copies a part of the matrix in row order.
    fn copy(&self, rows: Range<usize>, cols: Range<usize>, to: &mut [T]) {
        let width = cols.len();
        if self.col_step == 1 {
            for (row, to) in rows.zip(to.chunks_exact_mut(width)) {
                to.copy_from_slice(&self.values[row * self.row_step..][cols.clone()]);
            }
            return;
        }
        for (place, col) in cols.enumerate() {
            for (at, row) in rows.clone().enumerate() {
                to[at * width + place] = self.at(row, col);
            }
        }
    }
}

/// Computes `c = a b`, in row order.
pub fn product<T: Real>(a: Operand<'_, T>, b: Operand<'_, T>, c: &mut [T]) {
    c.fill(T::ZERO);
    add_product(a, b, c);
}

/// Computes `c += a b` on the threads of the current pool.
pub fn add_product<T: Real>(a: Operand<'_, T>, b: Operand<'_, T>, c: &mut [T]) {
    assert_eq!(a.cols, b.rows, "the inner dimensions of {}x{} and {}x{}", a.rows, a.cols, b.rows, b.cols);
    assert_eq!(c.len(), a.rows * b.cols, "the product of {}x{} and {}x{}", a.rows, a.cols, b.rows, b.cols);
    if c.is_empty() {
        return;
    }
    let (rows, cols) = block_shape(a.rows, b.cols);
    cut(c, b.cols, rows, cols).par_iter_mut().for_each_init(Packed::default, |packed, block| {
        let rows = block.first_row..block.first_row + block.rows.len();
        let cols = block.first_col..block.first_col + block.rows[0].len();
        for from in (0..a.cols).step_by(DEPTH) {
            let inner = from..a.cols.min(from + DEPTH);
            packed.lay_out(a, b, rows.clone(), inner, cols.clone());
            vectorized(
                #[inline(always)]
                || packed.add_to(&mut block.rows),
            );
        }
    });
}

/// Returns the rows and columns of a block of C.
fn block_shape(rows: usize, cols: usize) -> (usize, usize) {
    let (mut block_rows, mut block_cols) = (BLOCK_ROWS, BLOCK_COLS);
    let blocks = |block_rows, block_cols| rows.div_ceil(block_rows) * cols.div_ceil(block_cols);
    while blocks(block_rows, block_cols) < BLOCKS {
        if block_cols > SMALLEST_COLS {
            block_cols /= 2;
        } else if block_rows > SMALLEST_ROWS {
            block_rows /= 2;
        } else {
            break;
        }
    }
    (block_rows, block_cols)
}

/// A block of C: parts of consecutive rows.
struct Block<'a, T> {
    first_row: usize,
    first_col: usize,
    rows: Vec<&'a mut [T]>,
}

fn cut<T>(c: &mut [T], cols: usize, block_rows: usize, block_cols: usize) -> Vec<Block<'_, T>> {
    let mut blocks = Vec::new();
    for (band, rows) in c.chunks_mut(block_rows * cols).enumerate() {
        let first = blocks.len();
        blocks.extend((0..cols).step_by(block_cols).map(|first_col| Block {
            first_row: band * block_rows,
            first_col,
            rows: Vec::with_capacity(block_rows),
        }));
        for row in rows.chunks_mut(cols) {
            let pieces = row.chunks_mut(block_cols);
            blocks[first..].iter_mut().zip(pieces).for_each(|(block, piece)| block.rows.push(piece));
        }
    }
    blocks
}

/// Slices of A and B in the order in which they are read. Groups are padded with zeros.
struct Packed<T> {
    /// For each group, the factors of all rows.
    a: Vec<[T; GROUP]>,
    /// Rows of `cols` numbers.
    b: Vec<T>,
    cols: usize,
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Packed { a: Vec::new(), b: Vec::new(), cols: 0 }
    }
}

impl<T: Real> Packed<T> {
    fn lay_out(
        &mut self,
        a: Operand<'_, T>,
        b: Operand<'_, T>,
        rows: Range<usize>,
        inner: Range<usize>,
        cols: Range<usize>,
    ) {
        self.a.clear();
        for first in inner.clone().step_by(GROUP) {
            let group = first..inner.end.min(first + GROUP);
            self.a.extend(rows.clone().map(|row| {
                let mut factors = [T::ZERO; GROUP];
                factors.iter_mut().zip(group.clone()).for_each(|(factor, at)| *factor = a.at(row, at));
                factors
            }));
        }
        self.cols = cols.len();
        self.b.clear();
        self.b.resize(inner.len().next_multiple_of(GROUP) * cols.len(), T::ZERO);
        b.copy(inner, cols, &mut self.b);
    }

    /// Adds the product of the two slices to rows of C.
    #[inline(always)]
    fn add_to(&self, rows: &mut [&mut [T]]) {
        let groups = self.b.chunks_exact(GROUP * self.cols).zip(self.a.chunks_exact(rows.len()));
        for (b, factors) in groups {
            for (row, factors) in rows.iter_mut().zip(factors) {
                add_group(row, factors, b);
            }
        }
    }
}

/// `row += factors[0] b_0 + ... + factors[7] b_7`. The rows of B are consecutive.
#[inline(always)]
fn add_group<T: Real>(row: &mut [T], factors: &[T; GROUP], b: &[T]) {
    let cols = row.len();
    let [f0, f1, f2, f3, f4, f5, f6, f7] = *factors;
    let (b0, b) = b.split_at(cols);
    let (b1, b) = b.split_at(cols);
    let (b2, b) = b.split_at(cols);
    let (b3, b) = b.split_at(cols);
    let (b4, b) = b.split_at(cols);
    let (b5, b) = b.split_at(cols);
    let (b6, b7) = b.split_at(cols);
    let early = b0.iter().zip(b1).zip(b2.iter().zip(b3));
    let late = b4.iter().zip(b5).zip(b6.iter().zip(b7));
    for ((c, ((&b0, &b1), (&b2, &b3))), ((&b4, &b5), (&b6, &b7))) in row.iter_mut().zip(early).zip(late) {
        *c += ((f0 * b0 + f1 * b1) + (f2 * b2 + f3 * b3)) + ((f4 * b4 + f5 * b5) + (f6 * b6 + f7 * b7));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Pool;
    use crate::random::{Key, unit_f64};

    fn numbers<T: Real>(seed: u64, count: usize) -> Vec<T> {
        (0..count).map(|at| T::from_f64(unit_f64(Key::new(seed).at(at, 0)) - 0.5)).collect()
    }

    /// Sizes below, at and above those of a group, a slice and a block.
    const SHAPES: [(usize, usize, usize); 6] =
        [(1, 1, 1), (7, 17, 257), (9, 15, 3), (128, 512, 8), (129, 513, 20), (40, 70, 600)];

    #[test]
    fn products_are_the_naive_ones() {
        for (m, n, k) in SHAPES {
            let (a, b, start) =
                (numbers::<f64>(1, m * k), numbers::<f64>(2, k * n), numbers::<f64>(3, m * n));
            let turn = |x: &[f64], rows: usize, cols: usize| -> Vec<f64> {
                (0..rows * cols).map(|at| x[at % rows * cols + at / rows]).collect()
            };
            let (a_t, b_t) = (turn(&a, m, k), turn(&b, k, n));
            let (a_t, b_t) = (Operand::new(&a_t, m).transposed(), Operand::new(&b_t, k).transposed());
            let (a_plain, b_plain) = (Operand::new(&a, k), Operand::new(&b, n));
            let mut c = start.clone();
            add_product(a_plain, b_plain, &mut c);
            for row in 0..m {
                for col in 0..n {
                    let naive: f64 = (0..k).map(|at| a[row * k + at] * b[at * n + col]).sum();
                    assert!((c[row * n + col] - start[row * n + col] - naive).abs() < 1e-12, "{m} {n} {k}");
                }
            }
            for (a, b) in [(a_t, b_plain), (a_plain, b_t), (a_t, b_t)] {
                let mut other = start.clone();
                add_product(a, b, &mut other);
                assert_eq!(other, c, "the layout changes no bit");
            }
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let (a, b) = (numbers::<f32>(4, 150 * 300), numbers::<f32>(5, 300 * 600));
        let run = |threads: usize| {
            let mut c = vec![f32::NAN; 150 * 600];
            let pool = Pool::new(Some(threads)).unwrap();
            pool.run(|| product(Operand::new(&a, 300), Operand::new(&b, 600), &mut c));
            c
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn nothing_times_something_is_nothing() {
        let mut c = vec![1.0f64; 6];
        product(Operand::new(&[], 2).transposed(), Operand::new(&[], 3), &mut c);
        assert_eq!(c, [0.0; 6]);
        add_product::<f64>(Operand::new(&[], 4), Operand::new(&[0.0; 8], 2), &mut []);
    }
}

//! A sparse matrix cut into row blocks and column panels, the format for factorization.
//!
//! A panel is narrow enough that its rows of V stay in the first-level cache while the entries of a block are read,
//! and that 16 bits are enough for a column. An entry takes six bytes in f32, plus four bytes for each pair of row
//! and panel.
//!
//! Invariant: within a block, entries are sorted by panel, then row, then column. `starts[panel * rows + row]` is the
//! start of the run of that row in that panel, and the last of `starts` is the number of entries.

use rayon::prelude::*;

use super::kernels::vectorized;
use super::sum::add_in_order;
use super::vector::sum_and_squares;
use super::{Csr, Real};

/// The number of rows of a block. Small enough for many tasks on a small network, large enough to make good use of a
/// panel of V.
pub const BLOCK_ROWS: usize = 128;

/// The number of columns of the narrowest panels.
pub const NARROWEST_PANEL: usize = 256;
const WIDEST_PANEL: usize = 1 << 16;

/// Panels are widened until a row has this many entries in one on average. Shorter runs cost more than cache misses.
const ENTRIES_PER_RUN: usize = 8;

/// A non-negative sparse matrix in tiles.
#[derive(Clone, Debug)]
pub struct Tiles<T> {
    rows: usize,
    cols: usize,
    panel: usize,
    blocks: Vec<Block<T>>,
}

/// [`BLOCK_ROWS`] rows of a matrix (fewer in the last block).
#[derive(Clone, Debug)]
pub struct Block<T> {
    rows: usize,
    starts: Vec<u32>,
    cols: Vec<u16>,
    values: Vec<T>,
}

impl<T: Real> Tiles<T> {
    /// Creates tiles from a matrix in compressed rows, on the threads of the current pool. Call it within one: threads of the
    /// global pool are lost in a fork.
    pub fn from_csr(matrix: &Csr<T>) -> Self {
        let panel = panel_width(matrix.rows(), matrix.cols(), matrix.entries());
        let firsts: Vec<usize> = (0..matrix.rows()).step_by(BLOCK_ROWS).collect();
        let cut = |&from: &usize| Block::new(matrix, from, (from + BLOCK_ROWS).min(matrix.rows()), panel);
        let blocks = firsts.par_iter().map(cut).collect();
        Tiles { rows: matrix.rows(), cols: matrix.cols(), panel, blocks }
    }

    /// Creates tiles from blocks of [`BLOCK_ROWS`] rows, and frees each block as soon as it is converted.
    pub fn from_blocks(rows: usize, cols: usize, blocks: Vec<Csr<T>>) -> Self {
        let entries = blocks.iter().map(Csr::entries).sum();
        let panel = panel_width(rows, cols, entries);
        let cut = |block: Csr<T>| Block::new(&block, 0, block.rows(), panel);
        let blocks: Vec<_> = blocks.into_par_iter().map(cut).collect();
        let (found, last) =
            (blocks.iter().map(|block| block.rows).sum::<usize>(), blocks.len().saturating_sub(1));
        assert_eq!(found, rows, "the blocks have all rows");
        assert!(
            blocks[..last].iter().all(|block| block.rows == BLOCK_ROWS),
            "only the last block may be short"
        );
        Tiles { rows, cols, panel, blocks }
    }

    /// Returns the given rows as a matrix of their own, with the same panels. They must be in ascending order.
    pub fn rows_at(&self, rows: &[usize]) -> Self {
        let panels = self.panels();
        let of_rows = |rows: &[usize]| {
            let runs = || (0..panels).flat_map(|panel| rows.iter().map(move |row| (panel, row)));
            let run =
                |(panel, row): (usize, &usize)| self.blocks[row / BLOCK_ROWS].run(panel, row % BLOCK_ROWS);
            let entries = runs().map(|at| run(at).0.len()).sum();
            let mut block = Block {
                rows: rows.len(),
                starts: Vec::with_capacity(panels * rows.len() + 1),
                cols: Vec::with_capacity(entries),
                values: Vec::with_capacity(entries),
            };
            for at in runs() {
                let (cols, values) = run(at);
                block.starts.push(block.cols.len() as u32);
                block.cols.extend_from_slice(cols);
                block.values.extend_from_slice(values);
            }
            block.starts.push(block.cols.len() as u32);
            block
        };
        let blocks = rows.par_chunks(BLOCK_ROWS).map(of_rows).collect();
        Tiles { rows: rows.len(), cols: self.cols, panel: self.panel, blocks }
    }

    /// Returns whether a row has entries.
    pub fn has_entries(&self, row: usize) -> bool {
        let (block, row) = (&self.blocks[row / BLOCK_ROWS], row % BLOCK_ROWS);
        (0..self.panels()).any(|panel| !block.run(panel, row).0.is_empty())
    }

    /// Converts to compressed rows.
    pub fn to_csr(&self) -> Csr<T> {
        let mut indptr = vec![0];
        let (mut indices, mut values) =
            (Vec::with_capacity(self.entries()), Vec::with_capacity(self.entries()));
        for block in &self.blocks {
            for row in 0..block.rows {
                for panel in 0..self.panels() {
                    let (cols, run) = block.run(panel, row);
                    indices.extend(cols.iter().map(|&col| (panel * self.panel) as u32 + u32::from(col)));
                    values.extend_from_slice(run);
                }
                indptr.push(indices.len());
            }
        }
        Csr::new(self.cols, indptr, indices, values)
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of stored entries.
    pub fn entries(&self) -> usize {
        self.blocks.iter().map(|block| block.values.len()).sum()
    }

    /// Returns the number of columns of a panel (the last has fewer).
    pub fn panel(&self) -> usize {
        self.panel
    }

    /// Returns the number of panels.
    pub fn panels(&self) -> usize {
        self.cols.div_ceil(self.panel)
    }

    /// Returns the row blocks in order.
    pub fn blocks(&self) -> &[Block<T>] {
        &self.blocks
    }

    /// Returns the row blocks in order, mutable.
    pub fn blocks_mut(&mut self) -> &mut [Block<T>] {
        &mut self.blocks
    }

    /// Returns the sum of all entries and the sum of their squares. Each block is summed separately and the sums are added in
    /// order, so that the number of threads does not matter.
    pub fn sums(&self) -> [f64; 2] {
        let sums: Vec<[f64; 2]> = self.blocks.par_iter().map(Block::sums).collect();
        add_in_order(&sums)
    }

    /// Returns the largest entry, or 0 if there is none.
    pub fn max(&self) -> T {
        let values = self.blocks.iter().flat_map(|block| &block.values);
        values.fold(T::ZERO, |max, &value| if value > max { value } else { max })
    }

    /// Multiplies all entries by a factor.
    pub fn scale(&mut self, factor: T) {
        for value in self.blocks.iter_mut().flat_map(|block| &mut block.values) {
            *value *= factor;
        }
    }
}

/// Returns the width of the narrowest panel with runs of a useful length.
fn panel_width(rows: usize, cols: usize, entries: usize) -> usize {
    let mut panel = NARROWEST_PANEL;
    while panel < WIDEST_PANEL && rows * cols.div_ceil(panel) * ENTRIES_PER_RUN > entries {
        panel *= 2;
    }
    panel
}

/// Returns the number of bytes that a matrix of f32 takes in tiles.
pub fn tile_bytes(rows: usize, cols: usize, entries: usize) -> usize {
    let panels = cols.div_ceil(panel_width(rows, cols, entries));
    6 * entries + 4 * (rows * panels) + rows.div_ceil(BLOCK_ROWS) * size_of::<Block<f32>>()
}

impl<T: Real> Block<T> {
    fn new(matrix: &Csr<T>, from: usize, to: usize, panel: usize) -> Self {
        let panels = matrix.cols().div_ceil(panel);
        let entries = matrix.indptr()[to] - matrix.indptr()[from];
        assert!(u32::try_from(entries).is_ok(), "{entries} entries in a block of {BLOCK_ROWS} rows");
        let mut block = Block {
            rows: to - from,
            starts: Vec::with_capacity(panels * (to - from) + 1),
            cols: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        let mut next = matrix.indptr()[from..to].to_vec();
        for index in 0..panels {
            let first = index * panel;
            for (row, next) in next.iter_mut().enumerate() {
                block.starts.push(block.cols.len() as u32);
                let end = matrix.indptr()[from + row + 1];
                while *next < end && (matrix.indices()[*next] as usize) < first + panel {
                    block.cols.push((matrix.indices()[*next] as usize - first) as u16);
                    block.values.push(matrix.values()[*next]);
                    *next += 1;
                }
            }
        }
        block.starts.push(block.cols.len() as u32);
        block
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns (relative to the panel) and the values of one row in one panel.
    #[inline(always)]
    pub fn run(&self, panel: usize, row: usize) -> (&[u16], &[T]) {
        let at = panel * self.rows + row;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        (&self.cols[range.clone()], &self.values[range])
    }

    /// Returns the sum of all entries and the sum of their squares.
    pub fn sums(&self) -> [f64; 2] {
        vectorized(
            #[inline(always)]
            || sum_and_squares(&self.values),
        )
    }

    /// Lets `change` modify the values of each run, and removes the values that are then zero or less.
    ///
    /// The arguments of `change` are the panel, the row, the columns relative to the panel, and the values.
    #[inline(always)]
    pub fn retain(&mut self, panels: usize, change: impl Fn(usize, usize, &[u16], &mut [T])) {
        // Slices, because the compiler reloads the length and the address of a vector after each write.
        let (starts, cols, values) =
            (self.starts.as_mut_slice(), self.cols.as_mut_slice(), self.values.as_mut_slice());
        let (mut kept, mut start) = (0, 0);
        for panel in 0..panels {
            for row in 0..self.rows {
                let at = panel * self.rows + row;
                let end = starts[at + 1] as usize;
                starts[at] = kept as u32;
                change(panel, row, &cols[start..end], &mut values[start..end]);
                for entry in start..end {
                    // Written in any case, and counted only if the entry is kept: no branch to mispredict.
                    let value = values[entry];
                    cols[kept] = cols[entry];
                    values[kept] = value;
                    kept += usize::from(value > T::ZERO);
                }
                start = end;
            }
        }
        *self.starts.last_mut().expect("starts is never empty") = kept as u32;
        self.cols.truncate(kept);
        self.values.truncate(kept);
        // Shrinking copies the remaining entries, so do it only if it frees enough.
        if kept < self.cols.capacity() / 4 * 3 {
            self.cols.shrink_to_fit();
            self.values.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Csr;

    #[test]
    fn cutting_and_joining_gives_the_matrix_back() {
        for (rows, cols, density) in
            [(1, 1, 1.0), (127, 300, 0.1), (128, 255, 0.5), (129, 257, 0.02), (300, 1000, 0.0)]
        {
            let matrix = Csr::<f32>::random(rows, cols, density, 7);
            let tiles = Tiles::from_csr(&matrix);
            assert_eq!(tiles.to_csr(), matrix, "{rows} x {cols}");
            assert_eq!(tiles.entries(), matrix.entries());
        }
    }

    #[test]
    fn blocks_from_elsewhere_are_the_same_as_a_cut_matrix() {
        let whole = Csr::<f32>::random(300, 500, 0.05, 3);
        let part = |from: usize, to: usize| {
            let at = whole.indptr()[from]..whole.indptr()[to];
            let indptr = whole.indptr()[from..=to].iter().map(|start| start - at.start).collect();
            Csr::new(500, indptr, whole.indices()[at.clone()].to_vec(), whole.values()[at].to_vec())
        };
        let tiles = Tiles::from_blocks(300, 500, vec![part(0, 128), part(128, 256), part(256, 300)]);
        assert_eq!(tiles.to_csr(), whole);
    }

    #[test]
    fn thin_matrices_get_wide_panels() {
        assert_eq!(panel_width(1000, 1000, 200_000), NARROWEST_PANEL);
        assert_eq!(panel_width(1_000_000, 1_000_000, 50_000_000), WIDEST_PANEL);
    }

    #[test]
    fn retaining_drops_what_is_not_above_zero() {
        let matrix = Csr::<f64>::random(200, 700, 0.1, 5);
        let mut tiles = Tiles::from_csr(&matrix);
        let panels = tiles.panels();
        for block in tiles.blocks_mut() {
            block.retain(panels, |_, _, _, values| values.iter_mut().for_each(|value| *value -= 0.5));
        }
        let naive: Vec<f64> =
            matrix.values().iter().map(|value| value - 0.5).filter(|&value| value > 0.0).collect();
        assert_eq!(tiles.to_csr().values(), naive);
    }
}

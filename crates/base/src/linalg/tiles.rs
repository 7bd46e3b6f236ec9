//! A sparse matrix cut into row blocks and column panels, the format for factorization.
//!
//! A panel is narrow enough that its rows of V stay in the first-level cache while the entries of a block are read,
//! and that 16 bits are enough for a column. An entry takes six bytes in f32, plus four bytes for each pair of row
//! and panel.
//!
//! A symmetric matrix may be stored by its diagonal and the entries above it, which halves the memory.
//!
//! Invariant: within a block, entries are sorted by panel, then row, then column. `starts[(panel - first_panel) * rows + row]`
//! is the start of the run of that row in that panel, and the last of `starts` is the number of entries.

use std::ops::Range;

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

/// A symmetric matrix has this many panels, unless they would be narrower than [`NARROWEST_PANEL`]. More do not pay: with 22
/// instead of 11, stages of aminer_authors take 8 % more time on two threads.
const FEWEST_PANELS: usize = 8;

/// A non-negative sparse matrix in tiles.
#[derive(Clone, Debug)]
pub struct Tiles<T> {
    rows: usize,
    cols: usize,
    panel: usize,
    blocks: Vec<Block<T>>,
    /// The diagonal of a symmetric matrix. Its blocks have the entries above the diagonal only.
    diagonal: Option<Vec<T>>,
}

/// The places and the values of the entries of a row or of a column.
type Line<T> = (Vec<u32>, Vec<T>);

/// [`BLOCK_ROWS`] rows of a matrix (fewer in the last block).
#[derive(Clone, Debug)]
pub struct Block<T> {
    rows: usize,
    /// The first panel with entries, of a block of a symmetric matrix: `starts` begins there.
    first_panel: usize,
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
        let cut = |&from: &usize| {
            let rows = from..(from + BLOCK_ROWS).min(matrix.rows());
            Block::new(matrix, rows.clone(), matrix.indptr()[rows].to_vec(), 0, panel)
        };
        let blocks = firsts.par_iter().map(cut).collect();
        Tiles { rows: matrix.rows(), cols: matrix.cols(), panel, blocks, diagonal: None }
    }

    /// Creates tiles from blocks of [`BLOCK_ROWS`] rows, and frees each block as soon as it is converted.
    pub fn from_blocks(rows: usize, cols: usize, blocks: Vec<Csr<T>>) -> Self {
        let entries = blocks.iter().map(Csr::entries).sum();
        let panel = panel_width(rows, cols, entries);
        let blocks = blocks.into_par_iter().map(|block| Block::of(&block, panel));
        Self::of_blocks(rows, cols, panel, blocks.collect())
    }

    /// Creates a symmetric matrix from its entries on and above the diagonal, as [`from_blocks`](Self::from_blocks).
    pub fn symmetric(nodes: usize, blocks: Vec<Csr<T>>) -> Self {
        let entries: usize = blocks.iter().map(Csr::entries).sum();
        let panel = symmetric_panel_width(nodes, 2 * entries);
        let cut = |(index, block): (usize, Csr<T>)| {
            let first_entry = |row: usize| block.row(row).0.first().map(|&col| col as usize);
            let on_diagonal = |row: usize| first_entry(row) == Some(index * BLOCK_ROWS + row);
            let starts = block.indptr().iter().zip(0..block.rows());
            let above: Vec<usize> =
                starts.map(|(&start, row)| start + usize::from(on_diagonal(row))).collect();
            let value = |row: usize| if on_diagonal(row) { block.row(row).1[0] } else { T::ZERO };
            let diagonal: Vec<T> = (0..block.rows()).map(value).collect();
            let first_panel = index * BLOCK_ROWS / panel;
            (Block::new(&block, 0..block.rows(), above, first_panel, panel), diagonal)
        };
        let (blocks, diagonals): (Vec<_>, Vec<_>) = blocks.into_par_iter().enumerate().map(cut).unzip();
        Tiles { diagonal: Some(diagonals.concat()), ..Self::of_blocks(nodes, nodes, panel, blocks) }
    }

    fn of_blocks(rows: usize, cols: usize, panel: usize, blocks: Vec<Block<T>>) -> Self {
        let (found, last) =
            (blocks.iter().map(|block| block.rows).sum::<usize>(), blocks.len().saturating_sub(1));
        assert_eq!(found, rows, "the blocks have all rows");
        assert!(
            blocks[..last].iter().all(|block| block.rows == BLOCK_ROWS),
            "only the last block may be short"
        );
        Tiles { rows, cols, panel, blocks, diagonal: None }
    }

    /// Returns the given rows as a matrix of their own. They must be in ascending order.
    pub fn rows_at(&self, rows: &[usize]) -> Self {
        let mut below = match self.diagonal {
            Some(_) => self.columns_at(rows),
            None => vec![(Vec::new(), Vec::new()); rows.len()],
        };
        let diagonal = |row: usize| self.diagonal.as_ref().map(|diagonal| diagonal[row]);
        let of_rows = |(rows, below): (&[usize], &mut [Line<T>])| {
            let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for (&row, below) in rows.iter().zip(below) {
                // Taken, so that it is freed at once.
                let (cols, numbers) = std::mem::take(below);
                indices.extend_from_slice(&cols);
                values.extend_from_slice(&numbers);
                if let Some(value) = diagonal(row).filter(|&value| value > T::ZERO) {
                    indices.push(row as u32);
                    values.push(value);
                }
                self.append_row(row, &mut indices, &mut values);
                indptr.push(indices.len());
            }
            Block::of(&Csr::new(self.cols, indptr, indices, values), self.panel)
        };
        let chunks = rows.par_chunks(BLOCK_ROWS).zip(below.par_chunks_mut(BLOCK_ROWS));
        Self::of_blocks(rows.len(), self.cols, self.panel, chunks.map(of_rows).collect())
    }

    /// The stored entries of the given columns, which are in ascending order: for each, the rows and the values.
    fn columns_at(&self, columns: &[usize]) -> Vec<Line<T>> {
        let mut found = vec![(Vec::new(), Vec::new()); columns.len()];
        let in_panel = |(panel, columns, found): (usize, &[usize], &mut [Line<T>])| {
            let mut places = vec![usize::MAX; self.panel];
            columns.iter().enumerate().for_each(|(place, col)| places[col - panel * self.panel] = place);
            for (index, block) in self.blocks_of_panel(panel).iter().enumerate() {
                for row in 0..block.rows {
                    let (cols, values) = block.run(panel, row);
                    for (&col, &value) in cols.iter().zip(values) {
                        if let Some((rows, values)) = found.get_mut(places[usize::from(col)]) {
                            rows.push((index * BLOCK_ROWS + row) as u32);
                            values.push(value);
                        }
                    }
                }
            }
        };
        let (mut tasks, mut columns, mut rest) = (Vec::new(), columns, found.as_mut_slice());
        while let Some(first) = columns.first() {
            let panel = first / self.panel;
            let count = columns.partition_point(|col| col / self.panel == panel);
            let (here, after) = rest.split_at_mut(count);
            tasks.push((panel, &columns[..count], here));
            (columns, rest) = (&columns[count..], after);
        }
        tasks.into_par_iter().for_each(in_panel);
        found
    }

    /// Appends the stored entries of a row.
    fn append_row(&self, row: usize, indices: &mut Vec<u32>, values: &mut Vec<T>) {
        let block = &self.blocks[row / BLOCK_ROWS];
        for panel in block.first_panel..self.panels() {
            let (cols, run) = block.run(panel, row % BLOCK_ROWS);
            indices.extend(cols.iter().map(|&col| (panel * self.panel) as u32 + u32::from(col)));
            values.extend_from_slice(run);
        }
    }

    /// Returns for each row whether it has entries.
    pub fn filled_rows(&self) -> Vec<bool> {
        let of_row = |row: usize| {
            let (block, row) = (&self.blocks[row / BLOCK_ROWS], row % BLOCK_ROWS);
            (block.first_panel..self.panels()).any(|panel| !block.run(panel, row).0.is_empty())
        };
        let mut filled: Vec<bool> = (0..self.rows).into_par_iter().map(of_row).collect();
        if let Some(diagonal) = &self.diagonal {
            filled.iter_mut().zip(diagonal).for_each(|(filled, &value)| *filled |= value > T::ZERO);
            self.fill_columns(&mut filled);
        }
        filled
    }

    /// Returns for each column whether it has entries.
    pub fn filled_columns(&self) -> Vec<bool> {
        if self.diagonal.is_some() {
            return self.filled_rows();
        }
        let mut filled = vec![false; self.cols];
        self.fill_columns(&mut filled);
        filled
    }

    /// Sets those columns to true of which entries are stored.
    fn fill_columns(&self, filled: &mut [bool]) {
        let in_panel = |(panel, filled): (usize, &mut [bool])| {
            for block in self.blocks_of_panel(panel) {
                if filled.iter().all(|&filled| filled) {
                    break;
                }
                for row in 0..block.rows {
                    block.run(panel, row).0.iter().for_each(|&col| filled[usize::from(col)] = true);
                }
            }
        };
        filled.par_chunks_mut(self.panel).enumerate().for_each(in_panel);
    }

    /// Converts to compressed rows.
    pub fn to_csr(&self) -> Csr<T> {
        if self.diagonal.is_some() {
            return self.rows_at(&(0..self.rows).collect::<Vec<_>>()).to_csr();
        }
        let mut indptr = vec![0];
        let (mut indices, mut values) =
            (Vec::with_capacity(self.entries()), Vec::with_capacity(self.entries()));
        for row in 0..self.rows {
            self.append_row(row, &mut indices, &mut values);
            indptr.push(indices.len());
        }
        Csr::new(self.cols, indptr, indices, values)
    }

    /// Returns the diagonal of a matrix that is stored as a symmetric one.
    pub fn diagonal(&self) -> Option<&[T]> {
        self.diagonal.as_deref()
    }

    /// Returns the diagonal of a matrix that is stored as a symmetric one, mutable.
    pub fn diagonal_mut(&mut self) -> Option<&mut [T]> {
        self.diagonal.as_deref_mut()
    }

    /// Returns the smallest number of rows, a multiple of [`BLOCK_ROWS`], whose products are computed together.
    pub fn rows_together(&self) -> usize {
        if self.diagonal.is_some() { self.panel.max(BLOCK_ROWS) } else { BLOCK_ROWS }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of entries of the matrix.
    pub fn entries(&self) -> usize {
        let stored: usize = self.blocks.iter().map(|block| block.values.len()).sum();
        match &self.diagonal {
            Some(diagonal) => 2 * stored + diagonal.iter().filter(|&&value| value > T::ZERO).count(),
            None => stored,
        }
    }

    /// Returns the number of columns of a panel (the last has fewer).
    pub fn panel(&self) -> usize {
        self.panel
    }

    /// Returns the number of panels.
    pub fn panels(&self) -> usize {
        self.cols.div_ceil(self.panel)
    }

    /// Returns the row blocks in order; those of a symmetric matrix have the entries above its diagonal.
    pub fn blocks(&self) -> &[Block<T>] {
        &self.blocks
    }

    /// Returns the row blocks that may have entries in a panel.
    pub fn blocks_of_panel(&self, panel: usize) -> &[Block<T>] {
        &self.blocks[..self.blocks.partition_point(|block| block.first_panel <= panel)]
    }

    /// Returns the row blocks in order, mutable.
    pub fn blocks_mut(&mut self) -> &mut [Block<T>] {
        &mut self.blocks
    }

    /// Returns the sum of all entries and the sum of their squares. Each block is summed separately and the sums are added in
    /// order, so that the number of threads does not matter.
    pub fn sums(&self) -> [f64; 2] {
        let sums: Vec<[f64; 2]> = self.blocks.par_iter().map(Block::sums).collect();
        self.with_other_half(add_in_order(&sums))
    }

    /// Returns sums over the whole matrix, given those over the blocks.
    pub fn with_other_half(&self, [sum, squares]: [f64; 2]) -> [f64; 2] {
        let Some(diagonal) = &self.diagonal else { return [sum, squares] };
        let [on_diagonal, squares_on_diagonal] = sum_and_squares(diagonal);
        [2.0 * sum + on_diagonal, 2.0 * squares + squares_on_diagonal]
    }

    /// Returns the largest entry, or 0 if there is none.
    pub fn max(&self) -> T {
        let values = self.blocks.iter().flat_map(|block| &block.values).chain(self.diagonal.iter().flatten());
        values.fold(T::ZERO, |max, &value| if value > max { value } else { max })
    }

    /// Multiplies all entries by a factor.
    pub fn scale(&mut self, factor: T) {
        let values = self.blocks.iter_mut().flat_map(|block| &mut block.values);
        for value in values.chain(self.diagonal.iter_mut().flatten()) {
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

/// Returns the width of the panels of a symmetric matrix with so many entries on both sides of the diagonal. A task multiplies
/// as many rows as a panel has columns, so there must be enough panels for all threads.
pub fn symmetric_panel_width(nodes: usize, entries: usize) -> usize {
    let mut panel = panel_width(nodes, nodes, entries);
    while panel > NARROWEST_PANEL && nodes.div_ceil(panel) < FEWEST_PANELS {
        panel /= 2;
    }
    panel
}

/// Returns the number of bytes that a square matrix of f32 takes in tiles, stored as a whole or as a symmetric one.
pub fn tile_bytes(nodes: usize, entries: usize, symmetric: bool) -> usize {
    let (panel, stored) = if symmetric {
        // Half of the runs are below the diagonal.
        (2 * symmetric_panel_width(nodes, entries), 3 * entries + 4 * nodes)
    } else {
        (panel_width(nodes, nodes, entries), 6 * entries)
    };
    stored + 4 * nodes * nodes.div_ceil(panel) + nodes.div_ceil(BLOCK_ROWS) * size_of::<Block<f32>>()
}

/// Returns for each row (or column, by `filled`) whether any of the matrices has entries in it.
pub fn filled_in_any<T: Real>(parts: &[&Tiles<T>], filled: impl Fn(&Tiles<T>) -> Vec<bool>) -> Vec<bool> {
    let mut any = Vec::new();
    for part in parts {
        let filled = filled(part);
        any.resize(filled.len(), false);
        any.iter_mut().zip(filled).for_each(|(any, filled)| *any |= filled);
    }
    any
}

impl<T: Real> Block<T> {
    /// Creates a block of all rows.
    fn of(matrix: &Csr<T>, panel: usize) -> Self {
        Self::new(matrix, 0..matrix.rows(), matrix.indptr()[..matrix.rows()].to_vec(), 0, panel)
    }

    /// Creates a block of the given rows. `next` has the first entry of each that is stored.
    fn new(
        matrix: &Csr<T>,
        rows: Range<usize>,
        mut next: Vec<usize>,
        first_panel: usize,
        panel: usize,
    ) -> Self {
        let panels = matrix.cols().div_ceil(panel);
        let ends = &matrix.indptr()[rows.start + 1..=rows.end];
        let entries: usize = ends.iter().zip(&next).map(|(end, start)| end - start).sum();
        assert!(u32::try_from(entries).is_ok(), "{entries} entries in a block of {BLOCK_ROWS} rows");
        let mut block = Block {
            rows: rows.len(),
            first_panel,
            starts: Vec::with_capacity((panels - first_panel) * rows.len() + 1),
            cols: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        for index in first_panel..panels {
            let first = index * panel;
            for (next, &end) in next.iter_mut().zip(ends) {
                block.starts.push(block.cols.len() as u32);
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

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the first panel that may have entries.
    #[inline(always)]
    pub fn first_panel(&self) -> usize {
        self.first_panel
    }

    /// Returns the columns (relative to the panel) and the values of one row in one panel, from
    /// [`first_panel`](Self::first_panel) on.
    #[inline(always)]
    pub fn run(&self, panel: usize, row: usize) -> (&[u16], &[T]) {
        let at = (panel - self.first_panel) * self.rows + row;
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
        for panel in self.first_panel..panels {
            for row in 0..self.rows {
                let at = (panel - self.first_panel) * self.rows + row;
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

/// A random symmetric matrix.
#[cfg(test)]
pub(super) fn random_symmetric(nodes: usize, density: f64, seed: u64) -> Csr<f64> {
    let random = Csr::<f64>::random(nodes, nodes, density, seed);
    let rows =
        (0..nodes).flat_map(|row| random.row(row).0.iter().zip(random.row(row).1).map(move |x| (row, x)));
    let upper =
        rows.map(|(row, (&col, &value))| (row, col as usize, value)).filter(|&(row, col, _)| row <= col);
    let both = upper.flat_map(|(row, col, value)| {
        [(row, col, value)].into_iter().chain((row < col).then_some((col, row, value)))
    });
    Csr::from_triplets(nodes, nodes, both.collect::<Vec<_>>())
}

/// A symmetric matrix, stored as one.
#[cfg(test)]
pub(super) fn symmetric<T: Real>(matrix: &Csr<T>) -> Tiles<T> {
    let upper = Tiles::from_csr(&matrix.upper_triangle(0));
    let block = |first: usize| {
        let rows: Vec<usize> = (first..(first + BLOCK_ROWS).min(matrix.rows())).collect();
        upper.rows_at(&rows).to_csr()
    };
    Tiles::symmetric(matrix.rows(), (0..matrix.rows()).step_by(BLOCK_ROWS).map(block).collect())
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
    fn half_of_a_symmetric_matrix_stands_for_the_whole() {
        for (nodes, density) in [(1, 1.0), (130, 0.3), (700, 0.01)] {
            let matrix = random_symmetric(nodes, density, 9);
            let tiles = symmetric(&matrix);
            assert_eq!(tiles.to_csr(), matrix);
            assert_eq!(tiles.entries(), matrix.entries());
            let whole = Tiles::from_csr(&matrix);
            for (half, whole) in tiles.sums().into_iter().zip(whole.sums()) {
                assert!((half - whole).abs() <= 1e-12 * whole);
            }
            let some: Vec<usize> = (0..nodes).step_by(3).collect();
            assert_eq!(tiles.rows_at(&some).to_csr(), whole.rows_at(&some).to_csr());
            assert_eq!(tiles.filled_rows(), whole.filled_rows());
            assert_eq!(tiles.max(), whole.max());
        }
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

//! A sparse matrix cut into row blocks and column panels, the format for factorization.
//!
//! A panel is narrow enough that its rows of V stay in the first-level cache while the entries of a block are read,
//! and that 16 bits are enough for a column. An entry takes six bytes in f32, plus four bytes for each pair of row
//! and panel.
//!
//! A symmetric matrix may be stored by its diagonal and the entries above it, which halves the memory.
//!
//! There are two layouts. In *runs*, there is a start for each pair of row and panel. In a matrix that is large and sparse, a row
//! has hardly an entry in a panel that fits in the second-level cache, so panels are wide, and an entry has its row within the
//! block beside its column: *pairs*, of seven bytes. Then no loop has an unpredictable length, and all blocks of a task are
//! multiplied with one panel before the next, which keeps that part of V in the last-level cache. `Layout::of` decides by the shape
//! and the number of entries alone. `measure sparse` of bench/ measures the products.
//!
//! Invariant: within a block, entries are sorted by panel, then row, then column. In runs,
//! `starts[(panel - first_panel) * rows + row]` is the start of the run of that row in that panel, and the last of `starts` is the
//! number of entries. In pairs, `starts[panel - first_panel]` is the start of that panel, and `row_of` has the row of each
//! entry. All blocks of a matrix have one layout, and all functions here give the same results in both.

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

/// Panels of at most this many columns stay in the second-level cache. Larger matrices that would need wider ones for runs of a
/// useful length are stored in pairs.
const CACHED_PANEL: usize = 4096;

/// The panels of matrices in pairs. With 10^6 nodes, the upper half of 100 entries a row and 32 columns, on a machine with 32 MB of
/// last-level cache and other work to do, gathers (all rows together) and scatters ran at 79 and 82 M entries/s and core, in a prototype; with 16,384 columns at 65
/// and 62, with 65,536 at 68 and 62. (Runs in panels of 65,536 columns, block by block: 28 and 75.) Rows that are fetched ahead,
/// into a buffer or by a look at each, made it slower.
const PANEL_OF_PAIRS: usize = 1 << 15;
/// That many rows of a product are computed together, in panels, unless there would be fewer tasks than [`FEWEST_PANELS`]: with one,
/// gathers ran at 66 M entries/s, with all rows together at 79; two was not measured.
const PANELS_TOGETHER: usize = 2;

/// Panels are widened until a row has this many entries in one on average. Shorter runs cost more than cache misses.
const ENTRIES_PER_RUN: usize = 8;

/// A symmetric matrix has this many panels, unless they would be narrower than [`NARROWEST_PANEL`]. More do not pay: with 22
/// instead of 11, stages of aminer_authors take 8 % more time on two threads.
const FEWEST_PANELS: usize = 8;

/// The number of blocks after which it is checked whether all columns of a panel are known to have entries.
const ASK_AFTER: usize = 32;

/// A non-negative sparse matrix in tiles.
#[derive(Clone, Debug)]
pub struct Tiles<T> {
    rows: usize,
    cols: usize,
    layout: Layout,
    blocks: Vec<Block<T>>,
    /// The diagonal of a symmetric matrix. Its blocks have the entries above the diagonal only.
    diagonal: Option<Vec<T>>,
}

/// How entries are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Layout {
    /// The number of columns of a panel.
    panel: usize,
    /// Whether entries have a row each, instead of rows having a start in each panel.
    pairs: bool,
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
    /// The rows of the entries, in pairs; empty in runs.
    row_of: Vec<u8>,
    pairs: bool,
    cols: Vec<u16>,
    values: Vec<T>,
}

impl<T: Real> Tiles<T> {
    /// Creates tiles from a matrix in compressed rows, on the threads of the current pool. Call it within one: threads of the
    /// global pool are lost in a fork.
    pub fn from_csr(matrix: &Csr<T>) -> Self {
        Self::cut(matrix, Layout::of(matrix.rows(), matrix.cols(), matrix.entries()))
    }

    fn cut(matrix: &Csr<T>, layout: Layout) -> Self {
        let firsts: Vec<usize> = (0..matrix.rows()).step_by(BLOCK_ROWS).collect();
        let cut = |&from: &usize| {
            let rows = from..(from + BLOCK_ROWS).min(matrix.rows());
            Block::new(matrix, rows.clone(), matrix.indptr()[rows].to_vec(), 0, layout)
        };
        let blocks = firsts.par_iter().map(cut).collect();
        Tiles { rows: matrix.rows(), cols: matrix.cols(), layout, blocks, diagonal: None }
    }

    /// Creates tiles from blocks of [`BLOCK_ROWS`] rows, and frees each block as soon as it is converted.
    pub fn from_blocks(rows: usize, cols: usize, blocks: Vec<Csr<T>>) -> Self {
        let entries = blocks.iter().map(Csr::entries).sum();
        Self::from_blocks_in(rows, cols, blocks, Layout::of(rows, cols, entries))
    }

    /// As [`from_blocks`](Self::from_blocks), for a part of a square matrix of so many nodes and entries, in the layout that the whole
    /// matrix would have.
    pub fn part_of(nodes: usize, entries: usize, rows: usize, cols: usize, blocks: Vec<Csr<T>>) -> Self {
        Self::from_blocks_in(rows, cols, blocks, Layout::of(nodes, nodes, entries))
    }

    fn from_blocks_in(rows: usize, cols: usize, blocks: Vec<Csr<T>>, layout: Layout) -> Self {
        let blocks = blocks.into_par_iter().map(|block| Block::of(&block, layout));
        Self::of_blocks(rows, cols, layout, blocks.collect())
    }

    /// Creates a symmetric matrix from its entries on and above the diagonal, as [`from_blocks`](Self::from_blocks).
    pub fn symmetric(nodes: usize, blocks: Vec<Csr<T>>) -> Self {
        let entries: usize = blocks.iter().map(Csr::entries).sum();
        Self::symmetric_in(nodes, blocks, Layout::of_symmetric(nodes, 2 * entries))
    }

    fn symmetric_in(nodes: usize, blocks: Vec<Csr<T>>, layout: Layout) -> Self {
        let cut = |(index, block): (usize, Csr<T>)| {
            let first_entry = |row: usize| block.row(row).0.first().map(|&col| col as usize);
            let on_diagonal = |row: usize| first_entry(row) == Some(index * BLOCK_ROWS + row);
            let starts = block.indptr().iter().zip(0..block.rows());
            let above: Vec<usize> =
                starts.map(|(&start, row)| start + usize::from(on_diagonal(row))).collect();
            let value = |row: usize| if on_diagonal(row) { block.row(row).1[0] } else { T::ZERO };
            let diagonal: Vec<T> = (0..block.rows()).map(value).collect();
            let first_panel = index * BLOCK_ROWS / layout.panel;
            (Block::new(&block, 0..block.rows(), above, first_panel, layout), diagonal)
        };
        let (blocks, diagonals): (Vec<_>, Vec<_>) = blocks.into_par_iter().enumerate().map(cut).unzip();
        Tiles { diagonal: Some(diagonals.concat()), ..Self::of_blocks(nodes, nodes, layout, blocks) }
    }

    fn of_blocks(rows: usize, cols: usize, layout: Layout, blocks: Vec<Block<T>>) -> Self {
        let (found, last) =
            (blocks.iter().map(|block| block.rows).sum::<usize>(), blocks.len().saturating_sub(1));
        assert_eq!(found, rows, "the blocks have all rows");
        assert!(
            blocks[..last].iter().all(|block| block.rows == BLOCK_ROWS),
            "only the last block may be short"
        );
        Tiles { rows, cols, layout, blocks, diagonal: None }
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
            Block::of(&Csr::new(self.cols, indptr, indices, values), self.layout)
        };
        let chunks = rows.par_chunks(BLOCK_ROWS).zip(below.par_chunks_mut(BLOCK_ROWS));
        Self::of_blocks(rows.len(), self.cols, self.layout, chunks.map(of_rows).collect())
    }

    /// The stored entries of the given columns, which are in ascending order: for each, the rows and the values.
    fn columns_at(&self, columns: &[usize]) -> Vec<Line<T>> {
        let mut found = vec![(Vec::new(), Vec::new()); columns.len()];
        let in_panel = |(panel, columns, found): (usize, &[usize], &mut [Line<T>])| {
            let mut places = vec![usize::MAX; self.panel()];
            columns.iter().enumerate().for_each(|(place, col)| places[col - panel * self.panel()] = place);
            for (index, block) in self.blocks_of_panel(panel).iter().enumerate() {
                block.for_each_run(panel, |row, cols, values| {
                    for (&col, &value) in cols.iter().zip(values) {
                        if let Some((rows, values)) = found.get_mut(places[usize::from(col)]) {
                            rows.push((index * BLOCK_ROWS + row) as u32);
                            values.push(value);
                        }
                    }
                });
            }
        };
        let (mut tasks, mut columns, mut rest) = (Vec::new(), columns, found.as_mut_slice());
        while let Some(first) = columns.first() {
            let panel = first / self.panel();
            let count = columns.partition_point(|col| col / self.panel() == panel);
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
            indices.extend(cols.iter().map(|&col| (panel * self.panel()) as u32 + u32::from(col)));
            values.extend_from_slice(run);
        }
    }

    /// Returns the stored entries of a block in compressed rows if they are in pairs, where it takes longer to find single rows.
    pub fn sorted_rows(&self, index: usize) -> Option<Csr<T>> {
        let block = &self.blocks[index];
        if !block.pairs {
            return None;
        }
        let mut indptr = vec![0; block.rows + 1];
        block.row_of.iter().for_each(|&row| indptr[usize::from(row) + 1] += 1);
        for row in 0..block.rows {
            indptr[row + 1] += indptr[row];
        }
        let (mut next, count) = (indptr.clone(), block.values.len());
        let (mut indices, mut values) = (vec![0; count], vec![T::ZERO; count]);
        for panel in block.first_panel..self.panels() {
            let first = (panel * self.panel()) as u32;
            let (rows, cols, numbers) = block.pairs(panel);
            for ((&row, &col), &value) in rows.iter().zip(cols).zip(numbers) {
                let at = next[usize::from(row)];
                next[usize::from(row)] += 1;
                (indices[at], values[at]) = (first + u32::from(col), value);
            }
        }
        Some(Csr::new(self.cols, indptr, indices, values))
    }

    /// Returns for each row whether it has entries.
    pub fn filled_rows(&self) -> Vec<bool> {
        let of_block = |(block, filled): (&Block<T>, &mut [bool])| {
            for panel in block.first_panel..self.panels() {
                block.for_each_run(panel, |row, cols, _| filled[row] |= !cols.is_empty());
            }
        };
        let mut filled = vec![false; self.rows];
        self.blocks.par_iter().zip(filled.par_chunks_mut(BLOCK_ROWS)).for_each(of_block);
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
            // Asking whether all are filled takes as long as filling them from some blocks.
            for blocks in self.blocks_of_panel(panel).chunks(ASK_AFTER) {
                if filled.iter().all(|&filled| filled) {
                    break;
                }
                for block in blocks {
                    block.in_panel(panel).0.iter().for_each(|&col| filled[usize::from(col)] = true);
                }
            }
        };
        filled.par_chunks_mut(self.panel()).enumerate().for_each(in_panel);
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
        let together = BLOCK_ROWS * self.blocks_together();
        if self.diagonal.is_some() { self.panel().max(together) } else { together }
    }

    /// Returns the number of blocks that a pass should visit together, panel by panel: one if entries are in runs.
    pub fn blocks_together(&self) -> usize {
        if !self.layout.pairs {
            return 1;
        }
        let rows = PANELS_TOGETHER * self.panel();
        let rows = if self.rows.div_ceil(rows) < FEWEST_PANELS { self.panel() } else { rows };
        (rows / BLOCK_ROWS).max(1)
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
        self.layout.panel
    }

    /// Returns the number of panels.
    pub fn panels(&self) -> usize {
        self.cols.div_ceil(self.panel())
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

impl Layout {
    /// The layout of a matrix of this shape with so many entries.
    fn of(rows: usize, cols: usize, entries: usize) -> Self {
        let panel = panel_width(rows, cols, entries);
        if cols <= WIDEST_PANEL || panel <= CACHED_PANEL {
            return Layout { panel, pairs: false };
        }
        let mut panel = PANEL_OF_PAIRS;
        while cols.div_ceil(panel) < FEWEST_PANELS {
            panel /= 2;
        }
        Layout { panel, pairs: true }
    }

    /// The layout of a symmetric matrix with so many entries on both sides of the diagonal. A task multiplies as many rows as
    /// a panel has columns, so there must be enough panels for all threads.
    fn of_symmetric(nodes: usize, entries: usize) -> Self {
        let mut layout = Self::of(nodes, nodes, entries);
        while layout.panel > NARROWEST_PANEL && nodes.div_ceil(layout.panel) < FEWEST_PANELS {
            layout.panel /= 2;
        }
        layout
    }
}

/// Returns the width of the panels of a symmetric matrix with so many entries on both sides of the diagonal.
pub fn symmetric_panel_width(nodes: usize, entries: usize) -> usize {
    Layout::of_symmetric(nodes, entries).panel
}

/// Returns the number of bytes that a square matrix of f32 takes in tiles, stored as a whole or as a symmetric one.
pub fn tile_bytes(nodes: usize, entries: usize, symmetric: bool) -> usize {
    let layout =
        if symmetric { Layout::of_symmetric(nodes, entries) } else { Layout::of(nodes, nodes, entries) };
    // Half of the entries and of the starts are below the diagonal.
    let (halves, diagonal) = if symmetric { (2, 4 * nodes) } else { (1, 0) };
    let (blocks, panels) = (nodes.div_ceil(BLOCK_ROWS), nodes.div_ceil(halves * layout.panel));
    let (of_entry, starts) = if layout.pairs { (7, blocks * panels) } else { (6, nodes * panels) };
    of_entry * entries / halves + diagonal + 4 * starts + blocks * size_of::<Block<f32>>()
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
    fn of(matrix: &Csr<T>, layout: Layout) -> Self {
        Self::new(matrix, 0..matrix.rows(), matrix.indptr()[..matrix.rows()].to_vec(), 0, layout)
    }

    /// Creates a block of the given rows. `next` has the first entry of each that is stored.
    fn new(
        matrix: &Csr<T>,
        rows: Range<usize>,
        mut next: Vec<usize>,
        first_panel: usize,
        Layout { panel, pairs }: Layout,
    ) -> Self {
        let panels = matrix.cols().div_ceil(panel);
        let ends = &matrix.indptr()[rows.start + 1..=rows.end];
        let entries: usize = ends.iter().zip(&next).map(|(end, start)| end - start).sum();
        assert!(u32::try_from(entries).is_ok(), "{entries} entries in a block of {BLOCK_ROWS} rows");
        let mut block = Block {
            rows: rows.len(),
            first_panel,
            starts: Vec::with_capacity((panels - first_panel) * if pairs { 1 } else { rows.len() } + 1),
            row_of: Vec::with_capacity(if pairs { entries } else { 0 }),
            pairs,
            cols: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        for index in first_panel..panels {
            let first = index * panel;
            if pairs {
                block.starts.push(block.cols.len() as u32);
            }
            for ((next, &end), row) in next.iter_mut().zip(ends).zip(0..) {
                if !pairs {
                    block.starts.push(block.cols.len() as u32);
                }
                while *next < end && (matrix.indices()[*next] as usize) < first + panel {
                    block.cols.push((matrix.indices()[*next] as usize - first) as u16);
                    block.values.push(matrix.values()[*next]);
                    if pairs {
                        block.row_of.push(row);
                    }
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
    /// [`first_panel`](Self::first_panel) on. In pairs, the row must be searched.
    #[inline(always)]
    pub fn run(&self, panel: usize, row: usize) -> (&[u16], &[T]) {
        if self.pairs {
            return self.searched(panel, row);
        }
        let at = (panel - self.first_panel) * self.rows + row;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        (&self.cols[range.clone()], &self.values[range])
    }

    fn searched(&self, panel: usize, row: usize) -> (&[u16], &[T]) {
        let (rows, cols, values) = self.pairs(panel);
        let start = rows.partition_point(|&at| usize::from(at) < row);
        let count = rows[start..].partition_point(|&at| usize::from(at) == row);
        (&cols[start..start + count], &values[start..start + count])
    }

    /// Returns the columns (relative to the panel) and the values of all rows in one panel.
    #[inline(always)]
    pub fn in_panel(&self, panel: usize) -> (&[u16], &[T]) {
        let range = self.range(panel);
        (&self.cols[range.clone()], &self.values[range])
    }

    #[inline(always)]
    fn range(&self, panel: usize) -> Range<usize> {
        let step = if self.pairs { 1 } else { self.rows };
        let at = (panel - self.first_panel) * step;
        self.starts[at] as usize..self.starts[at + step] as usize
    }

    /// Returns the rows, the columns (relative to the panel) and the values of the entries in one panel, which has none before
    /// [`first_panel`](Self::first_panel). Only if they are [in pairs](Self::in_pairs).
    #[inline(always)]
    pub fn pairs(&self, panel: usize) -> (&[u8], &[u16], &[T]) {
        let range = self.range_of_pairs(panel);
        (&self.row_of[range.clone()], &self.cols[range.clone()], &self.values[range])
    }

    /// The same with mutable values.
    #[inline(always)]
    pub fn pairs_mut(&mut self, panel: usize) -> (&[u8], &[u16], &mut [T]) {
        let range = self.range_of_pairs(panel);
        (&self.row_of[range.clone()], &self.cols[range.clone()], &mut self.values[range])
    }

    #[inline(always)]
    fn range_of_pairs(&self, panel: usize) -> Range<usize> {
        assert!(self.pairs, "the entries are in pairs");
        if panel < self.first_panel { 0..0 } else { self.range(panel) }
    }

    /// Returns whether entries have a row each, instead of rows having a start in each panel.
    #[inline(always)]
    pub fn in_pairs(&self) -> bool {
        self.pairs
    }

    /// Calls `visit` with the row, the columns (relative to the panel) and the values of each run in one panel, from
    /// [`first_panel`](Self::first_panel) on. Runs without entries may be left out.
    #[inline(always)]
    pub fn for_each_run(&self, panel: usize, mut visit: impl FnMut(usize, &[u16], &[T])) {
        if !self.pairs {
            for row in 0..self.rows {
                let (cols, values) = self.run(panel, row);
                visit(row, cols, values);
            }
            return;
        }
        let (rows, mut cols, mut values) = self.pairs(panel);
        for rows in rows.chunk_by(|before, row| before == row) {
            let (these_cols, these_values);
            (these_cols, cols) = cols.split_at(rows.len());
            (these_values, values) = values.split_at(rows.len());
            visit(usize::from(rows[0]), these_cols, these_values);
        }
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
        let kept =
            if self.pairs { self.retain_pairs(panels, change) } else { self.retain_runs(panels, change) };
        *self.starts.last_mut().expect("starts is never empty") = kept as u32;
        self.cols.truncate(kept);
        self.values.truncate(kept);
        self.row_of.truncate(kept);
        // Shrinking copies the remaining entries, so do it only if it frees enough.
        if kept < self.cols.capacity() / 4 * 3 {
            self.cols.shrink_to_fit();
            self.values.shrink_to_fit();
            self.row_of.shrink_to_fit();
        }
    }

    /// Moves what is kept to the front, sets all starts but the last, and returns the number of entries that are kept.
    #[inline(always)]
    fn retain_runs(&mut self, panels: usize, change: impl Fn(usize, usize, &[u16], &mut [T])) -> usize {
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
        kept
    }

    #[inline(always)]
    fn retain_pairs(&mut self, panels: usize, change: impl Fn(usize, usize, &[u16], &mut [T])) -> usize {
        let (starts, rows, cols, values) = (
            self.starts.as_mut_slice(),
            self.row_of.as_mut_slice(),
            self.cols.as_mut_slice(),
            self.values.as_mut_slice(),
        );
        let (mut kept, mut start) = (0, 0);
        for panel in self.first_panel..panels {
            let at = panel - self.first_panel;
            let end = starts[at + 1] as usize;
            starts[at] = kept as u32;
            let mut from = start;
            for run in rows[start..end].chunk_by(|before, row| before == row) {
                let to = from + run.len();
                change(panel, usize::from(run[0]), &cols[from..to], &mut values[from..to]);
                from = to;
            }
            for entry in start..end {
                let value = values[entry];
                rows[kept] = rows[entry];
                cols[kept] = cols[entry];
                values[kept] = value;
                kept += usize::from(value > T::ZERO);
            }
            start = end;
        }
        kept
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

/// A matrix in pairs, whose panels have this many columns.
#[cfg(test)]
pub(super) fn in_pairs<T: Real>(matrix: &Csr<T>, panel: usize) -> Tiles<T> {
    Tiles::cut(matrix, Layout { panel, pairs: true })
}

/// A symmetric matrix, stored as one in pairs.
#[cfg(test)]
pub(super) fn symmetric_in_pairs<T: Real>(matrix: &Csr<T>, panel: usize) -> Tiles<T> {
    Tiles::symmetric_in(matrix.rows(), upper_blocks(matrix), Layout { panel, pairs: true })
}

/// A symmetric matrix, stored as one.
#[cfg(test)]
pub(super) fn symmetric<T: Real>(matrix: &Csr<T>) -> Tiles<T> {
    Tiles::symmetric(matrix.rows(), upper_blocks(matrix))
}

#[cfg(test)]
fn upper_blocks<T: Real>(matrix: &Csr<T>) -> Vec<Csr<T>> {
    let upper = Tiles::from_csr(&matrix.upper_triangle(0));
    let block = |first: usize| {
        let rows: Vec<usize> = (first..(first + BLOCK_ROWS).min(matrix.rows())).collect();
        upper.rows_at(&rows).to_csr()
    };
    (0..matrix.rows()).step_by(BLOCK_ROWS).map(block).collect()
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

    /// All that can be asked of a matrix, also after entries were removed, and on any number of threads.
    #[test]
    fn pairs_hold_the_same_as_runs() {
        for (rows, cols, density, panel) in [
            (1, 1, 1.0, 4),
            (127, 300, 0.1, 64),
            (129, 257, 0.02, 256),
            (300, 1000, 0.0, 128),
            (300, 70, 0.01, 128),
        ] {
            let matrix = Csr::<f64>::random(rows, cols, density, 7);
            let (mut runs, mut pairs) = (Tiles::from_csr(&matrix), in_pairs(&matrix, panel));
            for _ in 0..2 {
                same(&runs, &pairs);
                halve(&mut runs);
                halve(&mut pairs);
            }
        }
    }

    #[test]
    fn half_of_a_symmetric_matrix_is_the_same_in_pairs() {
        for (nodes, density, panel) in [(1, 1.0, 4), (130, 0.3, 128), (700, 0.01, 128), (700, 0.002, 256)] {
            let matrix = random_symmetric(nodes, density, 9);
            let (mut runs, mut pairs) = (symmetric(&matrix), symmetric_in_pairs(&matrix, panel));
            assert_eq!(pairs.to_csr(), matrix);
            for _ in 0..2 {
                same(&runs, &pairs);
                halve(&mut runs);
                halve(&mut pairs);
            }
        }
    }

    fn halve(tiles: &mut Tiles<f64>) {
        let panels = tiles.panels();
        for block in tiles.blocks_mut() {
            block.retain(panels, |_, _, _, values| values.iter_mut().for_each(|value| *value -= 0.5));
        }
    }

    fn same(runs: &Tiles<f64>, pairs: &Tiles<f64>) {
        assert_eq!(pairs.to_csr(), runs.to_csr());
        assert_eq!((pairs.entries(), pairs.max()), (runs.entries(), runs.max()));
        assert_eq!(
            (pairs.filled_rows(), pairs.filled_columns()),
            (runs.filled_rows(), runs.filled_columns())
        );
        for (ours, expected) in pairs.sums().into_iter().zip(runs.sums()) {
            assert!((ours - expected).abs() <= 1e-12 * expected);
        }
        let some: Vec<usize> = (0..runs.rows()).step_by(3).collect();
        for threads in [1, 2, 3, 8] {
            let pool = crate::parallel::Pool::new(Some(threads)).unwrap();
            let found = pool.run(|| pairs.rows_at(&some));
            assert!(found.blocks().iter().all(Block::in_pairs));
            assert_eq!(found.to_csr(), runs.rows_at(&some).to_csr());
        }
        let blocks = (0..runs.blocks().len()).map(|index| pairs.sorted_rows(index).unwrap()).collect();
        if pairs.diagonal().is_none() {
            assert_eq!(Csr::stack(pairs.cols(), blocks), runs.to_csr());
        }
        for (block, expected) in pairs.blocks().iter().zip(runs.blocks()) {
            for panel in block.first_panel()..pairs.panels() {
                let (mut visited, mut runs) = (0, 0);
                block.for_each_run(panel, |row, cols, values| {
                    assert_eq!((cols, values), block.run(panel, row));
                    (visited, runs) = (visited + cols.len(), runs + 1);
                });
                assert_eq!((visited, block.pairs(panel).0.len()), (block.in_panel(panel).0.len(), visited));
                assert!(runs <= expected.rows());
            }
        }
    }

    #[test]
    fn large_and_sparse_matrices_are_stored_in_pairs() {
        let layout = |nodes: usize, of_row: usize| Layout::of_symmetric(nodes, nodes * of_row);
        assert_eq!(layout(1_000_000, 100), Layout { panel: PANEL_OF_PAIRS, pairs: true });
        assert_eq!(layout(100_000, 100), Layout { panel: 8192, pairs: true });
        assert!(!layout(100_000, 1000).pairs && !layout(30_000, 1).pairs && !layout(1 << 16, 10).pairs);
        assert!(Layout::of(100_000, 100_000, 10_000_000).pairs);
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

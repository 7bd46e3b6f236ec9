//! Sparse matrices in compressed rows, the format of networks and of matrices passed in and out of the library.
//!
//! Invariant: `indptr` has `rows + 1` ascending values from 0 to the number of entries. The columns of a row are
//! ascending and below `cols`.

use std::ops::AddAssign;

/// A sparse matrix in compressed row format.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    cols: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy> Csr<T> {
    /// Creates a pseudorandom matrix with about `density` of its entries and values in (0, 1], for tests.
    #[doc(hidden)]
    pub fn random(rows: usize, cols: usize, density: f64, seed: u64) -> Self
    where
        T: super::Real,
    {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as f64 + 1.0) / (1u64 << 31) as f64
        };
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..rows {
            for col in 0..cols {
                if next() < density {
                    indices.push(col as u32);
                    values.push(T::from_f64(next()));
                }
            }
            indptr.push(indices.len());
        }
        Csr::new(cols, indptr, indices, values)
    }

    /// Creates a matrix with `indptr.len() - 1` rows from its three arrays.
    ///
    /// # Panics
    /// When they violate the invariant of the module.
    pub fn new(cols: usize, indptr: Vec<usize>, indices: Vec<u32>, values: Vec<T>) -> Self {
        assert!(indptr.first() == Some(&0), "indptr must start with 0, got {:?}", indptr.first());
        assert_eq!(indptr.last(), Some(&indices.len()), "indptr must end with the number of entries");
        assert_eq!(indices.len(), values.len(), "one value for each index");
        for pair in indptr.windows(2) {
            assert!(pair[0] <= pair[1], "indptr must ascend, got {} before {}", pair[0], pair[1]);
            let row = &indices[pair[0]..pair[1]];
            assert!(row.windows(2).all(|pair| pair[0] < pair[1]), "the columns of a row must ascend");
            assert!(row.last().is_none_or(|&col| (col as usize) < cols), "columns must be below {cols}");
        }
        Csr { cols, indptr, indices, values }
    }

    /// Creates a matrix from entries `(row, column, value)` in any order. Values of the same place are added in the
    /// order given.
    ///
    /// # Panics
    /// When a row or a column is out of range.
    pub fn from_triplets(
        rows: usize,
        cols: usize,
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Self
    where
        T: AddAssign,
    {
        let mut triplets: Vec<(usize, usize, T)> = triplets.into_iter().collect();
        triplets.sort_by_key(|&(row, col, _)| (row, col));
        let mut indptr = vec![0; rows + 1];
        let (mut indices, mut values): (Vec<u32>, Vec<T>) = (Vec::new(), Vec::new());
        let mut before = None;
        for (row, col, value) in triplets {
            assert!(row < rows && col < cols, "entry ({row}, {col}) of a {rows} x {cols} matrix");
            match values.last_mut() {
                Some(last) if before == Some((row, col)) => *last += value,
                _ => {
                    indices.push(u32::try_from(col).expect("columns have 32 bits"));
                    values.push(value);
                    indptr[row + 1] += 1;
                }
            }
            before = Some((row, col));
        }
        for row in 0..rows {
            indptr[row + 1] += indptr[row];
        }
        Csr::new(cols, indptr, indices, values)
    }

    /// Creates a matrix without entries.
    pub fn empty(rows: usize, cols: usize) -> Self {
        Csr { cols, indptr: vec![0; rows + 1], indices: Vec::new(), values: Vec::new() }
    }

    /// Stacks blocks of rows on top of each other.
    ///
    /// # Panics
    /// When a block has a different number of columns.
    pub fn stack(cols: usize, blocks: Vec<Csr<T>>) -> Self {
        let entries = blocks.iter().map(Csr::entries).sum();
        let mut whole = Csr {
            cols,
            indptr: vec![0],
            indices: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        for block in blocks {
            assert_eq!(block.cols, cols, "all blocks have the same columns");
            let before = whole.indices.len();
            whole.indptr.extend(block.indptr[1..].iter().map(|end| before + end));
            whole.indices.extend_from_slice(&block.indices);
            whole.values.extend_from_slice(&block.values);
        }
        whole
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Returns the number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns the number of stored entries.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// Returns the columns and the values of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[T]) {
        let range = self.indptr[row]..self.indptr[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Returns the start of each row, and the end of the last.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Returns the columns of all entries in row order.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Returns the values of all entries in row order.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the transpose, in time linear in entries plus rows plus columns.
    pub fn transpose(&self) -> Csr<T> {
        let mut indptr = vec![0usize; self.cols + 1];
        for &col in &self.indices {
            indptr[col as usize + 1] += 1;
        }
        for col in 0..self.cols {
            indptr[col + 1] += indptr[col];
        }
        let mut next = indptr.clone();
        let mut indices = vec![0u32; self.entries()];
        let mut values = self.values.clone();
        // Rows are visited in ascending order, so the rows of each column ascend too.
        for row in 0..self.rows() {
            let (cols, row_values) = self.row(row);
            for (&col, &value) in cols.iter().zip(row_values) {
                let place = &mut next[col as usize];
                indices[*place] = row as u32;
                values[*place] = value;
                *place += 1;
            }
        }
        Csr { cols: self.rows(), indptr, indices, values }
    }

    /// Returns the entries on and above the diagonal of a matrix of which these rows are those from `first` on.
    pub fn upper_triangle(&self, first: usize) -> Csr<T> {
        let start = |row: usize| self.row(row).0.partition_point(|&col| (col as usize) < first + row);
        let starts: Vec<usize> = (0..self.rows()).map(start).collect();
        let mut indptr = vec![0];
        let lengths = starts.iter().enumerate().map(|(row, start)| self.row(row).0.len() - start);
        lengths.for_each(|length| indptr.push(indptr[indptr.len() - 1] + length));
        let entries = indptr[self.rows()];
        let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for (row, &start) in starts.iter().enumerate() {
            indices.extend_from_slice(&self.row(row).0[start..]);
            values.extend_from_slice(&self.row(row).1[start..]);
        }
        Csr { cols: self.cols, indptr, indices, values }
    }

    /// Returns a matrix with the same pattern and other values.
    ///
    /// # Panics
    /// When there is not one value per entry.
    pub fn with_values<S>(&self, values: Vec<S>) -> Csr<S> {
        assert_eq!(values.len(), self.entries(), "one value for each entry");
        Csr { cols: self.cols, indptr: self.indptr.clone(), indices: self.indices.clone(), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Csr<f64> {
        Csr::new(3, vec![0, 2, 2, 3, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])
    }

    #[test]
    fn triplets_come_in_any_order_and_are_added_up() {
        let triplets = [(2, 1, 1.0), (0, 2, 2.0), (0, 0, 1.0), (2, 1, 2.0)];
        assert_eq!(Csr::from_triplets(4, 3, triplets), sample());
        assert_eq!(Csr::<f64>::from_triplets(2, 5, []), Csr::empty(2, 5));
    }

    #[test]
    #[should_panic(expected = "entry (1, 3) of a 2 x 3 matrix")]
    fn triplets_beyond_the_matrix_are_refused() {
        let _ = Csr::from_triplets(2, 3, [(1, 3, 1.0)]);
    }

    #[test]
    fn transposing_twice_gives_the_matrix_back() {
        let matrix = sample();
        let transposed = matrix.transpose();
        assert_eq!((transposed.rows(), transposed.cols()), (3, 4));
        assert_eq!(transposed.row(2), (&[0u32][..], &[2.0][..]));
        assert_eq!(transposed.transpose(), matrix);
    }

    #[test]
    fn upper_triangle_has_the_diagonal() {
        let upper = Csr::new(3, vec![0, 2, 2, 2, 2], vec![0, 2], vec![1.0, 2.0]);
        assert_eq!(sample().upper_triangle(0), upper);
        let beyond = Csr::new(3, vec![0, 1, 1, 1, 1], vec![2], vec![2.0]);
        assert_eq!(sample().upper_triangle(1), beyond);
    }

    #[test]
    fn stacked_blocks_keep_their_rows() {
        let whole = Csr::stack(3, vec![sample(), Csr::empty(0, 3), sample()]);
        assert_eq!(whole.rows(), 8);
        assert_eq!(whole.row(6), sample().row(2));
        assert_eq!(whole.row(7), sample().row(3));
    }

    #[test]
    #[should_panic(expected = "the columns of a row must ascend")]
    fn unsorted_columns_are_refused() {
        let _ = Csr::new(3, vec![0, 2], vec![2, 0], vec![1.0, 2.0]);
    }
}

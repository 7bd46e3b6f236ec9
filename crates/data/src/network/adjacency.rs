//! Builds an adjacency matrix from a list of edges: a counting sort by row, then a sort within each row.
//!
//! Invariant: within a row, entries of the same column are merged in the order given. So the sum of their weights has
//! the same bits on both sides of the diagonal, and for any number of threads.

use rayon::prelude::*;

use super::Duplicates;
use super::edges::Edges;
use manyview_base::linalg::Csr;

/// Threads process rows in blocks of about this many entries.
const BLOCK: usize = 1 << 16;

/// The maximum number of parts. Each part scans all edges and keeps its rows; with more parts, the scans cost more
/// than is saved.
const MOST_PARTS: usize = 8;

/// Returns the adjacency matrix of edges, symmetric unless `directed`. Uses the threads of the current pool.
pub(super) fn adjacency(edges: Edges, nodes: usize, directed: bool, duplicates: Duplicates) -> Csr<f64> {
    let bounds = row_bounds(edges.ends(), nodes, directed);
    let entries = bounds[nodes];
    let ones = edges.weights().iter().all(|&weight| weight == 1.0);
    let mut cols = vec![0u32; entries];
    let mut values = vec![if ones { 1.0 } else { 0.0 }; entries];
    let weights = if ones { None } else { Some(edges.weights()) };
    scatter(edges.ends(), weights, directed, &bounds, &mut cols, &mut values);
    drop(edges);
    let kept = merge_rows(&bounds, &mut cols, &mut values, ones, duplicates);
    let indptr = close_gaps(&bounds, &kept, &mut cols, &mut values);
    Csr::new(nodes, indptr, cols, values)
}

/// Returns the start of each row before duplicates are merged, and the end of the last.
fn row_bounds(ends: &[[u32; 2]], nodes: usize, directed: bool) -> Vec<usize> {
    let mut bounds = vec![0usize; nodes + 1];
    for &[source, target] in ends {
        bounds[source as usize + 1] += 1;
        if !directed {
            bounds[target as usize + 1] += 1;
        }
    }
    for row in 0..nodes {
        bounds[row + 1] += bounds[row];
    }
    bounds
}

/// Consecutive rows and their entries.
struct Rows<'a> {
    first: usize,
    bounds: &'a [usize],
    cols: &'a mut [u32],
    values: &'a mut [f64],
}

/// Cuts the rows into blocks of at least `size` entries (the last may have fewer).
fn cut<'a>(
    bounds: &'a [usize],
    size: usize,
    mut cols: &'a mut [u32],
    mut values: &'a mut [f64],
) -> Vec<Rows<'a>> {
    let rows = bounds.len() - 1;
    let mut blocks = Vec::new();
    let mut first = 0;
    while first < rows {
        let past = bounds.partition_point(|&bound| bound < bounds[first] + size);
        let last = past.clamp(first + 1, rows);
        let length = bounds[last] - bounds[first];
        let (block_cols, rest_cols) = cols.split_at_mut(length);
        let (block_values, rest_values) = values.split_at_mut(length);
        (cols, values) = (rest_cols, rest_values);
        blocks.push(Rows { first, bounds: &bounds[first..=last], cols: block_cols, values: block_values });
        first = last;
    }
    blocks
}

/// Puts the entries into their rows, in the order given. Without weights the values stay as they are.
fn scatter(
    ends: &[[u32; 2]],
    weights: Option<&[f64]>,
    directed: bool,
    bounds: &[usize],
    cols: &mut [u32],
    values: &mut [f64],
) {
    let parts = rayon::current_num_threads().clamp(1, MOST_PARTS);
    let size = cols.len().div_ceil(parts).max(BLOCK);
    cut(bounds, size, cols, values).into_par_iter().for_each(|part| {
        let start = part.bounds[0];
        let rows = part.bounds.len() - 1;
        let mut next: Vec<usize> = part.bounds[..rows].iter().map(|bound| bound - start).collect();
        let mut put = |row: u32, col: u32, weight: Option<f64>| {
            // Rows before the part wrap around to large numbers, so one comparison excludes both sides.
            if let Some(place) = next.get_mut((row as usize).wrapping_sub(part.first)) {
                part.cols[*place] = col;
                if let Some(weight) = weight {
                    part.values[*place] = weight;
                }
                *place += 1;
            }
        };
        for (at, &[source, target]) in ends.iter().enumerate() {
            let weight = weights.map(|weights| weights[at]);
            put(source, target, weight);
            if !directed {
                put(target, source, weight);
            }
        }
    });
}

/// Sorts each row by column and merges entries of the same column. Returns the number of entries at the front of each
/// row. With `ones`, all values are 1.
fn merge_rows(
    bounds: &[usize],
    cols: &mut [u32],
    values: &mut [f64],
    ones: bool,
    duplicates: Duplicates,
) -> Vec<usize> {
    let kept: Vec<Vec<usize>> = cut(bounds, BLOCK, cols, values)
        .into_par_iter()
        .map(|block| {
            let start = block.bounds[0];
            let mut scratch = Scratch::default();
            block
                .bounds
                .windows(2)
                .map(|pair| {
                    let row = pair[0] - start..pair[1] - start;
                    if ones {
                        block.cols[row.clone()].sort_unstable();
                    } else {
                        scratch.sort(&mut block.cols[row.clone()], &mut block.values[row.clone()]);
                    }
                    merge_row(&mut block.cols[row.clone()], &mut block.values[row], duplicates)
                })
                .collect()
        })
        .collect();
    kept.concat()
}

/// Buffers for sorting, reused from row to row.
#[derive(Default)]
struct Scratch {
    keys: Vec<u64>,
    values: Vec<f64>,
}

impl Scratch {
    /// Sorts by column, stably.
    fn sort(&mut self, cols: &mut [u32], values: &mut [f64]) {
        if cols.is_sorted() {
            return;
        }
        // Column and position in one integer: unique keys make the fast unstable sort stable.
        assert!(cols.len() <= u32::MAX as usize, "a row of {} entries", cols.len());
        self.keys.clear();
        self.keys.extend(cols.iter().enumerate().map(|(place, &col)| u64::from(col) << 32 | place as u64));
        self.keys.sort_unstable();
        self.values.clear();
        self.values.extend_from_slice(values);
        for ((&key, col), value) in self.keys.iter().zip(cols).zip(values) {
            *col = (key >> 32) as u32;
            *value = self.values[key as u32 as usize];
        }
    }
}

/// Merges adjacent entries of the same column. Returns the number of entries at the front.
fn merge_row(cols: &mut [u32], values: &mut [f64], duplicates: Duplicates) -> usize {
    let mut kept = 0;
    for place in 0..cols.len() {
        if kept > 0 && cols[kept - 1] == cols[place] {
            values[kept - 1] = duplicates.merged(values[kept - 1], values[place]);
        } else {
            cols[kept] = cols[place];
            values[kept] = values[place];
            kept += 1;
        }
    }
    kept
}

/// Moves the rows together and returns the new starts.
fn close_gaps(bounds: &[usize], kept: &[usize], cols: &mut Vec<u32>, values: &mut Vec<f64>) -> Vec<usize> {
    let mut indptr = Vec::with_capacity(bounds.len());
    indptr.push(0);
    let mut end = 0;
    for (&start, &length) in bounds.iter().zip(kept) {
        if start != end {
            cols.copy_within(start..start + length, end);
            values.copy_within(start..start + length, end);
        }
        end += length;
        indptr.push(end);
    }
    if end < cols.len() {
        cols.truncate(end);
        values.truncate(end);
        cols.shrink_to_fit();
        values.shrink_to_fit();
    }
    indptr
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use manyview_base::parallel::Pool;
    use proptest::prelude::*;

    use super::super::edges::Edge;
    use super::*;

    /// The straightforward way: a map from pairs to weights.
    fn naive(edges: &[Edge], directed: bool, duplicates: Duplicates) -> BTreeMap<(u32, u32), f64> {
        let mut pairs = BTreeMap::new();
        for &Edge { source, target, weight } in edges {
            let mut add = |pair| {
                pairs
                    .entry(pair)
                    .and_modify(|sum: &mut f64| match duplicates {
                        Duplicates::Sum => *sum += weight,
                        Duplicates::Max => *sum = sum.max(weight),
                    })
                    .or_insert(weight);
            };
            add((source, target));
            if !directed {
                add((target, source));
            }
        }
        pairs
    }

    fn entries(matrix: &Csr<f64>) -> BTreeMap<(u32, u32), f64> {
        (0..matrix.rows())
            .flat_map(|row| {
                let (cols, values) = matrix.row(row);
                cols.iter().zip(values).map(move |(&col, &value)| ((row as u32, col), value))
            })
            .collect()
    }

    fn edges(nodes: u32, most: usize) -> impl Strategy<Value = Vec<Edge>> {
        let edge = (0..nodes, 1..nodes, 1u32..1000).prop_map(move |(source, step, weight)| Edge {
            source,
            target: (source + step) % nodes,
            weight: f64::from(weight) / 7.0,
        });
        prop::collection::vec(edge, 0..most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_matrix_equals_a_map_of_pairs(
            edges in (2u32..40).prop_flat_map(|nodes| edges(nodes, 300)),
            directed: bool,
            largest: bool,
            ones: bool,
        ) {
            let weight = |edge: Edge| if ones { 1.0 } else { edge.weight };
            let edges: Vec<Edge> = edges.into_iter().map(|edge| Edge { weight: weight(edge), ..edge }).collect();
            let duplicates = if largest { Duplicates::Max } else { Duplicates::Sum };
            let matrix = adjacency(edges.iter().copied().collect(), 40, directed, duplicates);
            prop_assert_eq!(entries(&matrix), naive(&edges, directed, duplicates));
            if !directed {
                prop_assert_eq!(&matrix.transpose(), &matrix);
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        // Multiplications by odd constants give an irregular order, with several blocks and many duplicates.
        let edges: Vec<Edge> = (0..200_000u32)
            .map(|at| {
                let source = at.wrapping_mul(2_654_435_761) >> 22;
                let target = (source + 1 + at % 300) % 1024;
                Edge { source, target, weight: 1.0 / f64::from(at % 97 + 1) }
            })
            .collect();
        let with = |threads| {
            let pool = Pool::new(Some(threads)).unwrap();
            pool.run(|| adjacency(edges.iter().copied().collect(), 1024, false, Duplicates::Sum))
        };
        let one = with(1);
        assert!(one.entries() < 400_000);
        assert_eq!(entries(&one), naive(&edges, false, Duplicates::Sum));
        for threads in [2, 8] {
            assert_eq!(with(threads), one);
        }
    }

    #[test]
    fn empty_rows_at_both_ends_are_kept() {
        let edge = Edge { source: 2, target: 3, weight: 1.0 };
        let matrix = adjacency([edge].into_iter().collect(), 6, false, Duplicates::Sum);
        assert_eq!(matrix.indptr(), [0, 0, 0, 1, 2, 2, 2]);
    }
}

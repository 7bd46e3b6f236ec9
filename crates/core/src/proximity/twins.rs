//! Rows that follow from others and are not computed.
//!
//! - Nodes with the same neighbors and weights have the same row: the row of a walk follows from the shares of the node's
//!   edges. A node with one edge has the share 1, whatever the weight, so all leaves of a hub have the same row.
//! - In an undirected view without weights, nodes that are linked to each other and have the same neighbors otherwise can
//!   be exchanged without changing the view. So row v is row u with the columns u and v exchanged. Such nodes are common
//!   where a view links all members of a group, as papers of the same subject or films of the same director.
//! - Nodes without edges have no entries, except for the one that [`Isolated::Loop`](super::Isolated::Loop) asks for.
//!
//! Invariant: which row follows from which depends on the view only, not on the rows that are asked for.

use std::ops::Range;

use super::step::TOGETHER;
use manyview_base::linalg::{BLOCK_ROWS, Csr, Real};
use manyview_base::random::Key;
use manyview_data::network::View;

/// The number of twins from which one row is computed for all. What is computed once is kept until all rows are done, so
/// this bounds the memory that it takes by a quarter of the result.
const FEWEST: usize = 4;

/// How a row follows from the row of the first of its twins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Same,
    Exchanged,
}

/// Which rows are computed, and which follow from others.
pub(super) struct Twins {
    rows: Range<usize>,
    /// The rows that are computed for their twins.
    originals: Vec<(usize, Relation)>,
    /// For each node, where the original that its row follows from is in `originals`.
    sources: Vec<Option<u32>>,
}

impl Twins {
    /// Looks for twins in a view, of which some rows are needed.
    pub(super) fn of(view: &View, rows: Range<usize>) -> Self {
        Self::related(view, rows, &[Relation::Same, Relation::Exchanged])
    }

    /// Looks for twins that can be exchanged, whatever the rows are computed from.
    pub(super) fn exchangeable(view: &View) -> Self {
        Self::related(view, 0..view.adjacency.rows(), &[Relation::Exchanged])
    }

    fn related(view: &View, rows: Range<usize>, relations: &[Relation]) -> Self {
        let nodes = view.adjacency.rows();
        let mut found = Twins { rows: 0..nodes, originals: Vec::new(), sources: vec![None; nodes] };
        let plain = found.groups(&view.adjacency);
        if relations.contains(&Relation::Same) {
            found.add(&view.adjacency, Relation::Same);
        }
        let unweighted = view.adjacency.values().windows(2).all(|pair| pair[0] == pair[1]);
        if unweighted && !view.directed {
            found.add(&view.adjacency, Relation::Exchanged);
        }
        // Rows are computed in groups, so a few that are not save nothing.
        if found.groups(&view.adjacency) >= plain {
            found.originals.clear();
            found.sources.fill(None);
        }
        found.needed_for(rows)
    }

    /// Adds the classes of twins of one kind. A node has twins of one kind only: those that can be exchanged are linked, those
    /// with the same row are not.
    fn add(&mut self, adjacency: &Csr<f64>, relation: Relation) {
        let filled = (0..adjacency.rows()).filter(|&row| !adjacency.row(row).0.is_empty());
        let mut keys: Vec<(u64, usize)> = filled.map(|row| (key(adjacency, row, relation), row)).collect();
        keys.sort_unstable();
        for class in keys.chunk_by(|one, other| one.0 == other.0).filter(|class| class.len() >= FEWEST) {
            let first = class[0].1;
            // Keys of different rows may be the same; those rows are computed.
            let twins = class.iter().map(|&(_, row)| row);
            let twins: Vec<usize> = twins.filter(|&row| are_twins(adjacency, first, row, relation)).collect();
            if twins.len() >= FEWEST {
                let original = Some(self.originals.len() as u32);
                twins.iter().for_each(|&row| self.sources[row] = original);
                self.originals.push((first, relation));
            }
        }
    }

    /// Leaves out the originals that none of these rows follows from.
    fn needed_for(mut self, rows: Range<usize>) -> Self {
        let mut places = vec![None; self.originals.len()];
        let mut needed = Vec::new();
        for original in self.sources[rows.clone()].iter_mut().flatten() {
            let place = places[*original as usize].get_or_insert_with(|| {
                needed.push(self.originals[*original as usize]);
                needed.len() as u32 - 1
            });
            *original = *place;
        }
        Twins { rows, originals: needed, ..self }
    }

    /// The number of groups of rows that are computed.
    pub(super) fn groups(&self, adjacency: &Csr<f64>) -> usize {
        let blocks = 0..self.rows.len().div_ceil(BLOCK_ROWS);
        let computed = blocks.map(|block| self.computed(adjacency, block).len().div_ceil(TOGETHER));
        self.originals.len().div_ceil(TOGETHER) + computed.sum::<usize>()
    }

    /// All rows.
    pub(super) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The number of blocks of rows.
    pub(super) fn blocks(&self) -> usize {
        self.rows.len().div_ceil(BLOCK_ROWS)
    }

    /// The rows of a block.
    pub(super) fn block(&self, block: usize) -> Range<usize> {
        let first = self.rows.start + block * BLOCK_ROWS;
        first..(first + BLOCK_ROWS).min(self.rows.end)
    }

    /// The rows that are computed for their twins.
    pub(super) fn originals(&self) -> Vec<usize> {
        self.originals.iter().map(|&(row, _)| row).collect()
    }

    /// The rows of a block that are computed for themselves.
    pub(super) fn computed(&self, adjacency: &Csr<f64>, block: usize) -> Vec<usize> {
        let computed = |&row: &usize| self.source(row).is_none() && !adjacency.row(row).0.is_empty();
        self.block(block).filter(computed).collect()
    }

    /// The number of the original that a row follows from.
    pub(super) fn source(&self, row: usize) -> Option<usize> {
        self.sources[row].map(|original| original as usize)
    }

    /// Appends a row that follows from its original.
    pub(super) fn derive<T: Real>(
        &self,
        row: usize,
        original: usize,
        (cols, values): (&[u32], &[T]),
        to: (&mut Vec<u32>, &mut Vec<T>),
    ) {
        let start = to.0.len();
        to.0.extend_from_slice(cols);
        to.1.extend_from_slice(values);
        let (first, relation) = self.originals[original];
        if relation == Relation::Exchanged && first != row {
            exchange(first as u32, row as u32, start, to);
        }
    }
}

/// Exchanges two columns of the row that begins at `start`. Its columns stay in ascending order.
fn exchange<T: Real>(one: u32, other: u32, start: usize, (cols, values): (&mut Vec<u32>, &mut Vec<T>)) {
    let find = |cols: &[u32], col: u32| cols[start..].binary_search(&col).map(|at| start + at);
    match (find(cols, one), find(cols, other)) {
        (Ok(one), Ok(other)) => values.swap(one, other),
        (Err(_), Err(_)) => {}
        (Ok(from), Err(_)) => replace(from, other, start, cols, values),
        (Err(_), Ok(from)) => replace(from, one, start, cols, values),
    }
}

/// Gives the entry at `from` another column, and moves it to its place.
fn replace<T: Real>(from: usize, col: u32, start: usize, cols: &mut Vec<u32>, values: &mut Vec<T>) {
    cols.remove(from);
    let value = values.remove(from);
    let at = start + cols[start..].partition_point(|&before| before < col);
    cols.insert(at, col);
    values.insert(at, value);
}

/// The same for twins, and different for most others.
fn key(adjacency: &Csr<f64>, row: usize, relation: Relation) -> u64 {
    let (cols, weights) = adjacency.row(row);
    let key = Key::new(0);
    // A sum, so that the order does not matter: a node may be anywhere among its neighbors.
    let sum = |keys: &mut dyn Iterator<Item = u64>| keys.fold(0, u64::wrapping_add);
    match relation {
        Relation::Same if cols.len() == 1 => key.at(cols[0] as usize, 0),
        Relation::Same => {
            let weighted = |(&col, weight): (&u32, &f64)| key.at(col as usize, weight.to_bits() as usize);
            sum(&mut cols.iter().zip(weights).map(weighted))
        }
        Relation::Exchanged => {
            sum(&mut cols.iter().map(|&col| col as usize).chain([row]).map(|col| key.at(col, 0)))
        }
    }
}

fn are_twins(adjacency: &Csr<f64>, one: usize, other: usize, relation: Relation) -> bool {
    let ((cols, weights), (other_cols, other_weights)) = (adjacency.row(one), adjacency.row(other));
    match relation {
        Relation::Same => cols == other_cols && (cols.len() == 1 || weights == other_weights),
        Relation::Exchanged => {
            let others = |cols: &'_ [u32]| -> Vec<u32> {
                cols.iter().copied().filter(|&col| col as usize != one && col as usize != other).collect()
            };
            let linked = cols.binary_search(&(other as u32)).is_ok();
            one == other || linked && others(cols) == others(other_cols)
        }
    }
}

//! The proximity matrix of a view, which is factorized.
//!
//! `X = vol / (b T) * (P + P^2 + ... + P^T) D^-1` with `P = D^-1 A`, and `M = log(max(X, 1))`: DeepWalk's matrix for a
//! window of T steps and b negative samples. Only pairs that co-occur more than b times as often as expected by chance remain, so M
//! is sparse although X is not.
//!
//! Sixteen rows are computed together, dense, and immediately reduced to their sparse form (`walk`), so there is never
//! a dense `nodes x nodes` matrix. The time is proportional to `T x nodes x entries of A`, less if the first steps
//! reach few nodes or many rows follow from others (`twins`). The scratch memory is `32 x nodes` numbers per thread, plus the
//! remaining entries of sixteen rows.
//!
//! Invariant: a row depends on the view only, not on which rows are computed together or on the number of threads.

mod attached;
mod chosen;
mod degrees;
mod joint;
mod restart;
mod sampled;
mod settings;
mod shared;
mod source;
mod step;
#[cfg(test)]
mod tests;
mod twins;
mod walk;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub use attached::{Arc, Attachable, Patch, PatchScratch};
pub use chosen::for_chosen_rows;
use degrees::{Degrees, Precision};
pub use joint::{entries_of_union, union_of_views};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::{BLOCK_ROWS, Csr, Real, Tiles};
use manyview_base::message::{option, option_value};
use manyview_base::parallel::Pool;
use manyview_data::network::View;
pub use restart::{Restart, restart_blocks};
pub use sampled::{ExpectedEntries, Noise, Walks, expected_entries, rows_from_their_nodes, sampling_bytes};
pub use settings::{Isolated, Settings, Source};
pub use source::{EXACT_WORK, How, Proximity};
pub use step::{TOGETHER, goes_out};
use twins::Twins;
use walk::{Rule, Scratch, Walk};

/// The proximity matrix of a view.
///
/// # Errors
/// `Error::Network` when it has no entries; the message names settings that would give some.
pub fn proximity<T: Real>(view: &View, settings: Settings, pool: &Pool) -> Result<Csr<T>> {
    let how = Proximity::decide(settings, &[view], 0, pool)?;
    proximity_watched(view, how, pool, &mut |_| ControlFlow::Continue(()))
}

/// Like [`proximity()`], and calls `watch` with the number of rows done.
///
/// # Errors
/// As [`proximity()`]; `Error::Interrupted` if `watch` breaks.
pub fn proximity_watched<T: Real>(
    view: &View,
    proximity: Proximity,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Csr<T>> {
    let nodes = view.adjacency.rows();
    let found = row_blocks(view, proximity, 0..nodes, Keep::All, pool, watch)?;
    let matrix = Csr::stack(nodes, found.blocks);
    if matrix.entries() == 0 {
        return Err(nothing_survives(view, proximity.settings, found.largest));
    }
    Ok(matrix)
}

/// The entries of the rows that are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// All entries.
    All,
    /// Those on and above the diagonal: the matrix of an undirected view is symmetric.
    Upper,
}

/// Some rows of a proximity matrix, in blocks of [`BLOCK_ROWS`].
pub struct Rows<T> {
    /// The matrix, in blocks of rows.
    pub blocks: Vec<Csr<T>>,
    /// The largest value of `b X`; pairs remain while `b` is below it.
    pub largest: f64,
    /// How far they are from exact, if they are sampled.
    pub noise: Option<Noise>,
    keep: Keep,
}

/// Computes the given rows: all of them, if only the entries above the diagonal are kept.
///
/// # Errors
/// `Error::Network` or `Error::Config` when numbers would be beyond those of f64; `Error::Interrupted` if `watch` breaks.
pub fn row_blocks<T: Real>(
    view: &View,
    proximity: Proximity,
    rows: Range<usize>,
    keep: Keep,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Rows<T>> {
    let Proximity { settings, how } = proximity;
    if let How::Sampled(walks) = how {
        return sampled::row_blocks(view, settings, walks, rows, keep, pool, watch);
    }
    let degrees = Degrees::of(view);
    let twins = Twins::of(view, rows);
    let found = match degrees.precision(view, settings)? {
        Precision::Usual => {
            let walk = pool.run(|| Walk::<T>::new(view, &degrees, Rule::Window(settings)));
            blocks_of(view, &walk, &twins, keep, pool, watch)
        }
        Precision::Double => {
            let walk = pool.run(|| Walk::<f64>::new(view, &degrees, Rule::Window(settings)));
            blocks_of(view, &walk, &twins, keep, pool, watch)
        }
    };
    let (blocks, largest): (Vec<_>, Vec<f64>) = found.ok_or(Error::Interrupted)?.into_iter().unzip();
    Ok(Rows { blocks, largest: largest.into_iter().fold(0.0, f64::max), noise: None, keep })
}

/// The rows of a walk, and the largest value of each block; `None` if canceled.
fn blocks_of<W: Real, T: Real>(
    view: &View,
    walk: &Walk<'_, W>,
    twins: &Twins,
    keep: Keep,
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Option<Vec<(Csr<T>, f64)>> {
    let scratch = || Scratch::new(walk.nodes());
    let originals = twins.originals();
    let groups: Vec<&[usize]> = originals.chunks(TOGETHER).collect();
    let original = |scratch: &mut Scratch<W>, index: usize, canceled: &AtomicBool| {
        walk.block::<T>(groups[index], 0, scratch, canceled)
    };
    let originals = match groups.len() {
        0 => Vec::new(),
        count => pool.map_watched(count, scratch, original, &mut |_| watch(0))?,
    };
    let task = |scratch: &mut Scratch<W>, index: usize, canceled: &AtomicBool| {
        let computed = twins.computed(&view.adjacency, index);
        let rows = twins.block(index);
        let first = rows.start;
        let first_col = if keep == Keep::Upper { first } else { 0 };
        let (found, mut largest) = walk.block(&computed, first_col, scratch, canceled)?;
        let kept = |block: Csr<T>| if keep == Keep::Upper { block.upper_triangle(first) } else { block };
        if computed.len() == rows.len() {
            return Some((kept(found), largest));
        }
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut next = 0..computed.len();
        for row in rows {
            if let Some(original) = twins.source(row) {
                let (group, most) = &originals[original / TOGETHER];
                let from = group.row(original % TOGETHER);
                twins.derive(row, original, from, (&mut indices, &mut values));
                largest = largest.max(*most);
            } else if view.adjacency.row(row).0.is_empty() {
                let alone = walk.diagonal_of(row);
                indices.extend(alone.map(|_| row as u32));
                values.extend(alone.map(|value| T::from_f64(value.to_f64())));
            } else {
                let (cols, numbers) = found.row(next.next().expect("each of the others is computed"));
                indices.extend_from_slice(cols);
                values.extend_from_slice(numbers);
            }
            indptr.push(indices.len());
        }
        indices.shrink_to_fit();
        values.shrink_to_fit();
        Some((kept(Csr::new(walk.nodes(), indptr, indices, values)), largest))
    };
    let rows = twins.rows();
    pool.map_watched(twins.blocks(), scratch, task, &mut |done| watch((done * BLOCK_ROWS).min(rows.len())))
}

impl<T: Real> Rows<T> {
    /// Converts the rows to tiles, on the threads of the current pool.
    pub fn into_tiles(self, nodes: usize) -> Tiles<T> {
        let rows = self.blocks.iter().map(Csr::rows).sum();
        match self.keep {
            Keep::All => Tiles::from_blocks(rows, nodes, self.blocks),
            Keep::Upper => Tiles::symmetric(rows, self.blocks),
        }
    }
}

/// The number of groups of [`TOGETHER`] rows that are computed for the matrix of a view: fewer than it has, if many rows
/// follow from others.
pub fn computed_groups(view: &View) -> usize {
    Twins::of(view, 0..view.adjacency.rows()).groups(&view.adjacency)
}

/// The result of [`sample`].
pub struct Sample {
    /// For each row, the number of its entries in each interval of length [`STEP`]; the last interval is unbounded.
    pub rows: Vec<[u32; STEPS]>,
    /// The time of one thread for each group of [`TOGETHER`] rows.
    pub group_seconds: Vec<f64>,
    /// The bytes of a number of the walk: 8 where f32 cannot represent all of them.
    pub number_bytes: usize,
}

/// Entries are counted by value, in intervals of this length. An entry above `log(c)` would remain with a `negative`
/// `c` times as large, so the counts show how many entries larger values of `negative` would leave.
pub const STEP: f64 = std::f64::consts::LN_2 / 8.0;
/// The number of intervals.
pub const STEPS: usize = 128;

/// Computes the given rows, in any order, and counts their entries.
pub fn sample(
    view: &View,
    settings: Settings,
    rows: &[usize],
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Sample> {
    let degrees = Degrees::of(view);
    let precision = degrees.precision(view, settings)?;
    let number_bytes = match precision {
        Precision::Usual => size_of::<f32>(),
        Precision::Double => size_of::<f64>(),
    };
    let done = match precision {
        Precision::Usual => {
            let walk = pool.run(|| Walk::<f32>::new(view, &degrees, Rule::Window(settings)));
            sample_of(&walk, rows, pool, watch)
        }
        Precision::Double => {
            let walk = pool.run(|| Walk::<f64>::new(view, &degrees, Rule::Window(settings)));
            sample_of(&walk, rows, pool, watch)
        }
    };
    let (counts, group_seconds): (Vec<_>, Vec<f64>) = done.ok_or(Error::Interrupted)?.into_iter().unzip();
    Ok(Sample { rows: counts.concat(), group_seconds, number_bytes })
}

/// The counts and the time of each group of rows; `None` if canceled.
fn sample_of<W: Real>(
    walk: &Walk<'_, W>,
    rows: &[usize],
    pool: &Pool,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Option<Vec<(Vec<[u32; STEPS]>, f64)>> {
    let groups: Vec<&[usize]> = rows.chunks(TOGETHER).collect();
    let task = |scratch: &mut Scratch<W>, index: usize, canceled: &AtomicBool| {
        let began = Instant::now();
        let mut ends = Vec::new();
        scratch.clear();
        walk.group(groups[index].iter().copied(), 0, scratch, canceled, &mut |end| ends.push(end))?;
        let mut from = 0;
        let count = |to| count_by_value(&scratch.values[std::mem::replace(&mut from, to)..to]);
        let counts: Vec<_> = ends.into_iter().map(count).collect();
        Some((counts, began.elapsed().as_secs_f64()))
    };
    pool.map_watched(groups.len(), || Scratch::new(walk.nodes()), task, watch)
}

fn count_by_value<W: Real>(values: &[W]) -> [u32; STEPS] {
    let mut counts = [0; STEPS];
    for &value in values {
        counts[((value.to_f64() / STEP) as usize).min(STEPS - 1)] += 1;
    }
    counts
}

/// The error for a view without any remaining pair; `largest` is the largest value of `b X`.
pub fn nothing_survives(view: &View, settings: Settings, largest: f64) -> Error {
    let (name, window, negative) = (&view.name, settings.window, settings.negative);
    // Up to rounding, 1 is the value by chance; if no pair exceeds it, the view has no information.
    let advice = if largest > 1.0 + 1e-5 {
        let below =
            [5.0, 2.0, 1.0].into_iter().find(|&b| b < negative && b < largest).unwrap_or(largest * 0.5);
        let example = option_value("negative", below);
        format!("use a {} below {largest:.3}, for example {example}", option("negative"))
    } else if view.directed && largest < 1.0 - 1e-5 {
        // Undirected walks never end, and then some pair meets at least as often as by chance.
        "random walks along its directed edges end too early; read the view as undirected, or remove it"
            .into()
    } else if window > 1 {
        let smallest = format!("{} and {}", option_value("window", 1), option_value("negative", 1));
        format!("all its pairs co-occur as often as expected by chance; try {smallest}, or remove the view")
    } else {
        "all its pairs co-occur as often as expected by chance; remove the view".into()
    };
    let (window, limit) = (option_value("window", window), option_value("negative", negative));
    Error::network(format!(
        "view \"{name}\" has an empty proximity matrix with {window} and {limit}: no pair of nodes co-occurs more \
         than {negative} times as often as expected by chance (maximum: {largest:.3} times); {advice}"
    ))
}

//! A map of the embedding: two coordinates per node, computed by t-SNE.
//!
//! Vectors are scaled to length 1, so that distances agree with [`crate::neighbors`], and reduced to 50 columns by
//! principal components (`pca`). The affinities of nearest neighbors (`affinity`) are then approximated by affinities
//! in the plane (`tsne`, with the repulsive forces of `repulsion`). Nodes with a zero vector have no coordinates.
//!
//! The descent is our own implementation, although there are crates for it: it uses all threads, its result is bitwise
//! identical for any number of threads and any vector width, and it reports progress and can be stopped.
//!
//! Invariant: the map depends on the vectors and the seed only.

mod affinity;
mod pca;
mod repulsion;
mod tsne;

use std::ops::ControlFlow;

use crate::neighbors::unit_rows;
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key, unit_f64};
use manyview_data::embedding::Embedding;

/// Number of columns of wide embeddings after the reduction.
const COMPONENTS: usize = 50;

/// About the number of neighbors that matter; less for small networks.
const PERPLEXITY: f64 = 30.0;

/// Fewer nodes keep their initial coordinates.
const FEWEST: usize = 4;

/// The progress of a layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Number of nodes whose neighbors were found, and the total.
    Neighbors(usize, usize),
    /// Number of iterations done, and the total.
    Descent(usize, usize),
}

/// Draws `count` of the rows for a map of a large embedding, in ascending order: one at random from each of `count` ranges of
/// about equal size, so that every part of the rows is represented. All rows if there are no more.
pub fn draw_rows(rows: usize, count: usize, seed: u64) -> Vec<u32> {
    if count >= rows {
        return (0..rows as u32).collect();
    }
    let key = Key::new(seed).with(text_key("rows of a map"));
    // In 128 bits, because rows x count may exceed 64.
    let start = |range: usize| (range as u128 * rows as u128 / count as u128) as usize;
    let draw = |range: usize| {
        let (from, to) = (start(range), start(range + 1));
        let step = (unit_f64(key.at(range, 0)) * (to - from) as f64) as usize;
        (from + step.min(to - from - 1)) as u32
    };
    (0..count).map(draw).collect()
}

/// Computes two coordinates per node, centered and in [-1, 1]; `None` for nodes with a zero vector.
pub fn layout(embedding: &Embedding, seed: u64, pool: &Pool) -> Vec<Option<[f32; 2]>> {
    layout_watched(embedding, seed, pool, &mut |_| ControlFlow::Continue(())).expect("never interrupted")
}

/// Like [`layout()`], and calls `watch` with the progress.
///
/// # Errors
/// [`manyview_base::error::Error::Interrupted`] if `watch` breaks.
pub fn layout_watched(
    embedding: &Embedding,
    seed: u64,
    pool: &Pool,
    watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Vec<Option<[f32; 2]>>> {
    let dim = embedding.dim();
    let placed: Vec<usize> =
        (0..embedding.rows()).filter(|&row| embedding.row(row).iter().any(|&value| value != 0.0)).collect();
    let units = unit_rows(embedding);
    let rows: Vec<f32> = placed.iter().flat_map(|&row| &units[row * dim..][..dim]).copied().collect();
    drop(units);
    let components = pca::components(&rows, placed.len(), dim, COMPONENTS.min(dim), pool);
    drop(rows);
    let start = start(&components, placed.len(), seed);
    let points = if placed.len() < FEWEST {
        start
    } else {
        let neighbors = affinity::nearest(&components, placed.len(), PERPLEXITY, pool, watch)?;
        let affinities = affinity::affinities(&neighbors, placed.len(), PERPLEXITY, pool);
        tsne::descend(&affinities, start, pool, watch)?
    };
    let mut places = vec![None; embedding.rows()];
    for (&row, point) in placed.iter().zip(fitted(&points)) {
        places[row] = Some(point);
    }
    Ok(places)
}

/// The first two principal components, scaled to a small size and with a little noise.
fn start(components: &[f32], rows: usize, seed: u64) -> Vec<[f32; 2]> {
    if rows == 0 {
        return Vec::new();
    }
    let width = components.len() / rows;
    let at =
        |row: usize, axis: usize| if axis < width { f64::from(components[row * width + axis]) } else { 0.0 };
    let spread = ((0..rows).map(|row| at(row, 0) * at(row, 0)).sum::<f64>() / rows as f64).sqrt();
    let scale = if spread > 0.0 { 1e-4 / spread } else { 0.0 };
    let key = Key::new(seed);
    // Without noise, equal vectors would always have equal forces.
    let apart = |row: usize, axis: usize| 1e-6 * (unit_f64(key.at(row, axis)) - 0.5);
    (0..rows).map(|row| [0, 1].map(|axis| (scale * at(row, axis) + apart(row, axis)) as f32)).collect()
}

/// The points scaled to [-1, 1].
fn fitted(points: &[[f32; 2]]) -> impl Iterator<Item = [f32; 2]> {
    let range = |axis: usize| {
        let along = points.iter().map(|point| point[axis]);
        let low = along.clone().fold(f32::INFINITY, f32::min);
        let high = along.fold(f32::NEG_INFINITY, f32::max);
        ((low + high) / 2.0, (high - low) / 2.0)
    };
    let [(x, width), (y, height)] = [range(0), range(1)];
    let reach = width.max(height);
    let scale = if reach > 0.0 { 1.0 / reach } else { 0.0 };
    points.iter().map(move |point| [(point[0] - x) * scale, (point[1] - y) * scale])
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_data::network::Nodes;

    /// Three groups of directions in `dim` dimensions, and a zero vector at the end.
    fn groups(each: usize, dim: usize) -> Embedding {
        let mut nodes = Nodes::default();
        let (key, mut values) = (Key::new(9), Vec::new());
        for row in 0..3 * each {
            nodes.push(&row.to_string());
            let own = |column: usize| if column % 3 == row % 3 { 1.0 } else { 0.0 };
            values.extend((0..dim).map(|column| own(column) + 0.3 * unit_f64(key.at(row, column)) as f32));
        }
        nodes.push("nowhere");
        values.extend(std::iter::repeat_n(0.0, dim));
        Embedding::new(nodes, dim, values, Vec::new())
    }

    fn laid_out(embedding: &Embedding, seed: u64, threads: usize) -> Vec<Option<[f32; 2]>> {
        let pool = Pool::new(Some(threads)).unwrap();
        layout(embedding, seed, &pool)
    }

    #[test]
    fn what_is_alike_lies_together() {
        let embedding = groups(60, 64);
        let places = laid_out(&embedding, 0, 2);
        assert_eq!(places[180], None);
        let points: Vec<[f32; 2]> = places.into_iter().flatten().collect();
        assert!(points.iter().flatten().all(|coordinate| (-1.0..=1.0).contains(coordinate)));
        let distance = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        for (row, &point) in points.iter().enumerate() {
            let others = points.iter().enumerate().filter(|other| other.0 != row);
            let nearest =
                others.min_by(|a, b| distance(*a.1, point).total_cmp(&distance(*b.1, point))).unwrap();
            assert_eq!(nearest.0 % 3, row % 3, "node {row}");
        }
    }

    #[test]
    fn drawn_rows_are_spread_over_all_rows() {
        for (rows, count) in [(10, 3), (1000, 999), (1000, 7), (5, 5), (5, 9), (0, 4), (7, 0)] {
            let drawn = draw_rows(rows, count, 1);
            assert_eq!(drawn.len(), count.min(rows));
            assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(drawn.iter().all(|&row| (row as usize) < rows));
            let widest = drawn.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0);
            assert!(count == 0 || widest <= 2 * rows.div_ceil(count), "{rows} {count} {widest}");
        }
        assert_ne!(draw_rows(1000, 9, 1), draw_rows(1000, 9, 2));
    }

    #[test]
    fn threads_change_no_bit_and_seeds_do() {
        let embedding = groups(50, 16);
        let one = laid_out(&embedding, 0, 1);
        assert!(one == laid_out(&embedding, 0, 3));
        assert!(one != laid_out(&embedding, 1, 1));
    }

    #[test]
    fn tiny_and_uniform_embeddings_have_a_picture() {
        for each in [0, 1, 2, 3] {
            let embedding = groups(each, 5);
            let places = laid_out(&embedding, 0, 1);
            assert_eq!(places.iter().flatten().count(), 3 * each);
            assert!(places.iter().flatten().flatten().all(|coordinate| coordinate.is_finite()));
        }
        let mut nodes = Nodes::default();
        (0..40).for_each(|row| nodes.push(&row.to_string()));
        let same = Embedding::new(nodes, 2, vec![1.0; 80], Vec::new());
        assert!(laid_out(&same, 0, 1).iter().flatten().flatten().all(|coordinate| coordinate.is_finite()));
    }

    #[test]
    fn breaking_ends_it() {
        let pool = Pool::new(Some(1)).unwrap();
        let broken = layout_watched(&groups(20, 8), 0, &pool, &mut |_| ControlFlow::Break(()));
        assert!(matches!(broken, Err(manyview_base::error::Error::Interrupted)));
    }
}

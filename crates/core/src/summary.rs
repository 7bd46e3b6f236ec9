//! Properties of a network's views, and the overlap and correlation of each pair of views.
//!
//! The correlation of two views' proximities is Pearson's coefficient over all ordered pairs of distinct nodes. Most
//! pairs have zero proximity in both views and add nothing to the sums, so `sum x`, `sum x^2` and `sum x y` over the
//! entries and the number of pairs are sufficient.
//!
//! Invariant: proximities are computed a few thousand rows at a time and then discarded, so the memory does not grow
//! with the number of entries; sums are added in the order of the rows.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::Serialize;

use crate::proximity::{self, How, Keep, Proximity, Settings};
use manyview_base::error::Result;
use manyview_base::linalg::{BLOCK_ROWS, Csr};
use manyview_base::parallel::Pool;
use manyview_data::network::{Network, View};
use manyview_data::overlap::{Neighborhoods, Overlap, overlaps};

/// Number of rows of the proximity matrices in memory at a time.
const ROWS_AT_ONCE: usize = 4096;

/// The properties of the views and of pairs of views.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Number of nodes.
    pub nodes: usize,
    /// The views, in order.
    pub views: Vec<ViewSummary>,
    /// The overlap of each pair of views, in the order of the views.
    pub overlap: Vec<Overlap>,
    /// The correlation of the proximities of each pair of views; empty if not requested.
    pub correlation: Vec<Correlation>,
}

/// The properties of a view.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ViewSummary {
    /// Its name.
    pub name: String,
    /// Whether edges are directed.
    pub directed: bool,
    /// Number of distinct edges; of arcs, if directed.
    pub edges: usize,
    /// Number of nodes without edges in the view.
    pub isolated: usize,
    /// Degrees of the other nodes.
    pub degree: Degrees,
    /// Number of entries of its proximity matrix; `None` if not requested, or too expensive to be exact.
    pub entries: Option<usize>,
}

/// Statistics of the number of neighbors, in either direction, over nodes with at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Degrees {
    /// The minimum.
    pub least: usize,
    /// The median: half of the nodes have at most this many neighbors.
    pub median: usize,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub most: usize,
}

/// The correlation of the proximities of two views.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// The first view.
    pub a: String,
    /// The second view.
    pub b: String,
    /// Pearson's coefficient over all pairs of distinct nodes; `None` if one of the views has the same proximity for
    /// all pairs.
    pub correlation: Option<f64>,
}

/// Summarizes every view and every pair of views. With settings it also computes the proximities, unless these settings sample
/// them; without, it uses the edges only.
pub fn summarize(network: &Network, settings: Option<Settings>, pool: &Pool) -> Summary {
    summarize_watched(network, settings, pool, &mut |_, _| ControlFlow::Continue(()))
        .expect("never interrupted")
}

/// Like [`summarize`], and calls `watch` with the numbers of rows done and in total.
///
/// # Errors
/// [`manyview_base::error::Error::Interrupted`] if `watch` breaks.
pub fn summarize_watched(
    network: &Network,
    settings: Option<Settings>,
    pool: &Pool,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Summary> {
    let mut views: Vec<ViewSummary> = pool.run(|| network.views().par_iter().map(ViewSummary::new).collect());
    let overlap = overlaps(network, pool);
    let mut correlation = Vec::new();
    let all: Vec<&View> = network.views().iter().collect();
    let proximity = settings.map(|settings| Proximity::decide(settings, &all, 0, pool)).transpose()?;
    // The noise of sampled matrices would lower every correlation.
    if let Some(Proximity { settings, how: How::Exact }) = proximity {
        let sums = Sums::over(network, settings, pool, watch)?;
        for (view, &entries) in views.iter_mut().zip(&sums.entries) {
            view.entries = Some(entries);
        }
        correlation = sums.correlations(network);
    }
    Ok(Summary { nodes: network.nodes().len(), views, overlap, correlation })
}

impl ViewSummary {
    fn new(view: &View) -> Self {
        let (around, mut scratch) = (Neighborhoods::new(view), Vec::new());
        let nodes = view.adjacency.rows();
        let degrees = (0..nodes).map(|node| around.of(node, &mut scratch).len()).filter(|&degree| degree > 0);
        let mut degrees: Vec<usize> = degrees.collect();
        let isolated = nodes - degrees.len();
        degrees.sort_unstable();
        ViewSummary {
            name: view.name.clone(),
            directed: view.directed,
            edges: view.edges(),
            isolated,
            degree: Degrees::of(&degrees),
            entries: None,
        }
    }
}

impl Degrees {
    fn of(ascending: &[usize]) -> Self {
        let (Some(&least), Some(&most)) = (ascending.first(), ascending.last()) else {
            return Degrees::default();
        };
        let mean = ascending.iter().sum::<usize>() as f64 / ascending.len() as f64;
        Degrees { least, median: ascending[(ascending.len() - 1) / 2], mean, most }
    }
}

/// Sums over the proximities of all pairs of distinct nodes.
struct Sums {
    /// Number of entries of each view, including the diagonal.
    entries: Vec<usize>,
    /// `sum x`.
    plain: Vec<f64>,
    /// `sum x y` of views a and b at `a * views + b`, for a <= b.
    products: Vec<f64>,
}

impl Sums {
    fn zeros(views: usize) -> Self {
        Sums { entries: vec![0; views], plain: vec![0.0; views], products: vec![0.0; views * views] }
    }

    fn over(
        network: &Network,
        settings: Settings,
        pool: &Pool,
        watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Self> {
        let (nodes, views) = (network.nodes().len(), network.views().len());
        let (mut sums, mut done_before) = (Sums::zeros(views), 0);
        for first in (0..nodes).step_by(ROWS_AT_ONCE) {
            let rows = first..(first + ROWS_AT_ONCE).min(nodes);
            let mut blocks: Vec<Vec<Csr<f32>>> = Vec::with_capacity(views);
            for view in network.views() {
                let mut tell = |done| watch(done_before + done, nodes * views);
                blocks.push(
                    proximity::row_blocks(
                        view,
                        Proximity::exact(settings),
                        rows.clone(),
                        Keep::All,
                        pool,
                        &mut tell,
                    )?
                    .blocks,
                );
                done_before += rows.len();
            }
            let of_block = |index: usize| {
                let of_views: Vec<&Csr<f32>> = blocks.iter().map(|blocks| &blocks[index]).collect();
                Sums::of_rows(&of_views, rows.start + index * BLOCK_ROWS)
            };
            let count = blocks.first().map_or(0, Vec::len);
            let found: Vec<Sums> = pool.run(|| (0..count).into_par_iter().map(of_block).collect());
            found.iter().for_each(|block| sums.add(block));
        }
        Ok(sums)
    }

    /// The sums over a block of rows, starting at row `begin` of the matrix.
    fn of_rows(views: &[&Csr<f32>], begin: usize) -> Self {
        let mut sums = Sums::zeros(views.len());
        for (index, view) in views.iter().enumerate() {
            sums.entries[index] = view.entries();
            for row in 0..view.rows() {
                let own = begin + row;
                let (cols, values) = view.row(row);
                let others = cols.iter().zip(values).filter(|entry| *entry.0 as usize != own);
                sums.plain[index] += others.map(|(_, &value)| f64::from(value)).sum::<f64>();
                for (later, other) in views.iter().enumerate().skip(index) {
                    sums.products[index * views.len() + later] +=
                        product(view.row(row), other.row(row), own as u32);
                }
            }
        }
        sums
    }

    fn add(&mut self, other: &Sums) {
        self.entries.iter_mut().zip(&other.entries).for_each(|(sum, part)| *sum += part);
        self.plain.iter_mut().zip(&other.plain).for_each(|(sum, part)| *sum += part);
        self.products.iter_mut().zip(&other.products).for_each(|(sum, part)| *sum += part);
    }

    fn correlations(&self, network: &Network) -> Vec<Correlation> {
        let (views, nodes) = (network.views(), network.nodes().len() as f64);
        let pairs = nodes * (nodes - 1.0);
        let covariance = |a: usize, b: usize| {
            self.products[a * views.len() + b] / pairs - self.plain[a] / pairs * (self.plain[b] / pairs)
        };
        let correlation = |a: usize, b: usize| {
            let spread = (covariance(a, a) * covariance(b, b)).sqrt();
            let coefficient = covariance(a, b) / spread;
            // Without variance there is no correlation.
            (spread > 0.0 && coefficient.is_finite()).then(|| coefficient.clamp(-1.0, 1.0))
        };
        let pairs = (0..views.len()).flat_map(|a| (a + 1..views.len()).map(move |b| (a, b)));
        pairs
            .map(|(a, b)| Correlation {
                a: views[a].name.clone(),
                b: views[b].name.clone(),
                correlation: correlation(a, b),
            })
            .collect()
    }
}

/// The inner product of two sparse rows, without column `left_out`.
fn product(a: (&[u32], &[f32]), b: (&[u32], &[f32]), left_out: u32) -> f64 {
    let ((a_cols, a_values), (b_cols, b_values)) = (a, b);
    let (mut at_a, mut at_b, mut sum) = (0, 0, 0.0);
    while at_a < a_cols.len() && at_b < b_cols.len() {
        let (col_a, col_b) = (a_cols[at_a], b_cols[at_b]);
        if col_a == col_b && col_a != left_out {
            sum += f64::from(a_values[at_a]) * f64::from(b_values[at_b]);
        }
        at_a += usize::from(col_a <= col_b);
        at_b += usize::from(col_b <= col_a);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_data::generate::Planted;

    fn planted(nodes: usize) -> Network {
        let folder = tempfile::tempdir().unwrap();
        let planted = Planted { nodes, absent: 0.1, ..Planted::default() };
        let output = manyview_data::io::OutputFolder::prepare(folder.path(), &planted.files(), true).unwrap();
        planted.generate().unwrap().write_to(output, &Pool::new(None).unwrap()).unwrap();
        Network::open(folder.path()).unwrap()
    }

    fn settings() -> Settings {
        Settings { window: 3, ..Settings::default() }
    }

    /// Compared with the definition on dense matrices.
    #[test]
    fn correlations_are_those_of_dense_matrices() {
        let (network, pool) = (planted(150), Pool::new(Some(2)).unwrap());
        let go_on = &mut |_: usize, _: usize| ControlFlow::Continue(());
        let summary = summarize_watched(&network, Some(settings()), &pool, go_on).unwrap();
        let dense = |view: &View| {
            let matrix =
                proximity::proximity_watched::<f32>(view, Proximity::exact(settings()), &pool, &mut |_| {
                    ControlFlow::Continue(())
                })
                .unwrap();
            let mut values = Vec::new();
            for row in 0..150 {
                let (cols, row_values) = matrix.row(row);
                for col in (0..150u32).filter(|&col| col as usize != row) {
                    values.push(cols.binary_search(&col).map_or(0.0, |at| f64::from(row_values[at])));
                }
            }
            (matrix.entries(), values)
        };
        let all: Vec<(usize, Vec<f64>)> = network.views().iter().map(dense).collect();
        for (view, (entries, _)) in summary.views.iter().zip(&all) {
            assert_eq!(view.entries, Some(*entries));
        }
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let moment = |x: &[f64], y: &[f64]| {
            let (mean_x, mean_y) = (mean(x), mean(y));
            x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>()
        };
        for (at, (a, b)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            let (x, y) = (&all[a].1, &all[b].1);
            let expected = moment(x, y) / (moment(x, x) * moment(y, y)).sqrt();
            let found = summary.correlation[at].correlation.unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn degrees_are_those_of_nodes_with_edges() {
        let edges: &[(&str, &str, f64)] = &[("a", "b", 1.0), ("a", "c", 2.0), ("a", "d", 1.0)];
        let network = Network::from_edges(&[("x", edges), ("y", &[("e", "f", 1.0)])]).unwrap();
        let pool = Pool::new(Some(1)).unwrap();
        let summary =
            summarize_watched(&network, None, &pool, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let x = &summary.views[0];
        assert_eq!((x.edges, x.isolated, x.entries), (3, 2, None));
        assert_eq!(x.degree, Degrees { least: 1, median: 1, mean: 1.5, most: 3 });
        assert!(summary.correlation.is_empty());
    }
}

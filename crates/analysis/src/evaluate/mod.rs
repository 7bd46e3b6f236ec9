//! Evaluation of embeddings by node classification, clustering and link prediction.
//!
//! All methods are evaluated the same way. Everything random (the training nodes, the hidden edges, the initial centers
//! of k-means) depends on the seed and the node ids only, not on the vectors or the order of their rows. Two methods
//! that embed the same nodes are therefore evaluated on the same splits.
//!
//! - [`classify()`]: logistic regression on a fraction of the labeled nodes, F1 on the others;
//! - [`cluster()`]: k-means, and the agreement of its clusters with the labels;
//! - [`links()`]: hides edges, embeds the remaining network, and ranks hidden edges against pairs that are not edges;
//! - [`metrics`]: the scores, as defined by scikit-learn.
//!
//! The functions have variants `*_watched`, which report progress and can be stopped.
//!
//! Invariant: results are bitwise identical for any number of threads. Sums are computed over blocks of rows whose size
//! depends on the data only, and blocks are added in order.
//!
//! ```
//! use manyview_analysis::evaluate::{ClassifySettings, Labels, Vectors, classify};
//! use manyview_base::parallel::Pool;
//!
//! let ids: Vec<String> = (0..40).map(|node| format!("n{node}")).collect();
//! let labels = Labels::from_sets(&ids, (0..40).map(|node| [if node < 20 { "left" } else { "right" }]))?;
//! let values: Vec<f32> = (0..40).flat_map(|node| [node as f32, (node % 3) as f32]).collect();
//! let vectors = Vectors::new(&values, 40, 2)?;
//!
//! let settings = ClassifySettings { train: vec![0.5], repeats: 3, ..ClassifySettings::default() };
//! let found = classify(&vectors, &labels, &settings, &Pool::new(None)?)?;
//! assert!(found.shares[0].micro_f1.mean > 0.9);
//! # Ok::<(), manyview_base::error::Error>(())
//! ```

mod classify;
mod cluster;
mod curvature;
mod hide;
mod kernels;
pub mod kmeans;
mod links;
mod logistic;
pub mod metrics;
mod record;
mod train;

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use manyview_base::error::{Error, Result};
use manyview_base::linalg::vector::scale_to_unit_length;
use manyview_data::embedding::Embedding;
pub use manyview_data::labels::{LabelCount, Labels, Split};

pub use classify::{
    Classification, ClassifyRun, ClassifySettings, Cost, Prediction, ShareScores, classify, classify_watched,
};
pub use cluster::{ClusterRun, ClusterSettings, Clustering, cluster, cluster_watched};
pub use hide::{Hidden, HiddenView, Pair};
pub use links::{LinkRun, LinkScore, LinkSettings, Links, ViewScores, links, links_watched};
pub use record::{EvaluationRecord, write_assignments, write_clusters, write_predictions};

/// The progress of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Parts done: splits, or runs of k-means.
    pub done: usize,
    /// Total number of parts.
    pub total: usize,
}

impl Step {
    /// So many parts of all.
    pub fn new(done: usize, total: usize) -> Self {
        Step { done, total }
    }
}

/// A callback for progress. It is called on the calling thread several times per second; `Break` stops the work.
pub type Watch<'a> = dyn FnMut(Step) -> ControlFlow<()> + 'a;

/// The vectors of the nodes, row by row, from any source.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    values: &'a [f32],
    rows: usize,
    dim: usize,
}

impl<'a> Vectors<'a> {
    /// Creates a view of `rows x dim` numbers, row by row.
    ///
    /// # Errors
    /// If the number of values is not `rows x dim`, if there are none, or if one of them is not finite.
    pub fn new(values: &'a [f32], rows: usize, dim: usize) -> Result<Self> {
        if rows.checked_mul(dim) != Some(values.len()) || values.is_empty() {
            return Err(Error::network(format!(
                "expected {rows} x {dim} numbers, one vector per row and at least one, but found {}",
                values.len()
            )));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (at / dim, at % dim);
            return Err(Error::network(format!(
                "the vector in row {row} has {} in column {column} (both counted from 0); remove the node or embed \
                 again",
                values[at]
            )));
        }
        Ok(Vectors { values, rows, dim })
    }

    /// The number of vectors.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The length of each vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The vector in a row.
    pub fn row(&self, row: usize) -> &'a [f32] {
        &self.values[row * self.dim..][..self.dim]
    }

    /// The vectors, scaled to length 1 if `l2norm` is set; zero vectors are unchanged.
    pub fn scaled(self, l2norm: bool) -> Cow<'a, [f32]> {
        if !l2norm {
            return Cow::Borrowed(self.values);
        }
        let mut values = self.values.to_vec();
        values.chunks_exact_mut(self.dim).for_each(scale_to_unit_length);
        Cow::Owned(values)
    }
}

impl<'a> TryFrom<&'a Embedding> for Vectors<'a> {
    type Error = Error;

    fn try_from(embedding: &'a Embedding) -> Result<Self> {
        Vectors::new(embedding.values(), embedding.rows(), embedding.dim())
    }
}

/// Returns an error if the number of labels differs from the number of vectors.
fn check_together(vectors: &Vectors<'_>, labels: &Labels) -> Result<()> {
    if vectors.rows() == labels.rows() {
        return Ok(());
    }
    Err(Error::network(format!(
        "there are {} vectors but labels for {} nodes; use the labels of the same nodes",
        vectors.rows(),
        labels.rows()
    )))
}

/// Mean and standard deviation over repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation (denominator: number of repeats - 1); `None` for a single repeat.
    pub std: Option<f64>,
}

impl Summary {
    /// The summary of some values.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Summary { mean, std: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_are_none_are_refused() {
        let refused = |values: &[f32], rows, dim| Vectors::new(values, rows, dim).unwrap_err().to_string();
        assert!(refused(&[1.0; 6], 2, 2).starts_with("expected 2 x 2 numbers"));
        assert!(refused(&[], 0, 4).contains("at least one"));
        assert!(refused(&[1.0; 4], usize::MAX, 2).ends_with("but found 4"));
        let text = refused(&[0.0, 1.0, 2.0, f32::NAN], 2, 2);
        assert!(text.starts_with("the vector in row 1 has NaN in column 1"), "{text}");
        assert!(refused(&[f32::INFINITY], 1, 1).contains("inf"));
    }

    #[test]
    fn scaled_vectors_have_length_one_or_zero() {
        let vectors = Vectors::new(&[3.0, 4.0, 0.0, 0.0], 2, 2).unwrap();
        assert_eq!(vectors.scaled(true).as_ref(), [0.6, 0.8, 0.0, 0.0]);
        assert!(matches!(vectors.scaled(false), Cow::Borrowed(_)));
    }

    #[test]
    fn spread_is_that_of_a_sample() {
        assert_eq!(Summary::of([1.0, 3.0].into_iter()), Summary { mean: 2.0, std: Some(2f64.sqrt()) });
        assert_eq!(Summary::of([1.0].into_iter()).std, None);
    }
}

//! How good the vectors are: nodes classified and clustered by them, and hidden edges found again.
//!
//! Every method is judged the same way. What is random (which nodes train, which edges are hidden, where k-means
//! starts) follows from the seed and the ids of the nodes, never from the vectors or the order of their rows. So two
//! methods that embed the same nodes face the same splits.
//!
//! - [`classify()`]: logistic regression on a share of the labeled nodes, F1 on the others;
//! - [`cluster()`]: k-means, and how well its clusters agree with the labels;
//! - [`links()`]: edges are hidden, the rest is embedded, and hidden edges compete with pairs that are none;
//! - [`metrics`]: the scores, by scikit-learn's conventions.
//!
//! Invariant: results have the same bits for any number of threads. Sums run over blocks of rows whose size depends
//! on the data alone, and blocks are added in order.
//!
//! ```
//! use std::ops::ControlFlow;
//! use manyview_analysis::evaluate::{ClassifySettings, Labels, Vectors, classify};
//! use manyview_base::parallel::Pool;
//!
//! let ids: Vec<String> = (0..40).map(|node| format!("n{node}")).collect();
//! let labels = Labels::from_sets(&ids, (0..40).map(|node| [if node < 20 { "left" } else { "right" }]))?;
//! let values: Vec<f32> = (0..40).flat_map(|node| [node as f32, (node % 3) as f32]).collect();
//! let vectors = Vectors::new(&values, 40, 2)?;
//!
//! let settings = ClassifySettings { train: vec![0.5], repeats: 3, ..ClassifySettings::default() };
//! let found = classify(&vectors, &labels, &settings, &Pool::new(None)?, &mut |_| ControlFlow::Continue(()))?;
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
use manyview_data::embedding::Embedding;
pub use manyview_data::labels::{LabelCount, Labels, Split};

pub use classify::{Classification, ClassifyRun, ClassifySettings, Cost, Prediction, ShareScores, classify};
pub use cluster::{ClusterRun, ClusterSettings, Clustering, cluster};
pub use hide::{Hidden, HiddenView, Pair};
pub use links::{LinkRun, LinkScore, LinkSettings, Links, ViewScores, links};
pub use record::{EvaluationRecord, write_assignments, write_predictions};

/// How far an evaluation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Parts done: splits, or runs of k-means.
    pub done: usize,
    /// Parts in all.
    pub total: usize,
}

/// Hears of progress on the calling thread, several times a second, and may end the work by breaking.
pub type Watch<'a> = dyn FnMut(Step) -> ControlFlow<()> + 'a;

/// One vector per node, row after row: an embedding of any origin.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    values: &'a [f32],
    rows: usize,
    dim: usize,
}

impl<'a> Vectors<'a> {
    /// Takes `rows x dim` numbers, row after row.
    ///
    /// # Errors
    /// When there are more or fewer numbers, none at all, or some that are not finite.
    pub fn new(values: &'a [f32], rows: usize, dim: usize) -> Result<Self> {
        if rows.checked_mul(dim) != Some(values.len()) || values.is_empty() {
            return Err(Error::network(format!(
                "{} numbers are not {rows} vectors of {dim}; give at least one of each, row after row",
                values.len()
            )));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (at / dim, at % dim);
            return Err(Error::network(format!(
                "the vector in row {row} has {} in column {column} (both counted from 0); embed again, or leave \
                 that node out",
                values[at]
            )));
        }
        Ok(Vectors { values, rows, dim })
    }

    /// Number of vectors.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Length of each.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The vector in a row.
    pub fn row(&self, row: usize) -> &'a [f32] {
        &self.values[row * self.dim..][..self.dim]
    }

    /// The same vectors, scaled to length 1 if asked for; zero vectors stay.
    fn scaled(self, l2norm: bool) -> Cow<'a, [f32]> {
        if !l2norm {
            return Cow::Borrowed(self.values);
        }
        let mut values = self.values.to_vec();
        for row in values.chunks_exact_mut(self.dim) {
            let norm = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            if norm > 0.0 {
                row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
            }
        }
        Cow::Owned(values)
    }
}

impl<'a> TryFrom<&'a Embedding> for Vectors<'a> {
    type Error = Error;

    fn try_from(embedding: &'a Embedding) -> Result<Self> {
        Vectors::new(embedding.values(), embedding.rows(), embedding.dim())
    }
}

/// Refuses labels that were made for other nodes.
fn check_together(vectors: &Vectors<'_>, labels: &Labels) -> Result<()> {
    if vectors.rows() == labels.rows() {
        return Ok(());
    }
    Err(Error::network(format!(
        "there are {} vectors, and labels for {} nodes; they do not belong together",
        vectors.rows(),
        labels.rows()
    )))
}

/// Mean and spread over repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The sample's standard deviation (one less than the repeats in the denominator); none for one repeat.
    pub std: Option<f64>,
}

impl Summary {
    /// Of some values.
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
        assert!(refused(&[1.0; 6], 2, 2).starts_with("6 numbers are not 2 vectors of 2"));
        assert!(refused(&[], 0, 4).contains("at least one"));
        assert!(refused(&[1.0; 4], usize::MAX, 2).starts_with("4 numbers are not"));
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

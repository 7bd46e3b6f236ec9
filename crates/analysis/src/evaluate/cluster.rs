//! Clustering: k-means on the labeled nodes, and the agreement of its clusters with the labels.
//!
//! Single runs of k-means end in different local minima. Each repeat is therefore the best of several restarts, and the
//! repeats show the remaining variation.

use std::ops::ControlFlow;

use serde::Serialize;

use super::curvature::{deviations, moments};
use super::kmeans::{Clusters, KmeansSettings, MAX_ITER, Nodes};
use super::metrics::{Average, Contingency};
use super::{Labels, Summary, Vectors, Watch, check_together};
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, option_value};
use manyview_base::parallel::Pool;
use manyview_data::labels::LabelCount;

/// Settings of [`cluster()`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterSettings {
    /// Number of clusters; `None` for the number of labels.
    pub k: Option<usize>,
    /// Number of repeats, each with several restarts.
    pub repeats: usize,
    /// Number of restarts per repeat; the one with the smallest inertia is used.
    pub restarts: usize,
    /// Random seed of the initial centers.
    pub seed: u64,
    /// Maximum number of iterations per restart.
    pub max_iter: usize,
    /// The mean of the two entropies that normalizes the mutual information.
    pub average: Average,
    /// Scale each vector to length 1 first.
    pub l2norm: bool,
    /// Scale each column to mean 0 and variance 1 over the labeled nodes.
    pub standardize: bool,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        ClusterSettings {
            k: None,
            repeats: 10,
            restarts: 10,
            seed: 0,
            max_iter: MAX_ITER,
            average: Average::default(),
            l2norm: false,
            standardize: false,
        }
    }
}

/// The result of [`cluster()`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Clustering {
    /// Number of nodes with vectors.
    pub nodes: usize,
    /// Length of the vectors.
    pub dim: usize,
    /// Number of nodes with labels; the others were ignored.
    pub labeled: usize,
    /// Number of ids with labels but without vectors.
    pub unknown: usize,
    /// The labels and the number of nodes of each.
    pub classes: Vec<LabelCount>,
    /// Number of clusters.
    pub k: usize,
    /// The settings used.
    pub settings: ClusterSettings,
    /// Normalized mutual information.
    pub nmi: Summary,
    /// Adjusted mutual information.
    pub ami: Summary,
    /// Sum of squared distances to the centers.
    pub inertia: Summary,
    /// Each repeat.
    pub runs: Vec<ClusterRun>,
    /// The rows that were clustered.
    #[serde(skip)]
    pub rows: Vec<u32>,
    /// Notes on the scores: sentences without a full stop.
    pub notes: Vec<Message>,
}

/// The result of one repeat: the best of its restarts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClusterRun {
    /// The number of the repeat, from 0.
    pub repeat: usize,
    /// Normalized mutual information.
    pub nmi: f64,
    /// Adjusted mutual information.
    pub ami: f64,
    /// Sum of squared distances to the centers.
    pub inertia: f64,
    /// Iterations of the best restart.
    pub iterations: usize,
    /// Whether the best restart converged.
    pub converged: bool,
    /// The cluster of each row in [`Clustering::rows`].
    #[serde(skip)]
    pub assignments: Vec<u32>,
}

/// Clusters the labeled nodes and compares the clusters with the labels.
///
/// # Errors
/// If the settings are invalid, labels and vectors differ in number, a node has several labels, or there is only one
/// class.
pub fn cluster(
    vectors: &Vectors<'_>,
    labels: &Labels,
    settings: &ClusterSettings,
    pool: &Pool,
) -> Result<Clustering> {
    cluster_watched(vectors, labels, settings, pool, &mut |_| ControlFlow::Continue(()))
}

/// Like [`cluster()`], and calls `watch` with the progress.
///
/// # Errors
/// As [`cluster()`], and [`Error::Interrupted`] if `watch` breaks.
pub fn cluster_watched(
    vectors: &Vectors<'_>,
    labels: &Labels,
    settings: &ClusterSettings,
    pool: &Pool,
    watch: &mut Watch<'_>,
) -> Result<Clustering> {
    check_together(vectors, labels)?;
    if settings.repeats == 0 {
        return Err(Error::config(format!("{} must be at least 1", option_value("repeats", 0))));
    }
    if labels.is_multi_label() {
        let several = (0..labels.rows()).filter(|&row| labels.of(row).len() > 1).count();
        let nodes = if several == 1 { "1 node has".into() } else { format!("{several} nodes have") };
        return Err(Error::network(format!(
            "{nodes} several labels; clustering needs exactly one label per node"
        )));
    }
    // With one class and one cluster the NMI is 1 for any vectors.
    labels.check_classes("clustering needs at least two classes")?;
    let rows = labels.labeled_rows();
    let k = settings.k.unwrap_or(labels.names().len());
    let kmeans =
        KmeansSettings { k, restarts: settings.restarts, max_iter: settings.max_iter, seed: settings.seed };
    kmeans.check(rows.len())?;
    let scaled = vectors.scaled(settings.l2norm);
    let plain = Vectors { values: &scaled, ..*vectors };
    let standardized = settings.standardize.then(|| pool.run(|| standardized(&plain, &rows)));
    let vectors = Vectors { values: standardized.as_deref().unwrap_or(&scaled), ..*vectors };
    let nodes = pool.run(|| Nodes::new(&vectors, &rows));
    let found = nodes.best_of(&kmeans, settings.repeats, pool, watch)?;

    let truth: Vec<u32> = rows.iter().map(|&row| labels.only(row)).collect();
    let run = |(repeat, clusters): (usize, Clusters)| {
        let table = Contingency::new(&truth, &clusters.assignments);
        ClusterRun {
            repeat,
            nmi: table.nmi(settings.average),
            ami: table.ami(settings.average),
            inertia: clusters.inertia,
            iterations: clusters.iterations,
            converged: clusters.converged,
            assignments: clusters.assignments,
        }
    };
    let runs: Vec<ClusterRun> = found.into_iter().enumerate().map(run).collect();
    let summary = |score: fn(&ClusterRun) -> f64| Summary::of(runs.iter().map(score));
    Ok(Clustering {
        nodes: vectors.rows(),
        dim: vectors.dim(),
        labeled: rows.len(),
        unknown: labels.unknown(),
        classes: labels.counts(),
        k,
        settings: settings.clone(),
        nmi: summary(|run| run.nmi),
        ami: summary(|run| run.ami),
        inertia: summary(|run| run.inertia),
        notes: notes(k, settings, &runs),
        runs,
        rows,
    })
}

fn standardized(vectors: &Vectors<'_>, rows: &[u32]) -> Vec<f32> {
    let (mean, variance) = moments(vectors, rows);
    let scale = deviations(&mean, &variance, rows.len());
    let column = |(at, &x): (usize, &f32)| {
        let column = at % vectors.dim();
        ((f64::from(x) - mean[column]) / scale[column]) as f32
    };
    vectors.values.iter().enumerate().map(column).collect()
}

fn notes(k: usize, settings: &ClusterSettings, runs: &[ClusterRun]) -> Vec<Message> {
    let mut notes = Vec::new();
    let open = runs.iter().filter(|run| !run.converged).count();
    if open > 0 {
        let limit = option_value("max_iter", settings.max_iter);
        notes
            .push(format!("{open} of {} runs of k-means did not converge within {limit}", runs.len()).into());
    }
    let fewer = runs
        .iter()
        .map(|run| run.assignments.iter().copied().collect::<std::collections::BTreeSet<_>>().len());
    if let Some(fewest) = fewer.min().filter(|&fewest| fewest < k) {
        notes.push(format!("only {fewest} of {k} clusters have nodes; too many vectors are equal").into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::{Key, unit_f64};

    fn labels(count: usize, classes: usize) -> Labels {
        let ids: Vec<String> = (0..count).map(|node| format!("n{node}")).collect();
        Labels::from_sets(&ids, (0..count).map(|node| [format!("c{}", node % classes)])).unwrap()
    }

    fn run(
        values: &[f32],
        labels: &Labels,
        settings: &ClusterSettings,
        threads: usize,
    ) -> Result<Clustering> {
        let vectors = Vectors::new(values, labels.rows(), values.len() / labels.rows()).unwrap();
        let pool = Pool::new(Some(threads)).unwrap();
        cluster(&vectors, labels, settings, &pool)
    }

    fn clouds(count: usize, classes: usize) -> Vec<f32> {
        let number = |at: usize| unit_f64(Key::new(2).at(at, 0)) as f32;
        (0..count * 2).map(|at| number(at) + 9.0 * ((at / 2) % classes) as f32).collect()
    }

    #[test]
    fn clouds_apart_agree_with_their_labels() {
        let labels = labels(90, 3);
        for (l2norm, standardize) in [(false, false), (false, true)] {
            let settings = ClusterSettings { l2norm, standardize, repeats: 2, ..ClusterSettings::default() };
            let one = run(&clouds(90, 3), &labels, &settings, 1).unwrap();
            assert_eq!((one.k, one.labeled), (3, 90));
            assert!((one.nmi.mean - 1.0).abs() < 1e-12 && (one.ami.mean - 1.0).abs() < 1e-12);
            assert_eq!(run(&clouds(90, 3), &labels, &settings, 3).unwrap(), one);
        }
    }

    #[test]
    fn noise_has_no_adjusted_information() {
        let values: Vec<f32> = (0..600).map(|at| unit_f64(Key::new(3).at(at, 0)) as f32).collect();
        let found = run(&values, &labels(300, 5), &ClusterSettings::default(), 2).unwrap();
        assert!(found.ami.mean.abs() < 0.02 && found.nmi.mean > found.ami.mean, "{:?}", found.ami);
    }

    #[test]
    fn nodes_without_labels_are_left_out() {
        let ids: Vec<String> = (0..40).map(|node| format!("n{node}")).collect();
        let pairs = (0..30).map(|node| (format!("n{node}"), ["x", "y"][node % 2]));
        let labels = Labels::from_pairs(&ids, pairs).unwrap();
        let found = run(&clouds(40, 2), &labels, &ClusterSettings::default(), 2).unwrap();
        assert_eq!((found.labeled, found.nodes, found.runs[0].assignments.len()), (30, 40, 30));
    }

    #[test]
    fn what_cannot_work_gets_a_sentence() {
        let sentence = |labels: &Labels, settings: ClusterSettings| {
            run(&clouds(labels.rows(), 2), labels, &settings, 1).unwrap_err().to_string()
        };
        let standard = ClusterSettings::default;
        let few = labels(10, 2);
        assert!(
            sentence(&few, ClusterSettings { k: Some(11), ..standard() })
                .starts_with("k = 11 exceeds the number of nodes")
        );
        assert!(sentence(&few, ClusterSettings { repeats: 0, ..standard() }).contains("repeats = 0"));
        let several = Labels::from_sets(["a", "b"], [vec!["x", "y"], vec!["x"]]).unwrap();
        assert!(sentence(&several, standard()).starts_with("1 node has several labels"));
        let same = Labels::from_sets(["a", "b", "c"], [["x"], ["x"], ["x"]]).unwrap();
        for k in [None, Some(2)] {
            let text = sentence(&same, ClusterSettings { k, ..standard() });
            assert!(text.starts_with("all 3 labeled nodes have the label \"x\""), "{text}");
        }
    }
}

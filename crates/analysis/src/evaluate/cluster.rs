//! Clustering: k-means on the labeled nodes, and how well its clusters agree with the labels.
//!
//! Single runs of k-means end now here, now there, so each repeat is the best of several restarts, and repeats show the
//! spread that is left.

use serde::Serialize;

use super::curvature::{deviations, moments};
use super::kmeans::{MAX_ITER, Nodes, check};
use super::metrics::{Average, Contingency};
use super::{Labels, Summary, Vectors, Watch, check_together};
use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_data::labels::LabelCount;

/// How nodes are to be clustered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterSettings {
    /// Number of clusters; without it, the number of labels.
    pub k: Option<usize>,
    /// Runs of k-means with restarts.
    pub repeats: usize,
    /// Starts of each, of which the one with the smallest inertia counts.
    pub restarts: usize,
    /// Decides where k-means starts.
    pub seed: u64,
    /// At most so many iterations a start.
    pub max_iter: usize,
    /// What the mutual information is divided by.
    pub average: Average,
    /// Scale every vector to length 1 first.
    pub l2norm: bool,
    /// Bring every column to mean 0 and variance 1 over the labeled nodes.
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

/// How well clusters agree with labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clustering {
    /// Nodes with vectors.
    pub nodes: usize,
    /// Length of the vectors.
    pub dim: usize,
    /// Nodes with labels; the others were left out.
    pub labeled: usize,
    /// Ids that had labels and no vectors.
    pub unknown: usize,
    /// The labels, and how many nodes have each.
    pub classes: Vec<LabelCount>,
    /// Number of clusters.
    pub k: usize,
    /// How it was done.
    pub settings: ClusterSettings,
    /// Normalized mutual information.
    pub nmi: Summary,
    /// Mutual information adjusted for chance.
    pub ami: Summary,
    /// Sum of squared distances to the centers.
    pub inertia: Summary,
    /// Each repeat.
    pub runs: Vec<ClusterRun>,
    /// The rows that were clustered.
    #[serde(skip)]
    pub rows: Vec<u32>,
    /// What a reader of the scores should know: sentences without full stop.
    pub notes: Vec<String>,
}

/// The best of several restarts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterRun {
    /// Which repeat, from 0.
    pub repeat: usize,
    /// Normalized mutual information.
    pub nmi: f64,
    /// Mutual information adjusted for chance.
    pub ami: f64,
    /// Sum of squared distances to the centers.
    pub inertia: f64,
    /// Iterations of the best restart.
    pub iterations: usize,
    /// Whether nothing moved in its end.
    pub converged: bool,
    /// The cluster of each of [`Clustering::rows`].
    #[serde(skip)]
    pub assignments: Vec<u32>,
}

/// Clusters the labeled nodes and compares clusters with labels.
///
/// # Errors
/// When settings make no sense, labels belong to other nodes, a node has several labels, there is one class only, or
/// `watch` breaks off.
pub fn cluster(
    vectors: &Vectors<'_>,
    labels: &Labels,
    settings: &ClusterSettings,
    pool: &Pool,
    watch: &mut Watch<'_>,
) -> Result<Clustering> {
    check_together(vectors, labels)?;
    if settings.repeats == 0 {
        return Err(Error::config("repeats = 0 measures nothing; give at least 1"));
    }
    if labels.is_multi_label() {
        let several = (0..labels.rows()).filter(|&row| labels.of(row).len() > 1).count();
        let nodes = if several == 1 { "1 node has".into() } else { format!("{several} nodes have") };
        return Err(Error::network(format!(
            "{nodes} several labels; a node is in one cluster, so give one label a node"
        )));
    }
    // One class agrees with one cluster whatever the vectors: NMI would be 1 and mean nothing.
    labels.check_classes("clusters can be compared with two classes or more")?;
    let rows = labels.labeled_rows();
    let k = settings.k.unwrap_or(labels.names().len());
    check(k, rows.len(), settings.restarts, settings.max_iter)?;
    let scaled = vectors.scaled(settings.l2norm);
    let plain = Vectors { values: &scaled, ..*vectors };
    let standardized = settings.standardize.then(|| pool.run(|| standardized(&plain, &rows)));
    let vectors = Vectors { values: standardized.as_deref().unwrap_or(&scaled), ..*vectors };
    let nodes = pool.run(|| Nodes::new(&vectors, &rows));
    let found = nodes.best_of(
        k,
        settings.repeats,
        settings.restarts,
        settings.max_iter,
        settings.seed,
        pool,
        watch,
    )?;

    let truth: Vec<u32> = rows.iter().map(|&row| labels.only(row)).collect();
    let run = |(repeat, clusters): (usize, super::kmeans::Clusters)| {
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

fn notes(k: usize, settings: &ClusterSettings, runs: &[ClusterRun]) -> Vec<String> {
    let mut notes = Vec::new();
    let open = runs.iter().filter(|run| !run.converged).count();
    if open > 0 {
        notes.push(format!(
            "{open} of {} runs of k-means did not converge within max_iter = {}",
            runs.len(),
            settings.max_iter
        ));
    }
    let fewer = runs
        .iter()
        .map(|run| run.assignments.iter().copied().collect::<std::collections::BTreeSet<_>>().len());
    if let Some(fewest) = fewer.min().filter(|&fewest| fewest < k) {
        notes.push(format!("only {fewest} of {k} clusters have nodes: too many vectors are equal"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

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
        cluster(&vectors, labels, settings, &pool, &mut |_| ControlFlow::Continue(()))
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
                .contains("k = 11 clusters of 10 nodes")
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

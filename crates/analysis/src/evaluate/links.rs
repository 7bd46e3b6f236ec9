//! Link prediction: hides edges, embeds the remaining network, and ranks hidden edges against pairs that are not edges.
//!
//! The score of a pair is the cosine or the inner product of its two vectors. The scores of the hidden edges and of the
//! same number of non-edges give the area under the ROC curve and the average precision, for each view separately.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::Serialize;

use super::hide::{HiddenView, Pair};
use super::metrics::{auc, average_precision};
use super::{Step, Summary, Vectors, Watch};
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, option_value};
use manyview_base::named;
use manyview_base::parallel::Pool;
use manyview_data::network::Network;

/// Settings of [`links()`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSettings {
    /// The view whose edges are hidden; `None` for all views.
    pub view: Option<String>,
    /// Fraction of the edges to hide.
    pub hide: f64,
    /// Number of repeats; each hides other edges and embeds again.
    pub repeats: usize,
    /// Random seed of the hidden edges and the drawn pairs.
    pub seed: u64,
    /// The score of a pair of vectors.
    pub score: LinkScore,
}

impl Default for LinkSettings {
    fn default() -> Self {
        LinkSettings { view: None, hide: 0.2, repeats: 3, seed: 0, score: LinkScore::default() }
    }
}

impl LinkSettings {
    /// Checks the settings that do not depend on the data.
    ///
    /// # Errors
    /// [`Error::Config`] for the first invalid setting.
    pub fn check(&self) -> Result<()> {
        if !(self.hide > 0.0 && self.hide < 1.0) {
            let hide = option_value("hide", self.hide);
            return Err(Error::config(format!("{hide} must be a fraction between 0 and 1, such as 0.2")));
        }
        if self.repeats == 0 {
            return Err(Error::config(format!("{} must be at least 1", option_value("repeats", 0))));
        }
        Ok(())
    }
}

named! {
    /// The score of a pair of vectors.
    pub enum LinkScore {
        /// 0 if one of them is zero.
        Cosine = "cosine", "cosine of the two vectors";
        /// It favors nodes with long vectors.
        Dot = "dot", "inner product of the two vectors";
    }
}

impl LinkScore {
    /// The score of two vectors.
    pub fn of(self, a: &[f32], b: &[f32]) -> f64 {
        let dot =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
        match self {
            LinkScore::Dot => dot(a, b),
            LinkScore::Cosine => {
                let lengths = (dot(a, a) * dot(b, b)).sqrt();
                if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
            }
        }
    }
}

/// The result of [`links()`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Links {
    /// Number of nodes of the network.
    pub nodes: usize,
    /// The settings used.
    pub settings: LinkSettings,
    /// The scores of each view whose edges were hidden.
    pub views: Vec<ViewScores>,
    /// Notes on the scores: sentences without a full stop.
    pub notes: Vec<Message>,
}

/// Scores of one view.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ViewScores {
    /// The name of the view.
    pub view: String,
    /// Area under the ROC curve over the repeats; `None` if no edge could be hidden.
    pub auc: Option<Summary>,
    /// Average precision over the repeats; `None` if no edge could be hidden.
    pub average_precision: Option<Summary>,
    /// The repeats in which edges were hidden.
    pub runs: Vec<LinkRun>,
}

/// The result of one repeat in one view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinkRun {
    /// The number of the repeat, from 0.
    pub repeat: usize,
    /// Number of hidden edges.
    pub edges: usize,
    /// Number of pairs that are not edges.
    pub non_edges: usize,
    /// Area under the ROC curve.
    pub auc: f64,
    /// Average precision.
    pub average_precision: f64,
}

/// Hides edges, calls `embed` with the remaining network and the number of the repeat, and scores the result.
///
/// `embed` returns one vector per node, in the order of the network's nodes, row by row, and their length. It may use
/// any method: the hidden edges depend on the network and the settings only.
///
/// # Errors
/// If the settings are invalid, no edge can be hidden, the vectors do not fit the network, or `embed` fails.
pub fn links(
    network: &Network,
    settings: &LinkSettings,
    pool: &Pool,
    embed: impl FnMut(&Network, usize) -> Result<(Vec<f32>, usize)>,
) -> Result<Links> {
    links_watched(network, settings, pool, embed, &mut |_| ControlFlow::Continue(()))
}

/// Like [`links()`], and calls `watch` before each repeat.
///
/// # Errors
/// As [`links()`], and [`Error::Interrupted`] if `watch` breaks.
pub fn links_watched(
    network: &Network,
    settings: &LinkSettings,
    pool: &Pool,
    mut embed: impl FnMut(&Network, usize) -> Result<(Vec<f32>, usize)>,
    watch: &mut Watch<'_>,
) -> Result<Links> {
    settings.check()?;
    let mut views: Vec<ViewScores> = Vec::new();
    let mut notes = Vec::new();
    for repeat in 0..settings.repeats {
        if watch(Step { done: repeat, total: settings.repeats }).is_break() {
            return Err(Error::Interrupted);
        }
        let hidden = settings.hide(network, repeat)?;
        if repeat == 0 {
            let open = |test: &HiddenView| ViewScores {
                view: test.view.clone(),
                auc: None,
                average_precision: None,
                runs: Vec::new(),
            };
            views = hidden.views.iter().map(open).collect();
            notes = self::notes(network, settings, &hidden.views);
        }
        let (values, dim) = embed(&hidden.network, repeat)?;
        let vectors = Vectors::new(&values, network.nodes().len(), dim)?;
        for (scores, test) in views.iter_mut().zip(&hidden.views) {
            scores.runs.extend(pool.run(|| settings.score.test(&vectors, test, repeat)));
        }
    }
    for scores in &mut views {
        let summary = |score: fn(&LinkRun) -> f64| {
            (!scores.runs.is_empty()).then(|| Summary::of(scores.runs.iter().map(score)))
        };
        (scores.auc, scores.average_precision) =
            (summary(|run| run.auc), summary(|run| run.average_precision));
    }
    Ok(Links { nodes: network.nodes().len(), settings: settings.clone(), views, notes })
}

impl LinkScore {
    /// The area under the ROC curve of edges against other pairs; `None` if there are none of either. Run it on a pool.
    pub fn auc(self, vectors: &Vectors<'_>, edges: &[Pair], non_edges: &[Pair]) -> Option<f64> {
        auc(&self.of_all(vectors, edges), &self.of_all(vectors, non_edges))
    }

    fn of_all(self, vectors: &Vectors<'_>, pairs: &[Pair]) -> Vec<f64> {
        pairs.par_iter().map(|&(a, b)| self.of(vectors.row(a as usize), vectors.row(b as usize))).collect()
    }

    /// Returns `None` if no edge was hidden.
    fn test(self, vectors: &Vectors<'_>, test: &HiddenView, repeat: usize) -> Option<LinkRun> {
        let (edges, non_edges) = (self.of_all(vectors, &test.edges), self.of_all(vectors, &test.non_edges));
        Some(LinkRun {
            repeat,
            edges: edges.len(),
            non_edges: non_edges.len(),
            auc: auc(&edges, &non_edges)?,
            average_precision: average_precision(&edges, &non_edges)?,
        })
    }
}

fn notes(network: &Network, settings: &LinkSettings, tests: &[HiddenView]) -> Vec<Message> {
    let mut notes = Vec::new();
    for test in tests {
        let view = network.view_named(&test.view).expect("a view of this network");
        let wanted = settings.hide * view.edges() as f64;
        if (test.edges.len() as f64) < 0.9 * wanted && !view.directed {
            let note = format!(
                "view {}: only {} of {wanted:.0} edges could be hidden; the rest are the last edge of a node",
                test.view,
                test.edges.len()
            );
            notes.push(note.into());
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_data::generate::Planted;

    fn network() -> Network {
        let planted = Planted {
            nodes: 200,
            views: 2,
            communities: 5,
            noise: vec![0.05],
            consensus: 1.0,
            ..Planted::default()
        };
        let folder = tempfile::tempdir().unwrap();
        planted.generate().unwrap().write(folder.path(), true).unwrap();
        Network::open(folder.path()).unwrap()
    }

    /// Vectors with a 1 for the node itself and each of its neighbors.
    fn neighborhoods(network: &Network) -> (Vec<f32>, usize) {
        let nodes = network.nodes().len();
        let mut values = vec![0.0; nodes * nodes];
        for view in network.views() {
            for row in 0..nodes {
                values[row * nodes + row] = 1.0;
                view.adjacency.row(row).0.iter().for_each(|&col| values[row * nodes + col as usize] = 1.0);
            }
        }
        (values, nodes)
    }

    fn run(
        settings: &LinkSettings,
        threads: usize,
        embed: fn(&Network) -> (Vec<f32>, usize),
    ) -> Result<Links> {
        let pool = Pool::new(Some(threads)).unwrap();
        links(&network(), settings, &pool, |network, _| Ok(embed(network)))
    }

    #[test]
    fn common_neighbors_find_hidden_edges_and_constant_vectors_do_not() {
        for score in [LinkScore::Cosine, LinkScore::Dot] {
            let settings = LinkSettings { repeats: 2, score, ..LinkSettings::default() };
            let found = run(&settings, 2, neighborhoods).unwrap();
            assert_eq!(found.views.len(), 2);
            for view in &found.views {
                assert!(
                    view.auc.unwrap().mean > 0.8 && view.average_precision.unwrap().mean > 0.8,
                    "{view:?}"
                );
            }
            let none = run(&settings, 2, |network| (vec![1.0; network.nodes().len()], 1)).unwrap();
            assert!(none.views.iter().all(|view| view.auc.unwrap().mean == 0.5));
            assert_eq!(run(&settings, 1, neighborhoods).unwrap(), found);
        }
    }

    #[test]
    fn scores_are_the_textbook_ones() {
        assert_eq!(LinkScore::Dot.of(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
        assert_eq!(LinkScore::Cosine.of(&[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_eq!(LinkScore::Cosine.of(&[0.0, 0.0], &[6.0, 8.0]), 0.0);
    }

    #[test]
    fn what_cannot_work_gets_a_sentence() {
        for hide in [0.0, 1.0, f64::NAN] {
            let settings = LinkSettings { hide, ..LinkSettings::default() };
            assert!(run(&settings, 1, neighborhoods).unwrap_err().to_string().contains("between 0 and 1"));
        }
        let settings = LinkSettings { repeats: 0, ..LinkSettings::default() };
        assert!(run(&settings, 1, neighborhoods).unwrap_err().to_string().contains("repeats = 0"));
        let text = run(&LinkSettings::default(), 1, |_| (vec![1.0; 6], 2)).unwrap_err().to_string();
        assert!(text.contains("expected 200 x 2 numbers"), "{text}");
    }
}

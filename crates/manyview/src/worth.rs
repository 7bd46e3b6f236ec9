//! What each view of a network is worth: the scores of all views together, of each view alone, and of all but one.
//!
//! Invariant: all subsets of the views are embedded with the same settings and seed and scored on the same splits; a
//! subset that cannot be embedded does not stop the others. The result depends on the network, the labels and the
//! settings, not on the number of threads.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use manyview::generate::Planted;
//! use manyview::worth::{WorthSettings, view_worth};
//! use manyview::{Labels, Mnmf, Model};
//!
//! let planted = Planted { nodes: 60, views: 2, communities: 3, ..Planted::default() }.generate()?;
//! let network = planted.network()?;
//! let labels = Labels::from_sets(network.nodes().iter(), planted.labels.iter().map(|label| [label.to_string()]))?;
//! let model = Model::from(Mnmf { dim: 16, ..Mnmf::default() });
//!
//! let settings = WorthSettings { repeats: 2, ..WorthSettings::default() };
//! let worth = view_worth(&network, &labels, &model, &settings, &mut |_| ControlFlow::Continue(()))?;
//! for view in &worth.views {
//!     println!("{}: micro-F1 falls by {:?} without it", view.view, view.contribution);
//! }
//! # Ok::<(), manyview::Error>(())
//! ```

use std::fmt::{self, Display};
use std::ops::ControlFlow;

use manyview_analysis::evaluate::{
    ClassifySettings, ClusterSettings, Step, Summary, Vectors, classify_watched, cluster_watched,
};
use manyview_base::error::{Error, Result};
use manyview_base::parallel::Pool;
use manyview_core::method::Progress;
use manyview_data::Network;
use manyview_data::embedding::Embedding;
use manyview_data::labels::Labels;
use serde::{Deserialize, Serialize};

use crate::model::{FitOptions, Model};

/// How the views are scored.
#[derive(Clone, Debug, PartialEq)]
pub struct WorthSettings {
    /// The fraction of the labeled nodes to train on.
    pub train: f64,
    /// The number of splits, and of runs of k-means.
    pub repeats: usize,
    /// The random seed of the splits and of k-means.
    pub seed: u64,
    /// Whether to score the network without each view as well.
    pub leave_one_out: bool,
}

impl Default for WorthSettings {
    fn default() -> Self {
        WorthSettings { train: 0.5, repeats: 5, seed: 0, leave_one_out: true }
    }
}

/// What each view of a network is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ViewWorth {
    /// The method.
    pub method: String,
    /// The number of labels.
    pub labels: usize,
    /// The number of nodes that have one.
    pub labeled: usize,
    /// The fraction of the labeled nodes that was trained on.
    pub train: f64,
    /// The number of splits, and of runs of k-means.
    pub repeats: usize,
    /// The random seed of the splits and of k-means.
    pub seed: u64,
    /// The scores of all views together.
    pub all: SubsetScores,
    /// Each view, in the order of the network.
    pub views: Vec<WorthOfView>,
    /// Notes on the labels and splits: sentences without a full stop.
    pub notes: Vec<String>,
}

/// What one view is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorthOfView {
    /// The name of the view.
    pub view: String,
    /// The number of its edges.
    pub edges: usize,
    /// The number of nodes without an edge in it; alone, it has nothing to say about them.
    pub isolated: usize,
    /// The scores of this view alone.
    pub alone: Outcome,
    /// The scores of all other views; `None` if there are no others, or if this was not asked for.
    pub without: Option<Outcome>,
    /// How far the mean micro-F1 of all views falls without this one; below 0 if it rises.
    pub contribution: Option<f64>,
}

/// The scores of some views together, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    /// The scores.
    Scores(SubsetScores),
    /// The views could not be embedded or scored.
    Failed {
        /// The reason.
        failed: String,
    },
}

/// The scores of some views together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubsetScores {
    /// Micro-F1 on the test nodes, over the splits.
    pub micro_f1: Summary,
    /// Macro-F1 on the test nodes, over the splits.
    pub macro_f1: Summary,
    /// Normalized mutual information of k-means with as many clusters as labels, over its runs; `None` if nodes have
    /// several labels.
    pub nmi: Option<Summary>,
    /// The time of the embedding in seconds; `None` if it was given.
    pub seconds: Option<f64>,
}

impl Outcome {
    /// The scores, if there are any.
    pub fn scores(&self) -> Option<&SubsetScores> {
        match self {
            Outcome::Scores(scores) => Some(scores),
            Outcome::Failed { .. } => None,
        }
    }
}

/// The views that are embedded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subset<'a> {
    /// All of them.
    All,
    /// This one.
    Alone(&'a str),
    /// All but this one.
    Without(&'a str),
}

impl Display for Subset<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subset::All => formatter.write_str("all views"),
            Subset::Alone(view) => write!(formatter, "{view} alone"),
            Subset::Without(view) => write!(formatter, "without {view}"),
        }
    }
}

/// What is reported meanwhile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A subset of the views is taken up.
    Started {
        /// The subset.
        subset: Subset<'a>,
        /// Its number, from 1.
        number: usize,
        /// The number of subsets.
        of: usize,
    },
    /// The memory of a fit is being estimated.
    Estimating,
    /// A fit makes progress.
    Fitting(&'a Progress<'a>),
    /// Vectors are being classified.
    Classifying(Step),
    /// Vectors are being clustered.
    Clustering(Step),
    /// A subset has no scores, for this reason.
    Failed(&'a str),
}

/// Receives events on the calling thread; a break ends the work.
pub type Observer<'a> = dyn FnMut(&Event<'_>) -> ControlFlow<()> + 'a;

/// Embeds and scores all views together, each view alone, and all views but one.
///
/// # Errors
/// When a setting is invalid, when the labels have a single class or too few nodes for the splits, when all views together
/// cannot be embedded or scored; [`Error::Interrupted`] when the observer breaks.
pub fn view_worth(
    network: &Network,
    labels: &Labels,
    model: &Model,
    settings: &WorthSettings,
    observer: &mut Observer<'_>,
) -> Result<ViewWorth> {
    worth_of(network, labels, model, settings, None, observer)
}

/// As [`view_worth`], for a network whose views were embedded together already, with the same model.
///
/// # Errors
/// As [`view_worth`].
pub fn view_worth_of(
    embedding: &Embedding,
    network: &Network,
    labels: &Labels,
    model: &Model,
    settings: &WorthSettings,
    observer: &mut Observer<'_>,
) -> Result<ViewWorth> {
    worth_of(network, labels, model, settings, Some(embedding), observer)
}

fn worth_of(
    network: &Network,
    labels: &Labels,
    model: &Model,
    settings: &WorthSettings,
    given: Option<&Embedding>,
    observer: &mut Observer<'_>,
) -> Result<ViewWorth> {
    model.check()?;
    model.check_labels(false)?;
    labels.check_classes("scores need at least two classes")?;
    let WorthSettings { train, repeats, seed, leave_one_out } = *settings;
    let classify = ClassifySettings { train: vec![train], repeats, seed, ..ClassifySettings::default() };
    let notes = classify.label_notes(labels)?;
    let views = network.views();
    // Of two views, the network without one is the other one alone.
    let others = leave_one_out && views.len() > 2;
    let of = match views.len() {
        1 => 1,
        count => 1 + count + if others { count } else { 0 },
    };
    let pool = Pool::new(model.threads)?;
    let mut study = Study { labels, model, classify, pool: &pool, number: 0, of, observer };
    let all = study.scores(network, Subset::All, given)?;
    let mut alone = Vec::new();
    for (at, view) in views.iter().enumerate() {
        alone.push(match views.len() {
            1 => Outcome::Scores(all),
            _ => study.outcome(&network.only(at), Subset::Alone(&view.name))?,
        });
    }
    let mut found = Vec::new();
    for (at, view) in views.iter().enumerate() {
        let without = match views.len() {
            2 if leave_one_out => Some(alone[1 - at].clone()),
            _ if others => Some(study.outcome(&network.without(at), Subset::Without(&view.name))?),
            _ => None,
        };
        let left = without.as_ref().and_then(Outcome::scores).map(|scores| scores.micro_f1.mean);
        found.push(WorthOfView {
            view: view.name.clone(),
            edges: view.edges(),
            isolated: view.isolated(),
            alone: alone[at].clone(),
            without,
            contribution: left.map(|left| all.micro_f1.mean - left),
        });
    }
    Ok(ViewWorth {
        method: model.method().name().into(),
        labels: labels.names().len(),
        labeled: labels.labeled(),
        train,
        repeats,
        seed,
        all,
        views: found,
        notes: notes.iter().map(ToString::to_string).collect(),
    })
}

/// What all subsets have in common.
struct Study<'a, 'o> {
    labels: &'a Labels,
    model: &'a Model,
    classify: ClassifySettings,
    pool: &'a Pool,
    number: usize,
    of: usize,
    observer: &'a mut Observer<'o>,
}

impl Study<'_, '_> {
    /// The scores of a subset, or the reason why there are none.
    fn outcome(&mut self, network: &Network, subset: Subset<'_>) -> Result<Outcome> {
        match self.scores(network, subset, None) {
            Ok(scores) => Ok(Outcome::Scores(scores)),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => {
                let failed = error.to_string();
                self.tell(&Event::Failed(&failed))?;
                Ok(Outcome::Failed { failed })
            }
        }
    }

    fn scores(
        &mut self,
        network: &Network,
        subset: Subset<'_>,
        given: Option<&Embedding>,
    ) -> Result<SubsetScores> {
        self.number += 1;
        self.tell(&Event::Started { subset, number: self.number, of: self.of })?;
        if let Some(embedding) = given {
            return self.measure(embedding, None);
        }
        let observer = &mut *self.observer;
        let (model, _) = self.model.fitted(network, None, &mut |_| observer(&Event::Estimating))?;
        let options = FitOptions::default();
        let fit = model.fit_with(network, &options, &mut |now| observer(&Event::Fitting(now)))?;
        self.measure(&fit.embedding, Some(fit.seconds.total))
    }

    fn measure(&mut self, embedding: &Embedding, seconds: Option<f64>) -> Result<SubsetScores> {
        let Study { labels, pool, classify, .. } = self;
        let vectors = Vectors::try_from(embedding)?;
        let observer = &mut *self.observer;
        let classified = classify_watched(&vectors, labels, classify, pool, &mut |step| {
            observer(&Event::Classifying(step))
        })?;
        let nmi = if labels.is_multi_label() {
            None
        } else {
            let ClassifySettings { repeats, seed, .. } = *classify;
            let cluster = ClusterSettings { repeats, seed, ..ClusterSettings::default() };
            let watch = &mut |step| observer(&Event::Clustering(step));
            Some(cluster_watched(&vectors, labels, &cluster, pool, watch)?.nmi)
        };
        let share = &classified.shares[0];
        Ok(SubsetScores { micro_f1: share.micro_f1, macro_f1: share.macro_f1, nmi, seconds })
    }

    fn tell(&mut self, event: &Event<'_>) -> Result<()> {
        if (self.observer)(event).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_baselines::Metapath2Vec;
    use manyview_data::generate::Planted;

    /// Two views of the same communities and one of none.
    fn planted() -> (Network, Labels) {
        let noise = vec![0.05, 0.05, 1.0];
        let planted =
            Planted { nodes: 90, views: 3, communities: 3, noise, consensus: 1.0, ..Planted::default() };
        let planted = planted.generate().unwrap();
        let network = planted.network().unwrap();
        let names = planted.labels.iter().map(|label| [label.to_string()]);
        let labels = Labels::from_sets(network.nodes().iter(), names).unwrap();
        (network, labels)
    }

    fn model(threads: usize) -> Model {
        let settings = manyview_core::mnmf::Mnmf { dim: 16, ..Default::default() };
        Model { threads: Some(threads), ..Model::from(settings) }
    }

    const FEW: WorthSettings = WorthSettings { train: 0.5, repeats: 2, seed: 0, leave_one_out: true };

    /// The result without times, and what was reported as started.
    fn study(
        network: &Network,
        labels: &Labels,
        model: &Model,
        settings: &WorthSettings,
    ) -> (ViewWorth, Vec<String>) {
        let mut started = Vec::new();
        let mut worth = view_worth(network, labels, model, settings, &mut |event| {
            if let Event::Started { subset, number, of } = event {
                started.push(format!("{number}/{of} {subset}"));
            }
            ControlFlow::Continue(())
        })
        .unwrap();
        worth.all.seconds = None;
        for view in &mut worth.views {
            for outcome in std::iter::once(&mut view.alone).chain(&mut view.without) {
                if let Outcome::Scores(scores) = outcome {
                    scores.seconds = None;
                }
            }
        }
        (worth, started)
    }

    fn micro(outcome: &Outcome) -> f64 {
        outcome.scores().unwrap().micro_f1.mean
    }

    #[test]
    fn a_view_of_noise_is_worth_less_than_the_others() {
        let (network, labels) = planted();
        let (worth, started) = study(&network, &labels, &model(1), &FEW);
        assert_eq!(started.len(), 7);
        assert_eq!((started[0].as_str(), started[6].as_str()), ("1/7 all views", "7/7 without view3"));
        assert_eq!(worth, study(&network, &labels, &model(2), &FEW).0, "for any number of threads");
        let [first, second, noise] = &worth.views[..] else { panic!("three views") };
        assert!(micro(&noise.alone) + 0.2 < micro(&first.alone).min(micro(&second.alone)), "{worth:?}");
        assert!(micro(noise.without.as_ref().unwrap()) > 0.9, "{worth:?}");
        for view in &worth.views {
            let left = micro(view.without.as_ref().unwrap());
            assert_eq!(view.contribution, Some(worth.all.micro_f1.mean - left));
        }
        let text = serde_json::to_string(&worth).unwrap();
        assert_eq!(serde_json::from_str::<ViewWorth>(&text).unwrap(), worth);
    }

    #[test]
    fn of_two_views_each_is_the_network_without_the_other() {
        let (network, labels) = planted();
        let two = network.without(2);
        let (worth, started) = study(&two, &labels, &model(1), &FEW);
        assert_eq!(started, ["1/3 all views", "2/3 view1 alone", "3/3 view2 alone"]);
        assert_eq!(worth.views[0].without.as_ref(), Some(&worth.views[1].alone));
        let alone = WorthSettings { leave_one_out: false, ..FEW };
        let (worth, _) = study(&two, &labels, &model(1), &alone);
        assert!(worth.views.iter().all(|view| view.without.is_none() && view.contribution.is_none()));
    }

    #[test]
    fn one_view_is_all_views() {
        let (network, labels) = planted();
        let one = network.only(0);
        let given = model(1).fit(&one).unwrap().embedding;
        let (expected, started) = study(&one, &labels, &model(1), &FEW);
        assert_eq!(started, ["1/1 all views"]);
        assert_eq!(expected.views[0].alone, Outcome::Scores(expected.all));
        let go_on = &mut |event: &Event<'_>| {
            assert!(!matches!(event, Event::Fitting(_)), "it is embedded already");
            ControlFlow::Continue(())
        };
        let found = view_worth_of(&given, &one, &labels, &model(1), &FEW, go_on).unwrap();
        assert_eq!(found, expected);
    }

    /// A path through two views cannot be walked in one of them.
    #[test]
    fn a_subset_that_fails_does_not_stop_the_others() {
        let (network, labels) = planted();
        let metapath = Some(vec!["view1".to_owned(), "view2".into()]);
        let model = Model::from(Metapath2Vec { metapath, dim: 8, ..Metapath2Vec::default() });
        let (worth, started) = study(&network, &labels, &model, &FEW);
        assert_eq!(started.len(), 7);
        for view in &worth.views {
            assert!(
                matches!(&view.alone, Outcome::Failed { failed } if failed.contains("is not a view")),
                "{worth:?}"
            );
            let complete = view.view == "view3";
            assert_eq!(view.without.as_ref().unwrap().scores().is_some(), complete, "{}", view.view);
            assert_eq!(view.contribution.is_some(), complete);
        }
    }

    #[test]
    fn what_cannot_be_scored_gets_a_sentence_and_a_break_ends_it() {
        let (network, labels) = planted();
        let same = Labels::from_sets(network.nodes().iter(), (0..90).map(|_| ["x"])).unwrap();
        let mut go_on = |_: &Event<'_>| ControlFlow::Continue(());
        let told = view_worth(&network, &same, &model(1), &FEW, &mut go_on).unwrap_err().to_string();
        assert!(told.contains("scores need at least two classes"), "{told}");
        let none = WorthSettings { repeats: 0, ..FEW };
        let told = view_worth(&network, &labels, &model(1), &none, &mut go_on).unwrap_err().to_string();
        assert!(told.starts_with("repeats = 0 must be at least 1"), "{told}");
        let mut stop = |event: &Event<'_>| match event {
            Event::Started { number: 3, .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let error = view_worth(&network, &labels, &model(1), &FEW, &mut stop).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }
}

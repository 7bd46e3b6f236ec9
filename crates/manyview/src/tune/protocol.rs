//! How candidates are scored, and how the best of each search is tested.
//!
//! With labels, some labeled nodes are for tuning: in each round, half of them train a classifier and the other half validate
//! it. The final table trains and tests on the other labeled nodes. Without labels, edges are hidden: one half scores
//! candidates, the other half is for the final table.
//!
//! Invariant: what the final table is computed from (labels of nodes, hidden edges) has no influence on any score, and so on
//! no choice.

use manyview_analysis::evaluate::{
    ClassifyRun, ClassifySettings, Hidden, LinkScore, LinkSettings, Pair, ShareScores, Step, Summary,
    Vectors, Watch, classify_watched,
};
use manyview_base::error::{Error, Result};
use manyview_base::message::option_value;
use manyview_base::parallel::Pool;
use manyview_data::Network;
use manyview_data::labels::Labels;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::settings::TuneSettings;

/// Separates the choice of the tuning nodes from the splits of the final table, whose repeats count from 0.
const TUNING: usize = usize::MAX;

/// Single labels of fewer nodes cannot be trained on, validated and tested.
const LEAST_NODES: usize = 4;

/// How scores are computed.
pub(super) enum Protocol<'a> {
    Labels(Box<ByLabels<'a>>),
    Links(Box<ByLinks>),
}

pub(super) struct ByLabels<'a> {
    network: &'a Network,
    /// Of the tuning nodes.
    tuning: Labels,
    /// Of all others.
    rest: Labels,
    validated: ClassifySettings,
    tested: ClassifySettings,
}

pub(super) struct ByLinks {
    hidden: Hidden,
    score: LinkScore,
}

/// A column of the final table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestScore {
    /// The training fraction; `None` without labels.
    pub train: Option<f64>,
    /// The mean of micro-F1 and macro-F1 over the splits; without labels, the mean AUC of the views.
    pub score: Summary,
    /// Micro-F1 over the splits, with labels.
    pub micro_f1: Option<Summary>,
    /// Macro-F1 over the splits, with labels.
    pub macro_f1: Option<Summary>,
}

impl<'a> Protocol<'a> {
    /// # Errors
    /// When there are too few labels, or no edge can be hidden.
    pub(super) fn new(
        network: &'a Network,
        labels: Option<&Labels>,
        settings: &TuneSettings,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        match labels {
            Some(labels) => {
                ByLabels::new(network, labels, settings, notes).map(|found| Protocol::Labels(Box::new(found)))
            }
            None => {
                let links = settings.links();
                let hidden = links.hide(network, 0)?;
                if hidden.views.iter().all(|view| view.edges.len() < 2 || view.non_edges.len() < 2) {
                    return Err(Error::network(format!(
                        "{} of the edges are too few to score candidates; hide more, or give labels",
                        option_value("hide", links.hide)
                    )));
                }
                notes.push(UNLABELED.into());
                Ok(Protocol::Links(Box::new(ByLinks { hidden, score: links.score })))
            }
        }
    }

    /// The network that candidates are fitted on.
    pub(super) fn network(&self) -> &Network {
        match self {
            Protocol::Labels(labels) => labels.network,
            Protocol::Links(links) => &links.hidden.network,
        }
    }

    /// What scores follow from besides the network and the settings of a candidate.
    pub(super) fn identity(&self, settings: &TuneSettings) -> Value {
        match self {
            Protocol::Labels(labels) => json!({
                "tuning": format!("{:016x}", labels.tuning.fingerprint()),
                "rest": format!("{:016x}", labels.rest.fingerprint()),
                "validated": labels.validated,
                "tested": labels.tested,
            }),
            Protocol::Links(_) => {
                let LinkSettings { hide, seed, score, .. } = settings.links();
                json!({"hide": hide, "seed": seed, "score": score.name()})
            }
        }
    }

    /// The numbers of tuning nodes and of the other labeled nodes, or of hidden edges of either kind.
    pub(super) fn sizes(&self) -> (usize, usize) {
        match self {
            Protocol::Labels(labels) => (labels.tuning.labeled(), labels.rest.labeled()),
            Protocol::Links(links) => {
                let halves = links.hidden.views.iter().map(|view| halves(&view.edges));
                halves.fold((0, 0), |(a, b), (first, second)| (a + first.len(), b + second.len()))
            }
        }
    }

    /// The scores of vectors, one per round or view. Their mean is the score.
    pub(super) fn score(
        &self,
        vectors: &Vectors<'_>,
        pool: &Pool,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<f64>> {
        match self {
            Protocol::Labels(labels) => {
                let found = classify_watched(vectors, &labels.tuning, &labels.validated, pool, watch)?;
                Ok(found.shares[0].runs.iter().map(both).collect())
            }
            Protocol::Links(links) => links.aucs(vectors, pool, true, watch),
        }
    }

    /// The columns of the final table.
    pub(super) fn test(
        &self,
        vectors: &Vectors<'_>,
        pool: &Pool,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<TestScore>> {
        match self {
            Protocol::Labels(labels) => {
                let found = classify_watched(vectors, &labels.rest, &labels.tested, pool, watch)?;
                let column = |share: &ShareScores| TestScore {
                    train: Some(share.train),
                    score: Summary::of(share.runs.iter().map(both)),
                    micro_f1: Some(share.micro_f1),
                    macro_f1: Some(share.macro_f1),
                };
                Ok(found.shares.iter().map(column).collect())
            }
            Protocol::Links(links) => {
                let aucs = links.aucs(vectors, pool, false, watch)?;
                let mean = Summary { std: None, ..Summary::of(aucs.into_iter()) };
                Ok(vec![TestScore { train: None, score: mean, micro_f1: None, macro_f1: None }])
            }
        }
    }
}

/// What a score without labels is worth.
const UNLABELED: &str = "without labels, candidates are scored by hidden edges, which favors plans of few, wide stages, also on \
networks where they are worse for classification; with labels of some nodes the choice is better";

/// The mean of the two scores of a split.
fn both(run: &ClassifyRun) -> f64 {
    0.5 * (run.f1.micro_f1 + run.f1.macro_f1)
}

impl<'a> ByLabels<'a> {
    fn new(
        network: &'a Network,
        labels: &Labels,
        settings: &TuneSettings,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        labels.check_classes("tuning needs at least two classes")?;
        let labels = &large_classes(network, labels, notes)?;
        let share = 2.0 * settings.validation;
        let (nodes, classes) = (labels.labeled(), labels.names().len());
        let in_round = (settings.validation * nodes as f64).floor() as usize;
        let needed = if labels.is_multi_label() { 2 } else { classes.max(2) };
        let too_few = || {
            let validation = option_value("validation", settings.validation);
            Error::network(format!(
                "too few labeled nodes: {validation} of {nodes} gives {in_round} nodes to validate on, and {classes} \
                 classes need at least {needed}; choose a larger fraction, or label more nodes"
            ))
        };
        if in_round < needed {
            return Err(too_few());
        }
        let split = labels.split(share, settings.model.seed, TUNING)?;
        let of_rows = |rows: &[u32]| only_rows(network, labels, |row| rows.binary_search(&row).is_ok());
        let (tuning, rest) = (of_rows(&split.train)?, of_rows(&split.test)?);
        let (validated, tested) = (settings.validated(), settings.tested());
        // The other labels have to allow the splits of the final table, before the first fit.
        validated.label_notes(&tuning).map_err(|_| too_few())?;
        let found = tested.label_notes(&rest)?;
        notes.extend(found.iter().map(ToString::to_string));
        Ok(ByLabels { network, tuning, rest, validated, tested })
    }
}

/// The labels without classes that are too small; nodes with several labels keep all.
fn large_classes(network: &Network, labels: &Labels, notes: &mut Vec<String>) -> Result<Labels> {
    if labels.is_multi_label() {
        return Ok(labels.clone());
    }
    let counts = labels.counts();
    let small: Vec<&str> =
        counts.iter().filter(|count| count.nodes < LEAST_NODES).map(|count| count.label.as_str()).collect();
    let [first, ..] = small[..] else { return Ok(labels.clone()) };
    let names = if small.len() == 1 {
        format!("class {first:?} has")
    } else {
        format!("class {first:?} and {} others have", small.len() - 1)
    };
    notes.push(format!("{names} fewer than {LEAST_NODES} nodes, which are left out"));
    let left = only_rows(network, labels, |row| counts[labels.only(row) as usize].nodes >= LEAST_NODES)?;
    left.check_classes("tuning needs at least two classes")?;
    Ok(left)
}

/// The labels of some of the labeled rows, with the names that occur there: a split knows no classes without nodes.
fn only_rows(network: &Network, labels: &Labels, keep: impl Fn(u32) -> bool) -> Result<Labels> {
    let of = |row: usize| {
        let given = labels.of(row);
        let kept = !given.is_empty() && keep(row as u32);
        given.iter().filter(move |_| kept).map(|&label| labels.names()[label as usize].as_str())
    };
    Labels::from_sets(network.nodes().iter(), (0..labels.rows()).map(of))
}

/// The first and the second half; their order is random.
fn halves(pairs: &[Pair]) -> (&[Pair], &[Pair]) {
    pairs.split_at(pairs.len().div_ceil(2))
}

impl ByLinks {
    /// The AUC of one half of the hidden edges of each view that has some.
    fn aucs(
        &self,
        vectors: &Vectors<'_>,
        pool: &Pool,
        first: bool,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<f64>> {
        let total = self.hidden.views.len();
        let mut found = Vec::with_capacity(total);
        for (done, view) in self.hidden.views.iter().enumerate() {
            if watch(Step::new(done, total)).is_break() {
                return Err(Error::Interrupted);
            }
            let half = |pairs| if first { halves(pairs).0 } else { halves(pairs).1 };
            let (edges, others) = (half(&view.edges), half(&view.non_edges));
            found.extend(pool.run(|| self.score.auc(vectors, edges, others)));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use manyview_data::generate::Planted;

    use super::*;

    fn planted(nodes: usize) -> (Network, Labels) {
        let planted = Planted { nodes, views: 2, communities: 3, ..Planted::default() }.generate().unwrap();
        let network = planted.network().unwrap();
        let labels = planted.labels.iter().map(|label| [label.to_string()]);
        let labels = Labels::from_sets(network.nodes().iter(), labels).unwrap();
        (network, labels)
    }

    #[test]
    fn no_node_is_both_tuned_on_and_in_the_final_table() {
        let (network, labels) = planted(200);
        let mut notes = Vec::new();
        let settings = TuneSettings::default();
        let Ok(Protocol::Labels(found)) = Protocol::new(&network, Some(&labels), &settings, &mut notes)
        else {
            panic!("there are labels")
        };
        let (tuning, rest) = (found.tuning.labeled_rows(), found.rest.labeled_rows());
        assert_eq!((tuning.len(), rest.len()), (40, 160));
        assert!(tuning.iter().all(|row| rest.binary_search(row).is_err()));
        assert!(notes.is_empty(), "{notes:?}");
        // Every round validates on a tenth of all nodes.
        let split = found.tuning.split(0.5, 0, 3).unwrap();
        assert_eq!((split.train.len(), split.test.len()), (20, 20));
    }

    /// Changing every label outside of the tuning nodes changes no score.
    #[test]
    fn scores_do_not_depend_on_the_other_labels() {
        let (network, labels) = planted(200);
        let settings = TuneSettings::default();
        let protocol = || Protocol::new(&network, Some(&labels), &settings, &mut Vec::new()).unwrap();
        let values: Vec<f32> = (0..400).map(|at| ((at * 7919) % 101) as f32).collect();
        let vectors = Vectors::new(&values, 200, 2).unwrap();
        let pool = Pool::new(Some(1)).unwrap();
        let mut watch = |_: Step| ControlFlow::Continue(());
        let before = protocol().score(&vectors, &pool, &mut watch).unwrap();
        let mut other = protocol();
        if let Protocol::Labels(found) = &mut other {
            found.rest = found.tuning.clone();
        }
        let after = other.score(&vectors, &pool, &mut watch).unwrap();
        assert_eq!((before.len(), before), (10, after));
    }

    #[test]
    fn small_classes_are_left_out_and_few_nodes_are_refused() {
        let (network, labels) = planted(60);
        let name =
            |row: usize| if row < 2 { "rare" } else { labels.names()[labels.of(row)[0] as usize].as_str() };
        let rare = Labels::from_sets(network.nodes().iter(), (0..60).map(|row| [name(row)])).unwrap();
        let mut notes = Vec::new();
        let settings = TuneSettings { validation: 0.2, ..TuneSettings::default() };
        let found = Protocol::new(&network, Some(&rare), &settings, &mut notes).unwrap();
        assert_eq!(found.sizes().0 + found.sizes().1, 58);
        assert_eq!(notes, ["class \"rare\" has fewer than 4 nodes, which are left out"]);
        let settings = TuneSettings { validation: 0.03, ..TuneSettings::default() };
        let told = Protocol::new(&network, Some(&labels), &settings, &mut notes).err().unwrap().to_string();
        assert!(told.starts_with("too few labeled nodes: validation = 0.03 of 60 gives 1 nodes"), "{told}");
    }

    #[test]
    fn hidden_edges_are_scored_or_tested_but_never_both() {
        let (network, _) = planted(100);
        let mut notes = Vec::new();
        let found = Protocol::new(&network, None, &TuneSettings::default(), &mut notes).unwrap();
        let Protocol::Links(links) = &found else { panic!("there are no labels") };
        for view in &links.hidden.views {
            let (first, second) = halves(&view.edges);
            assert!(!second.is_empty() && first.iter().all(|pair| !second.contains(pair)));
        }
        assert!(notes[0].contains("favors plans of few, wide stages"));
        assert!(found.network().views()[0].edges() < network.views()[0].edges());
    }
}

//! Whole searches on a small planted network.

use std::cell::Cell;
use std::ops::ControlFlow;

use manyview_core::method::Progress;
use manyview_core::mnmf::Mnmf;
use manyview_core::preset::Preset;
use manyview_data::Network;
use manyview_data::generate::Planted;
use manyview_data::labels::Labels;
use serde_json::Value;

use super::*;
use crate::model::Model;

fn planted() -> (Network, Labels) {
    let planted = Planted { nodes: 150, views: 2, communities: 3, noise: vec![0.3], ..Planted::default() };
    let planted = planted.generate().unwrap();
    let network = planted.network().unwrap();
    let labels = planted.labels.iter().map(|label| [label.to_string()]);
    let labels = Labels::from_sets(network.nodes().iter(), labels).unwrap();
    (network, labels)
}

/// Consensus stages first, with the same number of columns per stage.
fn mnmf() -> Mnmf {
    let Mnmf { proximity, solver, init, .. } = Mnmf::default();
    Mnmf { dim: 24, stages: 4, proximity, solver, init, ..Mnmf::preset(Preset::Paper) }
}

fn settings(searches: &[Search], over: &[&str]) -> TuneSettings {
    TuneSettings {
        model: Model::from(mnmf()),
        searches: searches.to_vec(),
        over: Over::parse(over).unwrap(),
        validation_rounds: 4,
        repeats: 2,
        trials: 6,
        ..TuneSettings::default()
    }
}

fn run(settings: &TuneSettings, labeled: bool, options: &TuneOptions<'_>) -> Result<Tuning> {
    let (network, labels) = planted();
    tune(&network, labeled.then_some(&labels), settings, options, &mut |_| ControlFlow::Continue(()))
}

/// The record without times.
fn record(tuning: &Tuning) -> Value {
    let (network, _) = planted();
    let mut text = Vec::new();
    TuneRecord::new(tuning, &network, "test").write_to(&mut text).unwrap();
    let mut record: Value = serde_json::from_slice(&text).unwrap();
    for list in ["searches", "candidates"] {
        for entry in record[list].as_array_mut().unwrap() {
            entry["seconds"] = Value::Null;
        }
    }
    record
}

#[test]
fn all_searches_select_what_scores_best() {
    let tuning =
        run(&settings(&Search::ALL, &["stages", "consensus-stages"]), true, &TuneOptions::default()).unwrap();
    let titles: Vec<&str> = tuning.searches.iter().map(SearchResult::title).collect();
    assert_eq!(titles, ["baseline", "grid search", "Bayesian search", "early stopping"]);
    for result in &tuning.searches {
        let winner = result.winner();
        let whole = result.trials.iter().filter(|trial| trial.ending() == Ending::Whole);
        assert!(whole.clone().all(|trial| trial.score <= winner.score), "{}", result.title());
        let test = winner.measured.test.as_ref().unwrap();
        assert_eq!(test.iter().map(|column| column.train.unwrap()).collect::<Vec<_>>(), [0.3, 0.5, 0.7]);
        assert!(tuning.best().score >= winner.score);
    }
    assert_eq!(tuning.searches[2].trials.len(), 6);
    assert_eq!(tuning.sizes, (30, 120));
    let grid = &tuning.searches[1];
    assert!(grid.left_out > 0, "24 columns are too few for 16 stages of two views");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let mut all = settings(&Search::ALL, &["stages=2,4,8", "negative=1,5"]);
    all.model.threads = Some(1);
    let one = record(&run(&all, true, &TuneOptions::default()).unwrap());
    all.model.threads = Some(3);
    assert_eq!(record(&run(&all, true, &TuneOptions::default()).unwrap()), one);
}

#[test]
fn early_stopping_ends_when_the_score_falls() {
    let stopping = settings(&[Search::EarlyStopping], &[]);
    let tuning = run(&stopping, true, &TuneOptions::default()).unwrap();
    let found = &tuning.searches[1];
    let scores: Vec<f64> = found.stages.iter().map(|stage| stage.score).collect();
    let last = scores.len() - 1;
    assert!(scores[last] < scores[last - 1], "{scores:?}");
    assert!(scores[1..last].windows(2).all(|pair| pair[0] <= pair[1]), "{scores:?}");
    let errors: Vec<f64> = found.stages.iter().map(|stage| stage.error).collect();
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
    // The score is that of the settings it selects, which have as many columns per stage as the plan.
    let winner = found.winner();
    let stages = winner.candidate.mnmf().stages;
    assert_eq!(winner.candidate.mnmf().dim, 6 * stages);
    assert!((winner.score.unwrap() - found.stages[stages - 1].score).abs() < 1e-12);
    let patient = TuneSettings { patience: 3, ..stopping };
    let longer = run(&patient, true, &TuneOptions::default()).unwrap();
    assert!(longer.searches[1].stages.len() > scores.len());
    assert!(longer.searches[1].winner().score >= winner.score);
}

/// Counts the iterations that are computed: those of stages that an earlier candidate had are not.
fn iterations(settings: &TuneSettings, options: &TuneOptions<'_>) -> (usize, usize) {
    let (network, labels) = planted();
    let (mut iterations, mut proximities) = (0, 0);
    let within = Cell::new(false);
    tune(&network, Some(&labels), settings, options, &mut |event| {
        match event {
            Event::Fitting(Progress::Iteration { .. }) => iterations += 1,
            Event::Fitting(Progress::Working { doing: "proximity", .. }) => {
                proximities += usize::from(!within.replace(true));
                return ControlFlow::Continue(());
            }
            _ => {}
        }
        within.set(false);
        ControlFlow::Continue(())
    })
    .unwrap();
    (iterations, proximities)
}

#[test]
fn candidates_share_proximities_and_stages() {
    // Three consensus stages and one unique stage; of the others, the consensus stages are known.
    let base = |over: &[&str]| TuneSettings { cut: false, ..settings(&[Search::Grid], over) };
    let none = TuneOptions::default();
    let alone = |consensus: usize| {
        let given = Mnmf { consensus_stages: Some(consensus), ..mnmf() };
        let fit = given.fit(&planted().0).unwrap();
        let of = |from: usize| -> usize {
            fit.stages.iter().filter(|record| record.stage > from).map(|record| record.iterations).sum()
        };
        (of(0), of(1), of(2), of(3))
    };
    let (shared, proximities) = iterations(&base(&["consensus-stages=1,2,3,4"]), &none);
    // The settings as given have one consensus stage.
    assert_eq!(shared, alone(1).0 + alone(2).1 + alone(3).2 + alone(4).3);
    assert_eq!(proximities, 1);
    let (_, proximities) = iterations(&base(&["consensus-stages=1,2", "window=3,5", "negative=1"]), &none);
    assert!(
        proximities <= 4,
        "the settings as given, one for each window, and the final test: {proximities}"
    );
}

#[test]
fn finished_candidates_are_not_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = TuneOptions { folder: Some(folder.path()), ..TuneOptions::default() };
    let all = settings(&Search::ALL, &["stages=2,4,8"]);
    let (network, labels) = planted();
    // Interrupted in the middle.
    let mut kept = 0;
    let stopped = tune(&network, Some(&labels), &all, &options, &mut |event| {
        kept += usize::from(matches!(event, Event::Kept));
        if kept == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
    let whole = record(&run(&all, true, &TuneOptions::default()).unwrap());
    assert_eq!(record(&run(&all, true, &options).unwrap()), whole, "as if it had not been interrupted");
    assert_eq!(iterations(&all, &options), (0, 0));
    assert_eq!(record(&run(&all, true, &options).unwrap()), whole);
    // What was scored otherwise is scored again.
    let other = TuneSettings { validation_rounds: 5, ..all.clone() };
    assert!(iterations(&other, &options).0 > 0);
    let again = TuneOptions { overwrite: true, ..options };
    assert!(iterations(&all, &again).0 > 0, "started over");
}

#[test]
fn candidates_that_are_behind_are_cut_off_and_the_winner_is_not() {
    let cut = settings(&[Search::Grid], &["stages=4,8", "negative=1,2,5,20", "window=1,2,5,10"]);
    let cut_off = run(&cut, true, &TuneOptions::default()).unwrap();
    let whole = run(&TuneSettings { cut: false, ..cut }, true, &TuneOptions::default()).unwrap();
    let (cut_off, whole) = (&cut_off.searches[1], &whole.searches[1]);
    let count =
        |result: &SearchResult| result.trials.iter().filter(|trial| trial.ending() == Ending::Cut).count();
    assert!(count(cut_off) > 0);
    assert_eq!(count(whole), 0);
    assert_eq!(cut_off.winner().name, whole.winner().name);
    for trial in cut_off.trials.iter().filter(|trial| trial.ending() == Ending::Cut) {
        assert_eq!(
            trial.cut_after,
            Some(trial.candidate.mnmf().stages / 2),
            "one kind is a quarter of the stages"
        );
    }
}

#[test]
fn without_labels_hidden_edges_score() {
    let tuning = run(&settings(&[Search::Grid], &["stages=2,4"]), false, &TuneOptions::default()).unwrap();
    assert!(tuning.notes[0].contains("few, wide stages"));
    let winner = tuning.best();
    assert!((0.5..=1.0).contains(&winner.score.unwrap()), "{:?}", winner.score);
    let test = winner.measured.test.as_ref().unwrap();
    assert_eq!((test.len(), test[0].train), (1, None));
    assert_eq!(winner.measured.stages[0].rounds.len(), 2, "one per view");
}

#[test]
fn what_cannot_work_is_said_before_the_first_fit() {
    let (network, labels) = planted();
    let told = |settings: &TuneSettings| {
        let found = tune(&network, Some(&labels), settings, &TuneOptions::default(), &mut |event| {
            assert!(!matches!(event, Event::Started { .. }));
            ControlFlow::Continue(())
        });
        found.unwrap_err().to_string()
    };
    assert!(told(&settings(&[Search::Grid], &["stages=4"])).starts_with("nothing to search"));
    let few = TuneSettings { validation: 0.01, ..settings(&[Search::Grid], &[]) };
    assert!(told(&few).starts_with("too few labeled nodes"));
}

#[test]
fn other_results_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let options = TuneOptions { folder: Some(folder.path()), ..TuneOptions::default() };
    std::fs::write(folder.path().join("best.toml"), "mine").unwrap();
    let all = settings(&[Search::Grid], &["stages=2,4"]);
    let told = run(&all, true, &options).unwrap_err().to_string();
    assert!(told.contains("already exists and is not from tuning on this network; pass force"), "{told}");
    run(&all, true, &TuneOptions { overwrite: true, ..options }).unwrap();
}

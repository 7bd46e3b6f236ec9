//! Whole comparisons of small planted networks, with and without a folder.

use std::fs;
use std::ops::ControlFlow;

use manyview_analysis::evaluate::Cost;
use manyview_data::generate::Planted;

use super::*;
use crate::model::Method;

fn planted(seed: u64) -> (Network, Labels) {
    let planted =
        Planted { nodes: 60, views: 2, communities: 3, seed, ..Planted::default() }.generate().unwrap();
    let network = planted.network().unwrap();
    let sets = planted.labels.iter().map(|label| [label.to_string()]);
    let labels = Labels::from_sets(network.nodes().iter(), sets).unwrap();
    (network, labels)
}

fn settings() -> CompareSettings {
    CompareSettings {
        methods: vec![Method::Mnmf, Method::NetMf, Method::NetMfSum],
        dim: 16,
        train: vec![0.5, 0.3, 0.5],
        repeats: 2,
        c: vec![Cost::Fixed(1.0)],
        ..CompareSettings::default()
    }
}

/// A comparison, and what was reused for each job.
fn run(
    network: &Network,
    labels: &Labels,
    settings: &CompareSettings,
    folder: Option<&Path>,
) -> Result<(Comparison, Vec<Reused>)> {
    let mut started = Vec::new();
    let found = compare(network, labels, settings, folder, &mut |event| {
        if let Event::Started { job, reused } = event {
            started.push(*reused);
            assert_eq!((job.number, job.of), (started.len(), 4));
        }
        ControlFlow::Continue(())
    })?;
    Ok((found, started))
}

#[test]
fn with_and_without_a_folder_the_tables_are_the_same() {
    let (network, labels) = planted(0);
    let (alone, started) = run(&network, &labels, &settings(), None).unwrap();
    assert_eq!(started, [Reused::Nothing; 4]);
    assert!(alone.maps().is_empty());
    let names: Vec<&str> = alone.tables[0].lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["netmf, best view", "netmf, chosen view", "netmf-sum", "mnmf"]);
    assert_eq!(
        alone.tables[0].columns,
        ["micro-F1 0.5", "micro-F1 0.3", "macro-F1 0.5", "macro-F1 0.3"],
        "each fraction once"
    );

    let place = tempfile::tempdir().unwrap();
    let folder = Some(place.path());
    let (first, started) = run(&network, &labels, &settings(), folder).unwrap();
    assert_eq!(started, [Reused::Nothing; 4]);
    assert_eq!(first.tables, alone.tables);
    let (second, started) = run(&network, &labels, &settings(), folder).unwrap();
    assert_eq!(started, [Reused::Scores; 4]);
    assert_eq!(second.tables, alone.tables);

    let more = CompareSettings { repeats: 3, threads: Some(1), ..settings() };
    let (_, started) = run(&network, &labels, &more, folder).unwrap();
    assert_eq!(started, [Reused::Embedding; 4], "other scores of the same vectors");
}

#[test]
fn maps_are_drawn_once() {
    let (network, labels) = planted(0);
    let place = tempfile::tempdir().unwrap();
    let (found, _) = run(&network, &labels, &settings(), Some(place.path())).unwrap();
    let titles: Vec<&str> = found.maps().iter().map(|map| map.title.as_str()).collect();
    assert_eq!((titles.len(), &titles[1..]), (3, &["netmf-sum", "mnmf"][..]));
    assert!(titles[0].starts_with("netmf, view"), "{titles:?}");
    let pool = Pool::new(None).unwrap();
    let map = &found.maps()[2];
    let drawn = map.coordinates(&pool, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(drawn.len(), 60);
    let read = map.coordinates(&pool, &mut |_| panic!("it is in the folder")).unwrap();
    assert_eq!(read, drawn);
}

#[test]
fn results_of_another_network_are_not_replaced() {
    let ((network, labels), (other, other_labels)) = (planted(0), planted(5));
    let place = tempfile::tempdir().unwrap();
    run(&network, &labels, &settings(), Some(place.path())).unwrap();
    let vectors = fs::read(place.path().join("mnmf/embedding.npy")).unwrap();
    let refused = run(&other, &other_labels, &settings(), Some(place.path())).unwrap_err().to_string();
    assert!(
        refused.contains("already exists and is not from a comparison of this network; pass force"),
        "{refused}"
    );
    assert!(fs::read(place.path().join("mnmf/embedding.npy")).unwrap() == vectors);
    let options = CompareOptions { folder: Some(place.path()), overwrite: true, ..CompareOptions::default() };
    compare_with(&other, &other_labels, &settings(), &options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(fs::read(place.path().join("mnmf/embedding.npy")).unwrap() != vectors);
}

/// Every break ends the comparison, and what was finished before is kept.
#[test]
fn the_observer_stops_at_any_event() {
    let (network, labels) = planted(0);
    let (alone, _) = run(&network, &labels, &settings(), None).unwrap();
    for limit in [1, 2, 7, 20, 50] {
        let place = tempfile::tempdir().unwrap();
        let (mut events, mut kept) = (0, 0);
        let stopped = compare(&network, &labels, &settings(), Some(place.path()), &mut |event| {
            events += 1;
            kept += usize::from(matches!(event, Event::Kept));
            if events < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert!(matches!(stopped, Err(Error::Interrupted)), "{limit}");
        let (whole, started) = run(&network, &labels, &settings(), Some(place.path())).unwrap();
        assert_eq!(started.iter().filter(|&&reused| reused != Reused::Nothing).count(), kept, "{limit}");
        assert_eq!(whole.tables, alone.tables);
    }
}

#[test]
fn a_failure_is_recorded_and_stops_no_other() {
    let (network, labels) = planted(0);
    // Netmf-concat needs at least one column per view.
    let methods = vec![Method::NetMfConcat, Method::NetMfSum];
    let settings = CompareSettings { methods, dim: 1, ..settings() };
    let mut failed = Vec::new();
    let found = compare(&network, &labels, &settings, None, &mut |event| {
        if let Event::Failed { job, message } = event {
            failed.push(format!("{job}: {message}"));
        }
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    assert_eq!(failed.len(), 1);
    assert!(failed[0].starts_with("netmf-concat (2 of 2): "), "{failed:?}");
    let failures: Vec<usize> = found.rows.iter().map(|row| row.failures.len()).collect();
    assert_eq!(failures, [0, 1]);
    assert_eq!(found.tables[0].lines[1].failed.as_ref(), Some(&found.rows[1].failures[0]));
}

#[test]
fn the_record_names_the_network_and_every_row() {
    let (network, labels) = planted(0);
    let (found, _) = run(&network, &labels, &settings(), None).unwrap();
    let mut text = Vec::new();
    CompareRecord::new(&found, &network, &labels, "a test").write_to(&mut text).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(record["network"], format!("{:016x}", network.fingerprint()));
    assert_eq!((&record["command"], &record["nodes"]), (&"a test".into(), &60.into()));
    assert_eq!(record["methods"][0]["name"], "netmf");
    assert_eq!(record["methods"][0]["section"], "single view");
    assert_eq!(record["methods"][0]["candidates"][1]["name"], "view2");
    assert_eq!(record["methods"][2]["candidates"][0]["nmi"].as_array().unwrap().len(), 2);
    assert_eq!(record["tables"][0]["lines"][3]["section"], "ours");
}

#[test]
fn bad_labels_are_refused_before_any_job() {
    let (network, _) = planted(0);
    let ids: Vec<&str> = network.nodes().iter().collect();
    let same = Labels::from_sets(&ids, ids.iter().map(|_| ["x"])).unwrap();
    let told = |labels: &Labels| run(&network, labels, &settings(), None).unwrap_err().to_string();
    assert_eq!(
        told(&same),
        "all 60 labeled nodes have the label \"x\"; a comparison needs at least two classes"
    );
    let fewer = Labels::from_sets(&ids[..4], [["x"], ["y"], ["x"], ["y"]]).unwrap();
    assert!(told(&fewer).starts_with("the network has 60 nodes but there are labels for 4"));
}

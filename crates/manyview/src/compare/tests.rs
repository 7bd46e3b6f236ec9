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

/// Scores that are damaged, but still JSON, made the tables panic.
#[test]
fn scores_that_do_not_fit_the_settings_are_measured_again() {
    let (network, labels) = planted(0);
    let place = tempfile::tempdir().unwrap();
    let folder = Some(place.path());
    let (whole, _) = run(&network, &labels, &settings(), folder).unwrap();
    let file = place.path().join("mnmf/scores.json");
    let text = fs::read(&file).unwrap();
    type Harm = fn(&mut serde_json::Value);
    let harms: [(&str, Harm); 8] = [
        ("no C", |scores| scores["classify"] = serde_json::json!([])),
        ("another C", |scores| scores["classify"][0]["c"] = "7".into()),
        ("no fractions", |scores| scores["classify"][0]["shares"] = serde_json::json!([])),
        ("another fraction", |scores| scores["classify"][0]["shares"][0]["train"] = 0.9.into()),
        ("a repeat less", |scores| {
            scores["classify"][0]["shares"][1]["micro_f1"].as_array_mut().unwrap().truncate(1);
        }),
        ("a score above 1", |scores| scores["nmi"][0] = 3.into()),
        ("a time below 0", |scores| scores["seconds"] = (-1).into()),
        ("control characters", |scores| scores["notes"] = serde_json::json!(["\u{1b}[2J"])),
    ];
    for (what, harm) in harms {
        let mut saved: serde_json::Value = serde_json::from_slice(&text).unwrap();
        harm(&mut saved["scores"]);
        fs::write(&file, serde_json::to_vec(&saved).unwrap()).unwrap();
        let (again, started) = run(&network, &labels, &settings(), folder).unwrap();
        assert_eq!(started[3], Reused::Embedding, "{what}");
        assert_eq!(started[..3], [Reused::Scores; 3], "{what}");
        assert_eq!(again.tables, whole.tables, "{what}");
    }
}

/// A whole result of another network, in the folder of a job, was measured.
#[test]
fn an_embedding_of_another_network_is_computed_again() {
    let ((network, labels), (other, other_labels)) = (planted(0), planted(5));
    let [place, elsewhere] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let (whole, _) = run(&network, &labels, &settings(), Some(place.path())).unwrap();
    run(&other, &other_labels, &settings(), Some(elsewhere.path())).unwrap();
    for name in ["embedding.npy", "nodes.txt", "run.json"] {
        let name = format!("mnmf/{name}");
        fs::copy(elsewhere.path().join(&name), place.path().join(&name)).unwrap();
    }
    fs::remove_file(place.path().join("mnmf/scores.json")).unwrap();
    let (again, started) = run(&network, &labels, &settings(), Some(place.path())).unwrap();
    assert_eq!(started[3], Reused::Nothing);
    assert_eq!(again.tables, whole.tables);
}

/// A process that was killed before all files had their names left a folder that asked for `force`.
#[test]
fn what_a_killed_comparison_left_is_computed_again() {
    let (network, labels) = planted(0);
    let place = tempfile::tempdir().unwrap();
    let (whole, _) = run(&network, &labels, &settings(), Some(place.path())).unwrap();
    // In the order in which they get their names.
    let files = ["made.json", "embedding.npy", "nodes.txt", "run.json"];
    for present in 1..files.len() {
        for name in files[present..].iter().chain(&["scores.json"]) {
            fs::remove_file(place.path().join("mnmf").join(name)).unwrap();
        }
        let (again, started) = run(&network, &labels, &settings(), Some(place.path())).unwrap();
        assert_eq!(started[3], Reused::Nothing);
        assert_eq!(again.tables, whole.tables);
    }
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

    // One that cannot be shown is drawn again.
    let file = place.path().join("mnmf/map.npy");
    let mut bytes = fs::read(&file).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    fs::write(&file, bytes).unwrap();
    let again = map.coordinates(&pool, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(again, drawn);
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

//! Only the threads of the given pool are used, not those of rayon's global pool.
//!
//! A test binary of its own, because the global pool belongs to the process: other tests would start it.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::ops::ControlFlow;

use manyview_base::parallel::Pool;
use manyview_data::generate::Planted;
use manyview_data::io::{Format, OutputFolder, ReadOptions, Reading, Source, read_network, write_vectors};
use manyview_data::network::{Duplicates, NetworkBuilder};

/// The names of all threads of the process, by id: threads without a name have that of their parent.
fn threads() -> BTreeMap<OsString, String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(Result::unwrap);
    let name = |task: &fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap().trim().to_owned();
    tasks.map(|task| (task.file_name(), name(&task))).collect()
}

#[test]
fn reading_building_and_writing_use_the_given_pool_only() {
    let before = threads();
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::new(Some(2)).unwrap();

    let planted = Planted { nodes: 5000, degree: vec![20.0], ..Planted::default() };
    let output = OutputFolder::prepare(&folder.path().join("network"), &planted.files(), false).unwrap();
    planted.generate_on(&pool).unwrap().write_to(output, &pool).unwrap();
    let source = Source::Paths(vec![folder.path().join("network")]);
    let observer = &mut |_: &Reading<'_>| ControlFlow::Continue(());
    let network = read_network(&source, &ReadOptions::default(), &pool, observer).unwrap().network;

    let mut builder = NetworkBuilder::with_nodes(network.nodes().iter()).unwrap();
    let view = builder.add_view("path", false, Duplicates::Sum).unwrap();
    (0..4999).try_for_each(|node| builder.add_edge(view, node, node + 1, 1.0)).unwrap();
    assert_eq!(builder.build_on(&pool).unwrap().views()[0].edges(), 4999);
    #[cfg(feature = "digits")]
    assert_eq!(manyview_data::digits::network_on(&pool).unwrap().views().len(), 6);

    let (nodes, values) = (network.nodes(), vec![0.5; 5000 * 8]);
    for format in [Format::Tsv, Format::Csv, Format::Word2vec] {
        write_vectors(&folder.path().join(format.file_name()), format, nodes, 8, &values, &pool).unwrap();
    }

    let started = threads().into_iter().filter(|(id, _)| !before.contains_key(id));
    let mut names: Vec<String> = started.map(|(_, name)| name).collect();
    names.sort();
    assert_eq!(names, ["manyview-0", "manyview-1"]);
}

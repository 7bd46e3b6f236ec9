//! Temporary files, and what was read from them.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_data::Network;
use manyview_data::io::{ReadNetwork, ReadOptions, Source, read_network};
use tempfile::TempDir;

/// A folder with files that is removed at the end of the test.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Folder {
        let folder = Folder(TempDir::new().unwrap());
        for (name, bytes) in files {
            fs::write(folder.path(name), bytes).unwrap();
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, names: &[&str], options: &ReadOptions) -> Result<ReadNetwork> {
        let source = Source::Paths(names.iter().map(|name| self.path(name)).collect());
        read_network(&source, options, &pool(2), &mut |_| ControlFlow::Continue(()))
    }

    /// Returns the message without the name of the folder.
    pub(crate) fn failure(&self, names: &[&str], options: &ReadOptions) -> String {
        let error = self.read(names, options).expect_err("the input is bad").to_string();
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

pub(crate) fn pool(threads: usize) -> Pool {
    Pool::new(Some(threads)).unwrap()
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> ReadNetwork {
    Folder::new(&[(name, bytes)]).read(&[name], &ReadOptions::default()).unwrap()
}

pub(crate) fn failure(name: &str, bytes: &[u8]) -> String {
    Folder::new(&[(name, bytes)]).failure(&[name], &ReadOptions::default())
}

pub(crate) fn failure_with(options: &ReadOptions, name: &str, bytes: &[u8]) -> String {
    Folder::new(&[(name, bytes)]).failure(&[name], options)
}

/// The edges of a view as text, `a-b:1.5`; undirected ones once.
pub(crate) fn edges(network: &Network, view: usize) -> Vec<String> {
    let (nodes, view) = (network.nodes(), &network.views()[view]);
    let mut found = Vec::new();
    for row in 0..nodes.len() {
        let (cols, values) = view.adjacency.row(row);
        for (&col, value) in cols.iter().zip(values) {
            if view.directed || row < col as usize {
                found.push(format!("{}-{}:{value}", nodes.id(row), nodes.id(col as usize)));
            }
        }
    }
    found
}

pub(crate) fn nodes(network: &Network) -> Vec<&str> {
    network.nodes().iter().collect()
}

pub(crate) fn view_names(network: &Network) -> Vec<&str> {
    network.views().iter().map(|view| view.name.as_str()).collect()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

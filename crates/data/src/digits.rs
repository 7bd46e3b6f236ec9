//! The built-in network: 2,000 handwritten digits, linked to their nearest neighbors in six sets of features.
//!
//! The files are those of `data/digits`, so the results of `manyview embed data/digits` and `manyview demo` are
//! identical.

use std::io::Read;

use crate::network::{Duplicates, Network, NetworkBuilder};
use manyview_base::error::Result;
use manyview_base::parallel::Pool;

/// The source of the data, to be shown with it.
pub const CREDIT: &str =
    "digits: 2,000 handwritten digits in six views, from Multiple Features by Robert Duin (UCI, CC BY 4.0)";

/// The views in alphabetical order, as if read from a folder.
const VIEWS: [(&str, &[u8]); 6] = [
    ("fourier", include_bytes!("../digits/fourier.tsv.gz")),
    ("karhunen", include_bytes!("../digits/karhunen.tsv.gz")),
    ("morphology", include_bytes!("../digits/morphology.tsv.gz")),
    ("pixel", include_bytes!("../digits/pixel.tsv.gz")),
    ("profile", include_bytes!("../digits/profile.tsv.gz")),
    ("zernike", include_bytes!("../digits/zernike.tsv.gz")),
];
const NODES: &str = include_str!("../digits/nodes.txt");
const LABELS: &str = include_str!("../digits/labels.tsv");

/// Returns the built-in network, built on all cores.
///
/// # Errors
/// When the threads cannot be started.
pub fn network() -> Result<Network> {
    network_on(&Pool::new(None)?)
}

/// Returns the built-in network, built on the threads of the pool.
///
/// # Errors
/// None, since the data is valid; the result is that of [`NetworkBuilder::build_on`].
pub fn network_on(pool: &Pool) -> Result<Network> {
    let mut builder = NetworkBuilder::with_nodes(NODES.lines())?;
    for (name, packed) in VIEWS {
        let view = builder.add_view(name, false, Duplicates::Sum)?;
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(packed)
            .read_to_string(&mut text)
            .expect("the built-in data is valid");
        for line in text.lines() {
            let (source, target) = line.split_once('\t').expect("a built-in line has two fields");
            let node = |builder: &mut NetworkBuilder, id: &str| {
                builder.node(id.as_bytes()).expect("the built-in edges connect built-in nodes")
            };
            let (source, target) = (node(&mut builder, source), node(&mut builder, target));
            builder.add_edge(view, source, target, 1.0)?;
        }
    }
    builder.build_on(pool)
}

/// Returns the digit of each node in row order.
pub fn labels() -> Vec<u8> {
    let digit = |line: &str| line.split_once('\t').and_then(|(_, digit)| digit.parse().ok());
    LABELS.lines().map(|line| digit(line).expect("a built-in label is a digit")).collect()
}

/// Returns the labels as the text of a label file: node, tab, digit.
pub fn labels_tsv() -> &'static str {
    LABELS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_is_there() {
        let network = network().unwrap();
        let edges: Vec<usize> = network.views().iter().map(|view| view.edges()).collect();
        assert_eq!(edges, [14_408, 14_265, 12_797, 14_062, 13_996, 13_994]);
        assert_eq!(network.nodes().len(), 2000);
        let labels = labels();
        assert!((0..10).all(|digit| labels.iter().filter(|&&label| label == digit).count() == 200));
    }
}

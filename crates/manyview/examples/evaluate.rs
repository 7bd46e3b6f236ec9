//! Generates a network with planted communities, embeds it and predicts the communities from the vectors.
//!
//! `cargo run --release --example evaluate`

#![allow(clippy::print_stdout, reason = "examples print")]

use manyview::evaluate::{ClassifySettings, Vectors, classify};
use manyview::generate::Planted;
use manyview::parallel::Pool;
use manyview::{Labels, Mnmf, Result};

fn main() -> Result<()> {
    let planted = Planted { nodes: 400, views: 3, communities: 4, ..Planted::default() }.generate()?;
    let network = planted.network()?;
    let communities = planted.labels.iter().map(|community| [community.to_string()]);
    let labels = Labels::from_sets(network.nodes().iter(), communities)?;

    let embedding = Mnmf { dim: 32, stages: 4, ..Mnmf::default() }.fit(&network)?.embedding;
    let settings = ClassifySettings { train: vec![0.5], repeats: 5, ..ClassifySettings::default() };
    let found = classify(&Vectors::try_from(&embedding)?, &labels, &settings, &Pool::new(None)?)?;
    println!("micro-F1 {:.3} (mean of 5 splits, half of the nodes train)", found.shares[0].micro_f1.mean);
    Ok(())
}

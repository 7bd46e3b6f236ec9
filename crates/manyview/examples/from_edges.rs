//! Builds a network from edges in memory, embeds it by two methods and lists neighbors.
//!
//! `cargo run --release --example from_edges`

#![allow(clippy::print_stdout, reason = "examples print")]

use manyview::methods::NetMfSum;
use manyview::neighbors::neighbors;
use manyview::parallel::Pool;
use manyview::{Mnmf, Model, Network, Result};

fn main() -> Result<()> {
    let network = Network::from_edges(&[
        ("calls", &[("ann", "bob", 3.0), ("bob", "cat", 1.0), ("cat", "ann", 2.0), ("dan", "eve", 1.0)]),
        ("mail", &[("ann", "bob", 1.0), ("dan", "eve", 2.0), ("eve", "fay", 1.0), ("fay", "dan", 1.0)]),
    ])?;
    let models: [Model; 2] = [
        Mnmf { dim: 6, stages: 2, ..Mnmf::default() }.into(),
        NetMfSum { dim: 4, ..NetMfSum::default() }.into(),
    ];
    let pool = Pool::new(None)?;
    for model in models {
        let embedding = model.fit(&network)?.embedding;
        let ann = embedding.nodes().look_up("ann")?;
        let nearest = &neighbors(&embedding, &[ann as u32], 2, &pool)[0];
        let nearest: Vec<&str> =
            nearest.iter().map(|found| embedding.nodes().id(found.node as usize)).collect();
        println!("{}: nearest to ann: {}", model.method().name(), nearest.join(", "));
    }
    Ok(())
}

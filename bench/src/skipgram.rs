//! DeepWalk's walks and vectors of a network's first view, for the comparison with gensim.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use manyview::methods::{DeepWalk, SkipGram};
use manyview::{Model, Network};
use serde_json::json;

#[derive(Args)]
pub(crate) struct SkipGramArgs {
    /// A folder or an edge list
    network: PathBuf,
    #[arg(long, default_value_t = 10)]
    walks: usize,
    #[arg(long, default_value_t = 256)]
    dim: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Write the walks to this file, one per line, instead of training on them
    #[arg(long)]
    only_walks: Option<PathBuf>,
    /// Write vectors and node ids into this folder
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &SkipGramArgs) -> Result<()> {
    let network = Network::open(&args.network)?.only(0);
    let skip_gram = SkipGram { walks: args.walks, ..SkipGram::default() };
    let settings = DeepWalk { dim: args.dim, skip_gram };
    if let Some(path) = &args.only_walks {
        let mut file = BufWriter::new(File::create(path).with_context(|| path.display().to_string())?);
        for walk in manyview_baselines::walks_of(&network, &settings) {
            let ids: Vec<&str> = walk.iter().map(|&node| network.nodes().id(node as usize)).collect();
            writeln!(file, "{}", ids.join(" "))?;
        }
        return Ok(file.flush()?);
    }
    let fit = Model { threads: Some(args.threads), ..Model::from(settings) }.fit(&network)?;
    if let Some(folder) = &args.out {
        fit.save(folder)?;
    }
    println!("{}", json!({ "seconds": fit.seconds.total, "threads": fit.threads }));
    Ok(())
}

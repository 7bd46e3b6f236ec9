//! `manyview neighbors`: the nearest nodes of a node.

use std::fmt::Write;

use anyhow::Result;
use manyview::neighbors::neighbors_watched;
use manyview::parallel::Pool;
use manyview::result::ResultFolder;
use serde::Serialize;

use crate::args::NeighborsArgs;
use crate::interrupt;
use crate::ui::{print, tell};

/// The output of `--json`.
#[derive(Serialize)]
struct Near<'a> {
    node: &'a str,
    neighbors: Vec<NearNode<'a>>,
}

#[derive(Serialize)]
struct NearNode<'a> {
    node: &'a str,
    similarity: f32,
}

pub(crate) fn run(args: &NeighborsArgs) -> Result<()> {
    let pool = Pool::new(args.threads)?;
    let finished = ResultFolder::open(&args.folder)?;
    let (embedding, nodes) = (&finished.embedding, finished.embedding.nodes());
    let node = nodes.look_up(&args.node)?;
    let found = neighbors_watched(embedding, &[node as u32], args.count, &pool, &mut |_| interrupt::go_on())?;
    let near = |found: &manyview::neighbors::Neighbor| NearNode {
        node: nodes.id(found.node as usize),
        similarity: found.similarity,
    };
    let near = Near { node: nodes.id(node), neighbors: found[0].iter().map(near).collect() };
    if args.json {
        return print(serde_json::to_string_pretty(&near)? + "\n");
    }
    if near.neighbors.is_empty() && embedding.row(node).iter().all(|&value| value == 0.0) {
        tell(format_args!("note: the vector of {:?} is zero, so it has no neighbors", near.node));
    }
    let mut text = String::new();
    for other in &near.neighbors {
        // The id is last because it may be any text.
        let _ = writeln!(text, "{:.4}\t{}", other.similarity, other.node);
    }
    print(text)
}

//! `manyview neighbors`: the nearest nodes of a node, of the nodes in a file, or of all nodes.

use std::fmt::Write;

use anyhow::Result;
use manyview::Embedding;
use manyview::io::{Disk, read_node_file_from};
use manyview::neighbors::{Neighbor, neighbors_watched, write_neighbors};
use manyview::parallel::Pool;
use manyview::result::ResultFolder;
use serde::Serialize;

use super::output_file::Output;
use crate::args::NeighborsArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural, print, tell};

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
    match &args.node {
        Some(node) => of_one(args, node),
        None => of_many(args),
    }
}

fn of_one(args: &NeighborsArgs, node: &str) -> Result<()> {
    let pool = Pool::new(args.threads)?;
    let embedding = ResultFolder::open(&args.folder)?.embedding;
    let node = embedding.nodes().look_up(node)?;
    let found =
        neighbors_watched(&embedding, &[node as u32], args.count, &pool, &mut |_| interrupt::go_on())?;
    let near = near(&embedding, node, &found[0]);
    if args.json {
        return print(serde_json::to_string_pretty(&near)? + "\n");
    }
    if near.neighbors.is_empty() && is_zero(&embedding, node) {
        tell(format_args!("note: the vector of {:?} is zero, so it has no neighbors", near.node));
    }
    let mut text = String::new();
    for other in &near.neighbors {
        // The id is last because it may be any text.
        let _ = writeln!(text, "{:.4}\t{}", other.similarity, other.node);
    }
    print(text)
}

/// A line per pair: the node, a neighbor, and their cosine.
fn of_many(args: &NeighborsArgs) -> Result<()> {
    let pool = Pool::new(args.threads)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet);
    let output = Output::prepare(args.output.as_deref(), args.force)?;
    let embedding = ResultFolder::open(&args.folder)?.embedding;
    let rows = match &args.nodes {
        Some(file) => {
            let nodes = read_node_file_from(&Disk, file)?;
            nodes.iter().map(|id| Ok(embedding.nodes().look_up(id)? as u32)).collect::<Result<Vec<u32>>>()?
        }
        None => (0..embedding.rows() as u32).collect(),
    };
    let found = neighbors_watched(&embedding, &rows, args.count, &pool, &mut |done| {
        reporter.neighbors(done, rows.len());
        interrupt::go_on()
    });
    reporter.finish();
    let found = found?;
    let mut text = Vec::new();
    if args.json {
        let near = rows.iter().zip(&found).map(|(&row, found)| near(&embedding, row as usize, found));
        serde_json::to_writer_pretty(&mut text, &near.collect::<Vec<_>>())?;
        text.push(b'\n');
    } else {
        write_neighbors(&mut text, embedding.nodes(), &rows, &found)?;
    }
    output.write(&text)?;
    let zero = rows.iter().filter(|&&row| is_zero(&embedding, row as usize)).count();
    if zero > 0 {
        let (nodes, have) = (plural(zero, "node"), if zero == 1 { "has" } else { "have" });
        reporter.say(&format!("note: {nodes} {have} a zero vector and no neighbors"));
    }
    Ok(())
}

fn near<'a>(embedding: &'a Embedding, node: usize, found: &[Neighbor]) -> Near<'a> {
    let nodes = embedding.nodes();
    let near =
        |found: &Neighbor| NearNode { node: nodes.id(found.node as usize), similarity: found.similarity };
    Near { node: nodes.id(node), neighbors: found.iter().map(near).collect() }
}

fn is_zero(embedding: &Embedding, node: usize) -> bool {
    embedding.row(node).iter().all(|&value| value == 0.0)
}

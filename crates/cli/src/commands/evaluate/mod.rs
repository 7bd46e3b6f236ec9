//! `manyview evaluate`: scores vectors; prints a table or JSON.

mod classify;
mod cluster;
mod links;

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use manyview::Embedding;
use manyview::evaluate::{EvaluationRecord, Labels, Step};
use manyview::result::{EMBEDDING, NODES, RUN, ResultFolder};

use super::{command_line, tell_unknown, tell_unlabeled};
use crate::args::{EvaluateArgs, EvaluateTask, VectorArgs};
use crate::interrupt;
use crate::ui::{Reporter, plural, print};

pub(crate) fn run(args: &EvaluateArgs) -> Result<()> {
    match &args.task {
        EvaluateTask::Classify(args) => classify::run(args),
        EvaluateTask::Cluster(args) => cluster::run(args),
        EvaluateTask::Links(args) => links::run(args),
    }
}

/// Vectors and the labels of their nodes.
struct Input {
    embedding: Embedding,
    labels: Labels,
}

/// Reads vectors and labels and prints what was found.
fn read(args: &VectorArgs, reporter: &Reporter) -> Result<Input> {
    let embedding = ResultFolder::open_vectors(&args.folder)?;
    let labels = args.columns.open(&args.labels, embedding.nodes())?;
    let (rows, dim) = (plural(embedding.rows(), "node"), plural(embedding.dim(), "column"));
    let names = plural(labels.names().len(), "label");
    let several = if labels.is_multi_label() { ", several per node" } else { "" };
    reporter.say(&format!("{rows} x {dim}, {names}{several}"));
    tell_unlabeled(&labels, reporter);
    tell_unknown(&labels, &args.labels, "embedding", reporter);
    Ok(Input { embedding, labels })
}

/// Shows progress; breaks after Ctrl-C.
fn watch<'a>(reporter: &'a mut Reporter, parts: &'a str) -> impl FnMut(Step) -> ControlFlow<()> + 'a {
    move |step| {
        reporter.evaluating(step, parts);
        interrupt::go_on()
    }
}

/// Prints the result as JSON or as a table.
fn show<T: serde::Serialize>(
    json: bool,
    task: &str,
    result: &T,
    threads: usize,
    seconds: f64,
    table: impl FnOnce() -> String,
) -> Result<()> {
    if !json {
        return print(table());
    }
    let command = command_line();
    let mut text = Vec::new();
    EvaluationRecord { command: &command, task, result, threads, seconds }.write_to(&mut text)?;
    print(text)
}

/// Rejects an output file that cannot be written or that is one of the inputs, before the work starts.
fn check_writable(file: Option<&Path>, input: &VectorArgs) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let same = |path: &Path| matches!((path.canonicalize(), file.canonicalize()), (Ok(a), Ok(b)) if a == b);
    let vectors = [EMBEDDING, NODES, RUN].map(|name| input.folder.join(name));
    if vectors.iter().chain([&input.folder, &input.labels]).any(|path| same(path)) && file.is_file() {
        anyhow::bail!(
            "{}: this file is an input and is not overwritten; choose another name",
            file.display()
        );
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.is_dir() {
        anyhow::bail!("{}: is a folder; add a file name", file.display());
    }
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        anyhow::bail!("{}: no such folder; create it first", folder.display());
    }
    Ok(())
}

//! Reads networks from all kinds of sources.

use std::ops::ControlFlow;
use std::path::Path;

use super::budget::Budget;
use super::edge_list::{Progress, Views, read_edge_list};
use super::nodes::read_nodes;
use super::plan::{Job, Plan, check_directed};
use super::text::{BytesRead, is_stdin, place};
use super::{ReadNetwork, ReadObserver, ReadOptions, Source};
use crate::io::{Disk, FileKind, Files};
use crate::network::{Duplicates, Interner, Network, NetworkBuilder, View};
use manyview_base::error::Result;
use manyview_base::message::{Message, option_value};
use manyview_base::parallel::Pool;

/// Reads a network and reports the progress to the observer every few megabytes.
///
/// The files are read on the calling thread, and the network is built on the threads of the pool.
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use manyview_base::parallel::Pool;
/// use manyview_data::io::{ReadOptions, Source, read_network};
///
/// let source = Source::Paths(vec!["calls.tsv".into(), "mails.csv.gz".into()]);
/// let pool = Pool::new(None)?;
/// let read = read_network(&source, &ReadOptions::default(), &pool, &mut |_| ControlFlow::Continue(()))?;
/// for note in &read.notes {
///     eprintln!("{note}");
/// }
/// println!("{} nodes", read.network.nodes().len());
/// # Ok::<(), manyview_base::error::Error>(())
/// ```
///
/// # Errors
/// When a file cannot be read or interpreted, when options contradict each other or the files, when the network is
/// empty (see [`NetworkBuilder::build`]), when it needs more memory than is allowed or available, or when the observer breaks.
pub fn read_network(
    source: &Source,
    options: &ReadOptions,
    pool: &Pool,
    observer: &mut ReadObserver<'_>,
) -> Result<ReadNetwork> {
    read_network_from(&Disk, source, options, pool, observer)
}

/// As [`read_network`], from files that need not be on a disk. The path `-` is standard input all the same.
///
/// # Errors
/// Those of [`read_network`].
pub fn read_network_from(
    files: &dyn Files,
    source: &Source,
    options: &ReadOptions,
    pool: &Pool,
    observer: &mut ReadObserver<'_>,
) -> Result<ReadNetwork> {
    let plan = Plan::new(files, source, options)?;
    let (taken, budget) = (BytesRead::default(), Budget::new(options.max_memory));
    let mut builder = NetworkBuilder::new();
    let mut notes = plan.notes.clone();
    if let Some(path) = &plan.nodes {
        notes.push(read_nodes(files, path, &mut builder, &taken, &budget)?);
    }
    let total = size(files, &plan);
    let mut progress =
        Progress { files, observer: &mut |reading| observer(reading), taken, total, edges: 0, budget };
    let nodes = plan.nodes.as_deref().map(place);
    for job in &plan.jobs {
        notes.push(read_job(job, nodes.as_deref(), &mut builder, &mut progress)?);
    }
    progress.budget.check_matrices(&builder)?;
    let network = builder.build_on(pool)?;
    let duplicates = |view: &View| {
        let of = |job: &&Job| job.name.as_ref().is_none_or(|name| *name == view.name);
        plan.jobs.iter().find(of).map_or(options.duplicates, |job| job.duplicates)
    };
    for view in network.views() {
        notes.extend(count_notes(view, duplicates(view)));
    }
    Ok(ReadNetwork { network, notes })
}

impl Network {
    /// Reads a network with default options from a folder, a `network.toml` or a single file of edges.
    ///
    /// Use [`read_network`] for options, and for notes about what was dropped or merged. Uses all cores.
    ///
    /// # Errors
    /// Those of [`read_network`].
    pub fn open(path: impl AsRef<Path>) -> Result<Network> {
        let source = Source::Paths(vec![path.as_ref().to_owned()]);
        let (options, pool) = (ReadOptions::default(), Pool::new(None)?);
        Ok(read_network(&source, &options, &pool, &mut |_| ControlFlow::Continue(()))?.network)
    }
}

fn read_job(
    job: &Job,
    nodes: Option<&str>,
    builder: &mut NetworkBuilder,
    progress: &mut Progress<'_>,
) -> Result<Message> {
    let first = builder.view_names().count();
    let mut views = match &job.name {
        Some(name) => Views::One(builder.add_view(name, job.directed.holds(name), job.duplicates)?),
        None => Views::ByRelation {
            first,
            names: Interner::default(),
            directed: job.directed.clone(),
            duplicates: job.duplicates,
        },
    };
    let note = read_edge_list(&job.path, &job.format, &mut views, nodes, builder, progress)?;
    if job.name.is_none() {
        let names: Vec<&str> = builder.view_names().skip(first).collect();
        check_directed(&job.directed, &names)?;
    }
    Ok(note)
}

/// Returns the size of all files in bytes; unknown for standard input and pipes. A missing file is reported when it
/// is opened.
fn size(files: &dyn Files, plan: &Plan) -> Option<u64> {
    let paths = plan.jobs.iter().map(|job| &job.path).chain(&plan.nodes);
    paths
        .map(|path| match files.kind(path) {
            Ok(FileKind::File { length }) if !is_stdin(path) => Some(length),
            _ => None,
        })
        .sum()
}

/// Returns notes about dropped and merged edges of a view.
fn count_notes(view: &View, duplicates: Duplicates) -> Vec<Message> {
    let (name, counts) = (&view.name, view.counts);
    let mut notes = Vec::new();
    let plural =
        |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    if counts.self_loops > 0 {
        let loops = plural(counts.self_loops, "self-loop", "self-loops");
        notes.push(format!("view {name}: dropped {loops}").into());
    }
    if counts.zero_weights > 0 {
        let edges = plural(counts.zero_weights, "edge", "edges");
        notes.push(format!("view {name}: dropped {edges} of weight zero").into());
    }
    if counts.duplicates > 0 {
        let lines = plural(counts.duplicates, "line repeats a pair", "lines repeat a pair");
        let (done, other, purpose) = match duplicates {
            Duplicates::Sum => ("weights are added", "max", "keep the largest"),
            Duplicates::Max => ("the largest weight is kept", "sum", "add them"),
        };
        let other = option_value("duplicates", other);
        notes.push(format!("view {name}: {lines}; {done} (use {other} to {purpose})").into());
    }
    notes
}

//! The commands, one file each, with a function `run(args)`.

pub(crate) mod add_view;
mod checkpoint;
pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod embed;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod figures;
pub(crate) mod fit;
pub(crate) mod fold_in;
pub(crate) mod generate;
mod living;
pub(crate) mod methods;
pub(crate) mod neighbors;
mod output_file;
mod plan;
pub(crate) mod proximity;
pub(crate) mod report;
pub(crate) mod truncate;
pub(crate) mod tune;
pub(crate) mod update;
pub(crate) mod views;
mod worth;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use manyview::Network;
use manyview::evaluate::Labels;
use manyview::io::{Disk, Files, ReadNetwork, ReadOptions, read_network_from};
use manyview::message::Notation;
use manyview::parallel::Pool;
use manyview::result::{RUN, ResultFolder};

use crate::args::NetworkArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural, seconds};

/// Reads the network and prints what was found.
pub(crate) fn read(
    args: &NetworkArgs,
    threads: Option<usize>,
    reporter: &mut Reporter,
) -> Result<(Network, f64)> {
    let (read, seconds) = read_within(None, args, threads, reporter)?;
    Ok((read.network, seconds))
}

/// The same, with a limit of the memory, and with notes and warnings.
pub(crate) fn read_within(
    max_memory: Option<u64>,
    args: &NetworkArgs,
    threads: Option<usize>,
    reporter: &mut Reporter,
) -> Result<(ReadNetwork, f64)> {
    read_from(&Disk, max_memory, args, threads, reporter)
}

/// The same, from files that may be watched.
fn read_from(
    files: &dyn Files,
    max_memory: Option<u64>,
    args: &NetworkArgs,
    threads: Option<usize>,
    reporter: &mut Reporter,
) -> Result<(ReadNetwork, f64)> {
    let began = Instant::now();
    let pool = Pool::new(threads)?;
    let options = ReadOptions { max_memory, ..args.options() };
    let read = read_network_from(files, &args.source()?, &options, &pool, &mut |now| {
        reporter.reading(now);
        interrupt::go_on()
    });
    reporter.finish();
    let read = read?;
    for note in &read.notes {
        reporter.say(&note.in_notation(Notation::CommandLine));
    }
    for warning in &read.warnings {
        reporter.say(&format!("warning: {}", warning.message.in_notation(Notation::CommandLine)));
    }
    let time = began.elapsed().as_secs_f64();
    describe(&read.network, time, reporter);
    Ok((read, time))
}

fn describe(network: &Network, time: f64, reporter: &Reporter) {
    let nodes = plural(network.nodes().len(), "node");
    let views: Vec<String> = network
        .views()
        .iter()
        .map(|view| {
            format!("{} ({})", view.name, plural(view.edges(), if view.directed { "arc" } else { "edge" }))
        })
        .collect();
    let (count, views) = (plural(views.len(), "view"), views.join(", "));
    reporter.say(&format!("{nodes}, {count}: {views}; read in {}", seconds(time)));
}

/// Prints the number of nodes without a label.
pub(crate) fn tell_unlabeled(labels: &Labels, reporter: &Reporter) {
    let without = labels.rows() - labels.labeled();
    if without > 0 {
        reporter.say(&format!("excluded {} without a label from the scores", plural(without, "node")));
    }
}

/// Prints the number of ids in a label file that are not nodes of the network or embedding (`of`).
pub(crate) fn tell_unknown(labels: &Labels, file: &Path, of: &str, reporter: &Reporter) {
    let unknown = labels.unknown();
    if unknown > 0 {
        let (file, ids) = (file.display(), plural(unknown, "id"));
        let verb = if unknown == 1 { "is" } else { "are" };
        reporter.say(&format!("{file}: ignored {ids} that {verb} not in the {of}"));
    }
}

/// Returns the command line, quoted for a shell, for `run.json`.
pub(crate) fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("manyview".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Writes the `run.json` of a result that follows from another one.
pub(crate) fn write_run(output: &mut ResultFolder, run: &serde_json::Value) -> manyview::Result<()> {
    output.write_extra(RUN, |writer| {
        serde_json::to_writer_pretty(&mut *writer, run)?;
        writeln!(writer)
    })
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    let bare = !word.is_empty() && word.chars().all(plain);
    if bare { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

//! Reads networks from all kinds of sources.

use std::ops::ControlFlow;
use std::path::Path;

use super::block::Pace;
use super::budget::Budget;
use super::edge_list::{FileRead, FirstRow, Progress, Views, read_edge_list};
use super::nodes::read_nodes;
use super::plan::{Job, Plan, check_directed};
use super::text::{BytesRead, is_stdin, place};
use super::{ReadNetwork, ReadObserver, ReadOptions, Source};
use crate::doubts::doubts;
use crate::io::{Disk, FileKind, Files};
use crate::network::{Duplicates, Interner, Network, NetworkBuilder, View};
use manyview_base::error::Result;
use manyview_base::message::{Message, Warning, WarningKind, option_value};
use manyview_base::parallel::Pool;

/// Reads a network and reports the progress to the observer every few megabytes.
///
/// The files are read on the calling thread, and their lines are parsed and the network is built on the threads of the pool.
/// The result does not depend on their number.
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
    read_at(Pace::new(pool.threads()), files, source, options, pool, observer)
}

fn read_at(
    pace: Pace,
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
    let mut progress = Progress {
        files,
        pool,
        pace,
        observer: &mut |reading| observer(reading),
        taken,
        total,
        edges: 0,
        budget,
    };
    let nodes = plan.nodes.as_deref().map(place);
    let mut read = Vec::new();
    for job in &plan.jobs {
        let file = read_job(job, nodes.as_deref(), &mut builder, &mut progress)?;
        notes.push(file.note.clone());
        read.push(file);
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
    let mut warnings: Vec<Warning> = read.iter().flat_map(|file| file_warnings(file, &network)).collect();
    warnings.extend(doubts(&network));
    let skipped = read.iter().map(|file| file.skipped.lines).sum();
    Ok(ReadNetwork { network, notes, warnings, skipped })
}

/// Warns of skipped lines, and of a header that may have been read as an edge.
fn file_warnings(file: &FileRead, network: &Network) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |message: Message| warnings.push(Warning::new(WarningKind::Data, message));
    if let Some(first) = &file.skipped.first {
        let (lines, all) = (file.skipped.lines, file.skipped.lines + file.rows);
        warn(first.clone().prefixed(&format!(
            "{lines} of {all} lines were skipped because they cannot be read; the first: "
        )));
    }
    if let Some(FirstRow { place, ends }) = &file.first
        && is_alone(*ends, network)
    {
        let [source, target] = ends.map(|node| network.nodes().id(node as usize));
        let told = format!(
            "{place}: the first line is read as an edge, but {source:?} and {target:?} occur nowhere else; if it is a header, use {}",
            option_value("header", "yes")
        );
        warn(told.into());
    }
    warnings
}

/// Returns whether two nodes have no edges but the one between them, in one view.
fn is_alone([source, target]: [u32; 2], network: &Network) -> bool {
    let ends = |node: u32| {
        let in_view = |view: &View| {
            let own = view.adjacency.row(node as usize).0.len();
            if !view.directed {
                return own;
            }
            own + view.adjacency.indices().iter().filter(|&&col| col == node).count()
        };
        network.views().iter().map(in_view).sum::<usize>()
    };
    source != target && ends(source) == 1 && ends(target) == 1
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
) -> Result<FileRead> {
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
    let read = read_edge_list(&job.path, &job.format, &mut views, nodes, builder, progress)?;
    if job.name.is_none() {
        let names: Vec<&str> = builder.view_names().skip(first).collect();
        check_directed(&job.directed, &names)?;
    }
    Ok(read)
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

#[cfg(test)]
mod tests {
    use manyview_base::random::{Key, unit_f64};

    use super::*;
    use crate::io::{Directed, Memory, OnError};

    /// Blocks from the first row on, of a few lines each.
    const SMALL: [Pace; 3] = [
        Pace { first: 0, size: 1, count: 1 },
        Pace { first: 1, size: 40, count: 3 },
        Pace { first: 7, size: 300, count: 2 },
    ];

    const ROWS: Pace = Pace { first: u64::MAX, size: 1, count: 1 };

    /// All that can be seen of a network, or the error.
    fn seen(pace: Pace, threads: usize, name: &str, text: &[u8], options: &ReadOptions) -> String {
        let files = Memory::new([(name, text.to_vec()), ("nodes.txt", b"a\nb\nc\nd\n".to_vec())]);
        let source = Source::Paths(vec![name.into()]);
        let mut edges = 0;
        let observer = &mut |reading: &super::super::Reading<'_>| {
            edges = reading.edges;
            ControlFlow::Continue(())
        };
        match read_at(pace, &files, &source, options, &Pool::new(Some(threads)).unwrap(), observer) {
            Ok(ReadNetwork { network, notes, warnings, skipped }) => {
                let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
                let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
                format!("{network:?} {notes:?} {warnings:?} {skipped} {edges}")
            }
            Err(error) => error.to_string(),
        }
    }

    fn assert_same(name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> String {
        let text = text.as_ref();
        let expected = seen(ROWS, 1, name, text, options);
        for pace in SMALL {
            for threads in [1, 2, 3, 8] {
                let found = seen(pace, threads, name, text, options);
                assert!(
                    found == expected,
                    "{name}, {pace:?}, {threads} threads:\n{found}\ninstead of\n{expected}"
                );
            }
        }
        expected
    }

    fn table(rows: usize, separator: &str) -> String {
        let at = |row, col, most: f64| (unit_f64(Key::new(3).at(row, col)) * most) as usize;
        (0..rows)
            .map(|row| {
                let (a, b, weight) = (at(row, 0, 60.0), at(row, 1, 2000.0), at(row, 2, 9.0));
                let end = if row % 5 == 0 { "\r\n" } else { "\n" };
                let blank = if row % 17 == 3 { "\n \n" } else { "" };
                format!(
                    "node {a}{separator}n{b}{separator} 0.{weight} {separator}kind{}{end}{blank}",
                    row / 50 % 4
                )
            })
            .collect()
    }

    #[test]
    fn blocks_give_what_rows_give() {
        let options = ReadOptions::default();
        for (name, separator) in [("x.tsv", "\t"), ("x.csv", ","), ("x.csv", ";")] {
            let text = table(300, separator);
            assert!(assert_same(name, &text, &options).contains("Network"));
            assert_same(name, text.trim_end(), &options);
            let relation =
                ReadOptions { relation: Some("4".into()), directed: Directed::All, ..options.clone() };
            assert!(assert_same(name, &text, &relation).contains("kind3"));
            assert!(
                assert_same(name, format!("source{separator}target\n"), &options).contains("only a header")
            );
        }
        assert_same("x.txt", "a b\nb  c\n\n c d \na e", &options);
        assert_same("x.tsv", "a\ta\nb\tb\na\tb\nb\ta\n", &options);
        let fixed = ReadOptions { nodes: Some("nodes.txt".into()), ..options };
        assert_same("x.tsv", "c\tb\nb\ta\n".repeat(30), &fixed);
    }

    #[test]
    fn quoted_fields_across_blocks_are_whole() {
        let quoted = "a,\"b\nwith, lines\n\"\n\"c\",d\n".repeat(3);
        let text = format!("{}{quoted}{}", "a,b\nb,c\n".repeat(30), "c,d\nd,new\n".repeat(30));
        assert!(assert_same("x.csv", text, &ReadOptions::default()).contains("with, lines"));
    }

    #[test]
    fn the_first_mistake_is_reported_wherever_it_is() {
        let options = ReadOptions::default();
        let good = |row: usize| format!("a{row}\tb\t1");
        let mistakes: [(&[u8], &str); 6] = [
            (b"x\ty\t-1", "is negative"),
            (b"x\ty", "found 2 fields"),
            (b"x\t\t1", "the target is empty"),
            (b"x\tcaf\xe9\t1", "is not UTF-8"),
            (b"x\ty\0\t1", "zero byte"),
            (b"x\ty\tmuch", "is not a number"),
        ];
        for at in [1, 2, 9, 40] {
            for (index, (mistake, words)) in mistakes.into_iter().enumerate() {
                let mut lines: Vec<Vec<u8>> = (0..50).map(|row| good(row).into_bytes()).collect();
                lines[at] = mistake.to_vec();
                // A later one is not reported.
                lines[45] = mistakes[(index + 1) % 6].0.to_vec();
                let error = assert_same("x.tsv", lines.join(&b'\n'), &options);
                assert!(
                    error.starts_with(&format!("x.tsv:{}: ", at + 1)) && error.contains(words),
                    "{error}"
                );
            }
        }
        let fixed = ReadOptions { nodes: Some("nodes.txt".into()), ..options };
        let text = format!("{}a\tx\n{}", "a\tb\n".repeat(30), "a\ty\n".repeat(9));
        assert!(assert_same("x.tsv", text, &fixed).contains("x.tsv:31: node \"x\" is not in nodes.txt"));
    }

    #[test]
    fn the_same_lines_are_skipped_in_blocks_and_rows() {
        let skip = ReadOptions { on_error: OnError::Skip, ..ReadOptions::default() };
        let bad = ["x\ty\tmuch", "x\ty", "x\t\t1", "\tgone\t1", "lost\tcaf\u{e9}\t-1", "x\ty\t"];
        for every in [2, 7, 41] {
            let line = |row: usize| match row % every {
                1 => bad[row / every % bad.len()].to_owned(),
                _ => format!("a{}\tb{}\t{}", row % 50, row % 7, row % 3 + 1),
            };
            let text: Vec<String> = (0..300).map(line).collect();
            let found = assert_same("x.tsv", text.join("\n"), &skip);
            let skipped = (0..300).filter(|row| row % every == 1).count();
            assert!(found.contains(&format!("skipped {skipped} lines that cannot be read")), "{found}");
            assert!(found.contains("x.tsv:2: weight \\\"much\\\" is not a number"), "{found}");
            for id in ["gone", "lost"] {
                assert!(!found.contains(id), "a node of a skipped line: {found}");
            }
        }
        let relation = ReadOptions { relation: Some("4".into()), ..skip.clone() };
        let text = "a\tb\t1\tx\nb\tc\t1\t\na\tc\tmuch\tnew\n".repeat(20);
        let found = assert_same("x.tsv", text, &relation);
        assert!(found.contains("skipped 40 lines") && !found.contains("new"), "{found}");
        let fixed = ReadOptions { nodes: Some("nodes.txt".into()), ..skip.clone() };
        assert!(assert_same("x.tsv", "a\tb\na\tx\n".repeat(30), &fixed).contains("skipped 30 lines"));
        let none = assert_same("x.tsv", "source\ttarget\tweight\na\tb\tx\n", &skip);
        assert!(
            none.starts_with("x.tsv: no edges: none of 1 lines can be read; the first: x.tsv:2: weight"),
            "{none}"
        );
    }

    #[test]
    fn data_that_end_early_are_reported_after_the_rows_before() {
        let text: String =
            (0..20_000u32).map(|row| format!("a{}\tb{row}\n", row.wrapping_mul(2_654_435_761))).collect();
        let mut packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        packed.truncate(packed.len() - 9);
        assert!(assert_same("x.tsv", &packed, &ReadOptions::default()).contains("the zstd data ends early"));
        let bad = text.replacen("\tb90\n", "\n", 1);
        let mut packed = zstd::encode_all(bad.as_bytes(), 1).unwrap();
        packed.truncate(packed.len() - 9);
        assert!(
            assert_same("x.tsv", &packed, &ReadOptions::default()).starts_with("x.tsv:91: found one field")
        );
    }
}

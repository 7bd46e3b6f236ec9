//! `manyview report`: a result as an HTML page.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use manyview::Error;
use manyview::evaluate::Labels;
use manyview::parallel::Pool;
use manyview::result::{ResultFolder, SavedResult};

use super::tell_unknown;
use crate::args::ReportArgs;
use crate::interrupt;
use crate::report::{Content, Place, Sample, evaluation, write};
use crate::ui::{Reporter, bytes, plural, print, seconds};

pub(crate) fn run(args: &ReportArgs) -> Result<()> {
    let began = Instant::now();
    let pool = Pool::new(args.threads)?;
    if args.sample == Some(0) {
        return Err(Error::config("--sample must be at least 1").into());
    }
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet);
    let finished = ResultFolder::open(&args.folder)?;
    let path = args.output.clone().unwrap_or_else(|| args.folder.join("report.html"));
    let place = Place::prepare(&path, args.force)?;
    let sets = match &args.labels {
        Some(path) => label_sets(path, args, &finished, &reporter)?,
        None => Vec::new(),
    };
    let sample = Sample::of(&finished.embedding, args.sample, args.seed);
    if let Some(words) = sample.words() {
        reporter
            .say(&format!("the page shows {words}, drawn at random, and their neighbors among all nodes"));
    }
    // Scores are those of the first set.
    let scored = sets.first().map(|(_, labels)| labels);
    let extras = evaluation(&finished, &sample, scored, args.seed, &pool, &mut reporter)?;
    let title = title(&args.folder);
    let labels: Vec<(&str, &Labels)> = sets.iter().map(|(name, labels)| (name.as_str(), labels)).collect();
    let content =
        Content { title: &title, finished: &finished, labels: &labels, sample: &sample, extras: &extras };
    let written = write(content, args.seed, place, &pool, &mut reporter)?;
    if !reporter.is_quiet() {
        let nodes = sample.words().unwrap_or_else(|| plural(finished.embedding.rows(), "node"));
        let size = bytes(written.bytes as u64);
        let (page, time) = (written.path.display(), seconds(began.elapsed().as_secs_f64()));
        print(format!("{page}: {nodes}, {size}, {time}; open it in a browser\n"))?;
    }
    Ok(())
}

/// The labels of a file: a set for each chosen column, or one of all columns.
fn label_sets(
    path: &Path,
    args: &ReportArgs,
    finished: &SavedResult,
    reporter: &Reporter,
) -> Result<Vec<(String, Labels)>> {
    let nodes = finished.embedding.nodes();
    let mut sets = args.columns.open_sets(path, nodes)?;
    if sets.is_empty() {
        sets.push(("label".to_owned(), Labels::open(path, nodes)?));
    }
    for (name, labels) in &sets {
        let of = if sets.len() > 1 { format!(", column {name}") } else { String::new() };
        reporter.say(&format!("{}{of}: {}", path.display(), plural(labels.names().len(), "label")));
        tell_unknown(labels, path, "result", reporter);
    }
    if let [(scored, _), _, ..] = &sets[..] {
        reporter.say(&format!(
            "the page shows {} of labels; scores are those of {scored}",
            plural(sets.len(), "set")
        ));
    }
    Ok(sets)
}

/// The title of the page: the name of the folder.
fn title(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
    let name = absolute.components().next_back().map(|last| last.as_os_str().to_string_lossy().into_owned());
    name.unwrap_or_else(|| "result".into())
}

//! The report: a self-contained page that shows a result.
//!
//! `data.rs` computes and packs the data; `stages.rs` draws the charts; `evaluation.rs` computes clusters and scores, `worth.rs`
//! what the columns of each view are worth, `sample.rs` draws nodes of large results. `page/` is what this page has besides
//! the common one (`html/`).

mod data;
mod evaluation;
mod sample;
mod stages;
mod worth;

use std::path::{Path, PathBuf};

use anyhow::Result;
use manyview::evaluate;
use manyview::io::OutputFolder;
use manyview::parallel::Pool;
use manyview::result::{SavedResult, SavedRun};
use manyview::{Embedding, Error};
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write};

use crate::html::{Document, board, filled, script};
use crate::interrupt;
use crate::ui::{Reporter, plural, seconds, thousands};
pub(crate) use evaluation::evaluation;
pub(crate) use sample::Sample;
pub(crate) use worth::Worth;

const BODY: &str = include_str!("page/body.html");

/// What tells a page of ours from other files, in its first bytes.
const GENERATOR: &str = "<meta name=\"generator\" content=\"manyview report\">";
const HEAD: u64 = 2048;

const SCRIPT: &str = script!(
    include_str!("page/origins.js"),
    include_str!("page/node.js"),
    include_str!("page/views.js"),
    include_str!("page/report.js")
);

/// Optional data of the page in addition to the result.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// The cluster of each node of the sample, from 0; `None` for nodes without one.
    pub(crate) clusters: Option<Vec<Option<u32>>>,
    /// The scores of classification and clustering.
    pub(crate) scores: Option<Scores>,
    /// What the columns of each view are worth.
    pub(crate) worth: Option<Worth>,
}

/// The scores of an evaluation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Scores {
    /// The tables, in order.
    pub(crate) tables: Vec<ScoreTable>,
}

/// A table of text; the first column is the row header.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ScoreTable {
    /// The title, such as "Classification".
    pub(crate) title: String,
    /// The column headers, including the first.
    pub(crate) columns: Vec<String>,
    /// The rows, with one cell per column.
    pub(crate) rows: Vec<Vec<String>>,
    /// How the numbers were computed; may be empty.
    pub(crate) note: String,
}

/// The output file of a page, checked to be writable and not to exist.
pub(crate) struct Place {
    folder: OutputFolder,
    name: String,
}

impl Place {
    /// Checks the file before the work starts. A page that a report wrote is replaced, any other file only by force.
    pub(crate) fn prepare(path: &Path, force: bool) -> Result<Self> {
        let Some(name) = path.file_name() else {
            let sentence = format!("{} is not a file name; use a name such as report.html", path.display());
            return Err(Error::config(sentence).into());
        };
        let name = name.to_string_lossy().into_owned();
        let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let folder = OutputFolder::prepare_file(parent, &name, force || is_page(path))?;
        interrupt::writes_to(folder.traces());
        Ok(Place { folder, name })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }
}

/// Whether a file is a page of this program.
fn is_page(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}

/// The file that was written.
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    pub(crate) bytes: usize,
}

/// What a page shows.
#[derive(Clone, Copy)]
pub(crate) struct Content<'a> {
    pub(crate) title: &'a str,
    pub(crate) finished: &'a SavedResult,
    /// The labels of all nodes: sets with their titles.
    pub(crate) labels: &'a [(&'a str, &'a evaluate::Labels)],
    /// The nodes on the map.
    pub(crate) sample: &'a Sample<'a>,
    pub(crate) extras: &'a Extras,
}

/// Computes the page of a result and writes it.
pub(crate) fn write(
    content: Content<'_>,
    seed: u64,
    mut place: Place,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<Written> {
    let page = page(content, &data::compute(content, seed, pool, reporter)?)?;
    reporter.finish();
    let written = Written { path: place.path(), bytes: page.len() };
    place.folder.write(&place.name, |writer| writer.write_all(page.as_bytes()))?;
    if interrupt::go_on().is_break() {
        return Err(Error::Interrupted.into());
    }
    place.folder.commit()?;
    Ok(written)
}

/// Assembles the page.
fn page(content: Content<'_>, data: &data::Page<'_>) -> Result<String> {
    let SavedResult { embedding, run } = content.finished;
    let [residual, entries] = stages::charts(run);
    let hidden = if run.stages.is_empty() { " hidden" } else { "" };
    let parts = [
        ("{board}", board("Map", "")),
        ("{stages-hidden}", hidden.to_owned()),
        ("{residual}", residual),
        ("{entries}", entries),
    ];
    let parts: Vec<(&str, &str)> = parts.iter().map(|(name, part)| (*name, part.as_str())).collect();
    let document = Document {
        kind: "manyview report",
        title: content.title,
        sentence: &sentence(embedding, run),
        command: None,
        body: filled(BODY, &parts),
        script: SCRIPT,
    };
    document.write(data)
}

/// The result in two sentences.
fn sentence(embedding: &Embedding, run: &SavedRun) -> String {
    let (nodes, views) = (plural(embedding.rows(), "node"), plural(run.network.views.len(), "view"));
    let stages = run.stages.iter().map(|record| record.stage).max();
    let stages = stages.map(|stages| format!(", {}", plural(stages, "stage"))).unwrap_or_default();
    let new = run.folded_in.map(|new| format!(" ({} folded in)", thousands(new.nodes))).unwrap_or_default();
    let (dim, time) = (plural(embedding.dim(), "dimension"), seconds(run.seconds.total));
    format!("{nodes}{new}, {views}, embedded in {dim}. Method: {}{stages}; run time: {time}.", run.method)
}

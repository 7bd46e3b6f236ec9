//! The report: a self-contained page that shows a result.
//!
//! `data.rs` computes and packs the data; `page/` is the page in plain HTML, CSS and JavaScript, assembled here;
//! `evaluation.rs` computes clusters and scores, `labels.rs` orders labels, `sample.rs` draws nodes of large results.
//!
//! Invariant: names of nodes, views and labels are untrusted text. They are written as JSON without `<`, so they cannot
//! end the script element; the page inserts them as text, never as markup; and the content security policy allows only
//! our own script, identified by its hash.

mod data;
pub(crate) mod encode;
mod evaluation;
mod labels;
mod sample;

use std::path::{Path, PathBuf};

use anyhow::Result;
use manyview::Error;
use manyview::evaluate;
use manyview::io::OutputFolder;
use manyview::parallel::Pool;
use manyview::result::SavedResult;
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write};

use crate::interrupt;
use crate::ui::Reporter;
pub(crate) use evaluation::evaluation;
pub(crate) use sample::Sample;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// What tells a page of ours from other files, in its first bytes.
const GENERATOR: &str = "<meta name=\"generator\" content=\"manyview\">";
const HEAD: u64 = 2048;

/// The parts of the script, in order of dependence.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("page/data.js"),
    include_str!("page/dom.js"),
    include_str!("page/colors.js"),
    include_str!("page/modes.js"),
    include_str!("page/map.js"),
    include_str!("page/legend.js"),
    include_str!("page/node.js"),
    include_str!("page/search.js"),
    include_str!("page/charts.js"),
    include_str!("page/tables.js"),
    include_str!("page/main.js"),
    "})();\n"
);

/// Optional data of the page in addition to the result.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// The cluster of each node of the sample, from 0; `None` for nodes without one.
    pub(crate) clusters: Option<Vec<Option<u32>>>,
    /// The scores of classification and clustering.
    pub(crate) scores: Option<Scores>,
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
    /// The labels of all nodes.
    pub(crate) labels: Option<&'a evaluate::Labels>,
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
    let page = page(&data::compute(content, seed, pool, reporter)?)?;
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
fn page(data: &data::Page<'_>) -> Result<String> {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        encode::hash(SCRIPT),
        encode::hash(STYLE)
    );
    // The data are inserted last, so that placeholders in them are not replaced.
    let head =
        PAGE.replacen("{policy}", &policy, 1).replacen("{style}", STYLE, 1).replacen("{script}", SCRIPT, 1);
    let (before, after) = head.split_once("{data}").expect("the page has a placeholder for its data");
    Ok([before, &encode::json(data)?, after].concat())
}

//! The report: one page that shows a result and asks for nothing from outside.
//!
//! `data.rs` computes and packs what the page shows; `page/` is the page, in plain HTML, CSS and JavaScript, put
//! together here; `evaluation.rs` has clusters and scores, `labels.rs` labels.
//!
//! Invariant: names of nodes, views and labels are text from strangers. They travel as JSON in which no `<` can end
//! the script element around it, the page puts them in as text and never as markup, and the page's policy lets nothing
//! run but our own script, known by its hash.

mod data;
pub(crate) mod encode;
mod evaluation;
mod labels;

use std::path::{Path, PathBuf};

use anyhow::Result;
use manyview::Error;
use manyview::io::OutputFolder;
use manyview::parallel::Pool;
use manyview::result::SavedResult;
use serde::Serialize;
use std::io::Write;

use crate::interrupt;
use crate::ui::Reporter;
pub(crate) use evaluation::evaluation;
pub(crate) use labels::Labels;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// One script in pieces, in the order in which they need each other.
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

/// What the page shows besides the result itself, where it is known.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Labels of nodes.
    pub(crate) labels: Option<Labels>,
    /// The cluster of each node, from 0, in row order; `None` for nodes without one.
    pub(crate) clusters: Option<Vec<Option<u32>>>,
    /// How well labels can be told from the vectors.
    pub(crate) scores: Option<Scores>,
}

/// Results of an evaluation, as the page shows them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Scores {
    /// One after the other.
    pub(crate) tables: Vec<ScoreTable>,
}

/// A table of text: its first column names the rows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ScoreTable {
    /// What it is about, such as "Classification".
    pub(crate) title: String,
    /// Heads of the columns, the first one included.
    pub(crate) columns: Vec<String>,
    /// As many cells a row as there are columns.
    pub(crate) rows: Vec<Vec<String>>,
    /// How the numbers came about; empty when there is nothing to say.
    pub(crate) note: String,
}

/// A place for a page that can be written and is free.
pub(crate) struct Place {
    folder: OutputFolder,
    name: String,
}

impl Place {
    /// Checks the place, before the work and not after it.
    pub(crate) fn prepare(path: &Path, force: bool) -> Result<Self> {
        let Some(name) = path.file_name() else {
            let sentence = format!("{} is no name of a file; give one, such as report.html", path.display());
            return Err(Error::config(sentence).into());
        };
        let name = name.to_string_lossy().into_owned();
        let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let folder = OutputFolder::prepare(parent, &[&name], force)?;
        interrupt::writes_to(folder.traces());
        Ok(Place { folder, name })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }
}

/// What was written.
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    pub(crate) bytes: usize,
}

/// Computes the page of a result and writes it.
pub(crate) fn write(
    title: &str,
    finished: &SavedResult,
    extras: &Extras,
    seed: u64,
    mut place: Place,
    pool: &Pool,
    reporter: &mut Reporter,
) -> Result<Written> {
    let page = page(&data::compute(title, finished, extras, seed, pool, reporter)?)?;
    reporter.finish();
    let written = Written { path: place.path(), bytes: page.len() };
    place.folder.write(&place.name, |writer| writer.write_all(page.as_bytes()))?;
    if interrupt::go_on().is_break() {
        return Err(Error::Interrupted.into());
    }
    place.folder.commit()?;
    Ok(written)
}

/// Puts the parts of the page into their places.
fn page(data: &data::Page<'_>) -> Result<String> {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        encode::hash(SCRIPT),
        encode::hash(STYLE)
    );
    // The data come last: what they contain must not be taken for a place.
    let head =
        PAGE.replacen("{policy}", &policy, 1).replacen("{style}", STYLE, 1).replacen("{script}", SCRIPT, 1);
    let (before, after) = head.split_once("{data}").expect("the page has a place for its data");
    Ok([before, &encode::json(data)?, after].concat())
}

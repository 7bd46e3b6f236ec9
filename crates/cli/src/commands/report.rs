//! `manyview report`: a result as an HTML page.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use manyview::Error;
use manyview::evaluate::Labels;
use manyview::parallel::Pool;
use manyview::result::ResultFolder;

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
    let labels = args.labels.as_ref().map(|path| {
        let labels = Labels::open(path, finished.embedding.nodes())?;
        reporter.say(&format!("{}: {}", path.display(), plural(labels.names().len(), "label")));
        tell_unknown(&labels, path, "result", &reporter);
        Ok::<_, Error>(labels)
    });
    let labels = labels.transpose()?;
    let sample = Sample::of(&finished.embedding, args.sample, args.seed);
    if let Some(words) = sample.words() {
        reporter
            .say(&format!("the page shows {words}, drawn at random, and their neighbors among all nodes"));
    }
    let extras = evaluation(&finished, &sample, labels.as_ref(), args.seed, &pool, &mut reporter)?;
    let title = title(&args.folder);
    let labels: Vec<(&str, &Labels)> = labels.iter().map(|labels| ("label", labels)).collect();
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

/// The title of the page: the name of the folder.
fn title(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
    let name = absolute.components().next_back().map(|last| last.as_os_str().to_string_lossy().into_owned());
    name.unwrap_or_else(|| "result".into())
}

//! `manyview evaluate classify`: predicts labels from vectors.

use std::time::Instant;

use anyhow::Result;
use manyview::evaluate::{Vectors, classify_watched, write_predictions};
use manyview::io::write_atomic;
use manyview::message::Notation;
use manyview::parallel::Pool;

use super::{check_writable, read, show, watch};
use crate::args::ClassifyArgs;
use crate::interrupt;
use crate::ui::{Reporter, classification_table};

pub(super) fn run(args: &ClassifyArgs) -> Result<()> {
    let began = Instant::now();
    let settings = args.settings();
    settings.check()?;
    check_writable(args.predictions.as_deref(), &args.input)?;
    let pool = Pool::new(args.run.threads)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.print.quiet);
    let input = read(&args.input, &reporter)?;
    let vectors = Vectors::try_from(&input.embedding)?;
    let found =
        classify_watched(&vectors, &input.labels, &settings, &pool, &mut watch(&mut reporter, "splits"));
    reporter.finish();
    let found = found?;
    if let Some(file) = &args.predictions {
        write_atomic(file, |writer| {
            write_predictions(writer, input.embedding.nodes(), &input.labels, &found)
        })?;
    }
    for note in &found.notes {
        reporter.say(&format!("note: {}", note.in_notation(Notation::CommandLine)));
    }
    let seconds = began.elapsed().as_secs_f64();
    show(args.print.json, "classify", &found, pool.threads(), seconds, || classification_table(&found))
}

//! `manyview evaluate cluster`: compares clusters of vectors with labels.

use std::time::Instant;

use anyhow::Result;
use manyview::evaluate::{Vectors, cluster_watched, write_assignments};
use manyview::io::write_atomic;
use manyview::message::Notation;
use manyview::parallel::Pool;

use super::{check_writable, read, show, watch};
use crate::args::ClusterArgs;
use crate::interrupt;
use crate::ui::{Reporter, clustering_table};

pub(super) fn run(args: &ClusterArgs) -> Result<()> {
    let began = Instant::now();
    check_writable(args.assignments.as_deref(), &args.input)?;
    let pool = Pool::new(args.run.threads)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.print.quiet);
    let input = read(&args.input, &reporter)?;
    let vectors = Vectors::try_from(&input.embedding)?;
    let settings = args.settings();
    let found =
        cluster_watched(&vectors, &input.labels, &settings, &pool, &mut watch(&mut reporter, "starts"));
    reporter.finish();
    let found = found?;
    if let Some(file) = &args.assignments {
        write_atomic(file, |writer| {
            write_assignments(writer, input.embedding.nodes(), &input.labels, &found)
        })?;
    }
    for note in &found.notes {
        reporter.say(&format!("note: {}", note.in_notation(Notation::CommandLine)));
    }
    let seconds = began.elapsed().as_secs_f64();
    show(args.print.json, "cluster", &found, pool.threads(), seconds, || clustering_table(&found))
}

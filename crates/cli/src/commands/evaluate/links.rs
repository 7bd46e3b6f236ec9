//! `manyview evaluate links`: predicts hidden edges from vectors.

use std::time::Instant;

use anyhow::Result;
use manyview::evaluate::links_watched;
use manyview::message::Notation;
use manyview::parallel::Pool;

use super::show;
use crate::args::LinksArgs;
use crate::commands::{fit, read};
use crate::interrupt;
use crate::ui::{Reporter, links_table};

pub(super) fn run(args: &LinksArgs) -> Result<()> {
    let began = Instant::now();
    let model = args.model.model()?;
    model.check()?;
    let settings = args.settings(model.seed);
    settings.check()?;
    let pool = Pool::new(model.threads)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.print.quiet);
    let (network, _) = read(&args.network, model.threads, &mut reporter)?;
    // Without the hidden edges, the network needs less memory.
    let model = fit::fitted(&model, &network, None)?;
    let embed = |rest: &_, repeat: usize| {
        reporter.say(&format!("embedding without hidden edges, {} of {}", repeat + 1, settings.repeats));
        let fitted = fit::fit(&model, rest, None, &mut reporter)?;
        let embedding = &fitted.embedding;
        Ok((embedding.values().to_vec(), embedding.dim()))
    };
    let found = links_watched(&network, &settings, &pool, embed, &mut |_| interrupt::go_on())?;
    for note in &found.notes {
        reporter.say(&format!("note: {}", note.in_notation(Notation::CommandLine)));
    }
    let seconds = began.elapsed().as_secs_f64();
    show(args.print.json, "links", &found, pool.threads(), seconds, || links_table(&found))
}

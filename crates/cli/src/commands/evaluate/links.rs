//! `manyview evaluate links`: hidden edges found again.

use std::time::Instant;

use anyhow::Result;
use manyview::comm::Local;
use manyview::evaluate::links;
use manyview::parallel::Pool;
use manyview::stages::Progress;

use super::show;
use crate::args::LinksArgs;
use crate::commands::read;
use crate::interrupt;
use crate::ui::{Reporter, links_table};

pub(super) fn run(args: &LinksArgs) -> Result<()> {
    let began = Instant::now();
    let config = args.model.config();
    config.check()?;
    let settings = args.settings(config.seed);
    settings.check()?;
    let pool = Pool::new(config.threads)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.print.quiet);
    let (network, _) = read(&args.network, &mut reporter)?;
    // The rest has fewer edges than the whole, so what is enough for the whole is enough.
    let mut look = |_: &Progress<'_>| interrupt::go_on();
    let estimate = config.estimate(&network, &mut look)?;
    estimate.check(&config, &network, None, &mut look)?;
    let embed = |rest: &_, repeat: usize| {
        reporter.say(&format!("embedding without hidden edges, {} of {}", repeat + 1, settings.repeats));
        let fit = config.fit_with(rest, &Local, &mut |now| {
            reporter.fitting(now);
            interrupt::go_on()
        });
        reporter.finish();
        let fit = fit?;
        fit.warnings.iter().for_each(|warning| reporter.say(&format!("warning: {warning}")));
        Ok((fit.embedding.values().to_vec(), fit.embedding.dim()))
    };
    let found = links(&network, &settings, &pool, embed, &mut |_| interrupt::go_on())?;
    found.notes.iter().for_each(|note| reporter.say(&format!("note: {note}")));
    let seconds = began.elapsed().as_secs_f64();
    show(args.print.json, "links", &found, pool.threads(), seconds, || links_table(&found))
}

//! `manyview evaluate links`: hidden edges found again.

use std::time::Instant;

use anyhow::Result;
use manyview::evaluate::links;
use manyview::parallel::Pool;

use super::show;
use crate::args::LinksArgs;
use crate::commands::{fitting, read};
use crate::interrupt;
use crate::ui::{Reporter, links_table};

pub(super) fn run(args: &LinksArgs) -> Result<()> {
    let began = Instant::now();
    let chosen = args.model.chosen()?;
    chosen.check()?;
    let settings = args.settings(chosen.seed());
    settings.check()?;
    let pool = Pool::new(chosen.threads())?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.print.quiet);
    let (network, _) = read(&args.network, &mut reporter)?;
    // The rest has fewer edges than the whole, so what is enough for the whole is enough.
    fitting::check_memory(&chosen, &network, None)?;
    let embed = |rest: &_, repeat: usize| {
        reporter.say(&format!("embedding without hidden edges, {} of {}", repeat + 1, settings.repeats));
        let fitted = fitting::fit(&chosen, rest, None, &mut reporter)?;
        let embedding = fitted.embedding();
        Ok((embedding.values().to_vec(), embedding.dim()))
    };
    let found = links(&network, &settings, &pool, embed, &mut |_| interrupt::go_on())?;
    found.notes.iter().for_each(|note| reporter.say(&format!("note: {note}")));
    let seconds = began.elapsed().as_secs_f64();
    show(args.print.json, "links", &found, pool.threads(), seconds, || links_table(&found))
}

//! `manyview demo`: the built-in digits network, from nothing to vectors.

use std::time::Instant;

use anyhow::Result;
use manyview::comm::Comm;
use manyview::digits;

use super::describe;
use super::embed::{Job, embed, prepare};
use crate::args::DemoArgs;
use crate::backend::Ranks;
use crate::interrupt;
use crate::ui::Reporter;

pub(crate) fn run(args: &DemoArgs, ranks: &Ranks) -> Result<()> {
    let began = Instant::now();
    let config = args.model.config();
    config.check()?;
    interrupt::watch_for_it()?;
    let output = prepare(&args.output, &[], true, ranks)?;
    let mut reporter = Reporter::new(args.quiet || ranks.rank() > 0);
    reporter.say(digits::CREDIT);
    let network = digits::network()?;
    let read_seconds = began.elapsed().as_secs_f64();
    describe(&network, read_seconds, &reporter);
    let job = Job {
        began,
        read_seconds,
        network: &network,
        config: &config,
        max_memory: None,
        formats: &[],
        output,
        checkpoints: None,
        ranks,
    };
    embed(job, &mut reporter)
}

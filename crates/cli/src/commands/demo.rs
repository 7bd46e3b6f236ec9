//! `manyview demo`: the built-in digits network, from nothing to vectors.

use std::time::Instant;

use anyhow::Result;
use manyview::digits;

use super::describe;
use super::embed::{Job, embed, prepare};
use crate::args::DemoArgs;
use crate::interrupt;
use crate::ui::Reporter;

pub(crate) fn run(args: &DemoArgs) -> Result<()> {
    let began = Instant::now();
    let config = args.model.config();
    config.check()?;
    interrupt::watch_for_it()?;
    let output = prepare(&args.output, &[], true)?;
    let mut reporter = Reporter::new(args.quiet);
    reporter.say(digits::CREDIT);
    let network = digits::network()?;
    let read_seconds = began.elapsed().as_secs_f64();
    describe(&network, read_seconds, &reporter);
    let (network, config, formats, max_memory) = (&network, &config, &[], None);
    embed(Job { began, read_seconds, network, config, max_memory, formats, output }, &mut reporter)
}

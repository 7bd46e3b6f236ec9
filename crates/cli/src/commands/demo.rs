//! `manyview demo`: vectors, scores and a report for the built-in digits network.

use std::time::Instant;

use anyhow::Result;
use manyview::comm::Comm;
use manyview::parallel::Pool;
use manyview::result::ResultFolder;
use manyview::worth::{WorthSettings, view_worth_of};
use manyview::{Labels, Model, Network, digits};

use super::embed::{Ending, Existing, Job, create, embed};
use super::{describe, plan, worth};
use crate::args::DemoArgs;
use crate::backend::Ranks;
use crate::interrupt;
use crate::report::{self, Content, Place, Sample};
use crate::ui::{Reporter, print, worth_table};

/// Fewer than in `manyview evaluate`, to save time.
const REPEATS: usize = 3;

pub(crate) fn run(args: &DemoArgs, ranks: &Ranks) -> Result<()> {
    let began = Instant::now();
    let model = args.model.mnmf()?;
    model.check()?;
    interrupt::watch_for_it()?;
    let output = create(&args.output, &[], Existing::Replaced, ranks)?;
    let mut reporter = Reporter::new(args.quiet || ranks.rank() > 0);
    reporter.say(digits::CREDIT);
    let network = digits::network_on(&Pool::new(model.threads)?)?;
    let read_seconds = began.elapsed().as_secs_f64();
    describe(&network, read_seconds, &reporter);
    let (model, memory) = plan::fitted(&network, &model, None, false, ranks, &reporter)?;
    let job = Job {
        began,
        read_seconds,
        inputs: Vec::new(),
        directed: None,
        duplicates: None,
        network: &network,
        reading: None,
        model: &model,
        labels: None,
        memory,
        output,
        checkpoints: None,
        keep_checkpoints: false,
        ending: if args.quiet { Ending::Nothing } else { Ending::Summary { stages: false, next: false } },
        save_model: false,
        ranks,
    };
    embed(job, &mut reporter)?;
    if ranks.rank() == 0 { score(args, &model, &network, &mut reporter) } else { Ok(()) }
}

/// Scores all views and each view alone, and writes the report.
fn score(args: &DemoArgs, model: &Model, network: &Network, reporter: &mut Reporter) -> Result<()> {
    let pool = Pool::new(model.threads)?;
    let finished = ResultFolder::open(&args.output)?;
    let pairs = digits::labels_tsv().lines().filter_map(|line| line.split_once('\t'));
    let labels = Labels::from_pairs(network.nodes().iter(), pairs)?;
    let settings = WorthSettings { repeats: REPEATS, leave_one_out: false, ..WorthSettings::default() };
    let mut alone = Reporter::new(reporter.is_quiet()).brief();
    let found = view_worth_of(&finished.embedding, network, &labels, model, &settings, &mut |event| {
        worth::show(event, &mut alone)
    });
    alone.finish();
    let found = found?;
    let sample = Sample::of(&finished.embedding, None, model.seed);
    let extras = report::evaluation(&finished, &sample, Some(&labels), model.seed, &pool, reporter)?;
    let place = Place::prepare(&args.output.join("report.html"), true)?;
    let labels = [("label", &labels)];
    let content =
        Content { title: "digits", finished: &finished, labels: &labels, sample: &sample, extras: &extras };
    let page = report::write(content, model.seed, place, &pool, reporter)?;
    if reporter.is_quiet() {
        return Ok(());
    }
    print(format!("\n{}\nopen {} in a browser\n", worth_table(&found), page.path.display()))
}

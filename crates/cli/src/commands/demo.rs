//! `manyview demo`: vectors, scores and a report for the built-in digits network.

use std::fmt::Write;
use std::time::Instant;

use anyhow::Result;
use manyview::comm::Comm;
use manyview::evaluate::{
    ClassifySettings, ClusterSettings, Labels, Vectors, classify_watched, cluster_watched,
};
use manyview::parallel::Pool;
use manyview::result::ResultFolder;
use manyview::{Embedding, FitOptions, Model, Network, digits};

use super::describe;
use super::embed::{Existing, Job, create, embed};
use super::plan;
use crate::args::DemoArgs;
use crate::backend::Ranks;
use crate::interrupt;
use crate::report::{self, Content, Place, Sample};
use crate::ui::{Reporter, print};

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
    let (model, memory) = plan::fitted(&network, &model, None, ranks, &reporter)?;
    let job = Job {
        began,
        read_seconds,
        directed: None,
        duplicates: None,
        network: &network,
        model: &model,
        labels: None,
        memory,
        output,
        checkpoints: None,
        keep_checkpoints: false,
        save_model: false,
        ranks,
    };
    embed(job, &mut reporter)?;
    if ranks.rank() == 0 { score(args, &model, &network, &mut reporter) } else { Ok(()) }
}

/// Scores the vectors of all views and of each view alone, and writes the report.
fn score(args: &DemoArgs, model: &Model, network: &Network, reporter: &mut Reporter) -> Result<()> {
    let pool = Pool::new(model.threads)?;
    let finished = ResultFolder::open(&args.output)?;
    let pairs = digits::labels_tsv().lines().filter_map(|line| line.split_once('\t'));
    let labels = Labels::from_pairs(network.nodes().iter(), pairs)?;
    let all = Scores::of("all views", &finished.embedding, &labels, &pool, reporter)?;
    let mut single = Vec::new();
    for (view, name) in network.views().iter().map(|view| &view.name).enumerate() {
        reporter.finish();
        reporter.say(&format!("embedding {name} alone"));
        let fit = model.fit_with(&network.only(view), &FitOptions::default(), &mut |_| interrupt::go_on())?;
        single.push(Scores::of(name, &fit.embedding, &labels, &pool, reporter)?);
    }
    single.sort_by(|a, b| b.micro_f1.total_cmp(&a.micro_f1));
    let sample = Sample::of(&finished.embedding, None, model.seed);
    let extras = report::evaluation(&sample, Some(&labels), model.seed, &pool, reporter)?;
    let place = Place::prepare(&args.output.join("report.html"), true)?;
    let (labels, sample, extras) = (Some(&labels), &sample, &extras);
    let content = Content { title: "digits", finished: &finished, labels, sample, extras };
    let page = report::write(content, model.seed, place, &pool, reporter)?;
    if reporter.is_quiet() {
        return Ok(());
    }
    let mut text = format!("\n{:<22}  {:>8}  {:>6}\n", "views", "micro-F1", "NMI");
    for (place, scores) in std::iter::once(&all).chain(&single).enumerate() {
        let best = if place == 1 { " (best alone)" } else { "" };
        let name = format!("{}{best}", scores.name);
        let _ = writeln!(text, "{name:<22}  {:>8.3}  {:>6.3}", scores.micro_f1, scores.nmi);
    }
    let _ = writeln!(
        text,
        "(micro-F1: trained on half of the nodes; NMI: k-means with 10 clusters; means of {REPEATS} repeats)"
    );
    let _ = writeln!(text, "\nopen {} in a browser", page.path.display());
    print(text)
}

/// The scores of an embedding.
struct Scores {
    name: String,
    micro_f1: f64,
    nmi: f64,
}

impl Scores {
    fn of(
        name: &str,
        embedding: &Embedding,
        labels: &Labels,
        pool: &Pool,
        reporter: &mut Reporter,
    ) -> Result<Self> {
        let vectors = Vectors::try_from(embedding)?;
        let settings = ClassifySettings { train: vec![0.5], repeats: REPEATS, ..ClassifySettings::default() };
        let classified = classify_watched(&vectors, labels, &settings, pool, &mut |step| {
            reporter.evaluating(step, "splits");
            interrupt::go_on()
        })?;
        let settings = ClusterSettings { repeats: REPEATS, ..ClusterSettings::default() };
        let clustered = cluster_watched(&vectors, labels, &settings, pool, &mut |step| {
            reporter.evaluating(step, "runs of k-means");
            interrupt::go_on()
        })?;
        let micro_f1 = classified.shares[0].micro_f1.mean;
        Ok(Scores { name: name.to_owned(), micro_f1, nmi: clustered.nmi.mean })
    }
}

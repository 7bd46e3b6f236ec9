//! The expected memory and time of a run: checked before each run, printed by `manyview embed --plan`.

use std::fmt::Write;

use anyhow::Result;
use manyview::comm::Comm;
use manyview::embedding::Kind;
use manyview::estimate::{ExpectedTime, Memory, Terms, ViewEstimate};
use manyview::living::file_bytes;
use manyview::memory::{available_bytes, peak_resident_bytes};
use manyview::message::{Notation, option};
use manyview::mnmf::{Mnmf, Split};
use manyview::proximity::{How, Source};
use manyview::result::{RunMemory, RunPeaks};
use manyview::{Error, MethodSettings, Model, ModelEstimate, Network, Progress};

use crate::backend::Ranks;
use crate::interrupt;
use crate::ui::{Reporter, about, bytes, plural, print, seconds, thousands};

/// The model with what its settings leave open chosen so that the run fits into memory, and what it is expected to need, which is
/// printed. Fails if it exceeds the limit.
pub(super) fn fitted(
    network: &Network,
    model: &Model,
    max_memory: Option<u64>,
    save_model: bool,
    ranks: &Ranks,
    reporter: &Reporter,
) -> Result<(Model, RunMemory)> {
    let phases = RunPeaks { read: peak_resident_bytes(), proximity: None, factorize: None };
    if ranks.size() > 1 {
        // The estimate is for one process; how ranks share machines is not known here.
        if max_memory.is_some() {
            let message =
                format!("{} applies to one process; leave it out with several ranks", option("max_memory"));
            return Err(Error::config(message).into());
        }
        return Ok((model.clone(), RunMemory { estimated_bytes: None, phases }));
    }
    let terms = Terms { keeps_factors: save_model, max_memory };
    let (fitted, estimate) = model.fitted_with(terms, network, &mut |_| interrupt::go_on())?;
    let Some(estimate) = estimate else { return Ok((fitted, RunMemory { estimated_bytes: None, phases })) };
    if let Some(sampled) = sampled(&estimate, fitted != *model) {
        reporter.say(&sampled);
    }
    let (entries, peak) = (about(estimate.entries()), estimate.peak());
    reporter.say(&format!("expecting about {entries} proximity entries and {} of memory", bytes(peak)));
    Ok((fitted, RunMemory { estimated_bytes: Some(peak), phases }))
}

/// What is said of sampled matrices, and why they are. `reduced` if the settings as they were given would not fit into memory.
fn sampled(estimate: &ModelEstimate, reduced: bool) -> Option<String> {
    let How::Sampled(walks) = estimate.estimate.proximity.how else { return None };
    let given = estimate.mnmf.proximity;
    let why = if reduced {
        "; exact matrices, or more walks, would not fit into memory"
    } else if given.proximity == Source::Auto && given.walks.is_none() {
        "; exact matrices would take long (--proximity exact computes them)"
    } else {
        ""
    };
    Some(format!("proximity is sampled by {} from each node{why}", plural(walks.per_node, "walk")))
}

/// Prints the plan.
pub(super) fn run(network: &Network, model: &Model, max_memory: Option<u64>, save_model: bool) -> Result<()> {
    let mut watch = |_: &Progress<'_>| interrupt::go_on();
    let terms = Terms { keeps_factors: save_model, max_memory };
    let (fitted, found, verdict) = match model.fitted_with(terms, network, &mut watch) {
        Ok((model, found)) => (model, found, String::new()),
        Err(Error::TooLarge(message)) => {
            let verdict = format!("\nThis run would fail: {}\n", message.in_notation(Notation::CommandLine));
            (
                model.clone(),
                model.estimate_with(Terms { max_memory: None, ..terms }, network, &mut watch)?,
                verdict,
            )
        }
        Err(error) => return Err(error.into()),
    };
    let Some(found) = found else { unreachable!("methods without an estimate were rejected earlier") };
    let estimate = &found.estimate;
    let mut text = views(network, &found, fitted.method().name());
    text.extend(sampled(&found, fitted != *model).map(|sampled| sampled + "\n"));
    if let MethodSettings::Mnmf(settings) = &fitted.settings {
        let time = estimate.time(settings, network, &found.pool, &mut watch)?;
        text.push_str(&stages(network, settings, &found.views, &time)?);
        text.push_str(&memory(&estimate.memory, max_memory));
        if save_model {
            let size = bytes(file_bytes(settings, &settings.plan(network.views().len())?.stages, network));
            let _ =
                writeln!(text, "model   model.bin will have about {size}; its factors are part of the peak");
        }
        let _ = write!(
            text,
            "\ntime    about {}: proximity {}, stages {}\n        (rough: the number of iterations is not known in \
             advance)\n",
            seconds(time.total()),
            seconds(time.proximity),
            seconds(time.total() - time.proximity)
        );
    } else {
        text.push_str(&memory(&estimate.memory, max_memory));
    }
    text.push_str(&verdict);
    text.push_str("\nNothing was written. To run it, use -o DIR instead of --plan.\n");
    print(text)
}

fn views(network: &Network, estimate: &ModelEstimate, method: &str) -> String {
    let nodes = network.nodes().len();
    let (count, views) = (plural(nodes, "node"), plural(network.views().len(), "view"));
    let mut text = format!("{count}, {views}\n\n");
    let names = estimate.views.iter().map(|view| view.name.chars().count());
    let widest = names.max().unwrap_or(0).max(4);
    let _ = writeln!(
        text,
        "{:<widest$}  {:>12}  {:>16}  {:>6}  {:>9}",
        "view", "edges", "expected entries", "+-", "of pairs"
    );
    for expected in &estimate.views {
        let pairs = 100.0 * expected.entries / (nodes as f64 * nodes as f64);
        let _ = writeln!(
            text,
            "{:<widest$}  {:>12}  {:>16}  {:>5.1}%  {pairs:>8.2}%",
            expected.name,
            thousands(expected.edges),
            about(expected.entries),
            100.0 * expected.error
        );
    }
    let _ = writeln!(text, "{:<widest$}  {:>12}  {:>16}", "all", "", about(estimate.entries()));
    if let Some(view) = estimate.largest_view() {
        let _ = writeln!(text, "({method} processes one view at a time; the peak is that of {view})");
    }
    text
}

fn stages(
    network: &Network,
    config: &Mnmf,
    expected: &[ViewEstimate],
    time: &ExpectedTime,
) -> Result<String> {
    let plan = config.plan(network.views().len())?;
    let mut text = format!("\n{:>5}  {:<9}  {:>9}  {:>8}  split\n", "stage", "kind", "columns", "time");
    for (stage, time) in plan.stages.iter().zip(&time.stages) {
        let columns = format!("{}-{}", stage.columns.start, stage.columns.end.saturating_sub(1));
        let split = match (stage.kind, &stage.split) {
            (Kind::Consensus, _) => "all views together".into(),
            (_, Split::Given(split)) => {
                let names = expected.iter().map(|view| &view.name);
                let each = names.zip(split).map(|(name, columns)| format!("{name} {columns}"));
                each.collect::<Vec<_>>().join(", ")
            }
            // Known when the stage starts.
            (_, Split::Residual(served)) if *served < expected.len() => {
                format!("{served} of {} matrices, by residual", expected.len())
            }
            (_, _) => "by the residual of each view".into(),
        };
        let (number, kind, time) = (stage.number, stage.kind.name(), seconds(time.seconds));
        let _ = writeln!(text, "{number:>5}  {kind:<9}  {columns:>9}  {time:>8}  {split}");
    }
    if config.auto {
        text.push_str("(an upper limit: the stages are chosen when the run has seen the data)\n");
    }
    Ok(text)
}

fn memory(memory: &Memory, max_memory: Option<u64>) -> String {
    let read = memory.read.map_or_else(|| "unknown".into(), bytes);
    let (proximity, factorize, peak) =
        (bytes(memory.proximity), bytes(memory.factorize), bytes(memory.peak()));
    let limit = max_memory.map(|limit| format!(", --max-memory {}", bytes(limit))).unwrap_or_default();
    let available = available_bytes().map(|bytes_| format!(" ({} available{limit})", bytes(bytes_)));
    let available = available.unwrap_or_default();
    format!(
        "\nmemory  peak {peak}{available}: reading {read}, proximity {proximity}, factorization {factorize}\n"
    )
}

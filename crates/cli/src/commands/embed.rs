//! `manyview embed`: computes one vector per node.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use manyview::checkpoint::Checkpoints;
use manyview::comm::{self, Comm};
use manyview::io::{Checksums, Directed, Disk, Files, Format, InputFile, ReadNetwork};
use manyview::living::{MODEL, write_model};
use manyview::memory::peak_resident_bytes;
use manyview::message::{Notation, switch};
use manyview::method::share_network;
use manyview::network::Duplicates;
use manyview::overlap::overlaps;
use manyview::parallel::Pool;
use manyview::result::{EMBEDDING, RankRecord, ResultFolder, RunMemory, RunRecord};
use manyview::{Error, Fit, FitOptions, Labels, Model, Network, Progress};
use serde::Serialize;

use super::checkpoint::CheckpointFolder;
use super::{command_line, fit, plan, quoted, read_from, tell_unknown};
use crate::args::EmbedArgs;
use crate::backend::Ranks;
use crate::interrupt;
use crate::ui::{Contributions, Reporter, bytes, plural, print, seconds, stage_table};

pub(crate) fn run(args: &EmbedArgs, ranks: &Ranks) -> Result<()> {
    let began = Instant::now();
    let model = args.model.model()?;
    // Before the network is read, which may take long.
    check(args, &model, ranks)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.output.quiet || ranks.rank() > 0);
    if args.output.verbose {
        reporter = reporter.with_stages();
    }
    let folder = match &args.output.output {
        Some(folder) if !args.plan => folder,
        _ if ranks.rank() > 0 => return Ok(()),
        _ => {
            let (read, _) = read_views(&Disk, args, &model, &mut reporter)?;
            return plan::run(&read.network, &model, args.max_memory, args.save_model);
        }
    };
    let existing = if args.output.force {
        Existing::Replaced
    } else if args.checkpoint.resume && CheckpointFolder::has_stages(folder) {
        Existing::Unfinished
    } else {
        Existing::Refused
    };
    let output = create(folder, &args.format, existing, ranks)?;
    if let Some(output) = output.as_ref().filter(|_| args.save_model) {
        output.expect_extra(MODEL)?;
    }
    let kept = CheckpointFolder::look(folder, &args.checkpoint, &model, args.output.force, ranks.rank())?;
    let files = Checksums::of(&Disk);
    let (read, read_seconds) = read_once(&files, args, &model, ranks, &mut reporter)?;
    let network = &read.network;
    for format in &args.format {
        format.check(network.nodes())?;
    }
    let labels = args.labels.as_ref().map(|file| args.columns.open(file, network.nodes())).transpose()?;
    if let (Some(labels), Some(file)) = (&labels, &args.labels) {
        tell_unknown(labels, file, "network", &reporter);
        // For its checksum; a label file is small.
        files.read(file).map_err(|error| Error::io(file, error))?;
    }
    let (model, memory) = plan::fitted(network, &model, args.max_memory, ranks, &reporter)?;
    let checkpoints = kept.open(&model, network, &reporter)?;
    let job = Job {
        began,
        read_seconds,
        inputs: files.inputs(),
        directed: directed(args, network),
        duplicates: args.network.duplicates.filter(|&duplicates| duplicates != Duplicates::default()),
        network,
        reading: Some(&read),
        model: &model,
        labels: labels.as_ref(),
        memory,
        output,
        checkpoints: checkpoints.as_ref(),
        keep_checkpoints: args.checkpoint.keep_checkpoint,
        ending: match () {
            () if args.output.json => Ending::Json,
            () if args.output.quiet => Ending::Nothing,
            () => Ending::Summary { stages: args.output.verbose, next: true },
        },
        save_model: args.save_model,
        ranks,
    };
    embed(job, &mut reporter)
}

/// Rejects settings and options that cannot be combined.
fn check(args: &EmbedArgs, model: &Model, ranks: &Ranks) -> Result<()> {
    model.check()?;
    model.check_labels(args.labels.is_some())?;
    let name = model.method().name();
    let asks_for_checkpoints = args.checkpoint.resume || args.checkpoint.keep_checkpoint;
    model.method().capabilities().check(name, ranks.size(), asks_for_checkpoints)?;
    if args.save_model && !model.method().capabilities().stages {
        bail!(Error::config(format!(
            "{}: {name} has no factors to keep; leave it out, or use mnmf",
            switch("save_model")
        )));
    }
    if args.plan && !model.is_estimated() {
        bail!(Error::config(format!(
            "{}: the memory and time of {name} are not known in advance; leave it out",
            switch("plan")
        )));
    }
    Ok(model.check_max_memory(args.max_memory)?)
}

/// Reads the network: all views, or the one that `--view-only` names.
fn read_views(
    files: &dyn Files,
    args: &EmbedArgs,
    model: &Model,
    reporter: &mut Reporter,
) -> Result<(ReadNetwork, f64)> {
    // A plan reports that a run would exceed the limit, without an error.
    let limit = args.max_memory.filter(|_| !args.plan);
    let (read, seconds) = read_from(files, limit, &args.network, model.threads, reporter)?;
    let Some(name) = &args.view_only else { return Ok((read, seconds)) };
    let view = read.network.view_index(name)?;
    Ok((ReadNetwork { network: read.network.only(view), ..read }, seconds))
}

/// Reads the network on rank 0 and shares it with the other ranks. Only rank 0 knows how it was read.
fn read_once(
    files: &dyn Files,
    args: &EmbedArgs,
    model: &Model,
    ranks: &Ranks,
    reporter: &mut Reporter,
) -> Result<(ReadNetwork, f64)> {
    let began = Instant::now();
    let read = match ranks.rank() {
        0 => Some(read_views(files, args, model, reporter)?.0),
        _ => None,
    };
    let (own, rest) = match read {
        Some(ReadNetwork { network, notes, warnings, skipped }) => {
            (Some(network), (notes, warnings, skipped))
        }
        None => (None, Default::default()),
    };
    let network = share_network(own, ranks);
    let (notes, warnings, skipped) = rest;
    Ok((ReadNetwork { network, notes, warnings, skipped }, began.elapsed().as_secs_f64()))
}

/// The views that the command line calls directed, for the record; Python needs it to recognize the network.
fn directed(args: &EmbedArgs, network: &Network) -> Option<Directed> {
    match args.network.options().directed {
        Directed::No => None,
        Directed::Views(mut names) => {
            names.retain(|name| network.view_index(name).is_ok());
            (!names.is_empty()).then_some(Directed::Views(names))
        }
        all => Some(all),
    }
}

/// Everything that an embedding needs.
pub(super) struct Job<'a> {
    pub(super) began: Instant,
    pub(super) read_seconds: f64,
    pub(super) inputs: Vec<InputFile>,
    pub(super) directed: Option<Directed>,
    pub(super) duplicates: Option<Duplicates>,
    pub(super) network: &'a Network,
    /// How it was read, if it comes from files.
    pub(super) reading: Option<&'a ReadNetwork>,
    pub(super) model: &'a Model,
    pub(super) labels: Option<&'a Labels>,
    pub(super) memory: RunMemory,
    /// On rank 0 only.
    pub(super) output: Option<ResultFolder>,
    pub(super) checkpoints: Option<&'a Checkpoints>,
    /// Whether they are kept after the result is written.
    pub(super) keep_checkpoints: bool,
    pub(super) ending: Ending,
    /// Whether the model is written beside the vectors.
    pub(super) save_model: bool,
    pub(super) ranks: &'a Ranks,
}

/// What is printed at the end.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    Nothing,
    /// One line for scripts.
    Json,
    Summary {
        /// Whether it has the table of stages.
        stages: bool,
        /// Whether it says what to do next.
        next: bool,
    },
}

/// What happens to a result that is in the folder.
#[derive(Clone, Copy)]
pub(super) enum Existing {
    Refused,
    /// It is completed, if it is one that a run with the same result could not finish.
    Unfinished,
    Replaced,
}

/// Prepares the result folder, on rank 0: errors in it are found before the work starts.
pub(super) fn create(
    folder: &Path,
    formats: &[Format],
    existing: Existing,
    ranks: &Ranks,
) -> Result<Option<ResultFolder>> {
    let output = match (ranks.rank(), existing) {
        (0, Existing::Unfinished) => ResultFolder::create_unfinished(folder, formats).map(Some),
        (0, _) => ResultFolder::create(folder, formats, matches!(existing, Existing::Replaced)).map(Some),
        _ => Ok(None),
    };
    // Before the other ranks are met: if one of them has failed, this process ends there.
    if let Ok(Some(output)) = &output {
        interrupt::writes_to(output.traces());
    }
    // No network is read whose result cannot be written.
    Ok(comm::agree(ranks, output)?)
}

/// Embeds the network, writes the result and prints a summary.
pub(super) fn embed(job: Job<'_>, reporter: &mut Reporter) -> Result<()> {
    let mut memory = job.memory;
    let options = FitOptions {
        labels: job.labels,
        comm: job.ranks,
        checkpoints: job.checkpoints,
        keep_factors: job.save_model,
    };
    let result = job.model.fit_with(job.network, &options, &mut |now| {
        if memory.phases.proximity.is_none() && matches!(now, Progress::Iteration { .. }) {
            memory.phases.proximity = peak_resident_bytes();
        }
        fit::show(now, reporter)
    });
    reporter.finish();
    let mut found = result?;
    memory.phases.factorize = peak_resident_bytes();
    let folder = job.output.as_ref().map(|output| output.path().to_owned());
    let ending = job.ending;
    let total = write(job, &mut found, memory)?;
    if let Some(chosen) = &found.chosen {
        reporter.say(&format!("plan: {}", chosen.sentence()));
    }
    fit::print_warnings(&found, reporter);
    // On rank 0.
    let Some(folder) = folder else { return Ok(()) };
    let text = match ending {
        Ending::Nothing => return Ok(()),
        Ending::Json => serde_json::to_string(&Finished::new(&found, &folder, total))? + "\n",
        Ending::Summary { stages, next } => summary(&found, &folder, total, stages, next),
    };
    // An error, since something that was asked for is lost; but not the result.
    print(text).map_err(|error| anyhow!("{error}; the result in {} is complete", folder.display()))
}

/// Writes all files on rank 0, and removes the checkpoints; returns the seconds of the whole run.
fn write(mut job: Job<'_>, fit: &mut Fit, memory: RunMemory) -> Result<f64> {
    let began = Instant::now();
    let pool = Pool::new(job.model.threads)?;
    let mut model = None;
    if let Some(output) = &mut job.output {
        output.write_vectors(&fit.embedding, &pool)?;
        if job.save_model {
            output.write_extra(MODEL, |writer| {
                model = Some(write_model(fit, job.network, writer)?);
                Ok(())
            })?;
        }
    }
    let write_seconds = if job.output.is_some() { began.elapsed().as_secs_f64() } else { 0.0 };
    // The other ranks wait here until the vectors are written; if that fails, rank 0 ends the job.
    let rank_records = RankRecord::gather(job.ranks, fit, job.read_seconds, write_seconds);
    let Some(mut output) = job.output else { return Ok(job.began.elapsed().as_secs_f64()) };
    fit.overlap = overlaps(job.network, &pool);
    let command = command_line();
    let mut record = RunRecord::new(fit, &command);
    (record.seconds.read, record.seconds.write) = (job.read_seconds, write_seconds);
    record.seconds.total = job.began.elapsed().as_secs_f64();
    (record.rank_records, record.memory) = (&rank_records, memory);
    (record.directed, record.duplicates) = (job.directed, job.duplicates);
    record.inputs = &job.inputs;
    if let Some(read) = job.reading {
        record.add_reading(&read.notes, &read.warnings, read.skipped);
    }
    record.model = model;
    output.write_record(&record)?;
    if interrupt::go_on().is_break() {
        return Err(Error::Interrupted.into());
    }
    let total = record.seconds.total;
    output.publish()?;
    // While the folder is locked, so that they are not those of the next run; and before anything is printed, so that they do
    // not depend on where that goes.
    if let Some(checkpoints) = job.checkpoints.filter(|_| !job.keep_checkpoints) {
        checkpoints.remove()?;
    }
    Ok(total)
}

/// A sentence, what each view contributed, and what to do next.
fn summary(fit: &Fit, folder: &Path, total: f64, stages: bool, next: bool) -> String {
    let (nodes, dim) = (plural(fit.embedding.rows(), "node"), plural(fit.embedding.dim(), "column"));
    let memory = peak_resident_bytes().map(|peak| format!(", with {} of memory", bytes(peak)));
    let (time, memory) = (seconds(total), memory.unwrap_or_default());
    let (file, method) = (folder.join(EMBEDDING), &fit.method);
    let mut text = format!("\n{method} wrote {nodes} x {dim} to {} in {time}{memory}\n", file.display());
    if stages && !fit.stages.is_empty() {
        let views: Vec<String> = fit.views.iter().chain(&fit.joint).map(|view| view.name.clone()).collect();
        let width = usize::from(console::Term::stdout().size().1);
        text += &format!("\n{}", stage_table(&fit.stages, &views, width));
    }
    let table = Contributions::of(fit).table();
    if !table.is_empty() {
        text += &format!("\n{table}");
    }
    if next {
        text += &format!("\nnext: manyview report {}\n", quoted(&folder.to_string_lossy()));
    }
    text
}

/// The line of `--json`. Field names are a contract; see `docs/formats.md`.
#[derive(Serialize)]
struct Finished<'a> {
    version: &'static str,
    method: &'a str,
    /// The result folder, as given.
    folder: String,
    nodes: usize,
    columns: usize,
    /// Wall time from start to end.
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    #[serde(flatten)]
    contributions: Contributions,
    warnings: Vec<String>,
}

impl<'a> Finished<'a> {
    fn new(fit: &'a Fit, folder: &Path, seconds: f64) -> Self {
        let warnings = fit.warnings.iter().map(|warning| warning.message.in_notation(Notation::CommandLine));
        Finished {
            version: env!("CARGO_PKG_VERSION"),
            method: &fit.method,
            folder: folder.display().to_string(),
            nodes: fit.embedding.rows(),
            columns: fit.embedding.dim(),
            seconds,
            peak_memory_bytes: peak_resident_bytes(),
            contributions: Contributions::of(fit),
            warnings: warnings.collect(),
        }
    }
}

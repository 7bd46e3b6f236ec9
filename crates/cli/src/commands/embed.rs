//! `manyview embed`: edge tables in, one vector per node out.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use manyview::checkpoint::Checkpoints;
use manyview::comm::Comm;
use manyview::io::{Format, OutputFolder, write_npy_to};
use manyview::memory::peak_resident_bytes;
use manyview::overlap::overlaps;
use manyview::parallel::Pool;
use manyview::result::{RankRecord, RunMemory, RunRecord, RunSeconds};
use manyview::stages::Progress;
use manyview::{Config, Embedding, Error, Fit, Network};

use super::kept::Kept;
use super::{command_line, other, plan, read};
use crate::args::{Chosen, EmbedArgs};
use crate::backend::Ranks;
use crate::interrupt;
use crate::ui::{Reporter, bytes, plural, print, seconds, stage_table};

pub(crate) fn run(args: &EmbedArgs, ranks: &Ranks) -> Result<()> {
    let began = Instant::now();
    let chosen = args.model.chosen()?;
    // What cannot work is said before a large file is read.
    chosen.check()?;
    if ranks.size() > 1 && args.network.uses_standard_input() {
        bail!(Error::config("standard input reaches one rank of many; put the edges into a file"));
    }
    let config = match chosen {
        Chosen::Mnmf(config) if args.labels.is_none() => config,
        Chosen::Mnmf(_) => bail!(Error::config("--labels: mnmf learns from no labels; leave it out")),
        Chosen::Other(model) => return other::run(args, &model, ranks),
    };
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.output.quiet || ranks.rank() > 0);
    let folder = match &args.output.output {
        Some(folder) if !args.plan => folder,
        _ if ranks.rank() > 0 => return Ok(()),
        _ => return plan::run(&read_views(args, &mut reporter)?.0, &config, args.max_memory),
    };
    let output = prepare(folder, &args.format, args.output.force, ranks)?;
    let kept = Kept::look(folder, &args.checkpoint, args.output.force, ranks.rank())?;
    let (network, read_seconds) = read_views(args, &mut reporter)?;
    for format in &args.format {
        format.check(network.nodes())?;
    }
    let checkpoints = kept.open(&config, &network, &reporter)?;
    let job = Job {
        began,
        read_seconds,
        network: &network,
        config: &config,
        max_memory: args.max_memory,
        formats: &args.format,
        output,
        checkpoints: checkpoints.as_ref(),
        ranks,
    };
    embed(job, &mut reporter)?;
    kept.close(checkpoints)
}

/// Reads the network: all views, or the one that was asked for.
pub(super) fn read_views(args: &EmbedArgs, reporter: &mut Reporter) -> Result<(Network, f64)> {
    let (network, seconds) = read(&args.network, reporter)?;
    let Some(name) = &args.view_only else { return Ok((network, seconds)) };
    let names: Vec<&str> = network.views().iter().map(|view| view.name.as_str()).collect();
    let Some(at) = names.iter().position(|known| known == name) else {
        bail!(Error::config(format!(
            "--view-only: there is no view {name:?}; the views are {}",
            names.join(", ")
        )));
    };
    Ok((network.only(at), seconds))
}

/// What is to be embedded, and where to.
pub(super) struct Job<'a> {
    pub(super) began: Instant,
    pub(super) read_seconds: f64,
    pub(super) network: &'a Network,
    pub(super) config: &'a Config,
    pub(super) max_memory: Option<u64>,
    pub(super) formats: &'a [Format],
    /// On rank 0, which writes.
    pub(super) output: Option<OutputFolder>,
    pub(super) checkpoints: Option<&'a Checkpoints>,
    pub(super) ranks: &'a Ranks,
}

/// Checks that the result can be written, before the work and not after it.
pub(super) fn prepare(
    folder: &Path,
    formats: &[Format],
    force: bool,
    ranks: &Ranks,
) -> Result<Option<OutputFolder>> {
    if ranks.rank() > 0 {
        return Ok(None);
    }
    let formats = formats.iter().map(|format| format.file_name());
    let names: Vec<&str> = ["embedding.npy", "nodes.txt", "run.json"].into_iter().chain(formats).collect();
    let output = OutputFolder::prepare(folder, &names, force)?;
    interrupt::writes_to(&output);
    Ok(Some(output))
}

/// Fits, writes, and shows what happened.
pub(super) fn embed(job: Job<'_>, reporter: &mut Reporter) -> Result<()> {
    let mut memory = plan::memory_needed(job.network, job.config, job.max_memory, job.ranks, reporter)?;
    let result = job.config.fit_from(job.network, job.ranks, job.checkpoints, &mut |now| {
        if memory.phases.proximity.is_none() && !matches!(now, Progress::Proximity { .. }) {
            memory.phases.proximity = peak_resident_bytes();
        }
        reporter.fitting(now);
        interrupt::go_on()
    });
    reporter.finish();
    let fit = result?;
    memory.phases.factorize = peak_resident_bytes();
    let folder = job.output.as_ref().map(|output| output.path().to_owned());
    let total = write(job, &fit, memory)?;
    for warning in &fit.warnings {
        reporter.say(&format!("warning: {warning}"));
    }
    if let Some(folder) = folder
        && !reporter.is_quiet()
    {
        show(&fit, &folder, total)?;
    }
    Ok(())
}

/// Writes all files on rank 0, and returns how long the whole run took.
fn write(mut job: Job<'_>, fit: &Fit, memory: RunMemory) -> Result<f64> {
    let began = Instant::now();
    if let Some(output) = &mut job.output {
        write_vectors(output, &fit.embedding, job.formats)?;
    }
    let write_seconds = if job.output.is_some() { began.elapsed().as_secs_f64() } else { 0.0 };
    // The others wait here until the vectors are written; if that fails, rank 0 ends the job.
    let rank_records = RankRecord::gather(job.ranks, fit, job.read_seconds, write_seconds);
    let seconds = RunSeconds {
        read: job.read_seconds,
        proximity: fit.seconds.proximity,
        factorize: fit.seconds.factorize,
        write: write_seconds,
        total: job.began.elapsed().as_secs_f64(),
    };
    let Some(mut output) = job.output else { return Ok(seconds.total) };
    let command = command_line();
    let overlap = overlaps(job.network, &Pool::new(job.config.threads)?);
    let record = RunRecord::new(&command, job.config, fit, seconds, &rank_records);
    let record = record.with_memory(memory).with_overlap(&overlap);
    output.write("run.json", |writer| record.write_to(writer))?;
    if interrupt::go_on().is_break() {
        return Err(Error::Interrupted.into());
    }
    output.commit()?;
    Ok(seconds.total)
}

pub(crate) fn write_vectors(
    output: &mut OutputFolder,
    embedding: &Embedding,
    formats: &[Format],
) -> Result<()> {
    let (nodes, dim, values) = (embedding.nodes(), embedding.dim(), embedding.values());
    output.write("embedding.npy", |writer| write_npy_to(writer, nodes.len(), dim, values))?;
    output.write("nodes.txt", |writer| nodes.iter().try_for_each(|id| writeln!(writer, "{id}")))?;
    for format in formats {
        output.write(format.file_name(), |writer| format.write_to(writer, nodes, dim, values))?;
    }
    Ok(())
}

fn show(fit: &Fit, folder: &Path, total: f64) -> Result<()> {
    let views: Vec<String> = fit.views.iter().map(|view| view.name.clone()).collect();
    let width = usize::from(console::Term::stdout().size().1);
    let table = stage_table(&fit.stages, &views, width);
    let (nodes, dim) = (plural(fit.embedding.rows(), "node"), plural(fit.embedding.dim(), "column"));
    let memory = peak_resident_bytes().map(|peak| format!(", {} of memory", bytes(peak)));
    let (time, memory) = (seconds(total), memory.unwrap_or_default());
    let file = folder.join("embedding.npy");
    print(format!("\n{table}\n{nodes} x {dim} in {}: {time}{memory}\n", file.display()))
}

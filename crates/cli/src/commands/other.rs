//! `manyview embed --method`: the methods other than MNMF.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use manyview::comm::Comm;
use manyview::evaluate::Labels;
use manyview::memory::peak_resident_bytes;
use manyview::methods::Model;
use manyview::overlap::overlaps;
use manyview::parallel::Pool;
use manyview::{Embedding, Error, Network};

use super::embed::{prepare, read_views, write_vectors};
use super::fitting::{self, Taken};
use super::{command_line, tell_unknown};
use crate::args::{Chosen, EmbedArgs};
use crate::backend::Ranks;
use crate::interrupt;
use crate::ui::{Reporter, bytes, plural, print, seconds};

pub(super) fn run(args: &EmbedArgs, model: &Model, ranks: &Ranks) -> Result<()> {
    let began = Instant::now();
    refuse_what_mnmf_alone_has(args, model, ranks)?;
    interrupt::watch_for_it()?;
    let folder = args.output.output.as_ref().expect("required unless --plan is given, which was refused");
    let mut output = prepare(folder, &args.format, args.output.force, ranks)?.expect("this is rank 0");
    let mut reporter = Reporter::new(args.output.quiet);
    let (network, read) = read_views(args, &mut reporter)?;
    for format in &args.format {
        format.check(network.nodes())?;
    }
    let labels = args.labels.as_ref().map(|file| Labels::open(file, network.nodes())).transpose()?;
    if let (Some(labels), Some(file)) = (&labels, &args.labels) {
        tell_unknown(labels, file, "network", &reporter);
    }
    let chosen = Chosen::Other(model.clone());
    fitting::check_memory(&chosen, &network, args.max_memory)?;
    let fitted = fitting::fit(&chosen, &network, labels.as_ref(), &mut reporter)?;

    let writing = Instant::now();
    write_vectors(&mut output, fitted.embedding(), &args.format)?;
    let (write, total) = (writing.elapsed().as_secs_f64(), began.elapsed().as_secs_f64());
    let overlap = overlaps(&network, &Pool::new(model.threads)?);
    let taken = Taken { read, write, total };
    output.write("run.json", |writer| {
        fitted.write_record(writer, &command_line(), &chosen, &network, &overlap, taken)
    })?;
    if interrupt::go_on().is_break() {
        bail!(Error::Interrupted);
    }
    output.commit()?;
    if reporter.is_quiet() { Ok(()) } else { show(model, &network, fitted.embedding(), folder, total) }
}

/// Stages make checkpoints, plans and ranks possible; other methods have none.
fn refuse_what_mnmf_alone_has(args: &EmbedArgs, model: &Model, ranks: &Ranks) -> Result<()> {
    let name = model.method().name();
    let kept = &args.checkpoint;
    let typed =
        [("--plan", args.plan), ("--resume", kept.resume), ("--keep-checkpoint", kept.keep_checkpoint)];
    if let Some((option, _)) = typed.iter().find(|option| option.1) {
        bail!(Error::config(format!("{option} works with mnmf alone; leave it out with {name}")));
    }
    if ranks.size() > 1 {
        bail!(Error::config(format!("{name} runs in one process; start it without mpirun, or use mnmf")));
    }
    if args.max_memory.is_some() && model.proximity().is_none() {
        bail!(Error::config(format!(
            "--max-memory: the memory of {name} is not known beforehand, so no limit can be kept; leave it out"
        )));
    }
    if args.labels.is_some() && !model.learns_from_labels() {
        bail!(Error::config(format!("--labels: {name} as set learns from no labels; leave it out")));
    }
    if args.labels.is_none() && model.learns_from_labels() {
        bail!(Error::config(format!(
            "{name} with attention needs labels of training nodes: add --labels FILE"
        )));
    }
    Ok(())
}

fn show(model: &Model, network: &Network, embedding: &Embedding, folder: &Path, total: f64) -> Result<()> {
    let mut text = String::new();
    if embedding.parts().len() > 1 {
        let widest = network.views().iter().map(|view| view.name.chars().count()).max().unwrap_or(0).max(9);
        text = format!("\n{:<widest$}  columns\n", "view");
        for part in embedding.parts() {
            let (view, columns) = (part.view.as_deref().unwrap_or("all views"), &part.columns);
            text.push_str(&format!("{view:<widest$}  {}-{}\n", columns.start, columns.end - 1));
        }
    }
    let (nodes, dim) = (plural(embedding.rows(), "node"), plural(embedding.dim(), "column"));
    let memory = peak_resident_bytes().map(|peak| format!(", {} of memory", bytes(peak))).unwrap_or_default();
    let (method, file, time) = (model.method().name(), folder.join("embedding.npy"), seconds(total));
    print(format!("{text}\n{method}: {nodes} x {dim} in {}: {time}{memory}\n", file.display()))
}

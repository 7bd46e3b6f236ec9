//! `manyview add-view`: a new kind of edge for a model that was kept.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use manyview::io::{Checksums, Disk, InputFile};
use manyview::living::{AddedView, KeptModel};
use manyview::message::Notation;
use manyview::result::{EMBEDDING, ResultFolder};
use manyview::{Embedding, Error};
use serde_json::{Map, Value, json};

use super::living::Change;
use super::{command_line, fit, quoted, read_from};
use crate::args::{AddViewArgs, NetworkArgs};
use crate::ui::{Reporter, plural, seconds};

pub(crate) fn run(args: &AddViewArgs) -> Result<()> {
    let network = network_args(args)?;
    let mut change = Change::open(&args.folder, &args.output, args.threads, true)?;
    let files = Checksums::of(&Disk);
    let network = change.as_in_fit(&network);
    let given = read_from(&files, None, &network, args.threads, &mut change.reporter)?.0.network;
    let began = Instant::now();
    let (model, reporter) = (&change.model, &mut change.reporter);
    let columns = args.columns.unwrap_or_else(|| model.usual_columns());
    let added = model.add_view(&given, columns, &change.pool, &mut |now| fit::show(now, reporter));
    reporter.finish();
    let added = added?;
    let time = began.elapsed().as_secs_f64();
    let vectors = with_columns(&args.folder, &added, model)?;
    added.describe(&mut change.record, &command_line(), &change.pool);
    append_inputs(&mut change.record, files.inputs());
    let reporter = change.write(&vectors, Some(&added.model))?;
    tell(&added, time, &reporter);
    let (nodes, columns) = (plural(vectors.rows(), "node"), plural(vectors.dim(), "column"));
    let folder = &args.output.output;
    reporter.say(&format!("{nodes} x {columns} in {}", folder.join(EMBEDDING).display()));
    reporter.say(&format!("\nnext: manyview report {}", quoted(&folder.to_string_lossy())));
    Ok(())
}

fn network_args(args: &AddViewArgs) -> Result<NetworkArgs> {
    if !args.view.contains('=') {
        bail!(Error::config(format!(
            "{:?} has no name for the view; write NAME=PATH, such as sms={}",
            args.view, args.view
        )));
    }
    Ok(NetworkArgs {
        view: vec![args.view.clone()],
        directed: if args.directed { vec!["all".into()] } else { Vec::new() },
        reading: args.reading.clone(),
        ..NetworkArgs::default()
    })
}

/// The vectors of the model, with the new columns after the others.
fn with_columns(folder: &Path, added: &AddedView, before: &KeptModel) -> Result<Embedding> {
    let known = ResultFolder::open(folder)?.embedding;
    let (nodes, width) = (known.nodes().clone(), added.columns());
    let rows = known.values().chunks_exact(before.dim()).zip(added.vectors.chunks_exact(width));
    let vectors = rows.flat_map(|(old, new)| old.iter().chain(new).copied()).collect();
    Ok(Embedding::from_vectors(nodes, added.model.dim(), vectors)?)
}

fn append_inputs(record: &mut Map<String, Value>, inputs: Vec<InputFile>) {
    let all = record.entry("inputs").or_insert_with(|| json!([]));
    if let Some(all) = all.as_array_mut() {
        all.extend(inputs.into_iter().map(|input| json!(input)));
    }
}

fn tell(added: &AddedView, time: f64, reporter: &Reporter) {
    let (name, percent) = (&added.view.name, |share: f64| 100.0 * share.clamp(0.0, 1.0));
    let (old, left) = (percent(added.explained()), percent(added.left()));
    let columns = plural(added.columns(), "column");
    reporter.say(&format!(
        "the consensus columns explain {old:.1} % of {name}, {columns} of its own another {:.1} %; added in {}",
        100.0 - left - old,
        seconds(time)
    ));
    if added.view.isolated > 0 {
        let verb = if added.view.isolated == 1 { "has" } else { "have" };
        let nodes = plural(added.view.isolated, "node");
        reporter.say(&format!("note: {nodes} {verb} no edge in {name}; the new columns are zero there"));
    }
    for warning in &added.warnings {
        reporter.say(&format!("warning: {}", warning.message.in_notation(Notation::CommandLine)));
    }
}

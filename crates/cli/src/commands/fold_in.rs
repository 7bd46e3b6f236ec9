//! `manyview fold-in`: vectors of new nodes, from a model that was kept.

use std::time::Instant;

use anyhow::Result;
use manyview::living::{Additions, Folded, KeptModel};
use manyview::network::Nodes;
use manyview::result::{EMBEDDING, ResultFolder};
use manyview::{Embedding, Network};
use serde_json::{Map, Value, json};

use super::living::Change;
use super::{command_line, read};
use crate::args::FoldInArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural, seconds};

pub(crate) fn run(args: &FoldInArgs) -> Result<()> {
    let mut change = Change::open(&args.folder, &args.output, args.threads, false)?;
    let (given, _) = read(&change.as_in_fit(&args.network), args.threads, &mut change.reporter)?;
    let model = &change.model;
    let additions = Additions::new(model, &given)?;
    let began = Instant::now();
    let folded = model.fold_in(&additions, &change.pool, &mut |_| interrupt::go_on())?;
    let time = began.elapsed().as_secs_f64();
    change.reporter.finish();
    let first = if args.only_new { 0 } else { model.network().nodes().len() };
    describe(&mut change.record, model, &folded, &given, first);
    let all = if args.only_new { new_only(&folded, model)? } else { with_known(&args.folder, &folded)? };
    let sampled = model.is_sampled();
    // The model is where it was.
    let reporter = change.write(&all, None)?;
    tell(sampled, &folded, &reporter);
    let (nodes, columns) = (plural(all.rows(), "node"), plural(all.dim(), "column"));
    let (new, file) = (plural(folded.nodes.len(), "new node"), args.output.output.join(EMBEDDING));
    reporter.say(&format!("folded in {new} in {}: {nodes} x {columns} in {}", seconds(time), file.display()));
    Ok(())
}

/// The vectors of the new nodes alone.
fn new_only(folded: &Folded, model: &KeptModel) -> Result<Embedding> {
    Ok(Embedding::from_vectors(folded.nodes.clone(), model.dim(), folded.vectors.clone())?)
}

/// The vectors of the fit, and those of the new nodes after them.
fn with_known(folder: &std::path::Path, folded: &Folded) -> Result<Embedding> {
    let known = ResultFolder::open(folder)?.embedding;
    let nodes: Nodes = known.nodes().iter().chain(folded.nodes.iter()).collect();
    let dim = known.dim();
    let (mut vectors, _) = known.into_vectors();
    vectors.extend_from_slice(&folded.vectors);
    Ok(Embedding::from_vectors(nodes, dim, vectors)?)
}

/// Changes the record of the fit to that of the result.
fn describe(
    fields: &mut Map<String, Value>,
    model: &KeptModel,
    folded: &Folded,
    given: &Network,
    first: usize,
) {
    let edges: Map<String, Value> =
        given.views().iter().map(|view| (view.name.clone(), json!(view.edges()))).collect();
    let folded_in = json!({
        "first_row": first,
        "nodes": folded.nodes.len(),
        "zero": folded.zero.len(),
        "residual": folded.left,
        "edges": edges,
        "fit": fields.get("command"),
    });
    fields.insert("folded_in".into(), folded_in);
    fields.insert("command".into(), json!(command_line()));
    if let Some(network) = fields.get_mut("network").and_then(Value::as_object_mut) {
        let known = if first == 0 { 0 } else { model.network().nodes().len() };
        network.insert("nodes".into(), json!(known + folded.nodes.len()));
        // It is that of the fit, and these are not its nodes.
        network.remove("fingerprint");
    }
}

fn tell(sampled: bool, folded: &Folded, reporter: &Reporter) {
    if sampled {
        reporter.say(
            "note: the proximity of the fit was sampled by random walks; that of the new nodes is exact",
        );
    }
    if let Some(&first) = folded.zero.first() {
        let (count, id) = (plural(folded.zero.len(), "new node"), folded.nodes.id(first));
        let verb = if folded.zero.len() == 1 { "has a zero vector" } else { "have zero vectors" };
        reporter.say(&format!(
            "warning: {count} {verb}, the first is {id:?}: they have no path to a node of the model, or no pair that is near by more \
             than chance"
        ));
    }
}

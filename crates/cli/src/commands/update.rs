//! `manyview update`: edges between nodes of a model come and go.

use std::time::Instant;

use anyhow::{Result, bail};
use manyview::living::Updated;
use manyview::message::switch;
use manyview::result::{EMBEDDING, ResultFolder};
use manyview::{Embedding, Error, Network};

use super::living::Change;
use super::{command_line, read};
use crate::args::{NetworkArgs, UpdateArgs};
use crate::interrupt;
use crate::ui::{Reporter, plural, seconds};

pub(crate) fn run(args: &UpdateArgs) -> Result<()> {
    check(args)?;
    let mut change = Change::open(&args.folder, &args.output, args.threads, true)?;
    let go = NetworkArgs { view: args.remove.clone(), network: Vec::new(), ..args.network.clone() };
    let (go, come) = (read_edges(&mut change, &go, args)?, read_edges(&mut change, &args.network, args)?);
    let duplicates = args.network.reading.duplicates.or_else(|| change.duplicates()).unwrap_or_default();
    let began = Instant::now();
    let (come, go) = (come.as_ref(), go.as_ref());
    let watch = &mut |_| interrupt::go_on();
    let updated = change.model.update(come, go, duplicates, args.tolerance, &change.pool, watch)?;
    let time = began.elapsed().as_secs_f64();
    change.reporter.finish();
    let before = ResultFolder::open(&args.folder)?.embedding;
    let moved = updated.moved(before.values());
    updated.describe(&mut change.record, args.tolerance, moved, &command_line());
    let reporter = change.write(&with_rows(before, &updated)?, Some(&updated.model))?;
    tell(&updated, moved, time, &reporter);
    let file = args.output.output.join(EMBEDDING);
    reporter.say(&format!("the result is in {}", file.display()));
    Ok(())
}

/// Reads edges that come or go, if there are any.
fn read_edges(change: &mut Change, network: &NetworkArgs, args: &UpdateArgs) -> Result<Option<Network>> {
    if network.view.is_empty() && network.network.is_empty() {
        return Ok(None);
    }
    Ok(Some(read(&change.as_in_fit(network), args.threads, &mut change.reporter)?.0))
}

fn check(args: &UpdateArgs) -> Result<()> {
    let NetworkArgs { view, network, .. } = &args.network;
    if view.is_empty() && network.is_empty() && args.remove.is_empty() {
        let (come, go) = (switch("view"), switch("remove"));
        bail!(Error::config(format!(
            "no change given: name edges that come with {come} NAME=PATH, and edges that go with {go} NAME=PATH"
        )));
    }
    if !(0.0..=1.0).contains(&args.tolerance) {
        bail!(Error::config(format!("{}: expected a number from 0 to 1", switch("tolerance"))));
    }
    Ok(())
}

fn with_rows(before: Embedding, updated: &Updated) -> Result<Embedding> {
    let (nodes, dim) = (before.nodes().clone(), before.dim());
    let (mut vectors, _) = before.into_vectors();
    for (&row, vector) in updated.rows.iter().zip(updated.vectors.chunks_exact(dim.max(1))) {
        vectors[row * dim..][..dim].copy_from_slice(vector);
    }
    Ok(Embedding::from_vectors(nodes, dim, vectors)?)
}

fn tell(updated: &Updated, [median, most]: [f64; 2], time: f64, reporter: &Reporter) {
    let [come, go] = updated.edges.map(|count| plural(count, "edge"));
    let (rows, of) = (updated.rows.len(), plural(updated.model.network().nodes().len(), "vector"));
    reporter.say(&format!("{come} came and {go} went: computed {rows} of {of} again in {}", seconds(time)));
    if rows > 0 {
        let drift = updated.drift();
        reporter.say(&format!("moved (1 - cosine): median {median:.3}, most {most:.3}; drift {drift:.2}"));
    }
    if let Some(advice) = updated.advice() {
        reporter.say(&format!("note: {advice}"));
    }
}

//! `manyview update`: edges between nodes of a model come and go.

use std::time::Instant;

use anyhow::{Result, bail};
use manyview::living::{KeptModel, MODEL, Updated};
use manyview::message::switch;
use manyview::network::Duplicates;
use manyview::parallel::Pool;
use manyview::result::{EMBEDDING, ResultFolder};
use manyview::{Embedding, Error, Network};
use serde_json::{Map, Value, json};

use super::fold_in::as_in_fit;
use super::{command_line, read, write_run};
use crate::args::{NetworkArgs, UpdateArgs};
use crate::interrupt;
use crate::ui::{Reporter, plural, seconds};

pub(crate) fn run(args: &UpdateArgs) -> Result<()> {
    check(args)?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.output.quiet);
    let pool = Pool::new(args.threads)?;
    let model = KeptModel::open(&args.folder)?;
    let mut record = ResultFolder::open_record(&args.folder)?;
    let mut output = ResultFolder::create(&args.output.output, &[], args.output.force)?;
    output.expect_extra(MODEL)?;
    interrupt::writes_to(output.traces());
    let mut change = |network: NetworkArgs| -> Result<Option<Network>> {
        if network.view.is_empty() && network.network.is_empty() {
            return Ok(None);
        }
        Ok(Some(read(&as_in_fit(&network, &model, &record), args.threads, &mut reporter)?.0))
    };
    let go = change(NetworkArgs { view: args.remove.clone(), network: Vec::new(), ..args.network.clone() })?;
    let come = change(args.network.clone())?;
    let duplicates = record.get("duplicates").and_then(Value::as_str).and_then(Duplicates::from_name);
    let duplicates = args.network.duplicates.or(duplicates).unwrap_or_default();
    let began = Instant::now();
    let (come, go) = (come.as_ref(), go.as_ref());
    let updated = model.update(come, go, duplicates, args.tolerance, &pool, &mut |_| interrupt::go_on())?;
    let time = began.elapsed().as_secs_f64();
    reporter.finish();
    let before = ResultFolder::open(&args.folder)?.embedding;
    let moved = moved(&before, &updated);
    let fields = record.as_object_mut().expect("run.json was an object when the model was opened");
    describe(fields, &updated, args.tolerance, &moved);
    output.write_vectors(&with_rows(before, &updated)?, &pool)?;
    output.write_extra(MODEL, |writer| {
        record["model"] = serde_json::to_value(updated.model.write_to(writer)?)?;
        Ok(())
    })?;
    write_run(&mut output, &record)?;
    output.commit()?;
    tell(&updated, &moved, time, &reporter);
    let file = args.output.output.join(EMBEDDING);
    reporter.say(&format!("the result is in {}", file.display()));
    Ok(())
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

/// How far the vectors moved: 1 minus the cosine, the median and the most.
fn moved(before: &Embedding, updated: &Updated) -> [f64; 2] {
    let rows = updated.rows.iter().zip(updated.vectors.chunks_exact(before.dim().max(1)));
    let mut moved: Vec<f64> = rows.map(|(&row, vector)| 1.0 - cosine(before.row(row), vector)).collect();
    moved.sort_by(f64::total_cmp);
    [moved.get(moved.len() / 2), moved.last()].map(|x| x.copied().unwrap_or(0.0))
}

/// The cosine of two vectors; 1 if both are zero, 0 if one is.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { f64::from(u8::from(a == b)) }
}

fn with_rows(before: Embedding, updated: &Updated) -> Result<Embedding> {
    let (nodes, dim) = (before.nodes().clone(), before.dim());
    let (mut vectors, _) = before.into_vectors();
    for (&row, vector) in updated.rows.iter().zip(updated.vectors.chunks_exact(dim.max(1))) {
        vectors[row * dim..][..dim].copy_from_slice(vector);
    }
    Ok(Embedding::from_vectors(nodes, dim, vectors)?)
}

/// Changes the record of the fit to that of the result.
fn describe(fields: &mut Map<String, Value>, updated: &Updated, tolerance: f64, [median, most]: &[f64; 2]) {
    let fit = fields.get("updated").map_or(fields.get("command"), |earlier| earlier.get("fit"));
    let described = json!({
        "vectors": updated.rows.len(),
        "edges_added": updated.edges[0],
        "edges_removed": updated.edges[1],
        "tolerance": tolerance,
        "median_moved": median,
        "most_moved": most,
        "drift": updated.drift(),
        "fit": fit,
    });
    fields.insert("updated".into(), described);
    fields.insert("command".into(), json!(command_line()));
    let network = updated.model.network();
    if let Some(record) = fields.get_mut("network").and_then(Value::as_object_mut) {
        record.insert("fingerprint".into(), json!(format!("{:016x}", network.fingerprint())));
        let views = record.get_mut("views").and_then(Value::as_array_mut).into_iter().flatten();
        for (record, view) in views.zip(network.views()) {
            record["edges"] = json!(view.edges());
            record["isolated"] = json!(view.isolated());
        }
    }
}

fn tell(updated: &Updated, [median, most]: &[f64; 2], time: f64, reporter: &Reporter) {
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

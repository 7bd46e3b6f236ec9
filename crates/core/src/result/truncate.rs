//! The first stages of a result: a shorter embedding without a new run.
//!
//! A stage follows from the stages before it, never from those after it. So the columns of the first stages are those of a fit that ends
//! there, up to rounding, once they have the common length of all vectors.
//!
//! Invariant: the settings in the shortened `run.json` have the plan of the stages that are left.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::method::{StageRecord, scale_to_length};
use manyview_base::error::{Error, Result};
use manyview_base::message::option_value;
use manyview_data::embedding::Kind;

/// Where a result is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After this many stages.
    Stages(usize),
    /// After as many stages as have at most this many columns together.
    Dim(usize),
}

/// A result without its last stages.
#[derive(Clone, Debug)]
pub struct Shortened {
    /// The vectors, row after row.
    pub vectors: Vec<f32>,
    /// Their length.
    pub dim: usize,
    /// The content of `run.json`.
    pub run: Value,
    /// The number of stages that are left.
    pub stages: usize,
    /// The number of stages before.
    pub of: usize,
    /// Where the columns that are left were, in their order.
    pub columns: Vec<usize>,
    /// The factor by which they were multiplied.
    pub factor: f64,
}

/// Cuts off the last stages of a result: its vectors, with so many rows, and the content of its `run.json`. `command` is recorded.
///
/// # Errors
/// [`Error::Config`] when the result has no stages, or too few of them, or the first stage has too many columns.
pub fn truncate(vectors: &[f32], rows: usize, run: &Value, cut: Cut, command: &str) -> Result<Shortened> {
    let records = records(run)?;
    let widths = widths(&records);
    let stages = stages_of(cut, &widths)?;
    let kept: Vec<&StageRecord> = records.iter().filter(|record| record.stage <= stages).collect();
    let mut by_place = kept.clone();
    by_place.sort_by_key(|record| record.columns[0]);
    let columns: Vec<usize> =
        by_place.iter().flat_map(|record| record.columns[0]..record.columns[1]).collect();
    let before = vectors.len() / rows.max(1);
    if let Some(beyond) = columns.iter().find(|&&column| column >= before) {
        return Err(Error::network(format!(
            "run.json has column {beyond} and the vectors have {before}; use the files of one run of manyview embed"
        )));
    }
    let mut shortened: Vec<f32> = vectors
        .chunks_exact(before.max(1))
        .flat_map(|row| columns.iter().map(|&column| row[column]))
        .collect();
    let factor = scale_to_length(&mut shortened, columns.len());
    let mut starts = BTreeMap::new();
    let mut next = 0;
    for record in by_place {
        starts.insert(record.columns[0], next);
        next += record.columns[1] - record.columns[0];
    }
    let moved = kept.into_iter().map(|record| {
        let (start, width) = (starts[&record.columns[0]], record.columns[1] - record.columns[0]);
        StageRecord { columns: [start, start + width], ..record.clone() }
    });
    let moved: Vec<StageRecord> = moved.collect();
    let dims = widths_of_fit(run, &widths[..stages]);
    let run = shortened_run(run, &moved, &dims, factor, widths.len(), command)?;
    Ok(Shortened { vectors: shortened, dim: columns.len(), run, stages, of: widths.len(), columns, factor })
}

/// The records of the stages.
fn records(run: &Value) -> Result<Vec<StageRecord>> {
    let stages = run.get("stages").cloned().unwrap_or(json!([]));
    let records: Vec<StageRecord> = serde_json::from_value(stages).map_err(|error| {
        Error::network(format!("the stages of run.json cannot be read: {error}; is it complete?"))
    })?;
    if records.is_empty() {
        let method = run.get("method").and_then(Value::as_str).unwrap_or("this method");
        return Err(Error::config(format!(
            "{method} has no stages, so its columns have no order to cut; only results of mnmf can be truncated"
        )));
    }
    Ok(records)
}

/// The number and the columns of each stage, in the order in which they ran.
fn widths(records: &[StageRecord]) -> Vec<(usize, usize)> {
    let mut widths: Vec<(usize, usize)> = Vec::new();
    for record in records {
        let width = record.columns[1].saturating_sub(record.columns[0]);
        match widths.last_mut() {
            Some((stage, sum)) if *stage == record.stage => *sum += width,
            _ => widths.push((record.stage, width)),
        }
    }
    widths
}

/// The widths of the stages of the fit, without those of views that were added later.
fn widths_of_fit(run: &Value, widths: &[(usize, usize)]) -> Vec<usize> {
    let added = |stage: usize| added_views(run).any(|view| view["stage"] == stage);
    widths.iter().filter(|&&(stage, _)| !added(stage)).map(|&(_, width)| width).collect()
}

fn added_views(run: &Value) -> impl Iterator<Item = &Value> {
    run.get("added_views").and_then(Value::as_array).into_iter().flatten()
}

fn stages_of(cut: Cut, widths: &[(usize, usize)]) -> Result<usize> {
    let sums = widths.iter().scan(0, |sum, &(_, width)| {
        *sum += width;
        Some(*sum)
    });
    let sums: Vec<usize> = sums.collect();
    let list = sums.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let of = widths.len();
    match cut {
        Cut::Stages(stages) if (1..=of).contains(&stages) => Ok(stages),
        Cut::Stages(stages) => Err(Error::config(format!(
            "{}: the result has {of} stages; give a number from 1 to {of} (their columns add up to {list})",
            option_value("stages", stages)
        ))),
        Cut::Dim(dim) => match sums.iter().rposition(|&sum| sum <= dim) {
            Some(last) => Ok(last + 1),
            None => Err(Error::config(format!(
                "{}: the first stage alone has {} columns; the columns of the stages add up to {list}",
                option_value("dim", dim),
                sums[0]
            ))),
        },
    }
}

/// `run.json` with the stages that are left, and settings that have this plan.
fn shortened_run(
    run: &Value,
    stages: &[StageRecord],
    dims: &[usize],
    factor: f64,
    of: usize,
    command: &str,
) -> Result<Value> {
    let mut run = run.clone();
    let Some(fields) = run.as_object_mut() else {
        return Err(Error::network("run.json is not an object; is it of manyview embed?"));
    };
    let consensus = stages.iter().filter(|stage| stage.kind == Kind::Consensus).count();
    for name in ["config", "settings"] {
        if let Some(settings) = fields.get_mut(name).and_then(Value::as_object_mut) {
            set_plan(settings, dims, consensus);
        }
    }
    drop_added_views(fields, stages.iter().map(|record| record.stage).max().unwrap_or(0));
    let scale = fields.get("vector_scale").and_then(Value::as_f64).unwrap_or(1.0);
    fields.insert("vector_scale".into(), json!(scale * factor));
    let first = match fields.get("truncated") {
        // Of a result that was truncated before, the run that both come from.
        Some(earlier) => json!({"command": earlier["command"], "stages": earlier["stages"]}),
        None => json!({"command": fields.get("command"), "stages": of}),
    };
    fields.insert("truncated".into(), first);
    fields.insert("command".into(), json!(command));
    let of_views = without_dropped(fields, stages);
    fields.insert("stages".into(), serde_json::to_value(of_views).expect("records are plain values"));
    // They name columns and stages of the whole result.
    fields.insert("warnings".into(), json!([]));
    Ok(run)
}

/// Removes views that were added after the fit, and whose stage is cut off: the model of the first stages does not know them.
fn drop_added_views(fields: &mut Map<String, Value>, last: usize) {
    let Some(added) = fields.get_mut("added_views").and_then(Value::as_array_mut) else { return };
    let gone = |view: &Value| view["stage"].as_u64().is_some_and(|stage| stage > last as u64);
    let names: Vec<Value> = added.iter().filter(|view| gone(view)).map(|view| view["view"].clone()).collect();
    added.retain(|view| !gone(view));
    if added.is_empty() {
        fields.remove("added_views");
    }
    if let Some(Value::Array(directed)) = fields.get_mut("directed") {
        directed.retain(|name| !names.contains(name));
        if directed.is_empty() {
            fields.remove("directed");
        }
    }
    let Some(network) =
        fields.get_mut("network").and_then(Value::as_object_mut).filter(|_| !names.is_empty())
    else {
        return;
    };
    let is_gone = |name: &Value| names.contains(name);
    if let Some(views) = network.get_mut("views").and_then(Value::as_array_mut) {
        views.retain(|view| !is_gone(&view["name"]));
    }
    if let Some(pairs) = network.get_mut("overlap").and_then(Value::as_array_mut) {
        pairs.retain(|pair| !is_gone(&pair["a"]) && !is_gone(&pair["b"]));
    }
    // It is that of all views; whoever has the model writes that of the others.
    network.remove("fingerprint");
}

/// Records that name only views of the network.
fn without_dropped(fields: &Map<String, Value>, stages: &[StageRecord]) -> Vec<StageRecord> {
    let network = fields.get("network");
    let names = |value: Option<&Value>| value.and_then(|view| view["name"].as_str()).map(str::to_owned);
    let views = network.and_then(|network| network["views"].as_array()).into_iter().flatten();
    let mut known: Vec<String> = views.filter_map(|view| names(Some(view))).collect();
    known.extend(names(network.and_then(|network| network.get("joint"))));
    let mut stages = stages.to_vec();
    for stage in &mut stages {
        stage.residual.retain(|name, _| known.contains(name));
    }
    stages
}

fn set_plan(settings: &mut Map<String, Value>, dims: &[usize], consensus: usize) {
    let plan = [
        ("auto", json!(false)),
        ("consensus_stages", json!(consensus)),
        ("dim", json!(dims.iter().sum::<usize>())),
        ("stage_dims", json!(dims)),
        ("stages", json!(dims.len())),
    ];
    settings.extend(plan.map(|(name, value)| (name.to_owned(), value)));
}

//! `run.json` of a model whose edges changed, or that has one more view.

use serde_json::{Map, Value, json};

use super::{AddedView, Updated};
use manyview_base::parallel::Pool;
use manyview_data::network::View;
use manyview_data::overlap::overlaps;

type Fields = Map<String, Value>;

impl Updated {
    /// How far the vectors moved, given all vectors before: 1 minus the cosine, the median and the most.
    pub fn moved(&self, before: &[f32]) -> [f64; 2] {
        let dim = self.model.dim().max(1);
        let rows = self.rows.iter().zip(self.vectors.chunks_exact(dim));
        let mut moved: Vec<f64> =
            rows.map(|(&row, vector)| 1.0 - cosine(&before[row * dim..][..dim], vector)).collect();
        moved.sort_by(f64::total_cmp);
        [moved.get(moved.len() / 2), moved.last()].map(|x| x.copied().unwrap_or(0.0))
    }

    /// Changes the content of `run.json` to that of the result; `command` made it.
    pub fn describe(&self, run: &mut Fields, tolerance: f64, [median, most]: [f64; 2], command: &str) {
        let described = json!({
            "vectors": self.rows.len(),
            "edges_added": self.edges[0],
            "edges_removed": self.edges[1],
            "tolerance": tolerance,
            "median_moved": median,
            "most_moved": most,
            "drift": self.drift(),
            "fit": command_of_fit(run),
        });
        run.insert("updated".into(), described);
        run.insert("command".into(), json!(command));
        let network = self.model.network();
        let Some(record) = run.get_mut("network").and_then(Value::as_object_mut) else { return };
        record.insert("fingerprint".into(), json!(self.model.fingerprint()));
        let views = record.get_mut("views").and_then(Value::as_array_mut).into_iter().flatten();
        for (record, view) in views.zip(network.views()) {
            record["edges"] = json!(view.edges());
            record["isolated"] = json!(view.isolated());
        }
    }
}

impl AddedView {
    /// Changes the content of `run.json` to that of the result; `command` made it.
    pub fn describe(&self, run: &mut Fields, command: &str, pool: &Pool) {
        let name = &self.view.name;
        let described = json!({
            "view": name,
            "stage": self.stage.stage,
            "columns": self.stage.columns,
            "explained": self.explained(),
            "left": self.left(),
            "fit": command_of_fit(run),
        });
        append(run, "added_views", described);
        run.insert("command".into(), json!(command));
        for &(stage, left) in &self.after_consensus {
            let stages = run.get_mut("stages").and_then(Value::as_array_mut).into_iter().flatten();
            let consensus = |record: &&mut Value| record["stage"] == stage && record["kind"] == "consensus";
            for record in stages.filter(consensus) {
                record["residual"][name] = json!(left);
            }
        }
        append(run, "stages", json!(self.stage));
        self.warnings.iter().for_each(|warning| append(run, "warnings", json!(warning)));
        self.describe_direction(run);
        let network = self.model.network();
        let Some(record) = run.get_mut("network").and_then(Value::as_object_mut) else { return };
        append(record, "views", json!(self.view));
        record.insert("fingerprint".into(), json!(self.model.fingerprint()));
        record.insert("overlap".into(), json!(overlaps(network, pool)));
    }

    /// Which views were read as directed.
    fn describe_direction(&self, run: &mut Fields) {
        let (new, known) = self.model.network().views().split_last().expect("there is the new view");
        match run.get_mut("directed") {
            Some(Value::Array(names)) if new.directed => names.push(json!(new.name)),
            Some(Value::Bool(true)) if !new.directed => {
                let directed: Vec<&String> =
                    known.iter().filter(|view| view.directed).map(|View { name, .. }| name).collect();
                run.insert("directed".into(), json!(directed));
            }
            Some(Value::Array(_) | Value::Bool(true)) => {}
            _ if new.directed => drop(run.insert("directed".into(), json!([new.name]))),
            _ => {}
        }
    }
}

/// The command of the fit that a result comes from.
fn command_of_fit(run: &Fields) -> Value {
    let earlier = [run.get("updated"), run.get("added_views").and_then(|views| views.get(0))];
    let of_fit = earlier.into_iter().flatten().find_map(|record| record.get("fit"));
    of_fit.or(run.get("command")).cloned().unwrap_or(Value::Null)
}

/// Appends to a list, which begins with this if it is missing.
fn append(fields: &mut Fields, name: &str, value: Value) {
    match fields.get_mut(name).and_then(Value::as_array_mut) {
        Some(list) => list.push(value),
        None => drop(fields.insert(name.into(), json!([value]))),
    }
}

/// The cosine of two vectors; 1 if both are zero, 0 if one is.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { f64::from(u8::from(a == b)) }
}

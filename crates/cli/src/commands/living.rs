//! What the commands that change a kept model have in common: the model and the record of its fit, and the folder of the result.

use std::path::Path;

use anyhow::Result;
use manyview::Embedding;
use manyview::living::{KeptModel, MODEL};
use manyview::network::Duplicates;
use manyview::parallel::Pool;
use manyview::result::ResultFolder;
use serde_json::{Map, Value};

use super::write_run;
use crate::args::{NetworkArgs, OutputArgs};
use crate::interrupt;
use crate::ui::Reporter;

/// A model, and the result that is made from it.
pub(super) struct Change {
    pub(super) reporter: Reporter,
    pub(super) pool: Pool,
    pub(super) model: KeptModel,
    /// The content of `run.json`: that of the model, until it is changed to that of the result.
    pub(super) record: Map<String, Value>,
    output: ResultFolder,
}

impl Change {
    /// Opens the model in a folder, and prepares the folder of the result, which has a model if `keeps_model`.
    pub(super) fn open(
        folder: &Path,
        output: &OutputArgs,
        threads: Option<usize>,
        keeps_model: bool,
    ) -> Result<Self> {
        interrupt::watch_for_it()?;
        let reporter = Reporter::new(output.quiet);
        let pool = Pool::new(threads)?;
        let model = KeptModel::open(folder)?;
        let Value::Object(record) = ResultFolder::open_record(folder)? else {
            unreachable!("run.json was an object when the model was opened")
        };
        let output = ResultFolder::create(&output.output, &[], output.force)?;
        if keeps_model {
            output.expect_extra(MODEL)?;
        }
        interrupt::writes_to(output.traces());
        Ok(Change { reporter, pool, model, record, output })
    }

    /// Files with what the model knows of its views: which are directed, and how repeated edges are merged.
    pub(super) fn as_in_fit(&self, args: &NetworkArgs) -> NetworkArgs {
        let mut args = args.clone();
        let given = |name: &str| args.view.iter().any(|view| view.split('=').next() == Some(name));
        if args.directed.is_empty() {
            let views = self.model.network().views().iter();
            let directed = views.filter(|view| view.directed && given(&view.name));
            args.directed = directed.map(|view| view.name.clone()).collect();
        }
        args.reading.duplicates = args.reading.duplicates.or_else(|| self.duplicates());
        args
    }

    /// How the fit merged repeated edges, if not by the default.
    pub(super) fn duplicates(&self) -> Option<Duplicates> {
        self.record.get("duplicates").and_then(Value::as_str).and_then(Duplicates::from_name)
    }

    /// Writes the vectors, the model if the result has one, and the record.
    pub(super) fn write(mut self, vectors: &Embedding, model: Option<&KeptModel>) -> Result<Reporter> {
        self.output.write_vectors(vectors, &self.pool)?;
        self.record.remove("model");
        if let Some(model) = model {
            self.output.write_extra(MODEL, |writer| {
                let written = serde_json::to_value(model.write_to(writer)?)?;
                self.record.insert("model".into(), written);
                Ok(())
            })?;
        }
        write_run(&mut self.output, &Value::Object(self.record))?;
        self.output.commit()?;
        Ok(self.reporter)
    }
}

//! Models that live: vectors of new nodes, edges that change, new views, and fewer stages.

use std::path::PathBuf;

use manyview::living::{Additions, KeptModel};
use manyview::network::Duplicates;
use manyview::parallel::Pool;
use manyview::result::{self, Cut};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::error::{detached, to_python};
use crate::fit::{Warnings, warnings};
use crate::network::PyNetwork;
use crate::settings::named;
use crate::watch::Watch;

/// A fit that can give vectors to new nodes.
#[pyclass(frozen, name = "KeptModel", module = "manyview._native")]
pub(crate) struct PyKept(pub(crate) KeptModel);

/// Vectors of new nodes, the number of each node of the given network, and the number of zero vectors.
type Folded<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<u32>>, usize);

/// Vectors of all nodes, `run.json`, the model, and why a new fit is worth it, if it is.
type Updated<'py> = (Bound<'py, PyArray2<f32>>, String, PyKept, Option<String>);

/// Vectors of all nodes, `run.json`, the model, and warnings.
type Added<'py> = (Bound<'py, PyArray2<f32>>, String, PyKept, Warnings);

#[pymethods]
impl PyKept {
    /// Opens the model in a result folder.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        detached(py, || KeptModel::open(&folder)).map(PyKept).map_err(to_python)
    }

    /// What `run.json` says of the model, as JSON.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        let record = py.detach(|| self.0.write_to(&mut std::io::sink()))?;
        serde_json::to_string(&record).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the vectors of the nodes of a network that the model does not have.
    fn fold_in<'py>(
        &self,
        py: Python<'py>,
        network: &PyNetwork,
        threads: Option<usize>,
    ) -> PyResult<Folded<'py>> {
        let mut watch = Watch::new(None);
        let result = detached(py, || {
            let additions = Additions::new(&self.0, &network.network)?;
            let folded = self.0.fold_in(&additions, &Pool::new(threads)?, &mut |_| watch.look(&[]))?;
            Ok((folded, additions))
        });
        let (folded, additions) = watch.outcome(result)?;
        let (rows, dim) = (folded.nodes.len(), self.0.dim());
        let numbers = additions.numbers().to_vec().into_pyarray(py);
        Ok((folded.vectors.into_pyarray(py).reshape([rows, dim])?, numbers, folded.zero.len()))
    }

    /// The names of the directed views.
    fn directed(&self) -> Vec<&str> {
        let views = self.0.network().views().iter();
        views.filter(|view| view.directed).map(|view| view.name.as_str()).collect()
    }

    /// Applies edges that come and go, and returns the result.
    #[expect(clippy::too_many_arguments, reason = "they are the arguments of the Python method")]
    fn update<'py>(
        &self,
        py: Python<'py>,
        vectors: PyReadonlyArray2<'_, f32>,
        run: &str,
        add: Option<&PyNetwork>,
        remove: Option<&PyNetwork>,
        duplicates: &str,
        tolerance: f64,
        command: &str,
        threads: Option<usize>,
    ) -> PyResult<Updated<'py>> {
        let duplicates: Duplicates = named("duplicates", duplicates)?;
        let (come, go) = (add.map(|add| &add.network), remove.map(|remove| &remove.network));
        let (mut run, mut all) = (fields(run)?, vectors.as_slice()?.to_vec());
        let mut watch = Watch::new(None);
        let result = detached(py, || {
            let pool = Pool::new(threads)?;
            let go_on = &mut |_| watch.look(&[]);
            let updated = self.0.update(come, go, duplicates, tolerance, &pool, go_on)?;
            updated.describe(&mut run, tolerance, updated.moved(&all), command);
            Ok(updated)
        });
        let updated = watch.outcome(result)?;
        let dim = self.0.dim();
        for (&row, vector) in updated.rows.iter().zip(updated.vectors.chunks_exact(dim.max(1))) {
            all[row * dim..][..dim].copy_from_slice(vector);
        }
        let all = all.into_pyarray(py).reshape(vectors.as_array().dim())?;
        let advice = updated.advice();
        Ok((all, Value::Object(run).to_string(), PyKept(updated.model), advice))
    }

    /// Adds the one view of a network, and returns the result.
    #[expect(clippy::too_many_arguments, reason = "they are the arguments of the Python method")]
    fn add_view<'py>(
        &self,
        py: Python<'py>,
        vectors: PyReadonlyArray2<'_, f32>,
        run: &str,
        network: &PyNetwork,
        columns: Option<usize>,
        command: &str,
        threads: Option<usize>,
    ) -> PyResult<Added<'py>> {
        let (mut run, known) = (fields(run)?, vectors.as_slice()?.to_vec());
        let mut watch = Watch::new(None);
        let result = detached(py, || {
            let pool = Pool::new(threads)?;
            let columns = columns.unwrap_or_else(|| self.0.usual_columns());
            let added = self.0.add_view(&network.network, columns, &pool, &mut |_| watch.look(&[]))?;
            added.describe(&mut run, command, &pool);
            let rows = known.chunks_exact(self.0.dim()).zip(added.vectors.chunks_exact(added.columns()));
            let all: Vec<f32> = rows.flat_map(|(old, new)| old.iter().chain(new).copied()).collect();
            Ok((added, all))
        });
        let (added, all) = watch.outcome(result)?;
        let all = all.into_pyarray(py).reshape([vectors.shape()[0], added.model.dim()])?;
        Ok((all, Value::Object(run).to_string(), PyKept(added.model), warnings(&added.warnings)))
    }
}

/// The content of `run.json`.
fn fields(run: &str) -> PyResult<Map<String, Value>> {
    serde_json::from_str(run).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Vectors, `run.json`, and the model if there is one.
type Shortened<'py> = (Bound<'py, PyArray2<f32>>, String, Option<PyKept>);

/// Cuts off the last stages of a result.
#[pyfunction]
pub(crate) fn truncate<'py>(
    py: Python<'py>,
    vectors: PyReadonlyArray2<'_, f32>,
    run: &str,
    stages: Option<usize>,
    dim: Option<usize>,
    command: &str,
    model: Option<PyRef<'_, PyKept>>,
) -> PyResult<Shortened<'py>> {
    let cut = match (stages, dim) {
        (Some(stages), None) => Cut::Stages(stages),
        (None, Some(dim)) => Cut::Dim(dim),
        _ => return Err(PyValueError::new_err("give either stages or dim")),
    };
    let run = Value::Object(fields(run)?);
    let rows = vectors.shape()[0];
    let mut cut = result::truncate(vectors.as_slice()?, rows, &run, cut, command).map_err(to_python)?;
    let shorter = |model: PyRef<'_, PyKept>| {
        model.0.first_stages(cut.stages, &cut.columns, cut.factor, &cut.run["config"]).map(PyKept)
    };
    let model = model.map(shorter).transpose().map_err(to_python)?;
    if let Some(PyKept(model)) = &model {
        // A view that was added later goes with its stage.
        cut.run["network"]["fingerprint"] = model.fingerprint().into();
    }
    Ok((cut.vectors.into_pyarray(py).reshape([rows, cut.dim])?, cut.run.to_string(), model))
}

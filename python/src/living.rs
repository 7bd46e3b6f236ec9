//! Models that live: vectors of new nodes, and fewer stages.

use std::path::PathBuf;

use manyview::living::{Additions, KeptModel};
use manyview::parallel::Pool;
use manyview::result::{self, Cut};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{detached, to_python};
use crate::network::PyNetwork;
use crate::watch::Watch;

/// A fit that can give vectors to new nodes.
#[pyclass(frozen, name = "KeptModel", module = "manyview._native")]
pub(crate) struct PyKept(pub(crate) KeptModel);

/// Vectors of new nodes, the number of each node of the given network, and the number of zero vectors.
type Folded<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<u32>>, usize);

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
    let run = serde_json::from_str(run).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let rows = vectors.shape()[0];
    let cut = result::truncate(vectors.as_slice()?, rows, &run, cut, command).map_err(to_python)?;
    let shorter = |model: PyRef<'_, PyKept>| {
        model.0.first_stages(cut.stages, &cut.columns, cut.factor, &cut.run["config"]).map(PyKept)
    };
    let model = model.map(shorter).transpose().map_err(to_python)?;
    Ok((cut.vectors.into_pyarray(py).reshape([rows, cut.dim])?, cut.run.to_string(), model))
}

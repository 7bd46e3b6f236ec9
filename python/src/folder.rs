//! Result folders, written and read by the library.

use std::io::Write;
use std::path::PathBuf;

use manyview::Embedding;
use manyview::living::MODEL;
use manyview::network::Nodes;
use manyview::parallel::Pool;
use manyview::result::{EMBEDDING, NODES, RUN, ResultFolder};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;

use crate::error::{detached, to_python};
use crate::living::PyKept;

/// Writes a result. `run` is the content of `run.json`. An existing result is replaced.
#[pyfunction]
pub(crate) fn save(
    py: Python<'_>,
    folder: PathBuf,
    ids: Vec<String>,
    vectors: PyReadonlyArray2<'_, f32>,
    run: &str,
    model: Option<PyRef<'_, PyKept>>,
) -> PyResult<()> {
    let (dim, values) = (vectors.shape()[1], vectors.as_slice()?.to_vec());
    let model = model.as_ref().map(|model| &model.0);
    detached(py, || {
        let embedding = Embedding::from_vectors(Nodes::new(ids)?, dim, values)?;
        let mut output = ResultFolder::create(&folder, &[], true)?;
        output.write_vectors(&embedding, &Pool::new(Some(1))?)?;
        if let Some(model) = model {
            output.write_extra(MODEL, |writer| model.write_to(writer).map(drop))?;
        }
        output.write_extra(RUN, |writer| writer.write_all(run.as_bytes()))?;
        output.commit()
    })
    .map_err(to_python)
}

/// Reads a result: ids and vectors. What is in `run.json` is checked against them.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, folder: PathBuf) -> PyResult<(Vec<String>, Bound<'_, PyArray2<f32>>)> {
    let saved = detached(py, || ResultFolder::open(&folder)).map_err(|error| {
        let missing = [EMBEDDING, NODES, RUN].iter().any(|name| !folder.join(name).exists());
        if missing { PyFileNotFoundError::new_err(error.to_string()) } else { to_python(error) }
    })?;
    let (rows, dim) = (saved.embedding.rows(), saved.embedding.dim());
    let ids = saved.embedding.nodes().iter().map(str::to_owned).collect();
    let (values, _) = saved.embedding.into_vectors();
    Ok((ids, values.into_pyarray(py).reshape([rows, dim])?))
}

//! Explanations and nearest neighbors.

use manyview::Embedding;
use manyview::embedding::{Kind, Part};
use manyview::explain::Origin;
use manyview::neighbors::neighbors_watched;
use manyview::network::Nodes;
use manyview::parallel::Pool;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::error::detached;
use crate::watch::Watch;

/// Columns of an embedding, as in `run.json`.
#[derive(Deserialize)]
struct GivenPart {
    stage: usize,
    kind: Kind,
    view: Option<String>,
    columns: [usize; 2],
}

/// Returns the shares of the parts (JSON) in the squared norm of one vector, or in the cosine of two, as JSON.
#[pyfunction]
pub(crate) fn explain(vectors: PyReadonlyArray2<'_, f32>, parts: &str) -> PyResult<String> {
    let invalid = |message: String| PyValueError::new_err(message);
    let given: Vec<GivenPart> = serde_json::from_str(parts).map_err(|error| invalid(error.to_string()))?;
    let (rows, dim) = (vectors.shape()[0], vectors.shape()[1]);
    if let Some(part) = given.iter().find(|part| part.columns[0] > part.columns[1] || part.columns[1] > dim) {
        let [first, end] = part.columns;
        return Err(invalid(format!("a part has columns {first} to {end}, but the vectors have {dim}")));
    }
    let part = |part: GivenPart| Part {
        stage: part.stage,
        kind: part.kind,
        view: part.view,
        columns: part.columns[0]..part.columns[1],
    };
    let embedding = numbered(rows, dim, vectors.as_slice()?, given.into_iter().map(part).collect());
    let origin: Origin = match rows {
        1 => embedding.explain(0),
        2 => embedding.explain_pair(0, 1),
        _ => return Err(invalid(format!("expected one or two vectors, got {rows}"))),
    };
    serde_json::to_string(&origin).map_err(|error| invalid(error.to_string()))
}

/// Returns the nearest neighbors of a row, nearest first: rows and cosines.
#[pyfunction]
pub(crate) fn neighbors(
    py: Python<'_>,
    vectors: PyReadonlyArray2<'_, f32>,
    row: u32,
    count: usize,
) -> PyResult<Vec<(u32, f32)>> {
    let (rows, dim) = (vectors.shape()[0], vectors.shape()[1]);
    if row as usize >= rows {
        return Err(PyValueError::new_err(format!("there is no row {row}; there are {rows}")));
    }
    let values = vectors.as_slice()?;
    let mut watch = Watch::new(None);
    let result = detached(py, || {
        let embedding = numbered(rows, dim, values, Vec::new());
        neighbors_watched(&embedding, &[row], count, &Pool::new(None)?, &mut |_| watch.look(&[]))
    });
    let found = watch.outcome(result)?.concat();
    Ok(found.iter().map(|neighbor| (neighbor.node, neighbor.similarity)).collect())
}

/// Returns an embedding whose ids are row numbers.
fn numbered(rows: usize, dim: usize, values: &[f32], parts: Vec<Part>) -> Embedding {
    let nodes: Nodes = (0..rows).map(|row| row.to_string()).collect();
    Embedding::new(nodes, dim, values.to_vec(), parts)
}

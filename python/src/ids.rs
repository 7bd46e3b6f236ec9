//! Numbers for node ids of any hashable type.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Numbers objects in order of first appearance. Returns the number of each, and the distinct objects.
#[pyfunction]
pub(crate) fn index_objects<'py>(
    py: Python<'py>,
    objects: &Bound<'py, PyList>,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyList>)> {
    let (numbers, found) = (PyDict::new(py), PyList::empty(py));
    let mut codes: Vec<i64> = Vec::with_capacity(objects.len());
    for object in objects {
        codes.push(match numbers.get_item(&object)? {
            Some(number) => number.extract()?,
            None => {
                let number = found.len() as i64;
                numbers.set_item(&object, number)?;
                found.append(object)?;
                number
            }
        });
    }
    Ok((codes.into_pyarray(py), found))
}

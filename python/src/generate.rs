//! Networks with planted communities.

use manyview::generate::Planted;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::error::{detached, to_python};

/// A view: name, sources, targets, weights if it has any, and the communities of the view.
type MadeView<'py> = (
    String,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Option<Bound<'py, PyArray1<f32>>>,
    Bound<'py, PyArray1<i64>>,
);

/// Returns the common communities and the views.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a function of Python, with named parameters there")]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    nodes: usize,
    views: usize,
    communities: usize,
    degree: Vec<f64>,
    noise: Vec<f64>,
    consensus: f64,
    absent: f64,
    skew: f64,
    weighted: bool,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Vec<MadeView<'py>>)> {
    let planted =
        Planted { nodes, views, communities, degree, noise, consensus, absent, skew, weighted, seed };
    let made = detached(py, || planted.generate()).map_err(to_python)?;
    let labels =
        |labels: &[u32]| labels.iter().map(|&label| i64::from(label)).collect::<Vec<_>>().into_pyarray(py);
    let ends = |ends: Vec<u32>| ends.into_iter().map(|node| node as i32).collect::<Vec<_>>().into_pyarray(py);
    let views = made.views.iter().map(|view| {
        let (sources, targets) = view.edges.iter().copied().unzip();
        let weights = view.weights.as_ref().map(|weights| weights.clone().into_pyarray(py));
        (view.name.clone(), ends(sources), ends(targets), weights, labels(&view.labels))
    });
    Ok((labels(&made.labels), views.collect()))
}

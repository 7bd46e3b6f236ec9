//! One stage on given matrices.

use std::ops::ControlFlow;

use manyview::comm::Local;
use manyview::config::StopRule;
use manyview::linalg::{Csr, Dense, Real, Tiles};
use manyview::nmf::{self, Settings, Start, Target};
use manyview::parallel::Pool;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Places, checked_csr, factor, factor_array};
use crate::config::solver;
use crate::watch::{Fact, Watch};

/// `indptr`, `indices` and `data` of a matrix by rows.
type GivenMatrix<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
/// U and every V.
type GivenStart<'py> = (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>);

/// What one factorization is asked for.
#[derive(FromPyObject)]
struct Asked<'py> {
    #[pyo3(item)]
    shape: (usize, usize),
    #[pyo3(item)]
    dim: usize,
    #[pyo3(item)]
    gamma: f64,
    #[pyo3(item)]
    solver: Bound<'py, PyAny>,
    #[pyo3(item)]
    max_iter: usize,
    #[pyo3(item)]
    tol: f64,
    #[pyo3(item)]
    relative: bool,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    double: bool,
}

/// Factorizes matrices with a common left factor; a dictionary of what was found.
#[pyfunction]
pub(crate) fn factorize<'py>(
    py: Python<'py>,
    matrices: Vec<GivenMatrix<'py>>,
    start: Option<GivenStart<'py>>,
    asked: &Bound<'py, PyAny>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked: Asked<'py> = asked.extract()?;
    if asked.double {
        in_precision::<f64>(py, &matrices, start, &asked, callback)
    } else {
        in_precision::<f32>(py, &matrices, start, &asked, callback)
    }
}

fn in_precision<'py, T: Real + Element>(
    py: Python<'py>,
    matrices: &[GivenMatrix<'py>],
    start: Option<GivenStart<'py>>,
    asked: &Asked<'py>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = Settings {
        solver: solver(&asked.solver)?,
        gamma: asked.gamma,
        max_iter: asked.max_iter,
        tol: asked.tol,
        stop: StopRule::Decrease,
        epsilon: 0.0,
    };
    let matrices =
        matrices.iter().map(|given| matrix::<T>(given, asked.shape.1)).collect::<PyResult<Vec<_>>>()?;
    let start = start.map(|start| given_start(&start, asked)).transpose()?;
    let (mut watch, mut errors, mut weights) = (Watch::new(callback), Vec::new(), Vec::new());
    let Asked { shape, dim, relative, seed, threads, .. } = *asked;
    let result = py.detach(|| {
        let pool = Pool::new(threads)?;
        let norms: Vec<f64> = matrices.iter().map(squared_norm).collect();
        let means = matrices.iter().map(|matrix| mean(matrix, shape)).collect::<Vec<f64>>();
        let start = start.unwrap_or_else(|| Start::random(seed, &means, dim, shape.0, shape.1));
        let tiles: Vec<Tiles<T>> = pool.run(|| matrices.iter().map(Tiles::from_csr).collect());
        drop(matrices);
        let targets: Vec<Target<'_, T>> = tiles
            .iter()
            .zip(&norms)
            .map(|(tiles, &norm)| {
                let target = Target::new(tiles, norm);
                if relative { target.relative() } else { target }
            })
            .collect();
        nmf::factorize(&targets, start, &settings, &pool, &Local, &mut |now| {
            errors.push(now.errors.to_vec());
            weights.push(now.weights.to_vec());
            tell(&mut watch, &now)
        })
    });
    let found = watch.outcome(result)?;
    let dict = PyDict::new(py);
    dict.set_item("u", factor_array(py, &found.u, false)?)?;
    let v = found.v_t.iter().map(|v_t| factor_array(py, v_t, true)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("v", v)?;
    dict.set_item("errors", errors)?;
    dict.set_item("weights", weights)?;
    dict.set_item("objective", found.objective)?;
    dict.set_item("converged", found.converged)?;
    Ok(dict)
}

fn tell(watch: &mut Watch, now: &nmf::Iteration<'_>) -> ControlFlow<()> {
    watch.look(&[
        ("phase", Fact::Text("iterations")),
        ("iteration", Fact::Whole(now.iteration)),
        ("error", Fact::Number(now.error)),
    ])
}

fn matrix<T: Real + Element>(given: &GivenMatrix<'_>, cols: usize) -> PyResult<Csr<T>> {
    let (indptr, indices) = (Places::of(&given.0)?, Places::of(&given.1)?);
    let data: PyReadonlyArray1<'_, T> = given.2.extract()?;
    checked_csr(cols, indptr.slice()?, indices.slice()?, data.as_slice()?).map_err(PyValueError::new_err)
}

fn given_start<T: Real + Element>((u, v): &GivenStart<'_>, asked: &Asked<'_>) -> PyResult<Start<T>> {
    let (rows, cols) = asked.shape;
    let array = |given: &Bound<'_, PyAny>, rows, transposed, name: &str| -> PyResult<Dense<T>> {
        let array: PyReadonlyArray2<'_, T> = given.extract()?;
        factor(&array, rows, asked.dim, transposed, name)
    };
    let u = array(u, rows, false, "U")?;
    let v_t = v.iter().enumerate().map(|(at, v)| array(v, cols, true, &format!("V[{at}]")));
    Ok(Start { u, v_t: v_t.collect::<PyResult<_>>()? })
}

fn squared_norm<T: Real>(matrix: &Csr<T>) -> f64 {
    matrix.values().iter().map(|value| value.to_f64() * value.to_f64()).sum()
}

fn mean<T: Real>(matrix: &Csr<T>, (rows, cols): (usize, usize)) -> f64 {
    matrix.values().iter().map(|value| value.to_f64()).sum::<f64>() / (rows * cols) as f64
}

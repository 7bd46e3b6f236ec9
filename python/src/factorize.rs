//! One factorization of given matrices.

use std::ops::ControlFlow;

use manyview::comm::Local;
use manyview::linalg::{Csr, Dense, Real, Tiles};
use manyview::mnmf::{Mnmf, Normalize};
use manyview::nmf::{self, Factors, Settings, Solver, Start, StopRule, Target};
use manyview::parallel::Pool;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Places, checked_csr, factor, factor_array};
use crate::error::{detached, one_of};
use crate::settings::set_all;
use crate::watch::{Fact, Watch};

/// `indptr`, `indices` and `data` of a matrix in CSR format.
type GivenMatrix<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
/// U and all V.
type GivenStart<'py> = (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>);

/// Factorizes matrices of a shape with a common left factor. `settings` is a JSON object of settings of mnmf; returns a dict.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a function of Python, with named parameters there")]
pub(crate) fn factorize<'py>(
    py: Python<'py>,
    matrices: Vec<GivenMatrix<'py>>,
    shape: (usize, usize),
    double: bool,
    start: Option<GivenStart<'py>>,
    settings: &str,
    seed: u64,
    threads: Option<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut given = Mnmf::default();
    set_all(&mut given, settings)?;
    if given.normalize == Normalize::Max {
        return Err(one_of("normalize", given.normalize.name(), &["residual", "none"]));
    }
    let asked = Asked { given, shape, seed, threads };
    if double {
        in_precision::<f64>(py, &matrices, start, &asked, callback)
    } else {
        in_precision::<f32>(py, &matrices, start, &asked, callback)
    }
}

struct Asked {
    given: Mnmf,
    shape: (usize, usize),
    seed: u64,
    threads: Option<usize>,
}

fn in_precision<'py, T: Real + Element>(
    py: Python<'py>,
    matrices: &[GivenMatrix<'py>],
    start: Option<GivenStart<'py>>,
    asked: &Asked,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let Asked { given, shape, seed, threads } = asked;
    let (shape, dim) = (*shape, given.dim);
    let relative = given.normalize == Normalize::Residual;
    let settings = Settings {
        solver: given.solver,
        gamma: given.gamma,
        max_iter: given.max_iter,
        tol: given.tol(given.solver),
        stop: StopRule::Decrease,
        epsilon: 0.0,
    };
    let matrices = matrices.iter().map(|given| matrix::<T>(given, shape.1)).collect::<PyResult<Vec<_>>>()?;
    for (at, matrix) in matrices.iter().enumerate() {
        check_range(at, matrix, settings.solver)?;
    }
    let start = start.map(|start| given_start(&start, asked)).transpose()?;
    let (mut watch, mut errors, mut weights) = (Watch::new(callback), Vec::new(), Vec::new());
    let result = detached(py, || {
        let pool = Pool::new(*threads)?;
        let norms: Vec<f64> = matrices.iter().map(squared_norm).collect();
        let means = matrices.iter().map(|matrix| mean(matrix, shape)).collect::<Vec<f64>>();
        let start = start.unwrap_or_else(|| Start::random(*seed, &means, dim, shape.0, shape.1));
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
        nmf::factorize_watched(&targets, start, &settings, &pool, &Local, &mut |now| {
            errors.push(now.errors.to_vec());
            weights.push(now.weights.to_vec());
            tell(&mut watch, &now)
        })
    });
    let found = watch.outcome(result)?;
    if !is_finite(&found) || errors.iter().flatten().any(|error| !error.is_finite()) {
        return Err(PyValueError::new_err(
            "the factorization has numbers that are not finite: the numbers of the matrices are too large or differ too much; \
             divide them by a common factor",
        ));
    }
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

fn given_start<T: Real + Element>((u, v): &GivenStart<'_>, asked: &Asked) -> PyResult<Start<T>> {
    let (rows, cols) = asked.shape;
    let array = |given: &Bound<'_, PyAny>, rows, transposed, name: &str| -> PyResult<Dense<T>> {
        let array: PyReadonlyArray2<'_, T> = given.extract()?;
        factor(&array, rows, asked.given.dim, transposed, name)
    };
    let u = array(u, rows, false, "U")?;
    let v_t = v.iter().enumerate().map(|(at, v)| array(v, cols, true, &format!("V[{at}]")));
    Ok(Start { u, v_t: v_t.collect::<PyResult<_>>()? })
}

/// Refuses a matrix whose numbers are too large or too small for what is computed from them: the sum of their squares in f64,
/// and, by `hals`, products with factors, which are as large as their square roots, in the type of the matrix. Such sums
/// and products become infinite or zero, and the factors zeros or noise. Where products of f32 are too large, the
/// factorization itself says so.
fn check_range<T: Real>(at: usize, matrix: &Csr<T>, solver: Solver) -> PyResult<()> {
    let largest = matrix.values().iter().map(|value| value.to_f64()).fold(0.0, f64::max);
    if largest == 0.0 {
        return Ok(());
    }
    // Some digits of the errors, which are smaller than the norm, must remain.
    let squares = (f64::MIN_POSITIVE * f64::from(1 << 20)).sqrt();
    let single = size_of::<T>() == size_of::<f32>() && solver != Solver::Mu;
    let products = if single { (16.0 * f64::from(f32::MIN_POSITIVE)).powf(2.0 / 3.0) } else { 0.0 };
    let (least, most) = (squares.max(products), (f64::MAX / 4.0 / matrix.entries() as f64).sqrt());
    if (least..=most).contains(&largest) {
        return Ok(());
    }
    let float = if size_of::<T>() == size_of::<f32>() { "float32" } else { "float64" };
    Err(PyValueError::new_err(format!(
        "matrices[{at}]: the largest number is {largest:.1e}, and a factorization in {float} needs one between {least:.1e} and \
         {most:.1e}; divide the matrices by a common factor"
    )))
}

fn is_finite<T: Real>(found: &Factors<T>) -> bool {
    let factors = std::iter::once(&found.u).chain(&found.v_t);
    factors.flat_map(|factor| factor.padded()).all(|x| x.to_f64().is_finite())
        && found.objective.iter().all(|x| x.is_finite())
}

fn squared_norm<T: Real>(matrix: &Csr<T>) -> f64 {
    matrix.values().iter().map(|value| value.to_f64() * value.to_f64()).sum()
}

fn mean<T: Real>(matrix: &Csr<T>, (rows, cols): (usize, usize)) -> f64 {
    matrix.values().iter().map(|value| value.to_f64()).sum::<f64>() / (rows * cols) as f64
}

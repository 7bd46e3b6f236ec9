//! NumPy arrays as slices, and matrices as NumPy arrays.

use manyview::linalg::{Csr, Dense, Real};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The arrays `indptr`, `indices` and `data` of a matrix in CSR format.
pub(crate) type CsrArrays<'py, T> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<T>>);

/// An array of one of two numeric types.
pub(crate) enum Either<'py, A: Element, B: Element> {
    First(PyReadonlyArray1<'py, A>),
    Second(PyReadonlyArray1<'py, B>),
}

/// Indices. SciPy uses 32 or 64 bits.
pub(crate) type Places<'py> = Either<'py, i32, i64>;
/// Weights.
pub(crate) type Weights<'py> = Either<'py, f32, f64>;

impl<'py, A: Element, B: Element> Either<'py, A, B> {
    /// Borrows an array of one of the types.
    pub(crate) fn of(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = array.extract() {
            return Ok(Either::First(array));
        }
        match array.extract() {
            Ok(array) => Ok(Either::Second(array)),
            Err(_) => Err(PyTypeError::new_err(format!("the array has an unexpected type: {array:?}"))),
        }
    }
}

impl Places<'_> {
    pub(crate) fn slice(&self) -> PyResult<PlacesSlice<'_>> {
        Ok(match self {
            Either::First(array) => PlacesSlice::Short(array.as_slice()?),
            Either::Second(array) => PlacesSlice::Long(array.as_slice()?),
        })
    }
}

impl Weights<'_> {
    pub(crate) fn slice(&self) -> PyResult<WeightsSlice<'_>> {
        Ok(match self {
            Either::First(array) => WeightsSlice::Single(array.as_slice()?),
            Either::Second(array) => WeightsSlice::Double(array.as_slice()?),
        })
    }
}

#[derive(Clone, Copy)]
pub(crate) enum PlacesSlice<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
}

impl PlacesSlice<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            PlacesSlice::Short(places) => places.len(),
            PlacesSlice::Long(places) => places.len(),
        }
    }

    /// Returns an index. Negative indices become too large for any matrix.
    #[inline(always)]
    pub(crate) fn at(self, index: usize) -> usize {
        match self {
            PlacesSlice::Short(places) => places[index] as usize,
            PlacesSlice::Long(places) => places[index] as usize,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum WeightsSlice<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

impl WeightsSlice<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            WeightsSlice::Single(weights) => weights.len(),
            WeightsSlice::Double(weights) => weights.len(),
        }
    }

    #[inline(always)]
    pub(crate) fn at(self, index: usize) -> f64 {
        match self {
            WeightsSlice::Single(weights) => f64::from(weights[index]),
            WeightsSlice::Double(weights) => weights[index],
        }
    }
}

/// Creates a matrix from SciPy's arrays.
///
/// # Errors
/// When they are not a CSR matrix with ascending columns and finite, non-negative entries.
pub(crate) fn checked_csr<T: Real>(
    cols: usize,
    indptr: PlacesSlice<'_>,
    indices: PlacesSlice<'_>,
    data: &[T],
) -> Result<Csr<T>, &'static str> {
    let bounds: Vec<usize> = (0..indptr.len()).map(|at| indptr.at(at)).collect();
    let fits =
        bounds.first() == Some(&0) && bounds.last() == Some(&indices.len()) && indices.len() == data.len();
    if !fits || !bounds.is_sorted() {
        return Err("indptr, indices and data are inconsistent");
    }
    let columns: Vec<usize> = (0..indices.len()).map(|at| indices.at(at)).collect();
    let sound = |row: &[usize]| row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|&col| col < cols);
    if cols > u32::MAX as usize || !bounds.windows(2).all(|pair| sound(&columns[pair[0]..pair[1]])) {
        return Err("the columns of each row must be ascending and within the matrix");
    }
    if !data.iter().all(|value| (0.0..f64::INFINITY).contains(&value.to_f64())) {
        return Err("entries must be finite and at least 0");
    }
    Ok(Csr::new(cols, bounds, columns.into_iter().map(|col| col as u32).collect(), data.to_vec()))
}

/// Returns the arrays of a matrix.
pub(crate) fn csr_arrays<'py, T: Real + Element>(py: Python<'py>, matrix: &Csr<T>) -> CsrArrays<'py, T> {
    let indptr: Vec<i64> = matrix.indptr().iter().map(|&start| start as i64).collect();
    let indices: Vec<i32> = matrix.indices().iter().map(|&col| col as i32).collect();
    (indptr.into_pyarray(py), indices.into_pyarray(py), matrix.values().to_vec().into_pyarray(py))
}

/// Creates a factor from an array with the same rows, or from its transpose.
pub(crate) fn factor<T: Real + Element>(
    array: &PyReadonlyArray2<'_, T>,
    rows: usize,
    width: usize,
    transposed: bool,
    name: &str,
) -> PyResult<Dense<T>> {
    let expected = if transposed { [width, rows] } else { [rows, width] };
    if array.shape() != expected {
        return Err(PyValueError::new_err(format!(
            "init: {name} is {} x {}, expected {} x {}",
            array.shape()[0],
            array.shape()[1],
            expected[0],
            expected[1]
        )));
    }
    let values = array.as_slice()?;
    if !values.iter().all(|value| (0.0..f64::INFINITY).contains(&value.to_f64())) {
        return Err(PyValueError::new_err(format!("init: {name} must be finite and at least 0")));
    }
    Ok(Dense::from_fn(rows, width, |row, col| {
        if transposed { values[col * rows + row] } else { values[row * width + col] }
    }))
}

/// Returns a factor, or its transpose, as an array.
pub(crate) fn factor_array<'py, T: Real + Element>(
    py: Python<'py>,
    factor: &Dense<T>,
    transposed: bool,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let (rows, width) = (factor.rows(), factor.width());
    let (shape, values): (_, Vec<T>) = if transposed {
        ([width, rows], (0..width).flat_map(|col| (0..rows).map(move |row| factor.row(row)[col])).collect())
    } else {
        ([rows, width], (0..rows).flat_map(|row| factor.row(row)).copied().collect())
    };
    values.into_pyarray(py).reshape(shape)
}

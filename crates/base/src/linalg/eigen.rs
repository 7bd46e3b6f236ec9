//! All eigenvalues and the leading eigenvectors of a dense symmetric matrix with some hundred rows.
//!
//! `A = H T Hᵀ` with H a product of Householder reflections and T tridiagonal; then `T = Z L Zᵀ` by implicit QL. The
//! plane rotations of QL are recorded first, in quadratic time, and applied afterwards to many columns together. The
//! eigenvectors are the columns of `H Z`.
//!
//! Invariant: every sum has a fixed order, so neither threads nor vector width change a bit.

use rayon::prelude::*;

use super::kernels::vectorized;
use super::vector;

/// The number of matrix rows that a task changes.
const TASK_ROWS: usize = 64;

/// The number of coordinates of all eigenvectors that a task rotates together. They fit into the second-level cache.
const TASK_COLUMNS: usize = 16;

/// The maximum number of sweeps per eigenvalue. QL needs two or three; more mean that numbers are not finite.
const MOST_SWEEPS: usize = 80;

/// Eigenvalues and eigenvectors, sorted by descending eigenvalue.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// All eigenvalues, in descending order.
    pub values: Vec<f64>,
    /// The requested eigenvectors.
    pub vectors: Vec<Vec<f64>>,
}

/// Returns the eigenvalues of a symmetric matrix in row order, and the eigenvectors of the `count` largest.
///
/// # Panics
/// When the matrix is not square or not finite.
pub fn symmetric(mut matrix: Vec<f64>, rows: usize, count: usize) -> Eigen {
    assert_eq!(matrix.len(), rows * rows, "a square matrix of {rows} rows");
    assert!(matrix.iter().all(|x| x.is_finite()), "the matrix must be finite");
    // Scaled so that squares neither overflow nor underflow.
    let size = matrix.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if size > 0.0 {
        matrix.iter_mut().for_each(|x| *x /= size);
    }
    let (mut tridiagonal, reflections) = tridiagonalize(matrix, rows);
    let rotations = diagonalize(&mut tridiagonal);
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|&a, &b| tridiagonal.diagonal[b].total_cmp(&tridiagonal.diagonal[a]));
    let turned = turned_identity(rows, &rotations);
    let vector = |&which: &usize| {
        let mut vector: Vec<f64> =
            turned.iter().flat_map(|part| &part[which * TASK_COLUMNS..][..TASK_COLUMNS]).copied().collect();
        vector.truncate(rows);
        reflections.iter().rev().for_each(|reflection| reflection.apply(&mut vector));
        vector
    };
    let vectors = order[..count.min(rows)].par_iter().map(vector).collect();
    Eigen { values: order.iter().map(|&at| tridiagonal.diagonal[at] * size).collect(), vectors }
}

/// A symmetric tridiagonal matrix.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// `beside[i]` is in row i and column i + 1; the last is zero.
    beside: Vec<f64>,
}

/// `I - factor v vᵀ`, where v begins at coordinate `first`.
struct Reflection {
    first: usize,
    factor: f64,
    vector: Vec<f64>,
}

impl Reflection {
    /// Returns the reflection that maps `x` to a multiple of the first unit vector, and that multiple.
    fn new(first: usize, x: &[f64]) -> (Self, f64) {
        let norm = product(x, x).sqrt();
        let mut vector = x.to_vec();
        if norm == 0.0 {
            return (Reflection { first, factor: 0.0, vector }, 0.0);
        }
        // The image has the opposite sign of the first coordinate, to avoid cancellation.
        let image = if vector[0] > 0.0 { -norm } else { norm };
        vector[0] -= image;
        (Reflection { first, factor: 2.0 / product(&vector, &vector), vector }, image)
    }

    fn apply(&self, x: &mut [f64]) {
        let x = &mut x[self.first..];
        let along = self.factor * product(&self.vector, x);
        add_multiple(x, -along, &self.vector);
    }
}

fn tridiagonalize(mut matrix: Vec<f64>, rows: usize) -> (Tridiagonal, Vec<Reflection>) {
    let mut found = Tridiagonal { diagonal: Vec::with_capacity(rows), beside: Vec::with_capacity(rows) };
    let mut reflections = Vec::with_capacity(rows.saturating_sub(2));
    for at in 0..rows {
        let row = &matrix[at * rows..][..rows];
        found.diagonal.push(row[at]);
        if at + 2 < rows {
            let (reflection, image) = Reflection::new(at + 1, &row[at + 1..]);
            found.beside.push(image);
            reflect_both_sides(&mut matrix[(at + 1) * rows..], rows, &reflection);
            reflections.push(reflection);
        } else {
            found.beside.push(row.get(at + 1).copied().unwrap_or(0.0));
        }
    }
    (found, reflections)
}

/// Computes `A <- H A H` for the lower right part of A. `below` has its rows with the columns to the left of it. With
/// `p = factor A v` and `w = p - (factor vᵀp / 2) v` this is `A - v wᵀ - w vᵀ`.
fn reflect_both_sides(below: &mut [f64], rows: usize, reflection: &Reflection) {
    let (first, v) = (reflection.first, &reflection.vector);
    let mut w: Vec<f64> = below
        .par_chunks(TASK_ROWS * rows)
        .flat_map_iter(|part| {
            let along = |row: &[f64]| reflection.factor * product(&row[first..], v);
            part.chunks_exact(rows).map(along)
        })
        .collect();
    let half = reflection.factor * product(&w, v) / 2.0;
    add_multiple(&mut w, -half, v);
    below.par_chunks_mut(TASK_ROWS * rows).enumerate().for_each(|(task, part)| {
        for (row, at) in part.chunks_exact_mut(rows).zip(task * TASK_ROWS..) {
            add_two_multiples(&mut row[first..], [-v[at], -w[at]], &w, v);
        }
    });
}

/// A rotation of the coordinates `first` and `first + 1`.
struct Rotation {
    first: usize,
    cosine: f64,
    sine: f64,
}

/// Makes T diagonal and returns the rotations.
fn diagonalize(t: &mut Tridiagonal) -> Vec<Rotation> {
    let mut rotations = Vec::new();
    // The reduction to T left errors of this size. Matrices of low rank have whole blocks of them, in which an
    // off-diagonal number would never become small compared to the diagonal.
    let largest = t.diagonal.iter().chain(&t.beside).fold(0.0, |most: f64, x| most.max(x.abs()));
    let floor = f64::EPSILON * largest;
    for first in 0..t.diagonal.len() {
        for sweep in 0.. {
            let last = end_of_block(t, first, floor);
            if last == first {
                break;
            }
            assert!(sweep < MOST_SWEEPS, "QL does not converge: eigenvalue {first} of {}", t.diagonal.len());
            sweep_up(t, first, last, &mut rotations);
        }
    }
    rotations
}

/// Returns the last row of the block that begins at `first`. The off-diagonal number after it is negligible.
fn end_of_block(t: &Tridiagonal, first: usize, floor: f64) -> usize {
    let counts = |at: &usize| {
        let around = t.diagonal[*at].abs() + t.diagonal[at + 1].abs();
        t.beside[*at].abs() > (f64::EPSILON * around).max(floor)
    };
    (first..t.diagonal.len() - 1).find(|at| !counts(at)).unwrap_or(t.diagonal.len() - 1)
}

/// Runs one implicit QL step from row `last` up to row `first`, with Wilkinson's shift.
fn sweep_up(t: &mut Tridiagonal, first: usize, last: usize, rotations: &mut Vec<Rotation>) {
    let (d, e) = (&mut t.diagonal, &mut t.beside);
    let slope = (d[first + 1] - d[first]) / (2.0 * e[first]);
    let root = libm::hypot(slope, 1.0);
    let shift = d[first] - e[first] / (slope + if slope >= 0.0 { root } else { -root });
    let (mut cosine, mut sine, mut taken) = (1.0, 1.0, 0.0);
    let mut bulge = d[last] - shift;
    for at in (first..last).rev() {
        let (pushed, kept) = (sine * e[at], cosine * e[at]);
        let length = libm::hypot(pushed, bulge);
        e[at + 1] = length;
        if length == 0.0 {
            // The block splits here; the next sweep detects it.
            d[at + 1] -= taken;
            e[last] = 0.0;
            return;
        }
        (sine, cosine) = (pushed / length, bulge / length);
        let corner = d[at + 1] - taken;
        let turn = (d[at] - corner) * sine + 2.0 * cosine * kept;
        taken = sine * turn;
        d[at + 1] = corner + taken;
        bulge = cosine * turn - kept;
        rotations.push(Rotation { first: at, cosine, sine });
    }
    d[first] -= taken;
    e[first] = bulge;
    e[last] = 0.0;
}

/// Applies the rotations to the identity. A part has [`TASK_COLUMNS`] coordinates of every eigenvector of T.
fn turned_identity(rows: usize, rotations: &[Rotation]) -> Vec<Vec<f64>> {
    let turn_part = |part: usize| {
        let mut vectors = vec![0.0; rows * TASK_COLUMNS];
        for (column, at) in (part * TASK_COLUMNS..rows).take(TASK_COLUMNS).enumerate() {
            vectors[at * TASK_COLUMNS + column] = 1.0;
        }
        vectorized(
            #[inline(always)]
            || turn_all(&mut vectors, rotations),
        );
        vectors
    };
    (0..rows.div_ceil(TASK_COLUMNS)).into_par_iter().map(turn_part).collect()
}

#[inline(always)]
fn turn_all(vectors: &mut [f64], rotations: &[Rotation]) {
    let rows = vectors.as_chunks_mut::<TASK_COLUMNS>().0;
    for &Rotation { first, cosine, sine } in rotations {
        let (x, y) = (rows[first], rows[first + 1]);
        rows[first + 1] = std::array::from_fn(|lane| sine * x[lane] + cosine * y[lane]);
        rows[first] = std::array::from_fn(|lane| cosine * x[lane] - sine * y[lane]);
    }
}

/// The inner product, with wide vectors.
fn product(a: &[f64], b: &[f64]) -> f64 {
    vectorized(
        #[inline(always)]
        || vector::product(a, b),
    )
}

/// `sum += factor x`, with wide vectors.
fn add_multiple(sum: &mut [f64], factor: f64, x: &[f64]) {
    vectorized(
        #[inline(always)]
        || vector::add_multiple(sum, factor, x),
    );
}

/// `sum += factors[0] x + factors[1] y`.
fn add_two_multiples(sum: &mut [f64], factors: [f64; 2], x: &[f64], y: &[f64]) {
    vectorized(
        #[inline(always)]
        || {
            let numbers = sum.iter_mut().zip(x).zip(y);
            numbers.for_each(|((sum, x), y)| *sum += factors[0] * x + factors[1] * y);
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Key, unit_f64};

    /// A random symmetric matrix.
    fn random(rows: usize, seed: u64) -> Vec<f64> {
        let key = Key::new(seed);
        let entry =
            |at: usize| unit_f64(key.at((at / rows).max(at % rows), (at / rows).min(at % rows))) - 0.5;
        (0..rows * rows).map(entry).collect()
    }

    /// More columns than nodes, as in the covariance of wide embeddings of small networks. QL used not to terminate.
    #[test]
    fn matrices_of_a_low_rank_end() {
        for (rows, rank) in [(40, 3), (150, 20), (300, 60)] {
            let key = Key::new(rank as u64);
            // Columns of very different sizes, some of them zero, as in factors.
            let entry =
                |of: usize, at: usize| unit_f64(key.at(of, at)).powi(8) * ((at % 7) as f64 - 1.0).max(0.0);
            let x: Vec<Vec<f64>> = (0..rank).map(|of| (0..rows).map(|at| entry(of, at)).collect()).collect();
            let product = |a: usize, b: usize| x.iter().map(|row| row[a] * row[b]).sum::<f64>();
            let matrix: Vec<f64> = (0..rows * rows).map(|at| product(at / rows, at % rows)).collect();
            check(&matrix, rows);
        }
    }

    /// Checks `A x = l x` for every pair, orthonormal vectors, descending values, and the trace.
    fn check(matrix: &[f64], rows: usize) {
        let size = matrix.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
        let found = symmetric(matrix.to_vec(), rows, rows);
        assert!(found.values.is_sorted_by(|a, b| a >= b));
        let trace: f64 = (0..rows).map(|at| matrix[at * rows + at]).sum();
        assert!((found.values.iter().sum::<f64>() - trace).abs() <= 1e-12 * size * rows as f64);
        for (a, (vector, value)) in found.vectors.iter().zip(&found.values).enumerate() {
            for (row, x) in matrix.chunks_exact(rows).zip(vector) {
                assert!(
                    (product(row, vector) - value * x).abs() <= 1e-12 * size * rows as f64,
                    "{rows} rows"
                );
            }
            for (b, other) in found.vectors.iter().enumerate() {
                let expected = if a == b { 1.0 } else { 0.0 };
                assert!((product(vector, other) - expected).abs() < 1e-12, "{rows} rows");
            }
        }
    }

    #[test]
    fn eigenvectors_are_turned_into_multiples_of_themselves() {
        for rows in [1, 2, 3, 5, 17, 130] {
            check(&random(rows, 1), rows);
        }
        assert!(symmetric(Vec::new(), 0, 3).vectors.is_empty());
    }

    #[test]
    fn eigenvalues_of_a_path_have_their_closed_form() {
        let rows = 40;
        let beside = |at: usize| if (at / rows).abs_diff(at % rows) == 1 { 1.0 } else { 0.0 };
        let found = symmetric((0..rows * rows).map(beside).collect(), rows, 0);
        for (at, value) in found.values.iter().enumerate() {
            let exact = 2.0 * (std::f64::consts::PI * (at + 1) as f64 / (rows + 1) as f64).cos();
            assert!((value - exact).abs() < 1e-13, "{value} against {exact}");
        }
    }

    #[test]
    fn equal_eigenvalues_low_rank_and_any_size_are_no_trouble() {
        let rows = 30;
        let identity: Vec<f64> = (0..rows * rows).map(|at| f64::from(at % (rows + 1) == 0)).collect();
        check(&identity, rows);
        check(&vec![0.0; rows * rows], rows);
        check(&vec![1.0; rows * rows], rows);
        for size in [1e-250, 1e120] {
            check(&random(rows, 2).iter().map(|x| x * size).collect::<Vec<f64>>(), rows);
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let pools = [1, 3].map(|threads| crate::parallel::Pool::new(Some(threads)).unwrap());
        let [one, three] = pools.map(|pool| pool.run(|| symmetric(random(150, 3), 150, 20)));
        assert_eq!((one.values, one.vectors), (three.values, three.vectors));
    }
}

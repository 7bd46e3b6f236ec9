use super::tall::cross;
use super::*;
use crate::linalg::{Csr, eigen};
use crate::parallel::Pool;

pub(super) fn dense(matrix: &Csr<f32>) -> Vec<f64> {
    let mut dense = vec![0.0; matrix.rows() * matrix.cols()];
    for row in 0..matrix.rows() {
        for (&col, &value) in matrix.row(row).0.iter().zip(matrix.row(row).1) {
            dense[row * matrix.cols() + col as usize] = f64::from(value);
        }
    }
    dense
}

/// Returns all singular values of a dense matrix: the roots of the eigenvalues of `A Aᵀ`.
fn exact_values(a: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let product = |i: usize, j: usize| (0..cols).map(|k| a[i * cols + k] * a[j * cols + k]).sum::<f64>();
    let gram = (0..rows * rows).map(|at| product(at / rows, at % rows)).collect();
    eigen::symmetric(gram, rows, 0).values.iter().map(|value| value.max(0.0).sqrt()).collect()
}

/// `U S Vᵀ`.
fn product(svd: &Svd) -> Vec<f64> {
    let (rows, cols) = (svd.left.rows(), svd.right.rows());
    let entry = |row: usize, col: usize| -> f64 {
        let terms = svd.left.row(row).iter().zip(svd.right.row(col)).zip(&svd.values);
        terms.map(|((&u, &v), s)| f64::from(u) * f64::from(v) * s).sum()
    };
    (0..rows * cols).map(|at| entry(at / cols, at % cols)).collect()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn squared_norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum()
}

fn find(matrix: &Csr<f32>, rank: usize, iterations: usize) -> Svd {
    truncated(&[&Tiles::from_csr(matrix)], rank, iterations, &|_| true).unwrap()
}

fn assert_orthonormal(x: &Dense<f32>) {
    for (at, value) in cross::<f64>(x, x).iter().enumerate() {
        let expected = if at / x.width() == at % x.width() { 1.0 } else { 0.0 };
        assert!((value - expected).abs() < 1e-4, "{value} instead of {expected}");
    }
}

/// A small matrix with slowly decreasing values, like those of proximity matrices.
#[test]
fn values_and_the_error_are_those_of_the_dense_decomposition() {
    for (rows, cols) in [(300, 280), (200, 300)] {
        let matrix = Csr::<f32>::random(rows, cols, 0.1, 5);
        let a = dense(&matrix);
        let exact = exact_values(&a, rows, cols);
        for rank in [1, 20, 70] {
            let svd = find(&matrix, rank, 6);
            for (found, exact) in svd.values.iter().zip(&exact) {
                assert!((found / exact - 1.0).abs() < 1e-4, "{found} against {exact}, rank {rank}");
            }
            let left_out: f64 = exact[rank..].iter().map(|value| value * value).sum();
            let error = squared_distance(&a, &product(&svd));
            assert!((error / left_out - 1.0).abs() < 1e-5, "{error} against {left_out}, rank {rank}");
            assert_orthonormal(&svd.left);
            assert_orthonormal(&svd.right);
        }
    }
}

#[test]
fn all_columns_give_the_matrix_back() {
    let matrix = Csr::<f32>::random(150, 150, 0.2, 7);
    let a = dense(&matrix);
    let svd = find(&matrix, 150, 1);
    assert!(squared_distance(&a, &product(&svd)) < 1e-10 * squared_norm(&a));
}

#[test]
fn a_sum_is_decomposed_without_being_formed() {
    let (x, y) = (Csr::<f32>::random(140, 600, 0.1, 1), Csr::<f32>::random(140, 600, 0.003, 2));
    let a: Vec<f64> = dense(&x).iter().zip(dense(&y)).map(|(x, y)| x + y).collect();
    let svd = truncated(&[&Tiles::from_csr(&x), &Tiles::from_csr(&y)], 140, 0, &|_| true).unwrap();
    assert!(squared_distance(&a, &product(&svd)) < 1e-10 * squared_norm(&a));
}

/// Every value occurs a hundred times, more often than a block has columns.
#[test]
fn many_equal_values_are_all_found() {
    let values: Vec<f32> = (0..300).map(|at| [3.0, 2.0, 1.0][at / 100]).collect();
    let diagonal = Csr::new(300, (0..=300).collect(), (0..300).collect(), values.clone());
    for rank in [150, 300] {
        let svd = find(&diagonal, rank, 4);
        for (found, expected) in svd.values.iter().zip(&values) {
            assert!((found - f64::from(*expected)).abs() < 1e-5, "{found} instead of {expected}");
        }
    }
}

/// The values beyond the rank are zero, as are rows and columns without entries.
#[test]
fn low_rank_and_empty_rows_leave_zeros() {
    // Four kinds of rows; every third row is empty.
    let entries = (0..90usize)
        .filter(|row| row % 3 > 0)
        .flat_map(|row| (row % 4..70).step_by(4).map(move |col| (row, col, 1.0 + (row % 5) as f32)));
    let matrix = Csr::from_triplets(90, 80, entries);
    let svd = find(&matrix, 12, 2);
    assert!(svd.values[3] > 1.0 && svd.values[4..].iter().all(|&value| value == 0.0), "{:?}", svd.values);
    let a = dense(&matrix);
    assert!(squared_distance(&a, &product(&svd)) < 1e-10 * squared_norm(&a));
    assert!((0..90).step_by(3).all(|row| svd.left.row(row).iter().all(|&x| x == 0.0)));
    assert!((70..80).all(|col| svd.right.row(col).iter().all(|&x| x == 0.0)));
    assert!((0..90).all(|row| svd.left.row(row)[4..].iter().all(|&x| x == 0.0)));
    let empty = find(&Csr::empty(5, 4), 3, 2);
    assert_eq!((empty.values, empty.left.rows(), empty.right.rows()), (vec![0.0; 3], 5, 4));
}

#[test]
fn the_largest_entry_of_each_left_vector_is_positive() {
    let svd = find(&Csr::<f32>::random(200, 200, 0.1, 9), 30, 2);
    for col in 0..30 {
        let column = (0..200).map(|row| svd.left.row(row)[col]);
        let largest = column.fold(0f32, |most, x| if x.abs() > most.abs() { x } else { most });
        assert!(largest > 0.0);
    }
}

#[test]
fn threads_change_no_bit() {
    let matrix = Csr::<f32>::random(1500, 1200, 0.02, 3);
    let on = |threads| Pool::new(Some(threads)).unwrap().run(|| find(&matrix, 70, 1));
    let one = on(1);
    for other in [on(2), on(3)] {
        assert_eq!(one.values, other.values);
        assert_eq!((&one.left, &one.right), (&other.left, &other.right));
    }
}

#[test]
fn more_iterations_come_nearer() {
    let matrix = Csr::<f32>::random(600, 600, 0.05, 4);
    let kept = |iterations| squared_norm(&find(&matrix, 40, iterations).values);
    let [none, some, many] = [0, 2, 8].map(kept);
    assert!(none < some && some < many, "{none} {some} {many}");
}

#[test]
fn saying_no_ends_it() {
    let tiles = Tiles::from_csr(&Csr::<f32>::random(300, 300, 0.1, 5));
    assert!(truncated(&[&tiles], 100, 2, &|share| share < 0.3).is_none());
}

/// The left vectors of `[A B]` are the eigenvectors of `A Aᵀ + B Bᵀ`.
#[test]
fn matrices_side_by_side_are_decomposed_without_being_copied() {
    let matrices = [1, 2].map(|seed| Csr::<f32>::random(90, 120, 0.1, seed));
    let tiles = matrices.each_ref().map(|matrix| Tiles::from_csr(&matrix.transpose()));
    let parts = tiles.each_ref().map(Transposed);
    let numbers = matrices.each_ref().map(dense);
    let entry = |row: usize, col: usize| numbers[col / 120][row * 120 + col % 120];
    let wide: Vec<f64> = (0..90 * 240).map(|at| entry(at / 240, at % 240)).collect();
    let svd = leading(&SideBySide(&parts), 90, 1, &|_| true).unwrap();
    assert_eq!((svd.left.rows(), svd.right.rows()), (90, 240));
    assert!(squared_distance(&wide, &product(&svd)) < 1e-10 * squared_norm(&wide));
    for (found, exact) in svd.values.iter().zip(exact_values(&wide, 90, 240)) {
        assert!((found - exact).abs() < 1e-5 * svd.values[0], "{found} against {exact}");
    }
}

/// Also with equal values, as those of one orthonormal block, and with more columns than the rank.
#[test]
fn tall_blocks_are_decomposed_exactly() {
    let matrix = Csr::<f32>::random(80, 30, 0.3, 8);
    let numbers = dense(&matrix);
    let block = |columns: std::ops::Range<usize>| {
        Dense::from_fn(80, columns.len(), |row, col| numbers[row * 30 + columns.start + col] as f32)
    };
    let (left, values) = of_blocks(&[block(0..17), block(17..30), block(3..9)], 36);
    let stacked: Vec<f64> = (0..80 * 36)
        .map(|at| {
            let (row, col) = (at / 36, at % 36);
            numbers[row * 30 + if col < 30 { col } else { col - 27 }]
        })
        .collect();
    for (found, exact) in values.iter().zip(exact_values(&stacked, 80, 36)).take(30) {
        assert!((found - exact).abs() < 1e-6 * values[0], "{found} against {exact}");
    }
    assert!(values[30..].iter().all(|&value| value == 0.0), "{values:?}");
    assert!((0..80).all(|row| left.row(row)[30..].iter().all(|&x| x == 0.0)));
    let orthonormal = Dense::from_fn(80, 30, |row, col| left.row(row)[col]);
    assert_orthonormal(&orthonormal);
    let (again, ones) = of_blocks(std::slice::from_ref(&orthonormal), 30);
    assert!(ones.iter().all(|one| (one - 1.0).abs() < 1e-5), "{ones:?}");
    assert_orthonormal(&again);
}

//! One step: an input vector x against a few output vectors y, each with its label.
//!
//! ```text
//! g_v = rate (label_v - s(x y_v)),   x += sum_v g_v y_v,   y_v += g_v x,   with the old x and y on the right
//! ```
//!
//! Distinct rows are processed together: one pass for all inner products and one pass for all changes, so each number
//! is stored once. A row that occurs twice in a step must use its own first change, as in word2vec; such steps are
//! processed row by row.

use super::sigmoid::sigmoid;
use super::table::LANES;

/// An output vector and its label: 1 if it was seen, 0 otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Target {
    pub(crate) row: u32,
    pub(crate) label: f32,
}

/// Maximum number of rows processed together.
const MOST: usize = 8;

/// Calls `$run` with the number of targets as a constant; false if there are more than [`MOST`].
macro_rules! by_number {
    ($targets:expr, |$count:ident| $run:expr) => {
        by_number!(@pick $targets, $count, $run, 1 2 3 4 5 6 7 8)
    };
    (@pick $targets:expr, $count:ident, $run:expr, $($number:literal)*) => {
        match $targets.len() {
            0 => true,
            $($number => { const $count: usize = $number; $run })*
            _ => false,
        }
    };
}

/// Makes a step. `x` is padded, `outputs` are consecutive padded rows, `error` is scratch memory for a row.
#[inline(always)]
pub(crate) fn update(x: &mut [f32], outputs: &mut [f32], targets: &[Target], rate: f32, error: &mut [f32]) {
    if !by_number!(targets, |COUNT| together::<COUNT, false>(x, error, outputs, targets, rate)) {
        update_outputs(x, outputs, targets, rate, error);
        for (x, error) in x.iter_mut().zip(error.iter()) {
            *x += error;
        }
    }
}

/// Makes a step of the outputs only; the change of x is written to `error`.
#[inline(always)]
pub(crate) fn update_outputs(
    x: &mut [f32],
    outputs: &mut [f32],
    targets: &[Target],
    rate: f32,
    error: &mut [f32],
) {
    error.fill(0.0);
    for targets in targets.chunks(MOST) {
        if !by_number!(targets, |COUNT| together::<COUNT, true>(x, error, outputs, targets, rate)) {
            row_by_row(x, outputs, targets, rate, error);
        }
    }
}

/// All rows in two passes; returns false, without changes, if a row occurs twice. The sum of errors is added to x, or
/// with `KEEP` to `error`.
#[inline(always)]
fn together<const N: usize, const KEEP: bool>(
    x: &mut [f32],
    error: &mut [f32],
    outputs: &mut [f32],
    targets: &[Target],
    rate: f32,
) -> bool {
    let x = x.as_chunks_mut::<LANES>().0;
    let length = x.len();
    let targets: &[Target; N] = targets.try_into().expect("the caller passes N targets");
    let places = std::array::from_fn(|which| {
        let row = targets[which].row as usize;
        row * length..(row + 1) * length
    });
    let Ok(mut rows) = outputs.as_chunks_mut::<LANES>().0.get_disjoint_mut(places) else { return false };
    let answers = sigmoid(products(x, &rows));
    let steps: [f32; N] = std::array::from_fn(|which| rate * (targets[which].label - answers[which]));
    let error = error.as_chunks_mut::<LANES>().0;
    for at in 0..length {
        let old = x[at];
        let sum = change(&mut rows, steps, at, &old);
        let into = if KEEP { &mut error[at] } else { &mut x[at] };
        let before = *into;
        *into = std::array::from_fn(|lane| before[lane] + sum[lane]);
    }
    true
}

/// Inner products of x with each row, followed by zeros.
#[inline(always)]
fn products<const N: usize>(x: &[[f32; LANES]], rows: &[&mut [[f32; LANES]]; N]) -> [f32; MOST] {
    let mut sums = [[0.0; LANES]; N];
    for (at, x) in x.iter().enumerate() {
        for which in 0..N {
            add_products(&mut sums[which], x, &rows[which][at]);
        }
    }
    totals(&sums)
}

#[inline(always)]
fn add_products(sums: &mut [f32; LANES], a: &[f32; LANES], b: &[f32; LANES]) {
    let (old, a, b) = (*sums, *a, *b);
    *sums = std::array::from_fn(|lane| old[lane] + a[lane] * b[lane]);
}

/// The sum of all lanes of each, halving their number each time; followed by zeros.
///
/// A separate function: if the compiler saw how lanes are summed, it would vectorize across the sums in the loop that
/// fills them, and spend its time on shuffles.
#[inline(never)]
fn totals<const N: usize>(sums: &[[f32; LANES]; N]) -> [f32; MOST] {
    let mut totals = [0.0; MOST];
    for (total, lanes) in totals.iter_mut().zip(sums) {
        let eight: [f32; 8] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 8]);
        let four: [f32; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
        *total = (four[0] + four[2]) + (four[1] + four[3]);
    }
    totals
}

/// At one place of all rows: adds `step x` to each, and returns the sum of `step y` over the old values.
#[inline(always)]
fn change<const N: usize>(
    rows: &mut [&mut [[f32; LANES]]; N],
    steps: [f32; N],
    at: usize,
    x: &[f32; LANES],
) -> [f32; LANES] {
    let mut sum = [0.0f32; LANES];
    for which in 0..N {
        let (row, step, old) = (rows[which][at], steps[which], sum);
        sum = std::array::from_fn(|lane| old[lane] + step * row[lane]);
        rows[which][at] = std::array::from_fn(|lane| row[lane] + step * x[lane]);
    }
    sum
}

/// The same for rows that may occur again; the sum of errors is added to `error`.
#[inline(always)]
fn row_by_row(x: &[f32], outputs: &mut [f32], targets: &[Target], rate: f32, error: &mut [f32]) {
    let stride = x.len();
    for target in targets {
        let row = &mut outputs[target.row as usize * stride..][..stride];
        let answer = sigmoid([product(x, row); MOST])[0];
        let step = rate * (target.label - answer);
        for ((y, error), x) in row.iter_mut().zip(error.iter_mut()).zip(x) {
            *error += step * *y;
            *y += step * x;
        }
    }
}

/// The inner product of two padded rows.
#[inline(always)]
pub(crate) fn product(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (x, y) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
        add_products(&mut sums, x, y);
    }
    totals(&[sums])[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::linalg::kernels::vectorized;
    use manyview_base::random::{Key, unit_f64};

    const ROWS: usize = 30;

    fn numbers(seed: u64, rows: usize, dim: usize) -> Vec<f32> {
        let stride = dim.next_multiple_of(LANES);
        let key = Key::new(seed);
        let number = |at: usize| if at % stride < dim { unit_f64(key.at(at, 0)) as f32 - 0.5 } else { 0.0 };
        (0..rows * stride).map(number).collect()
    }

    fn targets(rows: &[u32]) -> Vec<Target> {
        rows.iter()
            .enumerate()
            .map(|(at, &row)| Target { row, label: f32::from(u8::from(at == 0)) })
            .collect()
    }

    fn wide(numbers: &[f32]) -> Vec<f64> {
        numbers.iter().map(|&x| f64::from(x)).collect()
    }

    /// The definition in f64, target after target.
    fn naive(x: &mut [f64], outputs: &mut [f64], targets: &[Target], rate: f64) {
        let (stride, mut error) = (x.len(), vec![0.0; x.len()]);
        for target in targets {
            let y = &mut outputs[target.row as usize * stride..][..stride];
            let z: f64 = x.iter().zip(y.iter()).map(|(x, y)| x * y).sum();
            let step = rate * (f64::from(target.label) - 1.0 / (1.0 + (-z).exp()));
            for at in 0..stride {
                error[at] += step * y[at];
                y[at] += step * x[at];
            }
        }
        x.iter_mut().zip(&error).for_each(|(x, error)| *x += error);
    }

    #[test]
    fn steps_are_the_definition_for_any_dim_and_number_of_rows() {
        let lists: [&[u32]; 8] = [
            &[],
            &[4],
            &[1, 2],
            &[3, 29, 0, 7, 8, 9],
            &[3, 29, 3, 7, 8, 9],
            &[5, 6, 6, 6],
            &[0, 1, 2, 3, 4, 5, 6, 7],
            &[9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11],
        ];
        for dim in [1, 15, 16, 17, 256] {
            for list in lists {
                let (mut x, mut outputs) = (numbers(1, 1, dim), numbers(2, ROWS, dim));
                let (mut exact_x, mut exact_outputs) = (wide(&x), wide(&outputs));
                let (targets, mut error) = (targets(list), vec![7.0; x.len()]);
                update(&mut x, &mut outputs, &targets, 0.3, &mut error);
                naive(&mut exact_x, &mut exact_outputs, &targets, f64::from(0.3f32));
                let close = |(x, exact): (&f32, &f64)| (f64::from(*x) - exact).abs() < 2e-6;
                assert!(x.iter().zip(&exact_x).all(close), "dim {dim}, {list:?}");
                assert!(outputs.iter().zip(&exact_outputs).all(close), "dim {dim}, {list:?}");
            }
        }
    }

    /// The derivative of `f` at one place, by differences.
    fn slope(f: impl Fn(&[f64]) -> f64, at: &[f32], place: usize) -> f64 {
        let ([mut up, mut down], h) = ([wide(at), wide(at)], 1e-5);
        up[place] += h;
        down[place] -= h;
        (f(&up) - f(&down)) / (2.0 * h)
    }

    #[test]
    fn a_step_follows_the_gradient_of_the_likelihood() {
        let (dim, list) = (5, targets(&[2, 0, 1]));
        let (x, outputs) = (numbers(3, 1, dim), numbers(4, 3, dim));
        let stride = x.len();
        let likelihood = |x: &[f64], outputs: &[f64]| -> f64 {
            let of = |target: &Target| {
                let y = &outputs[target.row as usize * stride..][..stride];
                let z: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
                let sign = 2.0 * f64::from(target.label) - 1.0;
                -(-sign * z).exp().ln_1p()
            };
            list.iter().map(of).sum()
        };
        let (mut new_x, mut new_outputs, rate) = (x.clone(), outputs.clone(), 1e-2);
        update(&mut new_x, &mut new_outputs, &list, rate, &mut vec![0.0; stride]);
        let of_x = |x: &[f64]| likelihood(x, &wide(&outputs));
        let of_outputs = |outputs: &[f64]| likelihood(&wide(&x), outputs);
        let step = |new: f32, old: f32| f64::from(new - old) / f64::from(rate);
        for at in 0..dim {
            let (slope_, step_) = (slope(of_x, &x, at), step(new_x[at], x[at]));
            assert!((slope_ - step_).abs() < 2e-5, "x {at}: {slope_} and {step_}");
        }
        for at in (0..3).flat_map(|row| row * stride..row * stride + dim) {
            let (slope_, step_) = (slope(of_outputs, &outputs, at), step(new_outputs[at], outputs[at]));
            assert!((slope_ - step_).abs() < 2e-5, "y {at}: {slope_} and {step_}");
        }
    }

    #[test]
    fn wide_vectors_change_no_bit() {
        let list = targets(&[3, 29, 0, 7, 8, 9]);
        let (x, outputs) = (numbers(5, 1, 100), numbers(6, ROWS, 100));
        let run = |wide: bool| {
            let (mut x, mut outputs, mut error) = (x.clone(), outputs.clone(), vec![0.0; x.len()]);
            if wide {
                vectorized(
                    #[inline(always)]
                    || update(&mut x, &mut outputs, &list, 0.1, &mut error),
                );
            } else {
                update(&mut x, &mut outputs, &list, 0.1, &mut error);
            }
            (x, outputs)
        };
        assert_eq!(run(true), run(false));
    }
}

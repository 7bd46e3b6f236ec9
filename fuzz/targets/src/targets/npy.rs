//! NumPy arrays.

use std::path::Path;

use manyview::io::{Files, Memory, NpyMatrix, read_npy_from, write_npy_to};
use manyview::parallel::Pool;

use crate::mutate::{change_bytes, number};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "npy", made, mutate, run };

fn made() -> Vec<Vec<u8>> {
    [(2, 3), (1, 1), (0, 4), (3, 0), (7, 2)].map(|(rows, dim)| array(rows, dim)).to_vec()
}

/// An array as the library writes it.
pub(super) fn array(rows: usize, dim: usize) -> Vec<u8> {
    let values: Vec<f32> = (0..rows * dim).map(|at| at as f32 * 0.25 - 1.0).collect();
    let mut bytes = Vec::new();
    write_npy_to(&mut bytes, rows, dim, &values).expect("to memory");
    bytes
}

fn mutate(input: &mut Vec<u8>, _: &[Vec<u8>], random: &mut Random) {
    if random.one_in(3) {
        change_bytes(input, random);
    } else {
        *input = made_up(random);
    }
}

/// An array of any type, order, shape and version, mostly with the right amount of data.
fn made_up(random: &mut Random) -> Vec<u8> {
    let wide = random.one_in(3);
    let descr = match random.below(12) {
        0 => random.pick(&["'<i8'", "'>f4'", "'|S3'", "[('a', '<f4')]", "<f4", "''"]),
        _ if wide => "'<f8'",
        _ => "'<f4'",
    };
    let order = if random.one_in(12) { "Maybe" } else { random.pick(&["False", "True"]) };
    let (rows, dim) = (random.below(6), random.below(6));
    let shape = match random.below(16) {
        0 => format!("({},)", number(random)),
        1 => format!("({}, {})", number(random), number(random)),
        2 => format!("({rows}, {dim}, 1)"),
        3 => "()".to_owned(),
        _ => format!("({rows}, {dim})"),
    };
    let mut fields =
        [format!("'descr': {descr}"), format!("'fortran_order': {order}"), format!("'shape': {shape}")];
    fields.swap(random.below(3), random.below(3));
    let mut header = format!("{{{}, }}", fields.join(", "));
    header.extend(std::iter::repeat_n(' ', random.below(64)));
    header.push('\n');
    let version = 1 + random.below(3) as u8 + u8::from(random.one_in(30)) * 3;
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    let length = header.len() as u32;
    let width = if version == 1 { 2 } else { 4 };
    bytes.extend_from_slice(&length.to_le_bytes()[..width]);
    bytes.extend(header.bytes());
    for _ in 0..rows * dim {
        let value = match random.below(20) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => 1e300,
            3 => 1e-300,
            4 => f64::from_bits(random.next()),
            at => at as f64 * 0.125,
        };
        if wide {
            bytes.extend(value.to_le_bytes());
        } else {
            bytes.extend((value as f32).to_le_bytes());
        }
    }
    if random.one_in(16) {
        bytes.extend(vec![0; random.below(9)]);
    }
    bytes
}

/// By bits, because a NaN is not equal to itself.
fn described(matrix: &NpyMatrix) -> String {
    let bits: Vec<u32> = matrix.values.iter().map(|value| value.to_bits()).collect();
    format!("{} x {}: {bits:?}", matrix.rows, matrix.dim)
}

fn run(input: &[u8], _: &Pool) -> Outcome {
    let path = Path::new("embedding.npy");
    let files = Memory::new([(path, input)]);
    let read = |files: &dyn Files| read_npy_from(files, path);
    let matrix = match check::read_twice(input, &files, read, described) {
        Ok(matrix) => matrix,
        Err(error) => return check::refusal(&error),
    };
    assert_eq!(matrix.values.len(), matrix.rows * matrix.dim);
    if check::every(4, input) {
        let mut bytes = Vec::new();
        write_npy_to(&mut bytes, matrix.rows, matrix.dim, &matrix.values).expect("to memory");
        let again = read_npy_from(&Memory::new([(path, bytes)]), path).expect("what was written can be read");
        assert_eq!(described(&matrix), described(&again));
    }
    Outcome::Parsed
}

//! The NumPy array format.
//!
//! A file consists of a magic number, a version, the length of a header, the header (a Python dictionary as text,
//! padded so that the data begins at a multiple of 64 bytes) and the raw numbers. The writer uses version 1.0,
//! little-endian, C order on every machine. The reader supports the arrays of NumPy 1 and 2 that an embedding may
//! have.
//!
//! Invariant: numbers pass through a small buffer; arrays are never copied as a whole.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use super::{Disk, Files, write_atomic};
use manyview_base::error::{Error, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The number of bytes that are written or read at a time.
const BUFFER: usize = 1 << 16;

/// The maximum length of a header. Headers of plain arrays are shorter; the limit of NumPy is 10,000.
const LONGEST_HEADER: usize = 1 << 16;

/// Writes a matrix with `dim` columns in row order as an `.npy` file of 32-bit floats, atomically.
///
/// # Errors
/// [`Error::Io`] with `path`.
///
/// # Panics
/// When `values` does not have `rows x dim` numbers.
pub fn write_npy(path: &Path, rows: usize, dim: usize, values: &[f32]) -> Result<()> {
    write_atomic(path, |writer| write_npy_to(writer, rows, dim, values))
}

/// Writes the matrix to a writer, for files that are committed together.
///
/// # Errors
/// Those of the writer.
///
/// # Panics
/// When `values` does not have `rows x dim` numbers.
pub fn write_npy_to(writer: &mut impl Write, rows: usize, dim: usize, values: &[f32]) -> io::Result<()> {
    write_array(writer, "<f4", &[rows, dim], values.iter().map(|value| value.to_le_bytes()))
}

/// Writes an array of any type. `descr` is the NumPy name of the type, whose elements have `N` bytes.
pub(super) fn write_array<const N: usize>(
    writer: &mut impl Write,
    descr: &str,
    shape: &[usize],
    elements: impl ExactSizeIterator<Item = [u8; N]>,
) -> io::Result<()> {
    assert_eq!(
        elements.len(),
        shape.iter().product::<usize>(),
        "as many elements as the shape {shape:?} says"
    );
    writer.write_all(&header(descr, shape))?;
    let mut buffer = Vec::with_capacity(BUFFER + N);
    for element in elements {
        buffer.extend_from_slice(&element);
        if buffer.len() >= BUFFER {
            writer.write_all(&buffer)?;
            buffer.clear();
        }
    }
    writer.write_all(&buffer)
}

fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    // A tuple of one element needs a trailing comma: (3,).
    let comma = if shape.len() == 1 { "," } else { "" };
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let sizes = sizes.join(", ");
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
    let before = MAGIC.len() + 4;
    let length = (before + text.len() + 1).next_multiple_of(64) - before;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(u16::try_from(length).expect("headers have some hundred bytes").to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

/// A matrix read from an `.npy` file.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyMatrix {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub dim: usize,
    /// `rows x dim` numbers in row order.
    pub values: Vec<f32>,
}

/// Reads a matrix of 32-bit or 64-bit floats. The latter are rounded to 32 bits.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; [`Error::Parse`] when it is not such a matrix, is truncated or too long, or has a
/// number beyond the range of 32-bit floats.
pub fn read_npy(path: &Path) -> Result<NpyMatrix> {
    read_npy_from(&Disk, path)
}

/// As [`read_npy`], from files that need not be on a disk.
///
/// # Errors
/// Those of [`read_npy`].
pub fn read_npy_from(files: &dyn Files, path: &Path) -> Result<NpyMatrix> {
    let file = files.open(path).map_err(|source| Error::io(path, source))?.reader;
    read_matrix(&mut BufReader::with_capacity(BUFFER, file)).map_err(|failure| match failure {
        Failure::Io(source) => Error::io(path, source),
        Failure::Content(message) => Error::parse(path.display().to_string(), message),
    })
}

/// An error without the name of the file.
#[derive(Debug)]
enum Failure {
    Io(io::Error),
    Content(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

fn fail<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Content(message.into()))
}

fn read_matrix(reader: &mut impl Read) -> Result<NpyMatrix, Failure> {
    let header = read_header(reader)?;
    let width = match value_of(&header, "descr") {
        Some(descr) if descr.starts_with("'<f4'") => 4,
        Some(descr) if descr.starts_with("'<f8'") => 8,
        Some(descr) => {
            let found = descr.split([',', '}']).next().unwrap_or(descr);
            return fail(format!(
                "has elements of type {found}, expected '<f4' or '<f8'; convert it with array.astype('<f4') in \
                 Python"
            ));
        }
        None => {
            return fail("the header has no element type; save the array again with numpy.save");
        }
    };
    let shape = value_of(&header, "shape").and_then(parse_shape);
    let (rows, dim) = match shape.as_deref() {
        Some(&[rows, dim]) => (rows, dim),
        Some(other) => {
            return fail(format!(
                "has {} dimensions, expected 2: one row per node, one column per coordinate",
                other.len()
            ));
        }
        None => return fail("the header has no valid shape; save the array again with numpy.save"),
    };
    let by_columns = match value_of(&header, "fortran_order") {
        Some(order) if order.starts_with("False") => false,
        Some(order) if order.starts_with("True") => true,
        _ => return fail("the header has no valid order of elements; save the array again with numpy.save"),
    };
    let Some(numbers) = rows.checked_mul(dim).filter(|numbers| numbers.checked_mul(width).is_some()) else {
        return fail(format!(
            "the header claims {rows} x {dim} numbers, more than memory can address; save the array again"
        ));
    };
    let mut values = read_values(reader, numbers, width)?;
    // An array that is longer than its header says is not the one that was written.
    if read_up_to(reader, &mut [0])? > 0 {
        return fail(format!(
            "has more bytes than the {rows} x {dim} numbers of its header; copy or save the file again"
        ));
    }
    if by_columns {
        // NumPy stores the results of many decompositions in this order.
        values = (0..numbers).map(|at| values[at % dim * rows + at / dim]).collect();
    }
    Ok(NpyMatrix { rows, dim, values })
}

fn read_header(reader: &mut impl Read) -> Result<String, Failure> {
    let mut start = [0; 8];
    let found = read_up_to(reader, &mut start)?;
    if found < start.len() || &start[..6] != MAGIC {
        return fail("is not an .npy file (it does not begin with \\x93NUMPY); create it with numpy.save");
    }
    // The length of the header has two bytes in version 1 and four in versions 2 and 3.
    let mut length = [0; 4];
    let bytes = match start[6] {
        1 => &mut length[..2],
        2 | 3 => &mut length[..],
        other => {
            return fail(format!("has format version {other}, expected 1, 2 or 3; save it with numpy.save"));
        }
    };
    let wanted = bytes.len();
    let found = read_up_to(reader, bytes)?;
    let length = u32::from_le_bytes(length) as usize;
    let mut header = vec![0; length.min(LONGEST_HEADER)];
    if found < wanted || length > LONGEST_HEADER || read_up_to(reader, &mut header)? < length {
        return fail("the header is damaged or truncated; copy or save the file again");
    }
    String::from_utf8(header)
        .or_else(|_| fail("the header is not text; save the array again with numpy.save"))
}

/// Returns the text after a key of the dictionary in the header.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, value) = header.split_once(&format!("'{key}':"))?;
    Some(value.trim_start())
}

fn parse_shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    inside.split(',').map(str::trim).filter(|size| !size.is_empty()).map(|size| size.parse().ok()).collect()
}

fn read_values(reader: &mut impl Read, numbers: usize, width: usize) -> Result<Vec<f32>, Failure> {
    // The size in the header may be wrong, so memory is allocated as the numbers are read.
    let mut values = Vec::with_capacity(numbers.min(BUFFER));
    let mut buffer = vec![0; BUFFER.min(numbers * width)];
    while values.len() < numbers {
        let wanted = BUFFER.min((numbers - values.len()) * width);
        let found = read_up_to(reader, &mut buffer[..wanted])?;
        if found < wanted {
            return fail(format!(
                "is truncated: expected {numbers} numbers, found {}; copy or save the file again",
                values.len() + found / width
            ));
        }
        if width == 4 {
            let (elements, _) = buffer[..wanted].as_chunks();
            values.extend(elements.iter().map(|&element| f32::from_le_bytes(element)));
        } else {
            let (elements, _) = buffer[..wanted].as_chunks();
            for wide in elements.iter().map(|&element| f64::from_le_bytes(element)) {
                let value = wide as f32;
                if wide.is_finite() && !value.is_finite() {
                    return fail(format!("{wide:e} exceeds the range of 32-bit floats; rescale the vectors"));
                }
                values.push(value);
            }
        }
    }
    Ok(values)
}

/// Fills the buffer as far as possible. A result below its length means the end of the data.
fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while found < buffer.len() {
        match reader.read(&mut buffer[found..]) {
            Ok(0) => break,
            Ok(read) => found += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(rows: usize, dim: usize, values: &[f32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_npy_to(&mut bytes, rows, dim, values).unwrap();
        bytes
    }

    fn message(bytes: &[u8]) -> String {
        match read_matrix(&mut &bytes[..]) {
            Err(Failure::Content(message)) => message,
            other => panic!("expected an error about the content, got {other:?}"),
        }
    }

    fn with_header(text: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(data);
        bytes
    }

    /// The exact output of numpy.save for numpy.array([[1.5, -2.0]], dtype='<f4').
    #[test]
    fn the_bytes_are_those_of_numpy() {
        let mut expected = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        expected.extend(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }");
        expected.resize(127, b' ');
        expected.push(b'\n');
        expected.extend([0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x00, 0xc0]);
        assert_eq!(written(1, 2, &[1.5, -2.0]), expected);
    }

    #[test]
    fn headers_fill_a_multiple_of_64_bytes_for_every_shape() {
        for shape in [&[][..], &[3], &[0, 0], &[usize::MAX, usize::MAX], &[1; 7]] {
            let bytes = header("<f4", shape);
            assert_eq!(bytes.len() % 64, 0, "{shape:?}");
            assert_eq!(bytes.last(), Some(&b'\n'));
        }
        assert!(String::from_utf8_lossy(&header("|S3", &[])).contains("'shape': (), }"));
        assert!(String::from_utf8_lossy(&header("<i8", &[2])).contains("'shape': (2,), }"));
    }

    #[test]
    fn matrices_of_odd_sizes_come_back() {
        for (rows, dim) in [(0, 0), (0, 4), (3, 0), (1, 1), (5, 1), (7, 3), (BUFFER / 4 + 1, 2)] {
            let values: Vec<f32> = (0..rows * dim).map(|index| index as f32 * 0.37 - 1.0).collect();
            let matrix = read_matrix(&mut &written(rows, dim, &values)[..]).unwrap();
            assert_eq!(matrix, NpyMatrix { rows, dim, values });
        }
    }

    #[test]
    fn files_come_back_and_are_named_in_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        write_npy(&path, 1, 2, &[f32::MIN_POSITIVE, -0.0]).unwrap();
        assert_eq!(read_npy(&path).unwrap().values, [f32::MIN_POSITIVE, -0.0]);
        std::fs::write(&path, "1 2 3").unwrap();
        assert!(read_npy(&path).unwrap_err().to_string().contains("a.npy: is not an .npy file"));
        assert!(matches!(read_npy(&folder.path().join("b.npy")), Err(Error::Io { .. })));
    }

    #[test]
    fn doubles_and_later_versions_are_read() {
        let mut bytes = Vec::new();
        let numbers = [0.1f64, f64::INFINITY];
        write_array(&mut bytes, "<f8", &[2, 1], numbers.iter().map(|number| number.to_le_bytes())).unwrap();
        assert_eq!(read_matrix(&mut &bytes[..]).unwrap().values, [0.1, f32::INFINITY]);
        let mut later = b"\x93NUMPY\x02\x00".to_vec();
        later.extend([bytes[8], bytes[9], 0, 0]);
        later.extend(&bytes[10..]);
        assert_eq!(read_matrix(&mut &later[..]).unwrap().values, [0.1, f32::INFINITY]);
    }

    #[test]
    fn columns_after_one_another_are_the_same_matrix() {
        let numbers: Vec<u8> = [1f32, 4., 2., 5., 3., 6.].iter().flat_map(|x| x.to_le_bytes()).collect();
        let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
        let found = read_matrix(&mut with_header(header, &numbers).as_slice()).unwrap();
        assert_eq!((found.rows, found.dim, found.values), (2, 3, vec![1., 2., 3., 4., 5., 6.]));
        let empty = "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0), }\n";
        assert!(read_matrix(&mut with_header(empty, &[]).as_slice()).unwrap().values.is_empty());
    }

    #[test]
    fn other_arrays_get_a_sentence() {
        let told = |descr: &str, order: &str, shape: &str| {
            message(&with_header(
                &format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"),
                &[0; 64],
            ))
        };
        assert!(told("'<i8'", "False", "(2, 2)").starts_with("has elements of type '<i8', expected '<f4'"));
        assert!(told("[('a', '<f4')]", "False", "(2, 2)").contains("expected '<f4' or '<f8'"));
        assert!(told("'<f4'", "Maybe", "(2, 2)").starts_with("the header has no valid order"));
        assert!(told("'<f4'", "False", "(2,)").starts_with("has 1 dimensions, expected 2"));
        assert!(told("'<f4'", "False", "(2, x)").starts_with("the header has no valid shape"));
        assert!(
            told("'<f4'", "False", &format!("({}, 9)", usize::MAX)).contains("more than memory can address")
        );
        // A wrong size must not allocate the memory first.
        assert!(
            told("'<f4'", "False", "(99999999999, 9)").contains("truncated: expected 899999999991 numbers")
        );
        assert!(message(b"\x93NUMPY\x09\x00aa").starts_with("has format version 9"));
    }

    #[test]
    fn files_cut_short_anywhere_are_noticed() {
        let bytes = written(2, 3, &[0.5; 6]);
        for end in 0..bytes.len() {
            message(&bytes[..end]);
        }
        assert!(message(&bytes[..bytes.len() - 5]).starts_with("is truncated: expected 6 numbers, found 4"));
    }

    /// Defect 7: bytes after the numbers were ignored.
    #[test]
    fn trailing_bytes_are_refused() {
        let mut bytes = written(2, 3, &[0.5; 6]);
        bytes.push(0);
        let told = message(&bytes);
        assert!(told.starts_with("has more bytes than the 2 x 3 numbers of its header"), "{told}");
        let mut none = written(0, 3, &[]);
        none.extend([0; 12]);
        message(&none);
    }

    #[test]
    fn doubles_too_large_are_refused() {
        let mut bytes = Vec::new();
        write_array(&mut bytes, "<f8", &[1, 1], [1e300f64.to_le_bytes()].into_iter()).unwrap();
        assert!(message(&bytes).starts_with("1e300 exceeds the range"));
    }

    #[test]
    #[should_panic(expected = "as many elements as the shape")]
    fn a_wrong_shape_is_a_broken_contract() {
        written(2, 2, &[1.0]);
    }
}

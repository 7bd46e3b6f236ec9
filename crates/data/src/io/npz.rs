//! Sparse matrices in the format of `scipy.sparse.save_npz`, for `scipy.sparse.load_npz`.
//!
//! A file is a zip archive of `.npy` arrays. Members are stored without compression: SciPy reads both, and
//! compressing the values of a proximity matrix takes minutes and saves a few percent.
//!
//! Invariant: `indices` and `indptr` have the same type, as SciPy requires, and arrays are never copied as a whole.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy::write_array;
use super::write_atomic;
use manyview_base::error::Result;
use manyview_base::linalg::Csr;

/// Writes a sparse matrix as an `.npz` file, atomically.
///
/// # Errors
/// [`Error::Io`](manyview_base::error::Error::Io) with `path`.
pub fn write_npz(path: &Path, matrix: &Csr<f32>) -> Result<()> {
    write_atomic(path, |writer| write_npz_to(writer, matrix))
}

/// Writes the matrix to a writer, for files that are committed together.
///
/// # Errors
/// Those of the writer.
pub fn write_npz_to(writer: &mut (impl Write + Seek), matrix: &Csr<f32>) -> io::Result<()> {
    write_with_limit(writer, matrix, i32::MAX as usize)
}

/// Uses 32-bit indices if the number of entries and the sizes are at most `narrow`, which only tests change.
fn write_with_limit(writer: &mut (impl Write + Seek), matrix: &Csr<f32>, narrow: usize) -> io::Result<()> {
    let (rows, cols, entries) = (matrix.rows(), matrix.cols(), matrix.entries());
    let mut failure = None;
    let mut zip = ZipWriter::new(Latch { inner: writer, failure: &mut failure, position: 0 });
    if rows.max(cols).max(entries) <= narrow {
        member(&mut zip, "indices.npy")?;
        write_array(
            &mut zip,
            "<i4",
            &[entries],
            matrix.indices().iter().map(|&col| (col as i32).to_le_bytes()),
        )?;
        member(&mut zip, "indptr.npy")?;
        write_array(
            &mut zip,
            "<i4",
            &[rows + 1],
            matrix.indptr().iter().map(|&end| (end as i32).to_le_bytes()),
        )?;
    } else {
        member(&mut zip, "indices.npy")?;
        write_array(
            &mut zip,
            "<i8",
            &[entries],
            matrix.indices().iter().map(|&col| i64::from(col).to_le_bytes()),
        )?;
        member(&mut zip, "indptr.npy")?;
        write_array(
            &mut zip,
            "<i8",
            &[rows + 1],
            matrix.indptr().iter().map(|&end| (end as i64).to_le_bytes()),
        )?;
    }
    member(&mut zip, "format.npy")?;
    write_array(&mut zip, "|S3", &[], [*b"csr"].into_iter())?;
    member(&mut zip, "shape.npy")?;
    write_array(&mut zip, "<i8", &[2], [rows, cols].into_iter().map(|size| (size as i64).to_le_bytes()))?;
    member(&mut zip, "data.npy")?;
    write_array(&mut zip, "<f4", &[entries], matrix.values().iter().map(|value| value.to_le_bytes()))?;
    zip.finish()?.flush()?;
    failure.map_or(Ok(()), Err)
}

fn member(zip: &mut ZipWriter<impl Write + Seek>, name: &str) -> io::Result<()> {
    // Every member can exceed 4 GB. This costs twenty bytes each and avoids a second code path that tests would not
    // cover.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    Ok(zip.start_file(name, options)?)
}

/// Stores the first error and reports success from then on.
///
/// On an error, a `ZipWriter` tries to complete the archive when it is dropped, and prints to stderr if that fails
/// too, as it does on a full disk. A library must not print, so errors are hidden from it.
struct Latch<'a, W> {
    inner: &'a mut W,
    failure: &'a mut Option<io::Error>,
    position: u64,
}

impl<W: Write> Write for Latch<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = bytes.len();
        if self.failure.is_none() {
            match self.inner.write(bytes) {
                Ok(0) if !bytes.is_empty() => *self.failure = Some(io::ErrorKind::WriteZero.into()),
                Ok(taken) => written = taken,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                Err(error) => *self.failure = Some(error),
            }
        }
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failure.is_none() {
            *self.failure = self.inner.flush().err();
        }
        Ok(())
    }
}

impl<W: Seek> Seek for Latch<'_, W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if self.failure.is_none() {
            match self.inner.seek(to) {
                Ok(position) => {
                    self.position = position;
                    return Ok(position);
                }
                Err(error) => *self.failure = Some(error),
            }
        }
        // The position in a file of unlimited size.
        self.position = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::Current(offset) => self.position.saturating_add_signed(offset),
            SeekFrom::End(_) => self.position,
        };
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::error::Error;
    use std::fs::{self, File};
    use std::io::{Cursor, Read};
    use zip::ZipArchive;

    fn sample() -> Csr<f32> {
        Csr::new(5, vec![0, 2, 2, 3], vec![0, 4, 1], vec![1.0, 2.5, -3.0])
    }

    /// Returns name, header text and data of each member.
    fn members(archive: impl Read + Seek) -> Vec<(String, String, Vec<u8>)> {
        let mut zip = ZipArchive::new(archive).unwrap();
        (0..zip.len())
            .map(|index| {
                let mut member = zip.by_index(index).unwrap();
                assert_eq!(member.compression(), CompressionMethod::Stored);
                let mut bytes = Vec::new();
                member.read_to_end(&mut bytes).unwrap();
                let data = bytes.split_off(10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]));
                let header = String::from_utf8(bytes[10..].to_vec()).unwrap().trim_end().to_owned();
                (member.name().unwrap().into_owned(), header, data)
            })
            .collect()
    }

    fn header(descr: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
    }

    fn narrow(numbers: &[i32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn wide(numbers: &[i64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn the_members_are_those_of_scipy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.npz");
        write_npz(&path, &sample()).unwrap();
        let values: Vec<u8> = [1.0f32, 2.5, -3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        let expected = [
            ("indices.npy", header("<i4", "(3,)"), narrow(&[0, 4, 1])),
            ("indptr.npy", header("<i4", "(4,)"), narrow(&[0, 2, 2, 3])),
            ("format.npy", header("|S3", "()"), b"csr".to_vec()),
            ("shape.npy", header("<i8", "(2,)"), wide(&[3, 5])),
            ("data.npy", header("<f4", "(3,)"), values),
        ];
        let found = members(File::open(&path).unwrap());
        assert_eq!(found, expected.map(|(name, header, data)| (name.to_owned(), header, data)));
    }

    #[test]
    fn both_index_arrays_widen_together() {
        for limit in [2, 4] {
            // Either the entries (3) or the columns (5) exceed the limit.
            let mut archive = Cursor::new(Vec::new());
            write_with_limit(&mut archive, &sample(), limit).unwrap();
            let found = members(archive);
            assert_eq!((&found[0].1, &found[0].2), (&header("<i8", "(3,)"), &wide(&[0, 4, 1])));
            assert_eq!((&found[1].1, &found[1].2), (&header("<i8", "(4,)"), &wide(&[0, 2, 2, 3])));
        }
    }

    #[test]
    fn columns_beyond_31_bits_need_wide_indices() {
        let col = 3_000_000_000u32;
        let mut archive = Cursor::new(Vec::new());
        write_npz_to(&mut archive, &Csr::new(col as usize + 1, vec![0, 1], vec![col], vec![1.0])).unwrap();
        let found = members(archive);
        assert_eq!((&found[0].2, &found[1].2), (&wide(&[3_000_000_000]), &wide(&[0, 1])));
    }

    #[test]
    fn empty_matrices_are_whole_archives() {
        for (rows, cols) in [(0, 0), (0, 3), (2, 0), (1, 1)] {
            let mut archive = Cursor::new(Vec::new());
            write_npz_to(&mut archive, &Csr::empty(rows, cols)).unwrap();
            let found = members(archive);
            assert_eq!(found[1].2, vec![0; 4 * (rows + 1)]);
            assert_eq!(found[3].2, wide(&[rows as i64, cols as i64]));
            assert!(found[4].2.is_empty());
        }
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_clock() {
        let archive = || {
            let mut archive = Cursor::new(Vec::new());
            write_npz_to(&mut archive, &sample()).unwrap();
            archive.into_inner()
        };
        let bytes = archive();
        assert_eq!(bytes, archive());
        // Date and time of the first member: 1 January 1980, the zero of the zip format.
        assert_eq!(bytes[10..14], [0, 0, 0x21, 0]);
    }

    /// A writer that is full after some bytes, like a disk.
    struct Small(Cursor<Vec<u8>>, u64);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.position() >= self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Small {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn a_full_disk_is_told_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.npz");
        let mut whole = Cursor::new(Vec::new());
        write_npz_to(&mut whole, &sample()).unwrap();
        for size in [0, 1, 100, 300, 700, whole.get_ref().len() as u64 - 22] {
            let mut disk = Small(Cursor::new(Vec::new()), size);
            let result = write_atomic(&path, |_| write_npz_to(&mut disk, &sample()));
            assert!(
                matches!(result, Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::StorageFull),
                "a disk of {size} bytes"
            );
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

//! Matrices for the measurements: files of `manyview proximity`, norms, random factors.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use manyview::linalg::{Csr, Dense};
use zip::ZipArchive;

/// Reads a CSR matrix of f32 written by `manyview proximity` or `scipy.sparse.save_npz(..., compressed=False)`.
pub(crate) fn read_npz(path: &Path) -> Result<Csr<f32>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut archive = ZipArchive::new(BufReader::new(file))?;
    let mut member = |name: &str| -> Result<(String, Vec<u8>)> {
        let mut bytes = Vec::new();
        archive
            .by_name(name)
            .with_context(|| format!("{} in {}", name, path.display()))?
            .read_to_end(&mut bytes)?;
        ensure!(bytes.len() > 10, "{name} is truncated");
        let length = 10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
        let header = String::from_utf8_lossy(&bytes[10..length]).into_owned();
        bytes.drain(..length);
        Ok((header, bytes))
    };
    let indptr = whole_numbers(&member("indptr.npy")?)?;
    let indices = whole_numbers(&member("indices.npy")?)?.into_iter().map(|col| col as u32).collect();
    let cols = whole_numbers(&member("shape.npy")?)?[1];
    let (header, bytes) = member("data.npy")?;
    ensure!(header.contains("'<f4'"), "values are not 32-bit floats: {header}");
    let values = bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    Ok(Csr::new(cols, indptr, indices, values))
}

fn whole_numbers((header, bytes): &(String, Vec<u8>)) -> Result<Vec<usize>> {
    if header.contains("'<i4'") {
        Ok(bytes.as_chunks::<4>().0.iter().map(|&bytes| i32::from_le_bytes(bytes) as usize).collect())
    } else if header.contains("'<i8'") {
        Ok(bytes.as_chunks::<8>().0.iter().map(|&bytes| i64::from_le_bytes(bytes) as usize).collect())
    } else {
        bail!("not integers: {header}")
    }
}

pub(crate) fn squared_norm(matrix: &Csr<f32>) -> f64 {
    matrix.values().iter().map(|&value| f64::from(value) * f64::from(value)).sum()
}

pub(crate) fn squared_norm_of_sum(matrices: &[Csr<f32>]) -> f64 {
    let (rows, cols) = matrices.first().map_or((0, 0), |first| (first.rows(), first.cols()));
    let mut sums = vec![0.0f64; cols];
    let mut total = 0.0;
    for row in 0..rows {
        for matrix in matrices {
            let (cols, values) = matrix.row(row);
            for (&col, &value) in cols.iter().zip(values) {
                sums[col as usize] += f64::from(value);
            }
        }
        for sum in &mut sums {
            total += *sum * *sum;
            *sum = 0.0;
        }
    }
    total
}

/// `||Aᵀ U||^2`, in f64.
pub(crate) fn squared_norm_of_image(matrix: &Csr<f32>, u: &Dense<f32>) -> f64 {
    let transposed = matrix.transpose();
    let mut total = 0.0;
    for col in 0..transposed.rows() {
        let mut image = vec![0.0f64; u.width()];
        for (&row, &value) in transposed.row(col).0.iter().zip(transposed.row(col).1) {
            let terms = image.iter_mut().zip(u.row(row as usize));
            terms.for_each(|(sum, &x)| *sum += f64::from(value) * f64::from(x));
        }
        total += image.iter().map(|x| x * x).sum::<f64>();
    }
    total
}

/// Numbers between 0 and `limit` that depend only on their position and `salt`.
pub(crate) fn random_factor(rows: usize, width: usize, limit: f64, salt: u64) -> Dense<f32> {
    Dense::from_fn(rows, width, |row, col| {
        let mut x = ((row * width + col) as u64 ^ (salt << 48)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (limit * ((x >> 40) as f64 + 0.5) / (1u64 << 24) as f64) as f32
    })
}

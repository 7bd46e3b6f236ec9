//! Pieces in files: sizes in a JSON header, and numbers as bits, because JSON would not restore them exactly.
//!
//! The numbers of a piece: seconds, scales, weights, column scales (f64); U, then every V (f32); all little-endian.

use std::io::{self, Read, Write};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Piece;
use crate::mnmf::Consensus;
use manyview_base::linalg::Dense;

/// The sizes of a piece, and what is not a list of numbers.
#[derive(Serialize, Deserialize)]
pub(crate) struct PieceHeader {
    pub(crate) views: Vec<usize>,
    consensus: Option<String>,
    pub(crate) columns: Range<usize>,
    iterations: usize,
    converged: bool,
    pub(crate) u_rows: usize,
    pub(crate) v_rows: usize,
    vs: usize,
}

/// Writes the numbers of a piece that took so many seconds; U has all rows.
pub(crate) fn write_numbers(piece: &Piece, seconds: f64, writer: &mut impl Write) -> io::Result<()> {
    for number in [&[seconds], &piece.scales[..], &piece.weights, &piece.column_scales].concat() {
        writer.write_all(&number.to_le_bytes())?;
    }
    std::iter::once(&piece.u).chain(&piece.v_t).try_for_each(|factor| write_rows(factor, writer))
}

/// Writes the rows of a factor.
pub(crate) fn write_rows(factor: &Dense<f32>, writer: &mut impl Write) -> io::Result<()> {
    for row in 0..factor.rows() {
        let bytes: Vec<u8> = factor.row(row).iter().flat_map(|x| x.to_le_bytes()).collect();
        writer.write_all(&bytes)?;
    }
    Ok(())
}

impl PieceHeader {
    /// Those of a piece.
    pub(crate) fn of(piece: &Piece) -> Self {
        PieceHeader {
            views: piece.views.clone(),
            consensus: piece.consensus.map(|consensus| consensus.name().to_owned()),
            columns: piece.columns.clone(),
            iterations: piece.iterations,
            converged: piece.converged,
            u_rows: piece.u.rows(),
            v_rows: piece.v_t[0].rows(),
            vs: piece.v_t.len(),
        }
    }

    /// The number of bytes of its numbers; `None` if no piece has such sizes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let [width, views, vs] = [self.columns.len(), self.views.len(), self.vs].map(|count| count as u64);
        // A V for each view, or one for all of them.
        if width == 0 || views == 0 || (vs != views && vs != 1) || self.u_rows != self.v_rows {
            return None;
        }
        let rows = (self.u_rows as u64).checked_mul(1 + vs)?;
        rows.checked_mul(width)?
            .checked_mul(4)?
            .checked_add((1 + 2 * views).checked_add(width)?.checked_mul(8)?)
    }

    /// Reads the numbers, with some rows of U.
    pub(crate) fn read(&self, reader: &mut impl Read, rows: &Range<usize>) -> io::Result<Piece> {
        let width = self.columns.len();
        let seconds = read_f64(reader, 1)?[0];
        let (scales, weights) = (read_f64(reader, self.views.len())?, read_f64(reader, self.views.len())?);
        let column_scales = read_f64(reader, width)?;
        let u = read_rows(reader, self.u_rows, width, rows)?;
        let all = 0..self.v_rows;
        let v_t = (0..self.vs)
            .map(|_| read_rows(reader, self.v_rows, width, &all))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Piece {
            views: self.views.clone(),
            consensus: self.consensus.as_deref().and_then(Consensus::from_name),
            columns: self.columns.clone(),
            u,
            v_t,
            scales,
            weights,
            column_scales,
            iterations: self.iterations,
            converged: self.converged,
            seconds,
        })
    }
}

/// Reads so many numbers.
pub(crate) fn read_f64(reader: &mut impl Read, count: usize) -> io::Result<Vec<f64>> {
    let mut bytes = [0; 8];
    (0..count).map(|_| reader.read_exact(&mut bytes).map(|()| f64::from_le_bytes(bytes))).collect()
}

/// Reads a factor and returns some of its rows.
pub(crate) fn read_rows(
    reader: &mut impl Read,
    rows: usize,
    width: usize,
    kept: &Range<usize>,
) -> io::Result<Dense<f32>> {
    let mut factor = Dense::zeros(kept.len(), width);
    let mut bytes = vec![0; 4 * width];
    for row in 0..rows {
        reader.read_exact(&mut bytes)?;
        if kept.contains(&row) {
            for (x, bytes) in factor.row_mut(row - kept.start).iter_mut().zip(bytes.as_chunks::<4>().0) {
                *x = f32::from_le_bytes(*bytes);
            }
        }
    }
    Ok(factor)
}

/// Computes the checksum of all bytes that pass through.
pub(crate) struct Summed<I> {
    pub(crate) inner: I,
    pub(crate) sum: crc32fast::Hasher,
}

impl<W: Write> Write for Summed<&mut W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buf)?;
        self.sum.update(&buf[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.sum.update(&buf[..read]);
        Ok(read)
    }
}

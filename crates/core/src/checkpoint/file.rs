//! The file of one stage.
//!
//! ```text
//! "manyview stage 1\n"                      file type and format version
//! header length (u64), header (JSON)        identity of the run; views, columns and sizes of each piece
//! numbers of each piece                     seconds, scales, weights, column scales (f64); U, then every V (f32)
//! CRC-32 of everything before it (u32)
//! ```
//! All numbers are little-endian. Floating-point numbers are stored as bits, because JSON would not restore them
//! exactly.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Identity;
use crate::mnmf::Consensus;
use crate::piece::Piece;
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Dense;

const MAGIC: &[u8; 17] = b"manyview stage 1\n";
/// Upper bound of the header length, so that a damaged length does not lead to a huge allocation.
const LONGEST_HEADER: u64 = 1 << 26;

/// The reason why a file cannot be used.
#[derive(Debug)]
pub(super) struct Damage(pub(super) String);

#[derive(Serialize, Deserialize)]
struct Header {
    identity: Identity,
    pieces: Vec<PieceHeader>,
}

#[derive(Serialize, Deserialize)]
struct PieceHeader {
    views: Vec<usize>,
    consensus: Option<String>,
    columns: Range<usize>,
    iterations: usize,
    converged: bool,
    u_rows: usize,
    v_rows: usize,
    vs: usize,
}

/// Writes the pieces of a stage; U has all rows.
pub(super) fn write(writer: &mut impl Write, identity: &Identity, pieces: &[Piece]) -> io::Result<()> {
    let header = Header { identity: identity.clone(), pieces: pieces.iter().map(PieceHeader::of).collect() };
    let header = serde_json::to_vec(&header)?;
    let mut writer = Summed { inner: writer, sum: crc32fast::Hasher::new() };
    writer.write_all(MAGIC)?;
    writer.write_all(&(header.len() as u64).to_le_bytes())?;
    writer.write_all(&header)?;
    for piece in pieces {
        for number in [&[piece.seconds], &piece.scales[..], &piece.weights, &piece.column_scales].concat() {
            writer.write_all(&number.to_le_bytes())?;
        }
        for factor in std::iter::once(&piece.u).chain(&piece.v_t) {
            for row in 0..factor.rows() {
                let bytes: Vec<u8> = factor.row(row).iter().flat_map(|x| x.to_le_bytes()).collect();
                writer.write_all(&bytes)?;
            }
        }
    }
    let sum = writer.sum.finalize();
    writer.inner.write_all(&sum.to_le_bytes())
}

/// Reads a file and verifies its checksum; returns `None` if there is no file.
pub(super) fn check(path: &Path) -> std::result::Result<Option<Identity>, Damage> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Damage(error.to_string())),
    };
    let damage = |error: io::Error| Damage(format!("cannot be read ({error})"));
    let length = file.metadata().map_err(damage)?.len();
    let Some(content) = length.checked_sub(4) else { return Err(Damage("is truncated".into())) };
    let mut reader = Summed { inner: (&mut file).take(content), sum: crc32fast::Hasher::new() };
    let header = read_header(&mut BufReader::with_capacity(1 << 18, &mut reader));
    io::copy(&mut reader, &mut io::sink()).map_err(damage)?;
    let mut stored = [0; 4];
    let sum = reader.sum.finalize();
    file.read_exact(&mut stored).map_err(damage)?;
    if sum != u32::from_le_bytes(stored) {
        return Err(Damage("is damaged (checksum mismatch)".into()));
    }
    header
        .map(|header| Some(header.identity))
        .map_err(|error| Damage(format!("is not a stage file of this version ({error})")))
}

/// Reads the pieces with some rows of U. The file must have been checked.
pub(super) fn read(path: &Path, rows: &Range<usize>) -> Result<Vec<Piece>> {
    let read = || {
        let mut reader = BufReader::with_capacity(1 << 18, File::open(path)?);
        let header = read_header(&mut reader)?;
        header.pieces.iter().map(|piece| piece.read(&mut reader, rows)).collect::<io::Result<Vec<_>>>()
    };
    read().map_err(|error| Error::io(path, error))
}

fn read_header(reader: &mut impl Read) -> io::Result<Header> {
    let (mut magic, mut length) = ([0; MAGIC.len()], [0; 8]);
    reader.read_exact(&mut magic)?;
    reader.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if magic != *MAGIC || length > LONGEST_HEADER {
        return Err(io::Error::other("wrong version or file type"));
    }
    let mut header = vec![0; length as usize];
    reader.read_exact(&mut header)?;
    Ok(serde_json::from_slice(&header)?)
}

impl PieceHeader {
    fn of(piece: &Piece) -> Self {
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

    fn read(&self, reader: &mut impl Read, rows: &Range<usize>) -> io::Result<Piece> {
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

fn read_f64(reader: &mut impl Read, count: usize) -> io::Result<Vec<f64>> {
    let mut bytes = [0; 8];
    (0..count).map(|_| reader.read_exact(&mut bytes).map(|()| f64::from_le_bytes(bytes))).collect()
}

/// Reads a factor and returns some of its rows.
fn read_rows(
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
struct Summed<I> {
    inner: I,
    sum: crc32fast::Hasher,
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

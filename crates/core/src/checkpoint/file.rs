//! The file of one stage.
//!
//! ```text
//! "manyview stage 2\n"                      file type and format version
//! header length (u64), header (JSON)        identity of the run; number of the stage and checksum of the stage before it;
//!                                           views, columns and sizes of each piece
//! numbers of each piece                     seconds, scales, weights, column scales (f64); U, then every V (f32)
//! CRC-32 of everything before it (u32)
//! ```
//! All numbers are little-endian. Floating-point numbers are stored as bits, because JSON would not restore them
//! exactly.
//!
//! The checksum of the stage before it makes the files of a run a chain: a stage is valid only after exactly those that it was
//! computed after. Format 1 had neither the number nor the chain, so a copy under another number was accepted.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Identity;
use crate::piece::{Piece, PieceHeader, Summed, write_numbers};
use manyview_base::error::{Error, Result};
use manyview_data::io::{Files, OpenFile};

const MAGIC: &[u8; 17] = b"manyview stage 2\n";
/// The beginning of the files of all versions.
const FILE_TYPE: &[u8] = b"manyview stage ";
/// Upper bound of the header length, so that a damaged length does not lead to a huge allocation.
const LONGEST_HEADER: u64 = 1 << 26;

/// The reason why a file cannot be used.
#[derive(Debug)]
pub(super) struct Damage(pub(super) String);

/// What an undamaged file says about itself.
pub(super) struct Checked {
    pub(super) identity: Identity,
    pub(super) stage: usize,
    /// The checksum of the stage before it; the first has none.
    pub(super) previous: Option<u32>,
    pub(super) pieces: Vec<PieceHeader>,
    /// Its own checksum.
    pub(super) sum: u32,
}

#[derive(Serialize, Deserialize)]
struct Header {
    identity: Identity,
    stage: usize,
    previous: Option<u32>,
    pieces: Vec<PieceHeader>,
}

/// Writes the pieces of a stage; U has all rows. `previous` is the checksum of the stage before it.
pub(super) fn write(
    writer: &mut impl Write,
    identity: &Identity,
    stage: usize,
    previous: Option<u32>,
    pieces: &[Piece],
) -> io::Result<()> {
    let pieces_of = pieces.iter().map(PieceHeader::of).collect();
    let header = Header { identity: identity.clone(), stage, previous, pieces: pieces_of };
    let header = serde_json::to_vec(&header)?;
    let mut writer = Summed { inner: writer, sum: crc32fast::Hasher::new() };
    writer.write_all(MAGIC)?;
    writer.write_all(&(header.len() as u64).to_le_bytes())?;
    writer.write_all(&header)?;
    pieces.iter().try_for_each(|piece| write_numbers(piece, piece.seconds, &mut writer))?;
    let Summed { inner, sum } = writer;
    let sum = sum.finalize();
    inner.write_all(&sum.to_le_bytes())
}

/// Reads a file and verifies its checksum and its length; returns `None` if there is no file.
pub(super) fn check(files: &dyn Files, path: &Path) -> std::result::Result<Option<Checked>, Damage> {
    let OpenFile { reader: mut file, length } = match files.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Damage(error.to_string())),
    };
    let damage = |error: io::Error| Damage(format!("cannot be read ({error})"));
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
    let (Header { identity, stage, previous, pieces }, begin) =
        header.map_err(|error| Damage(format!("is not a stage file of this version ({error})")))?;
    let numbers = pieces.iter().try_fold(0u64, |sum, piece| sum.checked_add(piece.bytes()?));
    if numbers.and_then(|numbers| numbers.checked_add(begin)) != Some(content) {
        return Err(Damage("is damaged (its length is not that of its pieces)".into()));
    }
    Ok(Some(Checked { identity, stage, previous, pieces, sum }))
}

/// Reads the checksum at the end of a file that was written completely.
pub(super) fn stored_sum(path: &Path) -> Option<u32> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::End(-4)).ok()?;
    let mut sum = [0; 4];
    file.read_exact(&mut sum).ok()?;
    Some(u32::from_le_bytes(sum))
}

/// Reads the pieces with some rows of U. The file must have been checked.
pub(super) fn read(files: &dyn Files, path: &Path, rows: &Range<usize>) -> Result<Vec<Piece>> {
    let read = || {
        let mut reader = BufReader::with_capacity(1 << 18, files.open(path)?.reader);
        let (header, _) = read_header(&mut reader)?;
        header.pieces.iter().map(|piece| piece.read(&mut reader, rows)).collect::<io::Result<Vec<_>>>()
    };
    read().map_err(|error| Error::io(path, error))
}

/// Reads the header; also returns the number of bytes before the numbers.
fn read_header(reader: &mut impl Read) -> io::Result<(Header, u64)> {
    let (mut magic, mut length) = ([0; MAGIC.len()], [0; 8]);
    reader.read_exact(&mut magic)?;
    reader.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if magic != *MAGIC && magic.starts_with(FILE_TYPE) {
        let [of_file, ours] =
            [&magic, MAGIC].map(|magic| magic[FILE_TYPE.len()..].trim_ascii_end().escape_ascii());
        return Err(io::Error::other(format!(
            "it has format {of_file}, this version of manyview reads format {ours}"
        )));
    }
    if magic != *MAGIC || length > LONGEST_HEADER {
        return Err(io::Error::other("wrong file type"));
    }
    let mut header = vec![0; length as usize];
    reader.read_exact(&mut header)?;
    Ok((serde_json::from_slice(&header)?, (MAGIC.len() + 8) as u64 + length))
}

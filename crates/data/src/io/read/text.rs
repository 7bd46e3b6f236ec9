//! Opens text files: plain, gzip or zstd, or standard input.
//!
//! Invariant: the compression is inferred from the first bytes, never from the name, which may be wrong.

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use super::foreign::{HEAD, foreign};
use crate::io::Files;
use manyview_base::error::{Error, Result};

/// The size of the buffer for compressed data.
const BUFFER: usize = 1 << 18;

/// The decompressed bytes of a file.
pub(super) struct Text {
    reader: Box<dyn Read>,
    /// The name of the compression, for messages.
    packing: Option<&'static str>,
    /// Whether the first bytes have been looked at.
    known: bool,
    /// An error that was met after the first bytes.
    due: Option<Error>,
    place: String,
}

/// The name of standard input in messages.
pub(super) const STDIN: &str = "standard input";

/// The number of bytes read from all files, before decompression.
pub(super) type BytesRead = Rc<Cell<u64>>;

pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the name of a file for messages.
pub(super) fn place(path: &Path) -> String {
    if is_stdin(path) { STDIN.into() } else { path.display().to_string() }
}

impl Text {
    pub(super) fn open(files: &dyn Files, path: &Path, taken: &BytesRead) -> Result<Text> {
        let raw: Box<dyn Read> = if is_stdin(path) {
            files.standard_input()
        } else {
            files.open(path).map_err(|error| Error::io(path, error))?.reader
        };
        Text::unpack(raw, place(path), taken).map_err(|error| match error {
            Error::Io { cause, .. } => Error::io(path, cause),
            other => other,
        })
    }

    fn unpack(raw: Box<dyn Read>, place: String, taken: &BytesRead) -> Result<Text> {
        let mut raw = Counted { raw, taken: Rc::clone(taken) };
        let mut magic = Vec::with_capacity(HEAD);
        let failed = |error| Error::io(Path::new(&place), error);
        (&mut raw).take(HEAD as u64).read_to_end(&mut magic).map_err(failed)?;
        if let Some(advice) = foreign(&magic, &place) {
            return Err(Error::parse(place, advice));
        }
        let gzip = magic.starts_with(b"\x1f\x8b");
        let zstd = magic.starts_with(b"\x28\xb5\x2f\xfd");
        let whole = Cursor::new(magic).chain(raw);
        let (reader, packing): (Box<dyn Read>, _) = if gzip {
            let packed = BufReader::with_capacity(BUFFER, whole);
            // Files created by appending to a .gz have several members.
            (Box::new(flate2::bufread::MultiGzDecoder::new(packed)), Some("gzip"))
        } else if zstd {
            let packed = BufReader::with_capacity(BUFFER, whole);
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(failed)?;
            // Without this, files compressed with `zstd --long=31` are refused.
            decoder.window_log_max(31).map_err(failed)?;
            (Box::new(decoder), Some("zstd"))
        } else {
            (Box::new(whole), None)
        };
        Ok(Text { reader, packing, known: packing.is_none(), due: None, place })
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if let Some(error) = self.due.take() {
            return Err(error);
        }
        if std::mem::replace(&mut self.known, true) {
            return self.read_some(buffer);
        }
        // What is recognized must not depend on the pieces in which a decoder returns its data.
        let mut filled = 0;
        while filled < HEAD.min(buffer.len()) {
            match self.read_some(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.due = Some(error);
                    break;
                }
            }
        }
        match foreign(&buffer[..filled], &self.place) {
            Some(advice) => Err(Error::parse(&self.place, advice)),
            None => Ok(filled),
        }
    }

    fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map_err(|error| self.failure(error)),
            }
        }
    }

    fn failure(&self, error: io::Error) -> Error {
        match self.packing {
            Some(packing) if error.kind() == io::ErrorKind::UnexpectedEof => Error::parse(
                &self.place,
                format!("the {packing} data ends early; the file is truncated, download it again"),
            ),
            Some(packing) if error.raw_os_error().is_none() => Error::parse(
                &self.place,
                format!("the {packing} data is damaged ({error}); download the file again"),
            ),
            _ => Error::io(Path::new(&self.place), error),
        }
    }
}

struct Counted {
    raw: Box<dyn Read>,
    taken: BytesRead,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.raw.read(buffer)?;
        self.taken.set(self.taken.get() + bytes as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    pub(in crate::io) fn text(bytes: &[u8]) -> Result<Text> {
        Text::unpack(Box::new(Cursor::new(bytes.to_vec())), "calls.tsv".into(), &BytesRead::default())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn all(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut text = text(bytes)?;
        let (mut whole, mut buffer) = (Vec::new(), [0; 100]);
        loop {
            match text.read(&mut buffer)? {
                0 => return Ok(whole),
                length => whole.extend_from_slice(&buffer[..length]),
            }
        }
    }

    #[test]
    fn packing_is_told_from_the_bytes() {
        let plain = b"a\tb\n".repeat(1000);
        assert_eq!(all(&plain).unwrap(), plain);
        assert_eq!(all(&gzip(&plain)).unwrap(), plain);
        assert_eq!(all(&zstd::encode_all(&plain[..], 1).unwrap()).unwrap(), plain);
        assert_eq!(all(b"").unwrap(), b"");
        assert_eq!(all(b"BZh1\tx").unwrap(), b"BZh1\tx");
    }

    #[test]
    fn members_of_a_packed_file_follow_each_other() {
        assert_eq!(all(&[gzip(b"a b\n"), gzip(b"c d\n")].concat()).unwrap(), b"a b\nc d\n");
        let frame = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        assert_eq!(all(&[frame(b"a b\n"), frame(b"c d\n")].concat()).unwrap(), b"a b\nc d\n");
    }

    #[test]
    fn packed_data_that_end_early_are_called_truncated() {
        let plain: Vec<u8> =
            (0..9000u32).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for (packing, packed) in [("gzip", gzip(&plain)), ("zstd", zstd::encode_all(&plain[..], 1).unwrap())]
        {
            for length in [6, packed.len() / 2, packed.len() - 3] {
                let error = all(&packed[..length]).unwrap_err().to_string();
                let sentence = format!(
                    "calls.tsv: the {packing} data ends early; the file is truncated, download it again"
                );
                assert_eq!(error, sentence, "{length} bytes");
            }
        }
    }

    #[test]
    fn damaged_data_are_called_damaged() {
        let mut packed = gzip(&b"a\tb\n".repeat(100));
        let last = packed.len() - 6;
        packed[last] ^= 0xff;
        let error = all(&packed).unwrap_err().to_string();
        assert!(error.starts_with("calls.tsv: the gzip data is damaged"), "{error}");
    }

    #[test]
    fn other_kinds_of_files_get_advice() {
        for (bytes, word) in [
            (&b"\xff\xfea\0\t\0"[..], "iconv -f utf-16"),
            (b"\xfe\xff\0a", "iconv -f utf-16"),
            (b"PK\x03\x04xxxxxxx", "zip"),
            (b"BZh91AY&SYxxx", "bzip2"),
        ] {
            let error = all(bytes).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}

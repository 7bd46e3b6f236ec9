//! The lines of a text, read one at a time through one buffer.
//!
//! Invariant: `buffer[start..end]` is the current line without its line break, `buffer[next..filled]` has not been
//! split into lines yet, and nothing from `mark` on is overwritten while there is a mark. Blocks of lines can be taken out and
//! given back; lines and numbers are then the same as if they had stayed.

use super::text::Text;
use manyview_base::error::{Error, Result};
use manyview_base::message::Message;

/// Large enough for cheap refills, small enough to stay in the cache.
const BUFFER: usize = 1 << 18;

/// The buffer of a file that turns out to be small: zeroing 256 KB took longer than reading a label file.
const FIRST: usize = 1 << 12;

/// The maximum length of a line. A longer line suggests that the file is not text.
const LONGEST: usize = 1 << 26;

/// A position between lines: the next byte of the buffer, and the number of the line that begins there.
#[derive(Clone, Copy, Debug)]
struct Mark {
    next: usize,
    number: u64,
}

/// The lines of a text.
pub(super) struct Lines {
    text: Text,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    next: usize,
    filled: usize,
    number: u64,
    extent: u64,
    mark: Option<Mark>,
    /// The first zero byte of the buffer, which is in the current line or after it.
    zero: Option<usize>,
    /// The error with which the text ended while a block was taken; due when the lines before it have been read.
    failure: Option<Error>,
}

impl Lines {
    pub(super) fn new(text: Text) -> Result<Lines> {
        let buffer = vec![0; FIRST];
        let (mark, zero) = (None, None);
        let mut lines = Lines {
            text,
            buffer,
            start: 0,
            end: 0,
            next: 0,
            filled: 0,
            number: 0,
            extent: 1,
            mark,
            zero,
            failure: None,
        };
        while lines.filled < 3 && lines.fill()? {}
        let head = &lines.buffer[..lines.filled];
        if head.starts_with(b"\xef\xbb\xbf") {
            lines.next = 3;
        } else if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(lines.error("is UTF-16; convert it, for example with iconv -f utf-16 -t utf-8"));
        }
        Ok(lines)
    }

    /// Moves to the next line. Returns false at the end of the text.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.number += self.extent;
        self.extent = 1;
        (self.start, self.end) = (self.next, self.next);
        self.find_end()
    }

    /// Appends the next line to the current one. Returns false at the end of the text.
    pub(super) fn extend(&mut self) -> Result<bool> {
        self.extent += 1;
        self.find_end()
    }

    /// Returns the current line.
    pub(super) fn line(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the number of the current line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of lines that were joined into the current one.
    pub(super) fn extent(&self) -> u64 {
        self.extent
    }

    /// Marks the position before the next line.
    pub(super) fn set_mark(&mut self) {
        self.mark = Some(Mark { next: self.next, number: self.number + self.extent });
    }

    /// Returns to the mark, which remains set.
    pub(super) fn rewind(&mut self) {
        let mark = self.mark.expect("only marked lines are rewound");
        (self.start, self.end, self.next) = (mark.next, mark.next, mark.next);
        (self.number, self.extent) = (mark.number, 0);
    }

    /// Keeps an error that was met ahead of the mark until the lines before it have been read again.
    pub(super) fn postpone(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    pub(super) fn clear_mark(&mut self) {
        self.mark = None;
    }

    /// Takes up to `count` blocks of whole lines, each of about `size` bytes, from what follows the current line. Fewer at
    /// the end of the text, and where a line is too long or the text cannot be read: advancing reports that.
    ///
    /// The numbers of the lines are those before the blocks until [`Lines::pass`] is called for each of them.
    pub(super) fn take_blocks(&mut self, count: usize, size: usize) -> Vec<Vec<u8>> {
        debug_assert!(self.mark.is_none(), "blocks are not taken between a mark and its end");
        std::iter::from_fn(|| self.take_block(size)).take(count).collect()
    }

    fn take_block(&mut self, size: usize) -> Option<Vec<u8>> {
        if self.failure.is_some() {
            return None;
        }
        let mut block = Vec::with_capacity(self.filled - self.next + size);
        block.extend_from_slice(&self.buffer[self.next..self.filled]);
        let mut searched = 0;
        loop {
            let used = block.len();
            block.resize(used + size.saturating_sub(used).max(FIRST), 0);
            let read = self.text.read(&mut block[used..]);
            block.truncate(used + *read.as_ref().unwrap_or(&0));
            let ended = match read {
                Ok(bytes) => bytes == 0,
                Err(error) => {
                    self.failure = Some(error);
                    false
                }
            };
            if ended {
                self.refill(Vec::new());
                return (!block.is_empty()).then_some(block);
            }
            if block.len() < size && self.failure.is_none() {
                continue;
            }
            let last = memchr::memrchr(b'\n', &block[searched..]);
            searched = block.len();
            match last {
                Some(_) if self.failure.is_none() => {
                    let tail = block.split_off(memchr::memrchr(b'\n', &block).map_or(0, |at| at + 1));
                    self.refill(tail);
                    return Some(block);
                }
                None if self.failure.is_none() && block.len() <= LONGEST => {}
                _ => {
                    self.refill(block);
                    return None;
                }
            }
        }
    }

    /// Counts the lines of a block that was taken.
    pub(super) fn pass(&mut self, lines: u64) {
        self.number += lines;
    }

    /// Puts blocks back that were taken and not passed: all of them, in order.
    pub(super) fn give_back(&mut self, blocks: impl IntoIterator<Item = Vec<u8>>) {
        let mut buffer = Vec::new();
        blocks.into_iter().for_each(|block| buffer.extend_from_slice(&block));
        buffer.extend_from_slice(&self.buffer[self.next..self.filled]);
        self.refill(buffer);
    }

    /// Replaces what has not been split into lines yet.
    fn refill(&mut self, buffer: Vec<u8>) {
        self.zero = memchr::memchr(0, &buffer);
        (self.start, self.end, self.next, self.filled) = (0, 0, 0, buffer.len());
        self.buffer = buffer;
    }

    /// Returns the name of the file, for messages.
    pub(super) fn file(&self) -> &str {
        self.text.place()
    }

    /// Returns an error about the file.
    #[cold]
    pub(super) fn error(&self, message: impl Into<Message>) -> Error {
        Error::parse(self.file(), message)
    }

    /// Returns an error about the current line.
    #[cold]
    pub(super) fn line_error(&self, message: impl Into<Message>) -> Error {
        Error::parse(format!("{}:{}", self.file(), self.number), message)
    }

    /// Returns an error about a zero byte in the last line read.
    #[cold]
    fn zero_error(&self) -> Error {
        Error::parse(
            format!("{}:{}", self.file(), self.number + self.extent - 1),
            "the line contains a zero byte, so the file is not UTF-8 text (convert UTF-16, for example with iconv \
             -f utf-16le -t utf-8)",
        )
    }

    fn find_end(&mut self) -> Result<bool> {
        let mut seen = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.next + seen..self.filled]) {
                self.end = self.next + seen + at;
                self.next = self.end + 1;
                break;
            }
            seen = self.filled - self.next;
            if seen > LONGEST {
                return Err(self.line_error("the line is longer than 64 MB; check that the file is text"));
            }
            if !self.fill()? {
                if seen == 0 {
                    return Ok(false);
                }
                self.end = self.filled;
                self.next = self.filled;
                break;
            }
        }
        if self.zero.is_some_and(|zero| zero < self.next) {
            return Err(self.zero_error());
        }
        if self.end > self.start && self.buffer[self.end - 1] == b'\r' {
            self.end -= 1;
        }
        Ok(true)
    }

    /// Reads more data and discards what is before the current line and the mark. Returns false at the end of the
    /// text.
    fn fill(&mut self) -> Result<bool> {
        let keep = self.mark.map_or(self.start, |mark| mark.next.min(self.start));
        if self.filled == self.buffer.len() {
            self.buffer.copy_within(keep..self.filled, 0);
            self.start -= keep;
            self.end -= keep;
            self.next -= keep;
            self.filled -= keep;
            if let Some(mark) = &mut self.mark {
                mark.next -= keep;
            }
            self.zero = self.zero.map(|zero| zero - keep);
            if self.filled > self.buffer.len() / 2 {
                self.buffer.resize(2 * self.buffer.len(), 0);
            }
            if self.buffer.len() < BUFFER {
                self.buffer.resize(BUFFER, 0);
            }
        }
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let bytes = self.text.read(&mut self.buffer[self.filled..])?;
        if self.zero.is_none() {
            let new = &self.buffer[self.filled..self.filled + bytes];
            self.zero = memchr::memchr(0, new).map(|at| self.filled + at);
        }
        self.filled += bytes;
        Ok(bytes > 0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::text::tests::text;
    use super::*;

    pub(in crate::io) fn lines(bytes: &[u8]) -> Result<Lines> {
        Lines::new(text(bytes)?)
    }

    fn all(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut lines = lines(bytes).unwrap();
        let mut found = Vec::new();
        while lines.advance().unwrap() {
            found.push((lines.number(), lines.line().to_vec()));
        }
        found
    }

    #[test]
    fn line_breaks_of_both_kinds_end_lines() {
        let expected = vec![(1, b"a\tb".to_vec()), (2, b"".to_vec()), (3, b"c".to_vec())];
        assert_eq!(all(b"a\tb\n\nc\n"), expected);
        assert_eq!(all(b"a\tb\r\n\r\nc"), expected);
        assert_eq!(all(b"\xef\xbb\xbfa\tb\n\nc"), expected);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn lines_longer_than_the_buffer_are_whole() {
        let long = vec![b'x'; 3 * BUFFER + 17];
        let bytes = [b"a\n", &long[..], b"\nb\n", &long[..]].concat();
        let expected = vec![(1, b"a".to_vec()), (2, long.clone()), (3, b"b".to_vec()), (4, long)];
        assert_eq!(all(&bytes), expected);
    }

    #[test]
    fn every_line_survives_the_refills() {
        let bytes: Vec<u8> = (0..200_000).flat_map(|at| format!("{at}\n").into_bytes()).collect();
        for (at, (number, line)) in all(&bytes).into_iter().enumerate() {
            assert_eq!((number, line), (at as u64 + 1, at.to_string().into_bytes()));
        }
    }

    #[test]
    fn rewinding_goes_back_across_refills() {
        let bytes: Vec<u8> = (1..=200_000).flat_map(|at| format!("{at}\n").into_bytes()).collect();
        let mut lines = lines(&bytes).unwrap();
        lines.advance().unwrap();
        lines.set_mark();
        while lines.advance().unwrap() {}
        lines.rewind();
        lines.clear_mark();
        for at in 2..=200_000u64 {
            assert!(lines.advance().unwrap());
            assert_eq!((lines.number(), lines.line()), (at, at.to_string().as_bytes()));
        }
        assert!(!lines.advance().unwrap());
    }

    #[test]
    fn extended_lines_count_as_several() {
        let mut lines = lines(b"a\nb\nc\nd").unwrap();
        lines.advance().unwrap();
        lines.advance().unwrap();
        assert!(lines.extend().unwrap());
        assert_eq!((lines.number(), lines.line()), (2, &b"b\nc"[..]));
        lines.advance().unwrap();
        assert_eq!((lines.number(), lines.line()), (4, &b"d"[..]));
        assert!(!lines.extend().unwrap());
    }

    #[test]
    fn a_zero_byte_anywhere_in_a_text_file_is_refused() {
        let plain: Vec<u8> = (0..100_000).flat_map(|at| format!("{at}\t{at}\n").into_bytes()).collect();
        for at in [0, 3, 9, 10, 11, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER + 77, plain.len() - 1] {
            let mut bytes = plain.clone();
            bytes[at] = 0;
            let number = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
            for bytes in [zstd::encode_all(&bytes[..], 1).unwrap(), bytes] {
                let mut lines = lines(&bytes).unwrap();
                let error = std::iter::repeat_with(|| lines.advance()).find_map(Result::err).unwrap();
                let place = format!("calls.tsv:{number}: the line contains a zero byte");
                assert!(error.to_string().starts_with(&place), "byte {at}: {error}");
            }
        }
        let mut long = vec![b'x'; 3 * BUFFER];
        long[2 * BUFFER + 5] = 0;
        assert!(lines(&long).unwrap().advance().is_err());
        let mut extended = lines(b"a\n\"b\nc\0\"\n").unwrap();
        extended.advance().unwrap();
        extended.advance().unwrap();
        assert!(extended.extend().unwrap_err().to_string().starts_with("calls.tsv:3: "));
    }

    #[test]
    fn compressed_utf_16_is_not_text() {
        let packed = zstd::encode_all(&b"\xff\xfea\0"[..], 1).unwrap();
        assert!(lines(&packed).err().unwrap().to_string().contains("UTF-16"));
    }
}

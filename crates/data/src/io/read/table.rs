//! The rows of a table: lines split into fields.
//!
//! Invariant: blanks around fields are trimmed unless the fields are quoted. Quotes are special only at the beginning
//! of a field of a comma- or semicolon-separated table.
//!
//! The `csv` crate handles quotes, but it cannot distinguish quoted from unquoted fields, and reads the rest of the
//! file as one field if a quote is never closed. A test compares the splitting here with it.

use std::path::Path;

use super::Delimiter;
use super::lines::Lines;
use manyview_base::error::Result;

/// The maximum number of lines of a quoted field. More suggest that a quote was never closed.
const MOST_LINES: u64 = 1000;

/// The rows of a table. The fields of the current row are ranges of its line, so that rows need no allocation.
pub(super) struct Rows {
    lines: Lines,
    delimiter: Delimiter,
    /// Fields beyond this number are ignored.
    limit: usize,
    fields: Vec<(usize, usize)>,
    /// The unquoted fields of a line with quotes.
    unquoted: Vec<u8>,
    quoted: bool,
}

impl Rows {
    /// Skips comments at the top and determines the delimiter. [`Rows::advance`] moves to the first row, and
    /// [`Rows::restart`] returns to the position before it. `None` if there is no row.
    pub(super) fn new(mut lines: Lines, path: &Path, delimiter: Option<Delimiter>) -> Result<Option<Rows>> {
        loop {
            lines.set_mark();
            if !lines.advance()? {
                return Ok(None);
            }
            if !is_blank(lines.line()) && !is_comment(lines.line()) {
                break;
            }
        }
        let delimiter = delimiter.unwrap_or_else(|| detect(path, lines.line()));
        lines.rewind();
        let (fields, unquoted) = (Vec::new(), Vec::new());
        Ok(Some(Rows { lines, delimiter, limit: usize::MAX, fields, unquoted, quoted: false }))
    }

    /// Returns to the position before the first row.
    pub(super) fn restart(&mut self) {
        self.lines.rewind();
    }

    /// Returns the next rows, up to a number of them. An error is met again when the rows are read after [`Rows::restart`].
    pub(super) fn look_ahead(&mut self, most: usize) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        while rows.len() < most {
            match self.advance() {
                Ok(true) => rows.push(self.texts()),
                Ok(false) => break,
                Err(error) => {
                    self.lines.postpone(error);
                    break;
                }
            }
        }
        rows
    }

    /// Disables [`Rows::restart`] and ignores all fields beyond a number.
    pub(super) fn settle(&mut self, limit: usize) {
        self.lines.clear_mark();
        self.limit = limit;
    }

    /// Moves to the next row that is not blank. Returns false at the end of the table.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool> {
        loop {
            if !self.lines.advance()? {
                return Ok(false);
            }
            self.fields.clear();
            self.quoted = false;
            let line = self.lines.line();
            match self.delimiter {
                Delimiter::Tab => split(line, b'\t', self.limit, &mut self.fields),
                Delimiter::Space => split_blanks(line, self.limit, &mut self.fields),
                Delimiter::Comma => self.split_quoted(b',')?,
                Delimiter::Semicolon => self.split_quoted(b';')?,
            }
            // A single empty field may be a blank line. Checking every line would cost more.
            let blank = match self.fields[..] {
                [] => true,
                [(start, end)] => start == end && !self.quoted,
                _ => false,
            };
            if !blank {
                return Ok(true);
            }
        }
    }

    /// Returns the number of fields of the row, or the limit if that is less.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns a field of the row, from 0.
    #[inline]
    pub(super) fn field(&self, field: usize) -> Option<&[u8]> {
        let &(start, end) = self.fields.get(field)?;
        let text = if self.quoted { &self.unquoted } else { self.lines.line() };
        Some(&text[start..end])
    }

    /// Returns the fields of the row as text.
    pub(super) fn texts(&self) -> Vec<String> {
        let text = |field| self.field(field).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        (0..self.len()).filter_map(text).collect()
    }

    pub(super) fn delimiter(&self) -> Delimiter {
        self.delimiter
    }

    /// Returns the number of fields beyond which they are ignored.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Returns the lines, to take whole blocks of them.
    pub(super) fn lines_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn split_quoted(&mut self, delimiter: u8) -> Result<()> {
        if memchr::memchr(b'"', self.lines.line()).is_none() {
            split(self.lines.line(), delimiter, self.limit, &mut self.fields);
            return Ok(());
        }
        self.quoted = true;
        while !unquote(self.lines.line(), delimiter, &mut self.fields, &mut self.unquoted) {
            if self.lines.extent() >= MOST_LINES || !self.lines.extend()? {
                return Err(self.lines.line_error(
                    "a quote opens in this line and is never closed; close it, or double it (\"\") if it is part of \
                     the text",
                ));
            }
        }
        Ok(())
    }
}

/// Returns whether a line is a comment. Comments are allowed only before the first row, because `#rust` or `%` may be
/// a node.
fn is_comment(line: &[u8]) -> bool {
    line == b"#" || line.starts_with(b"# ") || line.starts_with(b"%")
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b' ' || byte == b'\t')
}

/// Infers the delimiter from the file name, then from the first line.
fn detect(path: &Path, line: &[u8]) -> Delimiter {
    let has = |byte| memchr::memchr(byte, line).is_some();
    let comma_or_semicolon = || {
        if has(b';') && (!has(b',') || is_decimal_comma(line)) {
            Delimiter::Semicolon
        } else {
            Delimiter::Comma
        }
    };
    match extension(path).as_deref() {
        Some("tsv") => Delimiter::Tab,
        Some("csv") => comma_or_semicolon(),
        _ if has(b'\t') => Delimiter::Tab,
        _ if has(b',') || has(b';') => comma_or_semicolon(),
        _ => Delimiter::Space,
    }
}

/// Returns whether the only comma of a line such as `a;b;0,5` is in a number. Splitting there would give two wrong
/// ids.
fn is_decimal_comma(line: &[u8]) -> bool {
    let mut fields = line.split(|&byte| byte == b';').skip(2);
    let is_number = |field: &[u8]| {
        let text = String::from_utf8_lossy(field).trim().replacen(',', ".", 1);
        text.parse::<f64>().is_ok()
    };
    memchr::memchr_iter(b',', line).count() == 1
        && fields.any(|field| memchr::memchr(b',', field).is_some() && is_number(field))
}

/// Returns the extension of a file name in lower case, ignoring `.gz` and `.zst`.
pub(super) fn extension(path: &Path) -> Option<String> {
    let last = |path: &Path| path.extension().map(|text| text.to_string_lossy().to_lowercase());
    match last(path) {
        Some(packed) if packed == "gz" || packed == "zst" => last(Path::new(path.file_stem()?)),
        other => other,
    }
}

/// Returns the file name without `.gz`, `.zst` and the extension before them.
pub(super) fn stem(path: &Path) -> String {
    let name = Path::new(path.file_stem().unwrap_or_default());
    let packed = path.extension().is_some_and(|text| text == "gz" || text == "zst");
    let stem = if packed { name.file_stem().unwrap_or_default() } else { name.as_os_str() };
    stem.to_string_lossy().into_owned()
}

#[inline]
pub(super) fn split(line: &[u8], delimiter: u8, limit: usize, fields: &mut Vec<(usize, usize)>) {
    let mut start = 0;
    // Fields are short, so a plain loop is faster than a vectorized search for each.
    for (at, &byte) in line.iter().enumerate() {
        if byte == delimiter {
            fields.push(trimmed(line, start, at));
            if fields.len() == limit {
                return;
            }
            start = at + 1;
        }
    }
    fields.push(trimmed(line, start, line.len()));
}

#[inline]
pub(super) fn split_blanks(line: &[u8], limit: usize, fields: &mut Vec<(usize, usize)>) {
    let mut at = 0;
    while fields.len() < limit {
        while at < line.len() && is_space(line[at]) {
            at += 1;
        }
        let start = at;
        while at < line.len() && !is_space(line[at]) {
            at += 1;
        }
        if start == at {
            return;
        }
        fields.push((start, at));
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[inline]
fn trimmed(line: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && is_space(line[start]) {
        start += 1;
    }
    while start < end && is_space(line[end - 1]) {
        end -= 1;
    }
    (start, end)
}

/// Splits a line with quotes into fields of `text`. Returns false if the line ends within a quoted field.
///
/// All fields are parsed, even unused ones, because a quoted field may contain a line break.
fn unquote(line: &[u8], delimiter: u8, fields: &mut Vec<(usize, usize)>, text: &mut Vec<u8>) -> bool {
    fields.clear();
    text.clear();
    let mut at = 0;
    loop {
        let begin = text.len();
        let (bare, _) = trimmed(line, at, line.len());
        if line.get(bare) == Some(&b'"') {
            let Some(after) = copy_quoted(line, bare + 1, text) else { return false };
            let end = field_end(line, after, delimiter);
            // Only blanks should follow the quote. Other text is kept, as by other readers.
            let (start, stop) = trimmed(line, after, end);
            text.extend_from_slice(&line[start..stop]);
            at = end;
        } else {
            let end = field_end(line, at, delimiter);
            let (start, stop) = trimmed(line, at, end);
            text.extend_from_slice(&line[start..stop]);
            at = end;
        }
        fields.push((begin, text.len()));
        if at == line.len() {
            return true;
        }
        at += 1;
    }
}

fn field_end(line: &[u8], from: usize, delimiter: u8) -> usize {
    memchr::memchr(delimiter, &line[from..]).map_or(line.len(), |at| from + at)
}

/// Copies up to the closing quote and returns the position after it.
fn copy_quoted(line: &[u8], mut at: usize, text: &mut Vec<u8>) -> Option<usize> {
    loop {
        let quote = at + memchr::memchr(b'"', &line[at..])?;
        text.extend_from_slice(&line[at..quote]);
        if line.get(quote + 1) != Some(&b'"') {
            return Some(quote + 1);
        }
        text.push(b'"');
        at = quote + 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lines::tests::lines;
    use super::*;

    fn rows(name: &str, bytes: &[u8]) -> Rows {
        Rows::new(lines(bytes).unwrap(), Path::new(name), None).unwrap().unwrap()
    }

    fn all(name: &str, bytes: &[u8]) -> Vec<Vec<String>> {
        collect(rows(name, bytes))
    }

    fn collect(mut rows: Rows) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        while rows.advance().unwrap() {
            found.push(rows.texts());
        }
        found
    }

    #[test]
    fn the_delimiter_is_told_from_name_and_first_line() {
        use Delimiter::{Comma, Semicolon, Space, Tab};
        for (name, line, expected) in [
            ("a.tsv", "a b,c;d", Tab),
            ("a.TSV.gz", "a b", Tab),
            ("a.tsv.zst", "a b", Tab),
            ("a.csv", "a\tb", Comma),
            ("a.csv", "a,b;c", Comma),
            ("a.csv.gz", "a;b", Semicolon),
            ("a.csv", "a;b;0,5", Semicolon),
            ("a.csv", "a,b;c;0", Comma),
            ("a.txt", "a\tb,c", Tab),
            ("a.txt", "a b,c", Comma),
            ("a.txt", "a;b", Semicolon),
            ("a.txt", "a b", Space),
            ("-", "a  b", Space),
        ] {
            assert_eq!(rows(name, line.as_bytes()).delimiter(), expected, "{name}: {line}");
        }
    }

    #[test]
    fn fields_are_cut_and_trimmed() {
        assert_eq!(all("a.tsv", b" a b \t c\n\n  \nd\t\n"), [vec!["a b", "c"], vec!["d", ""]]);
        assert_eq!(all("a.txt", b"  a  b\n\n c \t d  1 \n"), [vec!["a", "b"], vec!["c", "d", "1"]]);
        assert_eq!(
            all("a.csv", b"a , b,\r\n\"x\"\"y, z\" , \" q \"\r\n"),
            [vec!["a", "b", ""], vec!["x\"y, z", " q "]]
        );
        assert_eq!(all("a.tsv", b"\"a\t5\"\n"), [["\"a", "5\""]]);
        assert_eq!(all("a.csv", b"5\" disk,b\n"), [["5\" disk", "b"]]);
    }

    #[test]
    fn comments_stand_at_the_top_only() {
        let bytes = b"# made by hand\n%%MatrixMarket\n\n#\n#rust\t#go\n# a\tb\n%c\td\n";
        assert_eq!(all("a.tsv", bytes), [["#rust", "#go"], ["# a", "b"], ["%c", "d"]]);
    }

    #[test]
    fn quoted_fields_may_span_lines() {
        let mut rows = rows("a.csv", b"a,b,\"one\ntwo\"\nc,d,x\n");
        rows.advance().unwrap();
        assert_eq!(rows.texts(), ["a", "b", "one\ntwo"]);
        rows.advance().unwrap();
        assert_eq!(rows.lines().number(), 3);
    }

    #[test]
    fn an_open_quote_is_reported_where_it_opens() {
        let mut rows = rows("calls.csv", b"a,b\nc,\"d\ne,f\n");
        rows.advance().unwrap();
        let error = rows.advance().unwrap_err().to_string();
        assert!(error.starts_with("calls.tsv:2: a quote opens"), "{error}");
    }

    #[test]
    fn stems_leave_out_packing_and_format() {
        for (path, expected) in
            [("x/calls.tsv", "calls"), ("calls.v2.csv.gz", "calls.v2"), ("calls", "calls")]
        {
            assert_eq!(stem(Path::new(path)), expected);
        }
    }

    proptest! {
        #[test]
        fn quotes_are_read_as_the_csv_crate_reads_them(
            table in prop::collection::vec(prop::collection::vec("[a-c,;\" \n]{0,6}", 2..5), 1..6)
        ) {
            let mut writer = csv::WriterBuilder::new()
                .flexible(true)
                .quote_style(csv::QuoteStyle::Always)
                .from_writer(Vec::new());
            for row in &table {
                writer.write_record(row).unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            // The delimiter is given, since it cannot be inferred if the first field contains a line break.
            let rows = Rows::new(lines(&bytes).unwrap(), Path::new("-"), Some(Delimiter::Comma));
            prop_assert_eq!(collect(rows.unwrap().unwrap()), table);
        }
    }
}

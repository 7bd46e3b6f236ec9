//! Vectors as text: one line per node with its id and its numbers.
//!
//! Invariant: a number is printed as the shortest text that is read back as the same 32-bit float, and everything
//! that passes [`Format::check`] can be read back line by line.

use std::io::{self, Write};
use std::path::Path;

use super::blocks::write_blocks;
use super::write_atomic;
use crate::network::Nodes;
use manyview_base::error::{Error, Result};
use manyview_base::message::option_value;
use manyview_base::named;
use manyview_base::parallel::Pool;

/// The number of values in a block of rows that one thread formats: some hundred kilobytes of text.
const BLOCK: usize = 1 << 14;

named! {
    /// The text format of an embedding.
    pub enum Format {
        /// The header is `node`, `0`, `1`, ..., so that `pandas.read_csv(file, sep="\t", index_col="node")` reads it.
        /// There are no quotes.
        Tsv = "tsv", "tab-separated, with a header";
        /// Ids that need them have quotes.
        Csv = "csv", "comma-separated, with a header";
        /// The numbers of nodes and of columns in the first line, then an id and its numbers per line, separated by
        /// spaces.
        Word2vec = "word2vec", "text format of word2vec, which gensim reads";
    }
}

impl Format {
    /// Returns the default name of the file.
    pub fn file_name(self) -> &'static str {
        match self {
            Format::Tsv => "embedding.tsv",
            Format::Csv => "embedding.csv",
            Format::Word2vec => "embedding.word2vec.txt",
        }
    }

    /// Checks that the format can represent all ids. Call it before a long computation.
    ///
    /// # Errors
    /// [`Error::Config`] with the first id that it cannot represent, and a format that can.
    pub fn check(self, nodes: &Nodes) -> Result<()> {
        match nodes.iter().find_map(|id| Some((id, self.objection(id)?))) {
            None => Ok(()),
            Some((id, why)) => Err(Error::config(format!(
                "the {} format cannot represent node {id:?}: {why}; use {}",
                self.name(),
                option_value("format", "csv")
            ))),
        }
    }

    fn objection(self, id: &str) -> Option<&'static str> {
        match self {
            Format::Csv => None,
            Format::Tsv if id.contains(['\t', '\n', '\r']) => Some("it contains a tab or a line break"),
            // Readers (pandas, R) would read everything up to the next quote as one field.
            Format::Tsv if id.starts_with('"') => Some("it begins with a quote"),
            Format::Tsv => None,
            Format::Word2vec if id.is_empty() => Some("it is empty"),
            Format::Word2vec if id.contains(char::is_whitespace) => Some("it contains white space"),
            Format::Word2vec => None,
        }
    }

    /// Writes a vector of `dim` numbers for each node. The text is formatted on the threads of the pool.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Panics
    /// When `values` does not have `nodes.len() x dim` numbers.
    pub fn write_to(
        self,
        writer: &mut impl Write,
        nodes: &Nodes,
        dim: usize,
        values: &[f32],
        pool: &Pool,
    ) -> io::Result<()> {
        assert_eq!(values.len(), nodes.len() * dim, "{} vectors of {dim} numbers", nodes.len());
        self.write_first_line(writer, nodes.len(), dim)?;
        write_blocks(pool, writer, nodes.len(), BLOCK / dim.max(1), |rows, text| {
            let vectors = rows.map(|row| (nodes.id(row), &values[row * dim..(row + 1) * dim]));
            let written = match self {
                Format::Tsv => vectors_with(text, vectors, b'\t'),
                Format::Word2vec => vectors_with(text, vectors, b' '),
                Format::Csv => vectors_quoted(text, vectors),
            };
            written.expect("writing to memory cannot fail");
        })
    }

    fn write_first_line(self, writer: &mut impl Write, rows: usize, dim: usize) -> io::Result<()> {
        let separator = match self {
            Format::Word2vec => return writeln!(writer, "{rows} {dim}"),
            Format::Tsv => '\t',
            Format::Csv => ',',
        };
        write!(writer, "node")?;
        (0..dim).try_for_each(|column| write!(writer, "{separator}{column}"))?;
        writeln!(writer)
    }
}

/// Writes a vector of `dim` numbers for each node to a file, atomically. The text is formatted on the threads of the
/// pool.
///
/// # Errors
/// Those of [`Format::check`], and [`Error::Io`] with `path`.
///
/// # Panics
/// When `values` does not have `nodes.len() x dim` numbers.
pub fn write_vectors(
    path: &Path,
    format: Format,
    nodes: &Nodes,
    dim: usize,
    values: &[f32],
    pool: &Pool,
) -> Result<()> {
    format.check(nodes)?;
    write_atomic(path, |writer| format.write_to(writer, nodes, dim, values, pool))
}

fn vectors_with<'a>(
    text: &mut Vec<u8>,
    vectors: impl Iterator<Item = (&'a str, &'a [f32])>,
    separator: u8,
) -> io::Result<()> {
    for (id, numbers) in vectors {
        text.extend_from_slice(id.as_bytes());
        for &number in numbers {
            text.push(separator);
            write_number(text, number)?;
        }
        text.push(b'\n');
    }
    Ok(())
}

fn vectors_quoted<'a>(
    text: &mut Vec<u8>,
    vectors: impl Iterator<Item = (&'a str, &'a [f32])>,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(text);
    let mut digits = Vec::new();
    for (id, numbers) in vectors {
        writer.write_field(id)?;
        for &number in numbers {
            digits.clear();
            write_number(&mut digits, number)?;
            writer.write_field(&digits)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

fn write_number(text: &mut Vec<u8>, number: f32) -> io::Result<()> {
    // Both notations have the fewest digits that identify the number. Far from 1, the plain one would add many zeros.
    let size = number.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) || !size.is_finite() {
        write!(text, "{number}")
    } else {
        write!(text, "{number:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &[&str]) -> Nodes {
        ids.iter().collect()
    }

    fn written(format: Format, ids: &[&str], dim: usize, values: &[f32]) -> String {
        let (mut text, pool) = (Vec::new(), Pool::new(Some(2)).unwrap());
        format.write_to(&mut text, &nodes(ids), dim, values, &pool).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn each_format_has_its_lines() {
        let (ids, values) = (["a b", "c,\"d\""], [0.1, -2.0, 1e-9, 0.0]);
        assert_eq!(written(Format::Tsv, &ids, 2, &values), "node\t0\t1\na b\t0.1\t-2\nc,\"d\"\t1e-9\t0\n");
        assert_eq!(written(Format::Csv, &ids, 2, &values), "node,0,1\na b,0.1,-2\n\"c,\"\"d\"\"\",1e-9,0\n");
        assert_eq!(written(Format::Word2vec, &["a", "ö"], 2, &values), "2 2\na 0.1 -2\nö 1e-9 0\n");
    }

    #[test]
    fn odd_sizes_are_whole_files() {
        assert_eq!(written(Format::Tsv, &[], 2, &[]), "node\t0\t1\n");
        assert_eq!(written(Format::Csv, &[], 0, &[]), "node\n");
        assert_eq!(written(Format::Word2vec, &[], 3, &[]), "0 3\n");
        assert_eq!(written(Format::Tsv, &["a", "b"], 0, &[]), "node\na\nb\n");
        assert_eq!(written(Format::Csv, &["a", ""], 1, &[1.0, 2.0]), "node,0\na,1\n,2\n");
        assert_eq!(written(Format::Word2vec, &["a"], 1, &[0.5]), "1 1\na 0.5\n");
    }

    #[test]
    fn numbers_read_back_to_the_same_bits_and_are_short() {
        let special =
            [0.0, -0.0, 1.0, 0.1, 1e-3, 9.999999e-4, 1e7, 1.23e-20, f32::MAX, f32::MIN_POSITIVE, 1e-45];
        let spread = (0..20_000u32).map(|index| f32::from_bits(index.wrapping_mul(214_013)));
        for number in special.into_iter().chain(spread.filter(|number| number.is_finite())) {
            let mut text = Vec::new();
            write_number(&mut text, number).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert_eq!(text.parse::<f32>().unwrap().to_bits(), number.to_bits(), "{text}");
            assert!(text.len() <= 15, "{text}");
        }
    }

    #[test]
    fn ids_a_format_cannot_hold_are_named_beforehand() {
        let told =
            |format: Format, id: &str| format.check(&nodes(&["fine", id])).map_err(|error| error.to_string());
        assert_eq!(
            told(Format::Tsv, "a\tb").unwrap_err(),
            "the tsv format cannot represent node \"a\\tb\": it contains a tab or a line break; use format = csv"
        );
        assert_eq!(
            told(Format::Word2vec, "New York").unwrap_err(),
            "the word2vec format cannot represent node \"New York\": it contains white space; use format = csv"
        );
        assert!(told(Format::Tsv, "\"quoted\"").unwrap_err().contains("begins with a quote"));
        assert!(told(Format::Word2vec, "").unwrap_err().contains("it is empty"));
        assert!(told(Format::Word2vec, "a\u{a0}b").is_err());
        for fine in ["New York", "say \"hi\"", "a,b", ""] {
            assert_eq!(told(Format::Tsv, fine), Ok(()));
        }
        for fine in ["a\tb", "\"", "x\ny", ""] {
            assert_eq!(told(Format::Csv, fine), Ok(()));
        }
    }

    #[test]
    fn what_csv_quotes_the_csv_reader_gives_back() {
        let ids = ["a,b", "c\"d", "\te", "f\ng", " h ", "#i"];
        let text = written(Format::Csv, &ids, 1, &[1.0; 6]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let read: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_owned()).collect();
        assert_eq!(read, ids);
    }

    #[test]
    fn many_rows_come_in_order() {
        let ids: Vec<String> = (0..40_000).map(|node| format!("n{node}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let values: Vec<f32> = (0..40_000).map(|node| node as f32).collect();
        let text = written(Format::Word2vec, &ids, 1, &values);
        assert!(text.lines().skip(1).enumerate().all(|(node, line)| line == format!("n{node} {node}")));
    }

    #[test]
    fn a_bad_id_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let pool = Pool::new(Some(1)).unwrap();
        assert!(write_vectors(&path, Format::Word2vec, &nodes(&["a b"]), 1, &[1.0], &pool).is_err());
        assert!(!path.exists());
        write_vectors(&path, Format::Word2vec, &nodes(&["a"]), 1, &[1.0], &pool).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1 1\na 1\n");
    }
}

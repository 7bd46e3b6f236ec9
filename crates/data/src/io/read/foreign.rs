//! Files in other formats, recognized by their first bytes, and the one line that converts each of them.
//!
//! Invariant: what is recognized cannot be the beginning of an edge table in UTF-8, or hardly is one.

use super::text::STDIN;

/// The number of bytes needed to recognize a format. The names of the parts of a workbook are not at the beginning.
pub(super) const HEAD: usize = 2048;

/// Returns what a file is and how to convert it, if it is not a table of text.
pub(super) fn foreign(head: &[u8], place: &str) -> Option<String> {
    if let Some(advice) = packed(head) {
        return Some(advice.to_owned());
    }
    let (what, read) = binary_format(head).or_else(|| text_format(head))?;
    Some(format!("is {what}; convert it: {}", command(read, name(place))))
}

/// How a format is converted.
#[derive(Clone, Copy)]
enum Convert {
    /// By a function of pandas, and further arguments.
    Pandas(&'static str, &'static str),
    /// By a function of networkx.
    Networkx(&'static str),
    /// By an expression of Python for a table of pandas, with `FILE` for the file.
    Expression(&'static str),
    /// By a command with `FILE` for the file.
    Shell(&'static str),
}

/// The name of a file within quotes, or `FILE` if it cannot be written so.
fn name(place: &str) -> &str {
    let plain = !place.contains(['\'', '"', '\\', '$', '`', '!']) && !place.chars().any(char::is_control);
    if plain && place != STDIN { place } else { "FILE" }
}

fn command(convert: Convert, file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let to = if file == "FILE" { "FILE.csv".to_owned() } else { format!("{stem}.csv") };
    let python = |imports: &str, table: &str| {
        format!("python -c \"import {imports}; {table}.to_csv('{to}', index=False)\"")
    };
    match convert {
        Convert::Pandas(function, more) => python("pandas as pd", &format!("pd.{function}('{file}'{more})")),
        Convert::Expression(table) => python("pandas as pd, pyarrow as pa", &table.replace("FILE", file)),
        Convert::Networkx(function) => {
            python("networkx as nx", &format!("nx.to_pandas_edgelist(nx.{function}('{file}'))"))
        }
        Convert::Shell(line) => line.replace("FILE", file).replace("TO.csv", &to),
    }
}

/// Formats for which another program is needed first.
fn packed(head: &[u8]) -> Option<&'static str> {
    if is_html(head) {
        return Some("is a web page, not a table; download the file itself");
    }
    if is_workbook(head) {
        return None;
    }
    let kinds: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "is a zip archive or a workbook; extract it, or export the sheet as CSV"),
        (b"BZh", "is compressed with bzip2; decompress it, or compress it with gzip or zstd"),
        (b"\xfd7zXZ\0", "is compressed with xz; decompress it, or compress it with gzip or zstd"),
        (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; extract it"),
        (b"\xff\xfe", "is UTF-16; convert it, for example with iconv -f utf-16 -t utf-8"),
        (b"\xfe\xff", "is UTF-16; convert it, for example with iconv -f utf-16 -t utf-8"),
    ];
    let (found, advice) = kinds.into_iter().find(|(kind, _)| head.starts_with(kind))?;
    let other_text = found == b"BZh" && head.get(4..10) != Some(b"1AY&SY");
    (!other_text).then_some(advice)
}

fn is_workbook(head: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    let parts = [&b"[Content_Types].xml"[..], b"xl/", b"docProps/", b"_rels/"];
    head.starts_with(b"PK\x03\x04") && parts.into_iter().any(has)
}

fn is_html(head: &[u8]) -> bool {
    let lower = head.trim_ascii_start()[..].iter().take(15).map(u8::to_ascii_lowercase).collect::<Vec<_>>();
    lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html")
}

/// Formats of binary tables.
fn binary_format(head: &[u8]) -> Option<(&'static str, Convert)> {
    let pickle =
        head.first() == Some(&0x80) && head.get(1).is_some_and(|protocol| (2..=5).contains(protocol));
    // Magic numbers are taken with a byte that no text has, since PAR1 is a gene.
    let kinds: [(bool, &str, Convert); 9] = [
        (head.starts_with(b"PAR1\x15"), "a Parquet file", Convert::Pandas("read_parquet", "")),
        (head.starts_with(b"ARROW1\0\0"), "an Arrow (Feather) file", Convert::Pandas("read_feather", "")),
        (head.starts_with(b"FEA1\0"), "a Feather file", Convert::Pandas("read_feather", "")),
        (
            head.starts_with(b"\xff\xff\xff\xff"),
            "an Arrow stream",
            Convert::Expression("pa.ipc.open_stream('FILE').read_pandas()"),
        ),
        (is_workbook(head), "an Excel workbook", Convert::Pandas("read_excel", "")),
        (
            head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
            "an Excel workbook",
            Convert::Pandas("read_excel", ""),
        ),
        (
            head.starts_with(b"SQLite format 3\0"),
            "an SQLite database",
            Convert::Shell("sqlite3 -header -csv 'FILE' 'select * from TABLE' > 'TO.csv'"),
        ),
        (head.starts_with(b"\x89HDF\r\n\x1a\n"), "an HDF5 file", Convert::Pandas("read_hdf", "")),
        (
            pickle,
            "a pickle of Python (open it only if you trust its source)",
            Convert::Pandas("read_pickle", ""),
        ),
    ];
    kinds.into_iter().find(|(found, ..)| *found).map(|(_, what, convert)| (what, convert))
}

/// Formats of text that are no tables.
fn text_format(head: &[u8]) -> Option<(&'static str, Convert)> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let lower = head[..head.len().min(1024)].to_ascii_lowercase();
    let has = |text: &str| memchr::memmem::find(&lower, text.as_bytes()).is_some();
    let xml = lower.starts_with(b"<?xml") || lower.starts_with(b"<!--");
    let kinds: [(bool, &str, Convert); 7] = [
        (
            lower.starts_with(b"<graphml") || (xml && has("<graphml")),
            "GraphML",
            Convert::Networkx("read_graphml"),
        ),
        (lower.starts_with(b"<gexf") || (xml && has("<gexf")), "GEXF", Convert::Networkx("read_gexf")),
        (xml, "XML", Convert::Pandas("read_xml", "")),
        (
            opens(head, b'{', b"\"") && is_lines(head),
            "JSON lines",
            Convert::Pandas("read_json", ", lines=True"),
        ),
        (opens(head, b'[', b"{[") || opens(head, b'{', b"\""), "JSON", Convert::Pandas("read_json", "")),
        (lower.starts_with(b"*vertices"), "a Pajek file", Convert::Networkx("read_pajek")),
        (
            lower.starts_with(b"%%matrixmarket matrix coordinate"),
            "a Matrix Market file",
            Convert::Shell(
                "python -c \"import networkx as nx, scipy.io as io; \
                 nx.to_pandas_edgelist(nx.from_scipy_sparse_array(io.mmread('FILE'))).to_csv('TO.csv', index=False)\"",
            ),
        ),
    ];
    kinds.into_iter().find(|(found, ..)| *found).map(|(_, what, convert)| (what, convert))
}

/// Returns whether a text begins with one byte and, after blanks, one of others.
fn opens(text: &[u8], first: u8, then: &[u8]) -> bool {
    let inner = text.strip_prefix(&[first]).map(<[u8]>::trim_ascii_start);
    inner.and_then(<[u8]>::first).is_some_and(|byte| then.contains(byte))
}

/// Returns whether the first line is a whole object and another follows.
fn is_lines(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.next().is_some_and(|line| line.ends_with(b"}"))
        && lines.next().is_some_and(|line| line.starts_with(b"{"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(head: &[u8]) -> String {
        foreign(head, "data/calls.bin").unwrap_or_default()
    }

    #[test]
    fn formats_are_named_with_the_line_that_converts_them() {
        let python = |read: &str| {
            format!(
                "convert it: python -c \"import pandas as pd; pd.{read}.to_csv('data/calls.csv', index=False)\""
            )
        };
        let networkx = |read: &str| {
            format!(
                "convert it: python -c \"import networkx as nx; nx.to_pandas_edgelist(nx.{read}('data/calls.bin')).to_csv('data/calls.csv', \
                 index=False)\""
            )
        };
        for (head, what, convert) in [
            (&b"PAR1\x15\x04"[..], "is a Parquet file; ", python("read_parquet('data/calls.bin')")),
            (b"ARROW1\0\0\xff", "is an Arrow (Feather) file; ", python("read_feather('data/calls.bin')")),
            (b"FEA1\0\0", "is a Feather file; ", python("read_feather('data/calls.bin')")),
            (
                b"PK\x03\x04\x14\0\x06\0[Content_Types].xml",
                "is an Excel workbook; ",
                python("read_excel('data/calls.bin')"),
            ),
            (
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
                "is an Excel workbook; ",
                python("read_excel('data/calls.bin')"),
            ),
            (
                b"SQLite format 3\0\x10",
                "is an SQLite database; ",
                "convert it: sqlite3 -header -csv 'data/calls.bin' 'select * from TABLE' > 'data/calls.csv'"
                    .into(),
            ),
            (b"\x80\x05\x95", "is a pickle of Python ", python("read_pickle('data/calls.bin')")),
            (b"[{\"from\": 1}]", "is JSON; ", python("read_json('data/calls.bin')")),
            (b" {\n \"nodes\": []}", "is JSON; ", python("read_json('data/calls.bin')")),
            (
                b"{\"a\": 1}\n{\"a\": 2}\n",
                "is JSON lines; ",
                python("read_json('data/calls.bin', lines=True)"),
            ),
            (b"<?xml version='1.0'?>\n<graphml xmlns=''>", "is GraphML; ", networkx("read_graphml")),
            (b"\xef\xbb\xbf<gexf>", "is GEXF; ", networkx("read_gexf")),
            (b"*Vertices 5\n", "is a Pajek file; ", networkx("read_pajek")),
            (b"<!DOCTYPE html><html>", "is a web page, not a table; ", "download the file itself".into()),
            (
                b"%%MatrixMarket matrix coordinate real",
                "is a Matrix Market file; ",
                "io.mmread('data/calls.bin')".into(),
            ),
            (
                b"PK\x03\x04\x14\0calls.csv",
                "is a zip archive or a workbook; ",
                "export the sheet as CSV".into(),
            ),
        ] {
            let text = told(head);
            assert!(text.starts_with(what) && text.contains(&convert), "{text}\n{what}{convert}");
        }
    }

    #[test]
    fn tables_are_not_taken_for_other_formats() {
        for head in [
            &b"PAR1\tBRCA2\n"[..],
            b"BZh1\tx\n",
            b"a,b\n",
            b"[a],[b]\n",
            b"{a} {b}\n",
            b"<a> <b>\n",
            b"PK x\n",
            b"SQLite MySQL\n",
            b"",
            b"\n\n",
            b"# comment\na b\n",
            b"%%MatrixMarket\n",
        ] {
            assert_eq!(told(head), "", "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn names_that_would_break_the_line_are_left_out() {
        let text = foreign(b"PAR1\x15", "it's.parquet").unwrap();
        assert!(text.contains("read_parquet('FILE').to_csv('FILE.csv'"), "{text}");
    }
}

//! The columns of a table that is in memory already, such as one of pandas: by the same rules as those of a file.

use super::ReadOptions;
use super::columns::{Columns, Format, Head};
use manyview_base::error::{Error, Result};
use manyview_base::message::Message;

/// Which columns of a table are what, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumns {
    /// The sources.
    pub source: usize,
    /// The targets.
    pub target: usize,
    /// The weights, if there are any.
    pub weight: Option<usize>,
    /// The views of the edges, if the table has several.
    pub relation: Option<usize>,
    /// How the table was interpreted.
    pub note: Message,
}

/// Determines the columns of a table from their names, the first rows as text, and the options for columns. `lone` is whether the
/// table is the whole network, so that a column that looks like the name of a view is an error.
///
/// # Errors
/// When a column is missing or used twice, or the ends of edges could only be guessed.
pub fn table_columns(
    names: &[String],
    rows: &[Vec<String>],
    options: &ReadOptions,
    lone: bool,
) -> Result<TableColumns> {
    let format = Format::of_frame(options, lone);
    let head = Head { first: names, others: rows };
    let columns = Columns::choose(&format, &head)?;
    if names.len() < columns.needed() {
        return Err(Error::config(format!("the table has too few columns for edges: {}", names.join(", "))));
    }
    let note = columns.note(None, &format, &head).into();
    let Columns { source, target, weight, relation, .. } = columns;
    Ok(TableColumns { source, target, weight, relation, note })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &str, row: &str, options: &ReadOptions, lone: bool) -> Result<TableColumns> {
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        table_columns(&fields(names), &[fields(row)], options, lone)
    }

    #[test]
    fn tables_in_memory_are_understood_as_files_are() {
        let options = ReadOptions::default();
        let found = columns("date,caller,callee,count", "2024-01-31,a,b,2", &options, true).unwrap();
        assert_eq!((found.source, found.target, found.weight, found.relation), (1, 2, Some(3), None));
        assert_eq!(found.note.to_string(), "columns (caller, callee, count); column \"date\" is ignored");
        // Below column names, the first row is never one.
        let found = columns("ann,bob", "bob,cat", &options, true).unwrap();
        assert_eq!((found.source, found.target), (0, 1));
        let error = columns("id,person,friend,city", "1,a,b,x", &options, false).unwrap_err().to_string();
        assert!(error.starts_with("cannot tell which columns are the ends of an edge"), "{error}");
        assert!(!error.contains("header"), "{error}");
        let error = columns("source,target,kind", "a,b,x", &options, true).unwrap_err().to_string();
        assert!(error.contains("use relation = kind to split the table into views"), "{error}");
        assert!(columns("source,target,kind", "a,b,x", &options, false).is_ok());
        let kind = ReadOptions { relation: Some("kind".into()), ..options };
        assert_eq!(columns("source,target,kind", "a,b,x", &kind, true).unwrap().relation, Some(2));
        let error = columns("source", "a", &ReadOptions::default(), true).unwrap_err().to_string();
        assert_eq!(error, "the table has too few columns for edges: source");
        let error = columns("source,target", "a,b", &kind, true).unwrap_err().to_string();
        assert_eq!(error, "there is no column \"kind\"; the columns are source, target");
    }
}

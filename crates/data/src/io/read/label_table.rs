//! Reads labels from a table of many columns: one set of labels per chosen column.
//!
//! Invariant: a column is used once, as ids or as labels; the other columns are ignored. A node may have several rows.

use std::path::Path;

use super::columns::find;
use super::labels::{LABELS_EXPECTED, NODE, unquote};
use super::lines::Lines;
use super::table::Rows;
use super::text::{BytesRead, Text, place};
use crate::io::{Disk, Files};
use manyview_base::error::{Error, Result};

/// The number of rows by which a header is recognized.
const SAMPLE: usize = 100;

/// The columns of a table of labels, by name or by number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns {
    /// The column of node ids. By default one with a usual name, else the first that is left.
    pub id: Option<String>,
    /// The columns of labels.
    pub labels: Vec<String>,
}

/// The labels in one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSet {
    /// The name of the column, or its number if the table has no header.
    pub name: String,
    /// Pairs of node and label, in the order of the rows. Empty labels are left out.
    pub pairs: Vec<(String, String)>,
}

/// Reads one set of labels per chosen column of a table. `is_node` recognizes the header and decides between readings of an id.
///
/// # Errors
/// When the file cannot be read, a column does not exist or is given twice, a row is too short, or a column has no label.
pub fn read_label_sets(
    path: &Path,
    columns: &LabelColumns,
    is_node: impl Fn(&str) -> bool,
) -> Result<Vec<LabelSet>> {
    read_label_sets_from(&Disk, path, columns, is_node)
}

/// As [`read_label_sets`], from files that need not be on a disk.
///
/// # Errors
/// Those of [`read_label_sets`].
pub fn read_label_sets_from(
    files: &dyn Files,
    path: &Path,
    columns: &LabelColumns,
    is_node: impl Fn(&str) -> bool,
) -> Result<Vec<LabelSet>> {
    let lines = Lines::new(Text::open(files, path, &BytesRead::default())?)?;
    let empty = |what: &str| Error::parse(place(path), format!("no labels{what}: {LABELS_EXPECTED}"));
    let Some(mut rows) = Rows::new(lines, path, None)? else { return Err(empty("")) };
    let layout = Layout::of(&mut rows, columns, &is_node)?;
    rows.restart();
    if layout.header {
        rows.advance()?;
    }
    rows.settle(layout.needed());
    let mut sets: Vec<LabelSet> =
        layout.names.iter().map(|name| LabelSet { name: name.clone(), pairs: Vec::new() }).collect();
    while rows.advance()? {
        let id = id_of(text(&rows, layout.id)?, &is_node);
        if id.is_empty() {
            return Err(rows.lines().line_error("the node id is empty"));
        }
        for (set, &column) in sets.iter_mut().zip(&layout.labels) {
            let label = text(&rows, column)?;
            if !label.is_empty() {
                set.pairs.push((id.clone(), label.to_owned()));
            }
        }
    }
    match sets.iter().find(|set| set.pairs.is_empty()) {
        Some(set) => Err(empty(&format!(" in column {:?}", set.name))),
        None => Ok(sets),
    }
}

/// Where the ids and the labels are.
struct Layout {
    header: bool,
    id: usize,
    labels: Vec<usize>,
    names: Vec<String>,
}

impl Layout {
    fn of(rows: &mut Rows, columns: &LabelColumns, is_node: &impl Fn(&str) -> bool) -> Result<Layout> {
        let mut sample = rows.look_ahead(1);
        let line = rows.lines().number();
        sample.extend(rows.look_ahead(SAMPLE));
        let Some((first, others)) = sample.split_first() else {
            // The error of the first row.
            rows.restart();
            rows.advance()?;
            return Err(rows.lines().line_error(LABELS_EXPECTED));
        };
        let placed = |error| match error {
            Error::Config(message) => Error::parse(format!("{}:{line}", rows.lines().file()), message),
            other => other,
        };
        let wanted = || columns.labels.iter().chain(&columns.id);
        let named = wanted().any(|column| column.parse::<usize>().is_err());
        let at = |column: &String, header| find(column, first, header).map_err(placed);
        // Numbers mean the same with and without a header.
        let id_at = columns.id.as_ref().map(|column| at(column, named)).transpose()?;
        let is_id =
            |row: &Vec<String>| row.get(id_at.unwrap_or(0)).is_some_and(|id| is_node(&id_of(id, is_node)));
        let header = named || (!is_id(first) && others.iter().any(is_id));
        let labels = columns.labels.iter().map(|column| at(column, named)).collect::<Result<Vec<_>>>()?;
        let usual =
            || (0..first.len()).find(|at| NODE.iter().any(|name| first[*at].eq_ignore_ascii_case(name)));
        let free = |at: &usize| !labels.contains(at);
        let id =
            id_at.or_else(|| usual().filter(|at| header && free(at))).or_else(|| (0..first.len()).find(free));
        let id = id.filter(free).ok_or_else(|| {
            Error::parse(
                rows.lines().file(),
                "a column of labels is also the column of node ids; choose another for one of them",
            )
        })?;
        if let Some(twice) = (1..labels.len()).find(|&at| labels[..at].contains(&labels[at])) {
            return Err(Error::parse(
                rows.lines().file(),
                format!("column {:?} is given twice", columns.labels[twice]),
            ));
        }
        let name = |&at: &usize| if header { first[at].clone() } else { (at + 1).to_string() };
        let names = labels.iter().map(name).collect();
        Ok(Layout { header, id, labels, names })
    }

    fn needed(&self) -> usize {
        self.labels.iter().fold(self.id, |most, &at| most.max(at)) + 1
    }
}

/// Returns a field of the row. Rows may be short: what is missing is empty.
fn text(rows: &Rows, column: usize) -> Result<&str> {
    std::str::from_utf8(rows.field(column).unwrap_or_default()).map_err(|_| {
        rows.lines()
            .line_error("the text is not UTF-8; convert it, for example with iconv -f latin1 -t utf-8")
    })
}

/// Returns the id that a field stands for: in tables without quotes, it may be quoted all the same.
fn id_of(field: &str, is_node: &impl Fn(&str) -> bool) -> String {
    match unquote(field) {
        Some((id, None)) if !is_node(field) && is_node(&id) => id,
        _ => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Memory;

    fn read(name: &str, text: &str, id: Option<&str>, labels: &[&str]) -> String {
        let files = Memory::new([(name, text.as_bytes().to_vec())]);
        let columns = LabelColumns {
            id: id.map(str::to_owned),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
        };
        let known = |id: &str| ["ann", "bob", "c d"].contains(&id);
        match read_label_sets_from(&files, Path::new(name), &columns, known) {
            Ok(sets) => {
                let pairs = |set: &LabelSet| -> String {
                    set.pairs.iter().map(|(node, label)| format!(" {node}={label}")).collect()
                };
                sets.iter().map(|set| set.name.clone() + &pairs(set)).collect::<Vec<_>>().join("; ")
            }
            Err(error) => error.to_string(),
        }
    }

    const PEOPLE: &str = "nr,city,name,class\n1,Rome,ann,x\n2,,bob,y\n3,Oslo,\"c d\",\n";

    #[test]
    fn each_column_is_a_set_of_labels() {
        assert_eq!(read("l.csv", PEOPLE, None, &["class"]), "class ann=x bob=y");
        assert_eq!(
            read("l.csv", PEOPLE, None, &["class", "city"]),
            "class ann=x bob=y; city ann=Rome c d=Oslo"
        );
        assert_eq!(read("l.csv", PEOPLE, Some("name"), &["4"]), "class ann=x bob=y");
        assert_eq!(read("l.csv", PEOPLE, Some("3"), &["2"]), "city ann=Rome c d=Oslo");
        assert_eq!(read("l.tsv", "ann\tx\t7\n\"c d\"\ty\t8\nbob\tz\n", None, &["3"]), "3 ann=7 c d=8");
        assert_eq!(read("l.tsv", "x\tann\nx\tbob\ny\tann\n", Some("2"), &["1"]), "1 ann=x bob=x ann=y");
    }

    #[test]
    fn columns_that_do_not_fit_get_a_sentence() {
        for (id, labels, expected) in [
            (
                None,
                &["klass"][..],
                "l.csv:1: there is no column \"klass\"; the columns are nr, city, name, class",
            ),
            (None, &["9"], "l.csv:1: there is no column 9; columns are numbered from 1 to 4"),
            (
                Some("name"),
                &["name"],
                "l.csv: a column of labels is also the column of node ids; choose another for one of them",
            ),
            (None, &["class", "Class"], "l.csv: column \"Class\" is given twice"),
        ] {
            assert_eq!(read("l.csv", PEOPLE, id, labels), expected);
        }
        assert!(
            read("l.csv", "id,class\nann,\n", None, &["class"])
                .starts_with("l.csv: no labels in column \"class\"")
        );
        assert!(
            read("l.csv", "id,class\n,x\n", None, &["class"]).starts_with("l.csv:2: the node id is empty")
        );
        assert!(
            read("l.csv", "", None, &["class"]).starts_with("l.csv: no labels: expected a node and a label")
        );
    }
}

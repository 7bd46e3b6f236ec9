//! Finds the columns of a table, and whether the first row is a header.
//!
//! Invariant: no column is used twice.

use super::{Delimiter, Header};
use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value, switch};

/// Names of the source and target columns, in lower case with underscores. A header has both names of a pair.
const ENDS: [(&str, &str); 16] = [
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("node_a", "node_b"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("source_id", "target_id"),
    ("u", "v"),
    ("head", "tail"),
    ("sender", "receiver"),
    ("subject", "object"),
    ("protein1", "protein2"),
    ("gene1", "gene2"),
];
const WEIGHTS: [&str; 5] = ["weight", "w", "value", "score", "count"];
const RELATIONS: [&str; 6] = ["relation", "view", "layer", "edge_type", "kind", "type"];

/// How the caller wants a table to be read. Columns are given by name or by number from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Format {
    pub delimiter: Option<Delimiter>,
    pub header: Header,
    pub source: Option<String>,
    pub target: Option<String>,
    pub weight: Option<String>,
    pub relation: Option<String>,
    pub unweighted: bool,
    /// Whether a column that looks like the name of a view is an error. True for a single file.
    pub lone: bool,
}

/// The columns of a table, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub header: bool,
    pub source: usize,
    pub target: usize,
    pub weight: Option<usize>,
    pub relation: Option<usize>,
    /// The maximum number of fields, for a table without header or weights, where more are a mistake.
    pub most: Option<usize>,
}

impl Columns {
    /// Determines the columns from the first two rows.
    ///
    /// # Errors
    /// The error has no place; the caller adds file and line.
    pub(super) fn choose(format: &Format, first: &[String], second: Option<&[String]>) -> Result<Columns> {
        if format.unweighted && format.weight.is_some() {
            return Err(Error::config(format!(
                "{} and {} contradict each other; use only one",
                switch("unweighted"),
                option("weight")
            )));
        }
        let header = match format.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => {
                known_ends(first).is_some() || format.names_columns() || numbers_begin(format, first, second)
            }
        };
        Columns::with_header(format, first, header)
    }

    fn with_header(format: &Format, row: &[String], header: bool) -> Result<Columns> {
        let column = |wanted: &Option<String>| -> Result<Option<usize>> {
            wanted.as_ref().map(|wanted| find(wanted, row, header)).transpose()
        };
        let (source, target) = (column(&format.source)?, column(&format.target)?);
        let (weight, relation) = (column(&format.weight)?, column(&format.relation)?);
        let mut used: Vec<usize> = [source, target, weight, relation].into_iter().flatten().collect();
        refuse_double(&used, row, header)?;

        let known = if header { known_ends(row) } else { None };
        let mut settle = |given: Option<usize>, known: Option<usize>| {
            given.unwrap_or_else(|| {
                let column =
                    known.filter(|column| !used.contains(column)).unwrap_or_else(|| first_free(&used));
                used.push(column);
                column
            })
        };
        let source = settle(source, known.map(|ends| ends.0));
        let target = settle(target, known.map(|ends| ends.1));
        let weight = weight.or_else(|| match (format.unweighted, header) {
            (true, _) => None,
            (false, true) => {
                (0..row.len()).find(|at| !used.contains(at) && WEIGHTS.contains(&plain(&row[*at]).as_str()))
            }
            (false, false) => Some(first_free(&used)).filter(|&column| column < row.len()),
        });
        let most = (!header && !format.unweighted && weight.is_none()).then_some(row.len());
        let columns = Columns { header, source, target, weight, relation, most };
        if format.lone && header && relation.is_none() {
            columns.refuse_relation(row)?;
        }
        Ok(columns)
    }

    /// Returns the number of fields that a row needs.
    pub(super) fn needed(&self) -> usize {
        let others = self.weight.max(self.relation).unwrap_or(0);
        self.source.max(self.target).max(others) + 1
    }

    fn uses(&self, column: usize) -> bool {
        [Some(self.source), Some(self.target), self.weight, self.relation].contains(&Some(column))
    }

    fn refuse_relation(&self, row: &[String]) -> Result<()> {
        let looks = |at: &usize| !self.uses(*at) && RELATIONS.contains(&plain(&row[*at]).as_str());
        let Some(at) = (0..row.len()).find(looks) else { return Ok(()) };
        let name = bare(&row[at]);
        Err(Error::config(format!(
            "column {name:?} seems to name the view of each edge; use {} to split the table into views, or {} to read \
             it as one view",
            option_value("relation", name),
            option_value("view", "NAME=PATH")
        )))
    }

    /// Describes how the table was interpreted; to be made a message.
    pub(super) fn note(&self, delimiter: Delimiter, format: &Format, first: &[String]) -> String {
        let name = |column: usize| bare(&first[column]).to_owned();
        let mut note = format!("{}-separated", delimiter.name());
        if self.header {
            let ends = [Some(self.source), Some(self.target), self.weight];
            let names: Vec<String> = ends.into_iter().flatten().map(name).collect();
            note += &format!(", header ({})", names.join(", "));
        } else {
            note += ", no header";
            if let Some(weight) = self.weight {
                note += &format!(", weights in column {}", weight + 1);
            }
        }
        if self.weight.is_none() {
            note += ", no weights";
        }
        if let Some(relation) = self.relation {
            let what = if self.header { format!("{:?}", name(relation)) } else { (relation + 1).to_string() };
            note += &format!(", views by column {what}");
        }
        let ignored: Vec<usize> = (0..first.len()).filter(|&column| !self.uses(column)).collect();
        note + &self.ignored_note(&ignored, format, first)
    }

    fn ignored_note(&self, ignored: &[usize], format: &Format, first: &[String]) -> String {
        const SHOWN: usize = 5;
        let Some(&column) = ignored.first() else { return String::new() };
        let show = |&column: &usize| {
            if self.header { format!("{:?}", bare(&first[column])) } else { (column + 1).to_string() }
        };
        let mut shown: Vec<String> = ignored.iter().take(SHOWN).map(show).collect();
        if ignored.len() > SHOWN {
            shown.push(format!("{} more", ignored.len() - SHOWN));
        }
        let (noun, verb) = if ignored.len() == 1 { ("column", "is") } else { ("columns", "are") };
        let advice = match (self.weight, format.unweighted, ignored.len()) {
            (None, false, 1) => {
                format!(" (use {} to read weights from it)", option_value("weight", bare(&first[column])))
            }
            (None, false, _) => {
                format!(" (use {} to read weights from one)", option_value("weight", "NAME"))
            }
            _ => String::new(),
        };
        format!("; {noun} {} {verb} ignored{advice}", shown.join(", "))
    }
}

impl Format {
    fn wanted(&self) -> impl Iterator<Item = &String> {
        [&self.source, &self.target, &self.weight, &self.relation].into_iter().flatten()
    }

    /// Returns whether the caller gave columns by name, so that there must be a header.
    fn names_columns(&self) -> bool {
        self.wanted().any(|column| column.parse::<usize>().is_err())
    }
}

/// Returns whether the weights are numbers from the second row on. Then the first row is a header.
fn numbers_begin(format: &Format, first: &[String], second: Option<&[String]>) -> bool {
    let weighted = Format { unweighted: false, lone: false, ..format.clone() };
    let Ok(Columns { weight: Some(weight), .. }) = Columns::with_header(&weighted, first, false) else {
        return false;
    };
    let is_number = |row: &[String]| row.get(weight).map(|field| field.parse::<f64>().is_ok());
    is_number(first) == Some(false) && second.and_then(is_number) == Some(true)
}

fn find(wanted: &str, row: &[String], header: bool) -> Result<usize> {
    if header {
        let position = |test: &dyn Fn(&str) -> bool| row.iter().position(|field| test(bare(field)));
        let named = position(&|field| field == wanted)
            .or_else(|| position(&|field| field.eq_ignore_ascii_case(wanted)));
        if let Some(column) = named {
            return Ok(column);
        }
    }
    match wanted.parse::<usize>() {
        Ok(number) if (1..=row.len()).contains(&number) => Ok(number - 1),
        Ok(number) => Err(Error::config(format!(
            "there is no column {number}; columns are numbered from 1 to {}",
            row.len()
        ))),
        Err(_) if header => {
            let names: Vec<&str> = row.iter().map(|field| bare(field)).collect();
            Err(Error::config(format!("there is no column {wanted:?}; the columns are {}", names.join(", "))))
        }
        Err(_) => Err(Error::config(format!(
            "column {wanted:?} is given by name, but there is no header; use a number from 1 to {}",
            row.len()
        ))),
    }
}

fn refuse_double(used: &[usize], row: &[String], header: bool) -> Result<()> {
    let twice = |(at, column): (usize, &usize)| used[..at].contains(column).then_some(*column);
    match used.iter().enumerate().find_map(twice) {
        Some(column) if header => Err(Error::config(format!(
            "column {:?} is used twice; each column can have only one use",
            bare(&row[column])
        ))),
        Some(column) => Err(Error::config(format!(
            "column {} is used twice; each column can have only one use",
            column + 1
        ))),
        None => Ok(()),
    }
}

fn first_free(used: &[usize]) -> usize {
    (0..).find(|column| !used.contains(column)).expect("finitely many columns are used")
}

fn known_ends(row: &[String]) -> Option<(usize, usize)> {
    let names: Vec<String> = row.iter().map(|field| plain(field)).collect();
    let position = |name: &str| names.iter().position(|field| field == name);
    ENDS.iter().find_map(|(source, target)| Some((position(source)?, position(target)?)))
}

/// Removes the `#` that some programs write before the first column name.
fn bare(field: &str) -> &str {
    field.strip_prefix('#').map_or(field, str::trim)
}

/// Returns a column name in the form of the lists above.
fn plain(field: &str) -> String {
    bare(field).to_lowercase().replace([' ', '-'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::message::{Message, Notation};

    fn row(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn choose(format: &Format, first: &str, second: &str) -> Columns {
        Columns::choose(format, &row(first), Some(&row(second))).unwrap()
    }

    fn failure(format: &Format, first: &str) -> String {
        Columns::choose(format, &row(first), None).unwrap_err().to_string()
    }

    fn wants(source: &str, target: &str, weight: &str, relation: &str) -> Format {
        let column = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Format {
            source: column(source),
            target: column(target),
            weight: column(weight),
            relation: column(relation),
            ..Format::default()
        }
    }

    #[test]
    fn headers_are_known_by_their_words_or_by_numbers_below() {
        let auto = Format::default();
        for (first, second, header, weight) in [
            ("source target weight", "a b 1", true, Some(2)),
            ("#From TO", "a b", true, None),
            ("to from", "a b", true, None),
            ("Src dst year", "a b 1", true, None),
            ("a b 1", "c d 2", false, Some(2)),
            ("a b strength", "c d 2", true, None),
            ("a b x", "c d y", false, Some(2)),
            ("a b", "c d", false, None),
            ("source b", "c d", false, None),
        ] {
            let columns = choose(&auto, first, second);
            assert_eq!((columns.header, columns.weight), (header, weight), "{first}");
        }
        let swapped = choose(&auto, "to from", "a b");
        assert_eq!((swapped.source, swapped.target), (1, 0));
        assert!(!choose(&Format { header: Header::No, ..auto.clone() }, "source target", "a b").header);
        assert!(choose(&Format { header: Header::Yes, ..auto }, "a b", "c d").header);
    }

    #[test]
    fn columns_are_taken_by_name_or_number() {
        let columns = choose(&wants("author", "Paper", "2", ""), "paper year author", "a 1 b");
        assert_eq!((columns.header, columns.source, columns.target, columns.weight), (true, 2, 0, Some(1)));
        let columns = choose(&wants("", "", "", "1"), "calls a b 0.5", "mails a b 1");
        assert_eq!((columns.header, columns.source, columns.target), (false, 1, 2));
        assert_eq!((columns.weight, columns.relation, columns.needed()), (Some(3), Some(0), 4));
        let columns = choose(&wants("", "", "", "3"), "a b calls", "a b mails");
        assert_eq!((columns.weight, columns.most), (None, Some(3)));
    }

    #[test]
    fn wrong_columns_are_refused_with_the_right_ones() {
        assert_eq!(
            failure(&wants("auther", "", "", ""), "author paper"),
            "there is no column \"auther\"; the columns are author, paper"
        );
        assert_eq!(
            failure(&wants("5", "", "", ""), "a b"),
            "there is no column 5; columns are numbered from 1 to 2"
        );
        assert!(failure(&wants("0", "", "", ""), "a b").contains("numbered from 1"));
        assert!(failure(&wants("1", "1", "", ""), "a b").contains("column 1 is used twice"));
        let named = Format { header: Header::No, ..wants("author", "", "", "") };
        assert!(failure(&named, "a b").contains("there is no header; use a number from 1 to 2"));
        let both = Format { unweighted: true, ..wants("", "", "3", "") };
        assert!(failure(&both, "a b 1").contains("contradict"));
    }

    #[test]
    fn a_lone_table_with_a_relation_needs_a_decision() {
        let lone = Format { lone: true, ..Format::default() };
        let text = failure(&lone, "source target edge_type weight");
        assert!(text.contains("use relation = edge_type") && text.contains("view = NAME=PATH"), "{text}");
        assert!(Columns::choose(&Format::default(), &row("source target kind"), None).is_ok());
    }

    #[test]
    fn notes_say_what_was_understood() {
        let note = |format: &Format, first: &str, second: &str| {
            let note = choose(format, first, second).note(Delimiter::Tab, format, &row(first));
            Message::from(note).in_notation(Notation::CommandLine)
        };
        let auto = Format::default();
        assert_eq!(
            note(&auto, "source target weight", "a b 1"),
            "tab-separated, header (source, target, weight)"
        );
        assert_eq!(
            note(&auto, "source target year", "a b 1"),
            "tab-separated, header (source, target), no weights; column \"year\" is ignored (use --weight year to \
             read weights from it)"
        );
        assert_eq!(
            note(&auto, "a b 1 x y", "a b 1 x y"),
            "tab-separated, no header, weights in column 3; columns 4, 5 are ignored"
        );
        assert_eq!(
            note(&wants("", "", "", "layer"), "source target layer", "a b c"),
            "tab-separated, header (source, target), no weights, views by column \"layer\""
        );
        let unweighted = Format { unweighted: true, ..auto };
        assert_eq!(
            note(&unweighted, "a b 1", "a b 1"),
            "tab-separated, no header, no weights; column 3 is ignored"
        );
    }
}

//! Finds the columns of a table, and whether the first row is a header.
//!
//! Invariant: no column is used twice. With a header, columns are found by their names or because no others are left; positions
//! count only without one.

use super::fields::Kind;
use super::names::{Ends, bare, ends, is_index, is_relation, is_weight, may_be_weight};
use super::{Decimal, Delimiter, Header, OnError, ReadOptions};
use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value, switch};

/// The number of rows after the first that are looked at.
pub(super) const SAMPLE: usize = 100;

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
    pub decimal: Decimal,
    pub on_error: OnError,
    /// Whether a column that looks like the name of a view is an error. True for a single file.
    pub lone: bool,
    /// Whether the names of the columns are beyond doubt, because the table is not a file.
    pub named: bool,
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

/// The first rows of a table.
pub(super) struct Head<'a> {
    pub first: &'a [String],
    pub others: &'a [Vec<String>],
}

impl Head<'_> {
    /// What the fields of a column look like after the first row.
    fn kind(&self, column: usize) -> Kind {
        Kind::of_column(self.others.iter().filter_map(|row| row.get(column)).map(String::as_str))
    }

    /// The fields of a column, that of the first row included.
    fn column(&self, column: usize) -> impl Iterator<Item = &str> {
        let others = self.others.iter().filter_map(move |row| row.get(column));
        self.first.get(column).into_iter().chain(others).map(String::as_str)
    }

    /// Returns whether the first row has the usual names of ends, and they are not ids that further rows have too.
    fn names_ends(&self) -> bool {
        let recurs = |column: usize| {
            let rows = self.others.iter().filter(|row| row[..] != *self.first);
            rows.filter_map(|row| row.get(column)).any(|field| *field == self.first[column])
        };
        match ends(self.first) {
            Ends::None => false,
            Ends::Known(source, target) => !recurs(source) && !recurs(target),
            Ends::Several => true,
        }
    }

    /// Returns whether the first row is text above numbers or dates, or has no name for the row numbers of pandas.
    fn is_above_numbers(&self) -> bool {
        let plain = |column: &usize| matches!(Kind::of(&self.first[*column]), Kind::Text | Kind::Missing);
        if !(0..self.first.len()).all(|column| plain(&column)) {
            return false;
        }
        (0..self.first.len()).any(|column| {
            let below = self.kind(column);
            let index = self.first[column].is_empty() && column == 0 && self.first.len() > 2;
            match Kind::of(&self.first[column]) {
                Kind::Text => below.is_number() || below == Kind::Date,
                _ => index && below != Kind::Missing,
            }
        })
    }
}

impl Columns {
    /// Determines the columns from the first rows.
    ///
    /// # Errors
    /// The error has no place; the caller adds file and line.
    pub(super) fn choose(format: &Format, head: &Head<'_>) -> Result<Columns> {
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
            Header::Auto => head.names_ends() || format.names_columns() || head.is_above_numbers(),
        };
        let row = head.first;
        let column = |wanted: &Option<String>| -> Result<Option<usize>> {
            wanted.as_ref().map(|wanted| find(wanted, row, header)).transpose()
        };
        let (source, target) = (column(&format.source)?, column(&format.target)?);
        let (weight, relation) = (column(&format.weight)?, column(&format.relation)?);
        let used: Vec<usize> = [source, target, weight, relation].into_iter().flatten().collect();
        refuse_double(&used, row, header)?;
        let given = Given { source, target, weight, relation, used };
        if header {
            Columns::by_names(format, head, given)
        } else {
            Columns::by_position(format, head, given)
        }
    }

    fn by_names(format: &Format, head: &Head<'_>, mut given: Given) -> Result<Columns> {
        let row = head.first;
        if format.lone && given.relation.is_none() {
            given.refuse_relation(row)?;
        }
        if !format.unweighted && given.weight.is_none() {
            given.weight = (0..row.len()).find(|at| !given.used.contains(at) && is_weight(&row[*at]));
        }
        let (source, target) = given.ends(format, head)?;
        let weight = given.weight.filter(|weight| ![source, target].contains(weight));
        Ok(Columns { header: true, source, target, weight, relation: given.relation, most: None })
    }

    fn by_position(format: &Format, head: &Head<'_>, given: Given) -> Result<Columns> {
        let Given { source, target, weight, relation, mut used } = given;
        let guessed = source.is_none() || target.is_none();
        let mut settle = |column: Option<usize>| {
            column.unwrap_or_else(|| {
                used.push(first_free(&used));
                used[used.len() - 1]
            })
        };
        let (source, target) = (settle(source), settle(target));
        let third = Some(first_free(&used)).filter(|&column| column < head.first.len());
        let weight = weight.or(third.filter(|_| !format.unweighted));
        if guessed && head.first.len() > 2 {
            let place = |column: usize| Kind::of_column(head.column(column));
            let dates = [source, target].into_iter().find(|&column| place(column) == Kind::Date);
            if let Some(column) = dates {
                let date =
                    head.column(column).find(|field| Kind::of(field) == Kind::Date).unwrap_or_default();
                let found = format!("column {} has dates such as {date}, which are hardly nodes", column + 1);
                return Err(unclear(&found, head.first, TakenAs::Edge));
            }
            let numbers = |column: usize| head.column(column).any(|field| Kind::of(field).is_number());
            let text = |&column: &usize| place(column) == Kind::Text && !numbers(column);
            if head.first.len() > 3 && format.weight.is_none() && weight.as_ref().is_some_and(text) {
                return Err(unclear(
                    "there are no usual names and no weights after two ends",
                    head.first,
                    TakenAs::Edge,
                ));
            }
        }
        let most = (!format.unweighted && weight.is_none()).then_some(head.first.len());
        Ok(Columns { header: false, source, target, weight, relation, most })
    }

    /// Returns the number of fields that a row needs.
    pub(super) fn needed(&self) -> usize {
        let others = self.weight.max(self.relation).unwrap_or(0);
        self.source.max(self.target).max(others) + 1
    }

    fn uses(&self, column: usize) -> bool {
        [Some(self.source), Some(self.target), self.weight, self.relation].contains(&Some(column))
    }

    /// Describes how the table was interpreted; to be made a message.
    ///
    /// Only a file has a delimiter.
    pub(super) fn note(&self, delimiter: Option<Delimiter>, format: &Format, head: &Head<'_>) -> String {
        let name = |column: usize| bare(&head.first[column]);
        let mut note =
            delimiter.map_or(String::new(), |delimiter| format!("{}-separated, ", delimiter.name()));
        if self.header {
            let taken = [Some(self.source), Some(self.target), self.weight];
            let names: Vec<&str> = taken.into_iter().flatten().map(name).collect();
            let what = if delimiter.is_some() { "header" } else { "columns" };
            note += &format!("{what} ({})", names.join(", "));
        } else {
            note += "no header";
            if (self.source, self.target) != (0, 1) {
                note += &format!(", ends in columns {} and {}", self.source + 1, self.target + 1);
            }
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
        if format.decimal == Decimal::Comma && self.weight.is_some() {
            note += ", decimal commas";
        }
        note + &self.ignored_note(format, head)
    }

    fn ignored_note(&self, format: &Format, head: &Head<'_>) -> String {
        const SHOWN: usize = 12;
        let ignored: Vec<usize> = (0..head.first.len()).filter(|&column| !self.uses(column)).collect();
        if ignored.is_empty() {
            return String::new();
        }
        let show = |&column: &usize| match bare(&head.first[column]) {
            "" if self.header => format!("{} (no name)", column + 1),
            name if self.header => format!("{name:?}"),
            _ => (column + 1).to_string(),
        };
        let mut shown: Vec<String> = ignored.iter().take(SHOWN).map(show).collect();
        if ignored.len() > SHOWN {
            shown.push(format!("{} more", ignored.len() - SHOWN));
        }
        let (noun, verb) = if ignored.len() == 1 { ("column", "is") } else { ("columns", "are") };
        let may_be_weight = |&&column: &&usize| {
            head.kind(column).is_number() && (!self.header || may_be_weight(bare(&head.first[column])))
        };
        let numbers: Vec<&usize> = ignored.iter().filter(may_be_weight).collect();
        let advice = match (self.weight, format.unweighted, &numbers[..]) {
            (None, false, [column]) if self.header => {
                format!(
                    " (use {} to read weights from it)",
                    option_value("weight", bare(&head.first[**column]))
                )
            }
            (None, false, [_, _, ..]) => {
                format!(" (use {} to read weights from one)", option_value("weight", "NAME"))
            }
            _ => String::new(),
        };
        format!("; {noun} {} {verb} ignored{advice}", shown.join(", "))
    }
}

/// The columns that the caller chose, and those that follow from their names.
struct Given {
    source: Option<usize>,
    target: Option<usize>,
    weight: Option<usize>,
    relation: Option<usize>,
    /// The chosen ones.
    used: Vec<usize>,
}

impl Given {
    /// Finds the ends below a header: the given ones, those with usual names, or those that are left.
    fn ends(&self, format: &Format, head: &Head<'_>) -> Result<(usize, usize)> {
        let row = head.first;
        let taken_as = if format.named { TakenAs::Names } else { TakenAs::Header };
        let known = match ends(row) {
            Ends::Known(source, target) => Some((source, target)),
            _ => None,
        };
        let free = |column: &usize| !self.used.contains(column);
        let source = self.source.or(known.map(|ends| ends.0).filter(free));
        let target = self.target.or(known.map(|ends| ends.1).filter(free));
        let wanted = usize::from(source.is_none()) + usize::from(target.is_none());
        if wanted == 0 {
            return Ok((source.expect("known"), target.expect("known")));
        }
        if ends(row) == Ends::Several && self.source.is_none() && self.target.is_none() {
            return Err(unclear("several columns have usual names of ends", row, taken_as));
        }
        let left: Vec<usize> =
            (0..row.len()).filter(free).filter(|at| ![source, target].contains(&Some(*at))).collect();
        let mut rest = select(&left, wanted, head)
            .ok_or_else(|| unclear("the columns have no usual names", row, taken_as))?
            .into_iter();
        // A row that is too short is reported as such.
        let mut next = || rest.next().unwrap_or(row.len());
        Ok((source.unwrap_or_else(&mut next), target.unwrap_or_else(&mut next)))
    }

    fn refuse_relation(&self, row: &[String]) -> Result<()> {
        let ends = match ends(row) {
            Ends::Known(source, target) => vec![source, target],
            _ => Vec::new(),
        };
        let unused = |at: &usize| !self.used.contains(at) && !ends.contains(at);
        let Some(at) = (0..row.len()).filter(unused).find(|&at| is_relation(&row[at])) else { return Ok(()) };
        let name = bare(&row[at]);
        Err(Error::config(format!(
            "column {name:?} seems to name the view of each edge; use {} to split the table into views, or {} (in Python, a dict \
             with the name) to read it as one view",
            option_value("relation", name),
            option_value("view", "NAME=PATH")
        )))
    }
}

/// Selects the columns of ends among those that nothing else is known of: `None` if that would be a guess.
///
/// Of one column too many, one is left out if it alone cannot be a node, or is a number beside text.
fn select(left: &[usize], wanted: usize, head: &Head<'_>) -> Option<Vec<usize>> {
    if left.len() <= wanted {
        return Some(left.to_vec());
    }
    let named = |column: &usize| {
        let name = &head.first[*column];
        !is_index(name) && !is_weight(name) && !is_relation(name)
    };
    let named: Vec<usize> = left.iter().copied().filter(named).collect();
    if named.len() == wanted {
        return Some(named);
    }
    if named.len() != wanted + 1 {
        return None;
    }
    let of = |test: &dyn Fn(Kind) -> bool| -> Vec<usize> {
        named.iter().copied().filter(|&column| test(head.kind(column))).collect()
    };
    let nodes = of(&|kind| matches!(kind, Kind::Whole | Kind::Text));
    let texts = of(&|kind| kind == Kind::Text);
    [nodes, texts].into_iter().find(|columns| columns.len() == wanted)
}

/// What the first row of a table is taken as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TakenAs {
    Header,
    Edge,
    /// The names of the columns of a table in memory.
    Names,
}

/// An error for columns that could only be guessed. It lists them and says how to choose.
fn unclear(found: &str, row: &[String], taken_as: TakenAs) -> Error {
    const SHOWN: usize = 20;
    let name = |(at, field): (usize, &String)| match bare(field) {
        "" => format!("{} (no name)", at + 1),
        name if taken_as != TakenAs::Edge => name.to_owned(),
        field => format!("{} ({field})", at + 1),
    };
    let mut names: Vec<String> = row.iter().enumerate().take(SHOWN).map(name).collect();
    if row.len() > SHOWN {
        names.push(format!("and {} more", row.len() - SHOWN));
    }
    let (source, target) = (option_value("source", "COL"), option_value("target", "COL"));
    let other = match taken_as {
        TakenAs::Header => format!("; if this line is an edge, use {}", option_value("header", "no")),
        TakenAs::Edge => format!("; if this line is a header, add {}", option_value("header", "yes")),
        TakenAs::Names => String::new(),
    };
    Error::config(format!(
        "cannot tell which columns are the ends of an edge: {found}; the columns are {}; choose with {source} and {target} \
         (and {}, if there are weights){other}",
        names.join(", "),
        option_value("weight", "COL")
    ))
}

impl Format {
    /// The format of a table in memory.
    pub(super) fn of_frame(options: &ReadOptions, lone: bool) -> Format {
        let ReadOptions { source, target, weight, relation, unweighted, .. } = options.clone();
        Format {
            source,
            target,
            weight,
            relation,
            unweighted,
            header: Header::Yes,
            lone,
            named: true,
            ..Format::default()
        }
    }

    fn wanted(&self) -> impl Iterator<Item = &String> {
        [&self.source, &self.target, &self.weight, &self.relation].into_iter().flatten()
    }

    /// Returns whether the caller gave columns by name, so that there must be a header.
    fn names_columns(&self) -> bool {
        self.wanted().any(|column| column.parse::<usize>().is_err())
    }
}

pub(super) fn find(wanted: &str, row: &[String], header: bool) -> Result<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::message::{Message, Notation};

    fn row(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn choose(format: &Format, first: &str, second: &str) -> Columns {
        Columns::choose(format, &Head { first: &row(first), others: &[row(second)] }).unwrap()
    }

    fn failure(format: &Format, first: &str) -> String {
        Columns::choose(format, &Head { first: &row(first), others: &[] }).unwrap_err().to_string()
    }

    /// The columns of a table of commas, as numbers from 1, or the message.
    fn understood(format: &Format, table: &str) -> String {
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = table.split('|').map(fields).collect();
        match Columns::choose(format, &Head { first: &rows[0], others: &rows[1..] }) {
            Ok(Columns { header, source, target, weight, .. }) => {
                let weight = weight.map(|weight| format!(" {}", weight + 1)).unwrap_or_default();
                format!("{} {} {}{weight}", if header { "header" } else { "edge" }, source + 1, target + 1)
            }
            Err(error) => Message::from(error.to_string()).in_notation(Notation::CommandLine),
        }
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
            ("a b strength", "c d 2", true, Some(2)),
            ("a b minutes", "c d 2", true, None),
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

    /// Tables on which the first version of manyview embedded row numbers against dates.
    #[test]
    fn columns_are_not_guessed_by_position_below_a_header() {
        for (table, expected) in [
            ("call_id,date,caller,callee|1,2024-01-31,ann,bob", "header 3 4"),
            (",a,b|0,ann,bob|1,bob,cat", "header 2 3"),
            ("Unnamed: 0,a,b,weight|0,ann,bob,2", "header 2 3 4"),
            ("id,person,friend|1,ann,bob", "header 2 3"),
            ("person,friend,minutes|ann,bob,3", "header 1 2"),
            ("person,when,friend|ann,2024-01-31,bob", "header 1 3"),
            ("a_id,b_id,share|1,2,0.5|2,3,1", "header 1 2"),
            ("user,item|1,2|3,4", "header 1 2"),
            ("left,right|1,2|3,4", "header 1 2"),
            ("person,friend,weight|ann,bob,1", "header 1 2 3"),
            ("weight,person,friend|1,ann,bob", "header 2 3 1"),
            // Ids that are called as ends usually are.
            ("u,v|u,w|v,w", "edge 1 2"),
            ("node1,node2|node1,node3", "edge 1 2"),
            ("source,target|a,b|source,target|b,c", "header 1 2"),
            ("ann,bob,2024|bob,cat,2025", "edge 1 2 3"),
            ("ann,bob|bob,cat", "edge 1 2"),
        ] {
            assert_eq!(understood(&Format::default(), table), expected, "{table}");
        }
        let start = "cannot tell which columns are the ends of an edge: ";
        let choose = "choose with source = COL and target = COL (and weight = COL, if there are weights); ";
        for (table, found, end) in [
            (
                "id,day,person,friend|1,2024-01-31,ann,bob",
                "the columns have no usual names; the columns are id, day, person, friend; ",
                "if this line is an edge, use header = no",
            ),
            (
                "id,a,b|1,2,3|2,3,4",
                "the columns have no usual names; the columns are id, a, b; ",
                "if this line is an edge, use header = no",
            ),
            (
                "caller,callee,from,to|a,b,1,2",
                "several columns have usual names of ends; the columns are caller, callee, from, to; ",
                "if this line is an edge, use header = no",
            ),
            (
                "name,city,friend,street|ann,paris,bob,main",
                "there are no usual names and no weights after two ends; the columns are 1 (name), 2 (city), 3 (friend), 4 \
                 (street); ",
                "if this line is a header, add header = yes",
            ),
            (
                "1,2024-01-31,7,8|2,2024-02-01,8,9",
                "column 2 has dates such as 2024-01-31, which are hardly nodes; the columns are 1 (1), 2 (2024-01-31), 3 (7), 4 \
                 (8); ",
                "if this line is a header, add header = yes",
            ),
        ] {
            let expected = format!("{start}{found}{choose}{end}");
            assert_eq!(understood(&Format::default(), table), expected, "{table}");
        }
    }

    #[test]
    fn one_given_end_leaves_no_guess_about_the_other() {
        let source = |name: &str| wants(name, "", "", "");
        assert_eq!(understood(&source("author"), "paper,author|p,ann"), "header 2 1");
        assert_eq!(understood(&source("to"), "from,to|a,b"), "header 2 1");
        assert_eq!(understood(&source("callee"), "date,caller,callee|1,a,b"), "header 3 2");
        let text = understood(&source("author"), "paper,author,venue|p,ann,x");
        assert!(text.contains("the columns are paper, author, venue; choose with source = COL"), "{text}");
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
        assert!(choose(&Format::default(), "source target kind", "a b x").header);
    }

    #[test]
    fn notes_say_what_was_understood() {
        let note = |format: &Format, first: &str, second: &str| {
            let (first, others) = (row(first), [row(second)]);
            let head = Head { first: &first, others: &others };
            let note = Columns::choose(format, &head).unwrap().note(Some(Delimiter::Tab), format, &head);
            Message::from(note).in_notation(Notation::CommandLine)
        };
        let auto = Format::default();
        assert_eq!(
            note(&auto, "source target weight", "a b 1"),
            "tab-separated, header (source, target, weight)"
        );
        assert_eq!(
            note(&auto, "source target minutes", "a b 1"),
            "tab-separated, header (source, target), no weights; column \"minutes\" is ignored (use --weight \
             minutes to read weights from it)"
        );
        assert_eq!(
            note(&auto, "a b 1 x y", "a b 1 x y"),
            "tab-separated, no header, weights in column 3; columns 4, 5 are ignored"
        );
        assert_eq!(
            note(&wants("2", "3", "", ""), "7 a b x", "8 c d y"),
            "tab-separated, no header, ends in columns 2 and 3, weights in column 1; column 4 is ignored"
        );
        assert_eq!(
            note(&auto, "call_id date caller callee", "1 2024-01-31 ann bob"),
            "tab-separated, header (caller, callee), no weights; columns \"call_id\", \"date\" are ignored"
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

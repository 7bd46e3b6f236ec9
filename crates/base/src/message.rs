//! Sentences for people that may name settings, and the notations in which front ends write those.
//!
//! The library does not know whether its caller types `--max-iter 5`, `max_iter=5` or `max_iter: 5`. So a message keeps
//! the names of settings apart from its words, and the front end chooses the [`Notation`].
//!
//! ```
//! use manyview_base::message::{Message, Notation, option, option_value};
//!
//! let message = Message::from(format!("raise {}, or use {}", option("max_iter"), option_value("solver", "mu")));
//! assert_eq!(message.to_string(), "raise max_iter, or use solver = mu");
//! assert_eq!(message.in_notation(Notation::CommandLine), "raise --max-iter, or use --solver mu");
//! assert_eq!(message.in_notation(Notation::Python), "raise max_iter, or use solver=\"mu\"");
//! ```

use std::fmt::{self, Display};

/// How a front end writes the name of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notation {
    /// `max_iter = 5`, as in files and in Rust.
    Plain,
    /// `--max-iter 5`.
    CommandLine,
    /// `max_iter=5`.
    Python,
}

/// A sentence that may name settings.
///
/// Invariant: it has no control characters. Ids, names and file names may have some, which would reach the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    Name(String),
    Value(String, String),
    Switch(String),
}

// Noncharacters of Unicode, which no text has: a formatted string carries the names between them until it becomes a
// message.
const BEGIN: char = '\u{FDD0}';
const VALUE: char = '\u{FDD1}';
const SWITCH: char = '\u{FDD2}';
const END: char = '\u{FDD3}';

/// The name of a setting, to be formatted into a message.
pub fn option(name: &str) -> impl Display {
    format!("{BEGIN}{name}{END}")
}

/// A setting with a value, to be formatted into a message.
pub fn option_value(name: &str, value: impl Display) -> impl Display {
    format!("{BEGIN}{name}{VALUE}{value}{END}")
}

/// A switch that is turned on, to be formatted into a message.
pub fn switch(name: &str) -> impl Display {
    format!("{BEGIN}{name}{SWITCH}{END}")
}

/// Returns a text with its control characters written as in Rust, such as `\u{1b}`.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { printable.extend(c.escape_default()) } else { printable.push(c) }
    }
    printable
}

impl Message {
    /// The text for a front end.
    pub fn in_notation(&self, notation: Notation) -> String {
        self.pieces.iter().map(|piece| piece.in_notation(notation)).collect()
    }

    /// The same message after other words.
    pub fn prefixed(mut self, words: &str) -> Self {
        self.pieces.insert(0, Piece::Words(printable(words)));
        self
    }
}

impl Piece {
    fn in_notation(&self, notation: Notation) -> String {
        let dashed = |name: &str| format!("--{}", name.replace('_', "-"));
        match (self, notation) {
            (Piece::Words(words), _) => words.clone(),
            (Piece::Name(name) | Piece::Switch(name), Notation::CommandLine) => dashed(name),
            (Piece::Name(name) | Piece::Switch(name), Notation::Plain) => name.clone(),
            (Piece::Name(name), Notation::Python) => name.clone(),
            (Piece::Switch(name), Notation::Python) => format!("{name}=True"),
            (Piece::Value(name, value), Notation::Plain) => format!("{name} = {value}"),
            (Piece::Value(name, value), Notation::CommandLine) => format!("{} {value}", dashed(name)),
            (Piece::Value(name, value), Notation::Python) => format!("{name}={}", python_value(value)),
        }
    }
}

fn python_value(value: &str) -> String {
    match value {
        "true" => "True".into(),
        "false" => "False".into(),
        "null" => "None".into(),
        _ if value.parse::<f64>().is_ok() || value.starts_with(['[', '"']) => value.into(),
        _ => format!("{value:?}"),
    }
}

impl Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.in_notation(Notation::Plain))
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        let mut pieces = Vec::new();
        let words = |text: &str, pieces: &mut Vec<Piece>| {
            if !text.is_empty() {
                pieces.push(Piece::Words(printable(&text.replace([BEGIN, VALUE, SWITCH, END], ""))));
            }
        };
        let mut rest = text;
        while let Some((head, after)) = rest.split_once(END) {
            let Some((before, inner)) = head.rsplit_once(BEGIN) else {
                words(head, &mut pieces);
                rest = after;
                continue;
            };
            words(before, &mut pieces);
            pieces.push(match (inner.split_once(VALUE), inner.strip_suffix(SWITCH)) {
                (Some((name, value)), _) => Piece::Value(printable(name), printable(value)),
                (None, Some(name)) => Piece::Switch(printable(name)),
                (None, None) => Piece::Name(printable(inner)),
            });
            rest = after;
        }
        words(rest, &mut pieces);
        Message { pieces }
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// As its plain text.
impl serde::Serialize for Message {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Something that a user should know about a result that is otherwise fine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The sentence.
    pub message: Message,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// Factorizations reached the maximum number of iterations before they converged.
    NotConverged,
    /// Settings that have no effect, or an unexpected effect.
    Settings,
    /// Vectors, or columns, that are zero.
    Zero,
    /// Properties of the network or the labels.
    Data,
}

impl Warning {
    /// A warning of a kind.
    pub fn new(kind: WarningKind, message: impl Into<Message>) -> Self {
        Warning { kind, message: message.into() }
    }
}

impl Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(formatter)
    }
}

/// As its plain text.
impl serde::Serialize for Warning {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.message.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_in_each_notation() {
        let text =
            format!("{}, {} or {}", option("stage_dims"), option_value("max_iter", 5), switch("unweighted"));
        let message = Message::from(text);
        let written = [Notation::Plain, Notation::CommandLine, Notation::Python]
            .map(|notation| message.in_notation(notation));
        assert_eq!(
            written,
            [
                "stage_dims, max_iter = 5 or unweighted",
                "--stage-dims, --max-iter 5 or --unweighted",
                "stage_dims, max_iter=5 or unweighted=True",
            ]
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let (id, shown) = ("a\u{1b}[31m\tb", "a\\u{1b}[31m\\tb");
        let message = Message::from(format!("view {id}: use {}", option_value("weight", id)));
        assert_eq!(message.to_string(), format!("view {shown}: use weight = {shown}"));
        assert_eq!(message.prefixed("x\u{7f}: ").to_string()[..8], *"x\\u{7f}:");
    }

    #[test]
    fn marks_in_foreign_text_are_dropped() {
        let message = Message::from(format!("node {BEGIN}x is {} wide", option_value("dim", 3)));
        assert!(message.to_string().chars().all(|c| ![BEGIN, VALUE, SWITCH, END].contains(&c)));
    }
}

//! Settings, described once: the fields of a struct with their defaults, limits and help.
//!
//! [`settings!`](crate::settings!) declares such a struct. The command line, settings files, `run.json`, Python and the
//! reference in `docs/settings.md` all read [`Settings::describe`], so a new field needs no other place. Values arrive as
//! JSON through [`Settings::set`], which checks the value and reports what is expected.
//!
//! Invariant: a name means one field, and the name is the same in every front end.

mod choice;
mod declare;
mod limits;
mod value;

pub use limits::Details;
pub use value::{Choice, Kind, SettingValue};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::message::option_value;

/// A setting as front ends see it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Setting {
    /// The name in Rust, Python and files; on the command line with hyphens.
    pub name: &'static str,
    /// What it does, without a full stop at the end.
    pub help: String,
    /// What values look like.
    pub kind: Kind,
    /// Limits and other details.
    pub details: Details,
    /// The value when it is not given; null where it then follows from other settings or the network.
    pub default: Value,
}

impl Setting {
    /// Describes a field.
    pub fn new<T: SettingValue>(name: &'static str, help: &str, details: Details, default: &T) -> Self {
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let help = without_article(help.strip_suffix('.').unwrap_or(&help));
        Setting { name, help, kind: T::kind(), details, default: default.to_json() }
    }

    /// What a value must be, such as "a whole number of at least 1".
    pub fn expected(&self) -> String {
        self.kind.expected(&self.details)
    }

    /// The default as text, such as `256`, `hals` or "a quarter of the stages"; empty when there is nothing to say.
    pub fn default_text(&self) -> String {
        match &self.default {
            Value::Null => self.details.absent.unwrap_or_default().to_owned(),
            value => text_of(value),
        }
    }
}

/// Lists of settings begin with the noun: "Number of columns".
fn without_article(help: &str) -> String {
    match help.strip_prefix("The ") {
        Some(rest) => rest[..1].to_uppercase() + &rest[1..],
        None => help.to_owned(),
    }
}

/// A struct of settings.
pub trait Settings: Clone + Default + PartialEq + std::fmt::Debug {
    /// Every setting, with this struct's values as defaults.
    fn describe(&self) -> Vec<Setting>;

    /// Sets one by name; `false` when there is no such setting.
    ///
    /// # Errors
    /// [`Error::Config`] when the value does not fit.
    fn set(&mut self, name: &str, value: &Value) -> Result<bool>;

    /// Checks every setting against its limits, for structs that were not made by [`set`](Settings::set).
    fn check_limits(&self) -> Result<()>;
}

/// Reads a value of a field.
#[doc(hidden)]
pub fn read<T: SettingValue>(name: &str, value: &Value, details: &Details) -> Result<T> {
    let read = T::from_json(value).filter(|read| details.allow(read));
    read.ok_or_else(|| match value {
        // Python's dim="5" must not be refused as dim=5.
        Value::String(text) if number_in(text).is_some_and(|number| T::from_json(&number).is_some()) => {
            refused::<T>(name, &format!("{text:?}"), details)
        }
        _ => refused::<T>(name, &text_of(value), details),
    })
}

fn number_in(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_number)
}

/// Checks the value of a field.
#[doc(hidden)]
pub fn check<T: SettingValue>(name: &str, value: &T, details: &Details) -> Result<()> {
    if details.allow(value) { Ok(()) } else { Err(refused::<T>(name, &value.to_text(), details)) }
}

fn refused<T: SettingValue>(name: &str, value: &str, details: &Details) -> Error {
    let expected = T::kind().expected(details);
    let hint = details.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    Error::config(format!("{}: expected {expected}{hint}", option_value(name, value)))
}

/// A value as on the command line.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(","),
        Value::Number(number) => match number.as_f64() {
            Some(x) if number.is_f64() => x.to_string(),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "the macros make more than the tests use")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::Notation;

    crate::named! {
        /// A color.
        pub enum Color {
            Red = "red", "like fire";
            Green = "green", "like grass";
        }
    }

    crate::settings! {
        /// A group.
        pub struct Inner {
            /// How deep.
            depth: usize = 3 => at_least(1.0);
        }
    }

    crate::settings! {
        /// All of it.
        pub struct Outer {
            /// The number of columns
            /// of the result.
            dim: usize = 256 => at_least(1.0).at_most(1000.0).hint("the usual choice is 256");
            /// A rate.
            rate: f64 = 0.5 => above(0.0).at_most(1.0);
            /// A color.
            color: Color = Color::Red => alias("colour");
            /// Whether it is on.
            on: bool = false;
            /// Limits.
            most: Option<usize> = None => at_least(1.0).absent("no limit");
            /// Widths.
            widths: Option<Vec<usize>> = None => rare();
            /// Three shares.
            shares: [f64; 3] = [0.1, 0.2, 0.3] => at_least(0.0).below(1.0);
            /// Names.
            names: Option<Vec<String>> = None;
        } with {
            /// The group.
            inner: Inner = Inner::default();
        }
    }

    #[test]
    fn a_field_says_everything_about_itself() {
        let list = Outer::default().describe();
        let names: Vec<&str> = list.iter().map(|setting| setting.name).collect();
        assert_eq!(names, ["dim", "rate", "color", "on", "most", "widths", "shares", "names", "depth"]);
        assert_eq!(list[0].help, "Number of columns of the result");
        assert_eq!((list[0].default_text(), list[4].default_text()), ("256".into(), "no limit".into()));
        assert_eq!(list[0].expected(), "a whole number from 1 to 1000");
        assert_eq!(list[1].expected(), "a number above 0 and at most 1");
        assert_eq!(list[2].expected(), "one of red, green");
        assert_eq!(list[6].expected(), "a list of 3 numbers of at least 0 and below 1");
        assert_eq!(list[8].expected(), "a whole number of at least 1");
    }

    #[test]
    fn values_are_set_by_name() {
        let mut outer = Outer::default();
        for (name, value) in [
            ("dim", json!(8)),
            ("rate", json!(1)),
            ("color", json!("green")),
            ("on", json!(true)),
            ("most", json!(2)),
            ("widths", json!([1, 2])),
            ("shares", json!([0, 0.5, 0.25])),
            ("names", json!(["a"])),
            ("depth", json!(9)),
        ] {
            assert!(outer.set(name, &value).unwrap(), "{name}");
        }
        assert!(!outer.set("width", &json!(1)).unwrap());
        let json = serde_json::to_value(&outer).unwrap();
        assert_eq!(
            (&json["depth"], &json["shares"][1]),
            (&json!(9), &json!(0.5)),
            "groups are flat in files"
        );
        outer.check_limits().unwrap();
        assert!(outer.set("most", &Value::Null).unwrap() && outer.most.is_none());
    }

    #[test]
    fn values_that_do_not_fit_are_refused_with_what_was_expected() {
        let mut outer = Outer::default();
        for (name, value, told) in [
            ("dim", json!(0), "--dim 0: expected a whole number from 1 to 1000; the usual choice is 256"),
            ("dim", json!(-1), "--dim -1: expected a whole number from 1 to 1000; the usual choice is 256"),
            ("dim", json!(2.5), "--dim 2.5: expected a whole number from 1 to 1000; the usual choice is 256"),
            (
                "dim",
                json!("5"),
                "--dim \"5\": expected a whole number from 1 to 1000; the usual choice is 256",
            ),
            ("rate", json!("x"), "--rate x: expected a number above 0 and at most 1"),
            ("color", json!("blue"), "--color blue: expected one of red, green"),
            ("color", json!(3), "--color 3: expected one of red, green"),
            ("on", json!(3), "--on 3: expected true or false"),
            ("most", json!(0), "--most 0: expected a whole number of at least 1"),
            ("widths", json!("a"), "--widths a: expected a list of whole numbers"),
            ("shares", json!([0.1]), "--shares 0.1: expected a list of 3 numbers of at least 0 and below 1"),
            (
                "shares",
                json!([0.1, 1, 0]),
                "--shares 0.1,1,0: expected a list of 3 numbers of at least 0 and below 1",
            ),
            ("names", json!([1]), "--names 1: expected a list of names"),
            ("depth", json!(0), "--depth 0: expected a whole number of at least 1"),
        ] {
            let error = outer.set(name, &value).unwrap_err();
            assert_eq!(error.in_notation(Notation::CommandLine), told);
        }
        assert_eq!(outer, Outer::default(), "nothing was set");
        let error = Outer { rate: f64::NAN, ..Outer::default() }.check_limits().unwrap_err();
        assert_eq!(error.to_string(), "rate = NaN: expected a number above 0 and at most 1");
    }

    #[test]
    fn text_is_read_as_the_kind_says() {
        let list = Outer::default().describe();
        let read = |name: &str, text: &str| {
            list.iter().find(|setting| setting.name == name).unwrap().kind.from_text(text)
        };
        assert_eq!(read("dim", "12"), json!(12));
        assert_eq!(read("rate", "1"), json!(1.0));
        assert_eq!(read("rate", "nan"), json!("nan"), "left as text, and refused as such");
        assert_eq!(read("on", "yes"), json!(true));
        assert_eq!(read("widths", "8,4"), json!([8, 4]));
        assert_eq!(read("shares", "0.1,0,1"), json!([0.1, 0.0, 1.0]));
        assert_eq!(read("names", "a,b"), json!(["a", "b"]));
        assert_eq!(read("color", "red"), json!("red"));
    }
}

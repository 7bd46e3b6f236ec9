//! The types that a setting can have: how their values are read, written and described.

use serde_json::{Number, Value};

use super::{Details, text_of};

/// What the values of a setting look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A whole number of at least 0.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// One of several names.
    Choice(&'static [Choice]),
    /// A list of whole numbers.
    Wholes,
    /// A list of this many numbers.
    Numbers(usize),
    /// A list of names.
    Names,
}

/// A name that a setting may have as its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// What it means, in a few words.
    pub help: &'static str,
    /// Older names that are still accepted.
    pub older: &'static [&'static str],
}

impl Kind {
    /// Reads text as on the command line; text that does not fit stays text, which [`set`](super::Settings::set) refuses.
    pub fn from_text(self, text: &str) -> Value {
        let typed = || Value::from(text);
        let list = |kind: Kind| text.split(',').map(|item| kind.from_text(item.trim())).collect();
        match self {
            Kind::Whole => text.parse::<u64>().map_or_else(|_| typed(), Value::from),
            Kind::Number => {
                let number = text.parse::<f64>().ok().and_then(Number::from_f64);
                number.map_or_else(typed, Value::Number)
            }
            Kind::Flag => match text {
                "yes" | "true" => true.into(),
                "no" | "false" => false.into(),
                _ => typed(),
            },
            Kind::Choice(_) => typed(),
            Kind::Wholes => list(Kind::Whole),
            Kind::Numbers(_) => list(Kind::Number),
            Kind::Names => text.split(',').map(Value::from).collect(),
        }
    }

    /// What a value must be.
    pub(super) fn expected(self, details: &Details) -> String {
        let limits = details.in_words();
        match self {
            Kind::Whole => format!("a whole number{limits}"),
            Kind::Number => format!("a number{limits}"),
            Kind::Flag => "true or false".into(),
            Kind::Choice(choices) => {
                let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Wholes => format!("a list of whole numbers{limits}"),
            Kind::Numbers(count) => format!("a list of {count} numbers{limits}"),
            Kind::Names => "a list of names".into(),
        }
    }
}

/// A type that a setting can have.
pub trait SettingValue: Sized {
    /// What its values look like.
    fn kind() -> Kind;

    /// Reads a value; `None` when it does not fit.
    fn from_json(value: &Value) -> Option<Self>;

    /// Writes a value.
    fn to_json(&self) -> Value;

    /// The numbers that limits apply to.
    fn numbers(&self) -> Vec<f64> {
        Vec::new()
    }

    /// As on the command line.
    fn to_text(&self) -> String {
        text_of(&self.to_json())
    }
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl SettingValue for $type {
            fn kind() -> Kind {
                Kind::Whole
            }

            fn from_json(value: &Value) -> Option<Self> {
                value.as_u64()?.try_into().ok()
            }

            fn to_json(&self) -> Value {
                (*self).into()
            }

            fn numbers(&self) -> Vec<f64> {
                vec![*self as f64]
            }
        }
    )*};
}
whole! { usize u64 }

impl SettingValue for f64 {
    fn kind() -> Kind {
        Kind::Number
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_f64()
    }

    fn to_json(&self) -> Value {
        Number::from_f64(*self).map_or(Value::Null, Value::Number)
    }

    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for bool {
    fn kind() -> Kind {
        Kind::Flag
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }
}

impl SettingValue for Vec<usize> {
    fn kind() -> Kind {
        Kind::Wholes
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(usize::from_json).collect()
    }

    fn to_json(&self) -> Value {
        self.as_slice().into()
    }

    fn numbers(&self) -> Vec<f64> {
        self.iter().map(|&x| x as f64).collect()
    }
}

impl SettingValue for Vec<String> {
    fn kind() -> Kind {
        Kind::Names
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
    }

    fn to_json(&self) -> Value {
        self.as_slice().into()
    }
}

impl<const N: usize> SettingValue for [f64; N] {
    fn kind() -> Kind {
        Kind::Numbers(N)
    }

    fn from_json(value: &Value) -> Option<Self> {
        let numbers: Vec<f64> = value.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
        numbers.try_into().ok()
    }

    fn to_json(&self) -> Value {
        self.iter().map(SettingValue::to_json).collect()
    }

    fn numbers(&self) -> Vec<f64> {
        self.to_vec()
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn from_json(value: &Value) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_json(value).map(Some) }
    }

    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, SettingValue::to_json)
    }

    fn numbers(&self) -> Vec<f64> {
        self.as_ref().map(SettingValue::numbers).unwrap_or_default()
    }

    fn to_text(&self) -> String {
        self.as_ref().map_or_else(|| "null".into(), SettingValue::to_text)
    }
}

//! The settings that are searched over, and their values: [`Over`], and its notation as text.
//!
//! A text is a list, separated by commas, of names and values: `stages,window=3,5,10`. A name alone stands for the usual
//! values of the setting; after `name=`, all items up to the next name are values of it. `2..64` stands for 2, 4, 8, ... 64,
//! and `25%` for a share of the stages.

use std::fmt::{self, Display};

use manyview_base::error::{Error, Result};
use manyview_base::message::option;
use manyview_base::settings::{Kind, Setting, Settings};
use manyview_core::mnmf::Mnmf;
use serde_json::Value;

/// Settings that have usual values.
pub(super) const USUAL: [&str; 7] =
    ["stages", "consensus_stages", "dim", "gamma", "window", "negative", "joint"];

/// Follows from the number of stages and of columns.
const FIXED: &str = "stage_dims";

/// A setting of MNMF to search over.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// The name of the setting.
    pub setting: &'static str,
    /// The values; `None` for the usual ones.
    pub values: Option<Vec<Item>>,
}

/// A value to try.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item {
    /// A value of the setting.
    Value(Value),
    /// A share of the stages, from 0 to 1; for `consensus_stages` only.
    Share(f64),
}

impl Display for Item {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Value(Value::String(text)) => formatter.write_str(text),
            Item::Value(value) => value.fmt(formatter),
            Item::Share(share) => write!(formatter, "{}%", 100.0 * share),
        }
    }
}

impl Over {
    /// Reads texts such as `stages` and `window=3,5,10`. Later texts replace the values of the same setting.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown name, with all names; and for a value that the setting cannot have.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Vec<Over>> {
        let settings = searchable();
        let find = |name: &str| settings.iter().find(|setting| setting.name == name.trim().replace('-', "_"));
        let mut found: Vec<Over> = Vec::new();
        for text in texts {
            let mut current: Option<&Setting> = None;
            for item in text.as_ref().split(',').map(str::trim).filter(|item| !item.is_empty()) {
                let (name, value) = match item.split_once('=') {
                    Some((name, value)) => {
                        (Some(find(name).ok_or_else(|| unknown(name))?), Some(value.trim()))
                    }
                    None => match (find(item), current) {
                        (Some(setting), _) => (Some(setting), None),
                        (None, Some(_)) => (None, Some(item)),
                        (None, None) => return Err(unknown(item)),
                    },
                };
                if let Some(setting) = name {
                    current = value.map(|_| setting);
                    found.retain(|known| known.setting != setting.name);
                    found.push(Over { setting: setting.name, values: value.map(|_| Vec::new()) });
                }
                if let (Some(value), Some(setting)) = (value, current) {
                    let values = found.last_mut().and_then(|over| over.values.as_mut());
                    values.expect("the setting has values").extend(items(setting, value)?);
                }
            }
        }
        found.iter().try_for_each(Over::check)?;
        Ok(found)
    }

    /// Checks that there are values.
    fn check(&self) -> Result<()> {
        let name = self.setting.replace('_', "-");
        let listed =
            USUAL.contains(&self.setting) || matches!(kind(self.setting), Kind::Choice(_) | Kind::Flag);
        match &self.values {
            None if !listed => Err(Error::config(format!(
                "{} {name}: this setting has no usual values; give some, such as {name}=1,2,3",
                option("over")
            ))),
            Some(values) if values.is_empty() => {
                Err(Error::config(format!("{} {name}=: there are no values", option("over"))))
            }
            _ => Ok(()),
        }
    }
}

/// The settings of MNMF that can be searched over.
pub(super) fn searchable() -> Vec<Setting> {
    Mnmf::default().describe().into_iter().filter(|setting| setting.name != FIXED).collect()
}

/// What the values of a setting look like.
pub(super) fn kind(name: &str) -> Kind {
    let found = searchable().into_iter().find(|setting| setting.name == name);
    found.expect("a setting of mnmf").kind
}

fn unknown(name: &str) -> Error {
    let listed = |names: Vec<&str>| names.join(", ").replace('_', "-");
    let others =
        searchable().iter().map(|setting| setting.name).filter(|name| !USUAL.contains(name)).collect();
    Error::config(format!(
        "{} {}: there is no such setting of mnmf; use {}, or one of these with values, as in max-iter=50,200: {}",
        option("over"),
        name.trim(),
        listed(USUAL.to_vec()),
        listed(others)
    ))
}

/// The values that a text stands for: one, or those of a range.
fn items(setting: &Setting, text: &str) -> Result<Vec<Item>> {
    let refuse = |expected: &str| {
        let name = setting.name.replace('_', "-");
        Err(Error::config(format!("{} {name}={text}: expected {expected}", option("over"))))
    };
    if setting.name == "consensus_stages"
        && let Some(percent) = text.strip_suffix('%')
    {
        return match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(vec![Item::Share(percent / 100.0)]),
            _ => refuse("a share of the stages from 0% to 100%"),
        };
    }
    if let (Kind::Whole, Some((from, to))) = (setting.kind, text.split_once("..")) {
        return match (from.parse::<u64>(), to.parse::<u64>()) {
            (Ok(from), Ok(to)) if 0 < from && from <= to => {
                let doubled = std::iter::successors(Some(from), |at| at.checked_mul(2).filter(|at| *at < to));
                let mut values: Vec<u64> = doubled.chain([to]).collect();
                values.dedup();
                Ok(values.into_iter().map(|value| Item::Value(value.into())).collect())
            }
            _ => refuse("a range of whole numbers such as 2..64"),
        };
    }
    let value = setting.kind.from_text(text);
    match Mnmf::default().set(setting.name, &value) {
        Ok(_) => Ok(vec![Item::Value(value)]),
        Err(_) => refuse(&setting.expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Vec<String> {
        let of = |over: Over| {
            let values = over.values.map(|values| values.iter().map(ToString::to_string).collect::<Vec<_>>());
            format!("{} {}", over.setting, values.map_or_else(|| "usual".into(), |values| values.join(" ")))
        };
        Over::parse(texts).unwrap().into_iter().map(of).collect()
    }

    #[test]
    fn names_values_ranges_and_shares() {
        assert_eq!(words(&["stages,consensus-stages"]), ["stages usual", "consensus_stages usual"]);
        assert_eq!(
            words(&["stages=2..64,consensus_stages=0%,50%,8", "window=3,5,10,joint"]),
            ["stages 2 4 8 16 32 64", "consensus_stages 0% 50% 8", "window 3 5 10", "joint usual"]
        );
        assert_eq!(words(&["stages=3..20", "stages=5"]), ["stages 5"], "the last one counts");
        assert_eq!(words(&["stages=3..20"]), ["stages 3 6 12 20"]);
        assert_eq!(words(&["solver", "tol=0.001, 0.0001"]), ["solver usual", "tol 0.001 0.0001"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let told = |text: &str| Over::parse(&[text]).unwrap_err().to_string();
        assert!(
            told("stagse")
                .starts_with("over stagse: there is no such setting of mnmf; use stages, consensus-stages")
        );
        assert!(told("stage-dims=4").contains("no such setting"));
        assert!(
            told("stages=2,x").starts_with("over stages=x: expected a whole number"),
            "{}",
            told("stages=2,x")
        );
        assert!(told("stages=64..2").contains("such as 2..64"));
        assert!(told("consensus-stages=120%").contains("from 0% to 100%"));
        assert!(told("max-iter").contains("no usual values; give some, such as max-iter=1,2,3"));
        assert!(told("gamma=-1").contains("expected a number above 0"), "{}", told("gamma=-1"));
        assert!(told("joint=maybe").contains("expected one of"));
        assert!(told("stages=").contains("stages=: expected"), "{}", told("stages="));
    }
}

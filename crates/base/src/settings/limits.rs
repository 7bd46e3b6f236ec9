//! What a setting says about itself besides its type.

use super::SettingValue;

/// Limits and other details of a setting. Each method adds one detail.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Details {
    /// The smallest value.
    pub at_least: Option<f64>,
    /// Values must be larger.
    pub above: Option<f64>,
    /// The largest value.
    pub at_most: Option<f64>,
    /// Values must be smaller.
    pub below: Option<f64>,
    /// What happens when an optional setting is not given.
    pub absent: Option<&'static str>,
    /// Advice that is shown when a value is refused.
    pub hint: Option<&'static str>,
    /// An older name that is still accepted.
    pub alias: Option<&'static str>,
    /// Whether few people need it.
    pub rare: bool,
}

impl Details {
    /// The smallest value.
    pub fn at_least(self, limit: f64) -> Self {
        Details { at_least: Some(limit), ..self }
    }

    /// Values must be larger.
    pub fn above(self, limit: f64) -> Self {
        Details { above: Some(limit), ..self }
    }

    /// The largest value.
    pub fn at_most(self, limit: f64) -> Self {
        Details { at_most: Some(limit), ..self }
    }

    /// Values must be smaller.
    pub fn below(self, limit: f64) -> Self {
        Details { below: Some(limit), ..self }
    }

    /// What happens when an optional setting is not given.
    pub fn absent(self, words: &'static str) -> Self {
        Details { absent: Some(words), ..self }
    }

    /// Advice that is shown when a value is refused.
    pub fn hint(self, words: &'static str) -> Self {
        Details { hint: Some(words), ..self }
    }

    /// An older name that is still accepted.
    pub fn alias(self, name: &'static str) -> Self {
        Details { alias: Some(name), ..self }
    }

    /// Marks a setting that few people need.
    pub fn rare(self) -> Self {
        Details { rare: true, ..self }
    }

    /// Whether all numbers of a value are within the limits. NaN and infinities never are.
    pub(super) fn allow<T: SettingValue>(&self, value: &T) -> bool {
        value.numbers().into_iter().all(|x| {
            x.is_finite()
                && self.at_least.is_none_or(|limit| x >= limit)
                && self.above.is_none_or(|limit| x > limit)
                && self.at_most.is_none_or(|limit| x <= limit)
                && self.below.is_none_or(|limit| x < limit)
        })
    }

    /// The limits in words, to be put behind a noun: " of at least 1".
    pub(super) fn in_words(&self) -> String {
        let from = match (self.at_least, self.above) {
            (Some(limit), _) => Some((true, limit)),
            (None, above) => above.map(|limit| (false, limit)),
        };
        let to = match (self.at_most, self.below) {
            (Some(limit), _) => Some((true, limit)),
            (None, below) => below.map(|limit| (false, limit)),
        };
        match (from, to) {
            (Some((true, from)), Some((true, to))) => format!(" from {from} to {to}"),
            (Some((true, from)), Some((false, to))) => format!(" of at least {from} and below {to}"),
            (Some((true, from)), None) => format!(" of at least {from}"),
            (Some((false, from)), Some((true, to))) => format!(" above {from} and at most {to}"),
            (Some((false, from)), Some((false, to))) => format!(" between {from} and {to}, exclusive"),
            (Some((false, from)), None) => format!(" above {from}"),
            (None, Some((true, to))) => format!(" of at most {to}"),
            (None, Some((false, to))) => format!(" below {to}"),
            (None, None) => String::new(),
        }
    }
}

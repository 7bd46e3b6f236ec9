//! Weights as text.

use super::Decimal;
use super::fields::is_grouped;
use crate::network::lossy;
use manyview_base::message::{option_value, switch};

/// Parses a finite number of at least 0.
#[inline]
pub(super) fn parse_weight(field: &[u8], decimal: Decimal) -> Option<f64> {
    // Counts are the most frequent weights, and exact below 10^15.
    if field.len() <= 15 && !field.is_empty() && field.iter().all(u8::is_ascii_digit) {
        return Some(field.iter().fold(0u64, |sum, digit| 10 * sum + u64::from(digit - b'0')) as f64);
    }
    let text = std::str::from_utf8(field).ok()?;
    let weight: f64 = match decimal {
        Decimal::Point => text.parse().ok()?,
        Decimal::Comma => with_point(text)?.parse().ok()?,
    };
    (0.0..f64::INFINITY).contains(&weight).then_some(weight)
}

/// Returns a number with a decimal comma in the notation with a point. Points are allowed where they separate thousands.
fn with_point(text: &str) -> Option<String> {
    let whole = text.split_once(',').map_or(text, |(whole, _)| whole);
    let plain =
        if whole.contains('.') { is_grouped(text).then(|| text.replace('.', ""))? } else { text.to_owned() };
    Some(plain.replacen(',', ".", 1))
}

/// Says why a field is no weight. `positional` is the number of its column in a table without header.
pub(super) fn bad_weight(field: &[u8], decimal: Decimal, positional: Option<usize>) -> String {
    let (text, unweighted) = (lossy(field), switch("unweighted"));
    let number = text.parse::<f64>();
    let (point, comma) = (option_value("decimal", "point"), option_value("decimal", "comma"));
    match (number, decimal) {
        _ if field.is_empty() => {
            format!(
                "the weight is empty; expected a number (use {unweighted} to ignore weights, or {} to leave out such lines)",
                option_value("on_error", "skip")
            )
        }
        (Ok(weight), _) if weight < 0.0 && weight.is_finite() => {
            format!("weight {text:?} is negative; weights must be at least 0")
        }
        (Ok(weight), _) if !weight.is_finite() => {
            format!("weight {text:?} is not finite; weights must be finite numbers of at least 0")
        }
        (Ok(_), Decimal::Comma) => {
            format!(
                "weight {text:?} has a decimal point; expected a comma (use {point} if all weights have points)"
            )
        }
        _ if text.replacen(',', ".", 1).parse::<f64>().is_ok() && is_grouped(&text) => format!(
            "weight {text:?} is not a number: remove the thousands separators, or use {comma} if the comma is a decimal comma"
        ),
        _ if with_point(&text).is_some_and(|text| text.parse::<f64>().is_ok()) => {
            format!("weight {text:?} is not a number: use {comma} for decimal commas")
        }
        _ if is_grouped(&text) => format!("weight {text:?} is not a number: remove the thousands separators"),
        _ => match positional {
            None => format!("weight {text:?} is not a number (use {unweighted} to ignore weights)"),
            Some(column) => format!(
                "weight {text:?} is not a number (use {unweighted} to ignore weights, or {} to split the table by \
                 this column)",
                option_value("relation", column)
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> Option<f64> {
        parse_weight(text.as_bytes(), Decimal::Point)
    }

    fn comma(text: &str) -> Option<f64> {
        parse_weight(text.as_bytes(), Decimal::Comma)
    }

    #[test]
    fn weights_are_finite_numbers_of_at_least_zero() {
        for (text, weight) in
            [("1", 1.0), ("0.5", 0.5), ("1e-3", 1e-3), ("007", 7.0), ("+2", 2.0), ("-0", -0.0)]
        {
            assert_eq!(point(text), Some(weight), "{text}");
        }
        assert_eq!(point("999999999999999"), Some(999_999_999_999_999.0));
        assert_eq!(point("9007199254740993"), Some(9_007_199_254_740_992.0));
        for text in ["", "x", "0,5", "-1", "nan", "inf", "1e999", "1 2", "\u{661}"] {
            assert_eq!(point(text), None, "{text}");
            assert!(text == "0,5" || comma(text).is_none(), "{text}");
        }
    }

    #[test]
    fn decimal_commas_are_read_when_asked_for() {
        for (text, weight) in
            [("0,5", 0.5), ("7", 7.0), ("1.234,5", 1234.5), ("1.234.567", 1_234_567.0), ("1,5e3", 1500.0)]
        {
            assert_eq!(comma(text), Some(weight), "{text}");
        }
        for text in ["0.5", "1,234,5", "1.23,5", "-0,5", "0.123"] {
            assert_eq!(comma(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_weight_gets_a_reason() {
        for (text, decimal, words) in [
            ("0,5", Decimal::Point, "is not a number: use decimal = comma for decimal commas"),
            ("1.234,5", Decimal::Point, "is not a number: use decimal = comma for decimal commas"),
            (
                "1,234",
                Decimal::Point,
                "remove the thousands separators, or use decimal = comma if the comma is a decimal comma",
            ),
            ("1,234,567", Decimal::Point, "is not a number: remove the thousands separators"),
            ("1,234.5", Decimal::Point, "is not a number: remove the thousands separators"),
            ("1'234", Decimal::Point, "is not a number: remove the thousands separators"),
            (
                "0.5",
                Decimal::Comma,
                "has a decimal point; expected a comma (use decimal = point if all weights have points)",
            ),
            ("-0,5", Decimal::Comma, "is not a number"),
        ] {
            let message =
                manyview_base::message::Message::from(bad_weight(text.as_bytes(), decimal, None)).to_string();
            assert!(
                message.starts_with(&format!("weight {text:?} ")) && message.contains(words),
                "{message}"
            );
        }
    }
}

//! What the fields of a column look like: numbers, dates or text.

/// What a field looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing, or a word for a missing value.
    Missing,
    /// A whole number, also one such as `7.0`.
    Whole,
    /// Another number, also one with a decimal comma or thousands separators.
    Number,
    /// A date or a time.
    Date,
    Text,
}

const MISSING: [&str; 8] = ["", "na", "n/a", "nan", "null", "none", "<na>", "-"];

impl Kind {
    pub(super) fn of(field: &str) -> Kind {
        let field = field.trim();
        if MISSING.iter().any(|word| field.eq_ignore_ascii_case(word)) {
            return Kind::Missing;
        }
        match field.parse::<f64>() {
            // Not inf and infinity, which may be names.
            Ok(number) if field.contains(|c: char| c.is_ascii_digit()) => {
                if number.fract() == 0.0 {
                    Kind::Whole
                } else {
                    Kind::Number
                }
            }
            _ if is_date(field) => Kind::Date,
            _ if is_grouped(field)
                || field.replacen(',', ".", 1).parse::<f64>().is_ok_and(f64::is_finite) =>
            {
                Kind::Number
            }
            _ => Kind::Text,
        }
    }

    /// What all fields of a column look like that are not missing.
    pub(super) fn of_column<'a>(fields: impl Iterator<Item = &'a str>) -> Kind {
        let mut found = Kind::Missing;
        for field in fields {
            found = match (found, Kind::of(field)) {
                (kind, Kind::Missing) | (Kind::Missing, kind) => kind,
                (Kind::Whole | Kind::Number, Kind::Number) | (Kind::Number, Kind::Whole) => Kind::Number,
                (one, other) if one == other => one,
                _ => return Kind::Text,
            };
        }
        found
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Kind::Whole | Kind::Number)
    }
}

/// Returns whether a text is a date such as `2024-01-31`, `31.1.2024` or `1/31/2024`, with or without a time, or a time.
fn is_date(text: &str) -> bool {
    let (day, time) = text.split_once(['T', ' ']).map_or((text, None), |(day, time)| (day, Some(time)));
    if time.is_some_and(|time| !time.trim().starts_with(|c: char| c.is_ascii_digit()) || !time.contains(':'))
    {
        return false;
    }
    let digits = |part: &str, lengths: &[usize]| {
        lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_day = |separator: char| {
        let parts: Vec<&str> = day.split(separator).collect();
        let [first, second, third] = parts[..] else { return false };
        digits(second, &[1, 2])
            && (digits(first, &[4]) && digits(third, &[1, 2])
                || digits(first, &[1, 2]) && digits(third, &[4]))
    };
    let is_time = || {
        let parts: Vec<&str> = day.split(':').collect();
        (2..=3).contains(&parts.len()) && time.is_none() && parts.iter().all(|part| digits(part, &[2]))
    };
    ['-', '/', '.'].into_iter().any(is_day) || is_time()
}

/// Returns whether a text is a number with thousands separators: `1,234`, `1,234.5`, `1.234,5`, `1'234`.
pub(super) fn is_grouped(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    [',', '.', '\'', ' ', '\u{a0}', '_'].into_iter().any(|separator| {
        let point = if separator == '.' { ',' } else { '.' };
        let (whole, fraction) = text.split_once(point).unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let mut groups = whole.split(separator);
        let first = groups.next().unwrap_or_default();
        let rest: Vec<&str> = groups.collect();
        digits(fraction)
            && (1..=3).contains(&first.len())
            && digits(first)
            && !first.starts_with('0')
            && !rest.is_empty()
            && rest.iter().all(|group| group.len() == 3 && digits(group))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart() {
        for (kind, fields) in [
            (Kind::Missing, &["", " ", "NaN", "NULL", "n/a", "None"][..]),
            (Kind::Whole, &["0", "-3", "007", "7.0", "20240131", "1e3"]),
            (Kind::Number, &["0.5", "-.5", "1,5", "1,234", "1,234.5", "1.234,5", "1'234'567"]),
            (
                Kind::Date,
                &[
                    "2024-01-31",
                    "31.1.2024",
                    "1/31/2024",
                    "2024-01-31T12:30:00Z",
                    "2024-01-31 12:30",
                    "12:30",
                ],
            ),
            (Kind::Text, &["ann", "inf", "10.0.0.1", "1-2", "2024-01", "a,b", "1 2", "v1.5", "2024-01-31 x"]),
        ] {
            for field in fields {
                assert_eq!(Kind::of(field), kind, "{field}");
            }
        }
    }

    #[test]
    fn a_column_is_what_all_of_its_fields_are() {
        for (fields, kind) in [
            (&["1", "", "2"][..], Kind::Whole),
            (&["1", "0.5", "nan"], Kind::Number),
            (&["1", "x"], Kind::Text),
            (&["2024-01-31", "2024-02-01"], Kind::Date),
            (&["2024-01-31", "5"], Kind::Text),
            (&["", "na"], Kind::Missing),
            (&[], Kind::Missing),
        ] {
            assert_eq!(Kind::of_column(fields.iter().copied()), kind, "{fields:?}");
        }
    }
}

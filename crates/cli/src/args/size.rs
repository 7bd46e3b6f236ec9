//! Parses sizes of memory.

/// Parses `8G`, `500M`, `1.5 GB`, `2GiB`: powers of 1,000, or of 1,024 with an `i`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let typed = text.trim();
    let at = typed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(typed.len());
    let (number, unit) = (&typed[..at], typed[at..].trim().to_ascii_lowercase());
    let hint = "expected a number and a unit, such as 8G, 500M or 2GiB";
    let number: f64 = number.parse().map_err(|_| hint.to_owned())?;
    let factor: f64 = match unit.as_str() {
        "" => return Err(format!("the unit is missing; use {typed}G or {typed}M")),
        "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        _ => return Err(hint.to_owned()),
    };
    let bytes = number * factor;
    if bytes >= 1.0 { Ok(bytes as u64) } else { Err(format!("the size must be at least 1 byte; {hint}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1000_or_1024() {
        let good = [
            ("8G", 8_000_000_000),
            ("500m", 500_000_000),
            ("1.5 GB", 1_500_000_000),
            ("2KiB", 2048),
            ("7B", 7),
        ];
        for (text, bytes) in good {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn invalid_sizes_are_rejected_with_an_example() {
        for text in ["", "G", "much", "-1G", "1..5G", "8X", "0G", "nan"] {
            assert!(size(text).unwrap_err().contains("such as 8G"), "{text}");
        }
        assert_eq!(size("8").unwrap_err(), "the unit is missing; use 8G or 8M");
    }
}

//! Formatting of numbers.

/// `12,345`.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An estimate, rounded to three digits: `12,300,000`.
pub(crate) fn about(number: f64) -> String {
    let scale = 10f64.powi((number.max(1.0).log10().floor() as i32 - 2).max(0));
    thousands(((number / scale).round() * scale) as usize)
}

/// `1 view`, `1,200 nodes`.
pub(crate) fn plural(number: usize, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {word}{ending}", thousands(number))
}

/// `0.42 s`, `12.3 s`, `4:05 min`, `2:03:04 h`.
pub(crate) fn seconds(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match seconds {
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 99.95 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{}:{:02} min", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// `512 KB`, `1.5 GB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "bytes");
    for larger in ["KB", "MB", "GB", "TB"] {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if value < 10.0 && unit != "bytes" { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 7.2, 1234.0, 12_345_678.0].map(about), ["0", "7", "1,230", "12,300,000"]);
        assert_eq!([plural(1, "node"), plural(2000, "node")], ["1 node", "2,000 nodes"]);
        assert_eq!(
            [0.042, 9.999, 75.0, 245.2, 7384.0].map(seconds),
            ["0.04 s", "10.0 s", "75.0 s", "4:05 min", "2:03:04 h"]
        );
        assert_eq!([7, 1500, 23_000_000_000].map(bytes), ["7 bytes", "1.5 KB", "23 GB"]);
    }
}

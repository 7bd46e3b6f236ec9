//! Powers of two that keep sums of extreme numbers finite.
//!
//! Where only the ratios of numbers matter, they may all be multiplied by the same power of two: that keeps every digit,
//! and so every bit of what follows from the ratios.

/// Numbers with a largest exponent up to this one, in either direction, can be added, a billion of them and more, and
/// divided by each other without overflow.
const ORDINARY: i32 = 400;

/// Returns the power of two by which numbers above zero are to be multiplied before they are added: 1 for ordinary numbers,
/// otherwise the one that brings the largest near 1.
pub fn safe_scale(numbers: &[f64]) -> f64 {
    let largest = numbers.iter().copied().fold(0.0, f64::max);
    let exponent = exponent(largest);
    if exponent.abs() <= ORDINARY || largest == 0.0 {
        return 1.0;
    }
    // 2^1023 is the largest power; the largest of the numbers may be a subnormal one, whose exponent is below -1023.
    libm::scalbn(1.0, (-exponent).min(1023))
}

fn exponent(number: f64) -> i32 {
    libm::frexp(number).1 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_numbers_stay_and_extreme_ones_come_near_one() {
        for largest in [0.0, 1.0, 1e120, 1e-120] {
            assert_eq!(safe_scale(&[largest, 0.0, largest / 3.0]), 1.0);
        }
        for largest in [3e307, f64::MAX, 1e121, 1e-121, f64::MIN_POSITIVE] {
            let scaled = largest * safe_scale(&[largest / 7.0, largest]);
            assert!((1.0..2.0).contains(&scaled), "{largest}: {scaled}");
        }
        let tiny = 5e-324;
        assert_eq!(tiny * safe_scale(&[tiny]), 2f64.powi(-51));
    }

    #[test]
    fn no_digit_is_lost() {
        for number in [1.1e307, 1.1e-300] {
            let scale = safe_scale(&[number]);
            assert_eq!(number * scale / scale, number);
        }
    }
}

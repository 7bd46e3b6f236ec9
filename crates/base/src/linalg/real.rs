//! The number types of matrices: f32 for production, f64 to verify the results.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Numbers of one of the two types, for code that must name the type, such as MPI messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slice<'a> {
    /// The type for production.
    F32(&'a [f32]),
    /// The type for verification.
    F64(&'a [f64]),
}

/// Mutable numbers of one of the two types.
#[derive(Debug, PartialEq)]
pub enum SliceMut<'a> {
    /// The type for production.
    F32(&'a mut [f32]),
    /// The type for verification.
    F64(&'a mut [f64]),
}

/// A floating-point type for matrices: `f32` or `f64`.
pub trait Real:
    sealed::Sealed
    + Copy
    + Default
    + Debug
    + PartialOrd
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + MulAssign
    + Div<Output = Self>
    + 'static
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// Rounds to the nearest number of this type.
    fn from_f64(x: f64) -> Self;

    /// Converts without loss.
    fn to_f64(self) -> f64;

    /// Returns the natural logarithm, computed by `libm` and not by the library of the system, whose last bits differ
    /// between machines.
    fn ln(self) -> Self;

    /// Returns the square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// Returns the exponential, computed without the library of the system, like the logarithm. In `f32` it is within
    /// two units in the last place from -87 to 88, constant beyond, and free of branches, so that loops over it are
    /// vectorized.
    fn exp(self) -> Self;

    /// Returns these numbers with their type.
    fn slice(numbers: &[Self]) -> Slice<'_>;

    /// Returns these mutable numbers with their type.
    fn slice_mut(numbers: &mut [Self]) -> SliceMut<'_>;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }

    #[inline]
    fn ln(self) -> Self {
        libm::logf(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn exp(self) -> Self {
        // exp(x) = 2^k exp(r) with an integer k and |r| <= ln(2) / 2, where the series needs seven terms. Adding 1.5
        // x 2^23 rounds to an integer, which is then in the lowest bits.
        const ROUNDER: f32 = 12_582_912.0;
        const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
        let x = self.clamp(-87.0, 88.0);
        let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
        let whole = shifted - ROUNDER;
        let r = x - whole * LN_2[0] - whole * LN_2[1];
        let tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)));
        let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * tail)));
        let exponent = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127);
        series * f32::from_bits(exponent << 23)
    }

    fn slice(numbers: &[Self]) -> Slice<'_> {
        Slice::F32(numbers)
    }

    fn slice_mut(numbers: &mut [Self]) -> SliceMut<'_> {
        SliceMut::F32(numbers)
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline]
    fn ln(self) -> Self {
        libm::log(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline]
    fn exp(self) -> Self {
        libm::exp(self)
    }

    fn slice(numbers: &[Self]) -> Slice<'_> {
        Slice::F64(numbers)
    }

    fn slice_mut(numbers: &mut [Self]) -> SliceMut<'_> {
        SliceMut::F64(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_exponential_is_the_long_one() {
        for step in -8_699..8_800 {
            let x = step as f32 / 100.0;
            let (short, long) = (f64::from(Real::exp(x)), libm::exp(f64::from(x)));
            assert!((short / long - 1.0).abs() < 2.4e-7, "exp({x}) = {short}, not {long}");
        }
        assert_eq!(Real::exp(0.0f32), 1.0);
        assert!(Real::exp(f32::INFINITY).is_finite() && Real::exp(f32::NEG_INFINITY) > 0.0);
    }
}

//! The two kinds of number a matrix may hold: f32 is what runs, f64 is what proves the numbers.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Numbers of one of the two kinds, for code that must name the kind: a message over MPI does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slice<'a> {
    /// The kind that runs.
    F32(&'a [f32]),
    /// The kind that proves the numbers.
    F64(&'a [f64]),
}

/// The same, to be written to.
#[derive(Debug, PartialEq)]
pub enum SliceMut<'a> {
    /// The kind that runs.
    F32(&'a mut [f32]),
    /// The kind that proves the numbers.
    F64(&'a mut [f64]),
}

/// A floating-point number that matrices can hold: `f32` or `f64`.
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

    /// The nearest number of this type.
    fn from_f64(x: f64) -> Self;

    /// The same number, exactly.
    fn to_f64(self) -> f64;

    /// Natural logarithm, with the same bits on every machine (the system's library would not promise that).
    fn ln(self) -> Self;

    /// These numbers, with their kind known.
    fn slice(numbers: &[Self]) -> Slice<'_>;

    /// These numbers, with their kind known, to be written to.
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

    fn slice(numbers: &[Self]) -> Slice<'_> {
        Slice::F64(numbers)
    }

    fn slice_mut(numbers: &mut [Self]) -> SliceMut<'_> {
        SliceMut::F64(numbers)
    }
}

//! Buffers that begin at a cache line.
//!
//! A row of 16 floats fills a cache line. If rows straddle two lines, each load and store of the kernels counts
//! twice, and a pass takes a third longer.
//!
//! Invariant: the numbers begin at a multiple of [`LINE`] bytes wherever the allocator places the vector. The vector
//! is longer than requested by the numbers of one line.

use std::ops::{Deref, DerefMut};

use super::Real;
use crate::memory::{with_capacity, zeros};

/// The size of a cache line in bytes, and of the widest vector register.
const LINE: usize = 64;

/// A heap-allocated slice of fixed length. An aligned allocation would need `unsafe`; this one is slightly too long
/// instead.
#[derive(Debug)]
pub struct Aligned<T> {
    data: Vec<T>,
    first: usize,
    len: usize,
}

/// Returns the number of extra elements in the vector.
const fn spare<T>() -> usize {
    LINE / size_of::<T>()
}

/// Returns the number of elements before the first line. By its contract, `align_offset` may give no answer. Then
/// rows straddle lines, and nothing else changes.
fn before_line<T>(start: *const T) -> usize {
    let before = start.align_offset(LINE);
    if before <= spare::<T>() { before } else { 0 }
}

impl<T: Real> Aligned<T> {
    /// Creates a buffer of zeros.
    pub fn zeros(len: usize) -> Self {
        // Not grown from an empty vector, because the system provides zeroed memory at no cost.
        let data = zeros(len + spare::<T>());
        Aligned { first: before_line(data.as_ptr()), data, len }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.data[self.first..][..self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data[self.first..][..self.len]
    }
}

/// The copy has another address, so its first line has another offset.
impl<T: Clone> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut data = with_capacity(self.len + spare::<T>());
        let first = before_line(data.as_ptr());
        data.extend_from_slice(&self.data[..first]);
        data.extend_from_slice(self);
        data.extend_from_slice(&self.data[..spare::<T>() - first]);
        Aligned { data, first, len: self.len }
    }
}

impl<T: PartialEq> PartialEq for Aligned<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins_at_a_line<T: Real>(numbers: &Aligned<T>) -> bool {
        (numbers.as_ptr() as usize).is_multiple_of(LINE)
    }

    #[test]
    fn numbers_begin_at_a_line_also_when_copied() {
        for len in [0, 1, 16, 1000, 1_000_000] {
            let (single, double) = (Aligned::<f32>::zeros(len), Aligned::<f64>::zeros(len));
            assert!(begins_at_a_line(&single) && begins_at_a_line(&double));
            assert_eq!((single.len(), double.len()), (len, len));
            assert!(begins_at_a_line(&single.clone()) && begins_at_a_line(&double.clone()));
        }
    }

    #[test]
    fn copies_are_equal_until_changed() {
        let mut numbers = Aligned::<f32>::zeros(5);
        numbers[4] = 2.0;
        let mut copy = numbers.clone();
        assert_eq!(copy, numbers);
        copy[0] = 1.0;
        assert_ne!(copy, numbers);
    }
}

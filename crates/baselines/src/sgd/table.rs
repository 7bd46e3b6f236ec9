//! Vectors, one row per item, in the layout of [`Parts`].
//!
//! Invariant: rows are padded with zeros to a multiple of [`LANES`] and are aligned to cache lines. Padding stays zero,
//! because updates add multiples of other rows.

use super::Parts;
use manyview_base::linalg::Aligned;
use manyview_base::random::{Key, unit_f64};

/// Numbers processed together: a cache line, and one vector of AVX-512.
pub(super) const LANES: usize = 16;

/// The rows of a part; `None` while a task works on them.
pub(super) type PartRows<'a> = Option<&'a mut [f32]>;

/// The vectors of items.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    dim: usize,
    stride: usize,
    parts: Parts,
    data: Aligned<f32>,
}

impl Table {
    /// A table of zeros.
    pub(crate) fn zeros(parts: Parts, dim: usize) -> Self {
        let stride = dim.next_multiple_of(LANES);
        Table { dim, stride, data: Aligned::zeros(parts.positions() * stride), parts }
    }

    /// Uniform between -1/2 and 1/2, divided by the dimension. The values of an item do not depend on the parts.
    pub(crate) fn random(parts: Parts, dim: usize, key: Key) -> Self {
        let mut table = Self::zeros(parts, dim);
        for item in 0..table.parts.items() {
            let fill = |(column, x): (usize, &mut f32)| {
                *x = ((unit_f64(key.at(item, column)) - 0.5) / dim as f64) as f32;
            };
            table.row_mut(item).iter_mut().enumerate().for_each(fill);
        }
        table
    }

    /// The length of a row without padding.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// The length of a row with padding.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The vector of an item.
    pub(crate) fn row(&self, item: usize) -> &[f32] {
        &self.data[self.parts.position(item) * self.stride..][..self.dim]
    }

    /// The vector of an item, mutable.
    pub(crate) fn row_mut(&mut self, item: usize) -> &mut [f32] {
        &mut self.data[self.parts.position(item) * self.stride..][..self.dim]
    }

    /// All rows in the order of positions, with padding.
    pub(crate) fn padded_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// The parts, and the rows of each with padding.
    pub(super) fn by_part(&mut self) -> (&Parts, Vec<PartRows<'_>>) {
        let length = self.parts.length() * self.stride;
        (&self.parts, self.data.chunks_exact_mut(length).map(Some).collect())
    }

    /// All vectors in the order of items, without padding; zeros for items for which `keep` is false.
    pub(crate) fn to_vec(&self, keep: impl Fn(usize) -> bool) -> Vec<f32> {
        let mut vectors = manyview_base::memory::zeros(self.parts.items() * self.dim);
        for (item, vector) in vectors.chunks_exact_mut(self.dim).enumerate() {
            if keep(item) {
                vector.copy_from_slice(self.row(item));
            }
        }
        vectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_for_any_parts() {
        let weights: Vec<f64> = (0..50).map(|item| f64::from(item % 7)).collect();
        let whole = Table::random(Parts::one(50), 5, Key::new(1));
        let cut = Table::random(Parts::balanced(&weights, 4), 5, Key::new(1));
        assert_eq!(whole.to_vec(|_| true), cut.to_vec(|_| true));
        assert!(whole.to_vec(|_| true).iter().all(|x| x.abs() <= 0.1));
        let some = cut.to_vec(|item| item == 3);
        assert_eq!(&some[15..20], whole.row(3));
        assert!(some[..15].iter().chain(&some[20..]).all(|&x| x == 0.0));
    }
}

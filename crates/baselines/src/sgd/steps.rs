//! The steps of an input with outputs of one part: which rows are processed together, and the source of negatives.

use super::{Noise, Target, update};
use manyview_base::random::{Key, Stream, unit_f64};
use manyview_base::sampling::Alias;

/// Maximum number of draws of a negative that must not be the positive, since there may be no other item.
const MOST_DRAWS: usize = 16;

/// The treatment of a negative that equals the positive of its pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    /// Omitted, as in word2vec.
    Skip,
    /// Drawn again.
    Redraw,
    /// Used like any other negative, as in LINE.
    Keep,
}

/// The distribution of negatives, their number per pair, and the treatment of clashes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negatives<'a> {
    pub(crate) noise: &'a Noise,
    pub(crate) count: usize,
    pub(crate) clash: Clash,
}

/// The rows that a bucket works on.
pub(super) enum Rows<'a> {
    /// Separate inputs and outputs.
    Apart(&'a mut [f32], &'a mut [f32]),
    /// Inputs and outputs are the same part of one table.
    Same(&'a mut [f32]),
}

impl Rows<'_> {
    #[inline(always)]
    pub(super) fn inputs(&mut self) -> &mut [f32] {
        match self {
            Rows::Apart(inputs, _) => inputs,
            Rows::Same(rows) => rows,
        }
    }

    #[inline(always)]
    pub(super) fn outputs(&mut self) -> &mut [f32] {
        match self {
            Rows::Apart(_, outputs) => outputs,
            Rows::Same(rows) => rows,
        }
    }

    /// The output that must not be changed while an input is processed.
    #[inline(always)]
    pub(super) fn own(&self, input: usize) -> Option<u32> {
        match self {
            Rows::Apart(..) => None,
            Rows::Same(_) => Some(input as u32),
        }
    }
}

/// Steps of inputs with outputs of one part.
pub(super) struct Steps<'a> {
    pub(super) each: usize,
    clash: Clash,
    places: Option<&'a Alias>,
    /// The probability that a draw from this part represents one that a pair made from all parts.
    share: f64,
    stream: Stream,
    pub(super) x: Vec<f32>,
    pub(super) error: Vec<f32>,
    targets: Vec<Target>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(stride: usize, negatives: Negatives<'a>, part: usize, key: Key) -> Self {
        let Negatives { noise, count, clash } = negatives;
        Steps {
            each: count,
            clash,
            places: noise.places(part),
            share: noise.share(part),
            stream: Stream::new(key),
            x: vec![0.0; stride],
            error: vec![0.0; stride],
            targets: Vec::with_capacity(count + 1),
        }
    }

    /// Distributes negatives evenly over the pairs of an input; if there are too many, the rest get separate steps.
    #[inline(always)]
    pub(super) fn of_input(
        &mut self,
        outputs: &mut [f32],
        seen: &[u32],
        drawn: usize,
        own: Option<u32>,
        rate: f32,
        mut after: impl FnMut(&mut [f32]),
    ) {
        let groups = seen.len().max(drawn.div_ceil(self.each.max(1)));
        for group in 0..groups {
            let positive = seen.get(group).copied();
            let negatives = drawn / groups + usize::from(group < drawn % groups);
            self.step(outputs, positive, negatives, own, rate);
            if positive.is_some() {
                after(&mut self.x);
            }
        }
    }

    /// One step with `negatives` draws.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        outputs: &mut [f32],
        positive: Option<u32>,
        negatives: usize,
        own: Option<u32>,
        rate: f32,
    ) {
        self.targets.clear();
        if let Some(row) = positive.filter(|_| positive != own) {
            self.targets.push(Target { row, label: 1.0 });
        }
        if let Some(places) = self.places {
            for _ in 0..negatives {
                let row = self.draw(places, positive);
                if let Some(row) = row.filter(|_| row != own) {
                    self.targets.push(Target { row, label: 0.0 });
                }
            }
        }
        update(&mut self.x, outputs, &self.targets, rate, &mut self.error);
    }

    /// Draws a negative; `None` if it is the positive and must not be.
    ///
    /// A draw from this part equals the positive more often than one from all parts would, by the inverse of the part's
    /// share; so only that share of the clashes counts.
    #[inline(always)]
    fn draw(&mut self, places: &Alias, positive: Option<u32>) -> Option<u32> {
        let row = places.draw(&mut self.stream) as u32;
        if positive != Some(row) || self.clash == Clash::Keep {
            return Some(row);
        }
        if self.share < 1.0 && unit_f64(self.stream.next_u64()) >= self.share {
            return Some(row);
        }
        let again = || Some(places.draw(&mut self.stream) as u32);
        let draws = if self.clash == Clash::Redraw { MOST_DRAWS } else { 0 };
        std::iter::repeat_with(again).take(draws).flatten().find(|&row| positive != Some(row))
    }
}

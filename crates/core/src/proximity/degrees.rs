//! The degrees of a view, and the numbers that a walk over it needs.
//!
//! Row i of `vol P^t D^-1` is at most `vol / d_j` in column j, because the rows of `P^t` sum to at most one. So the smallest degree
//! bounds all numbers of a walk, and it is known before the walk whether f32 can represent them. If not, the walk is
//! computed in f64: weights over more than 38 orders of magnitude, or a tiny `negative`. Only the logarithms are kept, and
//! f32 can represent those of all numbers.

use super::{Isolated, Settings};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::{Real, safe_scale};
use manyview_base::message::option_value;
use manyview_data::network::View;

/// How far the threshold is above the smallest number, so that what is lost below that does not change a digit of a sum
/// above the threshold.
const BELOW: f64 = (1u64 << 26) as f64;

/// How far the bound of all numbers is below the largest number, because it is rounded.
const ABOVE: f64 = 4.0;

/// The weighted degrees of the nodes. Extreme weights are scaled, so that sums of them are finite.
pub(super) struct Degrees {
    pub(super) of_nodes: Vec<f64>,
    pub(super) volume: f64,
    /// The power of two that weights are multiplied by.
    pub(super) scale: f64,
    /// The smallest share of an edge in the degree of one of its ends.
    smallest_share: f64,
    /// The volume divided by the smallest degree above zero.
    spread: f64,
}

/// The numbers a walk can be computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// f32 if the result is in f32.
    Usual,
    Double,
}

impl Degrees {
    pub(super) fn of(view: &View) -> Self {
        let adjacency = &view.adjacency;
        let scale = safe_scale(adjacency.values());
        let degree = |row| adjacency.row(row).1.iter().map(|weight| weight * scale).sum();
        let of_nodes: Vec<f64> = (0..adjacency.rows()).map(degree).collect();
        let volume: f64 = of_nodes.iter().sum();
        let mut smallest_share = 1.0f64;
        for row in 0..adjacency.rows() {
            let (cols, weights) = adjacency.row(row);
            for (&col, &weight) in cols.iter().zip(weights) {
                let most = of_nodes[row].max(of_nodes[col as usize]);
                smallest_share = smallest_share.min(weight * scale / most);
            }
        }
        let least = of_nodes.iter().copied().filter(|&degree| degree > 0.0).fold(f64::INFINITY, f64::min);
        Degrees { volume, scale, smallest_share, spread: volume / least, of_nodes }
    }

    /// The weights that enter each node, scaled as the degrees.
    pub(super) fn entering(&self, view: &View) -> Vec<f64> {
        let mut entered = vec![0.0; self.of_nodes.len()];
        let arcs = view.adjacency.indices().iter().zip(view.adjacency.values());
        arcs.for_each(|(&to, weight)| entered[to as usize] += weight * self.scale);
        entered
    }

    /// Whether f32 can represent all numbers of a walk if some degrees change: the volume and the least of them are given, and the
    /// smallest share of a new edge.
    pub(super) fn usual_with(&self, volume: f64, least: f64, share: f64, settings: Settings) -> bool {
        let (of_nodes, scale) = (Vec::new(), self.scale);
        let spread = (self.spread * volume / self.volume).max(volume / least);
        let smallest_share = self.smallest_share.min(share);
        let changed = Degrees { of_nodes, volume, scale, smallest_share, spread };
        changed.fit(settings, f32::MIN_POSITIVE.into(), f32::MAX.into())
    }

    /// The entry of a node without edges, if there is to be one.
    pub(super) fn diagonal_of<T: Real>(&self, node: usize, settings: Settings) -> Option<T> {
        let alone = settings.isolated == Isolated::Loop && self.of_nodes[node] == 0.0;
        alone.then(|| self.diagonal(settings.negative)).filter(|&value| value > T::ZERO)
    }

    /// The entry of an isolated node, `log(vol / b)`: the only one that depends on the unit of the weights.
    fn diagonal<T: Real>(&self, negative: f64) -> T {
        let quotient = T::from_f64(self.volume / self.scale / negative);
        if quotient.to_f64().is_finite() {
            return quotient.ln();
        }
        // The volume itself may be beyond all numbers, its logarithm is not.
        T::from_f64(libm::log(self.volume) - libm::log(self.scale) - libm::log(negative))
    }

    /// Returns the numbers that can represent everything in a walk.
    ///
    /// # Errors
    /// When f64 cannot.
    pub(super) fn precision(&self, view: &View, settings: Settings) -> Result<Precision> {
        if self.fit(settings, f32::MIN_POSITIVE.into(), f32::MAX.into()) {
            return Ok(Precision::Usual);
        }
        if self.fit(settings, f64::MIN_POSITIVE, f64::MAX) {
            return Ok(Precision::Double);
        }
        let (name, weights) = (&view.name, view.adjacency.values());
        let alone = Settings { negative: 1.0, ..settings };
        if self.fit(alone, f64::MIN_POSITIVE, f64::MAX) {
            // `Debug` writes 1e-39 where `Display` writes 39 digits.
            let given = option_value("negative", format!("{:?}", settings.negative));
            let usual = option_value("negative", 1);
            return Err(Error::config(format!(
                "{given} is out of range for the weights of view {name:?}; use a number nearer to the usual {usual}"
            )));
        }
        let smallest = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let most = f64::MAX / ABOVE / settings.window as f64;
        Err(Error::network(format!(
            "view {name:?}: its weights, from {smallest:e} to {largest:e}, differ too much: the sum of all weights is {:.1e} \
             times the smallest sum of the weights of one node, and {most:.1e} times is the maximum; remove the edges with \
             extreme weights, or use the logarithms of the weights",
            self.spread
        )))
    }

    /// Whether all numbers are between the smallest and the largest that a type can represent with all digits.
    fn fit(&self, settings: Settings, smallest: f64, largest: f64) -> bool {
        let window = settings.window as f64;
        let threshold = settings.negative * window;
        let (least, most) = (smallest * BELOW, largest / ABOVE);
        let highest = self.spread * window;
        self.smallest_share >= smallest
            && (least..=most).contains(&threshold)
            && highest <= most
            && highest / threshold <= most
    }
}

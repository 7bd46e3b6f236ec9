//! Whether more walks would pay, from the walks of some nodes.
//!
//! Walks are enough for a view if both hold:
//!
//! - A further visit is to a pair that was not seen before with a probability of at most [`UNSEEN`]. By Good and Turing, it is the
//!   number of pairs that were visited once, divided by the number of visits.
//! - The relative error of X is at most [`ERROR`].
//!
//! The first is about the pattern of the matrix, where every pair counts; the second about its values, where frequent pairs do.
//!
//! Invariant: the answer follows from the view, the settings and the number of walks, not from the seed of a run: a plan and the
//! run that follows it agree.

use super::counts::Count;
use super::walker::{Visits, Walker};
use super::{Estimator, Noise};
use crate::proximity::Settings;
use crate::proximity::degrees::Degrees;
use manyview_base::random::{Key, text_key};
use manyview_data::network::View;

/// Nodes whose walks are looked at.
const NODES: usize = 1000;

const UNSEEN: f64 = 0.01;
const ERROR: f64 = 0.3;

/// Whether so many walks from each node are enough for a view.
pub(in crate::proximity) fn are_enough(view: &View, settings: Settings, walks: usize) -> bool {
    let degrees = Degrees::of(view);
    let walker = Walker::new(view, &degrees, Key::new(0).with(text_key("pilot")), settings.window);
    // In an undirected view, the walks from other nodes visit the pairs of a node about as often again.
    let walks = if view.directed { walks } else { 2 * walks };
    let estimator = Estimator { view, degrees: &degrees, settings, walks };
    let per_degree = estimator.per_degree();
    let (mut scratch, mut noise, mut visits) = (Visits::default(), Noise::default(), 0.0);
    let with_edges: Vec<usize> =
        (0..view.adjacency.rows()).filter(|&row| !view.adjacency.row(row).0.is_empty()).collect();
    for &node in with_edges.iter().step_by(with_edges.len().div_ceil(NODES).max(1)) {
        walker.visits_of(node, walks, &mut scratch, |col, halves| {
            visits += f64::from(halves[0] + halves[1]);
            let by_chance = per_degree * degrees.of_nodes[col as usize];
            estimator.measure(&Count { row: node, col, halves }, by_chance, &mut noise);
        });
    }
    noise.once <= UNSEEN * visits && noise.relative_error().is_none_or(|error| error <= ERROR)
}

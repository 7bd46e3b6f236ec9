//! The targets, one file each.

mod checkpoint;
mod compare;
mod edges;
mod folder;
mod labels;
mod manifest;
mod model;
mod nodes;
mod npy;
mod packed;
mod result;
mod settings;

use crate::Target;

/// All targets.
pub static TARGETS: &[Target] = &[
    edges::TARGET,
    packed::TARGET,
    folder::TARGET,
    manifest::TARGET,
    labels::TARGET,
    nodes::TARGET,
    npy::TARGET,
    result::TARGET,
    checkpoint::TARGET,
    model::TARGET,
    compare::TARGET,
    settings::TARGET,
];

/// For targets whose seeds are all in the corpus.
fn none_made() -> Vec<Vec<u8>> {
    Vec::new()
}

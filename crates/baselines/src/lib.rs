//! The methods that MNMF is compared with.
//!
//! Internal: it may change in any release. Use the crate `manyview`.
//!
//! Each method has a file with a struct of settings, declared by [`settings!`](manyview_base::settings!), that
//! implements [`Method`](manyview_core::method::Method). The preset `default` is the struct's `Default`. The preset
//! `paper` has the settings of the paper of MNMF, or those of the method's own paper where that one does not give them.
//!
//! DeepWalk, NetMF, BoostNE and NMF-con embed one view at a time. They run on each view and concatenate the results:
//! `dim` columns per view.
//!
//! Invariant: vectors follow from the network, the settings and the seed; not from the number of threads, nor from the
//! order of views in methods that treat all views the same.

mod boostne;
mod deepwalk;
mod edges;
mod grassmann;
mod mase;
mod mashup;
mod metapath2vec;
mod mne;
mod mtne;
mod multinmf;
mod mve;
mod netmf;
mod proximity_matrices;
mod pte;
mod sgd;
mod skipgram;
mod spectra;
#[cfg(test)]
mod tests;
mod tucker;
mod walks;

pub use boostne::{BoostNe, Nmf, NmfCon};
pub use deepwalk::{DeepWalk, walks_of};
pub use grassmann::{Grassmann, RowScale};
pub use mase::{Bases, Mase};
pub use mashup::Mashup;
pub use metapath2vec::{Metapath2Vec, all_paths, usual_paths};
pub use mne::Mne;
pub use mtne::{MtneC, Output};
pub use multinmf::MultiNmf;
pub use mve::{Feature, Loss, Mve, NoiseOf, Pairs};
pub use netmf::{Factor, NetMf, NetMfConcat, NetMfSum, NetMfUnion};
pub use pte::{Pte, Sources};
pub use skipgram::{SkipGram, Softmax};
pub use spectra::{Adjacency, ColumnScale};
pub use tucker::{Smoothing, TuckEr};
pub use walks::DeadEnd;

use std::borrow::Borrow;

use manyview_base::error::Result;
use manyview_base::message::Warning;
use manyview_core::method::{Found, Task, part};
use manyview_core::preset::Preset;
use manyview_data::embedding::{Kind, Part};
use manyview_data::network::View;

/// Returns the settings of a preset, of a method that has only `default` and `paper`.
fn default_or<M: Default>(paper: M, preset: Preset) -> Option<M> {
    match preset {
        Preset::Default => Some(M::default()),
        Preset::Paper => Some(paper),
        _ => None,
    }
}

/// Computes something of each view by `of_view`, with its place and the task of that part of the work.
fn for_each_view<V: Borrow<View>, R>(
    views: &[V],
    task: &mut Task<'_, '_>,
    mut of_view: impl FnMut(usize, &View, &mut Task<'_, '_>) -> Result<R>,
) -> Result<Vec<R>> {
    let count = views.len() as f64;
    let mut found = Vec::with_capacity(views.len());
    for (at, view) in views.iter().map(Borrow::borrow).enumerate() {
        let span = at as f64 / count..(at + 1) as f64 / count;
        found.push(of_view(at, view, &mut task.part(Some(&view.name), span))?);
    }
    Ok(found)
}

/// Runs a method of a single view on every view and concatenates the columns, in the order of the views.
fn each_view(
    task: &mut Task<'_, '_>,
    run_on_view: impl FnMut(usize, &mut Task<'_, '_>) -> Result<Found>,
) -> Result<Found> {
    let views: Vec<&View> = task.network.views().iter().collect();
    each_of(&views, task, run_on_view)
}

/// The same on the given views: those of the network, and possibly their union after them.
fn each_of(
    views: &[&View],
    task: &mut Task<'_, '_>,
    mut run_on_view: impl FnMut(usize, &mut Task<'_, '_>) -> Result<Found>,
) -> Result<Found> {
    let (nodes, count) = (task.network.nodes().len(), views.len() as f64);
    let mut blocks = Vec::with_capacity(views.len());
    let mut found = Found::default();
    for (at, view) in views.iter().enumerate() {
        let span = at as f64 / count..(at + 1) as f64 / count;
        let block = run_on_view(at, &mut task.part(Some(&view.name), span))?;
        let width = block.vectors.len() / nodes;
        let from = found.parts.last().map_or(0, |part| part.columns.end);
        let own = part(Some(&view.name), from..from + width);
        let is_union = at >= task.network.views().len();
        found.parts.push(if is_union { Part { kind: Kind::Joint, view: None, ..own } } else { own });
        let with_view = |warning: Warning| {
            Warning::new(warning.kind, warning.message.prefixed(&format!("view {}: ", view.name)))
        };
        found.warnings.extend(block.warnings.into_iter().map(with_view));
        blocks.push((width, block.vectors));
    }
    let columns = blocks.iter().map(|block| block.0).sum::<usize>();
    found.vectors = vec![0.0; nodes * columns];
    for (part, (width, block)) in found.parts.iter().zip(&blocks) {
        let rows = found.vectors.chunks_exact_mut(columns).zip(block.chunks_exact(*width));
        rows.for_each(|(row, own)| row[part.columns.clone()].copy_from_slice(own));
    }
    Ok(found)
}

//! The proximity matrices of views, for the methods that factorize them.

use std::ops::ControlFlow;

use manyview_base::error::Result;
use manyview_base::linalg::Tiles;
use manyview_core::method::{MemoryLike, Task};
use manyview_core::mnmf::{Joint, Mnmf};
use manyview_core::preset::Preset;
use manyview_core::proximity::{self, Keep, Proximity, Settings, nothing_survives, row_blocks};
use manyview_data::network::View;

use crate::for_each_view;

/// Returns the settings that MNMF has in the preset `paper`.
pub(crate) fn of_paper() -> Settings {
    Mnmf::preset(Preset::Paper).proximity
}

/// Computes `M = log(max(X, 1))` of a view.
pub(crate) fn of_view(settings: Settings, view: &View, task: &mut Task<'_, '_>) -> Result<Tiles<f32>> {
    of_views(settings, &[view], task).map(|mut matrices| matrices.remove(0))
}

fn matrix(proximity: Proximity, view: &View, task: &mut Task<'_, '_>) -> Result<Tiles<f32>> {
    let (nodes, pool) = (view.adjacency.rows(), task.pool);
    let keep = if view.directed { Keep::All } else { Keep::Upper };
    let found = row_blocks::<f32>(view, proximity, 0..nodes, keep, pool, &mut |done| {
        let reported = task.tell("proximity", done as f64 / nodes.max(1) as f64);
        if reported.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let largest = found.largest;
    let matrix = pool.run(|| found.into_tiles(nodes));
    if matrix.entries() == 0 {
        return Err(nothing_survives(view, proximity.settings, largest));
    }
    Ok(matrix)
}

/// Computes the matrices of all views, in the order of the views.
pub(crate) fn of_all_views(settings: Settings, task: &mut Task<'_, '_>) -> Result<Vec<Tiles<f32>>> {
    let views: Vec<&View> = task.network.views().iter().collect();
    of_views(settings, &views, task)
}

/// Computes the matrices of the given views.
pub(crate) fn of_views(
    settings: Settings,
    all: &[&View],
    task: &mut Task<'_, '_>,
) -> Result<Vec<Tiles<f32>>> {
    let proximity = Proximity::decide(settings, all, task.seed, task.pool)?;
    for_each_view(all, task, |_, view, task| matrix(proximity, view, task))
}

/// Returns the union of all views, if a method uses it.
pub(crate) fn union_of_views(joint: Joint, task: &Task<'_, '_>) -> Option<View> {
    if joint == Joint::On { proximity::union_of_views(task.network.views(), task.pool) } else { None }
}

/// Returns the fit of MNMF that takes as much memory as a factorization of these matrices; `each_view` when the method
/// keeps the matrix of one view at a time.
pub(crate) fn memory_like(dim: usize, proximity: Settings, views: usize, each_view: bool) -> MemoryLike {
    // A plan needs a column per view. A method that needs them too refuses fewer itself.
    let (dim, joint) = (dim.max(views), Joint::Off);
    let mnmf = Mnmf { stages: 1, consensus_stages: Some(0), joint, dim, proximity, ..Mnmf::default() };
    MemoryLike { mnmf, each_view }
}

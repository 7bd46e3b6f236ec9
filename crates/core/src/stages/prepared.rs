//! What the stages of a fit start from: the proximity matrix of every view, and of their union.

use std::ops::Range;
use std::time::Instant;

use super::row_split;
use crate::comm::{self, Comm};
use crate::method::{Observer, Progress, SampledRecord, Task, ViewRecord};
use crate::mnmf::{Mnmf, Normalize};
use crate::proximity::{self, How, Keep, Noise, Proximity};
use crate::residual::Residual;
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_data::network::View;

/// Proximity matrices, before the first stage.
pub(crate) struct Prepared {
    /// One per view, and after them that of their union if it takes part: this rank's rows.
    pub(crate) residuals: Vec<Residual<f32>>,
    pub(crate) about: About,
}

/// What is known of proximity matrices besides their values.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// This rank's rows.
    pub(crate) rows: Range<usize>,
    pub(crate) views: Vec<ViewRecord>,
    pub(crate) joint: Option<ViewRecord>,
    /// What each matrix was multiplied by.
    pub(crate) matrix_scales: Vec<f64>,
    /// Entries in the rows of this rank.
    pub(crate) own_entries: usize,
    /// Wall time.
    pub(crate) seconds: f64,
}

impl About {
    /// Whether the matrices are sampled.
    pub(crate) fn is_sampled(&self) -> bool {
        self.views.iter().any(|view| view.sampled.is_some())
    }

    /// The names of what is factorized: the views, and their union after them if it takes part.
    pub(crate) fn names(&self) -> Vec<String> {
        self.views.iter().chain(&self.joint).map(|view| view.name.clone()).collect()
    }
}

impl Prepared {
    /// Computes the matrices that these settings ask for.
    pub(crate) fn new(config: &Mnmf, task: &mut Task<'_, '_>, comm: &dyn Comm) -> Result<Self> {
        let views = task.network.views();
        let union = config.union_of_views(views, task.pool);
        let all_views: Vec<&View> = views.iter().chain(&union).collect();
        Self::of_views(config, &all_views, views.len(), task, comm)
    }

    /// Computes the matrices of these views; those from `count` on are unions of others.
    pub(crate) fn of_views(
        config: &Mnmf,
        all_views: &[&View],
        count: usize,
        task: &mut Task<'_, '_>,
        comm: &dyn Comm,
    ) -> Result<Self> {
        let began = Instant::now();
        let pool = task.pool;
        let mut views: Vec<ViewRecord> = all_views.iter().map(|view| ViewRecord::of(view)).collect();
        let proximity = Proximity::decide(config.proximity, all_views, task.seed, pool)?;
        let (rows, matrices) =
            all_residuals(config, proximity, all_views, count, pool, comm, task.observer())?;
        let (mut residuals, mut matrix_scales) = (Vec::new(), Vec::new());
        for (view, Matrix { residual, sampled, scale }) in views.iter_mut().zip(matrices) {
            matrix_scales.push(scale);
            (view.entries, view.squared_norm) = (residual.entries, residual.squared_norm);
            view.sampled = sampled;
            residuals.push(residual);
        }
        let joint = views.split_off(count).pop();
        let own_entries = residuals.iter().map(|residual| residual.tiles.entries()).sum();
        let seconds = began.elapsed().as_secs_f64();
        Ok(Prepared { residuals, about: About { rows, views, joint, matrix_scales, own_entries, seconds } })
    }
}

/// A proximity matrix.
struct Matrix {
    residual: Residual<f32>,
    /// How it was sampled if it is not exact.
    sampled: Option<SampledRecord>,
    /// What it was multiplied by.
    scale: f64,
}

/// The rows of this rank, and those rows of the proximity matrix of every view.
fn all_residuals(
    config: &Mnmf,
    proximity: Proximity,
    views: &[&View],
    network_views: usize,
    pool: &Pool,
    comm: &dyn Comm,
    observer: &mut Observer<'_>,
) -> Result<(Range<usize>, Vec<Matrix>)> {
    let nodes = views[0].adjacency.rows();
    let rows = row_split::own_rows(nodes, views, proximity, pool, comm, observer)?;
    let keep = if comm.size() == 1 { config.keep(views) } else { Keep::All };
    let mut matrices = Vec::new();
    for (index, view) in views.iter().enumerate() {
        let mut watch = |done: usize| {
            let done = (index as f64 + done as f64 / rows.len().max(1) as f64) / views.len() as f64;
            observer(&Progress::Working { doing: "proximity", view: Some(&view.name), done })
        };
        let found = proximity::row_blocks::<f32>(view, proximity, rows.clone(), keep, pool, &mut watch);
        let found = comm::agree(comm, found)?;
        let largest = found.largest;
        let sampled = sampled_record(proximity.how, found.noise, comm);
        let mut tiles = pool.run(|| found.into_tiles(nodes));
        let mut scale = 1.0;
        if config.normalize == Normalize::Max {
            let largest = comm::max(comm, tiles.max().into());
            if largest > 0.0 {
                scale = 1.0 / largest;
                tiles.scale(scale as f32);
            }
        }
        let symmetric = config.is_symmetric(view).then(|| rows.clone());
        let residual = Residual::new(tiles, symmetric, pool, comm);
        // A union without pairs above chance adds nothing to its views; a view without any is a mistake.
        if residual.is_empty() && index < network_views {
            return Err(proximity::nothing_survives(view, proximity.settings, comm::max(comm, largest)));
        }
        matrices.push(Matrix { residual, sampled, scale });
    }
    Ok((rows, matrices))
}

/// How a matrix was sampled, over all ranks.
fn sampled_record(how: How, noise: Option<Noise>, comm: &dyn Comm) -> Option<SampledRecord> {
    let (How::Sampled(walks), Some(noise)) = (how, noise) else { return None };
    let mut sums = noise.sums();
    comm::all_reduce_sum(comm, &mut sums);
    let noise = Noise::of_sums(sums);
    let (relative_error, seen_once) = (noise.relative_error(), noise.seen_once());
    Some(SampledRecord { walks: walks.per_node, relative_error, seen_once })
}

//! Maps of the embeddings in the folder of a comparison, one per method.
//!
//! Invariant: a map is drawn once and kept with its embedding.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use manyview_analysis::layout::{self, layout_watched};
use manyview_base::error::Result;
use manyview_base::parallel::Pool;

use super::cache::read_or_draw_map;
use super::jobs::{Jobs, Section};
use super::table::{MeasuredRow, best_validated};

/// The map of a method. If there are several candidates, it is of the one with the best cross-validation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MethodMap {
    /// The method, and the candidate if there are several.
    pub title: String,
    folder: PathBuf,
    nodes: usize,
    seed: u64,
}

impl MethodMap {
    /// The maps of all methods whose embeddings do not depend on labels.
    pub(super) fn all(
        folder: &Path,
        nodes: usize,
        seed: u64,
        jobs: &Jobs,
        rows: &[MeasuredRow],
    ) -> Vec<Self> {
        let mut maps = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let shown = matches!(row.section, Section::Method(_) | Section::Ours);
            let Some(best) = best_validated(&row.candidates).filter(|_| shown) else { continue };
            let job = jobs.jobs.iter().find(|job| job.row == number && job.candidate == best.name);
            let Some(job) = job.filter(|job| job.repeat.is_none()) else { continue };
            let name = best.name.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
            let title = format!("{}{name}", row.title);
            maps.push(MethodMap { title, folder: folder.join(&job.folder), nodes, seed });
        }
        maps
    }

    /// Returns two coordinates per node, in [-1, 1]; `None` for nodes with a zero vector. Draws the map if the folder
    /// does not have it yet, and calls `watch` with the progress.
    ///
    /// # Errors
    /// When the embedding cannot be read or the map cannot be written;
    /// [`Interrupted`](manyview_base::error::Error::Interrupted) when `watch` breaks.
    pub fn coordinates(
        &self,
        pool: &Pool,
        watch: &mut dyn FnMut(layout::Step) -> ControlFlow<()>,
    ) -> Result<Vec<Option<[f32; 2]>>> {
        read_or_draw_map(&self.folder, self.nodes, |embedding| {
            layout_watched(embedding, self.seed, pool, watch)
        })
    }
}

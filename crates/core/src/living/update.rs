//! Updating: vectors of nodes whose surroundings changed, from the kept right factors; all others keep their bytes.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::KeptModel;
use super::changes::{apply, influence};
use super::fold::{Sample, share_left};
use super::rows::for_rows_in;
use super::solve::Solved;
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_data::network::{Duplicates, Network, View};

/// Rows are computed again from this bound of the change of their walks on, unless something else is asked for.
pub const TOLERANCE: f64 = 0.05;

/// From this share of the rows on, a new fit is worth it: it takes not much longer.
const MANY: f64 = 0.3;
/// From this growth of what is left unexplained on, the right factors do not suit the network any more.
const DRIFTED: f64 = 1.1;

/// What an update changed.
pub struct Updated {
    /// The model after it.
    pub model: KeptModel,
    /// The rows that were computed again, ascending.
    pub rows: Vec<usize>,
    /// Their vectors, row after row.
    pub vectors: Vec<f32>,
    /// Edges that came, and that went.
    pub edges: [usize; 2],
    /// What the stages leave of these rows, before and after, as a share of their squared norms; of at most
    /// 64 of them.
    pub left: [f64; 2],
}

impl Updated {
    /// How much more is left unexplained than before: 1 if as much.
    pub fn drift(&self) -> f64 {
        if self.left[0] > 0.0 { self.left[1] / self.left[0] } else { 1.0 }
    }

    /// Why a new fit is worth it, if it is.
    pub fn advice(&self) -> Option<String> {
        let nodes = self.model.network.nodes().len();
        let share = self.rows.len() as f64 / nodes.max(1) as f64;
        if self.drift() > DRIFTED {
            let more = 100.0 * (self.drift() - 1.0);
            return Some(format!(
                "the model explains the changed nodes worse than before ({more:.0} % more is left): a new fit is worth it"
            ));
        }
        (share > MANY).then(|| format!("{:.0} % of the nodes changed: a new fit is worth it", 100.0 * share))
    }
}

impl KeptModel {
    /// Applies edges that come and go between nodes of the model. Rows are computed again where the bound of the change of their walks is
    /// above `tolerance`.
    ///
    /// # Errors
    /// [`Error::Config`](manyview_base::error::Error::Config) for what the model does not have, and for a view that would lose all its edges;
    /// `Error::Interrupted` if `watch`, which gets the number of finished rows, breaks.
    pub fn update(
        &self,
        come: Option<&Network>,
        go: Option<&Network>,
        duplicates: Duplicates,
        tolerance: f64,
        pool: &Pool,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Updated> {
        let changed = apply(self, come, go, duplicates)?;
        let new_union = self.union_in(&changed.network, pool);
        let (old_union, union) = (self.union(pool), new_union.as_ref());
        let rows = self.rows_that_change(&changed.network, [old_union, union], tolerance);
        let stages = self.stages(pool);
        let sample = Sample::of_all(rows.len());
        let measured: Vec<usize> = (0..rows.len()).filter(|&at| sample.has(at)).map(|at| rows[at]).collect();
        let is_measured = |node: &usize| measured.binary_search(node).is_ok();
        let mut solve = |network: &Network, union: Option<&View>, rows: &[usize]| {
            for_rows_in(self, network, union, rows, pool, watch, |nodes, found| {
                let measured: Vec<usize> = (0..nodes.len()).filter(|&at| is_measured(&nodes[at])).collect();
                stages.solve(self, found, Some(nodes), &measured)
            })
        };
        let before = solve(&self.network, old_union, &measured)?;
        let after = solve(&changed.network, union, &rows)?;
        let left = [&before, &after].map(|rows| share_left(rows.iter().filter_map(|row| row.squared)));
        let model = self.with_rows(changed.network, &rows, &after)?;
        let vectors = after.into_iter().flat_map(|row| row.vector).collect();
        Ok(Updated { model, rows, vectors, edges: changed.edges, left })
    }

    /// The nodes whose walks in some matrix may change by more than `tolerance`.
    fn rows_that_change(
        &self,
        network: &Network,
        [old_union, union]: [Option<&View>; 2],
        tolerance: f64,
    ) -> Vec<usize> {
        let window = self.settings.proximity.window;
        let old = self.network.views().iter().chain(old_union);
        let new = network.views().iter().chain(union);
        let mut most = vec![0.0f64; network.nodes().len()];
        for (old, new) in old.zip(new) {
            let felt = influence(old, new, window);
            most.iter_mut().zip(felt).for_each(|(most, felt)| *most = most.max(felt));
        }
        (0..most.len()).filter(|&node| most[node] > tolerance).collect()
    }

    /// The model of a changed network with other rows of U.
    fn with_rows(&self, network: Network, rows: &[usize], solved: &[Solved]) -> Result<KeptModel> {
        let mut factors = (*self.factors).clone();
        for (&row, solved) in rows.iter().zip(solved) {
            for (fitted, u) in factors.pieces.iter_mut().zip(&solved.left_factors) {
                fitted.piece.u.row_mut(row).copy_from_slice(u);
            }
        }
        KeptModel::new(
            network,
            self.config.clone(),
            Arc::new(factors),
            self.vector_scale,
            self.dim,
            self.sampled,
            self.fitted_views,
        )
    }
}

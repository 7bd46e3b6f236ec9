//! A kind of edge that comes after the fit: what the consensus columns explain of it, and columns of its own for the rest.
//!
//! With the matrix M of the new view, and the U of each consensus factorization, in the order of the fit:
//!
//! ```text
//! R <- M
//! for each consensus U:   V = argmin |R - U V|^2, V >= 0;   R <- max(R - U V, 0)
//! own columns:            a unique stage on R
//! ```
//!
//! V is of this view alone, also where the fit has one V for the sum of its views: what is left is what no combination of the consensus
//! columns of two nodes says, and only that needs new columns.
//!
//! Invariant: no U of the fit depends on the new view, so all vectors keep their columns to the byte.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::KeptModel;
use super::changes::{numbers, with_edges};
use super::nnls::Problem;
use crate::comm::{Local, Timed};
use crate::method::{Found, Observer, Progress, StageRecord, Task, ViewRecord};
use crate::mnmf::{Plan, Split, Stage};
use crate::piece::{Explained, FittedPiece};
use crate::preset::largest_dim;
use crate::residual::Residual;
use crate::stages::{Prepared, run_plan};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::gram::gram;
use manyview_base::linalg::products::transposed_times;
use manyview_base::linalg::{Csr, Dense};
use manyview_base::message::{Warning, option_value};
use manyview_base::parallel::Pool;
use manyview_data::embedding::Kind;
use manyview_data::network::{Duplicates, EdgeCounts, Network, View};

const ADVICE: &str = "add-view is for edges between nodes of the model; leave the others out, and give them vectors with fold-in afterwards";

/// A model with one more view.
pub struct AddedView {
    /// The model, with the view as its last.
    pub model: KeptModel,
    /// The new columns, row after row, which come after all others.
    pub vectors: Vec<f32>,
    /// The view as it went in.
    pub view: ViewRecord,
    /// Its stage.
    pub stage: StageRecord,
    /// What is left of the view after each consensus stage, as a share of its squared proximity.
    pub after_consensus: Vec<(usize, f64)>,
    /// What the user should know about the new columns.
    pub warnings: Vec<Warning>,
}

impl AddedView {
    /// The share of the squared proximity of the view that the consensus columns explain.
    pub fn explained(&self) -> f64 {
        self.after_consensus.last().map_or(0.0, |(_, left)| 1.0 - left)
    }

    /// The share that all columns leave.
    pub fn left(&self) -> f64 {
        self.stage.residual[&self.view.name]
    }

    /// The number of new columns.
    pub fn columns(&self) -> usize {
        self.stage.columns[1] - self.stage.columns[0]
    }
}

impl KeptModel {
    /// The number of columns for a new view, unless something else is asked for: as many as a view of the fit has of its own on average;
    /// if none has any, its share of all columns.
    pub fn usual_columns(&self) -> usize {
        let pieces = self.factors.pieces.iter().map(|fitted| &fitted.piece);
        let own = pieces.filter(|piece| {
            piece.consensus.is_none() && piece.views.iter().all(|&view| view < self.fitted_views)
        });
        let own: usize = own.map(|piece| piece.columns.len()).sum();
        if own > 0 { own.div_ceil(self.fitted_views) } else { self.dim.div_ceil(self.fitted_views) }
    }

    /// Adds the one view of a network whose nodes are all in the model, with so many columns of its own. The observer may end the work.
    ///
    /// # Errors
    /// [`Error::Config`] for a name that is taken, for nodes that the model does not have, for numbers of columns that cannot be, and when the
    /// consensus columns explain the view completely; [`Error::Network`] when no pair of nodes is near in it by more than chance;
    /// [`Error::Interrupted`] if the observer breaks.
    pub fn add_view(
        &self,
        given: &Network,
        columns: usize,
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<AddedView> {
        self.check_columns(columns)?;
        let view = self.new_view(given, pool)?;
        let factors = &self.factors;
        let number = factors.pieces.iter().map(|fitted| fitted.stage).max().unwrap_or(0) + 1;
        let columns = self.dim..self.dim + columns;
        let split = Split::Given(vec![columns.len()]);
        let stage = Stage { number, kind: Kind::Unique, columns, split };
        let mut observer = |now: &Progress<'_>| observer(&alone(now, &stage));
        let nodes = Network::new(self.network.nodes().clone(), Vec::new());
        let seed = self.config.get("seed").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let mut task = Task::new(&nodes, stage.columns.end, seed, pool, None, &mut observer);
        task.keeps_factors = true;
        let mut prepared = Prepared::of_views(&self.settings, &[&view], 1, &mut task, &Local)?;
        let (explained, after_consensus) = self.explain(&mut prepared.residuals[0], pool, &mut task)?;
        if prepared.residuals[0].is_empty() {
            return Err(Error::config(format!(
                "the consensus columns explain view {:?} completely, so nothing is left for columns of its own",
                view.name
            )));
        }
        let plan = Plan { dim: stage.columns.end, stages: vec![stage.clone()] };
        let Prepared { about, residuals } = prepared;
        let comm = Timed::new(&Local);
        let found = run_plan(&self.settings, &plan, &about, residuals, &mut task, &comm, None)?;
        self.with_view(view, found, explained, after_consensus)
    }

    fn check_columns(&self, columns: usize) -> Result<()> {
        let most = largest_dim() as usize - self.dim.min(largest_dim() as usize);
        if (1..=most).contains(&columns) {
            return Ok(());
        }
        Err(Error::config(format!(
            "{}: expected a whole number from 1 to {most}",
            option_value("columns", columns)
        )))
    }

    /// The one view of a network, over the nodes of the model.
    fn new_view(&self, given: &Network, pool: &Pool) -> Result<View> {
        let [view] = given.views() else {
            return Err(Error::config(format!(
                "one view is added at a time, and {} were given; add them one after the other",
                given.views().len()
            )));
        };
        let names = self.network.views().iter().chain(self.union(pool)).map(|known| &known.name);
        if names.clone().any(|name| *name == view.name) {
            let names: Vec<&str> = names.map(String::as_str).collect();
            return Err(Error::config(format!(
                "the model already has a view {:?} (it has {}); use another name, or update to change its edges",
                view.name,
                names.join(", ")
            )));
        }
        let nodes = self.network.nodes().len();
        let numbers = numbers(self, given, ADVICE)?;
        let adjacency = with_edges(&Csr::empty(nodes, nodes), view, &numbers, Duplicates::default());
        Ok(View { adjacency, counts: EdgeCounts::default(), ..view.clone() })
    }

    /// Subtracts what the consensus columns explain of a view; returns V for each piece that explains something, and the share that is left after
    /// each consensus stage.
    #[expect(clippy::type_complexity, reason = "two lists with the pieces that they belong to")]
    fn explain(
        &self,
        residual: &mut Residual<f32>,
        pool: &Pool,
        task: &mut Task<'_, '_>,
    ) -> Result<(Vec<(usize, Dense<f32>)>, Vec<(usize, f64)>)> {
        let (mut explained, mut left) = (Vec::new(), Vec::new());
        let pieces = self.factors.pieces.iter().enumerate();
        let consensus: Vec<_> = pieces.filter(|(_, fitted)| fitted.piece.consensus.is_some()).collect();
        for (done, (at, fitted)) in consensus.iter().enumerate() {
            let share = |within: f64| (done as f64 + within) / consensus.len() as f64;
            let u = &fitted.piece.u;
            let v_t = right_factor(residual, u, pool, &mut |within| {
                let ended = task.tell("consensus columns", share(within)).is_err();
                if ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            residual.subtract(u, &v_t, 1.0, pool, &Local);
            left.push((fitted.stage, residual.share_left()));
            explained.push((*at, v_t));
        }
        Ok((explained, left))
    }

    /// The model with a view, and what was found for it.
    fn with_view(
        &self,
        view: View,
        found: Found,
        explained: Vec<(usize, Dense<f32>)>,
        after_consensus: Vec<(usize, f64)>,
    ) -> Result<AddedView> {
        let Found { vectors, warnings, stages, factors, .. } = found;
        let (work, own) = (stages.expect("mnmf has stages"), factors.expect("they were kept"));
        let [record] = <[ViewRecord; 1]>::try_from(work.views).expect("there is one view");
        let [stage] = <[StageRecord; 1]>::try_from(work.records).expect("there is one stage");
        let added = self.network.views().len();
        let mut factors = (*self.factors).clone();
        // The union comes after the views.
        let union_moves = |view: &mut usize| *view += usize::from(*view >= added);
        for fitted in &mut factors.pieces {
            fitted.piece.views.iter_mut().for_each(union_moves);
        }
        for (at, v_t) in explained {
            factors.pieces[at].explained.push(Explained { view: added, v_t });
        }
        factors.matrix_scales.insert(added, own.matrix_scales[0]);
        for mut fitted in own.pieces {
            fitted.piece.views = vec![added];
            factors.pieces.push(FittedPiece { stage: stage.stage, ..fitted });
        }
        let vectors = self.own_columns(&vectors, stage.columns);
        let mut views = self.network.views().to_vec();
        views.push(view);
        let model = KeptModel::new(
            Network::new(self.network.nodes().clone(), views),
            self.config.clone(),
            Arc::new(factors),
            self.vector_scale,
            stage.columns[1],
            self.sampled || record.sampled.is_some(),
            self.fitted_views,
        )?;
        Ok(AddedView { model, vectors, view: record, stage, after_consensus, warnings })
    }

    /// Some columns of vectors, in the length of those of the model.
    fn own_columns(&self, vectors: &[f32], [from, to]: [usize; 2]) -> Vec<f32> {
        let rows = vectors.chunks_exact(to);
        let scaled = |x: &f32| (f64::from(*x) * self.vector_scale) as f32;
        rows.flat_map(|row| row[from..].iter().map(scaled)).collect()
    }
}

/// The V >= 0 that minimizes `|R - U V|^2`, transposed. `watch` gets the share of its rows that are done.
fn right_factor(
    residual: &Residual<f32>,
    u: &Dense<f32>,
    pool: &Pool,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Dense<f32>> {
    let mut v_t = Dense::zeros(residual.tiles.cols(), u.width());
    let problem = pool.run(|| {
        transposed_times(&[&residual.tiles], u, &mut v_t, &|| true);
        Problem::new(gram(u), u.width())
    });
    let (rows, stride, width) = (v_t.rows(), v_t.stride(), v_t.width());
    for first in (0..rows).step_by(ROWS) {
        let length = ROWS.min(rows - first) * stride;
        let block = &mut v_t.padded_mut()[first * stride..][..length];
        pool.run(|| {
            block.par_chunks_mut(stride).for_each(|row| {
                let b: Vec<f64> = row[..width].iter().map(|&x| f64::from(x)).collect();
                let solved = problem.solve(&b);
                row.iter_mut().zip(solved).for_each(|(x, solved)| *x = solved as f32);
            });
        });
        if watch((first + ROWS).min(rows) as f64 / rows as f64).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(v_t)
}

/// Rows of V between two looks at whether the work should end.
const ROWS: usize = 1024;

/// Progress of a stage that runs alone, although others came before it.
fn alone<'p>(now: &Progress<'p>, stage: &Stage) -> Progress<'p> {
    match *now {
        Progress::Iteration { kind, view, iteration, error, done, .. } => {
            let done = done * stage.columns.end as f64 / stage.columns.len() as f64;
            Progress::Iteration {
                stage: stage.number,
                stages: stage.number,
                kind,
                view,
                iteration,
                error,
                done,
            }
        }
        other => other,
    }
}

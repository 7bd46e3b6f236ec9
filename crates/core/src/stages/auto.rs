//! A plan that follows from the data: whether some of the columns are for each view alone, or all for all views together.
//!
//! A tenth of the pairs of nodes is hidden, the same in all matrices, and three candidates are fitted to the rest:
//!
//! - *unique*: d columns, divided among the views;
//! - *consensus*: d columns for all views together;
//! - *separate*: d columns for every view, which no plan can afford.
//!
//! Let `e` be the error that a candidate leaves on the hidden pairs. If the views have nothing in common, consensus columns
//! explain no more than unique ones; if they say the same, common columns explain as much as separate ones. So
//! `agreement = (e_unique - e_consensus) / (e_unique - e_separate)`, between 0 and 1, says whether the views repeat each other. Then
//! unique columns would hold the same several times, and the plan is that of a single view: the stages of the default plan, all
//! for all views together. Otherwise it is the default plan. Nothing between was better than the default plan on any kind of
//! network, also where views have nothing to do with each other (`docs/results/defaults.md`): lower errors on hidden pairs are not
//! better vectors, so only a clear answer decides.
//!
//! The error of a view over its hidden pairs is `||H - s P||^2 / ||H||^2` with the product P of a candidate. Pairs without an entry
//! count, as the same share of all of them: a consensus of views that do not agree is a smooth background, which fits the
//! entries of every view well if only the scale s is large enough, and is wrong everywhere else. So s is the scale of the least
//! squares over all pairs that are not hidden. Every view, and their union, counts the same.
//!
//! Invariant: the plan follows from the network, the settings and the seed; all ranks find the same one.

use std::ops::{ControlFlow, Range};

use super::{About, Run};
use crate::comm::Comm;
use crate::method::{ChosenPlan, Observer, Progress, Task};
use crate::mnmf::{ColumnLayout, Mnmf, Order, Plan, Split, Stage, largest_remainder};
use crate::piece::Piece;
use crate::residual::{Residual, SquaredProducts};
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key, unit_f64};
use manyview_data::embedding::{Embedding, Kind};

/// The share of the pairs that are hidden. More would be missing in the fits, fewer would make the errors uncertain.
const HIDDEN: f64 = 0.1;

/// Candidates have this share of the columns, as a stage among so many equal ones.
const STEPS: usize = 8;

/// The agreement from which views repeat each other. Digits and other views of the same objects that do not repeat each other have up to
/// 0.49, copies of a view without 5 to 30 % of its edges 0.84 to 0.998 if it is dense enough that copies have most edges in common.
const REPEATED: f64 = 0.7;

/// Chooses the stages for these proximity matrices. Returns the settings that have this plan, and what it follows from.
pub(super) fn choose(
    config: &Mnmf,
    about: &About,
    residuals: &[Residual<f32>],
    task: &mut Task<'_, '_>,
    comm: &dyn Comm,
) -> Result<(Mnmf, ChosenPlan)> {
    let views = about.views.len();
    // Every view needs a column in a unique stage.
    let steps = (config.dim / views).clamp(1, STEPS);
    let columns = largest_remainder(config.dim, &vec![1.0; steps], 0)[0];
    let [unique, consensus, separate] = errors(config, about, residuals, columns, task, comm)?;
    let agreement = agreement(unique, consensus, separate);
    let plan = config.plan(views)?;
    // A single view repeats nothing.
    let settings = if views > 1 && agreement >= REPEATED {
        all_together(config, &plan)
    } else {
        by_default(config, &plan)
    };
    let plan = settings.plan(views)?;
    let of_kind = |kind| plan.stages.iter().filter(move |stage| stage.kind == kind);
    let chosen = ChosenPlan {
        config: serde_json::to_value(settings.resolved(views)).expect("settings are plain values"),
        hidden: HIDDEN,
        columns,
        unique,
        consensus,
        separate,
        agreement,
        unique_stages: of_kind(Kind::Unique).count(),
        consensus_columns: of_kind(Kind::Consensus).map(|stage| stage.columns.len()).sum(),
    };
    Ok((settings, chosen))
}

/// How far common columns can replace separate ones. 0 where separate columns leave a larger error than fewer: they fit chance, as in
/// networks of few nodes, and nothing can be told.
fn agreement(unique: f64, consensus: f64, separate: f64) -> f64 {
    let possible = unique - separate;
    if possible > 0.0 { ((unique - consensus) / possible).clamp(0.0, 1.0) } else { 0.0 }
}

/// The settings of the plan that `auto` has before it has seen the data.
fn by_default(config: &Mnmf, plan: &Plan) -> Mnmf {
    Mnmf {
        auto: false,
        order: Order::UniqueFirst,
        layout: ColumnLayout::Halves,
        stages: plan.stages.len(),
        ..config.clone()
    }
}

/// The settings with the stages of a plan, all of them consensus stages.
fn all_together(config: &Mnmf, plan: &Plan) -> Mnmf {
    let stage_dims = plan.stages.iter().map(|stage| stage.columns.len()).collect();
    Mnmf {
        consensus_stages: Some(plan.stages.len()),
        stage_dims: Some(stage_dims),
        ..by_default(config, plan)
    }
}

/// The errors of the three candidates on hidden pairs: unique, consensus, separate.
fn errors(
    config: &Mnmf,
    about: &About,
    residuals: &[Residual<f32>],
    width: usize,
    task: &mut Task<'_, '_>,
    comm: &dyn Comm,
) -> Result<[f64; 3]> {
    let (seed, pool, targets) = (task.seed, task.pool, residuals.len());
    let key = Key::new(seed).with(text_key("hidden pairs"));
    let is_hidden = |low: usize, high: usize| unit_f64(key.at(low, high)) < HIDDEN;
    let parts = residuals.iter().map(|left| left.hide(&is_hidden, about.rows.clone(), pool, comm));
    let (kept, hidden): (Vec<_>, Vec<_>) = parts.map(|[kept, hidden]| (kept, hidden)).unzip();
    // The columns of all candidates, for the progress.
    let plan = Plan { stages: Vec::new(), dim: (2 + targets) * width };
    let embedding = Embedding::zeros(task.network.nodes().clone(), 0);
    let observer = task.observer();
    // What is tried is no stage of the fit, but a phase before it.
    let mut watch = |progress: &Progress<'_>| match *progress {
        Progress::Iteration { done, .. } | Progress::Working { done, .. } => {
            observer(&Progress::Working { doing: "choosing stages", view: None, done })
        }
        Progress::StageFinished(_) => ControlFlow::Continue(()),
    };
    let watch: &mut Observer<'_> = &mut watch;
    let mut run = Run {
        kept: None,
        config,
        seed,
        plan: &plan,
        names: about.names(),
        views: about.views.len(),
        sampled: about.is_sampled(),
        unique_columns: vec![0; targets],
        residuals: kept,
        pool,
        comm,
        rows: about.rows.clone(),
        embedding,
        stages: Vec::new(),
        warnings: Vec::new(),
        zero_columns: Vec::new(),
        columns_done: 0,
        observer: watch,
    };
    let stage = |kind, columns, split| Stage { number: 1, kind, columns: 0..columns, split };
    let unique = run.unique_pieces(&stage(Kind::Unique, width, Split::Residual(targets)))?;
    run.columns_done = width;
    let consensus = vec![run.consensus_piece(&stage(Kind::Consensus, width, Split::Residual(targets)))?];
    run.columns_done = 2 * width;
    let each = Split::Given(vec![width; targets]);
    let separate = run.unique_pieces(&stage(Kind::Unique, targets * width, each))?;
    Ok([unique, consensus, separate]
        .map(|pieces| error(&pieces, &run.residuals, &hidden, &run.rows, pool, comm)))
}

/// The error on hidden pairs that these pieces leave; the mean over all matrices.
fn error(
    pieces: &[Piece],
    kept: &[Residual<f32>],
    hidden: &[Residual<f32>],
    rows: &Range<usize>,
    pool: &Pool,
    comm: &dyn Comm,
) -> f64 {
    let mut errors: Vec<f64> = hidden.iter().map(|hidden| hidden.squared_norm).collect();
    for piece in pieces {
        for (at, &view) in piece.views.iter().enumerate() {
            let (u, v_t) = (&piece.u, piece.v_t.get(at).unwrap_or(&piece.v_t[0]));
            let [kept_cross, kept_square] = kept[view].products(u, v_t, pool, comm);
            let [cross, square] = hidden[view].products(u, v_t, pool, comm);
            let squares = SquaredProducts::new(u, v_t, rows.clone(), pool, comm);
            let all = kept[view].squared_product(&squares);
            let elsewhere = HIDDEN * (all - kept_square - square).max(0.0);
            let visible = all - square - elsewhere;
            let scale = if visible > 0.0 { kept_cross / visible } else { 0.0 };
            errors[view] += scale * (scale * (square + elsewhere) - 2.0 * cross);
        }
    }
    let relative = errors.iter().zip(hidden).filter(|(_, hidden)| hidden.squared_norm > 0.0);
    let relative: Vec<f64> = relative.map(|(error, hidden)| error / hidden.squared_norm).collect();
    relative.iter().sum::<f64>() / relative.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_what_common_columns_replace() {
        assert_eq!(agreement(0.5, 0.25, 0.25), 1.0);
        assert_eq!(agreement(0.5, 0.375, 0.25), 0.5);
        assert_eq!(agreement(0.5, 0.75, 0.25), 0.0);
        assert_eq!(agreement(0.5, 0.125, 0.25), 1.0);
        // Fits of chance.
        assert_eq!(agreement(0.42, 0.1, 0.72), 0.0);
        assert_eq!(agreement(0.5, 0.5, 0.5), 0.0);
    }

    #[test]
    fn both_plans_have_the_stages_of_the_default_plan() {
        for (dim, views) in [(256, 3), (48, 3), (256, 60), (7, 3), (3, 3), (2, 1)] {
            let auto = Mnmf { auto: true, dim, order: Order::ConsensusFirst, ..Mnmf::default() };
            let plan = auto.plan(views).unwrap();
            let [first, second] = [by_default(&auto, &plan), all_together(&auto, &plan)];
            let widths =
                |plan: &Plan| plan.stages.iter().map(|stage| stage.columns.len()).collect::<Vec<_>>();
            let (first, second) = (first.plan(views).unwrap(), second.plan(views).unwrap());
            assert_eq!(first, plan);
            assert_eq!(widths(&second), widths(&plan));
            assert!(second.stages.iter().all(|stage| stage.kind == Kind::Consensus));
        }
        let default = Mnmf::default();
        let plan = Mnmf { auto: true, ..Mnmf::default() }.plan(3).unwrap();
        assert_eq!(plan, default.plan(3).unwrap());
        assert_eq!(by_default(&Mnmf { auto: true, ..Mnmf::default() }, &plan), default);
    }
}

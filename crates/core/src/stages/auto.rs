//! A plan that follows from the data: which share of the columns is for each view alone, and which for all views together.
//!
//! A tenth of the pairs of nodes is hidden, the same in all matrices, and three candidates are fitted to the rest:
//!
//! - *unique*: d columns, divided among the views;
//! - *consensus*: d columns for all views together;
//! - *separate*: d columns for every view, which no plan can afford.
//!
//! Let `e` be the error that a candidate leaves on the hidden pairs. If the views have nothing in common, consensus columns
//! explain no more than unique ones; if they say the same, common columns explain as much as separate ones. So
//! `agreement = (e_unique - e_consensus) / (e_unique - e_separate)`, between 0 and 1, decides on the share of the columns that the
//! consensus stage gets: a quarter if the views do not agree, half of them if they do, as in the default plan. Other shares
//! lowered the quality of the vectors (`docs/results/defaults.md`), although larger ones lower the error on hidden pairs
//! further. The stage comes last and is wide, because what all views say together is fine-grained.
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
use crate::mnmf::{Mnmf, Order, Plan, Split, Stage, largest_remainder};
use crate::piece::Piece;
use crate::residual::{Residual, SquaredProducts};
use manyview_base::error::Result;
use manyview_base::parallel::Pool;
use manyview_base::random::{Key, text_key, unit_f64};
use manyview_data::embedding::{Embedding, Kind};

/// The share of the pairs that are hidden. More would be missing in the fits, fewer would make the errors uncertain.
const HIDDEN: f64 = 0.1;

/// The number of unique stages if all columns are theirs, and so the steps of the shares. With more, a stage has too few columns
/// for several views.
const STEPS: usize = 8;

/// The share of the columns that the consensus stage gets if the views do not agree at all, and if they agree completely.
const SHARES: [f64; 2] = [0.25, 0.5];

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
    let widths = largest_remainder(config.dim, &vec![1.0; steps], 0);
    let errors = errors(config, about, residuals, widths[0], task, comm)?;
    let [unique, consensus, separate] = errors;
    let possible = unique - separate;
    // A single view agrees with itself.
    let agreement = if possible > 0.0 { ((unique - consensus) / possible).clamp(0.0, 1.0) } else { 1.0 };
    let share = SHARES[0] + agreement * (SHARES[1] - SHARES[0]);
    let unique_stages = ((1.0 - share) * steps as f64).round() as usize;
    let settings = settings(config, &widths[..unique_stages]);
    let config = serde_json::to_value(settings.resolved(views)).expect("settings are plain values");
    let consensus_columns = widths[unique_stages..].iter().sum();
    let (hidden, columns) = (HIDDEN, widths[0]);
    let chosen = ChosenPlan {
        config,
        hidden,
        columns,
        unique,
        consensus,
        separate,
        agreement,
        unique_stages,
        consensus_columns,
    };
    Ok((settings, chosen))
}

/// The settings of a plan that has unique stages of these widths, and gives the remaining columns to one consensus stage.
fn settings(config: &Mnmf, unique: &[usize]) -> Mnmf {
    let rest = config.dim - unique.iter().sum::<usize>();
    let mut widths = unique.to_vec();
    widths.extend((rest > 0).then_some(rest));
    Mnmf {
        auto: false,
        order: Order::UniqueFirst,
        stages: widths.len(),
        consensus_stages: Some(widths.len() - unique.len()),
        stage_dims: Some(widths),
        ..config.clone()
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
        config,
        seed,
        plan: &plan,
        names: about.names(),
        views: about.views.len(),
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
    let unique = run.unique_pieces(&stage(Kind::Unique, width, Split::Residual))?;
    run.columns_done = width;
    let consensus = vec![run.consensus_piece(&stage(Kind::Consensus, width, Split::Residual))?];
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

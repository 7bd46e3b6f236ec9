//! What the user should know about the stages of a fit.

use crate::method::StageRecord;
use crate::mnmf::{Mnmf, Plan};
use crate::nmf::Solver;
use crate::piece::Piece;
use manyview_base::message::{Warning, WarningKind, option, option_value};
use manyview_data::embedding::Kind;

/// Factorizations that did not converge: those that reached the maximum number of iterations, and those whose error
/// rose. Those with columns of zeros have a warning of their own.
pub(super) fn not_converged(stages: &[StageRecord], zero: &[ZeroColumns], config: &Mnmf) -> Vec<Warning> {
    let has_zeros = |record: &StageRecord| zero.iter().any(|zero| zero.columns[0] == record.columns[0]);
    let open: Vec<_> = stages.iter().filter(|stage| !stage.converged && !has_zeros(stage)).collect();
    let max_iter = |kind: Kind| match kind {
        Kind::Consensus => config.max_iter,
        Kind::Unique | Kind::Joint => config.unique_max_iter(),
    };
    let ended = open.iter().filter(|stage| stage.iterations >= max_iter(stage.kind)).count();
    let rose = open.len() - ended;
    let mut warnings = Vec::new();
    if ended > 0 {
        warnings.push(format!(
            "{ended} of {} factorizations reached the maximum number of iterations before they converged ({}); the result \
             is usable, and a higher {} may improve it",
            stages.len(),
            option_value("tol", config.tol(config.solver)),
            option("max_iter")
        ));
    }
    if rose > 0 {
        let advice = if config.gamma < 1.0 {
            format!("with {} the objective need not decrease", option_value("gamma", config.gamma))
        } else if config.epsilon > 0.0 {
            format!("the added {} can have this effect", option_value("epsilon", config.epsilon))
        } else {
            format!("try another {}", option("solver"))
        };
        warnings.push(format!(
            "the error of {rose} of {} factorizations rose at the end; {advice}",
            stages.len()
        ));
    }
    warnings.into_iter().map(|message| Warning::new(WarningKind::NotConverged, message)).collect()
}

/// The columns of a factorization that became zero.
#[derive(Clone, Debug)]
pub(super) struct ZeroColumns {
    stage: usize,
    view: Option<String>,
    /// All columns of the factorization: from, and up to but not including.
    columns: [usize; 2],
    /// How many of them are zero.
    zero: usize,
}

impl ZeroColumns {
    /// The zero columns of a piece, if there are any.
    pub(super) fn of(piece: &Piece, stage: usize, view: Option<&str>) -> Option<Self> {
        let zero = piece.column_scales.iter().filter(|&&scale| scale == 0.0).count();
        let columns = [piece.columns.start, piece.columns.end];
        (zero > 0).then(|| ZeroColumns { stage, view: view.map(str::to_owned), columns, zero })
    }
}

/// Factorizations with columns that became zero.
pub(super) fn zero_columns(found: &[ZeroColumns], config: &Mnmf) -> Option<Warning> {
    /// More are counted and not named.
    const NAMED: usize = 3;
    let total: usize = found.iter().map(|found| found.zero).sum();
    let place = |found: &ZeroColumns| {
        let view = found.view.as_deref().map_or("consensus".to_owned(), |view| format!("view \"{view}\""));
        format!("{} of {} in stage {} ({view})", found.zero, found.columns[1] - found.columns[0], found.stage)
    };
    let mut places: Vec<String> = found.iter().take(NAMED).map(place).collect();
    if found.len() > NAMED {
        places.push(format!("{} more factorizations", found.len() - NAMED));
    }
    let advice = if config.epsilon > 0.0 {
        format!(
            "the added {} can have this effect; compare with a run without it",
            option_value("epsilon", config.epsilon)
        )
    } else if config.solver == Solver::Mu {
        format!("these views need fewer columns there, or {} helps", option_value("solver", "hals"))
    } else {
        format!("these views need fewer columns there; use a smaller {}", option("dim"))
    };
    let message = format!("{total} columns became zero: {}; {advice}", places.join(", "));
    (total > 0).then(|| Warning::new(WarningKind::Zero, message))
}

/// Nothing was left to explain from stage `first` on. Names the columns of the stages that did not run. They need not be the last ones:
/// consensus stages have the first columns, whenever they run.
pub(super) fn fully_explained(plan: &Plan, first: usize) -> Warning {
    let mut zero: Vec<_> = plan.stages[first - 1..].iter().map(|stage| stage.columns.clone()).collect();
    zero.sort_by_key(|columns| columns.start);
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for columns in zero {
        match ranges.last_mut().filter(|last| last.end == columns.start) {
            Some(last) => last.end = columns.end,
            None => ranges.push(columns),
        }
    }
    let ranges: Vec<String> =
        ranges.iter().map(|columns| format!("{}-{}", columns.start, columns.end - 1)).collect();
    let message = format!(
        "the views are fully explained before stage {first} of {}, so columns {} are zero; use fewer {} or a smaller {}",
        plan.stages.len(),
        ranges.join(" and "),
        option("stages"),
        option("dim")
    );
    Warning::new(WarningKind::Zero, message)
}

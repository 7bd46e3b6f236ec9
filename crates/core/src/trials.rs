//! Several fits of one network that share what they have in common: proximity matrices, and the stages that they begin with.
//!
//! A stage follows from the settings of the solver and from the stages before it, so two plans with the same first stages have
//! the same factors there. They are computed once and then applied again, as from a checkpoint: a pass over the residuals
//! instead of tens.
//!
//! Invariant: a fit has the bits that it has alone, whatever was fitted before it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Instant;

use serde_json::Value;

use crate::comm::{Comm, Local, Timed};
use crate::method::{Fit, Observer, Options, Ran, StageRecord, Task, scale_to_length};
use crate::mnmf::{Mnmf, Plan, Stage};
use crate::piece::Piece;
use crate::stages::{Prepared, StageStore, run_plan};
use manyview_base::error::Result;
use manyview_base::linalg::Dense;
use manyview_base::parallel::Pool;
use manyview_data::Network;
use manyview_data::embedding::{Embedding, Part};

/// Settings that decide which stages there are, and not what one of them finds.
const OF_THE_PLAN: [&str; 6] = ["dim", "stages", "consensus_stages", "stage_dims", "order", "layout"];

/// Fits of one network by MNMF with different settings.
pub struct Trials<'n> {
    network: &'n Network,
    fingerprint: u64,
    seed: u64,
    threads: Option<usize>,
    pool: Pool,
    /// The matrices of the latest fit, with the settings that they follow from.
    proximity: Option<(Value, Prepared)>,
    finished: RefCell<Finished>,
}

impl<'n> Trials<'n> {
    /// Fits with this seed, on this number of threads (all cores when not given). At most this many bytes of finished stages
    /// are kept for later fits, the latest ones.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(network: &'n Network, seed: u64, threads: Option<usize>, most_bytes: usize) -> Result<Self> {
        Ok(Trials {
            network,
            fingerprint: network.fingerprint(),
            seed,
            threads,
            pool: Pool::new(threads)?,
            proximity: None,
            finished: RefCell::new(Finished { most_bytes, ..Finished::default() }),
        })
    }

    /// Embeds the network with these settings, with all stages or only the first ones.
    ///
    /// # Errors
    /// As a fit by [`method::fit`](crate::method::fit).
    pub fn fit(
        &mut self,
        settings: &Mnmf,
        stages: Option<usize>,
        observer: &mut Observer<'_>,
    ) -> Result<Fit> {
        let began = Instant::now();
        let mut plan = settings.plan(self.network.views().len())?;
        if let Some(stages) = stages {
            plan = plan.first(stages);
        }
        let mut task = Task::new(self.network, settings.dim, self.seed, &self.pool, None, observer);
        let comm = &Timed::new(&Local);
        let needed = of_proximity(settings);
        let prepared = match self.proximity.take() {
            Some((known, prepared)) if known == needed => prepared,
            _ => Prepared::new(settings, &mut task, comm)?,
        };
        let (_, prepared) = self.proximity.insert((needed, prepared));
        let residuals = prepared.residuals.clone();
        let kept = Kept { keys: keys(settings, &plan), finished: &self.finished };
        let found = run_plan(settings, &plan, &prepared.about, residuals, &mut task, comm, Some(&kept))?;
        let options = Options { seed: self.seed, threads: self.threads, ..Options::default() };
        let (fingerprint, threads) = (self.fingerprint, self.pool.threads());
        let ran = Ran { found, fingerprint, seconds: began.elapsed().as_secs_f64(), threads };
        ran.finish(settings, "mnmf", self.network, &options)
    }
}

/// The vectors after the first stages, row after row, and their length: those of a fit that ends there, up to rounding.
pub fn first_stages(embedding: &Embedding, stages: usize) -> (Vec<f32>, usize) {
    let parts: Vec<&Part> = embedding.parts().iter().filter(|part| part.stage <= stages).collect();
    let dim = parts.iter().map(|part| part.columns.len()).sum();
    let mut values = Vec::with_capacity(embedding.rows() * dim);
    for row in 0..embedding.rows() {
        let row = embedding.row(row);
        parts.iter().for_each(|part| values.extend_from_slice(&row[part.columns.clone()]));
    }
    // The columns that are missing made the vectors longer.
    scale_to_length(&mut values, dim);
    (values, dim)
}

/// The mean approximation error after each stage, over the views without their union.
pub fn approximation_errors(fit: &Fit) -> Vec<f64> {
    let names: Vec<&str> = fit.views.iter().map(|view| view.name.as_str()).collect();
    let mut left = vec![1.0; names.len()];
    let mut errors = Vec::new();
    let of_stage = |stage: &[StageRecord]| {
        for record in stage {
            for (at, name) in names.iter().enumerate() {
                left[at] = record.residual.get(*name).copied().unwrap_or(left[at]);
            }
        }
        errors.push(left.iter().sum::<f64>() / left.len() as f64);
    };
    fit.stages.chunk_by(|a, b| a.stage == b.stage).for_each(of_stage);
    errors
}

/// The settings that the proximity matrices follow from.
fn of_proximity(settings: &Mnmf) -> Value {
    let Mnmf { proximity, joint, normalize, subtract, .. } = settings;
    serde_json::json!([proximity, joint, normalize, subtract])
}

/// What each stage of a plan follows from: the settings of the solver, and all stages up to it.
fn keys(settings: &Mnmf, plan: &Plan) -> Vec<String> {
    let mut solver = serde_json::to_value(settings).expect("settings are plain values");
    let fields = solver.as_object_mut().expect("settings are an object");
    OF_THE_PLAN.iter().for_each(|name| drop(fields.remove(*name)));
    let mut key = solver.to_string();
    let mut next = |stage: &Stage| {
        let Stage { number, kind, columns, split } = stage;
        key += &format!(" {number} {kind:?} {columns:?} {split:?}");
        key.clone()
    };
    plan.stages.iter().map(&mut next).collect()
}

/// Finished stages of earlier fits.
#[derive(Default)]
struct Finished {
    stages: BTreeMap<String, Vec<Piece>>,
    /// From the oldest to the latest.
    order: VecDeque<String>,
    bytes: usize,
    most_bytes: usize,
}

impl Finished {
    fn put(&mut self, key: &str, pieces: &[Piece]) {
        self.bytes += pieces.iter().map(bytes_of).sum::<usize>();
        self.stages.insert(key.to_owned(), pieces.to_vec());
        self.order.push_back(key.to_owned());
        while self.bytes > self.most_bytes {
            let Some(oldest) = self.order.pop_front() else { break };
            let pieces = self.stages.remove(&oldest).unwrap_or_default();
            self.bytes -= pieces.iter().map(bytes_of).sum::<usize>();
        }
    }
}

fn bytes_of(piece: &Piece) -> usize {
    let factor = |factor: &Dense<f32>| size_of_val(factor.padded());
    factor(&piece.u) + piece.v_t.iter().map(factor).sum::<usize>()
}

/// The finished stages that one fit can use.
struct Kept<'a> {
    keys: Vec<String>,
    finished: &'a RefCell<Finished>,
}

impl StageStore for Kept<'_> {
    fn read(&self, _: &Range<usize>, _: &dyn Comm) -> Result<Vec<Vec<Piece>>> {
        let finished = self.finished.borrow();
        Ok(self.keys.iter().map_while(|key| finished.stages.get(key).cloned()).collect())
    }

    fn write(&self, stage: usize, pieces: &[Piece], _: usize, _: &dyn Comm) -> Result<()> {
        self.finished.borrow_mut().put(&self.keys[stage - 1], pieces);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::method::Progress;
    use crate::mnmf::{ColumnLayout, Joint, Order};
    use crate::nmf::Solver;

    const PLENTY: usize = 1 << 30;

    fn network() -> Network {
        let names: Vec<String> = (0..60).map(|at| format!("n{at}")).collect();
        let edges = |step: usize| -> Vec<(&str, &str, f64)> {
            (0..60).map(|at| (names[at].as_str(), names[(at * step + 1) % 60].as_str(), 1.0)).collect()
        };
        Network::from_edges(&[("x", &edges(7)), ("y", &edges(11))]).unwrap()
    }

    fn settings(stages: usize, consensus: usize) -> Mnmf {
        let (layout, order) = (ColumnLayout::Even, Order::ConsensusFirst);
        Mnmf { dim: 24, stages, consensus_stages: Some(consensus), layout, order, ..Mnmf::default() }
    }

    /// A fit, the number of its iterations that were computed, and whether the proximity was.
    fn fit(trials: &mut Trials<'_>, settings: &Mnmf, stages: Option<usize>) -> (Fit, usize, bool) {
        let (mut iterations, mut proximity) = (0, false);
        let found = trials.fit(settings, stages, &mut |progress| {
            match progress {
                Progress::Iteration { .. } => iterations += 1,
                Progress::Working { doing: "proximity", .. } => proximity = true,
                _ => {}
            }
            ControlFlow::Continue(())
        });
        (found.unwrap(), iterations, proximity)
    }

    #[test]
    fn fits_have_the_bits_that_they_have_alone() {
        let network = network();
        let mut trials = Trials::new(&network, 0, None, PLENTY).unwrap();
        let mut all = vec![settings(4, 1), settings(4, 2), settings(4, 2), settings(2, 1), settings(4, 4)];
        all.push(Mnmf { joint: Joint::Off, ..settings(4, 2) });
        for settings in all {
            let (shared, ..) = fit(&mut trials, &settings, None);
            let alone = settings.fit(&network).unwrap();
            assert_eq!(shared.embedding, alone.embedding, "{settings:?}");
            assert_eq!(shared.stages.len(), alone.stages.len());
            assert_eq!((&shared.config, shared.fingerprint), (&alone.config, alone.fingerprint));
        }
    }

    #[test]
    fn nothing_is_computed_twice() {
        let network = network();
        let mut trials = Trials::new(&network, 0, Some(1), PLENTY).unwrap();
        let (first, computed, proximity) = fit(&mut trials, &settings(4, 2), None);
        let of_stages =
            |fit: &Fit, from: usize| fit.stages.iter().filter(|s| s.stage > from).map(|s| s.iterations).sum();
        assert!(proximity && computed == of_stages(&first, 0));
        assert_eq!(
            (fit(&mut trials, &settings(4, 2), None).1, fit(&mut trials, &settings(4, 2), None).2),
            (0, false)
        );
        // The two consensus stages are known.
        let (other, computed, _) = fit(&mut trials, &settings(4, 3), None);
        assert!(computed > 0 && computed == of_stages(&other, 2), "{computed}");
        // A fit that was cut off continues where it ended.
        let (start, ..) = fit(&mut trials, &settings(4, 1), Some(2));
        assert_eq!((start.embedding.dim(), start.stages.last().unwrap().stage), (12, 2));
        let (whole, computed, _) = fit(&mut trials, &settings(4, 1), None);
        assert_eq!(computed, of_stages(&whole, 2));
        // Another solver shares the proximity and nothing else.
        let hals = Mnmf { solver: Solver::Hals, ..settings(4, 2) };
        let (hals, computed, proximity) = fit(&mut trials, &hals, None);
        assert_eq!((computed, proximity), (of_stages(&hals, 0), false));
    }

    #[test]
    fn the_columns_of_the_first_stages_are_the_fit_that_ends_there() {
        let network = network();
        let mut trials = Trials::new(&network, 0, None, PLENTY).unwrap();
        let whole = fit(&mut trials, &settings(4, 2), None).0;
        for stages in 1..=4 {
            let alone = fit(&mut trials, &settings(4, 2), Some(stages)).0.embedding;
            let (values, dim) = first_stages(&whole.embedding, stages);
            assert_eq!((dim, values.len()), (alone.dim(), alone.values().len()));
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs();
            assert!(values.iter().zip(alone.values()).all(near), "{stages}");
        }
    }

    #[test]
    fn memory_of_finished_stages_is_bounded() {
        let network = network();
        let mut trials = Trials::new(&network, 0, Some(1), 10_000).unwrap();
        let first = fit(&mut trials, &settings(4, 2), None).0;
        assert!(trials.finished.borrow().bytes <= 10_000);
        assert!(trials.finished.borrow().stages.len() < 4);
        assert_eq!(fit(&mut trials, &settings(4, 2), None).0.embedding, first.embedding);
    }
}

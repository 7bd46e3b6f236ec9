//! The searches: all combinations, those that a Gaussian process proposes, or one stage after the other.
//!
//! Invariant: which candidates are tried, cut off and selected follows from scores alone, so a search that continues an
//! interrupted one ends as if it had not been interrupted.

use manyview_base::error::{Error, Result};
use serde::Serialize;

use super::event::Event;
use super::gaussian::Process;
use super::lab::Lab;
use super::settings::{Search, TuneSettings};
use super::space::{Candidate, STAGES, Space, cut_point, with_stages};
use super::store::Measured;

/// A candidate is cut off if it is at least this far behind, and by this many standard errors.
const BEHIND: f64 = 0.02;
const STANDARD_ERRORS: f64 = 3.0;

/// The candidates with which a Bayesian search begins.
const FIRST: usize = 4;

/// A Bayesian search ends when no candidate is expected to be better by this much.
const LEAST_GAIN: f64 = 1e-4;

/// A candidate in a search.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The candidate.
    pub candidate: Candidate,
    /// Its name in files.
    pub name: String,
    /// The score after its last stage, or after the one where it was cut off; `None` if it failed.
    pub score: Option<f64>,
    /// After how many stages it was cut off, if it was.
    pub cut_after: Option<usize>,
    /// All that is known of it.
    pub measured: Measured,
}

impl Trial {
    /// Whether it may be selected.
    fn is_whole(&self) -> bool {
        self.score.is_some() && self.cut_after.is_none()
    }
}

/// What a search did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchResult {
    /// The search; `None` for the settings as given.
    pub search: Option<Search>,
    /// The candidates, in the order in which they were tried. Of early stopping, the one it selected.
    pub trials: Vec<Trial>,
    /// The place of the best one among them; the first, if several are equal.
    pub best: usize,
    /// Early stopping: the score after each stage.
    pub stages: Vec<super::store::StageScore>,
    /// Combinations of values without a valid plan.
    pub left_out: usize,
    /// The time of all its candidates, in seconds, shared stages counted once.
    pub seconds: f64,
}

/// How a candidate ended, for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It was scored after all of its stages.
    Whole,
    /// It was cut off.
    Cut,
    /// It failed.
    Failed,
}

impl Trial {
    /// How it ended.
    pub fn ending(&self) -> Ending {
        match (self.score, self.cut_after) {
            (None, _) => Ending::Failed,
            (_, Some(_)) => Ending::Cut,
            _ => Ending::Whole,
        }
    }
}

/// What all searches of a call share.
pub(super) struct Searcher<'l, 'a, 'o> {
    pub(super) lab: &'l mut Lab<'a, 'o>,
    pub(super) settings: &'l TuneSettings,
    pub(super) views: usize,
}

impl Searcher<'_, '_, '_> {
    /// The settings as given, with which all searches begin.
    pub(super) fn baseline(&mut self) -> Result<SearchResult> {
        let candidate = Candidate::baseline(&self.settings.model);
        let mut run = Run { searcher: self, search: None, of: 1, trials: Vec::new() };
        let score = run.try_one(candidate, None)?;
        if score.is_none() {
            let why = run.trials[0].measured.failed.clone().unwrap_or_default();
            return Err(Error::network(format!("the settings as given cannot be scored: {why}")));
        }
        run.end(0)
    }

    /// Runs a search. The settings as given are the first to be compared with.
    pub(super) fn run(&mut self, search: Search, baseline: &Trial) -> Result<SearchResult> {
        match search {
            Search::Grid => self.grid(baseline),
            Search::Bayes => self.bayes(baseline),
            Search::EarlyStopping => self.early_stopping(),
        }
    }

    fn grid(&mut self, baseline: &Trial) -> Result<SearchResult> {
        let Space { candidates, left_out } = self.space(false)?;
        let mut run =
            Run { searcher: self, search: Some(Search::Grid), of: candidates.len(), trials: Vec::new() };
        for candidate in candidates {
            run.try_one(candidate, Some(baseline))?;
        }
        run.end(left_out)
    }

    fn bayes(&mut self, baseline: &Trial) -> Result<SearchResult> {
        let Space { candidates, left_out } = self.space(true)?;
        let most = self.settings.trials.min(candidates.len());
        let points: Vec<Vec<f64>> = candidates.iter().map(|candidate| candidate.point.clone()).collect();
        let mut run = Run { searcher: self, search: Some(Search::Bayes), of: most, trials: Vec::new() };
        let (mut open, mut seen): (Vec<usize>, Vec<usize>) = ((0..candidates.len()).collect(), Vec::new());
        let mut scores: Vec<f64> = Vec::new();
        for number in 0..most {
            let next = if number < FIRST || scores.is_empty() {
                farthest(&points, &open, &seen)
            } else {
                let known: Vec<Vec<f64>> = seen.iter().map(|&at| points[at].clone()).collect();
                let process = Process::new(&known, &scores);
                let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let gain = |&at: &usize| process.expected_improvement(&points[at], best);
                let (next, gain) = first_best(&open, gain);
                if gain < LEAST_GAIN {
                    break;
                }
                next
            };
            open.retain(|&at| at != next);
            // Of a candidate that was cut off, the score at that stage: it is too low, but so is the candidate.
            if let Some(score) = run.try_one(candidates[next].clone(), Some(baseline))? {
                seen.push(next);
                scores.push(score);
            }
        }
        run.end(left_out)
    }

    fn early_stopping(&mut self) -> Result<SearchResult> {
        let (model, views) = (&self.settings.model, self.views);
        let works = |stages: &usize| {
            with_stages(model, *stages, views).is_ok_and(|found| found.mnmf().plan(views).is_ok())
        };
        // An error of the settings, not of the number of stages.
        with_stages(model, *STAGES.start(), views)?;
        let most = (*STAGES.start()..=*STAGES.end()).take_while(works).last();
        let most = most.ok_or_else(|| Error::config("early stopping needs at least two stages"))?;
        let longest = with_stages(model, most, views)?;
        let (mut falls, mut best): (usize, Option<(usize, f64)>) = (0, None);
        let (mut stages, mut before) = (Vec::new(), f64::NEG_INFINITY);
        let mut seconds = 0.0;
        for stage in 1..=most {
            let at = with_stages(model, stage, views)?;
            let title = at.title();
            let search = Some(Search::EarlyStopping);
            self.lab.tell(&Event::Started { search, candidate: &title, number: stage, of: most })?;
            let (known, reused) = self.lab.measure_every(&longest, &at)?;
            let time = if reused { 0.0 } else { known.seconds - seconds };
            seconds = known.seconds;
            let Some(found) = known.after(stage).cloned() else {
                let failed = known.failed.as_deref();
                self.told(None, failed, best, time, reused)?;
                break;
            };
            let score = found.score;
            stages.push(found);
            if stage >= *STAGES.start() && best.is_none_or(|(_, known)| score > known) {
                best = Some((stage, score));
            }
            self.told(Some(score), None, best, time, reused)?;
            falls = if score < before { falls + 1 } else { 0 };
            before = score;
            if falls >= self.settings.patience && stage >= *STAGES.start() {
                break;
            }
        }
        let Some((stage, _)) = best else {
            return Err(Error::network("early stopping found no stage with a score"));
        };
        let candidate = with_stages(model, stage, views)?;
        let measured = self.lab.measure(&candidate, stage)?;
        let trial = Trial {
            name: self.lab.name(&candidate),
            score: measured.after(stage).map(|found| found.score),
            cut_after: None,
            candidate,
            measured,
        };
        let search = Some(Search::EarlyStopping);
        Ok(SearchResult { search, trials: vec![trial], best: 0, stages, left_out: 0, seconds })
    }

    fn told(
        &mut self,
        score: Option<f64>,
        failed: Option<&str>,
        best: Option<(usize, f64)>,
        seconds: f64,
        reused: bool,
    ) -> Result<()> {
        let title = best.map(|(stage, score)| (score, format!("stages {stage}")));
        let best = title.as_ref().map(|(score, title)| (*score, title.as_str()));
        self.lab.tell(&Event::Finished { score, cut_after: None, failed, best, seconds, reused })
    }

    fn space(&self, dense: bool) -> Result<Space> {
        Space::new(&self.settings.model, &self.settings.over, self.views, dense)
    }
}

/// A search that is running.
struct Run<'s, 'l, 'a, 'o> {
    searcher: &'s mut Searcher<'l, 'a, 'o>,
    search: Option<Search>,
    of: usize,
    trials: Vec<Trial>,
}

impl Run<'_, '_, '_, '_> {
    /// Measures a candidate, up to the stage where it may be cut off and, unless it is clearly behind the best one so far, to
    /// the end. Returns its score.
    fn try_one(&mut self, candidate: Candidate, baseline: Option<&Trial>) -> Result<Option<f64>> {
        let (lab, settings) = (&mut *self.searcher.lab, self.searcher.settings);
        let title = candidate.title();
        let number = self.trials.len() + 1;
        lab.tell(&Event::Started { search: self.search, candidate: &title, number, of: self.of })?;
        let (name, stages) = (lab.name(&candidate), candidate.mnmf().stages);
        let before = lab.known(&candidate);
        let point = cut_point(&candidate.mnmf().plan(self.searcher.views)?);
        let mut measured = lab.measure(&candidate, point.unwrap_or(stages))?;
        let leader = best(&self.trials).or(baseline).filter(|_| settings.cut);
        let is_behind =
            |point: &usize| leader.is_some_and(|leader| clearly_behind(&measured, *point, leader));
        let cut_after = point.filter(is_behind);
        if cut_after.is_none() {
            measured = lab.measure(&candidate, stages)?;
        }
        let score = measured.after(cut_after.unwrap_or(stages)).map(|found| found.score);
        let (seconds, reused) = (measured.seconds, before == measured);
        let failed = measured.failed.clone();
        self.trials.push(Trial { candidate, name, score, cut_after, measured });
        let best = best(&self.trials).map(|trial| (trial.score.unwrap_or(0.0), trial.candidate.title()));
        let best = best.as_ref().map(|(score, title)| (*score, title.as_str()));
        let lab = &mut *self.searcher.lab;
        lab.tell(&Event::Finished { score, cut_after, failed: failed.as_deref(), best, seconds, reused })?;
        Ok(score)
    }

    fn end(self, left_out: usize) -> Result<SearchResult> {
        let best = self
            .trials
            .iter()
            .position(|trial| best(&self.trials).is_some_and(|best| best.name == trial.name));
        let Some(best) = best else {
            let why = self.trials.iter().find_map(|trial| trial.measured.failed.clone());
            return Err(Error::network(format!(
                "no candidate has a score after all of its stages: {}",
                why.unwrap_or_else(|| "all were cut off".into())
            )));
        };
        let seconds = self.trials.iter().map(|trial| trial.measured.seconds).sum();
        Ok(SearchResult {
            search: self.search,
            best,
            stages: Vec::new(),
            left_out,
            seconds,
            trials: self.trials,
        })
    }
}

/// The best candidate that was not cut off; the first, if several are equal.
fn best(trials: &[Trial]) -> Option<&Trial> {
    let whole = trials.iter().filter(|trial| trial.is_whole());
    whole.reduce(|best, other| if other.score > best.score { other } else { best })
}

/// Whether a candidate after some of its stages is clearly behind another one with at most as many columns. Rounds have the
/// same nodes for both, so their differences count.
fn clearly_behind(measured: &Measured, stages: usize, leader: &Trial) -> bool {
    let Some(own) = measured.after(stages) else { return false };
    let Some(other) = leader.measured.stages.iter().rfind(|other| other.dim <= own.dim) else { return false };
    let behind: Vec<f64> = other.rounds.iter().zip(&own.rounds).map(|(other, own)| other - own).collect();
    let count = behind.len() as f64;
    let mean = behind.iter().sum::<f64>() / count;
    let squares: f64 = behind.iter().map(|x| (x - mean).powi(2)).sum();
    let error = if behind.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
    mean > BEHIND.max(STANDARD_ERRORS * error)
}

/// The open point that is farthest from all seen ones; the first point of all, in the middle, if there are none.
fn farthest(points: &[Vec<f64>], open: &[usize], seen: &[usize]) -> usize {
    let squared = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
    if seen.is_empty() {
        let dim = points[0].len();
        let middle: Vec<f64> = (0..dim)
            .map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / points.len() as f64)
            .collect();
        return first_best(open, |&at| -squared(&points[at], &middle)).0;
    }
    let nearest = |&at: &usize| {
        seen.iter().map(|&other| squared(&points[at], &points[other])).fold(f64::INFINITY, f64::min)
    };
    first_best(open, nearest).0
}

/// The item with the largest value, and the value; the first, if several are equal.
fn first_best(items: &[usize], value: impl Fn(&usize) -> f64) -> (usize, f64) {
    let mut best = (items[0], value(&items[0]));
    for item in &items[1..] {
        let found = value(item);
        if found > best.1 {
            best = (*item, found);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::tune::store::StageScore;

    fn measured(stage: usize, rounds: &[f64]) -> Measured {
        let score = rounds.iter().sum::<f64>() / rounds.len() as f64;
        let stage = StageScore { stage, dim: 8, error: 0.5, score, rounds: rounds.to_vec() };
        Measured { stages: vec![stage], ..Measured::default() }
    }

    #[test]
    fn only_what_is_clearly_behind_is_cut_off() {
        let leader = Trial {
            candidate: Candidate::baseline(&Model::default()),
            name: String::new(),
            score: Some(0.8),
            cut_after: None,
            measured: measured(4, &[0.7, 0.8, 0.9, 0.8]),
        };
        let behind = |rounds: &[f64]| clearly_behind(&measured(2, rounds), 2, &leader);
        assert!(behind(&[0.6, 0.7, 0.8, 0.7]), "ten points in each round");
        assert!(!behind(&[0.695, 0.795, 0.895, 0.795]), "half a point");
        assert!(!behind(&[0.9, 0.4, 0.9, 0.8]), "in one round only");
        assert!(!behind(&[0.8, 0.9, 1.0, 0.9]), "ahead");
        assert!(!clearly_behind(&measured(3, &[0.1; 4]), 2, &leader), "not measured there");
        let mut narrow = measured(2, &[0.1; 4]);
        narrow.stages[0].dim = 7;
        assert!(!clearly_behind(&narrow, 2, &leader), "the other one has more columns");
    }

    #[test]
    fn first_points_are_far_from_each_other() {
        let points: Vec<Vec<f64>> = (0..11).map(|at| vec![f64::from(at) / 10.0]).collect();
        let mut open: Vec<usize> = (0..11).collect();
        let mut seen = Vec::new();
        for expected in [5, 0, 10, 2] {
            let next = farthest(&points, &open, &seen);
            assert_eq!(next, expected);
            open.retain(|&at| at != next);
            seen.push(next);
        }
    }
}

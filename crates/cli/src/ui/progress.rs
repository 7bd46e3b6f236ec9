//! Progress on standard error: a bar per phase on a terminal, otherwise a line now and then, and nothing with `--quiet`.
//!
//! A bar and what is shown next to it fit into 80 columns.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use manyview::io::Reading;
use manyview::method::{Progress, StageRecord};
use manyview::{evaluate, layout};

use super::table::shortened;
use super::time_left::{TimeLeft, words};
use super::{plural, seconds, tell};

/// The length of a bar, in thousandths.
const FULL: u64 = 1000;

/// What is left of 80 columns is enough for the longest messages.
const BAR: &str = "{prefix:9} {bar:20} {wide_msg}";

/// The longest name of a view or file next to a bar.
const NAME: usize = 16;

/// Without bars, work that takes long prints a line after this time, and then ever less often.
const LINE_AFTER: Duration = Duration::from_secs(10);

/// Reports the progress.
pub(crate) struct Reporter {
    mode: Mode,
    bar: Option<(Phase, ProgressBar)>,
    began: Instant,
    left: TimeLeft,
    /// The share of the phase that was done last.
    done: f64,
    /// When the last line was printed, without bars.
    line: Instant,
    /// Records of the current stage, for its line.
    stage: Vec<StageRecord>,
    /// What is not explained of each view: all of it, until a stage ends that it is part of.
    residuals: BTreeMap<String, f64>,
    detail: Detail,
}

/// Which steps are reported when they begin or end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Nothing,
    Phases,
    Stages,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Bars,
    Lines,
    Quiet,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Reading,
    Proximity,
    Method,
    Neighbors,
    Map,
    Evaluation,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Reading => "reading",
            Phase::Proximity => "proximity",
            Phase::Method => "embedding",
            Phase::Neighbors => "neighbors",
            Phase::Map => "map",
            Phase::Evaluation => "measuring",
        }
    }
}

impl Reporter {
    pub(crate) fn new(quiet: bool) -> Self {
        let mode = match () {
            () if quiet => Mode::Quiet,
            () if std::io::stderr().is_terminal() => Mode::Bars,
            () => Mode::Lines,
        };
        let now = Instant::now();
        Reporter {
            mode,
            bar: None,
            began: now,
            left: TimeLeft::default(),
            done: 0.0,
            line: now,
            stage: Vec::new(),
            residuals: BTreeMap::new(),
            detail: Detail::Phases,
        }
    }

    /// A reporter for commands in which a fit is a small part of the work.
    pub(crate) fn brief(self) -> Self {
        Reporter { detail: Detail::Nothing, ..self }
    }

    /// A reporter that prints what each stage found.
    pub(crate) fn with_stages(self) -> Self {
        Reporter { detail: Detail::Stages, ..self }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.mode == Mode::Quiet
    }

    /// Prints a sentence, above the bar if there is one.
    pub(crate) fn say(&self, sentence: &str) {
        match (&self.bar, self.mode) {
            (_, Mode::Quiet) => {}
            (Some((_, bar)), Mode::Bars) => bar.suspend(|| tell(sentence)),
            _ => tell(sentence),
        }
    }

    pub(crate) fn reading(&mut self, now: &Reading<'_>) {
        let done = now.total.map_or(0.0, |total| now.bytes as f64 / total.max(1) as f64);
        let file =
            now.path.file_name().map_or_else(|| "standard input".into(), |name| name.to_string_lossy());
        self.advance(Phase::Reading, done, || {
            format!("{}, {}", shortened(&file, NAME), plural(now.edges as usize, "edge"))
        });
    }

    /// Shows the number of finished splits or restarts of k-means.
    pub(crate) fn evaluating(&mut self, step: evaluate::Step, parts: &str) {
        let done = step.done as f64 / step.total.max(1) as f64;
        self.advance(Phase::Evaluation, done, || format!("{} of {} {parts}", step.done, step.total));
    }

    pub(crate) fn fitting(&mut self, now: &Progress<'_>) {
        match *now {
            Progress::Working { doing, view, done } => {
                let phase = if doing == Phase::Proximity.name() { Phase::Proximity } else { Phase::Method };
                if let Some(name) = view.filter(|_| phase == Phase::Proximity) {
                    self.residuals.insert(name.to_owned(), 1.0);
                }
                let view = view.map(|view| format!(", view {}", shortened(view, NAME))).unwrap_or_default();
                self.advance(phase, done, || format!("{doing}{view}"));
            }
            Progress::Iteration { stage, stages, done, .. } => {
                self.end_stage_before(stage);
                // The last stage may be that of an earlier fit.
                let residual = self.mean_residual().filter(|_| stage > 1);
                let residual =
                    residual.map(|share| format!(", residual {:.1}%", 100.0 * share)).unwrap_or_default();
                self.advance(Phase::Method, done, || format!("stage {stage} of {stages}{residual}"));
            }
            Progress::StageFinished(record) => {
                self.end_stage_before(record.stage);
                self.stage.push(record.clone());
            }
            _ => {}
        }
    }

    /// Shows the number of computed rows of the proximities of all views.
    pub(crate) fn proximities(&mut self, done: usize, rows: usize) {
        let share = done as f64 / rows.max(1) as f64;
        self.advance(Phase::Proximity, share, || format!("row {done} of {rows}"));
    }

    /// Shows the number of nodes whose neighbors were found.
    pub(crate) fn neighbors(&mut self, done: usize, nodes: usize) {
        let share = done as f64 / nodes.max(1) as f64;
        self.advance(Phase::Neighbors, share, || format!("node {done} of {nodes}"));
    }

    pub(crate) fn laying_out(&mut self, step: layout::Step) {
        // The neighbor search takes about a tenth of the time.
        let (share, what) = match step {
            layout::Step::Neighbors(done, all) => {
                (0.1 * done as f64 / all as f64, format!("neighbors of node {done} of {all}"))
            }
            layout::Step::Descent(done, all) => {
                (0.1 + 0.9 * done as f64 / all as f64, format!("iteration {done} of {all}"))
            }
        };
        self.advance(Phase::Map, share, || what);
    }

    /// Removes the bar; without bars, the line of the phase stays.
    pub(crate) fn finish(&mut self) {
        self.end_stage();
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn advance(&mut self, phase: Phase, done: f64, message: impl FnOnce() -> String) {
        if self.bar.as_ref().is_none_or(|(now, _)| *now != phase) {
            self.begin(phase);
        }
        // A part of the work that was tried out is done once more.
        if done + 0.05 < self.done {
            (self.began, self.left) = (Instant::now(), TimeLeft::default());
        }
        self.done = done;
        let Some((_, bar)) = &self.bar else { return };
        let left = self.left.after(self.began.elapsed().as_secs_f64(), done).filter(|&left| left >= 1.0);
        // At the beginning, since a narrow terminal truncates the end.
        let left = left.map(|left| format!("{} left, ", words(left))).unwrap_or_default();
        match self.mode {
            Mode::Bars => {
                bar.set_position((done * FULL as f64) as u64);
                bar.set_message(left + &message());
            }
            Mode::Lines if self.line.elapsed() > LINE_AFTER.max(self.began.elapsed() / 10) => {
                tell(format_args!("{} {:.0}%: {left}{}", phase.name(), 100.0 * done, message()));
                self.line = Instant::now();
            }
            Mode::Lines | Mode::Quiet => {}
        }
    }

    fn begin(&mut self, phase: Phase) {
        self.finish();
        self.began = Instant::now();
        (self.left, self.done, self.line) = (TimeLeft::default(), 0.0, self.began);
        let bar = match self.mode {
            Mode::Bars => {
                let style = ProgressStyle::with_template(BAR).expect("the template is valid");
                let bar = ProgressBar::new(FULL).with_style(style).with_prefix(phase.name());
                bar.enable_steady_tick(Duration::from_millis(200));
                bar
            }
            Mode::Lines | Mode::Quiet => ProgressBar::hidden(),
        };
        let line = match phase {
            Phase::Proximity => Some("computing proximities"),
            Phase::Neighbors => Some("searching for the nearest nodes"),
            Phase::Map => Some("computing the map"),
            Phase::Reading | Phase::Method | Phase::Evaluation => None,
        };
        if let Some(line) = line.filter(|_| self.mode == Mode::Lines && self.detail != Detail::Nothing) {
            tell(line);
        }
        self.bar = Some((phase, bar));
    }

    /// Ends the current stage if it is before this one.
    fn end_stage_before(&mut self, stage: usize) {
        if self.stage.last().is_some_and(|last| last.stage != stage) {
            self.end_stage();
        }
    }

    fn end_stage(&mut self) {
        let records = std::mem::take(&mut self.stage);
        let Some(first) = records.first() else { return };
        self.residuals.extend(records.iter().flat_map(|record| record.residual.clone()));
        if self.detail == Detail::Stages {
            self.say(&stage_line(first, &records));
        }
    }

    /// What the stages leave unexplained, on average over the views. It never rises from stage to stage, unlike the error of a
    /// factorization, which is relative to what the stage began with.
    fn mean_residual(&self) -> Option<f64> {
        let views = self.residuals.len();
        (views > 0).then(|| self.residuals.values().sum::<f64>() / views as f64)
    }
}

fn stage_line(first: &StageRecord, records: &[StageRecord]) -> String {
    let time: f64 = records.iter().map(|record| record.seconds).sum();
    let iterations: usize = records.iter().map(|record| record.iterations).sum();
    let left = records.iter().flat_map(|record| &record.residual);
    let left: Vec<String> = left.map(|(view, share)| format!("{view} {:.1}%", 100.0 * share)).collect();
    let kind = first.kind.of_stage().name();
    let (number, iterations, time) = (first.stage, plural(iterations, "iteration"), seconds(time));
    format!("stage {number} ({kind}): {iterations}, {time}; residual: {}", left.join(", "))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use manyview::{FitOptions, Mnmf, Model, digits};

    use super::*;

    /// The error of each factorization is relative to what it began with, and rose from stage to stage.
    #[test]
    fn the_residual_next_to_the_bar_falls() {
        let network = digits::network().unwrap();
        let model = Model::from(Mnmf { dim: 64, max_iter: 5, ..Mnmf::default() });
        let mut reporter = Reporter::new(true);
        let mut shown = Vec::new();
        let watch = &mut |now: &Progress<'_>| {
            reporter.fitting(now);
            let residual = reporter.mean_residual();
            if let Some(residual) = residual.filter(|residual| shown.last() != Some(residual)) {
                shown.push(residual);
            }
            ControlFlow::Continue(())
        };
        model.fit_with(&network, &FitOptions::default(), watch).unwrap();
        // After the stages before the last one.
        let shown = &shown[1..];
        assert!(shown.len() >= 3 && shown.is_sorted_by(|a, b| a > b), "{shown:?}");
        assert!(shown[0] < 1.0, "{shown:?}");
    }

    #[test]
    fn the_longest_line_fits_80_columns() {
        let prefix = "embedding ".len() + 20 + 1;
        let messages = [
            "59:59 h left, stage 32 of 32, residual 100.0%".to_owned(),
            format!("59 min left, proximity, view {}", shortened(&"x".repeat(40), NAME)),
            format!("60 s left, {}, 9,999,999 edges", shortened("a-long-name-of-a-file.tsv.gz", NAME)),
        ];
        for message in messages {
            assert!(prefix + message.chars().count() <= 80, "{message}");
        }
    }
}

//! Progress on standard error: a bar per phase on a terminal, otherwise a line per finished step, and nothing with
//! `--quiet`.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use manyview::io::Reading;
use manyview::method::{Progress, StageRecord};
use manyview::{evaluate, layout};

use super::{plural, seconds, tell};

/// The length of a bar, in thousandths.
const FULL: u64 = 1000;

/// Reports the progress.
pub(crate) struct Reporter {
    mode: Mode,
    bar: Option<(Phase, ProgressBar)>,
    began: Instant,
    /// Records of the current stage, for its line.
    stage: Vec<StageRecord>,
    /// Whether finished stages are reported.
    tells_stages: bool,
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
    Stages,
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
            Phase::Stages => "stages",
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
        Reporter { mode, bar: None, began: Instant::now(), stage: Vec::new(), tells_stages: true }
    }

    /// A reporter that omits stages, for commands in which a stage is a small part of the work.
    pub(crate) fn without_stages(self) -> Self {
        Reporter { tells_stages: false, ..self }
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
        self.advance(Phase::Reading, done, || format!("{file}, {}", plural(now.edges as usize, "edge")));
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
                let view = view.map(|view| format!(", view {view}")).unwrap_or_default();
                self.advance(phase, done, || format!("{doing}{view}"));
            }
            Progress::Iteration { stage, stages, kind, view, iteration, error, done } => {
                let view = view.map(|view| format!(" {view}")).unwrap_or_default();
                self.advance(Phase::Stages, done, || {
                    let (kind, percent) = (kind.name(), 100.0 * error);
                    format!(
                        "stage {stage} of {stages}, {kind}{view}, iteration {iteration}, error {percent:.2}%"
                    )
                });
            }
            Progress::StageFinished(record) => {
                if self.stage.last().is_some_and(|last| last.stage != record.stage) {
                    self.tell_stage();
                }
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
        self.tell_stage();
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn advance(&mut self, phase: Phase, done: f64, message: impl FnOnce() -> String) {
        if self.bar.as_ref().is_none_or(|(now, _)| *now != phase) {
            self.begin(phase);
        }
        let Some((_, bar)) = &self.bar else { return };
        if self.mode == Mode::Bars {
            let left =
                if done > 0.01 { self.began.elapsed().as_secs_f64() * (1.0 - done) / done } else { 0.0 };
            // At the beginning, since a narrow terminal truncates the end.
            let left = match left {
                left if left < 1.0 => String::new(),
                left if left < 99.5 => format!("{left:.0} s left, "),
                left => format!("{} left, ", seconds(left)),
            };
            bar.set_position((done * FULL as f64) as u64);
            bar.set_message(left + &message());
        }
    }

    fn begin(&mut self, phase: Phase) {
        self.finish();
        self.began = Instant::now();
        let bar = match self.mode {
            Mode::Bars => {
                let style = ProgressStyle::with_template("{prefix:9} {bar:24} {wide_msg}")
                    .expect("the template is valid");
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
            Phase::Reading | Phase::Stages | Phase::Method | Phase::Evaluation => None,
        };
        if let Some(line) = line.filter(|_| self.mode == Mode::Lines && self.tells_stages) {
            tell(line);
        }
        self.bar = Some((phase, bar));
    }

    fn tell_stage(&mut self) {
        let records = std::mem::take(&mut self.stage);
        if self.mode == Mode::Lines
            && self.tells_stages
            && let Some(first) = records.first()
        {
            tell(stage_line(first, &records));
        }
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

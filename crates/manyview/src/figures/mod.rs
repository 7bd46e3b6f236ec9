//! The figures of the paper, for any network: how scores and errors depend on the stages and settings of MNMF, what the views
//! weigh, maps after some stages, and the running time.
//!
//! [`figures()`] computes what they show (`studio.rs` fits and scores; `draw.rs` has one function per figure; `part.rs` takes
//! parts of a network, for the running time). Front ends print the events and draw the panels.
//!
//! Invariant: everything but the times follows from the network, the labels and the settings except `threads`.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use manyview::figures::{Figure, FigureSettings, figures};
//! use manyview::generate::Planted;
//! use manyview::{Mnmf, Model};
//!
//! let network = Planted { nodes: 100, views: 2, communities: 3, ..Planted::default() }.generate()?.network()?;
//! let model = Model::from(Mnmf { dim: 16, ..Mnmf::default() });
//! let settings = FigureSettings { model, figures: vec![Figure::Weights], ..FigureSettings::default() };
//! let found = figures(&network, None, &settings, &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(found.drawings[0].panels[0].curves.len(), 2);
//! # Ok::<(), manyview::Error>(())
//! ```

mod draw;
mod part;
mod studio;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use manyview_analysis::evaluate::{ClassifySettings, Cost, Step, Summary};
use manyview_analysis::layout;
use manyview_base::error::{Error, Result};
use manyview_base::message::option;
use manyview_base::named;
use manyview_core::method::Progress;
use manyview_data::Network;
use manyview_data::labels::Labels;
use serde::Serialize;

use crate::model::{Method, Model};
use studio::Studio;

named! {
    /// A figure of the paper.
    pub enum Figure {
        Stages = "stages", "scores and mean approximation error over the number of stages";
        Weights = "weights", "weight of each view in each shared consensus stage, for the given gamma";
        Maps = "maps", "maps of the nodes after 2, 4 and 8 stages";
        Ablation = "ablation", "scores without one of the parts of the method";
        Dim = "dim", "scores over the number of columns";
        Gamma = "gamma", "scores over the exponent of the view weights";
        ConsensusStages = "consensus-stages", "scores over the number of consensus stages";
        Time = "time", "running time over the number of entries, on parts of the network";
    }
}

impl Figure {
    /// Whether nothing can be drawn without labels.
    pub fn needs_labels(self) -> bool {
        matches!(self, Figure::Ablation | Figure::Dim | Figure::Gamma | Figure::ConsensusStages)
    }

    /// The names of its panels.
    pub fn panel_names(self) -> &'static [&'static str] {
        match self {
            Figure::Stages => &["stages", "stages-error"],
            Figure::Weights => &["weights"],
            Figure::Maps => &["map-2", "map-4", "map-8"],
            Figure::Ablation => &["ablation"],
            Figure::Dim => &["dim"],
            Figure::Gamma => &["gamma"],
            Figure::ConsensusStages => &["consensus-stages"],
            Figure::Time => &["time"],
        }
    }
}

/// The settings of [`figures()`].
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSettings {
    /// MNMF with the settings that a figure does not vary, the seed and the number of threads.
    pub model: Model,
    /// The figures; empty for all that can be drawn.
    pub figures: Vec<Figure>,
    /// The fraction of the labeled nodes to train on.
    pub train: f64,
    /// The number of splits.
    pub repeats: usize,
    /// The weight C of the classifier.
    pub c: Cost,
    /// The most memory that a fit may need, in bytes; what is available when not given.
    pub max_memory: Option<u64>,
}

impl Default for FigureSettings {
    fn default() -> Self {
        let ClassifySettings { repeats, c, .. } = ClassifySettings::default();
        // The paper's figures have this fraction.
        let train = 0.5;
        FigureSettings { model: Model::default(), figures: Vec::new(), train, repeats, c, max_memory: None }
    }
}

impl FigureSettings {
    /// Checks everything that does not depend on the network or the labels.
    ///
    /// # Errors
    /// [`Error::Config`] for the first invalid setting.
    pub fn check(&self) -> Result<()> {
        if self.model.method() != Method::Mnmf {
            let name = self.model.method().name();
            return Err(Error::config(format!("figures show mnmf only, not {name}")));
        }
        self.model.check()?;
        if self.mnmf().auto {
            return Err(Error::config(format!(
                "figures vary the plan, which {} would choose; leave it out",
                option("auto")
            )));
        }
        if self.mnmf().stage_dims.is_some() {
            return Err(Error::config(format!(
                "figures vary the plan, which {} fixes; leave it out",
                option("stage_dims")
            )));
        }
        self.classify().check()
    }

    fn classify(&self) -> ClassifySettings {
        let (train, repeats, seed, c) = (vec![self.train], self.repeats, self.model.seed, self.c);
        ClassifySettings { train, repeats, seed, c, ..ClassifySettings::default() }
    }

    /// The figures to draw, each once, with or without labels.
    ///
    /// # Errors
    /// When one of those that are asked for needs labels, and there are none.
    fn wanted(&self, labeled: bool) -> Result<Vec<Figure>> {
        let missing = |figure: &Figure| figure.needs_labels() && !labeled;
        if self.figures.is_empty() {
            return Ok(Figure::ALL.into_iter().filter(|figure| !missing(figure)).collect());
        }
        match self.figures.iter().find(|figure| missing(figure)) {
            Some(figure) => Err(Error::config(format!(
                "the figure {} shows scores, which need labels; give {}",
                figure.name(),
                option("labels")
            ))),
            None => Ok(Figure::ALL.into_iter().filter(|figure| self.figures.contains(figure)).collect()),
        }
    }
}

/// The result of [`figures()`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Figures {
    /// The figures, in the order of [`Figure::ALL`].
    pub drawings: Vec<Drawing>,
    /// What was left out, and why: sentences without a full stop.
    pub notes: Vec<String>,
}

/// A figure.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Drawing {
    /// Which one.
    pub figure: Figure,
    /// Its panels.
    pub panels: Vec<Panel>,
}

/// What one coordinate system of a figure shows.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Panel {
    /// One of [`Figure::panel_names`].
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// How it is drawn.
    pub shape: Shape,
    /// What the values are.
    pub unit: Unit,
    /// What varies from tick to tick.
    pub axis: &'static str,
    /// The values that it has.
    pub ticks: Vec<String>,
    /// A value per tick and curve.
    pub curves: Vec<Curve>,
    /// The coordinates of each node in a map, in [-1, 1]; `None` for a node with a zero vector.
    pub places: Vec<Option<[f32; 2]>>,
}

/// A row of values.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// A value per tick; of scores with the standard deviation over splits.
    pub values: Vec<Summary>,
}

named! {
    /// How a panel is drawn.
    pub enum Shape {
        Curves = "curves", "a curve per row, over the ticks";
        Bars = "bars", "a bar per tick and row";
        Map = "map", "a point per node";
    }
}

named! {
    /// What values are.
    pub enum Unit {
        Share = "share", "shares of 1, shown in percent";
        Seconds = "seconds", "seconds";
    }
}

/// What is reported while figures are computed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A figure is begun: its number from 1, and how many there are.
    Figure(Figure, usize, usize),
    /// Another variant of the method is fitted: `8`, `no consensus`.
    Variant(&'a str),
    /// A fit makes progress.
    Fitting(&'a Progress<'a>),
    /// Vectors are scored.
    Measuring(Step),
    /// Nodes are placed on a map.
    LayingOut(layout::Step),
    /// Something is left out: a sentence without a full stop.
    Note(&'a str),
}

/// Receives events on the calling thread; a break ends the computation.
pub type Observer<'a> = dyn FnMut(&Event<'_>) -> ControlFlow<()> + 'a;

/// Computes figures. Without labels, those that show scores are left out.
///
/// # Errors
/// When a setting is invalid, labels are missing or do not fit the network, a fit fails, or the memory does not suffice;
/// [`Error::Interrupted`] when the observer breaks.
pub fn figures(
    network: &Network,
    labels: Option<&Labels>,
    settings: &FigureSettings,
    observer: &mut Observer<'_>,
) -> Result<Figures> {
    settings.check()?;
    let wanted = settings.wanted(labels.is_some())?;
    settings.mnmf().plan(network.views().len())?;
    if let Some(labels) = labels {
        if labels.rows() != network.nodes().len() {
            let (nodes, rows) = (network.nodes().len(), labels.rows());
            return Err(Error::network(format!(
                "the network has {nodes} nodes but there are labels for {rows}; use the labels of the same nodes"
            )));
        }
        settings.classify().label_notes(labels)?;
    }
    let mut studio = Studio::new(network, labels, settings, observer)?;
    if labels.is_none() && settings.figures.is_empty() {
        let left_out = Figure::ALL.into_iter().filter(|figure| figure.needs_labels()).map(Figure::name);
        let names = left_out.collect::<Vec<_>>().join(", ");
        studio.note(format!("without labels, {names} are left out, which show scores"))?;
    }
    let mut drawings = Vec::with_capacity(wanted.len());
    for (at, &figure) in wanted.iter().enumerate() {
        studio.tell(&Event::Figure(figure, at + 1, wanted.len()))?;
        let panels = studio.draw(figure)?;
        if panels.is_empty() {
            studio.note(format!("the figure {} is left out: no variant is possible", figure.name()))?;
            continue;
        }
        drawings.push(Drawing { figure, panels });
    }
    Ok(Figures { drawings, notes: studio.into_notes() })
}

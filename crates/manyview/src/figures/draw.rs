//! What each figure shows.

use manyview_analysis::evaluate::{ShareScores, Summary};
use manyview_base::error::{Error, Result};
use manyview_core::method::Fit;
use manyview_core::mnmf::{ColumnLayout, Consensus, Joint, Mnmf};
use manyview_core::trials::{approximation_errors, first_stages};
use manyview_data::embedding::{Embedding, Kind};

use super::part::part;
use super::studio::Studio;
use super::{Curve, Figure, Panel, Shape, Unit};
use crate::compare::Sweep;
use crate::compare::variants::{ablations, values};

/// The stages whose weights are shown, and after which the last map is drawn, as in the paper.
const EIGHT: usize = 8;

/// The paper tries up to this many stages.
const MOST_STAGES: usize = 64;

/// The parts of the nodes on which the running time is measured.
const PARTS: [(f64, &str); 4] = [(0.125, "1/8"), (0.25, "1/4"), (0.5, "1/2"), (1.0, "all")];

impl Studio<'_, '_> {
    /// The panels of a figure; none if no variant is possible.
    pub(super) fn draw(&mut self, figure: Figure) -> Result<Vec<Panel>> {
        let ours = self.ours.clone();
        match figure {
            Figure::Stages => self.stages(&ours),
            Figure::Weights => self.weights(&ours),
            Figure::Maps => self.maps(&ours),
            Figure::Ablation => {
                let views = self.network.views().len();
                let variants =
                    ablations(&ours, views).into_iter().map(|(name, mnmf)| (name.to_owned(), mnmf));
                let all = [("mnmf".to_owned(), ours)].into_iter().chain(variants).collect();
                self.scored("ablation", "without one of its parts", Shape::Bars, "variant", all)
            }
            Figure::Dim => {
                let all = values(Sweep::Dim, &ours);
                self.scored("dim", "over the number of columns", Shape::Curves, "columns", all)
            }
            Figure::Gamma => {
                let all = values(Sweep::Gamma, &ours);
                let title = "over gamma, shared consensus stages";
                self.scored("gamma", title, Shape::Curves, "gamma", all)
            }
            Figure::ConsensusStages => {
                let title = format!("over the number of consensus stages, of {}", ours.stages);
                let all = values(Sweep::ConsensusStages, &ours);
                self.scored("consensus-stages", &title, Shape::Curves, "consensus stages", all)
            }
            Figure::Time => self.time(&ours),
        }
    }

    /// Scores of variants.
    fn scored(
        &mut self,
        name: &'static str,
        title: &str,
        shape: Shape,
        axis: &'static str,
        variants: Vec<(String, Mnmf)>,
    ) -> Result<Vec<Panel>> {
        let found = self.measured(name, variants)?;
        let ticks = found.iter().map(|(name, _)| name.clone()).collect();
        let scores: Vec<ShareScores> = found.into_iter().filter_map(|(_, (_, scores))| scores).collect();
        let panel = Panel { shape, axis, ticks, ..Panel::new(name, format!("F1 {title}")) };
        Ok(if scores.is_empty() { Vec::new() } else { vec![panel.with_scores(&scores)] })
    }

    /// The error after the last stage, and the scores if there are labels, of those variants that are possible.
    #[expect(clippy::type_complexity, reason = "a name, an error and scores")]
    fn measured(
        &mut self,
        what: &str,
        variants: Vec<(String, Mnmf)>,
    ) -> Result<Vec<(String, (f64, Option<ShareScores>))>> {
        let possible = self.possible(what, variants)?;
        // The widest needs most.
        if let Some((_, widest)) = possible.iter().max_by_key(|(_, mnmf)| mnmf.dim) {
            self.check_memory(widest)?;
        }
        let mut found = Vec::with_capacity(possible.len());
        for (name, mnmf) in possible {
            let fit = self.fit(&name, &mnmf)?;
            let error = approximation_errors(&fit).last().copied().unwrap_or(1.0);
            found.push((name, (error, self.scores(&fit)?)));
        }
        Ok(found)
    }

    fn stages(&mut self, ours: &Mnmf) -> Result<Vec<Panel>> {
        let mut variants = values(Sweep::Stages, ours);
        variants.push((
            MOST_STAGES.to_string(),
            Mnmf { stages: MOST_STAGES, consensus_stages: None, ..ours.clone() },
        ));
        let found = self.measured("stages", variants)?;
        let ticks: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
        let errors = found.iter().map(|(_, (error, _))| plain(*error)).collect();
        let scores: Vec<ShareScores> = found.into_iter().filter_map(|(_, (_, scores))| scores).collect();
        let axis = "stages";
        let title = "F1 over the number of stages".to_owned();
        let scored = Panel { axis, ticks: ticks.clone(), ..Panel::new("stages", title) };
        let title = "mean approximation error over the number of stages".to_owned();
        let curves = vec![Curve { name: "error".into(), values: errors }];
        let error = Panel { axis, ticks, curves, ..Panel::new("stages-error", title) };
        let scored = (!scores.is_empty()).then(|| scored.with_scores(&scores));
        Ok(scored.into_iter().chain((!error.ticks.is_empty()).then_some(error)).collect())
    }

    /// Only shared stages have weights. All stages are such stages, without the union of the views, as in the paper.
    fn weights(&mut self, ours: &Mnmf) -> Result<Vec<Panel>> {
        let mnmf = Mnmf {
            consensus: Consensus::Shared,
            joint: Joint::Off,
            stages: EIGHT,
            consensus_stages: Some(EIGHT),
            layout: ColumnLayout::Even,
            ..ours.clone()
        };
        let possible = self.possible("weights", vec![("shared stages".into(), mnmf)])?;
        let Some((name, mnmf)) = possible.into_iter().next() else { return Ok(Vec::new()) };
        self.check_memory(&mnmf)?;
        let fit = self.fit(&name, &mnmf)?;
        let weights = |view: &str| {
            let of_stage = |weights: &std::collections::BTreeMap<String, f64>| {
                plain(weights.get(view).copied().unwrap_or(0.0))
            };
            fit.stages.iter().map(|record| of_stage(&record.weights)).collect()
        };
        let curve = |name: &String| Curve { name: name.clone(), values: weights(name) };
        let curves = fit.views.iter().map(|view| curve(&view.name)).collect();
        let ticks = fit.stages.iter().map(|record| record.stage.to_string()).collect();
        let title = format!("view weights in shared consensus stages, gamma {}", mnmf.gamma);
        Ok(vec![Panel { axis: "stage", ticks, curves, ..Panel::new("weights", title) }])
    }

    fn maps(&mut self, ours: &Mnmf) -> Result<Vec<Panel>> {
        let mnmf = Mnmf { stages: EIGHT, consensus_stages: None, ..ours.clone() };
        let possible = self.possible("maps", vec![(format!("{EIGHT} stages"), mnmf)])?;
        let Some((name, mnmf)) = possible.into_iter().next() else { return Ok(Vec::new()) };
        self.check_memory(&mnmf)?;
        let fit = self.fit(&name, &mnmf)?;
        let mut panels = Vec::new();
        for (&name, stages) in Figure::Maps.panel_names().iter().zip([2, 4, EIGHT]) {
            let (values, dim) = first_stages(&fit.embedding, stages);
            let embedding = Embedding::new(fit.embedding.nodes().clone(), dim, values, Vec::new());
            let places = self.layout(&embedding)?;
            let title = format!("map after {stages} of {EIGHT} stages, {dim} columns");
            panels.push(Panel { shape: Shape::Map, places, ..Panel::new(name, title) });
        }
        Ok(panels)
    }

    fn time(&mut self, ours: &Mnmf) -> Result<Vec<Panel>> {
        self.check_memory(ours)?;
        let (mut ticks, mut rows) = (Vec::new(), [const { Vec::new() }; 3]);
        for (share, name) in PARTS {
            let network = part(self.network, share, self.seed)?;
            match self.fit_other(&format!("{name} of the nodes"), &network, ours) {
                Ok(fit) => {
                    ticks.push(entries(&fit).to_string());
                    let of_kind = |consensus: bool| {
                        let records = fit.stages.iter();
                        let wanted = records.filter(|record| (record.kind == Kind::Consensus) == consensus);
                        wanted.map(|record| record.seconds).sum()
                    };
                    for (row, seconds) in
                        rows.iter_mut().zip([fit.seconds.proximity, of_kind(false), of_kind(true)])
                    {
                        row.push(plain(seconds));
                    }
                }
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // A small part may have a view without edges.
                Err(error) => self.note(format!("time leaves out {name} of the nodes: {error}"))?,
            }
        }
        let names = ["proximity", "unique stages", "consensus stages"];
        let curve = |(name, values): (&str, Vec<Summary>)| Curve { name: name.into(), values };
        let curves = names.into_iter().zip(rows).map(curve).collect();
        let title = "running time over the entries of the proximity matrices".to_owned();
        let panel =
            Panel { unit: Unit::Seconds, axis: "entries", ticks, curves, ..Panel::new("time", title) };
        Ok(if panel.ticks.is_empty() { Vec::new() } else { vec![panel] })
    }
}

impl Panel {
    /// Without ticks and curves.
    fn new(name: &'static str, title: String) -> Self {
        let (shape, unit, axis) = (Shape::Curves, Unit::Share, "");
        Panel { name, title, shape, unit, axis, ticks: Vec::new(), curves: Vec::new(), places: Vec::new() }
    }

    fn with_scores(self, scores: &[ShareScores]) -> Self {
        let curve = |name: &str, value: fn(&ShareScores) -> Summary| Curve {
            name: name.into(),
            values: scores.iter().map(value).collect(),
        };
        let curves =
            vec![curve("micro-F1", |scores| scores.micro_f1), curve("macro-F1", |scores| scores.macro_f1)];
        Panel { curves, ..self }
    }
}

/// The entries of all matrices that are factorized.
fn entries(fit: &Fit) -> usize {
    fit.views.iter().chain(&fit.joint).map(|view| view.entries).sum()
}

/// A value that was measured once.
fn plain(mean: f64) -> Summary {
    Summary { mean, std: None }
}

//! The candidates of a search: combinations of values, laid over the settings as given.
//!
//! Invariant: every candidate has a valid plan for the network, and no two have the same stages and settings. They are
//! ordered so that those with the same proximity matrices follow each other, and among them those with the same columns per
//! stage.

use std::collections::BTreeSet;

use manyview_base::error::{Error, Result};
use manyview_base::message::{option, option_value};
use manyview_base::settings::{Kind, Settings};
use manyview_core::mnmf::{Consensus, Mnmf, Plan};
use manyview_core::proximity;
use manyview_data::embedding::Kind as StageKind;
use serde_json::{Map, Value};

use super::over::{Item, Over, kind};
use crate::model::{MethodSettings, Model};

/// The numbers of stages of the paper's search.
pub(super) const STAGES: std::ops::RangeInclusive<usize> = 2..=64;

/// More combinations are refused: nobody waits for them.
const MOST: usize = 100_000;

/// Candidates with fewer stages are not cut off: there is little to save.
const LEAST_STAGES_TO_CUT: usize = 4;

/// One setting of the network to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// MNMF with all settings.
    pub model: Model,
    /// The settings that were searched over, with their values.
    pub chosen: Map<String, Value>,
    /// Its place in the space, for the Gaussian process.
    pub(super) point: Vec<f64>,
}

impl Candidate {
    /// The settings as given.
    pub(super) fn baseline(model: &Model) -> Self {
        Candidate { model: model.clone(), chosen: Map::new(), point: Vec::new() }
    }

    /// The settings of MNMF.
    pub fn mnmf(&self) -> &Mnmf {
        match &self.model.settings {
            MethodSettings::Mnmf(settings) => settings,
            _ => unreachable!("only mnmf is tuned"),
        }
    }

    /// What distinguishes it, for people: `stages 8, window 5`.
    pub fn title(&self) -> String {
        if self.chosen.is_empty() {
            return "settings as given".into();
        }
        let words = |(name, value): (&String, &Value)| {
            format!("{} {}", name.replace('_', "-"), Item::Value(value.clone()))
        };
        self.chosen.iter().map(words).collect::<Vec<_>>().join(", ")
    }

    /// All settings with everything that was left open filled in, and the seed: what a fit follows from.
    pub(super) fn identity(&self, views: usize) -> Value {
        let mut settings =
            serde_json::to_value(self.mnmf().resolved(views)).expect("settings are plain values");
        settings["seed"] = self.model.seed.into();
        settings
    }
}

/// The stages after which a candidate may be cut off: half of them, or more until all kinds of stages have begun, since a kind
/// that is still to come can change the score. `None` if only the last stage is left.
pub(super) fn cut_point(plan: &Plan) -> Option<usize> {
    let stages = &plan.stages;
    let begun = |kind: StageKind| stages.iter().position(|stage| stage.kind == kind).map_or(0, |at| at + 1);
    let all = begun(StageKind::Consensus).max(begun(StageKind::Unique));
    let point = all.max(stages.len() / 2);
    (stages.len() >= LEAST_STAGES_TO_CUT && point < stages.len()).then_some(point)
}

/// The combinations of some values.
pub(super) struct Space {
    pub(super) candidates: Vec<Candidate>,
    /// How many combinations have no valid plan, such as more stages than columns.
    pub(super) left_out: usize,
}

impl Space {
    /// The values of a grid, or with `dense` all whole numbers between the usual values of `stages`.
    ///
    /// # Errors
    /// [`Error::Config`] when settings contradict each other, or when there is nothing to search.
    pub(super) fn new(base: &Model, over: &[Over], views: usize, dense: bool) -> Result<Self> {
        let given = Candidate::baseline(base);
        check(given.mnmf(), over)?;
        let mut axes: Vec<(&Over, Vec<Item>)> = over.iter().map(|over| (over, values(over, dense))).collect();
        axes.sort_by_key(|(over, _)| rank(over.setting));
        let count = axes.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
        if count.is_none_or(|count| count > MOST) {
            return Err(Error::config(format!(
                "{}: more than {MOST} combinations; search over fewer values",
                option("over")
            )));
        }
        let (mut candidates, mut left_out, mut seen) = (Vec::new(), 0, BTreeSet::new());
        for at in 0..count.unwrap_or(0) {
            let candidate = combination(base, &axes, at)?;
            if candidate.mnmf().plan(views).is_err() {
                left_out += 1;
            } else if seen.insert(candidate.identity(views).to_string()) {
                candidates.push(candidate);
            }
        }
        let only = |candidate: &Candidate| candidate.identity(views) == given.identity(views);
        if candidates.iter().all(only) {
            let why = match candidates.len() {
                0 => format!("no value of {} works for this network", option("over")),
                _ => format!("{} has the settings as given only", option("over")),
            };
            let (dim, views) = (option_value("dim", given.mnmf().dim), views);
            return Err(Error::config(format!(
                "nothing to search: {why} ({views} views, {dim}); give other values"
            )));
        }
        Ok(Space { candidates, left_out })
    }
}

/// Refuses settings without an effect.
fn check(base: &Mnmf, over: &[Over]) -> Result<()> {
    let searched = |name: &str| over.iter().any(|over| over.setting == name);
    if base.auto {
        return Err(Error::config(format!("{} chooses the stages by itself; leave it out", option("auto"))));
    }
    if base.stage_dims.is_some() && ["stages", "dim"].iter().any(|name| searched(name)) {
        return Err(Error::config(format!(
            "{} fixes the stages and columns, so they cannot be searched over; leave it out",
            option("stage_dims")
        )));
    }
    if searched("gamma") && base.consensus != Consensus::Shared && !searched("consensus") {
        return Err(Error::config(format!(
            "{} gamma has no effect with {}; add {}",
            option("over"),
            option_value("consensus", base.consensus.name()),
            option_value("consensus", Consensus::Shared.name())
        )));
    }
    Ok(())
}

/// The order of the loops, the outermost first: a change of the proximity costs most, one of the consensus stages least.
fn rank(name: &str) -> usize {
    let of_proximity = proximity::Settings::default().describe().iter().any(|setting| setting.name == name)
        || ["joint", "normalize", "subtract"].contains(&name);
    match name {
        _ if of_proximity => 0,
        "dim" => 2,
        "stages" => 3,
        "consensus_stages" => 4,
        _ => 1,
    }
}

/// The combination with this number; the last setting varies fastest.
fn combination(base: &Model, axes: &[(&Over, Vec<Item>)], number: usize) -> Result<Candidate> {
    let mut picked = Vec::with_capacity(axes.len());
    let mut rest = number;
    for (over, values) in axes.iter().rev() {
        picked.push((over.setting, values, rest % values.len()));
        rest /= values.len();
    }
    picked.reverse();
    let mut model = base.clone();
    let (mut chosen, mut point) = (Map::new(), Vec::new());
    for (name, values, at) in picked {
        let value = match &values[at] {
            Item::Value(value) => value.clone(),
            // Stages come before consensus stages, so they are known.
            Item::Share(share) => {
                let stages = Candidate::baseline(&model).mnmf().stages;
                Value::from((share * stages as f64).round() as u64)
            }
        };
        point.extend(coordinates(values, at));
        chosen.insert(name.to_owned(), value);
        // All at once: `stages` alone may change the number of consensus stages that follows from it.
        model = base.clone();
        model.override_with(&chosen)?;
    }
    Ok(Candidate { model, chosen, point })
}

/// The values to try.
fn values(over: &Over, dense: bool) -> Vec<Item> {
    if let Some(values) = &over.values {
        return values.clone();
    }
    let wholes = |values: &[usize]| values.iter().map(|&value| Item::Value(value.into())).collect();
    let numbers = |values: &[f64]| values.iter().map(|&value| Item::Value(value.into())).collect();
    match (over.setting, kind(over.setting)) {
        ("stages", _) if dense => wholes(&STAGES.collect::<Vec<_>>()),
        ("stages", _) => wholes(&[2, 4, 8, 16, 32, 64]),
        ("consensus_stages", _) => [0.0, 0.25, 0.5, 0.75, 1.0].map(Item::Share).to_vec(),
        ("dim", _) => wholes(&[64, 128, 256]),
        ("gamma", _) => numbers(&[0.5, 2.0, 5.0, 20.0]),
        ("window", _) => wholes(&[3, 5, 10]),
        ("negative", _) => numbers(&[1.0, 2.0, 5.0]),
        (_, Kind::Choice(choices)) => choices.iter().map(|choice| Item::Value(choice.name.into())).collect(),
        (_, Kind::Flag) => [false, true].map(|value| Item::Value(value.into())).to_vec(),
        _ => unreachable!("other settings have values"),
    }
}

/// The place of a value between 0 and 1: of numbers by their logarithms where all are above 0, of names one coordinate each.
fn coordinates(values: &[Item], at: usize) -> Vec<f64> {
    let number = |item: &Item| match item {
        Item::Value(value) => value.as_f64(),
        Item::Share(share) => Some(*share),
    };
    let Some(numbers) = values.iter().map(number).collect::<Option<Vec<f64>>>() else {
        // Two names are 1 apart.
        let side = 0.5f64.sqrt();
        return (0..values.len()).map(|other| if other == at { side } else { 0.0 }).collect();
    };
    let log = numbers.iter().all(|&x| x > 0.0);
    let scaled = |x: f64| if log { libm::log(x) } else { x };
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = scaled(most) - scaled(least);
    vec![if width > 0.0 { (scaled(numbers[at]) - scaled(least)) / width } else { 0.0 }]
}

/// The plan as given with another number of stages: its first ones, or all and further ones like the last.
///
/// # Errors
/// [`Error::Config`] when the settings as given have no valid plan.
pub(super) fn with_stages(base: &Model, stages: usize, views: usize) -> Result<Candidate> {
    let given = Candidate::baseline(base);
    let mnmf = given.mnmf();
    let plan = mnmf.plan(views)?;
    let last = plan.stages.last().expect("a plan has stages");
    let all = plan.stages.iter().chain(std::iter::repeat(last)).take(stages);
    let widths: Vec<usize> = all.clone().map(|stage| stage.columns.len()).collect();
    let consensus = all.filter(|stage| stage.kind == StageKind::Consensus).count();
    let dim = widths.iter().sum();
    let plain = Mnmf { dim, stages, consensus_stages: Some(consensus), stage_dims: None, ..mnmf.clone() };
    // Where the columns follow from the layout, they need not be listed.
    let same = |plan: Plan| plan.stages.iter().map(|stage| stage.columns.len()).eq(widths.iter().copied());
    let listed = !plain.plan(views).is_ok_and(same);
    let settings = Mnmf { stage_dims: listed.then_some(widths), ..plain };
    let mut chosen = Map::new();
    chosen.insert("stages".into(), stages.into());
    chosen.insert("dim".into(), dim.into());
    Ok(Candidate { model: Model { settings: settings.into(), ..base.clone() }, chosen, point: Vec::new() })
}

#[cfg(test)]
mod tests {
    use manyview_core::preset::Preset;

    use super::*;

    fn base(dim: usize) -> Model {
        Model::from(Mnmf { dim, ..Mnmf::default() })
    }

    fn space(dim: usize, texts: &[&str], views: usize) -> Result<Space> {
        Space::new(&base(dim), &Over::parse(texts).unwrap(), views, false)
    }

    fn titles(space: &Space) -> Vec<String> {
        space.candidates.iter().map(Candidate::title).collect()
    }

    #[test]
    fn combinations_that_share_most_follow_each_other() {
        let found = space(64, &["consensus-stages=0,1", "stages=2,4", "window=3,5"], 2).unwrap();
        assert_eq!(found.left_out, 0);
        let expected = [
            "consensus-stages 0, stages 2, window 3",
            "consensus-stages 1, stages 2, window 3",
            "consensus-stages 0, stages 4, window 3",
            "consensus-stages 1, stages 4, window 3",
            "consensus-stages 0, stages 2, window 5",
        ];
        let found = titles(&found);
        assert_eq!(found.len(), 8);
        for (found, expected) in found.iter().zip(expected) {
            let sorted = |text: &str| {
                let mut words: Vec<String> = text.split(", ").map(str::to_owned).collect();
                words.sort();
                words
            };
            assert_eq!(sorted(found), sorted(expected));
        }
    }

    #[test]
    fn impossible_combinations_are_left_out_and_equal_ones_are_dropped() {
        // 64 columns in 16 stages are 4 per stage, in 32 stages 2: too few for a unique stage of three views.
        let found = space(64, &["stages"], 3).unwrap();
        assert_eq!((titles(&found).len(), found.left_out), (4, 2));
        // Half and three quarters of two stages: 1, 2 and so on.
        let found = space(64, &["stages=2", "consensus-stages"], 2).unwrap();
        let consensus: Vec<usize> =
            found.candidates.iter().map(|found| found.mnmf().consensus_stages.unwrap()).collect();
        assert_eq!(consensus, [0, 1, 2]);
    }

    #[test]
    fn nothing_to_search_is_an_error() {
        let told = |texts: &[&str], dim, views| space(dim, texts, views).err().unwrap().to_string();
        assert!(
            told(&["stages=5"], 64, 2).starts_with("nothing to search: over has the settings as given only")
        );
        assert!(told(&["stages=32,64"], 8, 2).starts_with("nothing to search: no value of over works"));
        assert!(told(&["gamma"], 64, 2).contains("gamma has no effect with consensus = pooled"));
        let fixed = Model::from(Mnmf { dim: 8, stages: 2, stage_dims: Some(vec![4, 4]), ..Mnmf::default() });
        let over = Over::parse(&["stages"]).unwrap();
        let told = Space::new(&fixed, &over, 2, false).err().unwrap().to_string();
        assert!(told.starts_with("stage_dims fixes the stages"), "{told}");
        let chosen = Model::from(Mnmf { auto: true, ..Mnmf::default() });
        let told = Space::new(&chosen, &over, 2, false).err().unwrap().to_string();
        assert!(told.starts_with("auto chooses the stages by itself"), "{told}");
    }

    #[test]
    fn points_are_between_zero_and_one() {
        let over = Over::parse(&["stages,joint,consensus-stages,negative"]).unwrap();
        let found = Space::new(&base(256), &over, 2, true).unwrap();
        assert!(found.candidates.len() > 1000, "every number of stages: {}", found.candidates.len());
        for candidate in &found.candidates {
            assert_eq!(candidate.point.len(), 1 + 2 + 1 + 1);
            assert!(candidate.point.iter().all(|x| (0.0..=1.0).contains(x)), "{:?}", candidate.point);
        }
    }

    #[test]
    fn candidates_are_cut_off_when_all_kinds_of_stages_have_begun() {
        let point = |stages: usize, consensus: usize| {
            let mnmf =
                Mnmf { dim: 64, stages, consensus_stages: Some(consensus), ..Mnmf::preset(Preset::Paper) };
            cut_point(&mnmf.plan(2).unwrap())
        };
        assert_eq!(
            [point(8, 2), point(8, 0), point(8, 8), point(8, 6)],
            [Some(4), Some(4), Some(4), Some(7)]
        );
        assert_eq!([point(8, 7), point(3, 1), point(2, 0)], [None; 3], "only the last stage would be saved");
    }

    #[test]
    fn early_stopping_keeps_the_columns_of_each_stage() {
        let model = Model::from(Mnmf { dim: 20, stages: 4, ..Mnmf::preset(Preset::Paper) });
        for (stages, dim, consensus) in [(1, 5, 1), (2, 10, 1), (4, 20, 1), (7, 35, 1)] {
            let found = with_stages(&model, stages, 2).unwrap();
            let mnmf = found.mnmf();
            assert_eq!((mnmf.dim, mnmf.consensus_stages, &mnmf.stage_dims), (dim, Some(consensus), &None));
            let (long, short) = (with_stages(&model, 7, 2).unwrap(), mnmf.plan(2).unwrap());
            assert_eq!(long.mnmf().plan(2).unwrap().first(stages), short);
        }
        let dims = Some(vec![8, 4, 4]);
        let uneven =
            Model::from(Mnmf { dim: 16, stages: 3, stage_dims: dims, ..Mnmf::preset(Preset::Paper) });
        let found = with_stages(&uneven, 5, 2).unwrap();
        assert_eq!(found.mnmf().stage_dims, Some(vec![8, 4, 4, 4, 4]));
        found.mnmf().plan(2).unwrap();
    }
}

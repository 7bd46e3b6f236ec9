//! MNMF without one of its parts, and over ranges of a setting: what comparisons add as rows and figures draw.

use manyview_base::error::Result;
use manyview_base::settings::Settings;
use manyview_core::mnmf::{Consensus, Joint, Mnmf, Order};
use serde_json::{Value, json};

use super::settings::{Sweep, Swept};

/// MNMF without one of its parts, for so many views; without those that are the same as MNMF or as one before. Pooled stages
/// have no weights, so equal weights are tried with shared stages, next to weighted shared stages.
pub(crate) fn ablations(ours: &Mnmf, views: usize) -> Vec<(&'static str, Mnmf)> {
    let stages = ours.stages;
    let unique_first = ours.order == Order::UniqueFirst;
    let swapped = if unique_first { Order::ConsensusFirst } else { Order::UniqueFirst };
    let shared = Mnmf { consensus: Consensus::Shared, ..ours.clone() };
    let all = [
        ("no consensus", Mnmf { consensus_stages: Some(0), ..ours.clone() }),
        ("no unique", Mnmf { consensus_stages: Some(stages), ..ours.clone() }),
        ("one stage", Mnmf { stages: 1, consensus_stages: Some(1), ..ours.clone() }),
        ("no joint walks", Mnmf { joint: Joint::Off, ..ours.clone() }),
        ("order swapped", Mnmf { order: swapped, ..ours.clone() }),
        ("shared, weighted", shared.clone()),
        // As gamma approaches 0, the weights of all views become equal.
        ("shared, equal weights", Mnmf { gamma: 0.01, ..shared }),
    ];
    let mut effects = vec![effect(ours, views)];
    let mut found = Vec::new();
    for (title, variant) in all {
        let own = effect(&variant, views);
        if !effects.contains(&own) {
            effects.push(own);
            found.push((title, variant));
        }
    }
    found
}

/// The settings as they take effect: those without an effect are alike.
fn effect(mnmf: &Mnmf, views: usize) -> Mnmf {
    let mut found = mnmf.resolved(views);
    let consensus = found.consensus_stages.unwrap_or(0);
    if views == 1 {
        found.joint = Joint::Off;
    }
    if consensus == 0 {
        found.consensus = Consensus::Pooled;
    }
    if consensus == 0 || consensus == found.stages {
        found.order = Order::UniqueFirst;
    }
    // Pooled stages and those of a single matrix have no weights.
    if found.consensus == Consensus::Pooled || views == 1 {
        found.gamma = Mnmf::default().gamma;
    }
    found
}

/// The usual values of a setting: those in the paper's figures, and some more.
pub(crate) fn values(sweep: Sweep, ours: &Mnmf) -> Vec<(String, Mnmf)> {
    swept(&sweep.into(), ours).expect("the usual values are valid")
}

/// The values of a setting: their texts, and MNMF with each of them.
///
/// # Errors
/// When the setting cannot have a value.
pub(crate) fn swept(range: &Swept, ours: &Mnmf) -> Result<Vec<(String, Mnmf)>> {
    let values = range.values.clone().unwrap_or_else(|| usual(range.setting, ours));
    values.iter().map(|value| Ok((text(value), with(range.setting, value, ours)?))).collect()
}

fn usual(sweep: Sweep, ours: &Mnmf) -> Vec<Value> {
    let values = match sweep {
        Sweep::Dim => json!([32, 64, 128, 256, 512]),
        Sweep::Stages => json!([1, 2, 4, 8, 16, 32]),
        Sweep::ConsensusStages => (0..=ours.stages).collect(),
        Sweep::Gamma => json!([0.05, 0.1, 0.5, 1.5, 2.0, 5.0, 10.0, 50.0]),
        Sweep::Window => json!([1, 2, 3, 5, 10]),
        Sweep::Negative => json!([1.0, 2.0, 5.0, 10.0]),
        Sweep::MaxIter => json!([5, 10, 25, 50, 100]),
    };
    values.as_array().cloned().unwrap_or_default()
}

fn with(sweep: Sweep, value: &Value, ours: &Mnmf) -> Result<Mnmf> {
    let mut mnmf = ours.clone();
    match sweep {
        // Their number follows from that of the stages.
        Sweep::Stages => mnmf.consensus_stages = None,
        // It has no effect on pooled stages.
        Sweep::Gamma => mnmf.consensus = Consensus::Shared,
        _ => {}
    }
    mnmf.set(&sweep.setting(), value)?;
    Ok(mnmf)
}

/// A value as people write it: `2`, not `2.0`.
fn text(value: &Value) -> String {
    match (value.as_u64(), value.as_f64()) {
        (Some(whole), _) => whole.to_string(),
        (None, Some(number)) => number.to_string(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_core::preset::Preset;

    fn titles(ours: &Mnmf, views: usize) -> Vec<&'static str> {
        ablations(ours, views).into_iter().map(|(title, _)| title).collect()
    }

    /// The preset of the paper has shared stages and no joint walks: two rows were those of mnmf once more.
    #[test]
    fn ablations_do_not_repeat_mnmf_or_each_other() {
        let all = titles(&Mnmf { dim: 64, ..Mnmf::default() }, 3);
        assert_eq!(all.len(), 7, "{all:?}");
        let paper = titles(&Mnmf::preset(Preset::Paper), 3);
        assert!(!paper.contains(&"shared, weighted") && !paper.contains(&"no joint walks"), "{paper:?}");
        assert!(paper.contains(&"shared, equal weights") && paper.contains(&"no consensus"), "{paper:?}");
        let one_stage = Mnmf { dim: 16, stages: 1, consensus_stages: Some(1), ..Mnmf::default() };
        let one_stage = titles(&one_stage, 2);
        for title in ["no unique", "one stage", "order swapped"] {
            assert!(!one_stage.contains(&title), "{title}: {one_stage:?}");
        }
        let one_view = titles(&Mnmf { dim: 64, ..Mnmf::default() }, 1);
        assert!(!one_view.contains(&"no joint walks"), "{one_view:?}");
        assert!(!one_view.contains(&"shared, equal weights"), "{one_view:?}");
    }

    #[test]
    fn values_are_set_and_titled() {
        let ours = Mnmf { dim: 64, ..Mnmf::default() };
        let names = |sweep: Sweep| -> Vec<String> {
            values(sweep, &ours).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(Sweep::Gamma)[2..5], ["0.5", "1.5", "2"]);
        assert_eq!(names(Sweep::ConsensusStages).len(), ours.stages + 1);
        assert_eq!(names(Sweep::Negative), ["1", "2", "5", "10"]);
        for sweep in Sweep::ALL {
            for (name, mnmf) in values(sweep, &ours) {
                assert!(
                    mnmf != ours
                        || name == text(&json!(ours))
                        || ours
                            .describe()
                            .iter()
                            .any(|own| own.name == sweep.setting() && text(&own.default) == name),
                    "{name}"
                );
            }
        }
        let own = Swept { setting: Sweep::Dim, values: Some(vec![16.into()]) };
        let found = swept(&own, &ours).unwrap();
        assert_eq!((found.len(), found[0].0.as_str(), found[0].1.dim), (1, "16", 16));
    }
}

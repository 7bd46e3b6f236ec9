//! MNMF without one of its parts, and over ranges of a setting: what comparisons add as rows and figures draw.

use manyview_core::mnmf::{Consensus, Joint, Mnmf, Order};

use super::settings::Sweep;

/// MNMF without one of its parts. Pooled stages have no weights, so equal weights are tried with shared stages, next to
/// weighted shared stages.
pub(crate) fn ablations(ours: &Mnmf) -> [(&'static str, Mnmf); 7] {
    let stages = ours.stages;
    let unique_first = ours.order == Order::UniqueFirst;
    let swapped = if unique_first { Order::ConsensusFirst } else { Order::UniqueFirst };
    let shared = Mnmf { consensus: Consensus::Shared, ..ours.clone() };
    [
        ("no consensus", Mnmf { consensus_stages: Some(0), ..ours.clone() }),
        ("no unique", Mnmf { consensus_stages: Some(stages), ..ours.clone() }),
        ("one stage", Mnmf { stages: 1, consensus_stages: Some(1), ..ours.clone() }),
        ("no joint walks", Mnmf { joint: Joint::Off, ..ours.clone() }),
        ("order swapped", Mnmf { order: swapped, ..ours.clone() }),
        ("shared, weighted", shared.clone()),
        // As gamma approaches 0, the weights of all views become equal.
        ("shared, equal weights", Mnmf { gamma: 0.01, ..shared }),
    ]
}

/// The values in the paper's figures, and some more.
pub(crate) fn values(sweep: Sweep, ours: &Mnmf) -> Vec<(String, Mnmf)> {
    let whole = |values: &[usize], set: &dyn Fn(usize) -> Mnmf| {
        values.iter().map(|&value| (value.to_string(), set(value))).collect()
    };
    match sweep {
        Sweep::Dim => whole(&[32, 64, 128, 256, 512], &|dim| Mnmf { dim, ..ours.clone() }),
        Sweep::Stages => {
            whole(&[1, 2, 4, 8, 16, 32], &|stages| Mnmf { stages, consensus_stages: None, ..ours.clone() })
        }
        Sweep::ConsensusStages => {
            let all: Vec<usize> = (0..=ours.stages).collect();
            whole(&all, &|stages| Mnmf { consensus_stages: Some(stages), ..ours.clone() })
        }
        Sweep::Gamma => {
            let shared = Mnmf { consensus: Consensus::Shared, ..ours.clone() };
            let gammas = [0.05, 0.1, 0.5, 1.5, 2.0, 5.0, 10.0, 50.0];
            gammas.iter().map(|&gamma| (gamma.to_string(), Mnmf { gamma, ..shared.clone() })).collect()
        }
    }
}

//! The loss: binary cross-entropy of the logits of all objects against the known edges.
//!
//! For a question (subject, relation), object o has logit `z_o` and target `t_o`: 1 for known objects and 0 for others,
//! smoothed to `(1 - eps) t + 1 / n` (as in the original program) or `(1 - eps) t + eps / n` (as usual). The loss is
//! the mean of `log(1 + exp z) - t z` over questions and objects; its gradient is `sigmoid(z) - t`, divided by their
//! number.

use rayon::prelude::*;

use manyview_base::linalg::Real;
use manyview_base::linalg::kernels::vectorized;

/// The targets of known objects and of all others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Targets {
    pub(super) known: f64,
    pub(super) other: f64,
}

/// Replaces logits, a row of `nodes` for each question, by their gradients; `known` has the known objects of each
/// question.
pub(super) fn to_gradients<T: Real>(logits: &mut [T], nodes: usize, known: &[&[u32]], targets: Targets) {
    let scale = 1.0 / logits.len() as f64;
    let jump = T::from_f64((targets.known - targets.other) * scale);
    let (scale, other) = (T::from_f64(scale), T::from_f64(targets.other));
    logits.par_chunks_exact_mut(nodes).zip(known).for_each(|(row, known)| {
        vectorized(
            #[inline(always)]
            || row.iter_mut().for_each(|z| *z = (T::ONE / (T::ONE + (T::ZERO - *z).exp()) - other) * scale),
        );
        known.iter().for_each(|&object| row[object as usize] = row[object as usize] - jump);
    });
}

/// Returns the loss itself, which training does not need.
#[cfg(test)]
pub(super) fn value(logits: &[f64], nodes: usize, known: &[&[u32]], targets: Targets) -> f64 {
    let mut sum = 0.0;
    for (row, known) in logits.chunks_exact(nodes).zip(known) {
        sum += row.iter().map(|z| z.max(0.0) + (-z.abs()).exp().ln_1p() - targets.other * z).sum::<f64>();
        sum -=
            known.iter().map(|&object| (targets.known - targets.other) * row[object as usize]).sum::<f64>();
    }
    sum / logits.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_finite_differences_also_far_out() {
        let logits = [0.3, -2.0, 40.0, -40.0, 1.5, 0.0, -0.7, 3.0];
        let known: [&[u32]; 2] = [&[1, 2], &[]];
        let targets = Targets { known: 0.925, other: 0.025 };
        let mut gradients = logits;
        to_gradients(&mut gradients, 4, &known, targets);
        for (at, found) in gradients.iter().enumerate() {
            let moved = |step: f64| {
                let mut logits = logits;
                logits[at] += step;
                value(&logits, 4, &known, targets)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((found - slope).abs() < 1e-9, "{found} is not {slope}");
        }
    }
}

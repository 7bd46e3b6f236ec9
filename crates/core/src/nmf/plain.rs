//! Plain alternating updates, for `mu` and `hals`: U, then every V_k with the new U, then the view weights.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::problem::{Problem, norms, numerators_of_rows, rounded, weighted_gram};
use super::stop::{Convergence, Rise};
use super::update::{Rule, update_rows};
use super::weights::log_objective;
use super::{Factors, Iteration, Start, Target, view_weights};
use crate::comm;
use manyview_base::error::{Error, Result};
use manyview_base::linalg::gram::{gram, inner};
use manyview_base::linalg::{BLOCK_ROWS, Dense, Real};

/// The iterations, with matrices of type `M` and factors of type `T`.
pub(super) fn iterate<M: Real, T: Real>(
    problem: &Problem<'_, M>,
    rule: Rule,
    start: Start<T>,
    observer: &mut dyn FnMut(Iteration<'_>) -> ControlFlow<()>,
) -> Result<Factors<T>> {
    let Problem { targets, settings, pool, comm } = *problem;
    let Start { mut u, mut v_t } = start;
    let mut numerators = Dense::zeros(v_t.first().map_or(0, Dense::rows), u.width());
    let mut gram_u = pool.run(|| gram(&u));
    let mut gram_v: Vec<Vec<f64>> = pool.run(|| v_t.iter().map(gram).collect());
    let mut weights = problem.equal_weights();
    let mut errors = vec![0.0; targets.len()];
    let mut objective = Vec::new();
    let (norms_in_units, rows) = (problem.norms_in_units(), problem.rows_together());
    let (mut convergence, mut converged) = (Convergence::new(settings, &norms_in_units), false);
    let mut rise = Rise::new(settings);

    for iteration in 1..=settings.max_iter {
        let shares = problem.view_shares(&weights);
        let gram_sum = weighted_gram::<T>(&gram_v, &shares);
        gram_u = pool.run(|| {
            update_u(targets, rows, &v_t, &shares, rule, &mut u, &gram_sum);
            gram(&u)
        });
        comm::all_reduce_sum(comm, &mut gram_u);

        let gram_t: Vec<T> = rounded(&gram_u);
        for k in 0..targets.len() {
            problem.transposed_numerators(k, &u, &mut numerators);
            let cross;
            (gram_v[k], cross) = pool.run(|| {
                update_v(rule, &mut v_t[k], &numerators, &gram_t);
                (gram(&v_t[k]), inner(v_t[k].padded(), numerators.padded()))
            });
            errors[k] = problem.error(k, cross, &gram_u, &gram_v[k]);
        }

        let measured = problem.measured(&errors);
        rise.record(&measured, &norms_in_units);
        weights = view_weights(&measured, settings.gamma);
        let log = log_objective(&weights, &measured, settings.gamma);
        objective.push(libm::exp(log));
        let error = problem.share_left(&errors);
        let asked_to_end =
            observer(Iteration { iteration, error, errors: &errors, weights: &weights }).is_break();
        let reached = convergence.reached(iteration, log, &weights, &measured, numerators.rows());
        let [interrupted, ended] = problem.vote([asked_to_end, reached]);
        if interrupted {
            return Err(Error::Interrupted);
        }
        converged = ended;
        if converged {
            break;
        }
    }
    let (u_norms, v_norms) = (norms(&gram_u), gram_v.iter().map(|gram| norms(gram)).collect());
    converged &= !rise.is_above_lowest();
    Ok(Factors { u, v_t, weights, errors, objective, converged, u_norms, v_norms })
}

/// Updates U, so many rows at a time: products with every view, weighted and summed, followed by the update.
fn update_u<M: Real, T: Real>(
    targets: &[Target<'_, M>],
    rows: usize,
    v_t: &[Dense<T>],
    shares: &[f64],
    rule: Rule,
    u: &mut Dense<T>,
    gram_sum: &[T],
) {
    let stride = u.stride();
    let block_len = rows * stride;
    let scratch = || (vec![T::ZERO; block_len], vec![T::ZERO; block_len]);
    u.padded_mut().par_chunks_mut(block_len).enumerate().for_each_init(
        scratch,
        |(sum, products), (block, u_rows)| {
            let (sum, products) = (&mut sum[..u_rows.len()], &mut products[..u_rows.len()]);
            numerators_of_rows(targets, block * rows, v_t, shares, sum, products);
            update_rows(rule, u_rows, sum, stride, gram_sum);
        },
    );
}

fn update_v<T: Real>(rule: Rule, v_t: &mut Dense<T>, numerators: &Dense<T>, gram_u: &[T]) {
    let stride = v_t.stride();
    let chunk = BLOCK_ROWS * stride;
    let rows = v_t.padded_mut().par_chunks_mut(chunk).zip(numerators.padded().par_chunks(chunk));
    rows.for_each(|(v_rows, numerators)| update_rows(rule, v_rows, numerators, stride, gram_u));
}

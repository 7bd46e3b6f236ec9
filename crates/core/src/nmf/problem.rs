//! What the solvers have in common: how the views enter the update of U, and how their errors are measured.

use manyview_base::linalg::gram::add;
use manyview_base::linalg::products::{add_rows, rows_together, transposed_times};
use manyview_base::linalg::{Dense, Real, Tiles};
use manyview_base::parallel::Pool;

use super::weights::{SMALLEST_ERROR, plain_powers, relative_powers};
use super::{Settings, Target};
use crate::comm::{self, Comm};

/// The targets and everything that is needed to factorize them.
pub(super) struct Problem<'a, M> {
    pub(super) targets: &'a [Target<'a, M>],
    pub(super) settings: &'a Settings,
    pub(super) pool: &'a Pool,
    pub(super) comm: &'a dyn Comm,
}

impl<M: Real> Problem<'_, M> {
    pub(super) fn equal_weights(&self) -> Vec<f64> {
        vec![1.0 / self.targets.len() as f64; self.targets.len()]
    }

    /// The factors of each view's numerators and Gram matrix in the update of U.
    pub(super) fn view_shares(&self, weights: &[f64]) -> Vec<f64> {
        let units: Vec<f64> = self.targets.iter().map(|target| target.unit).collect();
        view_shares(weights, &units, self.settings)
    }

    /// The matrices of all targets.
    pub(super) fn parts(&self) -> Vec<&Tiles<M>> {
        self.targets.iter().flat_map(|target| target.parts.iter().copied()).collect()
    }

    /// The number of rows of U that one task updates.
    pub(super) fn rows_together(&self) -> usize {
        let parts = self.parts();
        // Not more than there are: each thread allocates them.
        rows_together(&parts).min(parts[0].rows().max(1))
    }

    /// `R_kᵀ U` over all ranks, the numerators of V_k.
    pub(super) fn transposed_numerators<T: Real>(&self, k: usize, u: &Dense<T>, numerators: &mut Dense<T>) {
        self.pool.run(|| transposed_times(&self.targets[k].parts, u, numerators, &|| true));
        comm::all_reduce_sum(self.comm, numerators.padded_mut());
    }

    /// `||R_k - U V_k||^2`, given `<R_k, U V_k>`, the inner product of V_k and its numerators, and both Gram matrices.
    pub(super) fn error(&self, k: usize, cross: f64, gram_u: &[f64], gram_v: &[f64]) -> f64 {
        let fitted: f64 = gram_u.iter().zip(gram_v).map(|(x, y)| x * y).sum();
        // Near an exact fit the terms cancel, and rounding may make the difference negative.
        (self.targets[k].squared_norm - 2.0 * cross + fitted).max(0.0)
    }

    /// The errors in their units, with a lower bound that keeps weights and objective finite.
    pub(super) fn measured(&self, errors: &[f64]) -> Vec<f64> {
        let floored = |(&error, target): (&f64, &Target<'_, M>)| {
            error.max(SMALLEST_ERROR * target.squared_norm).max(f64::MIN_POSITIVE) / target.unit
        };
        errors.iter().zip(self.targets).map(floored).collect()
    }

    /// The squared norms in the units of the errors.
    pub(super) fn norms_in_units(&self) -> Vec<f64> {
        self.targets.iter().map(|target| target.squared_norm / target.unit).collect()
    }

    /// `sum_k ||R_k - U V_k||^2 / sum_k ||R_k||^2`.
    pub(super) fn share_left(&self, errors: &[f64]) -> f64 {
        errors.iter().sum::<f64>() / self.targets.iter().map(|target| target.squared_norm).sum::<f64>()
    }

    /// Whether any rank votes yes, for each question. All ranks decide alike: they have the same numbers, but MPI only
    /// recommends that sums are bitwise identical.
    pub(super) fn vote<const N: usize>(&self, votes: [bool; N]) -> [bool; N] {
        let mut sums = votes.map(|vote| if vote { 1.0 } else { 0.0 });
        comm::all_reduce_sum(self.comm, &mut sums);
        sums.map(|sum| sum > 0.0)
    }
}

/// The factors of each view's numerators and Gram matrix in the update of U, given the units of the errors.
pub(crate) fn view_shares(weights: &[f64], units: &[f64], settings: &Settings) -> Vec<f64> {
    let in_units = |powers: Vec<f64>| -> Vec<f64> {
        powers.iter().zip(units).map(|(power, unit)| power / unit).collect()
    };
    if settings.epsilon > 0.0 {
        return in_units(plain_powers(weights, settings.gamma));
    }
    let shares = in_units(relative_powers(weights, settings.gamma));
    // A common factor cancels; without this, f32 would have to represent squares of large norms.
    let largest = shares.iter().copied().fold(0.0, f64::max);
    shares.iter().map(|share| share / largest).collect()
}

/// Rows of `sum_k share_k R_k V_kᵀ`, in `sum`, from row `first` on. `products` is scratch of the same length.
pub(super) fn numerators_of_rows<M: Real, T: Real>(
    targets: &[Target<'_, M>],
    first: usize,
    v_t: &[Dense<T>],
    shares: &[f64],
    sum: &mut [T],
    products: &mut [T],
) {
    sum.fill(T::ZERO);
    for ((target, v_t), &share) in targets.iter().zip(v_t).zip(shares) {
        if share == 0.0 {
            continue;
        }
        products.fill(T::ZERO);
        for part in &target.parts {
            add_rows(part, first, v_t, products);
        }
        let share = T::from_f64(share);
        for (sum, &product) in sum.iter_mut().zip(products.iter()) {
            *sum += share * product;
        }
    }
}

/// `sum_k share_k G_k`.
pub(super) fn weighted_gram<T: Real>(gram_v: &[Vec<f64>], shares: &[f64]) -> Vec<T> {
    let mut sum = vec![0.0; gram_v[0].len()];
    for (gram, share) in gram_v.iter().zip(shares) {
        add(&mut sum, &gram.iter().map(|x| x * share).collect::<Vec<f64>>());
    }
    rounded(&sum)
}

/// A Gram matrix in the type of the factors.
pub(super) fn rounded<T: Real>(gram: &[f64]) -> Vec<T> {
    gram.iter().map(|&x| T::from_f64(x)).collect()
}

/// The square roots of the diagonal of a Gram matrix: the norms of the columns of its factor.
pub(super) fn norms(gram: &[f64]) -> Vec<f64> {
    let width = gram.len().isqrt();
    (0..width).map(|at| gram[at * width + at].sqrt()).collect()
}

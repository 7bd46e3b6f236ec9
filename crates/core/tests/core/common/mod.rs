//! What several test files need: small networks and matrices that are the same on every run.
#![allow(dead_code)] // Each test file uses a part of it.

use std::ops::ControlFlow;

use manyview_base::error::Result;
use manyview_base::linalg::{Csr, Dense, Real};
use manyview_core::checkpoint::Checkpoints;
use manyview_core::comm::{Comm, Local};
use manyview_core::method::{self, Fit, Observer, Options};
use manyview_core::mnmf::Mnmf;
use manyview_data::generate::Planted;
use manyview_data::network::{Duplicates, Network, NetworkBuilder};

/// Numbers in (0, 1], one after the other.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as f64 + 1.0) / (1u64 << 31) as f64
    }
}

/// A matrix with about `density` of its entries.
pub(crate) fn sparse<T: Real>(rows: usize, cols: usize, density: f64, seed: u64) -> Csr<T> {
    let mut numbers = Numbers::new(seed);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        for col in 0..cols {
            if numbers.next() < density {
                indices.push(col as u32);
                values.push(T::from_f64(numbers.next()));
            }
        }
        indptr.push(indices.len());
    }
    Csr::new(cols, indptr, indices, values)
}

/// A factor with values in (0, 1].
pub(crate) fn dense<T: Real>(rows: usize, width: usize, seed: u64) -> Dense<T> {
    let mut numbers = Numbers::new(seed);
    Dense::from_fn(rows, width, |_, _| T::from_f64(numbers.next()))
}

pub(crate) fn squared_norm<T: Real>(matrix: &Csr<T>) -> f64 {
    matrix.values().iter().map(|x| x.to_f64() * x.to_f64()).sum()
}

/// A planted network as the library's own type; `order` names the views to take, in that order.
pub(crate) fn planted(settings: &Planted, order: &[usize]) -> Network {
    let made = settings.generate().unwrap();
    let mut builder = NetworkBuilder::with_nodes(made.nodes().iter()).unwrap();
    for &at in order {
        let view = builder.add_view(&made.views[at].name, false, Duplicates::Sum).unwrap();
        for &(source, target) in &made.views[at].edges {
            builder.add_edge(view, source, target, 1.0).unwrap();
        }
    }
    builder.build().unwrap()
}

pub(crate) fn fit_on_threads(threads: usize, config: &Mnmf, network: &Network) -> Fit {
    let options = Options { threads: Some(threads), ..Options::default() };
    method::fit(config, "mnmf", network, &options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// A fit on one thread of each rank, with an observer.
pub(crate) fn fit_watched(
    config: &Mnmf,
    network: &Network,
    comm: &dyn Comm,
    checkpoints: Option<&Checkpoints>,
    observer: &mut Observer<'_>,
) -> Result<Fit> {
    let options = Options { threads: Some(1), comm, checkpoints, ..Options::default() };
    method::fit(config, "mnmf", network, &options, observer)
}

/// A fit in one process, with an observer.
pub(crate) fn fit_observed(config: &Mnmf, network: &Network, observer: &mut Observer<'_>) -> Result<Fit> {
    fit_watched(config, network, &Local, None, observer)
}

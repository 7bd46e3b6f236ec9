//! The proximity matrices of views, for the methods that factorize them.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::Task;
use manyview_base::error::Result;
use manyview_base::linalg::Tiles;
use manyview_core::config::{Config, Isolated, Preset};
use manyview_core::proximity::{self, nothing_survives, row_blocks};
use manyview_data::network::View;

/// Which pairs of nodes count as near.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Steps of the random walk.
    pub window: usize,
    /// Negative samples: pairs that meet no more than so many times as often as chance do not count.
    pub negative: f64,
}

impl Near {
    /// What MNMF has in a preset.
    pub(super) fn of(preset: Preset) -> Self {
        let Config { window, negative, .. } = Config::preset(preset);
        Near { window, negative }
    }

    pub(super) fn check(&self) -> Result<()> {
        Config { window: self.window, negative: self.negative, ..Config::default() }.check()
    }

    /// `M = log(max(X, 1))` of a view.
    pub(super) fn matrix(&self, view: &View, task: &mut Task<'_, '_>) -> Result<Tiles<f32>> {
        let (nodes, pool) = (view.adjacency.rows(), task.pool);
        let settings =
            proximity::Settings { window: self.window, negative: self.negative, isolated: Isolated::Zero };
        let found = row_blocks::<f32>(view, settings, 0..nodes, pool, &mut |done| {
            let told = task.tell("proximity", done as f64 / nodes.max(1) as f64);
            if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let matrix = pool.run(|| Tiles::from_blocks(nodes, nodes, found.blocks));
        if matrix.entries() == 0 {
            return Err(nothing_survives(view, settings, found.largest));
        }
        Ok(matrix)
    }

    /// Those of all views, in their order.
    pub(super) fn matrices(&self, task: &mut Task<'_, '_>) -> Result<Vec<Tiles<f32>>> {
        let (network, views) = (task.network, task.network.views().len() as f64);
        let places = network.views().iter().enumerate();
        places
            .map(|(at, view)| {
                let span = at as f64 / views..(at + 1) as f64 / views;
                self.matrix(view, &mut task.part(Some(&view.name), span))
            })
            .collect()
    }
}

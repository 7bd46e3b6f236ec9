//! Refuses work that does not fit into memory, and suggests settings that do.

use super::{Estimate, Matrix, Memory};
use crate::method::Observer;
use crate::mnmf::{Joint, Mnmf};
use crate::proximity;
use manyview_base::error::{Error, Result};
use manyview_base::memory::{Limit, available_bytes, size_text};
use manyview_base::message::option_value;
use manyview_base::parallel::Pool;
use manyview_data::network::Network;

/// Values of `negative` that are suggested.
const ROUND: [f64; 14] = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 200.0, 500.0];

/// The smallest average number of entries per node and view with which a matrix is useful.
const FEWEST_ENTRIES: f64 = 1.0;

impl Estimate {
    /// Refuses what exceeds `max_memory` or the memory that is available to this process.
    ///
    /// # Errors
    /// [`Error::TooLarge`], with settings that would fit. [`Error::Interrupted`] when the observer says so while
    /// those are looked for.
    pub fn check(
        &self,
        config: &Mnmf,
        network: &Network,
        max_memory: Option<u64>,
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        let (peak, limit) = (self.memory.peak(), Limit::new(max_memory));
        let Err(exceeded) = limit.check(peak) else { return Ok(()) };
        let mut ways = self.smaller_settings(config, network, limit.bytes, pool, observer)?;
        if limit.given && available_bytes().is_none_or(|available| peak < available) {
            ways.push(option_value("max_memory", size(peak)).to_string());
        } else if ways.is_empty() {
            ways.push("a machine with more memory".into());
        }
        let (entries, ways) = (self.entries(), ways.join(", or "));
        Err(Error::too_large(format!(
            "the proximity matrices would have about {entries:.1e} entries, and the run would need {exceeded}; use {ways}"
        )))
    }

    /// Changes of single settings with which the work would fit.
    fn smaller_settings(
        &self,
        config: &Mnmf,
        network: &Network,
        limit: u64,
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<Vec<String>> {
        let peak = |config: &Mnmf, entries: &[f64], threads: usize| {
            let plan = config.plan(network.views().len()).ok()?;
            let matrices: Vec<Matrix> =
                self.views.iter().zip(entries).map(|(view, &entries)| view.matrix(entries)).collect();
            let union = self.union.as_ref();
            let memory = Memory::of(config, &plan, network, union, &matrices, threads, self.memory.read);
            Some(memory.peak()).filter(|&peak| peak <= limit)
        };
        let now: Vec<f64> = self.views.iter().map(|view| view.entries).collect();
        let mut ways = Vec::new();

        let enough = FEWEST_ENTRIES * network.nodes().len() as f64;
        let higher = ROUND.into_iter().filter(|&negative| negative > config.proximity.negative);
        let fitting = higher.map(|negative| {
            let at = |view: &super::ViewEstimate| view.entries_at(negative / config.proximity.negative);
            (negative, self.views.iter().map(at).collect::<Vec<f64>>())
        });
        let fitting = fitting.filter(|(_, entries)| {
            entries.iter().zip(&now).all(|(&entries, &now)| entries >= enough.min(now / 2.0) && entries > 0.0)
        });
        let first = fitting.into_iter().find_map(|(negative, entries)| {
            peak(config, &entries, self.threads).map(|peak| (negative, peak))
        });
        if let Some((negative, peak)) = first {
            ways.push(format!("{} (about {})", option_value("negative", negative), size_text(peak)));
        }
        for window in [3, 2, 1] {
            if window >= config.proximity.window || self.memory.read.is_some_and(|read| read > limit) {
                continue;
            }
            let near = proximity::Settings { window, ..config.proximity };
            let narrower = Mnmf { proximity: near, ..config.clone() };
            let estimate = narrower.estimate(network, pool, observer)?;
            if estimate.memory.peak() <= limit && estimate.views.iter().all(|view| view.entries > 0.0) {
                ways.push(format!(
                    "{} (about {})",
                    option_value("window", window),
                    size_text(estimate.memory.peak())
                ));
                break;
            }
        }
        if self.union.is_some() {
            let within_views = Mnmf { joint: Joint::Off, ..config.clone() };
            let plan = within_views.plan(network.views().len())?;
            let matrices: Vec<Matrix> = self.views.iter().map(|view| view.matrix(view.entries)).collect();
            let matrices = &matrices[..network.views().len()];
            let memory =
                Memory::of(&within_views, &plan, network, None, matrices, self.threads, self.memory.read);
            if memory.peak() <= limit {
                let joint = option_value("joint", Joint::Off.name());
                ways.push(format!("{joint} (about {})", size_text(memory.peak())));
            }
        }
        let fewer = (1..self.threads).rev().find_map(|threads| Some((threads, peak(config, &now, threads)?)));
        if let Some((threads, peak)) = fewer {
            ways.push(format!("{} (about {})", option_value("threads", threads), size_text(peak)));
        }
        let halves = (1..=16).map(|times| config.dim >> times).filter(|&dim| dim >= 16);
        let narrower = halves
            .into_iter()
            .find_map(|dim| Some((dim, peak(&Mnmf { dim, ..config.clone() }, &now, self.threads)?)));
        if let Some((dim, peak)) = narrower {
            ways.push(format!("{} (about {})", option_value("dim", dim), size_text(peak)));
        }
        Ok(ways)
    }
}

/// A size for `max_memory`, with a little room.
fn size(bytes: u64) -> String {
    format!("{}M", (bytes as f64 * 1.05 / 1e6).ceil())
}

//! Refuses work that does not fit into memory, and suggests settings that do.

use super::{Estimate, Matrix, Memory, Process, Terms, bytes};
use crate::method::Observer;
use crate::mnmf::{Joint, Mnmf};
use crate::proximity::{self, How, Source, Walks};
use manyview_base::error::{Error, Result};
use manyview_base::memory::{Limit, available_bytes, resident_bytes, size_text};
use manyview_base::message::option_value;
use manyview_base::parallel::Pool;
use manyview_data::network::Network;

/// Values of `negative` that are suggested.
const ROUND: [f64; 14] = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 200.0, 500.0];

/// The smallest average number of entries per node and view with which a matrix is useful.
const FEWEST_ENTRIES: f64 = 1.0;

/// A union of this many bytes is built within any limit, so that the message can say what the run needs.
const SMALL_UNION: u64 = 16 << 20;

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
            if let Some(least) = self.peak_of_one_walk(config, network).filter(|&least| least < peak) {
                let enough = option_value("max_memory", size(least));
                ways.push(format!("{enough}, which is enough for one walk from each node"));
            }
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
        let how = self.proximity.how;
        let peak = |config: &Mnmf, entries: &[f64], threads: usize| {
            self.peak_with(config, how, network, entries, threads).filter(|&peak| peak <= limit)
        };
        let now: Vec<f64> = self.views.iter().map(|view| view.entries).collect();
        let mut ways = Vec::new();
        match how {
            How::Sampled(walks) => {
                if let Some(fewer) =
                    self.walks_within(config, network, limit).filter(|&fewer| fewer < walks.per_node)
                {
                    ways.push(option_value("walks", fewer).to_string());
                }
            }
            How::Exact => ways.extend(self.smaller_exact(config, network, &now, limit, pool, observer)?),
        }
        if self.union.is_some() {
            let within_views = Mnmf { joint: Joint::Off, ..config.clone() };
            let plan = within_views.plan(network.views().len())?;
            let matrices: Vec<Matrix> = self.views.iter().map(|view| view.matrix(view.entries)).collect();
            let matrices = &matrices[..network.views().len()];
            let memory =
                Memory::of(&within_views, how, &plan, network, None, matrices, self.process(self.threads));
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

    fn process(&self, threads: usize) -> Process {
        Process { threads, read: self.memory.read, keeps_factors: self.keeps_factors }
    }

    /// The peak memory with other settings and entries; `None` if they have no plan.
    fn peak_with(
        &self,
        config: &Mnmf,
        how: How,
        network: &Network,
        entries: &[f64],
        threads: usize,
    ) -> Option<u64> {
        let plan = config.plan(network.views().len()).ok()?;
        let matrices: Vec<Matrix> =
            self.views.iter().zip(entries).map(|(view, &entries)| view.matrix(entries)).collect();
        let union = self.union.as_ref();
        Some(Memory::of(config, how, &plan, network, union, &matrices, self.process(threads)).peak())
    }

    /// The memory of a run that is left to choose its number of walks, at the least; `None` if it is not.
    fn peak_of_one_walk(&self, config: &Mnmf, network: &Network) -> Option<u64> {
        let How::Sampled(walks) = self.proximity.how else { return None };
        if config.proximity.walks.is_some() {
            return None;
        }
        let entries: Vec<f64> = self.views.iter().map(|view| view.entries_with(1)).collect();
        let how = How::Sampled(Walks { per_node: 1, ..walks });
        self.peak_with(config, how, network, &entries, self.threads)
    }

    /// The largest number of walks, up to those of this estimate, with which a run fits into so much memory; `None` if one walk is too
    /// much, or matrices are exact.
    pub fn walks_within(&self, config: &Mnmf, network: &Network, limit: u64) -> Option<usize> {
        let How::Sampled(walks) = self.proximity.how else { return None };
        let fits = |per_node: usize| {
            let entries: Vec<f64> = self.views.iter().map(|view| view.entries_with(per_node)).collect();
            let how = How::Sampled(Walks { per_node, ..walks });
            self.peak_with(config, how, network, &entries, self.threads).is_some_and(|peak| peak <= limit)
        };
        // The memory grows with the walks, so the numbers that fit come first.
        let (mut most, mut too_many) = (0, walks.per_node + 1);
        while too_many - most > 1 {
            let middle = most.midpoint(too_many);
            if fits(middle) { most = middle } else { too_many = middle }
        }
        (most > 0).then_some(most)
    }

    /// Changes with which exact matrices would fit, or sampled ones.
    fn smaller_exact(
        &self,
        config: &Mnmf,
        network: &Network,
        now: &[f64],
        limit: u64,
        pool: &Pool,
        observer: &mut Observer<'_>,
    ) -> Result<Vec<String>> {
        let mut ways = Vec::new();
        let terms = Terms { keeps_factors: self.keeps_factors, ..Terms::default() };
        let sampled = proximity::Settings { proximity: Source::Sampled, ..config.proximity };
        let sampled = Mnmf { proximity: sampled, ..config.clone() };
        let estimate = sampled.estimate_with(terms, network, pool, observer)?;
        if estimate.memory.peak() <= limit || estimate.walks_within(&sampled, network, limit).is_some() {
            ways.push(option_value("proximity", Source::Sampled.name()).to_string());
        }
        let enough = FEWEST_ENTRIES * network.nodes().len() as f64;
        let higher = ROUND.into_iter().filter(|&negative| negative > config.proximity.negative);
        let fitting = higher.map(|negative| {
            let at = |view: &super::ViewEstimate| view.entries_at(negative / config.proximity.negative);
            (negative, self.views.iter().map(at).collect::<Vec<f64>>())
        });
        let fitting = fitting.filter(|(_, entries)| {
            entries.iter().zip(now).all(|(&entries, &now)| entries >= enough.min(now / 2.0) && entries > 0.0)
        });
        let first = fitting.into_iter().find_map(|(negative, entries)| {
            let peak = self.peak_with(config, How::Exact, network, &entries, self.threads)?;
            (peak <= limit).then_some((negative, peak))
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
            let estimate = narrower.estimate_with(terms, network, pool, observer)?;
            if estimate.memory.peak() <= limit && estimate.views.iter().all(|view| view.entries > 0.0) {
                ways.push(format!(
                    "{} (about {})",
                    option_value("window", window),
                    size_text(estimate.memory.peak())
                ));
                break;
            }
        }
        Ok(ways)
    }
}

/// Refuses a network whose union of views does not fit into the memory: everything else comes on top of that.
pub(super) fn check_union(
    config: &Mnmf,
    network: &Network,
    max_memory: Option<u64>,
    pool: &Pool,
) -> Result<()> {
    if config.joint == Joint::Off || network.views().len() < 2 {
        return Ok(());
    }
    let (held, limit) = (resident_bytes().unwrap_or(0), Limit::new(max_memory));
    let of_union = |entries: usize| bytes::union_bytes(network.nodes().len(), entries);
    let needed = |entries: usize| held + of_union(entries);
    // Counted only where it matters.
    let most = network.views().iter().map(|view| view.adjacency.entries()).sum();
    if limit.check(needed(most)).is_ok() || of_union(most) <= SMALL_UNION {
        return Ok(());
    }
    limit.check(needed(proximity::entries_of_union(network, pool))).map_err(|exceeded| {
        let joint = option_value("joint", Joint::Off.name());
        Error::too_large(format!(
            "the network and the union of its views alone need {exceeded}; use {joint}, which leaves the union out, or more memory"
        ))
    })
}

/// A size for `max_memory`, with a little room: the size of a small process varies by a megabyte.
fn size(bytes: u64) -> String {
    format!("{}M", (bytes as f64 * 1.05 / 1e6).ceil() + 1.0)
}

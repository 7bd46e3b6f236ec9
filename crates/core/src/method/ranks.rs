//! Whether all ranks have the same work.

use manyview_base::error::{Error, Result};
use manyview_data::network::Network;

use crate::comm::{self, Comm};

/// What all ranks must have in common, as hashes.
pub(super) struct Work {
    pub(super) network: u64,
    pub(super) settings: u64,
}

/// Refuses networks or settings that differ between ranks, which would give wrong results, or a deadlock.
///
/// # Errors
/// On all ranks, with the first one that differs from rank 0.
pub(super) fn check_same(network: &Network, work: &Work, comm: &dyn Comm) -> Result<()> {
    // Halves of the hashes, because f64 cannot represent all numbers of 64 bits.
    let halves = |hash: u64| [hash >> 32, hash & u64::from(u32::MAX)].map(|half| half as f64);
    let [[a, b], [c, d]] = [work.network, work.settings].map(halves);
    let own = [network.nodes().len() as f64, network.views().len() as f64, a, b, c, d];
    let all = comm::gather(comm, own);
    let Some(rank) = all.iter().position(|other| *other != all[0]) else { return Ok(()) };
    let (other, first) = (all[rank], all[0]);
    if other[..4] == first[..4] {
        return Err(Error::config(format!(
            "rank {rank} has other settings than rank 0; start all ranks with the same command"
        )));
    }
    let difference = if other[..2] == first[..2] {
        "the nodes, the edges or their weights are not those of rank 0".into()
    } else {
        format!("{} nodes in {} views, and rank 0 has {} in {}", other[0], other[1], first[0], first[1])
    };
    Err(Error::network(format!(
        "rank {rank} has a different network ({difference}); all ranks must have the same one"
    )))
}

//! Whether all ranks have read the same network.

use manyview_base::error::{Error, Result};
use manyview_data::network::Network;

use crate::comm::{self, Comm};

/// Refuses networks that differ between ranks, which would give wrong results, or a deadlock.
///
/// # Errors
/// On all ranks, with the first one that differs from rank 0.
pub(super) fn check_same(network: &Network, fingerprint: u64, comm: &dyn Comm) -> Result<()> {
    // Halves of the fingerprint, because f64 cannot represent all numbers of 64 bits.
    let [high, low] = [fingerprint >> 32, fingerprint & u64::from(u32::MAX)].map(|half| half as f64);
    let own = [network.nodes().len() as f64, network.views().len() as f64, high, low];
    let all = comm::gather(comm, own);
    let Some(rank) = all.iter().position(|other| *other != all[0]) else { return Ok(()) };
    let (other, first) = (all[rank], all[0]);
    let difference = if other[..2] == first[..2] {
        "the nodes, the edges or their weights are not those of rank 0".into()
    } else {
        format!("{} nodes in {} views, and rank 0 has {} in {}", other[0], other[1], first[0], first[1])
    };
    Err(Error::network(format!(
        "rank {rank} has read a different network ({difference}); all ranks must read the same files"
    )))
}

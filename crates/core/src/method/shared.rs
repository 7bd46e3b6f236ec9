//! The network that rank 0 has read, for all ranks: files are read once, and only rank 0 needs to see them.
//!
//! Invariant: every rank has a network with the bits of that of rank 0.

use manyview_base::linalg::Csr;
use manyview_data::network::{EdgeCounts, Network, Nodes, View};

use crate::comm::Comm;

/// The bytes of a message: enough to keep a network busy, and few beside the data.
const MESSAGE: usize = 1 << 20;

/// Gives every rank the network that rank 0 passes. It takes one copy of the arrays of each view over the network, without
/// weights where all are equal.
///
/// # Panics
/// If another rank than 0 passes a network, or rank 0 does not.
pub fn share_network(own: Option<Network>, comm: &dyn Comm) -> Network {
    assert_eq!(own.is_some(), comm.rank() == 0, "rank 0 has the network");
    match own {
        Some(network) => {
            if comm.size() > 1 {
                send_network(&network, comm);
            }
            network
        }
        None => receive_network(comm),
    }
}

fn send_network(network: &Network, comm: &dyn Comm) {
    let nodes = network.nodes();
    send(comm, &nodes.iter().map(|id| id.len() as u64).collect::<Vec<_>>());
    send(comm, nodes.iter().collect::<String>().as_bytes());
    send(comm, &[network.views().len() as u64]);
    for view in network.views() {
        let EdgeCounts { given, zero_weights, self_loops, duplicates } = view.counts;
        let counts = [usize::from(view.directed), given, zero_weights, self_loops, duplicates];
        send(comm, view.name.as_bytes());
        send(comm, &counts.map(|count| count as u64));
        let starts = view.adjacency.indptr();
        send(comm, &starts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect::<Vec<_>>());
        send(comm, view.adjacency.indices());
        let weights = view.adjacency.values();
        let equal = weights.iter().all(|weight| weight.to_bits() == weights[0].to_bits());
        send(comm, if equal { &weights[..1] } else { weights });
    }
}

fn receive_network(comm: &dyn Comm) -> Network {
    let lengths: Vec<u64> = receive(comm);
    let text = receive_text(comm);
    let mut rest = text.as_str();
    let mut nodes = Nodes::default();
    for length in lengths {
        let (id, after) = rest.split_at(length as usize);
        nodes.push(id);
        rest = after;
    }
    let views = receive(comm)[0];
    let views = (0u64..views).map(|_| receive_view(nodes.len(), comm)).collect();
    Network::new(nodes, views)
}

fn receive_view(nodes: usize, comm: &dyn Comm) -> View {
    let name = receive_text(comm);
    let counts: Vec<u64> = receive(comm);
    let count = |at: usize| counts[at] as usize;
    let mut indptr = vec![0];
    indptr.extend(receive::<u32>(comm).iter().scan(0, |end, &length| {
        *end += length as usize;
        Some(*end)
    }));
    let (indices, mut weights): (Vec<u32>, Vec<f64>) = (receive(comm), receive(comm));
    // One for all.
    weights.resize(indices.len(), weights[0]);
    View {
        name,
        directed: count(0) == 1,
        adjacency: Csr::new(nodes, indptr, indices, weights),
        counts: EdgeCounts {
            given: count(1),
            zero_weights: count(2),
            self_loops: count(3),
            duplicates: count(4),
        },
    }
}

fn receive_text(comm: &dyn Comm) -> String {
    String::from_utf8(receive(comm)).expect("rank 0 sends text")
}

/// A number as bytes.
trait Word: Copy {
    fn put(self, bytes: &mut [u8]);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! words {
    ($($word:ty),*) => {$(
        impl Word for $word {
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the number has"))
            }
        }
    )*};
}

words!(u8, u32, u64, f64);

/// Sends numbers to all other ranks, which call [`receive`].
fn send<T: Word>(comm: &dyn Comm, numbers: &[T]) {
    comm.broadcast(&mut (numbers.len() as u64).to_le_bytes());
    let mut message = vec![0; MESSAGE];
    for some in numbers.chunks(MESSAGE / size_of::<T>()) {
        let bytes = &mut message[..size_of_val(some)];
        some.iter().zip(bytes.chunks_exact_mut(size_of::<T>())).for_each(|(number, bytes)| number.put(bytes));
        comm.broadcast(bytes);
    }
}

/// Receives the numbers that rank 0 sends.
fn receive<T: Word>(comm: &dyn Comm) -> Vec<T> {
    let mut length = [0; 8];
    comm.broadcast(&mut length);
    let length = u64::from_le_bytes(length) as usize;
    let mut message = vec![0; MESSAGE];
    let mut numbers = Vec::with_capacity(length);
    while numbers.len() < length {
        let some = (length - numbers.len()).min(MESSAGE / size_of::<T>());
        let bytes = &mut message[..some * size_of::<T>()];
        comm.broadcast(bytes);
        numbers.extend(bytes.chunks_exact(size_of::<T>()).map(T::get));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Local, Threads};
    use manyview_data::network::{Duplicates, NetworkBuilder};

    /// Views with and without weights and directions, a node without edges, and ids of several bytes.
    fn network() -> Network {
        let ids: Vec<String> = (0..400).map(|node| format!("n\u{f6}de {node}")).collect();
        let mut builder = NetworkBuilder::with_nodes(&ids).unwrap();
        let calls = builder.add_view("calls", false, Duplicates::Sum).unwrap();
        let mails = builder.add_view("m\u{e4}ils", true, Duplicates::Max).unwrap();
        for at in 0..3000u32 {
            let (from, to) = (at * 7 % 399, at * 11 % 397);
            builder.add_edge(calls, from, to, 1.0 / f64::from(1 + at % 9)).unwrap();
            builder.add_edge(mails, from, to, 0.25).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn every_rank_gets_the_network_of_rank_0() {
        let seen = |network: &Network| format!("{network:?}");
        let expected = seen(&network());
        assert_eq!(seen(&share_network(Some(network()), &Local)), expected);
        let found = Threads::run(3, |comm| {
            let shared = share_network((comm.rank() == 0).then(network), comm);
            (seen(&shared), shared.fingerprint())
        });
        for (shared, fingerprint) in found {
            assert_eq!(fingerprint, network().fingerprint());
            assert!(shared == expected);
        }
    }

    #[test]
    fn long_lists_are_sent_in_several_messages() {
        let numbers: Vec<u64> =
            (0..3 * MESSAGE as u64 / 16).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let found = Threads::run(2, |comm| {
            if comm.rank() == 0 {
                send(comm, &numbers);
                return numbers.clone();
            }
            receive(comm)
        });
        assert!(found[1] == numbers);
    }
}

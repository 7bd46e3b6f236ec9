//! The settings of the proximity matrices.

use manyview_base::{named, settings};

/// The largest number of walks from a node.
pub(super) const MOST_WALKS: usize = 2000;

named! {
    /// How a node without edges in a view is represented in its proximity matrix.
    pub enum Isolated {
        Zero = "zero", "a zero row and column";
        Loop = "loop", "log(volume / negative) on the diagonal, as in the published code";
    }
}

named! {
    /// How proximity matrices are computed.
    pub enum Source {
        /// The limit is [`EXACT_WORK`](super::EXACT_WORK).
        Auto = "auto", "exact if that takes at most a few minutes of one core and fits into memory, else sampled";
        Exact = "exact", "all entries, from powers of the adjacency matrix";
        Sampled = "sampled", "estimated by random walks, for networks of up to millions of nodes";
    }
}

settings! {
    /// Settings of the proximity matrices.
    #[derive(Copy)]
    pub struct Settings {
        /// The number of steps of a random walk within which two nodes are considered close.
        window: usize = 5 => at_least(1.0).hint("the usual choice is 5");
        /// The number of negative samples: pairs of nodes that co-occur less than this many times as often as expected
        /// by chance are dropped. The paper uses 5, which keeps about a third of the entries that 1 keeps and takes a third of the time
        /// and memory.
        negative: f64 = 1.0 => above(0.0).hint("the usual choices are 1 and 5");
        /// How a node without edges in a view is represented there.
        isolated: Isolated = Isolated::Zero => rare();
        /// How the proximity matrices are computed.
        proximity: Source = Source::Auto;
        /// The number of random walks from each node of each view, where matrices are sampled. More walks are more exact and take more
        /// time and memory.
        walks: Option<usize> = None => at_least(1.0).at_most(MOST_WALKS as f64).hint("the usual numbers are 10 to 200").absent("by the mean degree and the memory");
    }
}

//! The settings of the proximity matrices.

use manyview_base::{named, settings};

named! {
    /// How a node without edges in a view is represented in its proximity matrix.
    pub enum Isolated {
        Zero = "zero", "a zero row and column";
        Loop = "loop", "log(volume / negative) on the diagonal, as in the published code";
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
    }
}

//! A model that lives: vectors of new nodes, and of nodes whose edges change, from the factors of a fit.
//!
//! Given the right factors of the stages, the vector of a node is a small non-negative least-squares problem per stage, on its own row of
//! the proximity matrices: solve, subtract, clip, next stage. No other row takes part, so the vectors of all other nodes keep their bytes.
//!
//! `kept.rs` is the model and `file.rs` its file; `rows.rs` computes the rows of new nodes, `solve.rs` solves them through the stages;
//! `fold.rs` puts them together.
//! `changes.rs` has the network after edges came and went and says who can feel it, `update.rs` solves those rows again. `add_view.rs` gives a new kind
//! of edge columns of its own. `record.rs` is `run.json` after these changes. `docs/living.md` has the mathematics.
//!
//! Invariant: the vector of a new node follows from the model, its edges, and the new nodes that it is linked with; never from the order
//! of the input, the other new nodes, or the number of threads.

mod add_view;
mod additions;
mod changes;
mod file;
mod fold;
mod kept;
mod nnls;
mod record;
mod rows;
mod solve;
mod update;

pub use add_view::AddedView;
pub use additions::Additions;
pub use file::{MODEL, file_bytes, write_model};
pub use fold::Folded;
pub use kept::KeptModel;
pub use update::{TOLERANCE, Updated};

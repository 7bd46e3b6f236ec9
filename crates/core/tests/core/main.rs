//! Tests of whole computations, in one binary: each would compile the solver again.

mod accelerated;
mod add_view;
mod backends;
mod checkpoint;
mod common;
mod living;
mod multiplicative;
mod oracle;
mod pipeline;
mod properties;
mod truncate;

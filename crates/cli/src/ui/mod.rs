//! What a person sees.

mod numbers;
mod print;
mod progress;
mod table;

pub(crate) use numbers::{bytes, plural, seconds};
pub(crate) use print::print;
pub(crate) use progress::Reporter;
pub(crate) use table::stage_table;

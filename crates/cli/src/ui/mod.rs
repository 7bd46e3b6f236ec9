//! Output for the terminal: numbers, tables and progress.

mod aligned;
mod contributions;
mod numbers;
mod print;
mod progress;
mod scores;
mod table;
mod time_left;
mod worth;

pub(crate) use aligned::aligned;
pub(crate) use contributions::Contributions;
pub(crate) use numbers::{about, bytes, plural, seconds, thousands};
pub(crate) use print::{print, tell};
pub(crate) use progress::Reporter;
pub(crate) use scores::{classification_table, clustering_table, links_table};
pub(crate) use table::stage_table;
pub(crate) use worth::worth_table;

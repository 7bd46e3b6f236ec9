//! What a person sees of `manyview tune`: its progress (`progress.rs`), the table (`table.rs`) and the page (`page.rs`).

mod page;
mod progress;
mod table;

pub(crate) use page::{About, page};
pub(crate) use progress::Printer;
pub(crate) use table::table;

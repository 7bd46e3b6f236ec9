//! What a person sees of `manyview figures`: tables (`table.rs`), drawings and the page (`page.rs`).

mod page;
mod table;

pub(crate) use page::{About, drawing_file, page};
pub(crate) use table::tables;

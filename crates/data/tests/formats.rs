//! Reading of whole files: the results, and the messages for files that cannot be read.

#[path = "formats/bad_files.rs"]
mod bad_files;
#[path = "formats/columns.rs"]
mod columns;
#[path = "formats/edge_lists.rs"]
mod edge_lists;
#[path = "formats/networks.rs"]
mod networks;
#[path = "formats/support.rs"]
mod support;

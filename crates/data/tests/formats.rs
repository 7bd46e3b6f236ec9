//! Whole files, as people have them, through the front door: what is read, and what is said when it cannot be.

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

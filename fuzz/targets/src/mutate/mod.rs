//! Changes of inputs: of bytes, of lines and of tokens.
//!
//! Most changes keep a text valid (another number for a number, a line twice), so that what lies behind the first check is
//! reached too; the others make it wrong in ways that real files are wrong.

mod bytes;
mod numbers;
mod text;

pub use bytes::change_bytes;
pub use numbers::number;
pub use text::{Words, change_text};

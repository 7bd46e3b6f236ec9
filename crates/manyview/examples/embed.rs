//! Embeds the built-in digits, saves the result and opens it again.
//!
//! `cargo run --release --example embed -- [FOLDER]`

#![allow(clippy::print_stdout, reason = "examples print")]

use manyview::result::ResultFolder;
use manyview::{Mnmf, Result, digits};

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "digits-embedding".into());
    let network = digits::network()?;
    let fit = Mnmf { dim: 64, stages: 4, ..Mnmf::default() }.fit(&network)?;
    fit.save(&folder)?;

    let saved = ResultFolder::open(folder.as_ref())?;
    println!("{} nodes x {} columns in {folder}", saved.embedding.rows(), saved.embedding.dim());
    for part in saved.embedding.parts() {
        let view = part.view.as_deref().unwrap_or("all views");
        println!("stage {}, {view}: columns {:?}", part.stage, part.columns);
    }
    Ok(())
}

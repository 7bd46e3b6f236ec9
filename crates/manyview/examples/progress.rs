//! Shows the progress of a fit and ends it early.
//!
//! `cargo run --release --example progress`

#![allow(clippy::print_stdout, reason = "examples print")]

use std::ops::ControlFlow;

use manyview::{Error, FitOptions, Mnmf, Model, Progress, Result, digits};

fn main() -> Result<()> {
    let network = digits::network()?;
    let model = Model { threads: Some(2), ..Mnmf { dim: 64, stages: 8, ..Mnmf::default() }.into() };
    let mut finished = 0;
    let result = model.fit_with(&network, &FitOptions::default(), &mut |now| {
        if let Progress::StageFinished(stage) = now {
            println!("stage {} ({}): {} iterations", stage.stage, stage.kind.name(), stage.iterations);
            finished += 1;
        }
        // Two stages are enough for an example; return Continue to run to the end.
        if finished < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    match result {
        Err(Error::Interrupted) => println!("ended by the observer"),
        other => println!("{} columns", other?.embedding.dim()),
    }
    Ok(())
}

//! The command `manyview`: parses, runs, and turns what went wrong into one sentence and an exit code.
//!
//! Results go to standard output or files, everything else to standard error. Exit codes: 0 done, 1 failed,
//! 2 the command makes no sense as given, 130 interrupted.

mod args;
mod commands;
mod interrupt;
mod ui;

use std::process::ExitCode;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::read();
    let result = match &cli.command {
        Command::Embed(args) => commands::embed::run(args),
        Command::Proximity(args) => commands::proximity::run(args),
        Command::Generate(args) => commands::generate::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Completions(args) => commands::completions::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

fn report(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<manyview::Error>() {
        Some(manyview::Error::Interrupted) => {
            eprintln!("{}", interrupt::sentence());
            ExitCode::from(interrupt::EXIT_CODE)
        }
        // The library's sentences are complete; what the system said is in them already.
        Some(manyview::Error::Config(sentence)) => {
            eprintln!("error: {sentence}");
            ExitCode::from(2)
        }
        Some(other) => {
            eprintln!("error: {other}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! The program `manyview`: parses the command line, runs a command, and turns an error into a message and an exit code.
//!
//! Results are written to standard output or to files, everything else to standard error. Exit codes: 0 success,
//! 1 failure, 2 invalid command or setting, 101 a bug of ours, 130 interrupted.

// See `ui::tell`.
#![warn(clippy::print_stderr)]

mod args;
mod backend;
mod commands;
mod compare;
mod crash;
mod figures;
mod html;
mod interrupt;
mod report;
mod tune;
mod ui;

use std::process::ExitCode;

use args::{Cli, Command};
use manyview::message::Notation;
use ui::tell;

fn main() -> ExitCode {
    use backend::{alone, on_all_ranks};
    crash::ends_the_process();
    let cli = Cli::read();
    match &cli.command {
        Command::Embed(args) => on_all_ranks(|ranks| commands::embed::run(args, ranks)),
        Command::Proximity(args) => alone(|| commands::proximity::run(args)),
        Command::Views(args) => alone(|| commands::views::run(args)),
        Command::Report(args) => alone(|| commands::report::run(args)),
        Command::Explain(args) => alone(|| commands::explain::run(args)),
        Command::Neighbors(args) => alone(|| commands::neighbors::run(args)),
        Command::Cluster(args) => alone(|| commands::cluster::run(args)),
        Command::FoldIn(args) => alone(|| commands::fold_in::run(args)),
        Command::Update(args) => alone(|| commands::update::run(args)),
        Command::AddView(args) => alone(|| commands::add_view::run(args)),
        Command::Truncate(args) => alone(|| commands::truncate::run(args)),
        Command::Evaluate(args) => alone(|| commands::evaluate::run(args)),
        Command::Compare(args) => alone(|| compare::run(args)),
        Command::Tune(args) => alone(|| commands::tune::run(args)),
        Command::Figures(args) => alone(|| commands::figures::run(args)),
        Command::Generate(args) => alone(|| commands::generate::run(args)),
        Command::Demo(args) => on_all_ranks(|ranks| commands::demo::run(args, ranks)),
        Command::Methods(args) => alone(|| commands::methods::run(args)),
        Command::Completions(args) => alone(|| commands::completions::run(args)),
    }
}

/// Prints an error, with the place where it happened if that is not clear, and returns the exit code.
fn report(error: &anyhow::Error, place: &str) -> u8 {
    match error.downcast_ref::<manyview::Error>() {
        Some(manyview::Error::Interrupted) => {
            tell(interrupt::message());
            interrupt::EXIT_CODE
        }
        // The library's messages include those of their causes.
        Some(manyview::Error::Config(message)) => {
            tell(format_args!("error{place}: {}", message.in_notation(Notation::CommandLine)));
            2
        }
        Some(manyview::Error::Bug(sentence)) => {
            tell(format_args!("error{place}: {sentence}"));
            crash::EXIT_CODE
        }
        Some(other) => {
            tell(format_args!("error{place}: {}", other.in_notation(Notation::CommandLine)));
            1
        }
        None => {
            tell(format_args!("error{place}: {error:#}"));
            1
        }
    }
}

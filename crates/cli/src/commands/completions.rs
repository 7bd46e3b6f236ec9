//! `manyview completions`: a completion script for a shell.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, CompletionArgs};

pub(crate) fn run(args: &CompletionArgs) -> Result<()> {
    clap_complete::generate(args.shell, &mut Cli::command(), "manyview", &mut std::io::stdout());
    Ok(())
}

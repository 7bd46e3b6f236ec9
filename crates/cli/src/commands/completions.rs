//! `manyview completions`: a completion script for a shell.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, CompletionArgs};
use crate::ui::print;

pub(crate) fn run(args: &CompletionArgs) -> Result<()> {
    // Into memory first: clap panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "manyview", &mut script);
    print(script)
}

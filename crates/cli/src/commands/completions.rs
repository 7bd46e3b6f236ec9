//! `manyview completions`: a shell completion script.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Cli, CompletionArgs};
use crate::ui::print;

pub(crate) fn run(args: &CompletionArgs) -> Result<()> {
    // clap panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "manyview", &mut script);
    print(script)
}

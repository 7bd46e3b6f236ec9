//! `manyview generate`: a network with planted communities.

use std::io::Write;

use anyhow::Result;
use manyview::generate::Planted;
use manyview::io::OutputFolder;

use crate::args::GenerateArgs;
use crate::interrupt;
use crate::ui::plural;

impl GenerateArgs {
    /// What was asked for.
    pub(crate) fn planted(&self) -> Planted {
        Planted {
            nodes: self.nodes,
            views: self.views,
            communities: self.communities,
            degree: self.degree.clone(),
            noise: self.noise.clone(),
            consensus: self.consensus,
            absent: self.absent,
            skew: self.skew,
            weighted: self.weighted,
            seed: self.seed,
        }
    }
}

pub(crate) fn run(args: &GenerateArgs) -> Result<()> {
    let planted = args.planted();
    planted.check()?;
    let folder = &args.output.output;
    let output = OutputFolder::prepare(folder, &planted.files(), args.output.force)?;
    interrupt::watch_for_it()?;
    interrupt::writes_to(folder.clone());
    let network = planted.generate()?;
    if interrupt::go_on().is_break() {
        return Err(manyview::Error::Interrupted.into());
    }
    network.write_to(output)?;
    if !args.output.quiet {
        let edges = network.views.iter().map(|view| view.edges.len()).sum();
        let (nodes, views, edges) =
            (plural(args.nodes, "node"), plural(args.views, "view"), plural(edges, "edge"));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{nodes}, {views}, {edges} in {}", folder.display())?;
        writeln!(out, "try: manyview embed {0} -o {0}-embedding", folder.display())?;
    }
    Ok(())
}

//! `manyview generate`: a network with planted communities.

use anyhow::Result;
use manyview::generate::Planted;
use manyview::io::OutputFolder;
use manyview::parallel::Pool;

use super::quoted;
use crate::args::GenerateArgs;
use crate::interrupt;
use crate::ui::{plural, print};

impl GenerateArgs {
    /// Returns the settings.
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
    interrupt::watch_for_it()?;
    let output = OutputFolder::prepare(folder, &planted.files(), args.output.force)?;
    interrupt::writes_to(output.traces());
    let network = planted.generate()?;
    if interrupt::go_on().is_break() {
        return Err(manyview::Error::Interrupted.into());
    }
    network.write_to(output, &Pool::new(None)?)?;
    if !args.output.quiet {
        let path = folder.to_string_lossy();
        let edges = network.views.iter().map(|view| view.edges.len()).sum();
        let (nodes, views, edges) =
            (plural(args.nodes, "node"), plural(args.views, "view"), plural(edges, "edge"));
        let summary = format!("{nodes}, {views}, {edges} in {}", folder.display());
        let (input, output) = (quoted(&path), quoted(&format!("{}-embedding", path.trim_end_matches('/'))));
        print(format!("{summary}\ntry: manyview embed {input} -o {output}\n"))?;
    }
    Ok(())
}

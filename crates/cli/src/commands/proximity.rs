//! `manyview proximity`: the proximity matrix of each view, as a file for SciPy.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use manyview::Progress;
use manyview::io::{OutputFolder, write_npz_to};
use manyview::network::View;
use manyview::parallel::Pool;
use manyview::proximity::{How, Proximity, proximity_watched};
use manyview::result::NODES;

use super::read;
use crate::args::ProximityArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural, print, seconds};

pub(crate) fn run(args: &ProximityArgs) -> Result<()> {
    let settings = args.proximity.settings()?;
    let pool = Pool::new(args.threads)?;
    interrupt::watch_for_it()?;
    // The names of the other files are known only after the network is read; they are checked then.
    let folder = &args.output.output;
    let mut output = OutputFolder::prepare(folder, &[NODES], args.output.force)?;
    interrupt::writes_to(output.traces());
    let mut reporter = Reporter::new(args.output.quiet);
    let (network, _) = read(&args.network, args.threads, &mut reporter)?;

    let files: Vec<String> = network.views().iter().map(|view| format!("{}.npz", view.name)).collect();
    output.check_absent(&files)?;
    let (nodes, views) = (network.nodes().len(), network.views().len());
    let all: Vec<&View> = network.views().iter().collect();
    let proximity = Proximity::decide(settings, &all, args.seed, &pool)?;
    let mut lines = Vec::new();
    for (index, (view, file)) in network.views().iter().zip(&files).enumerate() {
        let began = Instant::now();
        let matrix = proximity_watched::<f32>(view, proximity, &pool, &mut |done| {
            let done = (index as f64 + done as f64 / nodes.max(1) as f64) / views as f64;
            reporter.fitting(&Progress::Working { doing: "proximity", view: Some(&view.name), done });
            interrupt::go_on()
        })?;
        output.write(file, |writer| write_npz_to(writer, &matrix))?;
        let density = 100.0 * matrix.entries() as f64 / (nodes as f64 * nodes as f64);
        let (entries, time) = (
            plural(matrix.entries(), "entry").replace("entrys", "entries"),
            seconds(began.elapsed().as_secs_f64()),
        );
        lines
            .push(format!("{}: {entries} ({density:.2}% of all pairs), {time}", folder.join(file).display()));
    }
    output.write(NODES, |writer| network.nodes().iter().try_for_each(|id| writeln!(writer, "{id}")))?;
    output.commit()?;
    reporter.finish();
    if let How::Sampled(walks) = proximity.how {
        lines.push(format!("(sampled by {} from each node)", plural(walks.per_node, "walk")));
    }
    if !reporter.is_quiet() {
        print(lines.join("\n") + "\n")?;
    }
    Ok(())
}

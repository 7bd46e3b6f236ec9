//! `manyview proximity`: each view's proximity matrix as a file for SciPy.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use manyview::Config;
use manyview::io::{OutputFolder, write_npz_to};
use manyview::parallel::Pool;
use manyview::proximity::{Settings, proximity};
use manyview::stages::Progress;

use super::read;
use crate::args::ProximityArgs;
use crate::interrupt;
use crate::ui::{Reporter, plural, print, seconds};

pub(crate) fn run(args: &ProximityArgs) -> Result<()> {
    let mut config = Config { threads: args.threads, ..Config::default() };
    args.proximity.lay_over(&mut config);
    config.check()?;
    let settings = Settings { window: config.window, negative: config.negative, isolated: config.isolated };
    let pool = Pool::new(config.threads)?;
    interrupt::watch_for_it()?;
    // Views are known only after reading; the files they get are checked again then.
    let folder = &args.output.output;
    drop(OutputFolder::prepare(folder, &["nodes.txt"], args.output.force)?);
    let mut reporter = Reporter::new(args.output.quiet);
    let (network, _) = read(&args.network, &mut reporter)?;

    let files: Vec<String> = network.views().iter().map(|view| format!("{}.npz", view.name)).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).chain(["nodes.txt"]).collect();
    let mut output = OutputFolder::prepare(folder, &names, args.output.force)?;
    interrupt::writes_to(&output);
    let (nodes, views) = (network.nodes().len(), network.views().len());
    let mut lines = Vec::new();
    for (index, (view, file)) in network.views().iter().zip(&files).enumerate() {
        let began = Instant::now();
        let matrix = proximity::<f32>(view, settings, &pool, &mut |done| {
            reporter.fitting(&Progress::Proximity { view: &view.name, index, views, done, rows: nodes });
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
    output.write("nodes.txt", |writer| network.nodes().iter().try_for_each(|id| writeln!(writer, "{id}")))?;
    output.commit()?;
    reporter.finish();
    if !reporter.is_quiet() {
        print(lines.join("\n") + "\n")?;
    }
    Ok(())
}

//! `manyview tune`: runs the search of the library, prints its progress and table, and writes the report.

use anyhow::Result;
use manyview::io::OutputFolder;
use manyview::tune::{REPORT_FILES, TuneOptions, TuneRecord, settings_toml, tune};

use super::{command_line, read_within, tell_unknown, tell_unlabeled};
use crate::args::TuneArgs;
use crate::interrupt;
use crate::tune::{About, Printer, page, table};
use crate::ui::{Reporter, print};

pub(crate) fn run(args: &TuneArgs) -> Result<()> {
    let settings = args.settings()?;
    // Invalid settings are reported before a large file is read.
    settings.check()?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet).brief();
    let network =
        read_within(args.max_memory, &args.network, settings.model.threads, &mut reporter)?.0.network;
    let labels = args.labels.as_ref().map(|file| args.columns.open(file, network.nodes())).transpose()?;
    if let (Some(labels), Some(file)) = (&labels, &args.labels) {
        tell_unlabeled(labels, &reporter);
        tell_unknown(labels, file, "network", &reporter);
    }
    let mut output = OutputFolder::prepare(&args.output, &REPORT_FILES, true)?;
    interrupt::writes_to(output.traces());
    let options = TuneOptions { folder: Some(&args.output), locked: true, overwrite: args.force };
    let mut printer = Printer::new(&mut reporter, &args.output);
    let found = tune(&network, labels.as_ref(), &settings, &options, &mut |event| printer.show(event));
    reporter.finish();
    let found = found?;
    let command = command_line();
    let record = TuneRecord::new(&found, &network, &command);
    let mut json = Vec::new();
    record.write_to(&mut json)?;
    let title = args.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let about = About { title: &title, command: &command, network: &network };
    let best = format!("# {command}\n{}", settings_toml(&found.best().candidate.model));
    for (name, content) in
        REPORT_FILES.iter().zip([&json[..], page(&about, &found)?.as_bytes(), best.as_bytes()])
    {
        output.write(name, |writer| std::io::Write::write_all(writer, content))?;
    }
    output.commit()?;
    if args.json {
        return print(json);
    }
    let [_, page, best] = REPORT_FILES.map(|name| args.output.join(name));
    print(format!(
        "{}\nopen {} in a browser; use the best settings with manyview embed --settings {}\n",
        table(&found, network.views().len()),
        page.display(),
        best.display()
    ))
}

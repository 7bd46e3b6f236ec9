//! `manyview compare`: runs the comparison of the library, prints its progress and tables, and writes the report.
//!
//! `progress.rs` prints events, `write.rs` formats tables as text, Markdown and LaTeX, and `page.rs` as an HTML page.

mod page;
mod progress;
mod write;

use std::ops::ControlFlow;

use anyhow::{Result, bail};
use manyview::compare::{CompareOptions, CompareRecord, Comparison, REPORT_FILES, compare_with};
use manyview::evaluate::Labels;
use manyview::io::OutputFolder;
use manyview::parallel::Pool;
use manyview::{Error, Network};

use crate::args::CompareArgs;
use crate::commands::{command_line, read, tell_unknown, tell_unlabeled};
use crate::interrupt;
use crate::ui::{Reporter, plural, print};
use page::{About, Picture};
use progress::Printer;

pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    let settings = args.settings()?;
    // Invalid settings are reported before a large file is read.
    settings.check()?;
    interrupt::watch_for_it()?;
    let mut reporter = Reporter::new(args.quiet).brief();
    let (network, _) = read(&args.network, args.threads, &mut reporter)?;
    let labels = args.columns.open(&args.labels, network.nodes())?;
    tell_unlabeled(&labels, &reporter);
    tell_unknown(&labels, &args.labels, "network", &reporter);
    let output = OutputFolder::prepare(&args.output, &REPORT_FILES, true)?;
    interrupt::writes_to(output.traces());
    let command = command_line();
    let options =
        CompareOptions { folder: Some(&args.output), locked: true, overwrite: args.force, command: &command };
    let mut printer = Printer { reporter: &mut reporter, folder: &args.output };
    let found = compare_with(&network, &labels, &settings, &options, &mut |event| printer.show(event));
    reporter.finish();
    let found = found?;
    let pictures = if args.no_pictures { Vec::new() } else { pictures(&found, &mut reporter)? };
    write(args, output, &network, &labels, &found, &pictures, &command)?;
    show(args, &found)
}

/// Draws the maps. If one cannot be drawn, the others and the tables are still written.
fn pictures(comparison: &Comparison, reporter: &mut Reporter) -> Result<Vec<Picture>> {
    let pool = Pool::new(comparison.settings.threads)?;
    let mut pictures = Vec::new();
    for map in comparison.maps() {
        let found = map.coordinates(&pool, &mut |step| -> ControlFlow<()> {
            reporter.laying_out(step);
            interrupt::go_on()
        });
        match found {
            Ok(places) => pictures.push(Picture { title: map.title.clone(), places }),
            Err(Error::Interrupted) => return Err(Error::Interrupted.into()),
            Err(error) => {
                reporter.finish();
                reporter.say(&format!("no map of {}: {error}", map.title));
            }
        }
    }
    reporter.finish();
    Ok(pictures)
}

/// Writes the report: all files or none.
fn write(
    args: &CompareArgs,
    mut output: OutputFolder,
    network: &Network,
    labels: &Labels,
    comparison: &Comparison,
    pictures: &[Picture],
    command: &str,
) -> Result<()> {
    let [json, markdown, latex, html] = REPORT_FILES;
    let (tables, sentence) = (&comparison.tables, sentence(network, labels, comparison));
    let record = CompareRecord::new(comparison, network, labels, command);
    output.write(json, |writer| record.write_to(writer))?;
    let head = format!("{sentence}\n\n```sh\n{command}\n```\n\n");
    let body: String = tables.iter().map(write::markdown).collect();
    let times = write::times_markdown(&comparison.times);
    let text = head + &body + &write::legend_text(tables, "\\*") + &times;
    write_text(&mut output, markdown, &text)?;
    let text = tables.iter().map(write::latex).collect::<String>() + &write::times_latex(&comparison.times);
    write_text(&mut output, latex, &text)?;
    let title = args.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let about = About { title: &title, command, sentence: &sentence, nodes: network.nodes(), labels };
    write_text(&mut output, html, &page::page(&about, tables, &comparison.times, pictures)?)?;
    output.commit()?;
    Ok(())
}

fn write_text(output: &mut OutputFolder, name: &str, text: &str) -> manyview::Result<()> {
    output.write(name, |writer| std::io::Write::write_all(writer, text.as_bytes()))
}

/// Describes the network, the labels and the settings.
fn sentence(network: &Network, labels: &Labels, comparison: &Comparison) -> String {
    let (nodes, views) = (plural(network.nodes().len(), "node"), plural(network.views().len(), "view"));
    let several = if labels.is_multi_label() { " (several per node)" } else { "" };
    let (classes, labeled) =
        (plural(labels.names().len(), "label"), plural(labels.labeled(), "labeled node"));
    let settings = &comparison.settings;
    let (columns, repeats) = (plural(settings.dim, "column"), plural(settings.repeats, "repeat"));
    let preset = settings.preset.name();
    format!("{nodes}, {views}, {classes}{several}, {labeled}; {columns}, {repeats}, preset {preset}.")
}

/// Prints the tables. Fails if every method failed.
fn show(args: &CompareArgs, comparison: &Comparison) -> Result<()> {
    let Comparison { rows, tables, times, .. } = comparison;
    let mut text: String = tables.iter().map(|table| write::text(table) + "\n").collect();
    if rows.iter().all(|row| row.candidates.is_empty()) {
        print(text)?;
        let record = args.output.join(REPORT_FILES[0]);
        bail!("every method failed; see {} for the reasons", record.display());
    }
    text += &(write::times_text(times) + "\n");
    text.push_str(&write::legend_text(tables, "*"));
    let failed = rows.iter().filter(|row| !row.failures.is_empty()).count();
    if failed > 0 {
        let (methods, record) = (plural(failed, "method"), REPORT_FILES[0]);
        text.push_str(&format!("{methods} failed completely or in part; see {record} for the reasons\n"));
    }
    text.push_str(&format!("open {} in a browser\n", args.output.join(REPORT_FILES[3]).display()));
    print(text)
}

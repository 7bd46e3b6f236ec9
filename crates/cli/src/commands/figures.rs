//! `manyview figures`: computes the figures with the library, prints their values, and writes the page and the drawings.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::Result;
use manyview::figures::{Event, Figure, Figures, figures};
use manyview::io::OutputFolder;
use manyview::{Model, Network};
use serde_json::json;

use super::{command_line, read_within, tell_unknown, tell_unlabeled};
use crate::args::FiguresArgs;
use crate::figures::{About, drawing_file, page, tables};
use crate::interrupt;
use crate::ui::{Reporter, print};

const PAGE: &str = "figures.html";
const RECORD: &str = "figures.json";

pub(crate) fn run(args: &FiguresArgs) -> Result<()> {
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
    let panels = Figure::ALL.into_iter().flat_map(Figure::panel_names).map(|name| format!("{name}.svg"));
    let names: Vec<String> = [PAGE.into(), RECORD.into()].into_iter().chain(panels).collect();
    let mut output = OutputFolder::prepare(&args.output, &names, args.force)?;
    interrupt::writes_to(output.traces());
    let found = figures(&network, labels.as_ref(), &settings, &mut |event| show(event, &mut reporter));
    reporter.finish();
    let found = found?;
    let command = command_line();
    let json = serde_json::to_vec_pretty(&record(&found, &network, &settings.model, &command))?;
    output.write(RECORD, |writer| writer.write_all(&json))?;
    let title = args.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let about = About::new(&title, &command, &network, labels.as_ref(), &settings);
    let html = page(&about, &found)?;
    output.write(PAGE, |writer| writer.write_all(html.as_bytes()))?;
    for panel in found.drawings.iter().flat_map(|drawing| &drawing.panels) {
        let text = drawing_file(panel, &about);
        output.write(&format!("{}.svg", panel.name), |writer| writer.write_all(text.as_bytes()))?;
    }
    output.commit()?;
    if args.json {
        return print(json);
    }
    print(format!("{}open {} in a browser\n", tables(&found), args.output.join(PAGE).display()))
}

fn record(found: &Figures, network: &Network, model: &Model, command: &str) -> serde_json::Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "command": command,
        "network": format!("{:016x}", network.fingerprint()),
        "settings": model.to_json(),
        "figures": found.drawings,
        "notes": found.notes,
    })
}

/// Prints an event; breaks after Ctrl-C.
fn show(event: &Event<'_>, reporter: &mut Reporter) -> ControlFlow<()> {
    match event {
        Event::Figure(figure, number, of) => {
            reporter.finish();
            reporter.say(&format!("figure {number} of {of}: {}, {}", figure.name(), figure.help()));
        }
        Event::Variant(name) => {
            reporter.finish();
            reporter.say(&format!("  {name}"));
        }
        Event::Fitting(now) => reporter.fitting(now),
        Event::Measuring(step) => reporter.evaluating(*step, "splits"),
        Event::LayingOut(step) => reporter.laying_out(*step),
        Event::Note(note) => {
            reporter.finish();
            reporter.say(&format!("note: {note}"));
        }
        _ => {}
    }
    interrupt::go_on()
}

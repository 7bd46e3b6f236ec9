//! The figures as one HTML page, and each panel as an SVG file.
//!
//! Invariant: names come from the data, so they are written through [`escaped`] only.

use std::fmt::Write;

use manyview::Network;
use manyview::figures::{Drawing, Figure, FigureSettings, Figures, Panel, Shape, Unit};
use manyview::labels::Labels;

use super::table::{shown, unit};
use crate::html::svg::{self, Scale};
use crate::html::{END, escaped, figure, head};
use crate::ui::plural;

/// What the drawings need besides their values.
pub(crate) struct About<'a> {
    title: &'a str,
    command: &'a str,
    /// The network, labels and settings in one sentence.
    sentence: String,
    /// The first label of each node, if it has one.
    label_of: Vec<Option<u32>>,
    labels: &'a [String],
}

impl<'a> About<'a> {
    pub(crate) fn new(
        title: &'a str,
        command: &'a str,
        network: &Network,
        labels: Option<&'a Labels>,
        settings: &FigureSettings,
    ) -> Self {
        let nodes = network.nodes().len();
        let mut sentence = format!("{}, {}", plural(nodes, "node"), plural(network.views().len(), "view"));
        if let Some(labels) = labels {
            let (labeled, splits) =
                (plural(labels.labeled(), "labeled node"), plural(settings.repeats, "split"));
            sentence +=
                &format!(", {labeled}; training share {}, {splits}, C {}", settings.train, settings.c);
        }
        let first = |row: usize| labels.and_then(|labels| labels.of(row).first().copied());
        About {
            title,
            command,
            sentence: sentence + ".",
            label_of: (0..nodes).map(first).collect(),
            labels: labels.map_or(&[], |labels| labels.names()),
        }
    }
}

/// The whole page.
pub(crate) fn page(about: &About<'_>, found: &Figures) -> String {
    let mut text = head(about.title, "figures of mnmf", &about.sentence, about.command);
    for note in &found.notes {
        let _ = writeln!(text, "<p class=\"note\">Note: {}.</p>", escaped(note));
    }
    for drawing in &found.drawings {
        text += &section(drawing, about);
    }
    text + END
}

fn section(drawing: &Drawing, about: &About<'_>) -> String {
    let help = drawing.figure.help();
    let (first, rest) = help.split_at(1);
    let mut text = format!("<section>\n<h2>{}{rest}</h2>\n", first.to_uppercase());
    if drawing.figure == Figure::Maps && !about.labels.is_empty() {
        text += "<p>";
        for (label, name) in about.labels.iter().enumerate().take(60) {
            let color = label % svg::LABEL_COLORS;
            let _ = write!(text, "<span class=\"key p{color}\">■ {}</span> ", escaped(name));
        }
        text += "</p>\n";
    }
    text += "<div class=\"row\">\n";
    for panel in &drawing.panels {
        text += &figure(&caption(panel), &drawn(panel, about), &names(panel));
    }
    text += "</div>\n";
    drawing.panels.iter().filter(|panel| panel.shape != Shape::Map).for_each(|panel| text += &values(panel));
    text + "</section>\n"
}

fn caption(panel: &Panel) -> String {
    if panel.shape == Shape::Map { panel.title.clone() } else { format!("{}, {}", panel.title, unit(panel)) }
}

fn names(panel: &Panel) -> Vec<&str> {
    panel.curves.iter().map(|curve| curve.name.as_str()).collect()
}

fn drawn(panel: &Panel, about: &About<'_>) -> String {
    let rows: Vec<Vec<Option<f64>>> = panel
        .curves
        .iter()
        .map(|curve| curve.values.iter().map(|value| Some(value.mean)).collect())
        .collect();
    let scale = if panel.unit == Unit::Seconds { Scale::FromZero } else { Scale::Percent };
    match panel.shape {
        Shape::Map => svg::map(&panel.title, &panel.places, &about.label_of),
        Shape::Bars => svg::bars(&panel.title, &panel.ticks, &rows, scale),
        _ => svg::curves(&panel.title, &panel.ticks, &rows, scale),
    }
}

/// A panel as a file of its own.
pub(crate) fn drawing_file(panel: &Panel, about: &About<'_>) -> String {
    svg::file(&drawn(panel, about), &caption(panel), &names(panel))
}

/// The values of a panel, to be opened by those who want them.
fn values(panel: &Panel) -> String {
    let mut text = format!(
        "<details><summary>{}: values</summary>\n<div class=\"wide\"><table>\n<thead><tr><th>{}</th>",
        escaped(&panel.title),
        panel.axis
    );
    names(panel).iter().for_each(|name| _ = write!(text, "<th>{}</th>", escaped(name)));
    text += "</tr></thead>\n<tbody>\n";
    for (at, tick) in panel.ticks.iter().enumerate() {
        let _ = write!(text, "<tr><th>{}</th>", escaped(tick));
        for curve in &panel.curves {
            let _ = write!(text, "<td>{}</td>", shown(&curve.values[at], panel.unit));
        }
        text += "</tr>\n";
    }
    text + "</tbody></table></div></details>\n"
}

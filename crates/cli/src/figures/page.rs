//! The figures as one HTML page, and each panel as an SVG file.
//!
//! Invariant: names come from the data, so they are written through [`escaped`] only.

use std::fmt::Write;

use anyhow::Result;
use manyview::Network;
use manyview::figures::{Curve, Drawing, Figure, FigureSettings, Figures, Panel, Shape, Unit};
use manyview::labels::Labels;
use manyview::network::Nodes;

use super::table::{shown, unit};
use crate::html::svg::{self, Lines, Row, Scale};
use crate::html::{Document, Maps, SCRIPT, TABLE_END, escaped, figure, table_head};
use crate::ui::plural;

/// What the drawings need besides their values.
pub(crate) struct About<'a> {
    title: &'a str,
    command: &'a str,
    /// The network, labels and settings in one sentence.
    sentence: String,
    /// The first label of each node, if it has one.
    label_of: Vec<Option<u32>>,
    nodes: &'a Nodes,
    labels: Option<&'a Labels>,
}

impl<'a> About<'a> {
    pub(crate) fn new(
        title: &'a str,
        command: &'a str,
        network: &'a Network,
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
            nodes: network.nodes(),
            labels,
        }
    }
}

/// The whole page.
pub(crate) fn page(about: &About<'_>, found: &Figures) -> Result<String> {
    let mut body = String::new();
    for note in &found.notes {
        let _ = writeln!(body, "<p class=\"note\">Note: {}.</p>", escaped(note));
    }
    let panels = found.drawings.iter().flat_map(|drawing| &drawing.panels);
    let maps = panels.filter(|panel| panel.shape == Shape::Map);
    let maps =
        Maps::new(about.nodes, about.labels, maps.map(|panel| (panel.title.as_str(), &panel.places[..])));
    for drawing in &found.drawings {
        body += &if drawing.figure == Figure::Maps { maps.section() } else { section(drawing) };
    }
    let document = Document {
        kind: "manyview figures",
        title: about.title,
        sentence: &about.sentence,
        command: Some(about.command),
        body,
        script: SCRIPT,
    };
    document.write(&maps)
}

fn section(drawing: &Drawing) -> String {
    let help = drawing.figure.help();
    let (first, rest) = help.split_at(1);
    let mut text = format!("<section>\n<h2>{}{rest}</h2>\n<div class=\"figures\">\n", first.to_uppercase());
    for panel in &drawing.panels {
        let (rows, keys) = (rows(panel), panel.shape == Shape::Bars && panel.curves.len() > 1);
        text += &figure(&caption(panel), &chart(panel), panel.axis, &panel.ticks, &rows, keys);
    }
    text += "</div>\n";
    drawing.panels.iter().for_each(|panel| text += &values(panel));
    text + "</section>\n"
}

fn caption(panel: &Panel) -> String {
    if panel.shape == Shape::Map { panel.title.clone() } else { format!("{}, {}", panel.title, unit(panel)) }
}

fn names(panel: &Panel) -> Vec<&str> {
    panel.curves.iter().map(|curve| curve.name.as_str()).collect()
}

fn rows(panel: &Panel) -> Vec<Row> {
    let row =
        |curve: &Curve| (curve.name.clone(), curve.values.iter().map(|value| Some(value.mean)).collect());
    panel.curves.iter().map(row).collect()
}

/// A chart of the values of a panel; maps have none.
fn chart(panel: &Panel) -> String {
    let rows = rows(panel);
    let scale = if panel.unit == Unit::Seconds { Scale::FromZero } else { Scale::Percent };
    if panel.shape == Shape::Bars {
        return svg::bars(&panel.title, &panel.ticks, &rows, scale);
    }
    let (title, x, y) = (&panel.title, panel.axis, unit(panel));
    Lines { title, x, y, ticks: &panel.ticks, rows: &rows, scale, bands: &[] }.draw()
}

fn drawn(panel: &Panel, about: &About<'_>) -> String {
    match panel.shape {
        Shape::Map => svg::map(&panel.title, &panel.places, &about.label_of),
        _ => chart(panel),
    }
}

/// A panel as a file of its own.
pub(crate) fn drawing_file(panel: &Panel, about: &About<'_>) -> String {
    // Lines are named in the drawing.
    let names = if panel.shape == Shape::Bars { names(panel) } else { Vec::new() };
    svg::file(&drawn(panel, about), &caption(panel), &names)
}

/// The values of a panel, to be opened by those who want them.
fn values(panel: &Panel) -> String {
    let title = escaped(&panel.title);
    let head = std::iter::once(panel.axis).chain(names(panel));
    let mut text = format!("<details><summary>{title}: values</summary>\n{}", table_head(&panel.title, head));
    for (at, tick) in panel.ticks.iter().enumerate() {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(tick));
        for curve in &panel.curves {
            let _ = write!(text, "<td>{}</td>", shown(&curve.values[at], panel.unit));
        }
        text += "</tr>\n";
    }
    text + TABLE_END + "</details>\n"
}

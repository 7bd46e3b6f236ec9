//! What all pages have in common: one document with one style sheet and one script, escaped text, tables of scores, and
//! drawings (`svg/`).
//!
//! `page/` has the skeleton of a page, its style, and its script: `board.js` and the files it names show maps of nodes, the
//! others charts and tables. A page is self-contained and makes no requests.
//!
//! Invariant: names come from the data. In HTML they are written through [`escaped`] only; in the data of the script as JSON
//! without `<`, so they cannot end the script element, and the script inserts them as text, never as markup. The content
//! security policy allows only our own script and style, identified by their hashes.

pub(crate) mod encode;
pub(crate) mod labels;
pub(crate) mod svg;

use std::fmt::Write;

use anyhow::Result;
use manyview::evaluate::Labels;
use manyview::layout::draw_rows;
use manyview::network::Nodes;
use serde::Serialize;

use crate::ui::thousands;
use labels::LabelSet;
use svg::{Lines, Row};

const PAGE: &str = include_str!("page/page.html");
/// The part of the style that drawings also have as files.
const SVG_STYLE: &str = include_str!("page/svg.css");
const STYLE: &str =
    concat!(include_str!("page/page.css"), include_str!("page/board.css"), include_str!("page/svg.css"));
const BOARD: &str = include_str!("page/board.html");

/// The beginning of every script, in order of dependence. Scripts of one page follow, and then `board.js`.
macro_rules! script {
    ($($own:expr),*) => {
        concat!(
            "\"use strict\";\n(() => {\n",
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/dom.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/theme.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/download.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/tables.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/data.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/classes.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/names.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/map.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/gestures.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/export.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/selection.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/legend.js")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/search.js")),
            $($own,)*
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/html/page/board.js")),
            "})();\n"
        )
    };
}
pub(crate) use script;

/// The script of pages that have none of their own.
pub(crate) const SCRIPT: &str = script!();

/// A page.
pub(crate) struct Document<'a> {
    /// What kind of page it is: `manyview report`.
    pub(crate) kind: &'a str,
    pub(crate) title: &'a str,
    /// The network, the labels and the settings in a sentence.
    pub(crate) sentence: &'a str,
    /// The command that made it; none if the body has it.
    pub(crate) command: Option<&'a str>,
    /// HTML; names in it are escaped.
    pub(crate) body: String,
    pub(crate) script: &'static str,
}

impl Document<'_> {
    /// The page as text, with the data of its script.
    pub(crate) fn write(&self, data: &impl Serialize) -> Result<String> {
        let policy = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            encode::hash(self.script),
            encode::hash(STYLE)
        );
        let command = self.command.map_or_else(String::new, |command| {
            format!("<pre tabindex=\"0\" class=\"command\">{}</pre>", escaped(command))
        });
        let (kind, title, sentence) = (escaped(self.kind), escaped(self.title), escaped(self.sentence));
        let data = encode::json(data)?;
        let parts = [
            ("{policy}", policy.as_str()),
            ("{kind}", &kind),
            ("{title}", &title),
            ("{style}", STYLE),
            ("{heading}", &title),
            ("{subject}", &kind),
            ("{sentence}", &sentence),
            ("{command}", &command),
            ("{body}", &self.body),
            ("{data}", &data),
            ("{script}", self.script),
        ];
        Ok(filled(PAGE, &parts))
    }
}

/// A text with its placeholders replaced, which occur in this order: what is inserted is not searched for them.
pub(crate) fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut rest = template;
    let mut text = String::new();
    for (placeholder, content) in parts {
        let (before, after) = rest.split_once(placeholder).expect("the template has its placeholders");
        text.push_str(before);
        text.push_str(content);
        rest = after;
    }
    text + rest
}

/// The data of a page with maps of the nodes of a network, unpacked by `data.js`.
#[derive(Default, Serialize)]
pub(crate) struct Maps<'a> {
    nodes: Vec<&'a str>,
    labels: Vec<LabelSet>,
    maps: Vec<PageMap>,
    #[serde(skip)]
    of: usize,
}

impl<'a> Maps<'a> {
    /// Maps with their titles. Of a large network, some nodes are drawn at random, the same in all maps.
    pub(crate) fn new<'m>(
        nodes: &'a Nodes,
        labels: Option<&Labels>,
        maps: impl IntoIterator<Item = (&'m str, &'m [Option<[f32; 2]>])>,
    ) -> Self {
        Self::within(MOST_NODES, nodes, labels, maps)
    }

    fn within<'m>(
        most: (usize, usize),
        nodes: &'a Nodes,
        labels: Option<&Labels>,
        maps: impl IntoIterator<Item = (&'m str, &'m [Option<[f32; 2]>])>,
    ) -> Self {
        let of = nodes.len();
        let rows = if of > most.0 { draw_rows(of, most.1, 0) } else { (0..of as u32).collect() };
        let selected = |places: &[Option<[f32; 2]>]| -> Vec<_> {
            rows.iter().map(|&row| places[row as usize]).collect()
        };
        let map = |(title, places): (&str, &[Option<[f32; 2]>])| PageMap::new(title, &selected(places));
        Maps {
            nodes: rows.iter().map(|&row| nodes.id(row as usize)).collect(),
            labels: labels.iter().map(|labels| LabelSet::of_rows("label", labels, &rows)).collect(),
            maps: maps.into_iter().map(map).collect(),
            of,
        }
    }

    /// The section that shows the maps; nothing without maps.
    pub(crate) fn section(&self) -> String {
        if self.maps.is_empty() {
            return String::new();
        }
        let (drawn, of) = (self.nodes.len(), self.of);
        let sample = if drawn < of {
            format!("The maps show {} of {} nodes, drawn at random. ", thousands(drawn), thousands(of))
        } else {
            String::new()
        };
        let caption = format!(
            "{sample}Each point is a node; nearby points have similar vectors (t-SNE of each embedding). Distances between distant \
             groups are not meaningful. A node that is picked or selected in one map is so in all."
        );
        board("Maps", &caption)
    }
}

/// With more nodes than the first number, as many as the second are drawn, as in reports.
const MOST_NODES: (usize, usize) = (50_000, 20_000);

/// A map of the first nodes of a page.
#[derive(Serialize)]
pub(crate) struct PageMap {
    title: String,
    /// x and y of each node, 16 bits each.
    places: String,
}

impl PageMap {
    pub(crate) fn new(title: &str, places: &[Option<[f32; 2]>]) -> Self {
        PageMap { title: title.to_owned(), places: encode::places(places) }
    }
}

/// The section of a page that shows its maps.
pub(crate) fn board(heading: &str, caption: &str) -> String {
    filled(BOARD, &[("{heading}", &escaped(heading)), ("{caption}", &escaped(caption))])
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A cell of a score, with a background color from the lowest score of its column to the highest.
pub(crate) fn score_cell(mean: f64, (least, most): (f64, f64), best: bool, content: &str) -> String {
    let share = if most > least { (mean - least) / (most - least) } else { 1.0 };
    let best = if best { " best" } else { "" };
    format!("<td class=\"s{}{best}\">{content}</td>", (share * 10.0).round())
}

/// The beginning of a table that scrolls where it is wider than the page, up to its first row.
pub(crate) fn table_head(title: &str, columns: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table data-name=\"{0}\">\n<thead><tr>",
        escaped(title)
    );
    for (at, column) in columns.into_iter().enumerate() {
        let name = escaped(column.as_ref());
        let _ = if at == 0 && name.is_empty() {
            write!(text, "<td></td>")
        } else {
            write!(text, "<th scope=\"col\">{name}</th>")
        };
    }
    text + "</tr></thead>\n<tbody>\n"
}

/// The end of a table.
pub(crate) const TABLE_END: &str = "</tbody></table></div>\n";

/// The smallest and the largest value.
pub(crate) fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
}

/// A drawing with its caption and its values, which the page offers as a file; nothing without a drawing. `keys` says
/// whether the names of the rows stand below it.
pub(crate) fn figure(title: &str, svg: &str, x: &str, ticks: &[String], rows: &[Row], keys: bool) -> String {
    if svg.is_empty() {
        return String::new();
    }
    let head =
        std::iter::once(serde_json::json!(x)).chain(rows.iter().map(|(name, _)| serde_json::json!(name)));
    let mut values = vec![serde_json::Value::Array(head.collect())];
    for (at, tick) in ticks.iter().enumerate() {
        let row = rows.iter().map(|(_, values)| serde_json::json!(values[at]));
        values.push(std::iter::once(serde_json::json!(tick)).chain(row).collect());
    }
    let mut text = format!(
        "<figure class=\"chart\" data-name=\"{0}\" data-values=\"{1}\"><figcaption>{0}</figcaption>{svg}",
        escaped(title),
        escaped(&serde_json::Value::Array(values).to_string())
    );
    if keys {
        text += "<p class=\"keys\">";
        for (color, (name, _)) in rows.iter().enumerate() {
            let _ = write!(text, "<span class=\"key c{}\">■ {}</span> ", color % svg::COLORS, escaped(name));
        }
        text += "</p>";
    }
    text + "</figure>\n"
}

/// A line chart with its caption; nothing without values.
pub(crate) fn line_figure(lines: &Lines<'_>) -> String {
    figure(lines.title, &lines.draw(), lines.x, lines.ticks, lines.rows, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_carry_their_values_and_names_are_text() {
        let ticks = ["1".to_owned(), "2".to_owned()];
        let rows = [("<b>\"".to_owned(), vec![Some(0.5), None])];
        let lines = Lines {
            title: "a & b",
            x: "k",
            y: "percent",
            ticks: &ticks,
            rows: &rows,
            scale: svg::Scale::Percent,
            bands: &[],
        };
        let text = line_figure(&lines);
        let values =
            "[[&quot;k&quot;,&quot;&lt;b&gt;\\&quot;&quot;],[&quot;1&quot;,0.5],[&quot;2&quot;,null]]";
        assert!(text.contains(values) && !text.contains("<b>"), "{text}");
        assert_eq!(line_figure(&Lines { rows: &[], ticks: &[], ..lines }), "");
    }

    #[test]
    fn large_networks_are_drawn_in_part() {
        let nodes: Nodes = (0..30).map(|node| format!("n{node}")).collect();
        let places: Vec<Option<[f32; 2]>> = (0..30).map(|node| Some([node as f32 / 30.0, 0.0])).collect();
        let labels =
            Labels::from_pairs(nodes.iter(), (0..30).map(|node| (format!("n{node}"), format!("l{node}"))))
                .unwrap();
        let maps = Maps::within((20, 5), &nodes, Some(&labels), [("m", &places[..])]);
        assert_eq!(maps.nodes.len(), 5);
        let labeled =
            maps.labels[0].of.iter().map(|of| maps.labels[0].names[of[0] as usize].replace('l', "n"));
        assert_eq!(labeled.collect::<Vec<_>>(), maps.nodes);
        assert!(maps.section().contains("The maps show 5 of 30 nodes, drawn at random."));
        let whole = Maps::within((30, 5), &nodes, None, [("m", &places[..])]);
        assert_eq!(whole.nodes.len(), 30);
        assert!(!whole.section().contains("at random") && Maps::new(&nodes, None, []).section().is_empty());
    }

    #[test]
    fn placeholders_in_what_is_inserted_are_text() {
        let document = Document {
            kind: "manyview report",
            title: "{body}{data}",
            sentence: "{script}",
            command: Some("{data}"),
            body: "<p>{data}</p>".into(),
            script: SCRIPT,
        };
        let page = document.write(&["{script}</script>"]).unwrap();
        assert!(
            page.contains("<h1 id=\"title\">{body}{data}</h1>") && page.contains("<p>{data}</p>"),
            "{page}"
        );
        assert!(page.contains("[\"{script}\\u003c/script>\"]"));
        assert_eq!(page.matches("</script>").count(), 2);
    }
}

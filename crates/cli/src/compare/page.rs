//! The comparison as one HTML page: tables, curves of sweeps, and a map of the nodes for each method.
//!
//! The page is HTML and SVG without scripts and without external resources. Invariant: names come from the data, so they
//! are written through [`escaped`] only.

use std::fmt::Write;

use manyview::compare::{Line, Section, Table, percent};

use super::write::{GAIN, gains, legend};
use crate::html::{END, bounds, chart, escaped, figure, head, score_cell, svg};

/// A map of the nodes.
pub(super) struct Picture {
    pub(super) title: String,
    /// The coordinates of each node; `None` for a node with a zero vector.
    pub(super) places: Vec<Option<[f32; 2]>>,
}

/// The head of the page.
pub(super) struct About<'a> {
    pub(super) title: &'a str,
    pub(super) command: &'a str,
    /// The network, labels and settings in one sentence.
    pub(super) sentence: &'a str,
    /// The first label of each node, if it has one.
    pub(super) label_of: Vec<Option<u32>>,
    pub(super) labels: &'a [String],
}

/// The whole page.
pub(super) fn page(about: &About<'_>, tables: &[Table], pictures: &[Picture]) -> String {
    let mut text = head(about.title, "methods compared", about.sentence, about.command);
    for table in tables {
        text.push_str(&section(table));
    }
    for (mark, meaning) in legend(tables) {
        let colon = if mark == "*" { "" } else { ":" };
        let _ = writeln!(text, "<p class=\"note\">{mark}{colon} {}</p>", escaped(meaning));
    }
    text.push_str(&maps(about, pictures));
    text + END
}

/// A table and its curves: sweeps are drawn as curves, all other lines are in the table.
fn section(table: &Table) -> String {
    let is_swept = |line: &&Line| matches!(line.section, Section::Sweep(_));
    let mut text = format!("<section>\n<h2>{}</h2>\n", escaped(&table.title));
    let rest: Vec<&Line> = table.lines.iter().filter(|line| !is_swept(line)).collect();
    if !rest.is_empty() {
        text.push_str(&html_table(table, &rest));
    }
    let mut sweeps: Vec<Section> = table.lines.iter().filter(is_swept).map(|line| line.section).collect();
    sweeps.dedup();
    if !sweeps.is_empty() {
        text.push_str("<div class=\"row\">\n");
        for sweep in sweeps {
            let lines: Vec<&Line> = table.lines.iter().filter(|line| line.section == sweep).collect();
            text.push_str(&curves(&sweep.to_string(), &table.columns, &lines));
        }
        text.push_str("</div>\n");
    }
    text + "</section>\n"
}

fn html_table(table: &Table, lines: &[&Line]) -> String {
    let columns = table.columns.len();
    let means = |column: usize| lines.iter().filter_map(move |line| line.cells[column]).map(|cell| cell.mean);
    let bounds: Vec<(f64, f64)> = (0..columns).map(|column| bounds(means(column))).collect();
    let mut text = "<div class=\"wide\"><table>\n<thead><tr><th></th>".to_owned();
    table.columns.iter().for_each(|column| _ = write!(text, "<th>{}</th>", escaped(column)));
    text.push_str("</tr></thead>\n<tbody>\n");
    let mut section = None;
    for line in lines {
        if section != Some(line.section) {
            section = Some(line.section);
            let _ = writeln!(
                text,
                "<tr class=\"group\"><th colspan=\"{}\">{}</th></tr>",
                columns + 1,
                escaped(&line.section.to_string())
            );
        }
        let star = if line.oracle { " *" } else { "" };
        let _ = write!(text, "<tr><th>{}{star}</th>", escaped(&line.name));
        if let Some(failed) = &line.failed {
            let _ = writeln!(
                text,
                "<td colspan=\"{columns}\" class=\"failed\">failed: {}</td></tr>",
                escaped(failed)
            );
            continue;
        }
        for (column, (cell, bounds)) in line.cells.iter().zip(&bounds).enumerate() {
            match cell {
                Some(cell) => {
                    let std =
                        cell.std.map(|std| format!(" <small>± {}</small>", percent(std))).unwrap_or_default();
                    let content = percent(cell.mean) + &std;
                    text.push_str(&score_cell(cell.mean, *bounds, line.best[column], &content));
                }
                None => text.push_str("<td>–</td>"),
            }
        }
        text.push_str("</tr>\n");
    }
    if let Some(gains) = gains(table) {
        let _ = write!(text, "<tr class=\"gain\"><th>{GAIN}</th>");
        gains.iter().for_each(|gain| _ = write!(text, "<td>{gain}</td>"));
        text.push_str("</tr>\n");
    }
    text + "</tbody></table></div>\n"
}

/// One curve per column over the values of a setting.
fn curves(title: &str, columns: &[String], lines: &[&Line]) -> String {
    let ticks: Vec<String> = lines.iter().map(|line| line.name.trim_end_matches(".0").to_owned()).collect();
    let curve = |(column, name): (usize, &String)| {
        (name.clone(), lines.iter().map(|line| line.cells[column].map(|cell| cell.mean)).collect())
    };
    chart(title, &ticks, &columns.iter().enumerate().map(curve).collect::<Vec<_>>())
}

/// The maps of all methods, colored by label.
fn maps(about: &About<'_>, pictures: &[Picture]) -> String {
    if pictures.is_empty() {
        return String::new();
    }
    let mut text = "<section>\n<h2>Maps</h2>\n<p>t-SNE of each embedding. Each point is a node; colors are labels.</p>\n<p>".to_owned();
    for (label, name) in about.labels.iter().enumerate().take(60) {
        let _ =
            write!(text, "<span class=\"key p{}\">■ {}</span> ", label % svg::LABEL_COLORS, escaped(name));
    }
    text.push_str("</p>\n<div class=\"row\">\n");
    for picture in pictures {
        let title = format!("map of {}", picture.title);
        let map = svg::map(&title, &picture.places, &about.label_of);
        text.push_str(&figure(&picture.title, &map, &[]));
    }
    text + "</div>\n</section>\n"
}

#[cfg(test)]
mod tests {
    use manyview::Group;
    use manyview::compare::Sweep;
    use manyview::evaluate::Summary;

    use super::*;

    fn line(name: &str, section: Section, oracle: bool, mean: f64) -> Line {
        let mut line = Line::new(section, name, 1);
        line.oracle = oracle;
        line.cells[0] = Some(Summary { mean, std: None });
        line
    }

    #[test]
    fn names_are_text() {
        let lines = vec![
            line("<script>alert(1)</script>", Section::Method(Group::Single), true, 0.5),
            line("8", Section::Sweep(Sweep::Dim), false, 0.5),
        ];
        let table = Table::new("T", vec!["NMI".into()], lines);
        let labels = ["a\"><b".to_owned()];
        let about = About {
            title: "<x>",
            command: "a & b",
            sentence: "s",
            label_of: vec![Some(0), None],
            labels: &labels,
        };
        let pictures = [Picture { title: "<i>".into(), places: vec![Some([0.0, 1.0]), Some([2.0, 3.0])] }];
        let page = page(&about, &[table], &pictures);
        assert!(!page.contains("<script") && !page.contains("<i>") && !page.contains("\"><b"), "{page}");
        assert!(
            page.contains("&lt;script&gt;")
                && page.contains("class=\"curve c0\"")
                && page.contains("nodes p0")
        );
        assert!(page.contains("nodes p12"), "nodes without labels are drawn too");
    }

    #[test]
    fn a_starred_row_is_not_marked_as_best() {
        let lines = vec![
            line("a", Section::Method(Group::Single), true, 0.9),
            line("b", Section::Method(Group::Single), false, 0.8),
            line("c", Section::Ablations, false, 0.95),
        ];
        let page = section(&Table::new("T", vec!["NMI".into()], lines));
        assert_eq!(page.matches(" best\"").count(), 1, "{page}");
        assert!(page.contains("best\">80.0<"), "{page}");
    }
}

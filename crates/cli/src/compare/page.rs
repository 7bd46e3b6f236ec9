//! The comparison as one HTML page: tables, curves of sweeps, and a map of the nodes for each method.
//!
//! Invariant: names come from the data, so they are written through [`escaped`] only, or as data of the script.

use std::fmt::Write;

use anyhow::Result;
use manyview::compare::{Line, RowTime, Section, Table, percent};
use manyview::evaluate::Labels;
use manyview::network::Nodes;

use super::write::{TIMES, TIMES_NOTE, gain_rows, legend};
use crate::html::svg::{Lines, Row, Scale, bars};
use crate::html::{
    Document, Maps, SCRIPT, TABLE_END, bounds, escaped, figure, line_figure, score_cell, table_head,
};

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
    pub(super) nodes: &'a Nodes,
    pub(super) labels: &'a Labels,
}

/// The whole page.
pub(super) fn page(
    about: &About<'_>,
    tables: &[Table],
    times: &[RowTime],
    pictures: &[Picture],
) -> Result<String> {
    let mut body: String = tables.iter().map(section).collect();
    for (mark, meaning) in legend(tables) {
        let colon = if mark == "*" { "" } else { ":" };
        let _ = writeln!(body, "<p class=\"note\">{mark}{colon} {}</p>", escaped(meaning));
    }
    body += &running_times(times);
    let maps = pictures.iter().map(|picture| (picture.title.as_str(), &picture.places[..]));
    let maps = Maps::new(about.nodes, Some(about.labels), maps);
    body += &maps.section();
    let document = Document {
        kind: "manyview comparison",
        title: about.title,
        sentence: about.sentence,
        command: Some(about.command),
        body,
        script: SCRIPT,
    };
    document.write(&maps)
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
        text.push_str("<div class=\"figures\">\n");
        for sweep in sweeps {
            let lines: Vec<&Line> = table.lines.iter().filter(|line| line.section == sweep).collect();
            text.push_str(&curves(&sweep.to_string(), &table.columns, &lines));
        }
        text.push_str("</div>\n");
    }
    text + "</section>\n"
}

/// The times of all rows but those of sweeps, whose names are values of a setting.
fn running_times(times: &[RowTime]) -> String {
    let rows: Vec<&RowTime> = times.iter().filter(|row| !matches!(row.section, Section::Sweep(_))).collect();
    let ticks: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let seconds = [("seconds".to_owned(), rows.iter().map(|row| Some(row.seconds)).collect())];
    let title = "seconds of each embedding";
    let drawing =
        figure(title, &bars(title, &ticks, &seconds, Scale::FromZero), "method", &ticks, &seconds, false);
    if drawing.is_empty() {
        return drawing;
    }
    format!(
        "<section>\n<h2>{TIMES}</h2>\n{drawing}<p class=\"note\">{}</p>\n</section>\n",
        escaped(TIMES_NOTE)
    )
}

fn html_table(table: &Table, lines: &[&Line]) -> String {
    let columns = table.columns.len();
    let means = |column: usize| lines.iter().filter_map(move |line| line.cells[column]).map(|cell| cell.mean);
    let bounds: Vec<(f64, f64)> = (0..columns).map(|column| bounds(means(column))).collect();
    let head = std::iter::once("").chain(table.columns.iter().map(String::as_str));
    let mut text = table_head(&table.title, head);
    let mut section = None;
    for line in lines {
        if section != Some(line.section) {
            section = Some(line.section);
            let _ = writeln!(
                text,
                "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\">{}</th></tr>",
                columns + 1,
                escaped(&line.section.to_string())
            );
        }
        let star = if line.oracle { " *" } else { "" };
        let _ = write!(text, "<tr><th scope=\"row\">{}{star}</th>", escaped(&line.name));
        if let Some(failed) = &line.failed {
            let _ = writeln!(
                text,
                "<td colspan=\"{columns}\" class=\"words\">failed: {}</td></tr>",
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
    for (name, gains) in gain_rows(table) {
        let _ = write!(text, "<tr class=\"gain\"><th scope=\"row\">{name}</th>");
        gains.iter().for_each(|gain| _ = write!(text, "<td>{gain}</td>"));
        text.push_str("</tr>\n");
    }
    text + TABLE_END
}

/// Charts of the columns over the values of a setting, one for each measure: the measures of balanced classes are nearly the
/// same, and their curves would hide each other.
fn curves(title: &str, columns: &[String], lines: &[&Line]) -> String {
    let ticks: Vec<String> = lines.iter().map(|line| line.name.trim_end_matches(".0").to_owned()).collect();
    let mut charts: Vec<(String, Vec<Row>)> = Vec::new();
    for (column, name) in columns.iter().enumerate() {
        let values = lines.iter().map(|line| line.cells[column].map(|cell| cell.mean)).collect();
        let (measure, row) = match name.rsplit_once(' ') {
            Some((measure, share)) if share.parse::<f64>().is_ok() => (measure, format!("train {share}")),
            _ => ("score", name.clone()),
        };
        match charts.iter_mut().find(|(known, _)| known == measure) {
            Some((_, rows)) => rows.push((row, values)),
            None => charts.push((measure.to_owned(), vec![(row, values)])),
        }
    }
    let x = title.rsplit_once(" over ").map_or(title, |(_, setting)| setting);
    let chart = |(measure, rows): &(String, Vec<Row>)| {
        let title = if measure == "score" { title.to_owned() } else { format!("{title}: {measure}") };
        let (y, scale) = (format!("{measure}, percent"), Scale::Percent);
        line_figure(&Lines { title: &title, x, y: &y, ticks: &ticks, rows, scale, bands: &[] })
    };
    charts.iter().map(chart).collect()
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
        let nodes: Nodes = ["</script><b>", "b"].iter().collect();
        let labels = Labels::from_pairs(nodes.iter(), [("b", "a\"><b")]).unwrap();
        let about = About { title: "<x>", command: "a & b", sentence: "s", nodes: &nodes, labels: &labels };
        let pictures = [Picture { title: "<i>".into(), places: vec![Some([0.0, 1.0]), Some([-1.0, 1.0])] }];
        let page = page(&about, &[table], &[], &pictures).unwrap();
        assert_eq!(page.matches("<script").count(), 2, "those of the page");
        assert!(!page.contains("<i>") && !page.contains("\"><b"), "{page}");
        assert!(page.contains("&lt;script&gt;") && page.contains("class=\"curve\""));
        assert!(page.contains(r#"["\u003c/script>\u003cb>","b"]"#), "{page}");
    }

    #[test]
    fn times_are_drawn_without_those_of_sweeps() {
        let time = |name: &str, section: Section, seconds: f64| RowTime::new(section, name, seconds, 1);
        let times =
            [time("<a>", Section::Method(Group::Single), 1.5), time("8", Section::Sweep(Sweep::Dim), 0.25)];
        let text = running_times(&times);
        assert!(text.contains("&lt;a&gt;") && text.contains(">1.5<") && !text.contains("0.25"), "{text}");
        assert_eq!(running_times(&times[1..]), "");
    }

    #[test]
    fn gains_are_in_points_and_relative() {
        let lines = vec![
            line("rival", Section::Method(Group::Single), false, 0.5),
            line("mnmf", Section::Ours, false, 0.6),
        ];
        let page = section(&Table::new("T", vec!["NMI".into()], lines));
        assert!(page.contains("<td>+10.0</td>") && page.contains("<td>+20.0%</td>"), "{page}");
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

//! Tables as text for a terminal, as Markdown and as LaTeX.

use std::fmt::Write;

use manyview::compare::{Line, RowTime, Section, Table, percent};
use manyview::evaluate::Summary;

const GAIN: &str = "gain of mnmf";

/// The gain as a difference of percentages.
const POINTS: &str = "gain in points";

const STAR: &str =
    "selected on the test nodes, separately for each column, which is not possible in practice";
const OVER: &str = "relative to the best row of another method in each column";
const OVER_FAIR: &str = "relative to the best row of another method without a star in each column";

/// The marks that occur in these tables, each with its meaning.
pub(super) fn legend<'a>(
    tables: impl IntoIterator<Item = &'a Table>,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (mut star, mut gain) = (false, false);
    for table in tables {
        star |= table.has_oracle();
        gain |= table.gain.is_some();
    }
    star.then_some(("*", STAR)).into_iter().chain(gain.then_some((GAIN, if star { OVER_FAIR } else { OVER })))
}

/// Mean and standard deviation in percent.
fn words(cell: &Summary) -> (String, Option<String>) {
    (percent(cell.mean), cell.std.map(percent))
}

fn name(line: &Line) -> String {
    if line.oracle { format!("{} *", line.name) } else { line.name.clone() }
}

fn gains(table: &Table) -> Option<Vec<String>> {
    let words = |gain: &Option<f64>| gain.map_or_else(String::new, |gain| format!("{:+.1}%", 100.0 * gain));
    table.gain.as_ref().map(|gain| gain.iter().map(words).collect())
}

/// The rows of gains: the difference, and its share of the best other score.
pub(super) fn gain_rows(table: &Table) -> Vec<(&'static str, Vec<String>)> {
    let words = |gain: &Option<f64>| gain.map_or_else(String::new, |gain| format!("{:+.1}", 100.0 * gain));
    let points = table.gain_points.as_ref().map(|gain| (POINTS, gain.iter().map(words).collect()));
    points.into_iter().chain(gains(table).map(|gains| (GAIN, gains))).collect()
}

/// A table as text.
pub(super) fn text(table: &Table) -> String {
    const CELL: usize = 12;
    let names = table.lines.iter().map(|line| name(line).chars().count());
    let widest = names.max().unwrap_or(0).max(POINTS.len());
    let mut text = format!("{}, percent\n{:widest$}", table.title, "");
    table.columns.iter().for_each(|column| _ = write!(text, "  {column:>CELL$}"));
    text.push('\n');
    let mut section = None;
    for line in &table.lines {
        if section != Some(line.section) {
            section = Some(line.section);
            let _ = writeln!(text, "-- {}", line.section);
        }
        let _ = write!(text, "{:<widest$}", name(line));
        if let Some(failed) = &line.failed {
            let _ = writeln!(text, "  failed: {failed}");
            continue;
        }
        for cell in &line.cells {
            let words = match cell.as_ref().map(words) {
                Some((mean, Some(std))) => format!("{mean} ± {std}"),
                Some((mean, None)) => mean,
                None => "-".into(),
            };
            let _ = write!(text, "  {words:>CELL$}");
        }
        text.push('\n');
    }
    for (name, gains) in gain_rows(table) {
        let _ = write!(text, "{name:<widest$}");
        gains.iter().for_each(|gain| _ = write!(text, "  {gain:>CELL$}"));
        text.push('\n');
    }
    text
}

/// The legend below the tables, as text and as Markdown.
pub(super) fn legend_text(tables: &[Table], star: &str) -> String {
    let line = |(mark, meaning)| match mark {
        "*" => format!("{star} {meaning}\n\n"),
        mark => format!("{mark}: {meaning}\n\n"),
    };
    legend(tables).map(line).collect()
}

/// Text as Markdown shows it: names of views are any text, and could otherwise be links, code, markup or further cells.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let within_word =
            before.is_alphanumeric() && letters.peek().is_some_and(|next| next.is_alphanumeric());
        before = letter;
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A line break ends the row.
            '\n' | '\r' => out.push(' '),
            // Within a word it has no meaning.
            '_' if within_word => out.push(letter),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' => out.extend(['\\', letter]),
            letter => out.push(letter),
        }
    }
    out
}

/// A table as Markdown; the best scores of each column are bold.
pub(super) fn markdown(table: &Table) -> String {
    let mut text = format!(
        "## {}\n\n| | {} |\n|---{}|\n",
        table.title,
        table.columns.join(" | "),
        "|---:".repeat(table.columns.len())
    );
    let mut section = None;
    for line in &table.lines {
        if section != Some(line.section) {
            section = Some(line.section);
            let _ = writeln!(text, "| *{}* |{}", line.section, " |".repeat(table.columns.len()));
        }
        let _ = write!(text, "| {} |", escaped(&name(line)));
        if let Some(failed) = &line.failed {
            let _ = writeln!(text, " failed: {} |{}", escaped(failed), " |".repeat(table.columns.len() - 1));
            continue;
        }
        for (column, cell) in line.cells.iter().enumerate() {
            let words = match cell.as_ref().map(words) {
                Some((mean, std)) => {
                    let mean = if line.best[column] { format!("**{mean}**") } else { mean };
                    std.map_or(mean.clone(), |std| format!("{mean} ± {std}"))
                }
                None => "–".into(),
            };
            let _ = write!(text, " {words} |");
        }
        text.push('\n');
    }
    for (name, gains) in gain_rows(table) {
        let _ = writeln!(text, "| {name} | {} |", gains.join(" | "));
    }
    text.push('\n');
    text
}

/// A table as LaTeX, for `booktabs`.
pub(super) fn latex(table: &Table) -> String {
    let mut text = format!(
        "\\begin{{table}}\n\\caption{{{}, percent.}}\n\\begin{{tabular}}{{l{}}}\n\\toprule\n & {} \\\\\n",
        tex(&table.title),
        "r".repeat(table.columns.len()),
        table.columns.iter().map(|column| tex(column)).collect::<Vec<_>>().join(" & ")
    );
    let mut section = None;
    for line in &table.lines {
        if section != Some(line.section) {
            section = Some(line.section);
            let (width, name) = (table.columns.len() + 1, tex(&line.section.to_string()));
            let _ = writeln!(text, "\\midrule\n\\multicolumn{{{width}}}{{l}}{{\\emph{{{name}}}}} \\\\");
        }
        let star = if line.oracle { "$^*$" } else { "" };
        let _ = write!(text, "{}{star}", tex(&line.name));
        if let Some(failed) = &line.failed {
            let _ = writeln!(
                text,
                " & \\multicolumn{{{}}}{{l}}{{failed: {}}} \\\\",
                table.columns.len(),
                tex(failed)
            );
            continue;
        }
        for (column, cell) in line.cells.iter().enumerate() {
            let words = match cell.as_ref().map(words) {
                Some((mean, std)) => {
                    let mean = if line.best[column] { format!("\\textbf{{{mean}}}") } else { mean };
                    std.map_or(mean.clone(), |std| format!("{mean} {{\\footnotesize$\\pm${std}}}"))
                }
                None => "--".into(),
            };
            let _ = write!(text, " & {words}");
        }
        text.push_str(" \\\\\n");
    }
    for (at, (name, gains)) in gain_rows(table).into_iter().enumerate() {
        let gains: Vec<String> = gains.iter().map(|gain| tex(gain)).collect();
        let rule = if at == 0 { "\\midrule\n" } else { "" };
        let _ = writeln!(text, "{rule}{name} & {} \\\\", gains.join(" & "));
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n");
    for (mark, meaning) in legend([table]) {
        let mark = if mark == "*" { "$^*$".into() } else { format!("{mark}:") };
        let _ = writeln!(text, "\\par{{\\footnotesize {mark} {}}}", tex(meaning));
    }
    text.push_str("\\end{table}\n\n");
    text
}

pub(super) const TIMES: &str = "Running time";
pub(super) const TIMES_NOTE: &str = "seconds without reading and measuring; with several embeddings to choose from (views, paths), of all of them";

/// The rows of the running times: section, name, seconds, number of embeddings.
fn time_rows(times: &[RowTime]) -> impl Iterator<Item = (Section, &str, String, String)> {
    times.iter().map(|row| {
        let seconds = match row.seconds {
            seconds if seconds < 9.995 => format!("{seconds:.2}"),
            seconds => format!("{seconds:.0}"),
        };
        (row.section, row.name.as_str(), seconds, row.candidates.to_string())
    })
}

/// The running times as text.
pub(super) fn times_text(times: &[RowTime]) -> String {
    let widest = times.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{TIMES}\n{:widest$}  {:>12}  {:>12}\n", "", "seconds", "embeddings");
    let mut last = None;
    for (section, name, seconds, embeddings) in time_rows(times) {
        if last != Some(section) {
            last = Some(section);
            let _ = writeln!(text, "-- {section}");
        }
        let _ = writeln!(text, "{name:<widest$}  {seconds:>12}  {embeddings:>12}");
    }
    text + &format!("({TIMES_NOTE})\n")
}

/// The running times as Markdown.
pub(super) fn times_markdown(times: &[RowTime]) -> String {
    let mut text = format!("## {TIMES}\n\n| | seconds | embeddings |\n|---|---:|---:|\n");
    let mut last = None;
    for (section, name, seconds, embeddings) in time_rows(times) {
        if last != Some(section) {
            last = Some(section);
            let _ = writeln!(text, "| *{section}* | | |");
        }
        let _ = writeln!(text, "| {} | {seconds} | {embeddings} |", escaped(name));
    }
    text + &format!("\nRunning time: {TIMES_NOTE}.\n")
}

/// The running times as LaTeX, for `booktabs`.
pub(super) fn times_latex(times: &[RowTime]) -> String {
    let mut text = format!(
        "\\begin{{table}}\n\\caption{{{TIMES}: {TIMES_NOTE}.}}\n\\begin{{tabular}}{{lrr}}\n\\toprule\n & seconds & embeddings \\\\\n"
    );
    let mut last = None;
    for (section, name, seconds, embeddings) in time_rows(times) {
        if last != Some(section) {
            last = Some(section);
            let section = tex(&section.to_string());
            let _ = writeln!(text, "\\midrule\n\\multicolumn{{3}}{{l}}{{\\emph{{{section}}}}} \\\\");
        }
        let _ = writeln!(text, "{} & {seconds} & {embeddings} \\\\", tex(name));
    }
    text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n\n"
}

/// Escapes text for LaTeX.
fn tex(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                safe.push('\\');
                safe.push(c);
            }
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use manyview::Group;

    use super::*;

    fn table() -> Table {
        let line = |name: &str, oracle: bool, mean: Option<f64>| {
            let mut line = Line::new(Section::Method(Group::Plain), name, 1);
            line.oracle = oracle;
            line.cells[0] = mean.map(|mean| Summary { mean, std: Some(0.012) });
            line.failed = mean.is_none().then(|| "a_b | 5%".into());
            line
        };
        let lines = vec![line("a", true, Some(0.9)), line("b_c", false, Some(0.812)), line("d", false, None)];
        let mut table = Table::new("T", vec!["NMI".into()], lines);
        table.gain = Some(vec![Some(-0.02)]);
        table.gain_points = Some(vec![Some(-0.018)]);
        table
    }

    #[test]
    fn each_form_has_the_numbers_the_star_the_failure_and_the_gain() {
        let text = text(&table());
        assert!(
            text.contains("a *") && text.contains("81.2 ± 1.2") && text.contains("failed: a_b | 5%"),
            "{text}"
        );
        assert!(text.contains("\ngain in points") && text.contains(" -1.8\n"), "{text}");
        assert!(text.contains("\ngain of mnmf") && text.contains(" -2.0%\n"), "{text}");
        let markdown = markdown(&table());
        assert!(markdown.contains("| b_c | **81.2** ± 1.2 |") && markdown.contains("a \\*"), "{markdown}");
        assert!(markdown.contains("failed: a_b \\| 5%"), "{markdown}");
        let latex = latex(&table());
        assert!(latex.contains("b\\_c & \\textbf{81.2} {\\footnotesize$\\pm$1.2} \\\\"), "{latex}");
        assert!(latex.contains("a$^*$ & 90.0") && latex.contains("a\\_b | 5\\%"), "{latex}");
        assert!(latex.contains("gain in points & -1.8 \\\\\ngain of mnmf & -2.0\\% \\\\"), "{latex}");
        assert!(markdown.contains("| gain in points | -1.8 |\n| gain of mnmf | -2.0% |\n"), "{markdown}");
        assert!(latex.contains("\\footnotesize $^*$ selected on the test nodes"), "{latex}");
    }

    /// Defect 7: names with brackets and backticks were links and code.
    #[test]
    fn markdown_cells_show_names_as_they_are() {
        assert_eq!(escaped("[a](http://b) `c` ![d]"), "\\[a\\](http://b) \\`c\\` !\\[d\\]");
        assert_eq!(escaped("a|b\\c\nd"), "a\\|b\\\\c d");
        assert_eq!(escaped("<b> &lt; ~~x~~ **y**"), "&lt;b&gt; &amp;lt; \\~\\~x\\~\\~ \\*\\*y\\*\\*");
        assert_eq!(escaped("__proto__ a_b é_1 _"), "\\_\\_proto\\_\\_ a_b é_1 \\_");
    }

    #[test]
    fn equal_scores_are_bold_together() {
        let mut table = table();
        let mut equal = table.lines[1].clone();
        equal.name = "e".into();
        table.lines.push(equal);
        assert_eq!(markdown(&table).matches("**81.2**").count(), 2);
        assert_eq!(latex(&table).matches("\\textbf{81.2}").count(), 2);
    }

    #[test]
    fn a_mark_that_is_not_there_is_not_explained() {
        let all = legend_text(&[table()], "*");
        assert!(
            all.starts_with("* selected on the test nodes") && all.contains("another method without a star"),
            "{all}"
        );
        let plain = Table::new("T", vec!["NMI".into()], table().lines[1..].to_vec());
        assert_eq!(legend_text(std::slice::from_ref(&plain), "*"), "");
        assert!(!latex(&plain).contains("\\par"));
    }
}

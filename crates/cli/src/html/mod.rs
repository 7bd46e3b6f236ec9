//! What the pages of `compare`, `tune` and `figures` have in common: the head, escaped text, and drawings (`svg.rs`).
//!
//! The pages are HTML and SVG without scripts and without external resources. Invariant: names come from the data, so they
//! are written through [`escaped`] only.

pub(crate) mod svg;

use std::fmt::Write;

use crate::report::encode;

/// Drawings have theirs in a file of their own, which comes first: a page adapts it to dark screens.
const STYLE: &str = concat!(include_str!("svg.css"), include_str!("style.css"));

/// The beginning of a page, up to its first paragraphs. `subject` is the end of its title.
pub(crate) fn head(title: &str, subject: &str, sentence: &str, command: &str) -> String {
    let policy = format!("default-src 'none'; style-src '{}'", encode::hash(STYLE));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}: {subject}</title>\n\
         <style>{STYLE}</style>\n<main>\n<h1>{title}</h1>\n<p>{}</p>\n<p><code>{}</code></p>\n",
        escaped(sentence),
        escaped(command),
        title = escaped(title),
    )
}

/// The end of a page.
pub(crate) const END: &str = "</main>\n</html>\n";

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

/// The smallest and the largest value.
pub(crate) fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
}

/// A drawing with its caption; nothing without a drawing. `names` are those of its colors.
pub(crate) fn figure(title: &str, svg: &str, names: &[&str]) -> String {
    if svg.is_empty() {
        return String::new();
    }
    let mut text = format!("<figure>{svg}<figcaption>{}<br>", escaped(title));
    for (color, name) in names.iter().enumerate() {
        let _ = write!(text, "<span class=\"key c{}\">■ {}</span> ", color % svg::COLORS, escaped(name));
    }
    text + "</figcaption></figure>\n"
}

/// Curves over the values of a setting, in percent. `curves` has the name of each and its points, as shares of 1.
pub(crate) fn chart(title: &str, ticks: &[String], curves: &[(String, Vec<Option<f64>>)]) -> String {
    let names: Vec<&str> = curves.iter().map(|(name, _)| name.as_str()).collect();
    let values: Vec<Vec<Option<f64>>> = curves.iter().map(|(_, values)| values.clone()).collect();
    figure(title, &svg::curves(title, ticks, &values, svg::Scale::Percent), &names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_a_point_per_value_and_names_are_text() {
        let ticks: Vec<String> = (0..40).map(|at| at.to_string()).collect();
        let curves = [("<b>".to_owned(), (0..40).map(|at| Some(f64::from(at) / 40.0)).collect())];
        let text = chart("a & b", &ticks, &curves);
        assert_eq!(text.matches("<circle").count(), 40);
        assert_eq!(text.matches("class=\"below\"").count(), 14, "every third name");
        assert!(text.contains("■ &lt;b&gt;") && text.contains("<title>a &amp; b</title>"));
        assert_eq!(chart("none", &[], &[]), "");
    }
}

//! What the pages of `compare` and `tune` have in common: the head, escaped text, and charts.
//!
//! The pages are HTML and SVG without scripts and without external resources. Invariant: names come from the data, so they
//! are written through [`escaped`] only.

use std::fmt::Write;

use crate::report::encode;

const STYLE: &str = include_str!("style.css");

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

/// Curves over the values of a setting, in percent. `curves` has the name of each and its points, as shares of 1.
pub(crate) fn chart(title: &str, ticks: &[String], curves: &[(String, Vec<Option<f64>>)]) -> String {
    const WIDE: f64 = 360.0;
    const HIGH: f64 = 240.0;
    const LEFT: f64 = 44.0;
    const BELOW: f64 = 34.0;
    /// More names would overlap.
    const MOST_NAMES: usize = 16;
    let percents = curves.iter().flat_map(|(_, values)| values.iter().flatten()).map(|value| 100.0 * value);
    let (least, most) = bounds(percents);
    if !least.is_finite() {
        return String::new();
    }
    let (least, most) = ((least - 1.0).floor().max(0.0), (most + 1.0).ceil().min(100.0));
    let x = |at: usize| LEFT + (at as f64 + 0.5) / ticks.len() as f64 * (WIDE - LEFT - 8.0);
    let y = |value: f64| 12.0 + (most - value) / (most - least) * (HIGH - BELOW - 12.0);
    let mut text = format!(
        "<figure><svg viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>\n",
        escaped(title)
    );
    for step in 0..=4 {
        let value = least + (most - least) * f64::from(step) / 4.0;
        let digits = usize::from((most - least) % 4.0 != 0.0);
        let at = y(value);
        let _ = write!(
            text,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{}\"/><text class=\"left\" x=\"{}\" y=\"{:.1}\">{value:.digits$}</text>",
            WIDE - 8.0,
            LEFT - 6.0,
            at + 4.0
        );
    }
    for (at, name) in ticks.iter().enumerate().step_by(ticks.len().div_ceil(MOST_NAMES).max(1)) {
        let (x, y) = (x(at), HIGH - 14.0);
        let _ = write!(text, "<text class=\"below\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(name));
    }
    for (color, (_, values)) in curves.iter().enumerate() {
        let points = values.iter().enumerate();
        let points: Vec<String> = points
            .filter_map(|(at, value)| value.map(|value| format!("{:.1} {:.1}", x(at), y(100.0 * value))))
            .collect();
        if points.is_empty() {
            continue;
        }
        let _ = write!(text, "<path class=\"curve c{color}\" d=\"M{}\"/>", points.join("L"));
        points.iter().for_each(|point| {
            let (x, y) = point.split_once(' ').expect("two numbers");
            let _ = write!(text, "<circle class=\"c{color}\" cx=\"{x}\" cy=\"{y}\" r=\"2.5\"/>");
        });
    }
    let _ = write!(text, "</svg><figcaption>{}<br>", escaped(title));
    for (color, (name, _)) in curves.iter().enumerate() {
        let _ = write!(text, "<span class=\"key c{color}\">■ {}</span> ", escaped(name));
    }
    text + "</figcaption></figure>\n"
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

//! Drawings as SVG: curves, bars and maps. They get their colors from the style sheet of the page, or of the file.
//!
//! Invariant: names come from the data, so they are written through [`escaped`] only.

use std::fmt::Write;

use super::{bounds, escaped};

/// The number of colors of curves; further ones share them.
pub(crate) const COLORS: usize = 6;

/// The number of colors of labels; further ones share them.
pub(crate) const LABEL_COLORS: usize = 12;

const STYLE: &str = include_str!("svg.css");

const WIDE: f64 = 360.0;
const HIGH: f64 = 240.0;
const LEFT: f64 = 44.0;
const BELOW: f64 = 34.0;
const ABOVE: f64 = 12.0;
const RIGHT: f64 = 8.0;

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Shares of 1, shown in percent. The axis need not begin at zero.
    Percent,
    /// Numbers, from zero.
    FromZero,
}

impl Scale {
    fn shown(self, value: f64) -> f64 {
        if self == Scale::Percent { 100.0 * value } else { value }
    }

    /// The ends of the axis; `None` without values.
    fn ends(self, values: &[Vec<Option<f64>>]) -> Option<(f64, f64)> {
        let (least, most) = bounds(values.iter().flatten().flatten().map(|&value| self.shown(value)));
        match self {
            _ if !least.is_finite() => None,
            Scale::Percent => Some(((least - 1.0).floor().max(0.0), (most + 1.0).ceil().min(100.0))),
            Scale::FromZero => Some((0.0, if most > 0.0 { 1.05 * most } else { 1.0 })),
        }
    }
}

/// Digits behind the point that tell the numbers of an axis apart.
fn digits(least: f64, most: f64) -> usize {
    let step = (most - least) / 4.0;
    (0..6)
        .find(|&digits| (step * 10f64.powi(digits)).fract() == 0.0 || step * 10f64.powi(digits) >= 10.0)
        .unwrap_or(6) as usize
}

fn begin(title: &str, wide: f64, high: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>\n",
        escaped(title)
    )
}

/// Lines across the drawing with their numbers.
fn grid(text: &mut String, (least, most): (f64, f64), y: impl Fn(f64) -> f64) {
    let digits = digits(least, most);
    for step in 0..=4 {
        let value = least + (most - least) * f64::from(step) / 4.0;
        let at = y(value);
        let _ = write!(
            text,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{}\"/><text class=\"left\" x=\"{}\" y=\"{:.1}\">{value:.digits$}</text>",
            WIDE - RIGHT,
            LEFT - 6.0,
            at + 4.0
        );
    }
}

/// A curve per row of values, over the ticks; empty without values.
pub(crate) fn curves(title: &str, ticks: &[String], rows: &[Vec<Option<f64>>], scale: Scale) -> String {
    /// More names would overlap.
    const MOST_NAMES: usize = 16;
    let Some((least, most)) = scale.ends(rows) else { return String::new() };
    let x = |at: usize| LEFT + (at as f64 + 0.5) / ticks.len() as f64 * (WIDE - LEFT - RIGHT);
    let y = |value: f64| ABOVE + (most - value) / (most - least) * (HIGH - BELOW - ABOVE);
    let mut text = begin(title, WIDE, HIGH);
    grid(&mut text, (least, most), y);
    for (at, name) in ticks.iter().enumerate().step_by(ticks.len().div_ceil(MOST_NAMES).max(1)) {
        let (x, y) = (x(at), HIGH - 14.0);
        let _ = write!(text, "<text class=\"below\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(name));
    }
    for (color, values) in rows.iter().enumerate() {
        let color = color % COLORS;
        let points = values.iter().enumerate();
        let points: Vec<String> = points
            .filter_map(|(at, value)| value.map(|value| format!("{:.1} {:.1}", x(at), y(scale.shown(value)))))
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
    text + "</svg>"
}

/// A group of horizontal bars per tick, one for each row of values; empty without values.
pub(crate) fn bars(title: &str, ticks: &[String], rows: &[Vec<Option<f64>>], scale: Scale) -> String {
    const NAMES: f64 = 130.0;
    const NUMBERS: f64 = 40.0;
    const BAR: f64 = 11.0;
    // From zero, whatever the scale: the length of a bar is its value.
    let Some((_, most)) = scale.ends(rows) else { return String::new() };
    let group = BAR * rows.len() as f64 + 8.0;
    let mut text = begin(title, WIDE, group * ticks.len() as f64 + 16.0);
    for (at, name) in ticks.iter().enumerate() {
        let top = 8.0 + group * at as f64;
        let middle = top + BAR * rows.len() as f64 / 2.0 + 4.0;
        let _ = write!(
            text,
            "<text class=\"left\" x=\"{}\" y=\"{middle:.1}\">{}</text>",
            NAMES - 6.0,
            escaped(name)
        );
        for (row, values) in rows.iter().enumerate() {
            let Some(value) = values[at].map(|value| scale.shown(value)) else { continue };
            let long = value / most * (WIDE - NAMES - NUMBERS);
            let y = top + BAR * row as f64;
            let _ = write!(
                text,
                "<path class=\"bar c{}\" d=\"M{NAMES} {y:.1}h{long:.1}v{}h-{long:.1}z\"/><text x=\"{:.1}\" y=\"{:.1}\">{value:.1}</text>",
                row % COLORS,
                BAR - 1.0,
                NAMES + long + 4.0,
                y + BAR - 1.0
            );
        }
    }
    text + "</svg>"
}

/// A point per node. One path per color: a node is a line of length zero with a round cap.
pub(crate) fn map(title: &str, places: &[Option<[f32; 2]>], label_of: &[Option<u32>]) -> String {
    const SIDE: f32 = 1000.0;
    let bounds = |axis: usize| {
        let values = places.iter().flatten().map(|place| place[axis]);
        values.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)))
    };
    let ((left, right), (low, high)) = (bounds(0), bounds(1));
    let scale = (SIDE - 40.0) / (right - left).max(high - low).max(f32::MIN_POSITIVE);
    let mut paths = vec![String::new(); LABEL_COLORS + 1];
    for (place, label) in places.iter().zip(label_of) {
        let Some(place) = place else { continue };
        let path = &mut paths[label.map_or(LABEL_COLORS, |label| label as usize % LABEL_COLORS)];
        let (x, y) = (20.0 + (place[0] - left) * scale, 20.0 + (high - place[1]) * scale);
        let _ = write!(path, "M{x:.0} {y:.0}h0");
    }
    let width = if places.len() > 3000 { 7 } else { 11 };
    let mut text = format!(
        "<svg viewBox=\"0 0 1000 1000\" role=\"img\" aria-label=\"{}\" stroke-width=\"{width}\">",
        escaped(title)
    );
    for (color, path) in paths.iter().enumerate().rev().filter(|(_, path)| !path.is_empty()) {
        let _ = write!(text, "<path class=\"nodes p{color}\" d=\"{path}\"/>");
    }
    text + "</svg>"
}

/// A drawing as a file of its own: on white, with its title and the names of its colors below it.
pub(crate) fn file(svg: &str, title: &str, names: &[&str]) -> String {
    const LINE: f64 = 15.0;
    let inner = svg.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split_once('"'));
    let size = inner.and_then(|(size, _)| size.split_once(' ')).expect("every drawing has a size");
    let [wide, high] = [size.0, size.1].map(|number| number.parse::<f64>().expect("a number"));
    let high = WIDE * high / wide;
    let whole = high + LINE * (names.len() as f64 + 1.0) + 8.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {whole:.0}\" width=\"{}\" height=\"{:.0}\">\n\
         <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        2.0 * WIDE,
        2.0 * whole
    );
    text += &svg.replacen("<svg ", &format!("<svg width=\"{WIDE}\" height=\"{high:.1}\" "), 1);
    let _ = write!(text, "\n<text x=\"{}\" y=\"{:.1}\">{}</text>", RIGHT, high + LINE, escaped(title));
    for (color, name) in names.iter().enumerate() {
        let y = high + LINE * (color as f64 + 2.0);
        let _ = write!(
            text,
            "<text class=\"key c{}\" x=\"{RIGHT}\" y=\"{y:.1}\">■ {}</text>",
            color % COLORS,
            escaped(name)
        );
    }
    text + "\n</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_a_bar_per_value_and_names_are_text() {
        let ticks = ["<a>".to_owned(), "b".to_owned()];
        let text = bars("t", &ticks, &[vec![Some(0.5), None], vec![Some(0.25), Some(0.75)]], Scale::Percent);
        assert_eq!(text.matches("class=\"bar").count(), 3);
        assert!(text.contains("&lt;a&gt;") && text.contains(">75.0<"), "{text}");
        assert_eq!(bars("t", &ticks, &[vec![None, None]], Scale::Percent), "");
    }

    #[test]
    fn axes_from_zero_have_numbers_that_differ() {
        let ticks = ["1".to_owned(), "2".to_owned()];
        let text = curves("t", &ticks, &[vec![Some(0.0013), Some(0.004)]], Scale::FromZero);
        let numbers: Vec<&str> = text.split("class=\"left\"").skip(1).collect();
        assert_eq!(numbers.len(), 5);
        let shown = |text: &str| text.split(['>', '<']).nth(1).unwrap().to_owned();
        let mut shown: Vec<String> = numbers.into_iter().map(shown).collect();
        assert_eq!(shown[0].parse::<f64>(), Ok(0.0));
        shown.dedup();
        assert_eq!(shown.len(), 5, "{shown:?}");
    }

    #[test]
    fn a_file_stands_alone() {
        let svg = map("m", &[Some([0.0, 1.0]), None, Some([1.0, 0.0])], &[Some(0), None, None]);
        let text = file(&svg, "a < b", &["x", "y"]);
        assert!(text.starts_with("<svg xmlns=") && text.contains("<style>") && text.contains("a &lt; b"));
        assert_eq!((text.matches("<svg").count(), text.matches("</svg>").count()), (2, 2));
        assert!(text.contains("nodes p0") && text.contains("nodes p12"));
        assert_eq!(text.matches("class=\"key").count(), 2);
    }
}
